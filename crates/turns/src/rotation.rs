//! A recording without end: `foretell` drops its beginning while it is written. A program that writes
//! faster than that has to wait for room.

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_wire::log::IncompleteReason;

use crate::system::kernel;

/// How long to wait before looking again.
static PAUSE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// After so many pauses in a row no room will be made any more.
const PATIENCE: u32 = 10_000;

/// Whether room is made.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// From now on there will be room again when there is none.
pub(crate) fn expect_room() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Whether there will.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Tries to get room, again and again if some will be made.
pub(crate) fn wait_for(reserve: impl Fn() -> Result<(), IncompleteReason>) -> Result<(), IncompleteReason> {
    for _ in 0..PATIENCE {
        match reserve() {
            Err(_) if is_on() => {}
            known => return known,
        }
        let pause = &raw const PAUSE as usize;
        kernel(libc::SYS_nanosleep, [pause, 0, 0, 0, 0, 0]);
    }
    reserve()
}
