//! Which cell of a state is what.

use std::collections::hash_map::Entry;

use foretell_trace::{BarrierId, CondId, LockId, Op, SemId, ThreadId, Trace, VarId, ops};
use rustc_hash::FxHashMap;

use super::contents::Memory;
use super::sync::Sync;
use crate::program::{FIRST_THREAD, NONE, Range};
use crate::special::Waiters;

/// The numbers of all cells.
#[derive(Debug)]
pub(super) struct Cells {
    vars: u32,
    locks: u32,
    sems: u32,
    barriers: u32,
    /// Per variable, the cell for whether it is usable, or [`NONE`] if it always is.
    lives: Vec<u32>,
    /// Per variable, whether the trace shows its allocation.
    allocated: Vec<bool>,
    /// Per lock, what exclusive ownership adds to its cell; shared ownership adds 1 for each owner.
    exclusive: Vec<u32>,
    /// Per condition, the first of the cells of the threads that ever wait on it for a notification.
    waiters: Vec<u32>,
    /// These threads.
    waiting: Vec<Vec<ThreadId>>,
    /// The cells of threads at barriers that any threads may cross together.
    meeting: FxHashMap<(BarrierId, ThreadId), u32>,
    count: usize,
}

/// A variable that is not allocated yet, usable, or freed.
const UNALLOCATED: u32 = 0;
const USABLE: u32 = 1;
pub(super) const FREED: u32 = 2;

impl Cells {
    /// `None` if there are too many.
    pub(super) fn new(trace: &Trace, sync: &Sync) -> Option<Cells> {
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
                Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                    exclusive[lock.index()] = most_owners.checked_add(1)?;
                }
                Op::Fence { .. }
                | Op::Acquire(_)
                | Op::TryAcquire(_)
                | Op::Release(_)
                | Op::ReleaseShared(_)
                | ops!(
                    control | semaphores | conditions | barriers | labels | accesses | reentries | attempts
                ) => {}
            }
        }
        let mut waiting: Vec<Vec<ThreadId>> = vec![Vec::new(); names.conds.len()];
        let mut meeting = FxHashMap::default();
        for (index, event) in trace.events().iter().enumerate() {
            match event.op {
                Op::Woken { cond, .. } if sync.notified.contains(&index) => {
                    waiting[cond.index()].push(event.thread);
                }
                Op::Arrive(barrier) if sync.sizes[barrier.index()].is_some() => {
                    if let Entry::Vacant(vacant) = meeting.entry((barrier, event.thread)) {
                        vacant.insert(next);
                        next = next.checked_add(1)?;
                    }
                }
                ops!(memory | locks | control | semaphores | conditions | barriers | labels) => {}
            }
        }
        let mut waiters = Vec::with_capacity(waiting.len());
        for threads in &mut waiting {
            threads.sort_unstable();
            threads.dedup();
            waiters.push(next);
            next = after(next, threads.len())?;
        }
        let count = next as usize;
        Some(Cells {
            vars,
            locks,
            sems,
            barriers,
            lives,
            allocated,
            exclusive,
            waiters,
            waiting,
            meeting,
            count,
        })
    }

    /// The cells of the threads that ever wait on the condition for one of `signals` notifications, or for one of all.
    pub(super) fn waiters(&self, cond: CondId, signals: u32) -> Waiters {
        let count = u32::try_from(self.waiting[cond.index()].len()).unwrap_or(0);
        Waiters { first: self.waiters[cond.index()], count, woken: signals.saturating_add(2) }
    }

    /// The cell of one of them.
    pub(super) fn waiter(&self, cond: CondId, thread: ThreadId) -> Option<u32> {
        let place = self.waiting[cond.index()].binary_search(&thread).ok()?;
        Some(nth(self.waiters[cond.index()], place))
    }

    /// The cell of a thread at a barrier that any may cross together.
    pub(super) fn meeting(&self, barrier: BarrierId, thread: ThreadId) -> Option<u32> {
        self.meeting.get(&(barrier, thread)).copied()
    }

    /// All of these cells.
    pub(super) fn meetings(&self) -> impl Iterator<Item = (BarrierId, u32)> {
        let mut all: Vec<_> = self.meeting.iter().map(|(&(barrier, _), &cell)| (cell, barrier)).collect();
        all.sort_unstable();
        all.into_iter().map(|(cell, barrier)| (barrier, cell))
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

    /// The cell for whether the variable is usable, where that changes.
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
