//! The order that every schedule keeps, whatever the technique: thread starts and ends, notifications, semaphores,
//! barriers, allocation, failed attempts to lock, and the fences that unexplained reads are.
//!
//! Detectors differ in what they make of locks and memory. All else is here, once, over any clocks: [`MustOrder::enter`]
//! before an event lets its thread learn what must come before it; [`MustOrder::leave`] after it makes it known.
//!
//! Deliberately careful where a finer order would be possible: operations on one semaphore, condition or barrier stay in
//! the order of the trace, and an attempt to lock that failed comes after all that the owner did so far.

use foretell_trace::{CondId, Event, LockId, Op, ThreadId};

use crate::clock::{Clock, Clocks};
use crate::table::at;

/// Clocks of everything but locks and memory.
#[derive(Debug, Default)]
pub struct MustOrder {
    /// For each semaphore, what came before its last operation.
    sems: Vec<Clock>,
    /// For each condition, what came before its last notification.
    conds: Vec<Clock>,
    barriers: Vec<Barrier>,
    /// For each variable, what came before its allocation; empty if that was not seen.
    allocated: Vec<Clock>,
    /// Who holds each lock, in any mode. Short: searched linearly.
    owners: Vec<Vec<ThreadId>>,
}

#[derive(Clone, Debug, Default)]
struct Barrier {
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
    /// Before the event: its thread learns what must come before it.
    pub fn enter(&mut self, event: &Event, clocks: &mut Clocks) {
        let thread = event.thread;
        match event.op {
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Free(var) => {
                if let Some(allocated) = self.allocated.get(var.index()) {
                    clocks.of(thread).join(allocated);
                }
            }
            Op::Join(child) => clocks.join(thread, child),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                clocks.of(thread).join(at(&mut self.sems, sem.index()));
            }
            Op::Woken { cond, .. } => clocks.of(thread).join(self.cond(cond)),
            Op::Arrive(barrier) => {
                clocks.of(thread).join(&at(&mut self.barriers, barrier.index()).complete);
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
                for &owner in at(&mut self.owners, lock.index()).iter() {
                    clocks.join(thread, owner);
                    clocks.advance(owner);
                }
            }
            _ => {}
        }
    }

    /// After the event: what it did is known to whom it concerns.
    pub fn leave(&mut self, event: &Event, clocks: &mut Clocks) {
        let thread = event.thread;
        match event.op {
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
            op => self.owners_change(op, thread),
        }
        if event.unexplained {
            clocks.fence(thread);
        }
    }

    fn owners_change(&mut self, op: Op, thread: ThreadId) {
        if let Some((lock, _)) = op.section_begin() {
            self.owners(lock).push(thread);
        } else if let Some((lock, _)) = op.section_end() {
            let owners = self.owners(lock);
            if let Some(position) = owners.iter().position(|&owner| owner == thread) {
                owners.swap_remove(position);
            }
        }
    }

    fn cond(&mut self, cond: CondId) -> &mut Clock {
        at(&mut self.conds, cond.index())
    }

    fn owners(&mut self, lock: LockId) -> &mut Vec<ThreadId> {
        at(&mut self.owners, lock.index())
    }
}
