//! Until when a thread may wait, as the program says it: a time on a clock.
//!
//! A time that is none, or a clock that cannot be waited by, is refused before anything is done. The C library says
//! which.

use std::ffi::c_int;

use libc::timespec;

use crate::system::until;
use crate::turn::deadline_in;

/// Whether these are nanoseconds of a second.
pub(super) fn is_time(time: &timespec) -> bool {
    (0..1_000_000_000).contains(&time.tv_nsec)
}

/// Whether the C library refuses to wait until this time for anything but a mutex.
pub(super) fn is_refused(clock: c_int, time: *const timespec) -> bool {
    let is_known = matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC);
    // SAFETY: the program passes a time, which the original would read.
    !is_known || !is_time(unsafe { &*time })
}

/// A time that has passed, and is refused where the given one is.
pub(super) fn long_ago(time: *const timespec) -> timespec {
    // SAFETY: the program passes a time, which the original would read.
    timespec { tv_sec: 0, tv_nsec: unsafe { (*time).tv_nsec } }
}

/// A time on a real clock in counted time.
pub(super) fn deadline(clock: c_int, time: *const timespec) -> u64 {
    // SAFETY: the program passes a time, which the original would read.
    deadline_in(until(clock, unsafe { &*time }))
}
