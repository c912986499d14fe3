//! The recording format: compact, readable while it is written, and up to its last complete block after a crash.
//!
//! All numbers are little-endian. A *varint* is LEB128: seven bits a byte, the lowest first, the top bit set on all bytes
//! but the last; at most five bytes.
//!
//! ```text
//! recording = magic (8 bytes: 89 'f' 't' 'r' 0D 0A 1A 0A), version (u32: 1), block*
//! block     = kind (u8), length of the payload (u24), CRC-32 of the payload (u32),
//!             CRC-32 of the eight bytes before (u32), payload
//! ```
//!
//! | block kind | payload |
//! |---|---|
//! | 1 | records, each complete |
//! | 2 | the number of events in the recording (u64); nothing may follow this block |
//! | 3 | after all records: a piece of what is known of dependence, see [`super::dependence`]; all such blocks are read as one |
//! | 4 | after all records: a piece of what is known of steps, see [`super::steps`]; all such blocks are read as one |
//! | 5 | after all records: a piece of how values are computed, see [`super::values`]; all such blocks are read as one |
//!
//! A recording without block 2 was cut short: what its complete blocks hold is right. A block that is complete and does
//! not fit its checksum is damage, unless it is the last thing in the input (then the machine died while writing it).
//!
//! ```text
//! record    = tag (u8: PLACE in bits 0-1, OTHER in bit 2, CODE in bits 3-7),
//!             thread (varint, only if OTHER is set; without it the thread is that of the event before),
//!             operands, place
//! ```
//!
//! | CODE | operation | operands |
//! |---|---|---|
//! | 4k + h for k = 0..5 | read, write, read with value, write with value, acquire, release | low eight bits of the id (u8), whose next two bits are h; value |
//! | 24 + k | the same six | id (varint), value |
//! | 30 | any other | its number (u8, see the table in the source), ids (varint each), permits (u32), memory order (u8), values |
//! | 31 | a definition, no event; PLACE and OTHER are 0 and there is no place | table (u8), length (varint), UTF-8 text |
//!
//! A *value* is a varint: twice a natural number, or one more than twice the index of a symbol. A *place* is the event's
//! location, where natural numbers count as themselves and symbol number i as 2^31 + i. Programs repeat themselves, so
//! two guesses are made from what came before, and most events need no byte for their place:
//!
//! | PLACE | location | bytes |
//! |---|---|---|
//! | 0 | that of the thread's last event (0 before its first) plus the difference that was last seen after a location with the same lowest twelve bits, in whatever thread (at first: 1) | none |
//! | 1 | that of the last event with the same CODE and the same first byte of operands (at first: 0) | none |
//! | 2 | that of the thread's last event plus a zig-zag difference | one |
//! | 3 | the same | varint |
//!
//! Definitions number the names of each table from 0 on: 0 threads, 1 variables (a text that comes again is its next
//! generation), 2 locks, 3 semaphores, 4 conditions, 5 barriers, 6 labels, 7 symbols (locations and values that are no
//! natural number below 2^31). A name is defined before its first use.

use std::io::{self, ErrorKind, Read, Write};

use crate::dependence::Dependence;
use crate::error::{Position, TraceError};
use crate::event::{Event, MemOrder, Op};
use crate::format::{dependence, steps, values};
use crate::id::{CondId, Id, LockId, ThreadId, VarId};
use crate::name::{NameError, Names};
use crate::source::{BATCH, Batch, Ending, Source};
use crate::steps::Steps;
use crate::symbol::{Loc, Symbol, SymbolContent, Value};
use crate::values::Values;

/// How every recording begins. Chosen so that a transfer which changes line ends or drops the eighth bit destroys it.
pub(crate) const MAGIC: [u8; 8] = *b"\x89ftr\r\n\x1a\n";

/// The layout described above.
const VERSION: u32 = 1;

/// The writer closes a block once its payload is this long.
const BLOCK: usize = 1 << 16;

/// The longest name: together with a full block it stays well below what a block's length can say.
const NAME_LIMIT: usize = 1 << 23;

const BLOCK_HEADER: usize = 12;
const RECORDS: u8 = 1;
const END: u8 = 2;
const DEPENDENCE: u8 = 3;
const STEPS_MADE: u8 = 4;
const VALUES: u8 = 5;

/// No event is longer; behind its last record a block is padded so far, so that events need no check of each byte.
const WINDOW: usize = 32;

/// How many locations the first guess of a place tells apart.
const STEPS: usize = 1 << 12;
/// How many codes with first bytes of operands the second guess tells apart: all.
const TARGETS: usize = 1 << 13;

/// How a place is written.
mod place {
    pub(super) const LIKE_LAST_STEP: u8 = 0;
    pub(super) const LIKE_LAST_TARGET: u8 = 1;
    pub(super) const BYTE: u8 = 2;
    pub(super) const VARINT: u8 = 3;
}

const OTHER_THREAD: u8 = 4;
const CODE_LONG: u8 = 24;
const CODE_OTHER: u8 = 30;
const CODE_DEFINE: u8 = 31;

/// The six operations that have codes of their own.
mod common {
    pub(super) const READ: u8 = 0;
    pub(super) const WRITE: u8 = 1;
    pub(super) const READ_VALUE: u8 = 2;
    pub(super) const WRITE_VALUE: u8 = 3;
    pub(super) const ACQUIRE: u8 = 4;
    pub(super) const RELEASE: u8 = 5;
}

