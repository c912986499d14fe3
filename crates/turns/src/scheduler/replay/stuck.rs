//! Replays the end of a schedule that leads into a deadlock: one thread of the circle after the other goes on to what
//! it should wait for, and must wait there without end.
//!
//! At first the thread comes to its end that holds up the last one, if there is such a thread. When all others wait,
//! each of them looks once more whether it can have what it waits for: code that is not instrumented may have given
//! it up. Who waits for whom is then for the recording to show.

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_wire::log::IncompleteReason;
use foretell_wire::record::SyncOp;
use foretell_wire::schedule::{Ending, GO_ON, OUTCOME, ReplayOutcome, ScheduledWait, StuckOn};

use super::{CODE, Phase, ReplayAnswer, SCHEDULER, hold, let_go};
use crate::file;
use crate::folder;
use crate::mode;
use crate::scheduler::{BlockedOn, RunState, Scheduler, WakeReason};
use crate::system::{exit_now, without_signals};
use crate::thread::Thread;

/// The outcome has been told, or is being told.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Who is to go on, and to where.
#[derive(Clone, Copy)]
enum Goal {
    /// The thread comes to its end, after so many steps.
    End(&'static str, u64),
    /// The thread waits; or looks again whether it has to.
    Wait(ScheduledWait<'static>, bool),
}

/// Ends the program if all threads of the circle wait. No turn is under way then.
pub(in crate::scheduler) fn settle() {
    let is_stuck =
        || SCHEDULER.with(|scheduler| scheduler.given.as_ref().is_some_and(|it| it.phase == Phase::Stuck));
    if !mode::is_scheduled() || !is_stuck() || IS_OVER.swap(true, Ordering::SeqCst) {
        return;
    }
    hold();
    without_signals(|| SCHEDULER.with(|scheduler| scheduler.tell_attempts()));
    folder::write_file(OUTCOME, &ReplayOutcome::Stuck.to_string());
    file::set_why(IncompleteReason::Deadlock);
    if !folder::has_file(GO_ON) {
        exit_now(CODE);
    }
    let_go();
    // The others go on.
    SCHEDULER.with(Scheduler::choose);
}

impl Scheduler {
    /// Where the circle has come to.
    fn goal(&self) -> Option<Goal> {
        let given = self.given.as_ref()?;
        let (Phase::Sticking(place), Ending::Stuck(circle)) = (given.phase, given.ending) else {
            return None;
        };
        let end = circle.ended.map(|(thread, steps)| Goal::End(thread, steps));
        let waits = |again| circle.waits().map(move |wait| Goal::Wait(wait, again));
        end.into_iter().chain(waits(false)).chain(waits(true)).nth(place)
    }

    /// Passes the threads that have come to where they should.
    pub(super) fn pass_waits(&mut self) {
        while let Some(Phase::Sticking(place)) = self.given.as_ref().map(|given| given.phase) {
            let goal = self.goal();
            if goal.is_some_and(|goal| !self.is_there(goal)) {
                return;
            }
            if let Some(given) = &mut self.given {
                given.phase = if goal.is_some() { Phase::Sticking(place + 1) } else { Phase::Stuck };
                given.looks_again = false;
            }
        }
    }

    /// Whether the thread has come to its goal. One that is to look again is woken for that.
    fn is_there(&mut self, goal: Goal) -> bool {
        match goal {
            Goal::End(name, _) => self.state_of(name).is_some_and(|(_, state)| state == RunState::Done),
            Goal::Wait(wait, is_again) => {
                let Some(waiting) = self.waits(wait) else { return false };
                let looks = is_again && waiting.looks_again();
                if looks
                    && let Some((thread, _)) = self.state_of(wait.thread)
                    && let Some(given) = &mut self.given
                    && !given.looks_again
                {
                    given.looks_again = true;
                    self.make_ready(thread.id, WakeReason::Woken);
                    return false;
                }
                true
            }
        }
    }

    fn state_of(&mut self, name: &str) -> Option<(&'static Thread, RunState)> {
        let thread = self.called(name)?;
        Some((thread, self.slot(thread)?.state))
    }

    /// How the thread waits for what it should wait for, if it does, and without end.
    fn waits(&mut self, wait: ScheduledWait<'_>) -> Option<BlockedOn> {
        let (thread, state) = self.state_of(wait.thread)?;
        let RunState::Waiting(waiting) = state else { return None };
        let is_on = match (thread.attempt.get()?, wait.on) {
            ((SyncOp::Join, child), StuckOn::End(name)) => {
                self.called(name).is_some_and(|thread| thread.id as usize == child)
            }
            ((op, _), StuckOn::Lock) => op != SyncOp::Join,
            (_, StuckOn::End(_)) => false,
        };
        let is_there = is_on && waiting.deadline.is_none() && thread.log().steps == wait.held;
        is_there.then_some(waiting)
    }

    /// Whether the thread may go on, now that one after the other goes on to where it waits.
    pub(super) fn may_go_to_wait(&mut self, me: &'static Thread) -> ReplayAnswer {
        let (name, held) = match self.goal() {
            Some(Goal::End(name, steps)) => (name, steps),
            Some(Goal::Wait(wait, _)) => (wait.thread, wait.held),
            None => return ReplayAnswer::Wait,
        };
        if !me.is_called(name) {
            return ReplayAnswer::Wait;
        }
        if me.log().steps > held {
            self.diverge("it did not have to wait there");
        }
        me.allowed.set(held);
        ReplayAnswer::Go
    }

    /// The thread that is to go on, and where to, see [`Scheduler::wanted`].
    pub(super) fn wanted_to_wait(&self) -> Option<(&'static str, u64, &'static str)> {
        Some(match self.goal()? {
            Goal::End(name, steps) => (name, steps, "its end"),
            Goal::Wait(wait, _) => (wait.thread, wait.held + 1, wait.place),
        })
    }
}
