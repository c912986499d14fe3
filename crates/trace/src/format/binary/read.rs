//! Reads recordings block by block.

use std::io::{self, ErrorKind, Read};

use super::places::Places;
use super::record::{Fault, Record};
use super::{
    BLOCK_HEADER, CODE_DEFINE, DEPENDENCE, END, MAGIC, RECORDS, STEPS_MADE, TITLES, VALUES, VERSION, WINDOW,
};
use crate::dependence::Dependence;
use crate::error::{Position, TraceError};
use crate::format::{dependence, steps, titles, values};
use crate::id::Id;
use crate::name::{NameError, Names};
use crate::source::{BATCH, Batch, Ending, Source};
use crate::steps::Steps;
use crate::values::Values;

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
            TITLES => {
                let lines = self.block[..length].split(|&byte| byte == b'\n');
                titles::take_up(lines.filter_map(titles::read), &mut self.names);
                Ok(())
            }
            kind => Err(syntax(start, "a block of kind 1 to 6", &format!("kind {kind}"))),
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
