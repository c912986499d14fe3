//! The order that every schedule keeps, whatever the technique: thread starts and ends, notifications, semaphores,
//! barriers, allocation, failed attempts to lock, and the fences that unexplained reads are.
//!
//! Detectors differ in what they make of locks and memory. All else is here, once, over any clocks:
//! [`MustOrder::enter`] before an event lets its thread learn what must come before it; [`MustOrder::leave`] after it
//! makes it known.
//!
//! By default deliberately careful where a finer order would be possible: operations on one semaphore, condition or
//! barrier stay in the order of the trace, and an attempt to lock that failed comes after all that the owner did so
//! far. That is right for a technique that must not report too much. One that must not miss anything wants only what
//! holds in every schedule: [`MustOrder::certain`]. Barriers order nothing there: who meets whom may be another in each
//! schedule, unless always the same threads do, and that is not known before the end of the trace.

use foretell_trace::{CondId, Event, LockId, LockMode, Op, ThreadId, VarId, ops};

use crate::clock::{Clock, Clocks};
use crate::table::at;

/// Clocks of everything but locks and memory.
#[derive(Clone, Debug, Default)]
pub struct MustOrder {
    /// Whether only what holds in every schedule counts.
    certain: bool,
    /// For each semaphore, what came before its last operation.
    sems: Vec<Clock>,
    /// For each condition, what came before its last notification.
    conds: Vec<Clock>,
    barriers: Vec<BarrierRound>,
    /// For each variable, what came before its allocation; empty if that was not seen.
    allocated: Vec<Clock>,
    owners: Vec<Owners>,
}

/// Who holds a lock.
#[derive(Clone, Debug, Default)]
struct Owners {
    exclusive: Option<ThreadId>,
    /// Short: searched linearly.
    shared: Vec<ThreadId>,
}

#[derive(Clone, Debug, Default)]
struct BarrierRound {
    /// What came before the arrivals so far, of this generation and those before it.
    arrivals: Clock,
    /// What came before the arrivals of generations that are complete.
    complete: Clock,
    /// How many have arrived since the last generation was complete.
    arrived: usize,
    /// How many of the last complete generation have still to depart.
    leaving: usize,
}

impl MustOrder {
    /// The order that holds in every schedule, and nothing that merely holds in the observed one.
    pub fn certain() -> MustOrder {
        MustOrder { certain: true, ..MustOrder::default() }
    }

    /// Before the event: its thread learns what must come before it.
    pub fn enter(&mut self, event: &Event, clocks: &mut Clocks) {
        let thread = event.thread;
        if event.unexplained {
            clocks.gather(thread);
        }
        match event.op {
            op if self.certain && is_negotiable(op) => {}
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Free(var) => self.enter_access(thread, var, clocks),
            Op::Join(child) => clocks.join(thread, child),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                clocks.of(thread).join(at(&mut self.sems, sem.index()));
            }
            Op::Notify(cond) | Op::NotifyAll(cond) | Op::Woken { cond, .. } => {
                clocks.of(thread).join(self.cond(cond));
            }
            Op::Arrive(barrier) => {
                let barrier = at(&mut self.barriers, barrier.index());
                clocks.of(thread).join(&barrier.arrivals);
            }
            Op::Depart(barrier) => {
                let barrier = at(&mut self.barriers, barrier.index());
                if barrier.leaving == 0 {
                    barrier.leaving = std::mem::take(&mut barrier.arrived);
                    barrier.complete.copy_from(&barrier.arrivals);
                }
                barrier.leaving = barrier.leaving.saturating_sub(1);
                clocks.of(thread).join(&barrier.complete);
            }
            Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => {
                let owners = at(&mut self.owners, lock.index());
                for &owner in owners.exclusive.iter().chain(&owners.shared) {
                    clocks.join(thread, owner);
                    clocks.advance(owner);
                }
            }
            Op::Fence { .. }
            | Op::Fork(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Wait { .. }
            | Op::WaitTimeout { .. }
            | Op::Alloc(_)
            | ops!(labels | sections | reentries) => {}
        }
    }

    /// After the event: what it did is known to whom it concerns.
    pub fn leave(&mut self, event: &Event, clocks: &mut Clocks) {
        let thread = event.thread;
        match event.op {
            op if self.certain && is_negotiable(op) => {}
            Op::Fork(child) => {
                clocks.join(child, thread);
                clocks.advance(thread);
            }
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                at(&mut self.sems, sem.index()).join(clocks.of(thread));
                clocks.advance(thread);
            }
            Op::Notify(cond) | Op::NotifyAll(cond) => {
                self.cond(cond).join(clocks.of(thread));
                clocks.advance(thread);
            }
            Op::Arrive(barrier) => {
                let barrier = at(&mut self.barriers, barrier.index());
                barrier.arrived += 1;
                barrier.arrivals.join(clocks.of(thread));
                clocks.advance(thread);
            }
            Op::Alloc(var) => {
                at(&mut self.allocated, var.index()).join(clocks.of(thread));
                clocks.advance(thread);
            }
            Op::Acquire(lock)
            | Op::TryAcquire(lock)
            | Op::Woken { lock, .. }
            | Op::WaitTimeout { lock, .. } => {
                self.begin_section(thread, lock, LockMode::Exclusive);
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                self.begin_section(thread, lock, LockMode::Shared);
            }
            Op::Release(lock) | Op::Wait { lock, .. } => {
                self.end_section(thread, lock, LockMode::Exclusive);
            }
            Op::ReleaseShared(lock) => self.end_section(thread, lock, LockMode::Shared),
            // Others learn nothing from these.
            Op::Fence { .. }
            | Op::Join(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Depart(_)
            | Op::Free(_)
            | ops!(labels | accesses | reentries | attempts) => {}
        }
        if event.unexplained {
            clocks.fence(thread);
        }
    }

    /// The part of [`MustOrder::enter`] that concerns accesses.
    pub fn enter_access(&self, thread: ThreadId, var: VarId, clocks: &mut Clocks) {
        if let Some(allocated) = self.allocated.get(var.index()) {
            clocks.of(thread).join(allocated);
        }
    }

    /// The part of [`MustOrder::leave`] that concerns the beginning of sections.
    pub fn begin_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let owners = at(&mut self.owners, lock.index());
        match mode {
            LockMode::Exclusive => owners.exclusive = Some(thread),
            LockMode::Shared => owners.shared.push(thread),
        }
    }

    /// The part of [`MustOrder::leave`] that concerns the end of sections.
    pub fn end_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let owners = at(&mut self.owners, lock.index());
        match mode {
            LockMode::Exclusive => owners.exclusive = None,
            LockMode::Shared => owners.shared.retain(|&owner| owner != thread),
        }
    }

    fn cond(&mut self, cond: CondId) -> &mut Clock {
        at(&mut self.conds, cond.index())
    }
}

/// Whether another schedule may order this operation differently towards the others on its object.
fn is_negotiable(op: Op) -> bool {
    match op {
        Op::Woken { .. } | Op::Notify(_) | Op::NotifyAll(_) | ops!(semaphores | barriers | attempts) => true,
        Op::Wait { .. } | Op::WaitTimeout { .. } => false,
        ops!(memory | sections | reentries | control | labels) => false,
    }
}