/// The numbers of all other operations.
mod number {
    pub(super) const LOAD: u8 = 0;
    pub(super) const STORE: u8 = 1;
    pub(super) const RMW: u8 = 2;
    pub(super) const FENCE: u8 = 3;
    pub(super) const ACQUIRE_AGAIN: u8 = 4;
    pub(super) const RELEASE_AGAIN: u8 = 5;
    pub(super) const ACQUIRE_SHARED: u8 = 6;
    pub(super) const RELEASE_SHARED: u8 = 7;
    pub(super) const ACQUIRE_SHARED_AGAIN: u8 = 8;
    pub(super) const RELEASE_SHARED_AGAIN: u8 = 9;
    pub(super) const TRY_ACQUIRE_FAILED: u8 = 10;
    pub(super) const TRY_ACQUIRE_SHARED_FAILED: u8 = 11;
    pub(super) const FORK: u8 = 12;
    pub(super) const JOIN: u8 = 13;
    pub(super) const BEGIN: u8 = 14;
    pub(super) const END: u8 = 15;
    pub(super) const BRANCH: u8 = 16;
    pub(super) const SEM_INIT: u8 = 17;
    pub(super) const SEM_WAIT: u8 = 18;
    pub(super) const SEM_POST: u8 = 19;
    pub(super) const WAIT: u8 = 20;
    pub(super) const WOKEN: u8 = 21;
    pub(super) const WAIT_TIMEOUT: u8 = 22;
    pub(super) const NOTIFY: u8 = 23;
    pub(super) const NOTIFY_ALL: u8 = 24;
    pub(super) const ARRIVE: u8 = 25;
    pub(super) const DEPART: u8 = 26;
    pub(super) const ALLOC: u8 = 27;
    pub(super) const FREE: u8 = 28;
    pub(super) const ENTER: u8 = 29;
    pub(super) const EXIT: u8 = 30;
    pub(super) const DUMMY: u8 = 31;
}

/// In the memory order's byte: the value that was read (or the only one) follows, and the one that was written.
const HAS_FIRST: u8 = 8;
const HAS_SECOND: u8 = 16;

/// The tables of names.
#[derive(Clone, Copy)]
enum Table {
    Threads,
    Vars,
    Locks,
    Sems,
    Conds,
    Barriers,
    Labels,
    Symbols,
}

/// What both sides remember of the locations so far.
struct Places {
    /// The location of each thread's last event.
    last: Vec<u32>,
    guesses: Guesses,
}

/// Where the next event may be.
struct Guesses {
    /// The difference that was last seen after a location, by the lowest bits of that location.
    steps: Box<[u32; STEPS]>,
    /// The location that was last seen with a code and a first byte of operands.
    targets: Box<[u32; TARGETS]>,
}

impl Places {
    fn new() -> Places {
        let guesses = Guesses { steps: Box::new([1; STEPS]), targets: Box::new([0; TARGETS]) };
        Places { last: Vec::new(), guesses }
    }
}

impl Guesses {
    /// How the writer tells the reader of `place`.
    fn width(&self, last: u32, target: usize, place: u32) -> u8 {
        let difference = place.wrapping_sub(last);
        if self.steps[last as usize % STEPS] == difference {
            place::LIKE_LAST_STEP
        } else if self.targets[target % TARGETS] == place {
            place::LIKE_LAST_TARGET
        } else if zigzag(difference) < 0x100 {
            place::BYTE
        } else {
            place::VARINT
        }
    }

    /// Takes note of an event at `place`, after one at `last` in the same thread.
    #[inline]
    fn note(&mut self, last: u32, target: usize, place: u32) {
        self.steps[last as usize % STEPS] = place.wrapping_sub(last);
        self.targets[target % TARGETS] = place;
    }
}

/// What the second guess goes by.
#[inline]
fn target(code: u8, first_operand: u8) -> usize {
    usize::from(code) << 8 | usize::from(first_operand)
}

fn zigzag(difference: u32) -> u32 {
    (difference << 1) ^ if difference >> 31 == 1 { u32::MAX } else { 0 }
}

fn unzigzag(number: u32) -> u32 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// Reads recordings.
pub struct BinaryReader {
    input: Box<dyn Read>,
    names: Names,
    /// The payload of the current block and the padding behind it.
    block: Vec<u8>,
    /// How far the block is read.
    at: usize,
    /// Where its payload ends.
    end: usize,
    /// The position in the input of the byte after the current block.
    offset: u64,
    /// The thread of the last event.
    thread: usize,
    places: Places,
    events: u64,
    /// What was read of the dependence, if there is any: bytes, and then what they mean.
    dependence: Vec<u8>,
    known: Option<Dependence>,
    /// What was read of how values are computed, if there is any: bytes, and then what they mean.
    values: Vec<u8>,
    known_values: Option<Values>,
    /// What was read of the steps, if there is any.
    steps: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    BeforeHeader,
    Reading,
    Ended(Ending),
}

/// What is wrong with a record. Small, because the result of every event carries it.
#[derive(Clone, Copy)]
enum Fault {
    Truncated,
    Undefined(Table),
    Operation,
    Order,
    Values,
}

impl Fault {
    fn expected(self) -> &'static str {
        match self {
            Fault::Truncated => "a complete record",
            Fault::Undefined(Table::Threads) => "the id of a thread that is defined",
            Fault::Undefined(Table::Vars) => "the id of a variable that is defined",
            Fault::Undefined(Table::Locks) => "the id of a lock that is defined",
            Fault::Undefined(Table::Sems) => "the id of a semaphore that is defined",
            Fault::Undefined(Table::Conds) => "the id of a condition that is defined",
            Fault::Undefined(Table::Barriers) => "the id of a barrier that is defined",
            Fault::Undefined(Table::Labels) => "the id of a label that is defined",
            Fault::Undefined(Table::Symbols) => "a number, or a symbol that is defined",
            Fault::Operation => "the number of an operation",
            Fault::Order => "a memory order",
            Fault::Values => "one value",
        }
    }
}

