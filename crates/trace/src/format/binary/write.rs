//! Writes recordings.

use std::io::{self, ErrorKind, Write};

use super::places::{Places, target, zigzag};
use super::{
    BLOCK, BLOCK_HEADER, CODE_DEFINE, CODE_LONG, CODE_OTHER, DEPENDENCE, END, HAS_FIRST, HAS_SECOND,
};
use super::{
    MAGIC, NAME_LIMIT, OTHER_THREAD, RECORDS, STEPS_MADE, TITLES, Table, VALUES, VERSION, common, number,
    place,
};
use crate::dependence::Dependence;
use crate::error::TraceError;
use crate::event::{Event, MemOrder, Op};
use crate::format::{dependence, steps, titles, values};
use crate::id::{CondId, Id, LockId, VarId};
use crate::name::Names;
use crate::steps::Steps;
use crate::symbol::{Symbol, SymbolContent, Value};
use crate::values::Values;

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

    /// Writes what the program calls its threads, after all events.
    pub fn write_titles(&mut self, names: &Names) -> Result<(), TraceError> {
        self.flush()?;
        for line in titles::write(names).split_inclusive('\n') {
            self.block.extend_from_slice(line.as_bytes());
            if self.block.len() >= BLOCK {
                self.end_block(TITLES)?;
            }
        }
        if self.block.len() > BLOCK_HEADER { self.end_block(TITLES) } else { Ok(()) }
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
            Op::TryAcquire(lock) => self.lock(number::TRY_ACQUIRE, lock, names),
            Op::TryAcquireShared(lock) => self.lock(number::TRY_ACQUIRE_SHARED, lock, names),
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
