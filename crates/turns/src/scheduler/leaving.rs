//! A thread has called `exit`, or `main` has returned: all others end with the process, wherever they are. Before
//! that they go on as far as they can, as if the thread had been slow to exit. So they are seen, whatever the seed.
//!
//! That is bounded: in what they do, in how often and for how long (in counted time) all of them sleep, and in real
//! time. Who waits for something without a limit of time is not waited for, and who is in the kernel only for a
//! moment.

use foretell_wire::log::Timing;

use super::{BlockedOn, Helper, RunState, SCHEDULER, Scheduler, WakeReason};
use crate::file;
use crate::mode;
use crate::system::{now, pause};
use crate::thread::Thread;
use crate::turn::Turn;

/// The others may do so much together,
const STEPS: u64 = 200_000;
/// all of them may sleep so often,
const NAPS: u32 = 100;
/// until so many nanoseconds of counted time are over,
const COUNTED: u64 = 1_000_000_000;
/// or of real time.
const REAL: u64 = 1_000_000_000;
/// A thread that is in the kernel, or in uninstrumented code, has so many nanoseconds to come back.
const AWAY: u64 = 100_000_000;
/// How often the leaving thread looks around.
const LOOK: u64 = 10_000_000;

/// A thread that exits once the others went on.
pub(super) struct Leaving {
    thread: &'static Thread,
    /// It has waited for the others, and exits.
    is_gone: bool,
    /// The others may go on until they have done so much,
    steps: u64,
    naps: u32,
    /// until this moment of counted time,
    counted: u64,
    /// and until this one of real time.
    real: u64,
    /// Since when no thread but threads that are away could go on.
    idle: Option<u64>,
    is_out_of_time: bool,
}

/// What there is to do before the process exits.
enum Before {
    Nothing,
    /// The others go on first.
    Others,
    /// Another thread has called `exit` before: this one stays where it is.
    Never,
}

/// The thread is about to exit with the whole process: the others go on first.
pub fn let_others_go_on(turn: &Turn) {
    match SCHEDULER.with(|scheduler| scheduler.begin_to_leave(turn.me)) {
        Before::Nothing => {}
        Before::Never => loop {
            turn.wait(place(), None, Helper::Waker);
        },
        Before::Others => {
            if mode::is_parallel() {
                turn.away(wait_for_parallel);
            } else {
                turn.wait(place(), None, Helper::Waker);
            }
            SCHEDULER.with(Scheduler::be_gone);
        }
    }
}

/// What threads wait on that exit; no thread wakes them there.
fn place() -> usize {
    std::ptr::from_ref(&SCHEDULER) as usize
}

/// Others run in parallel: waits until all of them wait or the bounds are reached.
fn wait_for_parallel() {
    while SCHEDULER.with(Scheduler::somebody_goes_on) {
        pause(LOOK / 10);
    }
}

/// The thread waits for its turn: if it is to exit, looks whether it is time.
pub(super) fn look(me: &'static Thread) {
    SCHEDULER.with(|scheduler| {
        if scheduler.is_leaving(me) {
            scheduler.look_at_time();
        }
    });
}

impl Scheduler {
    /// How much all threads have done.
    fn done(&self) -> u64 {
        self.slots.iter().map(|slot| slot.thread.log().time()).fold(0, u64::wrapping_add)
    }

    fn begin_to_leave(&mut self, me: &'static Thread) -> Before {
        if let Some(leaving) = &self.leaving {
            let is_first = leaving.thread.id == me.id;
            return if is_first { Before::Nothing } else { Before::Never };
        }
        let others = self.slots.iter().filter(|slot| slot.thread.id != me.id);
        let is_alone = others.clone().all(|slot| slot.state == RunState::Done);
        let steps = self.done().wrapping_add(STEPS);
        let (counted, real) =
            (super::CHOICE.saturating_add(self.clock + COUNTED), now().saturating_add(REAL));
        self.leaving = Some(Leaving {
            thread: me,
            is_gone: is_alone,
            steps,
            naps: 0,
            counted,
            real,
            idle: None,
            is_out_of_time: false,
        });
        if is_alone { Before::Nothing } else { Before::Others }
    }

