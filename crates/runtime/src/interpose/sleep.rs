//! Sleeping and yielding: others go on.

use std::ffi::{c_int, c_uint};

use libc::timespec;

use super::time::is_time;
use super::{original, pass_on};
use crate::system::{nanoseconds, until};
use crate::turn::Turn;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn sched_yield() -> c_int {
    match Turn::take() {
        Some(turn) => turn.yield_turn(),
        None => crate::system::yield_processor(),
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_yield() -> c_int {
    // SAFETY: any thread may yield.
    unsafe { sched_yield() }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sleep(seconds: c_uint) -> c_uint {
    match Turn::alone() {
        Some(turn) => {
            turn.sleep(u64::from(seconds) * 1_000_000_000);
            0
        }
        None => pass_on!(original!(c"sleep": fn(c_uint) -> c_uint)(seconds)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn usleep(microseconds: c_uint) -> c_int {
    match Turn::alone() {
        Some(turn) => {
            turn.sleep(u64::from(microseconds) * 1000);
            0
        }
        None => pass_on!(original!(c"usleep": fn(c_uint) -> c_int)(microseconds)),
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: the program passes a time, which the original would read.
    match Turn::alone().filter(|_| is_duration(unsafe { &*time })) {
        Some(turn) => {
            // SAFETY: the program passes a time, which the original would read.
            turn.sleep(nanoseconds(unsafe { &*time }));
            0
        }
        None => pass_on!(original!(c"nanosleep": fn(*const timespec, *mut timespec) -> c_int)(time, rest)),
    }
}

/// Whether one can sleep for so long. If not, the original says so at once.
fn is_duration(time: &timespec) -> bool {
    is_time(time) && time.tv_sec >= 0
}

/// Whether we know how to sleep by this clock. The time that a thread or a process has run goes by while others run.
fn is_counted(clock: c_int) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME | libc::CLOCK_TAI)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    let original = || {
        pass_on!(original!(c"clock_nanosleep": fn(c_int, c_int, *const timespec, *mut timespec) -> c_int)(
            clock, flags, time, rest,
        ))
    };
    let Some(turn) = Turn::alone() else { return original() };
    // SAFETY: the program passes a time, which the original would read.
    let time = unsafe { &*time };
    if !is_duration(time) || !is_counted(clock) {
        return turn.away(original);
    }
    turn.sleep(if flags & libc::TIMER_ABSTIME == 0 { nanoseconds(time) } else { until(clock, time) });
    0
}