impl BinaryReader {
    /// Reads from `input`, which need not be buffered.
    pub fn new(input: Box<dyn Read>) -> BinaryReader {
        BinaryReader {
            input,
            names: Names::default(),
            block: vec![0; WINDOW],
            at: 0,
            end: 0,
            offset: 0,
            thread: 0,
            places: Places::new(),
            events: 0,
            dependence: Vec::new(),
            known: None,
            values: Vec::new(),
            known_values: None,
            steps: Vec::new(),
            state: State::BeforeHeader,
        }
    }

    fn read_header(&mut self) -> Result<(), TraceError> {
        let mut header = [0; 12];
        let count = read_up_to(&mut self.input, &mut header)?;
        let (magic, version) = header.split_at(8);
        if count < 8 || magic != MAGIC {
            return Err(syntax(0, "a foretell recording", "something else"));
        }
        if count < header.len() {
            return Err(syntax(8, "the version of the recording", "the end of the input"));
        }
        if version != VERSION.to_le_bytes() {
            let version = number_at(version, 0);
            return Err(syntax(8, "a recording of version 1", &format!("version {version}")));
        }
        self.offset = 12;
        self.state = State::Reading;
        Ok(())
    }

    /// Reads the next block; afterwards either there are records, or the recording has ended.
    fn read_block(&mut self) -> Result<(), TraceError> {
        let start = self.offset;
        let mut header = [0; BLOCK_HEADER];
        if read_up_to(&mut self.input, &mut header)? < BLOCK_HEADER {
            return self.cut_short();
        }
        if crc32fast::hash(&header[..8]) != number_at(&header, 8) {
            return self.cut_or_damaged(start);
        }
        let length = (number_at(&header, 0) >> 8) as usize;
        if !self.read_payload(length)? {
            return self.cut_short();
        }
        if crc32fast::hash(&self.block[..length]) != number_at(&header, 4) {
            return self.cut_or_damaged(start);
        }
        self.offset += (BLOCK_HEADER + length) as u64;
        match header[0] {
            RECORDS => {
                (self.at, self.end) = (0, length);
                Ok(())
            }
            END => self.read_end(start, length),
            DEPENDENCE => {
                self.dependence.extend_from_slice(&self.block[..length]);
                Ok(())
            }
            STEPS_MADE => {
                self.steps.extend_from_slice(&self.block[..length]);
                Ok(())
            }
            VALUES => {
                self.values.extend_from_slice(&self.block[..length]);
                Ok(())
            }
            kind => Err(syntax(start, "a block of kind 1 to 5", &format!("kind {kind}"))),
        }
    }

    /// Whether all of the payload was there. Memory grows only as bytes arrive, whatever the length claims.
    fn read_payload(&mut self, length: usize) -> io::Result<bool> {
        self.block.clear();
        (&mut self.input).take(length as u64).read_to_end(&mut self.block)?;
        let complete = self.block.len() == length;
        self.block.resize(self.block.len() + WINDOW, 0);
        Ok(complete)
    }

    fn read_end(&mut self, start: u64, length: usize) -> Result<(), TraceError> {
        let recorded = match self.block[..length].try_into() {
            Ok(bytes) => u64::from_le_bytes(bytes),
            Err(_) => return Err(syntax(start, "eight bytes in the last block", &format!("{length}"))),
        };
        if recorded != self.events {
            let found = format!("{} of them before it", self.events);
            return Err(syntax(start, &format!("the end of {recorded} events"), &found));
        }
        if !self.dependence.is_empty() {
            let bytes = std::mem::take(&mut self.dependence);
            self.known = dependence::decode(&bytes, self.events);
            if self.known.is_none() {
                return Err(syntax(
                    start,
                    "the dependence of these events before the last block",
                    "something else",
                ));
            }
        }
        if !self.values.is_empty() {
            let bytes = std::mem::take(&mut self.values);
            let unions = self.known.as_ref().map_or(0, Dependence::union_count);
            self.known_values = values::decode(&bytes, self.events, &self.names, unions);
            if self.known_values.is_none() {
                let wanted = "how the values of these events are computed before the last block";
                return Err(syntax(start, wanted, "something else"));
            }
        }
        if !self.steps.is_empty() && steps::decode(&self.steps, self.events).is_none() {
            return Err(syntax(start, "the steps of these events before the last block", "something else"));
        }
        if self.more_follows()? {
            return Err(syntax(self.offset, "the end of the input after the last block", "more bytes"));
        }
        self.state = State::Ended(Ending::Complete);
        Ok(())
    }

    fn cut_short(&mut self) -> Result<(), TraceError> {
        self.state = State::Ended(Ending::CutShort);
        Ok(())
    }

    fn cut_or_damaged(&mut self, start: u64) -> Result<(), TraceError> {
        if self.more_follows()? {
            return Err(syntax(start, "a block that fits its checksum", "a damaged block"));
        }
        self.cut_short()
    }

    fn more_follows(&mut self) -> io::Result<bool> {
        Ok(read_up_to(&mut self.input, &mut [0])? > 0)
    }

    /// Decodes records until the block or the batch ends.
    fn decode(&mut self, batch: &mut Batch) -> Result<(), TraceError> {
        while self.at < self.end && batch.events.len() < BATCH {
            if let Err(fault) = self.decode_events(batch) {
                return Err(self.faulty(fault));
            }
            if self.at < self.end && self.block[self.at] >> 3 == CODE_DEFINE {
                self.definition()?;
            }
        }
        Ok(())
    }

