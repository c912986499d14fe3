//! Sleeping and yielding: others go on.

use std::ffi::{c_int, c_uint};

use libc::timespec;

use super::blocking::received;
use super::time::is_time;
use super::{original, pass_on};
use crate::system::{nanoseconds, set_errno, timespec as timespec_of, until};
use crate::turn::Turn;

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

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
            let (_turn, left) = turn.sleep(u64::from(seconds) * SECOND);
            c_uint::try_from(left.unwrap_or(0) / SECOND).unwrap_or(0)
        }
        None => pass_on!(original!(c"sleep": fn(c_uint) -> c_uint)(seconds)),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn usleep(microseconds: c_uint) -> c_int {
    match Turn::alone() {
        Some(turn) => {
            let (_turn, left) = turn.sleep(u64::from(microseconds) * 1000);
            if left.is_some() { interrupted() } else { 0 }
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
            let (turn, left) = turn.sleep(nanoseconds(unsafe { &*time }));
            let Some(left) = left else { return 0 };
            tell_rest(&turn, rest, left);
            interrupted()
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
    let is_relative = flags & libc::TIMER_ABSTIME == 0;
    let (turn, left) = turn.sleep(if is_relative { nanoseconds(time) } else { until(clock, time) });
    let Some(left) = left else { return 0 };
    if is_relative {
        tell_rest(&turn, rest, left);
    }
    libc::EINTR
}

/// A handler of a signal has ended the sleep.
fn interrupted() -> c_int {
    set_errno(libc::EINTR);
    -1
}

/// Returns to the program how much of the time is left, if it wants to know.
fn tell_rest(turn: &Turn, rest: *mut timespec, left: u64) {
    if !rest.is_null() {
        turn.due();
        // SAFETY: the program passes a place that the kernel would write to, which was compared with null.
        unsafe { rest.write(timespec_of(left)) };
        received(turn, rest.cast(), size_of::<timespec>());
    }
}
