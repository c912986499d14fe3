//! Which cell of a state is what.

use foretell_trace::{BarrierId, LockId, Op, SemId, Trace, VarId};

use super::contents::Memory;
use super::sync::Sync;
use crate::program::{FIRST_THREAD, NONE, Range};

/// The numbers of all cells.
#[derive(Debug)]
pub(super) struct Cells {
    vars: u32,
    locks: u32,
    sems: u32,
    barriers: u32,
    /// Per variable, the cell that tells whether it is usable, or [`NONE`] if it always is.
    lives: Vec<u32>,
    /// Per variable, whether the trace shows its allocation.
    allocated: Vec<bool>,
    /// Per lock, what exclusive ownership adds to its cell; shared ownership adds 1 for each owner.
    exclusive: Vec<u32>,
    count: usize,
}

/// A variable that is not allocated yet, usable, or freed.
const UNALLOCATED: u32 = 0;
const USABLE: u32 = 1;
pub(super) const FREED: u32 = 2;

impl Cells {
    /// `None` if there are too many.
    pub(super) fn new(trace: &Trace) -> Option<Cells> {
        let names = trace.names();
        let after = |begin: u32, length: usize| begin.checked_add(u32::try_from(length).ok()?);
        let vars = after(FIRST_THREAD, trace.thread_count())?;
        let locks = after(vars, names.vars.len())?;
        let sems = after(locks, names.locks.len())?;
        let barriers = after(sems, names.sems.len())?;
        let mut next = after(barriers, names.barriers.len())?;
        let mut lives = vec![NONE; names.vars.len()];
        let mut allocated = vec![false; names.vars.len()];
        let mut exclusive = vec![1; names.locks.len()];
        let most_owners = u32::try_from(trace.thread_count()).ok()?;
        for event in trace.events() {
            match event.op {
                Op::Alloc(var) | Op::Free(var) => {
                    allocated[var.index()] |= matches!(event.op, Op::Alloc(_));
                    if lives[var.index()] == NONE {
                        lives[var.index()] = next;
                        next = next.checked_add(1)?;
                    }
                }
                Op::AcquireShared(lock) => exclusive[lock.index()] = most_owners.checked_add(1)?,
                _ => {}
            }
        }
        Some(Cells { vars, locks, sems, barriers, lives, allocated, exclusive, count: next as usize })
    }

    /// All cells before anything has run, but for the positions of threads.
    pub(super) fn initial(&self, memory: &Memory, sync: &Sync) -> Vec<u32> {
        let mut cells = vec![0; self.count];
        for (var, (&life, &allocated)) in self.lives.iter().zip(&self.allocated).enumerate() {
            cells[self.vars as usize + var] = memory.initial(var);
            if life != NONE {
                cells[life as usize] = if allocated { UNALLOCATED } else { USABLE };
            }
        }
        for (sem, permits) in sync.permits.iter().enumerate() {
            cells[self.sems as usize + sem] = permits.map_or(0, |permits| permits + 1);
        }
        cells
    }

    pub(super) fn thread(&self, thread: usize) -> u32 {
        nth(FIRST_THREAD, thread)
    }

    pub(super) fn var(&self, var: VarId) -> u32 {
        nth(self.vars, var.index())
    }

    pub(super) fn lock(&self, lock: LockId) -> u32 {
        nth(self.locks, lock.index())
    }

    /// What exclusive ownership adds to the cell of the lock.
    pub(super) fn exclusive(&self, lock: LockId) -> u32 {
        self.exclusive[lock.index()]
    }

    pub(super) fn sem(&self, sem: SemId) -> u32 {
        nth(self.sems, sem.index())
    }

    pub(super) fn barrier(&self, barrier: BarrierId) -> u32 {
        nth(self.barriers, barrier.index())
    }

    /// The cell that tells whether the variable is usable, where that changes.
    pub(super) fn life(&self, var: VarId) -> Option<u32> {
        Some(self.lives[var.index()]).filter(|&cell| cell != NONE)
    }

    /// When the variable can be accessed.
    pub(super) fn usable(&self, var: VarId) -> Range {
        self.life(var).map_or(Range::ALWAYS, |cell| Range::exactly(cell, USABLE))
    }
}

/// The cell of the n-th object; there is one, so there is no overflow.
fn nth(begin: u32, index: usize) -> u32 {
    u32::try_from(index).map_or(NONE, |index| begin.saturating_add(index))
}