    /// Decodes events up to the next definition, or the end of the block or the batch.
    fn decode_events(&mut self, batch: &mut Batch) -> Result<(), Fault> {
        let room = BATCH - batch.events.len();
        batch.events.reserve(room);
        let mut thread = self.thread;
        for _ in 0..room {
            let Some(window) = self.block[self.at..].first_chunk() else { return Err(Fault::Truncated) };
            if self.at >= self.end || window[0] >> 3 == CODE_DEFINE {
                break;
            }
            let mut record = Record { window, at: 1, names: &self.names };
            record.event(&mut thread, &mut self.places, &mut batch.events)?;
            self.at += record.at;
        }
        self.thread = thread;
        if self.at > self.end { Err(Fault::Truncated) } else { Ok(()) }
    }

    #[cold]
    fn faulty(&self, fault: Fault) -> TraceError {
        let record = &self.block[self.at.min(self.end)..self.end];
        let found: String = record.iter().take(WINDOW).map(|byte| format!(" {byte:02x}")).collect();
        syntax(self.position(), fault.expected(), &format!("the bytes{found}"))
    }

    /// Takes up the name that is defined at the current position.
    #[cold]
    fn definition(&mut self) -> Result<(), TraceError> {
        let position = self.position();
        let window = self.block[self.at..].first_chunk().unwrap_or(&[0; WINDOW]);
        let mut record = Record { window, at: 1, names: &self.names };
        let (tag, table) = (window[0], record.byte());
        let length = record.varint() as usize;
        let begin = self.at + record.at;
        if tag != CODE_DEFINE << 3 || begin + length > self.end {
            return Err(syntax(position, "a complete definition", "something else"));
        }
        let text = &self.block[begin..begin + length];
        match define(&mut self.names, table, text) {
            Ok(true) => {}
            Ok(false) => return Err(syntax(position, "the definition of a new name", "one that is known")),
            Err(error) => return Err(TraceError::Name { at: Position::Byte(position), error }),
        }
        self.places.last.resize(self.names.threads.len(), 0);
        self.at = begin + length;
        Ok(())
    }

    /// The position in the input of the current record.
    fn position(&self) -> u64 {
        (self.offset + self.at as u64).saturating_sub(self.end as u64)
    }
}

/// Adds a name to its table; `false` if it cannot be the next one there.
fn define(names: &mut Names, table: u8, text: &[u8]) -> Result<bool, NameError> {
    fn next<I: Id>(table: &mut crate::name::Interner<I>, text: &[u8]) -> Result<bool, NameError> {
        let known = table.len();
        table.intern(text)?;
        Ok(table.len() > known)
    }
    match table {
        0 => next(&mut names.threads, text),
        1 => names.vars.renew(text).map(|_| true),
        2 => next(&mut names.locks, text),
        3 => next(&mut names.sems, text),
        4 => next(&mut names.conds, text),
        5 => next(&mut names.barriers, text),
        6 => next(&mut names.labels, text),
        7 => {
            let known = names.symbol_count();
            names.symbol(text)?;
            Ok(names.symbol_count() > known)
        }
        _ => Ok(false),
    }
}

impl Source for BinaryReader {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        if self.state == State::BeforeHeader {
            self.read_header()?;
        }
        while self.state == State::Reading && batch.events.len() < BATCH {
            if self.at == self.end {
                self.read_block()?;
            } else {
                let before = batch.events.len();
                self.decode(batch)?;
                self.events += (batch.events.len() - before) as u64;
            }
        }
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }

    fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        Ok(self.known.take())
    }

    fn values(&mut self) -> Result<Option<Values>, TraceError> {
        Ok(self.known_values.take())
    }

    fn steps(&mut self) -> Option<Steps> {
        let bytes = std::mem::take(&mut self.steps);
        steps::decode(&bytes, self.events).filter(|steps| !steps.is_empty())
    }

    fn ending(&self) -> Ending {
        match self.state {
            State::Ended(ending) => ending,
            State::BeforeHeader | State::Reading => Ending::CutShort,
        }
    }
}

/// Fills `buffer` as far as the input reaches.
fn read_up_to(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match input.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// The four bytes at `at` as a number; zero where there are no four bytes.
#[inline]
fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cold]
fn syntax(at: u64, expected: &str, found: &str) -> TraceError {
    TraceError::Syntax {
        at: Position::Byte(at),
        expected: expected.to_string(),
        found: found.to_string(),
        line: None,
    }
}

/// Reads one record. It cannot run off its window: no event is that long.
struct Record<'a> {
    window: &'a [u8; WINDOW],
    at: usize,
    names: &'a Names,
}

