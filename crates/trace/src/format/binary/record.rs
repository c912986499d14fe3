//! Decodes one record.

use super::places::{Guesses, Places, target, unzigzag};
use super::{CODE_LONG, CODE_OTHER, HAS_FIRST, HAS_SECOND, OTHER_THREAD, STEPS, TARGETS, Table, WINDOW};
use super::{common, number, place};
use crate::event::{Event, MemOrder, Op};
use crate::id::{Id, LockId, ThreadId, VarId};
use crate::name::Names;
use crate::symbol::{Loc, Symbol, Value};

/// What is wrong with a record. Small, because the result of every event carries it.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Truncated,
    Undefined(Table),
    Operation,
    Order,
    Values,
}

impl Fault {
    pub(super) fn expected(self) -> &'static str {
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

/// Reads one record. It cannot run off its window: no event is that long.
pub(super) struct Record<'a> {
    pub(super) window: &'a [u8; WINDOW],
    pub(super) at: usize,
    pub(super) names: &'a Names,
}

impl Record<'_> {
    /// Appends the event. Nothing larger than a register is handed from function to function on the way: events that
    /// are moved in pieces of other sizes than they were built in cost several times what all the rest does.
    #[inline(always)]
    pub(super) fn event(
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
    pub(super) fn byte(&mut self) -> u8 {
        let byte = self.window[self.at % WINDOW];
        self.at += 1;
        byte
    }

    #[inline]
    pub(super) fn varint(&mut self) -> u32 {
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
            number::TRY_ACQUIRE => Op::TryAcquire(self.lock()?),
            number::TRY_ACQUIRE_SHARED => Op::TryAcquireShared(self.lock()?),
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
