//! Handlers of signals that come while their thread waits for its turn, and that wait themselves: for another thread,
//! say. The thread does not come when it is its turn, so the turn is taken back and given to another thread, and so
//! is a nap. When the handler has returned, the thread says that it is back.
//!
//! A thread takes its turn by a step that either it or who takes it back can make. So the turn is only taken back
//! from a thread that has done nothing with it, and nothing has to be recorded.

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use foretell_wire::log::Timing;

use super::{NAP, RUN, RunState, SCHEDULER, Scheduler, WAIT, WakeReason};
use crate::file;
use crate::system::{is_restarted_after, now, processor_time, sleeps, wait_on, wake};
use crate::thread::Thread;

/// A thread that runs for so many nanoseconds while it should only take its turn is in a handler.
const BUSY: u64 = 20_000_000;
/// A thread that is asleep at so many looks in a row although it was woken is in a handler.
const ASLEEP: u32 = 4;
/// A nap that is late by so many nanoseconds is interrupted by a handler that does not come to our code.
const LATE: u64 = 2_000_000_000;

/// What was seen of a thread that has its turn and does not know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenInterrupted {
    turn: u64,
    time: u64,
    asleep: u32,
}

/// A wait that handlers end, as in the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    /// After handlers with `SA_RESTART` the wait goes on.
    restarts: bool,
    /// A handler has ended it.
    pub is_over: bool,
}

impl Interruption {
    /// With a limit of time all handlers end the wait.
    pub fn new(has_limit: bool) -> Interruption {
        Interruption { restarts: !has_limit, is_over: false }
    }

    /// The handler of this signal is about to run.
    pub fn by(self, signal: c_int) -> Interruption {
        Interruption { is_over: self.is_over || !(self.restarts && is_restarted_after(signal)), ..self }
    }
}

/// Sleeps until the thread is notified or its patience ends; says whether a handler has ended the wait. One
/// that comes just before the thread sleeps is noticed when it looks around.
pub(super) fn sleep_on(me: &Thread, value: u32, patience: Option<u64>) -> bool {
    let is_over = || me.interruption.get().is_some_and(|interruption| interruption.is_over);
    if !is_over() {
        wait_on(&me.go, value, patience);
    }
    is_over()
}

/// `me` waits, and has not been woken for a while: looks whether a thread does not come that should.
pub(super) fn look(me: &'static Thread) {
    let owner = SCHEDULER.with(|scheduler| {
        scheduler.take_nap_back();
        scheduler.owner_thread().map(|owner| (owner, scheduler.turns))
    });
    let Some((owner, turn)) = owner.filter(|(owner, _)| owner.id != me.id) else { return };
    if owner.go.load(Ordering::SeqCst) != RUN {
        return;
    }
    let kernel_id = owner.kernel_id.load(Ordering::Relaxed);
    let (time, asleep) = (processor_time(kernel_id), sleeps(kernel_id));
    SCHEDULER.with(|scheduler| {
        if scheduler.turns == turn && scheduler.is_in_handler(owner, time, asleep) {
            scheduler.take_turn_back(owner);
        }
    });
}

impl Scheduler {
    /// A handler has ended the wait of the thread. If it was woken before and has not gone on, it may as well not have
    /// been. Says whether it can run by that.
    pub(super) fn end_wait_by_handler(&mut self, me: &'static Thread) -> bool {
        me.interruption.set(None);
        file::set_timing(Timing::Handler, me.id, me.site.get());
        let Some(slot) = self.slot(me) else { return false };
        let waits = matches!(slot.state, RunState::Waiting(_));
        if waits {
            self.make_ready(me.id, WakeReason::Interrupted);
        } else if slot.reason == WakeReason::Woken {
            slot.reason = WakeReason::Interrupted;
        }
        waits
    }

    /// As [`Scheduler::end_wait_by_handler`], and the thread goes on if no other has the turn.
    pub(super) fn interrupt(&mut self, me: &'static Thread) {
        if self.end_wait_by_handler(me) {
            self.go_on();
        }
    }

    /// How long the thread waits before it looks around; none if it has just come back from a handler.
    pub(super) fn patience_unless_late(&mut self, me: &'static Thread) -> Option<Option<u64>> {
        if me.is_late.swap(false, Ordering::SeqCst) {
            self.be_back(me);
            return None;
        }
        Some(self.patience(me))
    }

    /// Whether a thread that has not taken its turn must be in a handler. One that only wants for a processor neither
    /// runs nor sleeps.
    fn is_in_handler(&mut self, owner: &'static Thread, time: u64, asleep: bool) -> bool {
        if asleep {
            // The thread that was to wake it may not have come to that.
            wake(&owner.go);
        }
        let seen = match self.unmet {
            Some(seen) if seen.turn == self.turns => {
                SeenInterrupted { asleep: if asleep { seen.asleep + 1 } else { 0 }, ..seen }
            }
            _ => SeenInterrupted { turn: self.turns, time, asleep: 0 },
        };
        self.unmet = Some(seen);
        owner.is_interrupted.load(Ordering::Relaxed)
            || seen.asleep >= ASLEEP
            || time.saturating_sub(seen.time) > BUSY
    }

    fn take_turn_back(&mut self, owner: &'static Thread) {
        if self.take_back(owner, RUN) {
            self.choose();
        }
    }

    fn take_nap_back(&mut self) {
        let napper = self.napper.and_then(|id| self.slots.get(id as usize)).map(|slot| slot.thread);
        let Some(napper) = napper else { return };
        let is_late = now() > self.nap_ends.saturating_add(LATE);
        if (is_late || napper.is_interrupted.load(Ordering::Relaxed)) && self.take_back(napper, NAP) {
            self.napper = None;
            self.choose();
        }
    }

    /// The thread has not taken what it was given, and will say when it is back. Says whether that is so.
    fn take_back(&mut self, thread: &'static Thread, given: u32) -> bool {
        if thread.go.compare_exchange(given, WAIT, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        file::set_timing(Timing::Handler, thread.id, thread.site.get());
        thread.is_late.store(true, Ordering::SeqCst);
        self.set_state(thread, RunState::Away);
        true
    }
}