impl Record<'_> {
    /// Appends the event. Nothing larger than a register is handed from function to function on the way: events that
    /// are moved in pieces of other sizes than they were built in cost several times what all the rest does.
    #[inline(always)]
    fn event(
        &mut self,
        last_thread: &mut usize,
        places: &mut Places,
        events: &mut Vec<Event>,
    ) -> Result<(), Fault> {
        let tag = self.window[0];
        let (code, width) = (tag >> 3, tag & 3);
        if tag & OTHER_THREAD != 0 {
            *last_thread = self.varint() as usize;
        }
        let thread: ThreadId = known(*last_thread, places.last.len(), Table::Threads)?;
        let last = &mut places.last[*last_thread];
        let target = target(code, self.window[self.at % WINDOW]);
        if code >= CODE_OTHER {
            let op = self.other()?;
            *last = self.place(width, *last, target, &mut places.guesses);
            events.push(Event::new(thread, op, Loc(self.known_symbol(*last)?)));
            return Ok(());
        }
        let (kind, id) = self.common(code);
        let has_value = matches!(kind, common::READ_VALUE | common::WRITE_VALUE);
        let value = if has_value { Some(self.value()?) } else { None };
        *last = self.place(width, *last, target, &mut places.guesses);
        let loc = Loc(self.known_symbol(*last)?);
        // Which operation comes next is what the processor cannot guess, so nothing here depends on it by a branch.
        let locks = kind >= common::ACQUIRE;
        let count = if locks { self.names.locks.len() } else { self.names.vars.len() };
        let (Some(var), Some(lock)) = (VarId::from_index(id), LockId::from_index(id)) else {
            return Err(Fault::Truncated);
        };
        if id >= count {
            return Err(Fault::Undefined(if locks { Table::Locks } else { Table::Vars }));
        }
        let op = match kind {
            common::READ | common::READ_VALUE => Op::Read { var, value },
            common::WRITE | common::WRITE_VALUE => Op::Write { var, value },
            common::ACQUIRE => Op::Acquire(lock),
            _ => Op::Release(lock),
        };
        events.push(Event::new(thread, op, loc));
        Ok(())
    }

    /// The kind and the id of one of the common operations.
    #[inline(always)]
    fn common(&mut self, code: u8) -> (u8, usize) {
        if code < CODE_LONG {
            (code >> 2, usize::from(code & 3) << 8 | usize::from(self.byte()))
        } else {
            (code - CODE_LONG, self.varint() as usize)
        }
    }

    #[inline]
    fn byte(&mut self) -> u8 {
        let byte = self.window[self.at % WINDOW];
        self.at += 1;
        byte
    }

    #[inline]
    fn varint(&mut self) -> u32 {
        let first = self.byte();
        if first < 0x80 { u32::from(first) } else { self.long_varint(first) }
    }

    /// What is too large for 32 bits reads as the largest number, which is never the id of anything.
    #[inline]
    fn long_varint(&mut self, first: u8) -> u32 {
        let mut number = u64::from(first & 0x7F);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte();
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(number).unwrap_or(u32::MAX);
            }
        }
        u32::MAX
    }

    #[inline(never)]
    fn other(&mut self) -> Result<Op, Fault> {
        Ok(match self.byte() {
            code @ (number::LOAD | number::STORE | number::RMW) => self.atomic(code)?,
            number::FENCE => {
                let byte = self.byte();
                Op::Fence { order: order(byte)? }
            }
            number::ACQUIRE_AGAIN => Op::AcquireAgain(self.lock()?),
            number::RELEASE_AGAIN => Op::ReleaseAgain(self.lock()?),
            number::ACQUIRE_SHARED => Op::AcquireShared(self.lock()?),
            number::RELEASE_SHARED => Op::ReleaseShared(self.lock()?),
            number::ACQUIRE_SHARED_AGAIN => Op::AcquireSharedAgain(self.lock()?),
            number::RELEASE_SHARED_AGAIN => Op::ReleaseSharedAgain(self.lock()?),
            number::TRY_ACQUIRE_FAILED => Op::TryAcquireFailed(self.lock()?),
            number::TRY_ACQUIRE_SHARED_FAILED => Op::TryAcquireSharedFailed(self.lock()?),
            number::FORK => Op::Fork(self.id(self.names.threads.len(), Table::Threads)?),
            number::JOIN => Op::Join(self.id(self.names.threads.len(), Table::Threads)?),
            number::BEGIN => Op::Begin,
            number::END => Op::End,
            number::BRANCH => Op::Branch,
            code @ number::SEM_INIT..=number::SEM_POST => self.semaphore(code)?,
            code @ number::WAIT..=number::NOTIFY_ALL => self.condition(code)?,
            number::ARRIVE => Op::Arrive(self.id(self.names.barriers.len(), Table::Barriers)?),
            number::DEPART => Op::Depart(self.id(self.names.barriers.len(), Table::Barriers)?),
            number::ALLOC => Op::Alloc(self.var()?),
            number::FREE => Op::Free(self.var()?),
            number::ENTER => Op::Enter(self.id(self.names.labels.len(), Table::Labels)?),
            number::EXIT => Op::Exit(self.id(self.names.labels.len(), Table::Labels)?),
            number::DUMMY => Op::Dummy(self.id(self.names.labels.len(), Table::Labels)?),
            _ => return Err(Fault::Operation),
        })
    }

    fn atomic(&mut self, code: u8) -> Result<Op, Fault> {
        let detail = self.byte();
        let order = order(detail & !(HAS_FIRST | HAS_SECOND))?;
        let var = self.var()?;
        let first = if detail & HAS_FIRST != 0 { Some(self.value()?) } else { None };
        let second = if detail & HAS_SECOND != 0 { Some(self.value()?) } else { None };
        match code {
            number::RMW => Ok(Op::Rmw { var, read: first, written: second, order }),
            _ if second.is_some() => Err(Fault::Values),
            number::LOAD => Ok(Op::Load { var, value: first, order }),
            _ => Ok(Op::Store { var, value: first, order }),
        }
    }

    fn semaphore(&mut self, code: u8) -> Result<Op, Fault> {
        let sem = self.id(self.names.sems.len(), Table::Sems)?;
        Ok(match code {
            number::SEM_INIT => {
                let permits = [self.byte(), self.byte(), self.byte(), self.byte()];
                Op::SemInit { sem, permits: u32::from_le_bytes(permits) }
            }
            number::SEM_WAIT => Op::SemWait(sem),
            _ => Op::SemPost(sem),
        })
    }

    fn condition(&mut self, code: u8) -> Result<Op, Fault> {
        let cond = self.id(self.names.conds.len(), Table::Conds)?;
        Ok(match code {
            number::WAIT => Op::Wait { cond, lock: self.lock()? },
            number::WOKEN => Op::Woken { cond, lock: self.lock()? },
            number::WAIT_TIMEOUT => Op::WaitTimeout { cond, lock: self.lock()? },
            number::NOTIFY => Op::Notify(cond),
            _ => Op::NotifyAll(cond),
        })
    }

    fn var(&mut self) -> Result<VarId, Fault> {
        let id = self.varint() as usize;
        self.known_var(id)
    }

    fn lock(&mut self) -> Result<LockId, Fault> {
        let id = self.varint() as usize;
        self.known_lock(id)
    }

    fn id<I: Id>(&mut self, count: usize, table: Table) -> Result<I, Fault> {
        known(self.varint() as usize, count, table)
    }

    #[inline]
    fn known_var(&self, id: usize) -> Result<VarId, Fault> {
        known(id, self.names.vars.len(), Table::Vars)
    }

    #[inline]
    fn known_lock(&self, id: usize) -> Result<LockId, Fault> {
        known(id, self.names.locks.len(), Table::Locks)
    }

    #[inline]
    fn value(&mut self) -> Result<Value, Fault> {
        let number = self.varint();
        // The lowest bit tells names from numbers; rotated to the top it makes the symbol's place in the common range.
        self.known_symbol(number.rotate_right(1)).map(Value)
    }

    #[inline]
    fn known_symbol(&self, raw: u32) -> Result<Symbol, Fault> {
        match Symbol::number(raw) {
            Some(symbol) => Ok(symbol),
            None => self.named_symbol(raw),
        }
    }

    #[inline]
    fn named_symbol(&self, raw: u32) -> Result<Symbol, Fault> {
        let index = (raw - Symbol::NUMBERS) as usize;
        match Symbol::named(index) {
            Some(symbol) if index < self.names.symbol_count() => Ok(symbol),
            _ => Err(Fault::Undefined(Table::Symbols)),
        }
    }

    #[inline]
    fn place(&mut self, width: u8, last: u32, target: usize, guesses: &mut Guesses) -> u32 {
        let like_step = last.wrapping_add(guesses.steps[last as usize % STEPS]);
        let like_target = guesses.targets[target % TARGETS];
        // Which of the two guesses is right is as good as random: looked up, not branched on.
        let guess = [like_step, like_target][usize::from(width & 1)];
        let place = match width {
            place::LIKE_LAST_STEP | place::LIKE_LAST_TARGET => guess,
            place::BYTE => last.wrapping_add(unzigzag(u32::from(self.byte()))),
            _ => last.wrapping_add(unzigzag(self.varint())),
        };
        guesses.note(last, target, place);
        place
    }
}

