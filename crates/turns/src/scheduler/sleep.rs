//! Sleep in counted time: deadlines, and naps on the real clock when every thread sleeps.

use std::sync::atomic::Ordering;

use super::{BlockedOn, NAP, RunState, Scheduler, Slot, WAIT, WakeReason};
use crate::signals::may_interrupt;
use crate::system::wake;
use crate::thread::Thread;

impl Scheduler {
    /// The thread that wakes first by itself, and when.
    pub(super) fn next_to_wake(&self) -> Option<(u64, &'static Thread)> {
        let deadline = |slot: &Slot| match slot.state {
            RunState::Waiting(BlockedOn { deadline: Some(deadline), .. }) => Some((deadline, slot.thread)),
            _ => None,
        };
        self.slots.iter().filter_map(deadline).min_by_key(|&(deadline, thread)| (deadline, thread.id))
    }

    /// The thread that has waited long enough can run.
    pub(super) fn end_sleep(&mut self) {
        while let Some((deadline, thread)) = self.next_to_wake()
            && deadline <= self.clock
        {
            self.make_ready(thread.id, WakeReason::TimedOut);
        }
    }

    /// How long the thread has to sleep, and how long it does so before it looks whether an external thread has
    /// helped.
    pub(super) fn left_to_sleep(&mut self, me: &Thread) -> (u64, u64) {
        let left = match self.next_to_wake() {
            Some((deadline, thread)) if thread.id == me.id => deadline.saturating_sub(self.clock),
            _ => 0,
        };
        // A handler may come just before the nap begins.
        let is_short = self.may_be_helped(me) || me.interruption.get().is_some() && may_interrupt();
        (left, if is_short { left.min(self.external_patience()) } else { left })
    }

    /// The napper has slept for so long, and if that was long enough, time jumps. Another thread may have come back
    /// in between.
    pub(super) fn nap_is_over(&mut self, me: &'static Thread, slept: u64, is_enough: bool) {
        let next = self.next_to_wake().map(|(deadline, _)| deadline.max(self.clock));
        let passed = self.clock.saturating_add(slept).min(next.unwrap_or(u64::MAX));
        if me.go.compare_exchange(NAP, WAIT, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            self.clock = passed;
            return;
        }
        self.napper = None;
        if is_enough {
            self.clock = next.unwrap_or(self.clock);
        } else {
            self.clock = passed;
            if self.may_be_helped(me) {
                self.make_ready(me.id, WakeReason::Woken);
            }
        }
        self.choose();
    }

    pub(super) fn wake_napper(&mut self) {
        if let Some(napper) = self.napper.take()
            && let Some(slot) = self.slots.get(napper as usize)
        {
            slot.thread.go.store(WAIT, Ordering::SeqCst);
            wake(&slot.thread.go);
        }
    }
}
