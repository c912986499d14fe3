//! Condition variables. The original is not touched while recording: who waits is known to the scheduler alone.

use std::ffi::{c_int, c_void};

use foretell_wire::record::SyncOp;
use libc::timespec;

use super::lock::{deadline, try_mutex, unlock_mutex};
use super::original;
use crate::scheduler::{Reason, wake_waiters};
use crate::turn::Turn;

type Object = *mut c_void;

fn wait(turn: Turn, condition: Object, mutex: Object, deadline: Option<u64>) -> c_int {
    turn.meeting();
    let result = unlock_mutex(mutex);
    if result != 0 {
        return result;
    }
    turn.log_sync(SyncOp::Wait, condition as usize, mutex as u64);
    wake_waiters(mutex as usize, usize::MAX);
    let reason = turn.wait_or_end(condition as usize, deadline, false);
    let mut result = try_mutex(mutex);
    while result == libc::EBUSY {
        turn.wait(mutex as usize, None, true);
        result = try_mutex(mutex);
    }
    let (op, outcome) = match reason {
        Reason::Woken => (SyncOp::Woken, 0),
        Reason::TimedOut => (SyncOp::TimedOut, libc::ETIMEDOUT),
        // It holds the lock while it ends.
        Reason::Cancelled => (SyncOp::TimedOut, 0),
    };
    turn.log_sync(op, condition as usize, mutex as u64);
    if reason == Reason::Cancelled {
        turn.end_if_cancelled();
    }
    if result == 0 { outcome } else { result }
}

/// The clock that a condition variable goes by is its secret; but times since the start of the machine are small.
fn clock_of(time: *const timespec) -> c_int {
    const LONG_AGO: i64 = 1_000_000_000;
    let seconds = unsafe { (*time).tv_sec };
    if seconds > LONG_AGO { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cond_wait(condition: Object, mutex: Object) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_cond_wait" of c"GLIBC_2.3.2": fn(Object, Object) -> c_int);
        return unsafe { original(condition, mutex) };
    };
    wait(turn, condition, mutex, None)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: Object,
    mutex: Object,
    time: *const timespec,
) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(
            c"pthread_cond_timedwait" of c"GLIBC_2.3.2": fn(Object, Object, *const timespec) -> c_int
        );
        return unsafe { original(condition, mutex, time) };
    };
    wait(turn, condition, mutex, Some(deadline(clock_of(time), time)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: Object,
    mutex: Object,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original =
            original!(c"pthread_cond_clockwait": fn(Object, Object, c_int, *const timespec) -> c_int);
        return unsafe { original(condition, mutex, clock, time) };
    };
    wait(turn, condition, mutex, Some(deadline(clock, time)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_signal(condition: Object) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_cond_signal" of c"GLIBC_2.3.2": fn(Object) -> c_int);
        return unsafe { original(condition) };
    };
    turn.meeting();
    turn.log_sync(SyncOp::Notify, condition as usize, 0);
    wake_waiters(condition as usize, 1);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_broadcast(condition: Object) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_cond_broadcast" of c"GLIBC_2.3.2": fn(Object) -> c_int);
        return unsafe { original(condition) };
    };
    turn.meeting();
    turn.log_sync(SyncOp::NotifyAll, condition as usize, 0);
    wake_waiters(condition as usize, usize::MAX);
    0
}

/// The original would wait for those who are still inside it, and nobody is.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_destroy(condition: Object) -> c_int {
    match Turn::alone() {
        Some(_turn) => 0,
        None => unsafe {
            original!(c"pthread_cond_destroy" of c"GLIBC_2.3.2": fn(Object) -> c_int)(condition)
        },
    }
}