#[inline]
fn known<I: Id>(id: usize, count: usize, table: Table) -> Result<I, Fault> {
    match I::from_index(id) {
        Some(known) if id < count => Ok(known),
        _ => Err(Fault::Undefined(table)),
    }
}

fn order(byte: u8) -> Result<MemOrder, Fault> {
    match byte {
        0 => Ok(MemOrder::Relaxed),
        1 => Ok(MemOrder::Acquire),
        2 => Ok(MemOrder::Release),
        3 => Ok(MemOrder::AcqRel),
        4 => Ok(MemOrder::SeqCst),
        5 => Ok(MemOrder::RelaxedC11),
        _ => Err(Fault::Order),
    }
}

fn order_byte(order: MemOrder) -> u8 {
    match order {
        MemOrder::Relaxed => 0,
        MemOrder::Acquire => 1,
        MemOrder::Release => 2,
        MemOrder::AcqRel => 3,
        MemOrder::SeqCst => 4,
        MemOrder::RelaxedC11 => 5,
    }
}

/// Writes recordings. Dropped without [`BinaryWriter::finish`], it leaves one that reads as cut short.
pub struct BinaryWriter<W> {
    output: W,
    /// Room for the header, and the records of the current block.
    block: Vec<u8>,
    /// The operands of the event that is being written.
    operands: Vec<u8>,
    /// How many names of each table are defined so far.
    defined: [usize; 8],
    /// The thread of the last event.
    thread: usize,
    places: Places,
    events: u64,
}

impl<W: Write> BinaryWriter<W> {
    /// Begins a recording. `output` need not be buffered: it gets whole blocks.
    pub fn new(mut output: W) -> Result<BinaryWriter<W>, TraceError> {
        output.write_all(&MAGIC)?;
        output.write_all(&VERSION.to_le_bytes())?;
        Ok(BinaryWriter {
            output,
            block: vec![0; BLOCK_HEADER],
            operands: Vec::new(),
            defined: [0; 8],
            thread: 0,
            places: Places::new(),
            events: 0,
        })
    }

