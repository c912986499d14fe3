//! External threads: those that the C library makes for itself (timers, asynchronous input and output), other
//! processes that share memory with this one, and signal handlers. Each of them may release what a thread waits for.
//! So waiting threads look again from time to time as long as there is one, and there is no deadlock as long as one
//! may help.

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_wire::log::Timing;

use super::{BlockedOn, Helper, RunState, SCHEDULER, Scheduler, WAIT, WakeReason};
use crate::file;
use crate::machine::{Others, machine};
use crate::mode;
use crate::shared;
use crate::system::now;
use crate::thread::{Thread, me};

/// Who waits looks again after so many nanoseconds if an external thread may help,
const SOON: u64 = 20_000_000;
/// and otherwise looks after so many whether there is now.
const LATER: u64 = 500_000_000;
/// Many threads look less often, each of them.
const CROWD: u64 = 16;

/// An external thread has synchronised since the last fence that stands for it.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The caller, who is not recorded or is a handler in our code, is about to tell others something: to give up a lock,
/// say.
pub fn note_external() {
    match me() {
        Some(me) => me.miss(),
        None => TOLD.store(true, Ordering::SeqCst),
    }
}

/// Whether an external thread has reported anything since the last call.
pub fn had_external() -> bool {
    TOLD.load(Ordering::SeqCst) && TOLD.swap(false, Ordering::SeqCst)
}

/// Who there is beside the threads that we know.
#[derive(Clone, Copy, Debug)]
pub(super) struct External {
    /// Threads of this process that are not recorded, or are about to end.
    threads: bool,
    /// Handlers of signals that may come at any time.
    handlers: bool,
    /// When this was found out.
    looked: u64,
}

impl External {
    pub(super) const NONE: External = External { threads: false, handlers: false, looked: 0 };

    fn may_help(self, waiting: BlockedOn) -> bool {
        let handlers = self.handlers && waiting.helper == Helper::Anybody;
        self.threads || handlers || shared::contains(waiting.on, 1)
    }
}

/// A thread that is not recorded wakes up to `count` threads that wait on this address.
pub fn wake_externally(on: usize, count: usize) {
    let woken = super::wake_waiters(on, count);
    if !woken.is_empty() && !mode::is_parallel() {
        SCHEDULER.with(Scheduler::go_on);
    }
}

/// The thread waits and has not been woken for a while: looks whether an external thread has helped.
pub(super) fn look(me: &'static Thread) {
    SCHEDULER.with(|scheduler| {
        let waits = matches!(scheduler.slot(me).map(|slot| slot.state), Some(RunState::Waiting(_)));
        if !waits || me.go.load(Ordering::SeqCst) != WAIT {
            return;
        }
        if scheduler.may_be_helped(me) {
            file::set_timing(Timing::Unseen, me.id, me.site.get());
            scheduler.make_ready(me.id, WakeReason::Woken);
            scheduler.go_on();
        } else if scheduler.owner.is_none() && scheduler.napper.is_none() && scheduler.given.is_none() {
            // The thread that might have helped may be gone.
            scheduler.no_thread_is_ready();
        }
    });
}

impl Scheduler {
    /// How long a thread waits before it looks whether an external thread has helped.
    pub(super) fn external_patience(&self) -> u64 {
        let somebody = self.external.threads || self.external.handlers || shared::is_there();
        let interval = if somebody { SOON } else { LATER };
        interval.saturating_mul(1 + self.slots.len() as u64 / CROWD)
    }

    /// Whether an external thread may end one of the waits.
    pub(super) fn somebody_may_be_helped(&mut self) -> bool {
        self.look_for_external(0);
        let external = self.external;
        let may_help = |state| matches!(state, RunState::Waiting(waiting) if external.may_help(waiting));
        self.slots.iter().any(|slot| may_help(slot.state))
    }

    /// Whether an external thread may give up what this thread waits for.
    pub(super) fn may_be_helped(&mut self, me: &Thread) -> bool {
        let Some(RunState::Waiting(waiting)) = self.slot(me).map(|slot| slot.state) else { return false };
        if !waiting.looks_again() {
            return false;
        }
        self.look_for_external(LATER);
        self.external.may_help(waiting)
    }

    /// If no thread has the turn, a thread may get it now.
    pub(super) fn go_on(&mut self) {
        if self.owner.is_none() {
            self.wake_napper();
            self.choose();
        }
    }

    /// Who the machine knows of. Those that have not begun to run have no number yet.
    fn others(&self) -> Others {
        let living = self.slots.iter().filter(|slot| slot.state != RunState::Done);
        let ids = living.map(|slot| slot.thread.kernel_id.load(Ordering::Relaxed));
        let new = ids.clone().filter(|&id| id == 0).count();
        (machine().others)(&|found| ids.clone().any(|id| id == found), new)
    }

    /// Finds out who there is, unless that was done not so long ago. What cannot be found out is taken to be there.
    fn look_for_external(&mut self, not_older: u64) {
        if self.external.looked != 0 && now().saturating_sub(self.external.looked) < not_older {
            return;
        }
        let Others { threads, handlers } = self.others();
        self.external = External { threads, handlers, looked: now() };
    }
}