    fn be_gone(&mut self) {
        if let Some(leaving) = &mut self.leaving {
            leaving.is_gone = true;
        }
    }

    /// Whether the thread waits for the others, to exit then.
    pub(super) fn is_leaving(&self, me: &Thread) -> bool {
        self.leaving.as_ref().is_some_and(|leaving| !leaving.is_gone && leaving.thread.id == me.id)
    }

    /// How long the leaving thread waits before it looks around.
    pub(super) fn patience_of_leaving(&self, me: &Thread) -> Option<u64> {
        self.is_leaving(me).then_some(LOOK)
    }

    /// Gives the turn to the thread that exits, if the others have gone as far as they may.
    pub(super) fn leave_if_others_went_on(&mut self) -> bool {
        let done = self.done();
        let is_over = self.leaving.as_ref().is_some_and(|leaving| {
            !leaving.is_gone
                && (leaving.is_out_of_time || done >= leaving.steps || self.clock >= leaving.counted)
        });
        if is_over {
            self.leave_now();
        }
        is_over
    }

    /// No thread can run: gives the turn to the thread that exits, unless a thread will wake or come back soon.
    pub(super) fn leave_if_nobody_will_go_on(&mut self) -> bool {
        let next = self.next_to_wake().map(|(deadline, _)| deadline);
        let is_away = self.slots.iter().any(|slot| slot.state == RunState::Away);
        let Some(leaving) = self.leaving.as_mut().filter(|leaving| !leaving.is_gone) else { return false };
        if next.is_some_and(|deadline| deadline <= leaving.counted) && leaving.naps < NAPS {
            leaving.naps += 1;
            return false;
        }
        if is_away && !leaving.is_out_of_time {
            // The leaving thread looks around.
            leaving.idle.get_or_insert_with(now);
            return true;
        }
        self.leave_now();
        true
    }

    fn leave_now(&mut self) {
        let Some(thread) = self.leaving.as_ref().map(|leaving| leaving.thread) else { return };
        self.wake_napper();
        self.make_ready(thread.id, WakeReason::Woken);
        self.give_turn(thread);
    }

    /// The leaving thread has waited for a moment.
    fn look_at_time(&mut self) {
        let (is_idle, naps) = (self.owner.is_none(), self.napper.is_some());
        let Some(leaving) = &mut self.leaving else { return };
        if now() > leaving.real && !leaving.is_out_of_time {
            leaving.is_out_of_time = true;
            file::set_timing(Timing::Exit, leaving.thread.id, leaving.thread.site.get());
        }
        if !is_idle {
            leaving.idle = None;
        } else if leaving.is_out_of_time
            || !naps && leaving.idle.is_some_and(|since| now().saturating_sub(since) > AWAY)
        {
            self.leave_now();
        }
    }

    /// Whether threads that run in parallel may still go on by themselves.
    fn somebody_goes_on(&mut self) -> bool {
        let (done, now) = (self.done(), now());
        let Some(leaving) = &mut self.leaving else { return false };
        let (mut runs, mut is_away) = (false, false);
        for slot in self.slots.iter().filter(|slot| slot.thread.id != leaving.thread.id) {
            match slot.state {
                RunState::Ready | RunState::Last => runs = true,
                RunState::Waiting(BlockedOn { deadline: Some(deadline), .. }) => {
                    runs |= deadline <= leaving.real;
                }
                RunState::Away => is_away = true,
                RunState::Waiting(_) | RunState::Done => {}
            }
        }
        if runs || !is_away {
            leaving.idle = None;
        }
        let is_patient = is_away && now.saturating_sub(*leaving.idle.get_or_insert(now)) < AWAY;
        (runs || is_patient) && done < leaving.steps && now < leaving.real
    }
}
