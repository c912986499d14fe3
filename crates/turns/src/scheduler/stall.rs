//! No thread can run: sleepers nap on the real clock, others look again, and what is left is a deadlock.

use std::sync::atomic::{AtomicU32, Ordering};

use foretell_wire::log::IncompleteReason;
use foretell_wire::record::{Record, SyncOp};

use super::{NAP, RunState, Scheduler, WakeReason};
use crate::file;
use crate::mode;
use crate::system::{exit_now, now, say, wake};

/// The exit code of a program in which every thread waits for another.
const DEADLOCK_CODE: i32 = 66;

/// How often threads that wait for a lock look again before this counts as a deadlock. Uninstrumented code may
/// have released it.
pub(super) const PATIENCE: u32 = 2;

/// How often in a row no thread could run and all looked again.
pub(super) static STALLED: AtomicU32 = AtomicU32::new(0);

/// Something happened that waiting threads may have waited for.
pub fn note_progress() {
    STALLED.store(0, Ordering::Relaxed);
}

impl Scheduler {
    pub(super) fn no_thread_is_ready(&mut self) {
        self.owner = None;
        if self.leave_if_nobody_will_go_on() {
            return;
        }
        if let Some((deadline, thread)) = self.next_to_wake() {
            self.napper = Some(thread.id);
            self.nap_ends = now().saturating_add(deadline.saturating_sub(self.clock));
            thread.go.store(NAP, Ordering::SeqCst);
            wake(&thread.go);
        } else if !self.slots.iter().any(|slot| slot.state == RunState::Away) && self.any_thread_waits() {
            self.look_again_or_deadlock();
        }
    }

    fn any_thread_waits(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.state, RunState::Waiting(_)))
    }

    fn look_again_or_deadlock(&mut self) {
        let stalled = STALLED.fetch_add(1, Ordering::Relaxed);
        let look_again: Vec<u32> = self
            .slots
            .iter()
            .filter(|slot| matches!(slot.state, RunState::Waiting(waiting) if waiting.looks_again()))
            .map(|slot| slot.thread.id)
            .collect();
        if stalled >= PATIENCE || look_again.is_empty() {
            if self.somebody_may_be_helped() {
                // Those who wait look again by themselves, or a thread wakes them.
                self.alone = 0;
                return;
            }
            self.alone += 1;
            // The thread that has helped externally may have gone since. So all look again, now that no thread is
            // there.
            if self.alone > 1 || look_again.is_empty() {
                self.report_deadlock();
            }
        } else {
            self.alone = 0;
        }
        for id in look_again {
            self.make_ready(id, WakeReason::Woken);
        }
        self.choose();
    }

    /// All threads that have not ended wait for each other.
    pub(super) fn report_deadlock(&self) -> ! {
        let waiting: Vec<String> = self
            .slots
            .iter()
            .filter_map(|slot| match slot.state {
                RunState::Waiting(waiting) => Some(format!("T{} for {:#x}", slot.thread.id, waiting.on)),
                _ => None,
            })
            .collect();
        say(&format!("the program is in a deadlock: {}", waiting.join(", ")));
        self.tell_attempts();
        self.save_lessons_at_deadlock();
        file::set_why(IncompleteReason::Deadlock);
        exit_now(DEADLOCK_CODE)
    }

    /// No thread runs, and no thread will: so the locks that the waiting threads could not have are recorded. Where
    /// threads run in parallel, each tells its own story, and is not there to tell it.
    pub(super) fn tell_attempts(&self) {
        if mode::is_parallel() {
            return;
        }
        for slot in self.slots.iter().filter(|slot| matches!(slot.state, RunState::Waiting(_))) {
            // That a thread has not ended yet has no record.
            if let Some((op, object)) = slot.thread.attempt.get().filter(|attempt| attempt.0 != SyncOp::Join)
            {
                let site = slot.thread.site.get();
                slot.thread.log().begin_turn();
                slot.thread.tell_calls();
                slot.thread.log().put(&Record::Sync { site, op, object: object as u64, other: 0 });
                slot.thread.log().end_turn();
            }
        }
    }
}
