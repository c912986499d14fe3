//! Replays the end of a schedule after which memory is used that has been given back: the one thread goes on until it
//! has given the memory back, and then the other one until it has used it.
//!
//! To give memory back is no step: the thread has done so when it is about to make its next one, waits, or has ended.

use std::sync::atomic::Ordering;

use foretell_wire::log::IncompleteReason;
use foretell_wire::schedule::{Ending, GO_ON, OUTCOME, ReplayOutcome, ScheduledAccess};

use super::{CODE, Phase, Point, RACING, ReplayAnswer, let_go};
use crate::file;
use crate::folder;
use crate::scheduler::{RunState, Scheduler};
use crate::system::exit_now;
use crate::thread::Thread;

impl Scheduler {
    /// What gives the memory back, and what uses it, if that is what the schedule leads to.
    fn use_after_free(&self) -> Option<[ScheduledAccess<'static>; 2]> {
        match self.given.as_ref()?.ending {
            Ending::Used(accesses) => Some(accesses),
            Ending::Race(_) | Ending::Stuck(_) => None,
        }
    }

    /// The memory has been given back if its thread has gone on since, or does not go on.
    pub(super) fn pass_free(&mut self) {
        let is_freeing = self.given.as_ref().is_some_and(|given| given.phase == Phase::Freeing);
        let Some([freed, _]) = self.use_after_free().filter(|_| is_freeing) else { return };
        let Some(thread) = self.called(freed.thread) else { return };
        let state = self.slot(thread).map(|slot| slot.state);
        let has_gone_on = thread.log().steps > freed.held;
        if has_gone_on || matches!(state, Some(RunState::Done | RunState::Waiting(_))) {
            self.let_use();
        }
    }

    fn let_use(&mut self) {
        if let Some(given) = &mut self.given {
            given.phase = Phase::Using;
            RACING.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the thread may go on, now that the memory is given back and used.
    pub(super) fn may_go_to_use(&mut self, me: &'static Thread, point: Point) -> ReplayAnswer {
        self.pass_free();
        let (Some([freed, used]), Some(phase)) =
            (self.use_after_free(), self.given.as_ref().map(|given| given.phase))
        else {
            return ReplayAnswer::Wait;
        };
        match phase {
            Phase::Freeing if me.is_called(freed.thread) => match point {
                Point::Step(_) => {
                    self.let_use();
                    ReplayAnswer::Wait
                }
                Point::Free(_) | Point::Between | Point::Silent => {
                    me.allowed.set(freed.held);
                    ReplayAnswer::Go
                }
            },
            Phase::Using if me.is_called(used.thread) => {
                me.allowed.set(used.step);
                ReplayAnswer::Go
            }
            _ => ReplayAnswer::Wait,
        }
    }

    /// Whether the thread has used what was given back.
    pub(super) fn has_used(&self, me: &Thread) -> bool {
        let is_using = self.given.as_ref().is_some_and(|given| given.phase == Phase::Using);
        let used = self.use_after_free().filter(|_| is_using).map(|accesses| accesses[1]);
        used.is_some_and(|used| me.is_called(used.thread) && me.log().steps >= used.step)
    }

    /// The thread that is to go on, and where to, see [`Scheduler::wanted`].
    pub(super) fn wanted_to_use(&self) -> Option<(&'static str, u64, &'static str)> {
        let [freed, used] = self.use_after_free()?;
        let is_using = self.given.as_ref().is_some_and(|given| given.phase == Phase::Using);
        let access = if is_using { used } else { freed };
        Some((access.thread, access.step, access.place))
    }
}

/// The memory has been used.
pub(super) fn end() {
    folder::write_file(OUTCOME, &ReplayOutcome::Used.to_string());
    file::set_why(IncompleteReason::Raced);
    if folder::has_file(GO_ON) {
        return let_go();
    }
    exit_now(CODE)
}