    /// Writes one event. `names` may have grown since the last one.
    pub fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        self.operands.clear();
        self.define(Table::Threads, event.thread, |id| names.threads.name(id))?;
        let code = self.operation(event.op, names)?;
        self.define_symbol(event.loc.0, names)?;
        self.record(code, event.thread.index(), event.loc.0.raw());
        self.events += 1;
        if self.block.len() >= BLOCK { self.end_block(RECORDS) } else { Ok(()) }
    }

    /// Ends the current block: everything written so far survives if the program dies.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        if self.block.len() > BLOCK_HEADER {
            self.end_block(RECORDS)?;
        }
        Ok(self.output.flush()?)
    }

    /// Writes which reads matter, after all events.
    pub fn write_dependence(&mut self, dependence: &Dependence) -> Result<(), TraceError> {
        self.flush()?;
        for piece in dependence::encode(dependence).chunks(BLOCK) {
            self.block.extend_from_slice(piece);
            self.end_block(DEPENDENCE)?;
        }
        Ok(())
    }

    /// Writes how values are computed, after all events.
    pub fn write_values(
        &mut self,
        values: &Values,
        dependence: Option<&Dependence>,
        names: &Names,
    ) -> Result<(), TraceError> {
        for value in values::names_in(values) {
            self.define_symbol(value.0, names)?;
        }
        self.flush()?;
        for piece in values::encode(values, dependence).chunks(BLOCK) {
            self.block.extend_from_slice(piece);
            self.end_block(VALUES)?;
        }
        Ok(())
    }

    /// Writes how far threads have come, after all events.
    pub fn write_steps(&mut self, steps: &Steps) -> Result<(), TraceError> {
        self.flush()?;
        for piece in steps::encode(steps).chunks(BLOCK) {
            self.block.extend_from_slice(piece);
            self.end_block(STEPS_MADE)?;
        }
        Ok(())
    }

    /// Hands the output back with all events so far, but without the mark of a complete recording.
    pub fn abandon(mut self) -> Result<W, TraceError> {
        self.flush()?;
        Ok(self.output)
    }

    /// Ends the recording and hands the output back.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.flush()?;
        self.block.extend_from_slice(&self.events.to_le_bytes());
        self.end_block(END)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn end_block(&mut self, kind: u8) -> Result<(), TraceError> {
        let (header, payload) = self.block.split_at_mut(BLOCK_HEADER);
        // A block is at most as long as a full one and the longest name together, which fits in three bytes.
        let length = u32::try_from(payload.len()).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
        header[..4].copy_from_slice(&(length << 8 | u32::from(kind)).to_le_bytes());
        header[4..8].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        let check = crc32fast::hash(&header[..8]);
        header[8..].copy_from_slice(&check.to_le_bytes());
        self.output.write_all(&self.block)?;
        self.block.truncate(BLOCK_HEADER);
        Ok(())
    }

    /// Appends the record of an event whose operands are already encoded.
    fn record(&mut self, code: u8, thread: usize, place: u32) {
        self.places.last.resize(self.defined[Table::Threads as usize], 0);
        let last = std::mem::replace(&mut self.places.last[thread], place);
        let target = target(code, self.operands.first().copied().unwrap_or(0));
        let difference = zigzag(place.wrapping_sub(last));
        let width = self.places.guesses.width(last, target, place);
        self.places.guesses.note(last, target, place);
        let other = if thread == self.thread { 0 } else { OTHER_THREAD };
        self.block.push(code << 3 | other | width);
        if thread != self.thread {
            push_varint(&mut self.block, thread);
            self.thread = thread;
        }
        self.block.extend_from_slice(&self.operands);
        match width {
            place::BYTE => self.block.push(difference.to_le_bytes()[0]),
            place::VARINT => push_varint(&mut self.block, difference as usize),
            _ => {}
        }
    }

    /// Encodes the operands and returns the code.
    fn operation(&mut self, op: Op, names: &Names) -> Result<u8, TraceError> {
        match op {
            Op::Read { var, value: None } => self.access(common::READ, var, None, names),
            Op::Write { var, value: None } => self.access(common::WRITE, var, None, names),
            Op::Read { var, value } => self.access(common::READ_VALUE, var, value, names),
            Op::Write { var, value } => self.access(common::WRITE_VALUE, var, value, names),
            Op::Acquire(lock) => self.lock_common(common::ACQUIRE, lock, names),
            Op::Release(lock) => self.lock_common(common::RELEASE, lock, names),
            Op::Load { var, value, order } => self.atomic(number::LOAD, var, order, [value, None], names),
            Op::Store { var, value, order } => self.atomic(number::STORE, var, order, [value, None], names),
            Op::Rmw { var, read, written, order } => {
                self.atomic(number::RMW, var, order, [read, written], names)
            }
            Op::Fence { order } => {
                self.operands.extend([number::FENCE, order_byte(order)]);
                Ok(CODE_OTHER)
            }
            Op::AcquireAgain(lock) => self.lock(number::ACQUIRE_AGAIN, lock, names),
            Op::ReleaseAgain(lock) => self.lock(number::RELEASE_AGAIN, lock, names),
            Op::AcquireShared(lock) => self.lock(number::ACQUIRE_SHARED, lock, names),
            Op::ReleaseShared(lock) => self.lock(number::RELEASE_SHARED, lock, names),
            Op::AcquireSharedAgain(lock) => self.lock(number::ACQUIRE_SHARED_AGAIN, lock, names),
            Op::ReleaseSharedAgain(lock) => self.lock(number::RELEASE_SHARED_AGAIN, lock, names),
            Op::TryAcquireFailed(lock) => self.lock(number::TRY_ACQUIRE_FAILED, lock, names),
            Op::TryAcquireSharedFailed(lock) => self.lock(number::TRY_ACQUIRE_SHARED_FAILED, lock, names),
            Op::Fork(child) => self.other(number::FORK, Table::Threads, child, |id| names.threads.name(id)),
            Op::Join(child) => self.other(number::JOIN, Table::Threads, child, |id| names.threads.name(id)),
            Op::Begin => Ok(self.bare(number::BEGIN)),
            Op::End => Ok(self.bare(number::END)),
            Op::Branch => Ok(self.bare(number::BRANCH)),
            Op::SemInit { sem, permits } => {
                let code = self.other(number::SEM_INIT, Table::Sems, sem, |id| names.sems.name(id))?;
                self.operands.extend(permits.to_le_bytes());
                Ok(code)
            }
            Op::SemWait(sem) => self.other(number::SEM_WAIT, Table::Sems, sem, |id| names.sems.name(id)),
            Op::SemPost(sem) => self.other(number::SEM_POST, Table::Sems, sem, |id| names.sems.name(id)),
            Op::Wait { cond, lock } => self.wait(number::WAIT, cond, lock, names),
            Op::Woken { cond, lock } => self.wait(number::WOKEN, cond, lock, names),
            Op::WaitTimeout { cond, lock } => self.wait(number::WAIT_TIMEOUT, cond, lock, names),
            Op::Notify(cond) => self.other(number::NOTIFY, Table::Conds, cond, |id| names.conds.name(id)),
            Op::NotifyAll(cond) => {
                self.other(number::NOTIFY_ALL, Table::Conds, cond, |id| names.conds.name(id))
            }
            Op::Arrive(barrier) => {
                self.other(number::ARRIVE, Table::Barriers, barrier, |id| names.barriers.name(id))
            }
            Op::Depart(barrier) => {
                self.other(number::DEPART, Table::Barriers, barrier, |id| names.barriers.name(id))
            }
            Op::Alloc(var) => self.other(number::ALLOC, Table::Vars, var, |id| names.vars.name(id)),
            Op::Free(var) => self.other(number::FREE, Table::Vars, var, |id| names.vars.name(id)),
            Op::Enter(label) => self.other(number::ENTER, Table::Labels, label, |id| names.labels.name(id)),
            Op::Exit(label) => self.other(number::EXIT, Table::Labels, label, |id| names.labels.name(id)),
            Op::Dummy(label) => self.other(number::DUMMY, Table::Labels, label, |id| names.labels.name(id)),
        }
    }

    fn access(
        &mut self,
        kind: u8,
        var: VarId,
        value: Option<Value>,
        names: &Names,
    ) -> Result<u8, TraceError> {
        self.define(Table::Vars, var, |id| names.vars.name(id))?;
        let code = self.common(kind, var.index());
        self.value(value, names)?;
        Ok(code)
    }

    fn lock_common(&mut self, kind: u8, lock: LockId, names: &Names) -> Result<u8, TraceError> {
        self.define(Table::Locks, lock, |id| names.locks.name(id))?;
        Ok(self.common(kind, lock.index()))
    }

    /// The short form where the id has at most ten bits, else the long one.
    fn common(&mut self, kind: u8, id: usize) -> u8 {
        let [low, high, ..] = id.to_le_bytes();
        if id < 1 << 10 {
            self.operands.push(low);
            kind << 2 | high
        } else {
            push_varint(&mut self.operands, id);
            CODE_LONG + kind
        }
    }

    fn atomic(
        &mut self,
        number: u8,
        var: VarId,
        order: MemOrder,
        [first, second]: [Option<Value>; 2],
        names: &Names,
    ) -> Result<u8, TraceError> {
        self.define(Table::Vars, var, |id| names.vars.name(id))?;
        let has_first = if first.is_some() { HAS_FIRST } else { 0 };
        let has_second = if second.is_some() { HAS_SECOND } else { 0 };
        self.operands.extend([number, order_byte(order) | has_first | has_second]);
        push_varint(&mut self.operands, var.index());
        self.value(first, names)?;
        self.value(second, names)?;
        Ok(CODE_OTHER)
    }

    fn lock(&mut self, number: u8, lock: LockId, names: &Names) -> Result<u8, TraceError> {
        self.other(number, Table::Locks, lock, |id| names.locks.name(id))
    }

    fn wait(&mut self, number: u8, cond: CondId, lock: LockId, names: &Names) -> Result<u8, TraceError> {
        self.define(Table::Locks, lock, |id| names.locks.name(id))?;
        let code = self.other(number, Table::Conds, cond, |id| names.conds.name(id))?;
        push_varint(&mut self.operands, lock.index());
        Ok(code)
    }

    /// An operation with one id.
    fn other<'n, I: Id>(
        &mut self,
        number: u8,
        table: Table,
        id: I,
        name: impl Fn(I) -> &'n str,
    ) -> Result<u8, TraceError> {
        self.define(table, id, name)?;
        self.operands.push(number);
        push_varint(&mut self.operands, id.index());
        Ok(CODE_OTHER)
    }

    /// An operation without operands.
    fn bare(&mut self, number: u8) -> u8 {
        self.operands.push(number);
        CODE_OTHER
    }

    fn value(&mut self, value: Option<Value>, names: &Names) -> Result<(), TraceError> {
        if let Some(Value(symbol)) = value {
            self.define_symbol(symbol, names)?;
            push_varint(&mut self.operands, symbol.raw().rotate_left(1) as usize);
        }
        Ok(())
    }

    fn define_symbol(&mut self, symbol: Symbol, names: &Names) -> Result<(), TraceError> {
        let SymbolContent::Named(index) = symbol.content() else { return Ok(()) };
        let known = self.defined[Table::Symbols as usize];
        for symbol in (known..=index).filter_map(Symbol::named) {
            self.definition(Table::Symbols, &names.symbol_text(symbol))?;
        }
        Ok(())
    }

    /// Defines the name of `id`, and those before it, so that ids stay what they are.
    fn define<'n, I: Id>(
        &mut self,
        table: Table,
        id: I,
        name: impl Fn(I) -> &'n str,
    ) -> Result<(), TraceError> {
        let known = self.defined[table as usize];
        for id in (known..=id.index()).filter_map(I::from_index) {
            self.definition(table, name(id))?;
        }
        Ok(())
    }

    #[cold]
    fn definition(&mut self, table: Table, name: &str) -> Result<(), TraceError> {
        if name.len() > NAME_LIMIT {
            let what = format!("a name of more than {NAME_LIMIT} bytes");
            return Err(TraceError::not_expressible(self.events, "binary", what));
        }
        if self.block.len() >= BLOCK {
            self.end_block(RECORDS)?;
        }
        self.block.extend([CODE_DEFINE << 3, table as u8]);
        push_varint(&mut self.block, name.len());
        self.block.extend_from_slice(name.as_bytes());
        self.defined[table as usize] += 1;
        Ok(())
    }
}

fn push_varint(bytes: &mut Vec<u8>, number: usize) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(0x80 | rest.to_le_bytes()[0]);
        rest >>= 7;
    }
    bytes.push(rest.to_le_bytes()[0]);
}
