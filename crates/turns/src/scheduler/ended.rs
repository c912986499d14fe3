//! Threads that have handed over for the last time, but that the kernel still has. Until they are gone, they give
//! memory back to the allocator, and the kernel gives up their robust locks. How long that takes depends on the load
//! of the machine, and what others find must not; so the thread that has the turn next waits for their end.

use std::sync::atomic::{AtomicU32, Ordering};

use foretell_wire::log::Timing;

use super::{RunState, SCHEDULER};
use crate::file;
use crate::system::{is_alive, is_zombie, now, pause, processor_time, sleeps, yield_processor};
use crate::thread::Thread;

/// How many of them there may be.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// So often the waiting thread only lets others run; then it pauses for so many nanoseconds each time.
const SPINS: u32 = 200;
const PAUSE: u64 = 200_000;
/// A thread that sleeps for so many nanoseconds on its way is blocked: in a destructor that we do not see.
const BLOCKED: u64 = 500_000_000;

/// The calling thread is about to hand over for the last time.
pub fn note_end() {
    ENDING.fetch_add(1, Ordering::SeqCst);
}

/// The process is a copy with one thread.
pub(super) fn forget() {
    ENDING.store(0, Ordering::SeqCst);
}

/// Waits until the kernel has forgotten all threads that have ended.
pub fn wait_for_ends() {
    if ENDING.load(Ordering::SeqCst) == 0 {
        return;
    }
    while let Some(thread) = next() {
        if !is_gone_soon(thread) {
            // It may still do something, at a time that we do not know.
            file::set_timing(Timing::Ending, thread.id, thread.site.get());
        }
        // The kernel will give the number to another thread.
        thread.kernel_id.store(0, Ordering::Relaxed);
    }
}

/// A thread that has ended, and that the kernel may still have.
fn next() -> Option<&'static Thread> {
    SCHEDULER.with(|scheduler| {
        let is_left = |thread: &Thread| thread.kernel_id.load(Ordering::Relaxed) != 0;
        let mut ended = scheduler.slots.iter().filter(|slot| slot.state == RunState::Done);
        let found = ended.find(|slot| is_left(slot.thread)).map(|slot| slot.thread);
        if found.is_none() {
            ENDING.store(0, Ordering::SeqCst);
        }
        found
    })
}

/// Waits until the thread is gone; says whether it is.
fn is_gone_soon(thread: &Thread) -> bool {
    let kernel_id = thread.kernel_id.load(Ordering::Relaxed);
    let (mut spins, mut seen) = (0, (now(), processor_time(kernel_id)));
    // The kernel keeps the first thread until the process ends.
    while is_alive(kernel_id) && !(thread.id == 0 && is_zombie(kernel_id)) {
        spins += 1;
        if spins < SPINS {
            yield_processor();
            continue;
        }
        pause(PAUSE);
        let time = processor_time(kernel_id);
        if time != seen.1 || !sleeps(kernel_id) {
            seen = (now(), time);
        } else if now().saturating_sub(seen.0) > BLOCKED {
            return false;
        }
    }
    true
}
