//! Threads that run in parallel: no thread waits for a turn, only for what the program waits for.
//!
//! Who waits says so while it is alone (see [`crate::turn::Turn::alone`]), and so does who wakes others; so no thread
//! is woken between the moment when it found that it has to wait and the moment when it does.

use std::sync::atomic::Ordering;

use super::stall::{PATIENCE, STALLED};
use super::{BlockedOn, Helper, RUN, RunState, SCHEDULER, Scheduler, WAIT, WakeReason, interrupted};
use crate::system::now;
use crate::thread::Thread;

/// Who may look again does so after so many nanoseconds,
const LOOK_AGAIN: u64 = 20_000_000;
/// and who may not, looks whether any thread is left who could wake it.
const LOOK_AROUND: u64 = 500_000_000;

/// The thread does something else now.
pub(super) fn set_state(me: &'static Thread, state: RunState) {
    SCHEDULER.with(|scheduler| scheduler.set_state(me, state));
}

/// Waits, if that is what the state says.
pub(super) fn wait(me: &'static Thread, state: RunState, let_others: impl FnOnce()) -> WakeReason {
    let RunState::Waiting(waiting) = state else { return WakeReason::Woken };
    me.go.store(WAIT, Ordering::SeqCst);
    SCHEDULER.with(|scheduler| {
        scheduler.begin_wait(me, state);
        scheduler.look_for_deadlock();
    });
    let_others();
    while me.go.load(Ordering::SeqCst) == WAIT {
        let interval = if waiting.looks_again() { LOOK_AGAIN } else { LOOK_AROUND };
        let patience = left(waiting).unwrap_or(interval).min(interval);
        let is_interrupted = interrupted::sleep_on(me, WAIT, Some(patience));
        SCHEDULER.with(|scheduler| {
            if !is_interrupted || !scheduler.end_wait_by_handler(me) {
                scheduler.end_wait(me, waiting);
            }
        });
    }
    SCHEDULER.with(|scheduler| scheduler.slot(me).map_or(WakeReason::Woken, |slot| slot.reason))
}

fn left(waiting: BlockedOn) -> Option<u64> {
    waiting.deadline.map(|deadline| deadline.saturating_sub(now()))
}

impl Scheduler {
    /// Ends the wait of a thread that has waited long enough, unless a thread has woken it.
    fn end_wait(&mut self, me: &Thread, waiting: BlockedOn) {
        if me.go.load(Ordering::SeqCst) == RUN {
            return;
        }
        if left(waiting) == Some(0) {
            self.make_ready(me.id, WakeReason::TimedOut);
        } else if waiting.looks_again() {
            self.make_ready(me.id, WakeReason::Woken);
        } else {
            self.look_for_deadlock();
        }
    }

    /// If all wait for each other, no thread will ever wake any thread. Those who look again do so a few times first.
    fn look_for_deadlock(&mut self) {
        let (mut waiting, mut looking) = (0, 0);
        for slot in &self.slots {
            match slot.state {
                RunState::Waiting(BlockedOn { deadline: None, helper, .. }) => {
                    waiting += 1;
                    looking += u32::from(helper != Helper::Waker);
                }
                RunState::Done => {}
                RunState::Waiting(_) | RunState::Ready | RunState::Last | RunState::Away => return,
            }
        }
        let stalled = STALLED.fetch_add(1, Ordering::Relaxed);
        if looking > 0 && stalled <= PATIENCE * waiting || self.somebody_may_be_helped() {
            self.alone = 0;
            return;
        }
        self.alone += 1;
        // The thread that has helped externally may have gone since. So all look again, now that no thread is there.
        if looking == 0 || self.alone > PATIENCE * waiting {
            self.report_deadlock();
        }
    }
}
