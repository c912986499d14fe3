//! Condition variables. Who waits is known to the scheduler alone, and the original only gets notifications,
//! for the sake of threads that are not recorded. Not so those that other processes see: these are left to the
//! original.

use std::ffi::{c_int, c_void};

use foretell_wire::record::SyncOp;
use libc::timespec;

use super::lock::{fence_if_owner_died, try_mutex, unlock_mutex};
use super::time::{deadline, is_refused};
use super::{original, pass_on};
use crate::primitives::{begins_to_wait, has_waited};
use crate::scheduler::{Helper, WakeReason, note_external, wake_any, wake_externally, wake_waiters};
use crate::shared;
use crate::thread::me;
use crate::turn::Turn;

type Object = *mut c_void;

/// Waits in the original, together with unrecorded threads.
fn wait_with_others(turn: &Turn, mutex: Object, act: impl FnOnce() -> c_int) -> c_int {
    turn.meeting();
    turn.log_sync(SyncOp::Unlock, mutex as usize, 0);
    wake_waiters(mutex as usize, usize::MAX);
    // Who is cancelled holds the lock as well while it ends.
    let _lock = Regained { turn, mutex };
    turn.away(act)
}

/// A lock that the original takes before it comes back, however it does.
struct Regained<'a> {
    turn: &'a Turn,
    mutex: Object,
}

impl Drop for Regained<'_> {
    fn drop(&mut self) {
        self.turn.log_sync(SyncOp::Lock, self.mutex as usize, 0);
    }
}

/// Whether other processes may see both: then the original has to do it.
fn is_shared(condition: Object, mutex: Object) -> bool {
    shared::contains(condition as usize, 1) && shared::contains(mutex as usize, 1)
}

fn wait(turn: Turn, condition: Object, mutex: Object, deadline: Option<u64>) -> c_int {
    turn.meeting_at(condition as usize);
    let result = unlock_mutex(mutex);
    if result != 0 {
        return result;
    }
    turn.log_sync(SyncOp::Wait, condition as usize, mutex as u64);
    begins_to_wait(&turn);
    wake_any(mutex as usize);
    let reason = turn.wait_or_end(condition as usize, deadline, Helper::Waker);
    has_waited(&turn, reason);
    let mut result = try_mutex(mutex);
    while result == libc::EBUSY {
        turn.wait_for_lock(mutex as usize, None, SyncOp::TryFailed);
        result = try_mutex(mutex);
    }
    let (op, outcome) = match reason {
        WakeReason::Woken | WakeReason::Interrupted => (SyncOp::Woken, 0),
        WakeReason::TimedOut => (SyncOp::TimedOut, libc::ETIMEDOUT),
        // It holds the lock while it ends.
        WakeReason::Cancelled => (SyncOp::TimedOut, 0),
    };
    turn.log_sync(op, condition as usize, mutex as u64);
    fence_if_owner_died(&turn, result);
    if reason == WakeReason::Cancelled {
        turn.end_if_cancelled();
    }
    if result == 0 { outcome } else { result }
}

fn wait_until(turn: Turn, condition: Object, mutex: Object, clock: c_int, time: *const timespec) -> c_int {
    if is_refused(clock, time) {
        return libc::EINVAL;
    }
    wait(turn, condition, mutex, Some(deadline(clock, time)))
}

/// The clock that a condition variable goes by is its secret; but times since the start of the machine are small.
fn clock_of(time: *const timespec) -> c_int {
    const LONG_AGO: i64 = 1_000_000_000;
    // SAFETY: the program passes a time, which the original would read.
    let seconds = unsafe { (*time).tv_sec };
    if seconds > LONG_AGO { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_cond_wait(condition: Object, mutex: Object) -> c_int {
    let original = original!(c"pthread_cond_wait" of c"GLIBC_2.3.2": fn(Object, Object) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(condition, mutex)) };
    if is_shared(condition, mutex) {
        return wait_with_others(&turn, mutex, || pass_on!(original(condition, mutex)));
    }
    wait(turn, condition, mutex, None)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: Object,
    mutex: Object,
    time: *const timespec,
) -> c_int {
    let original = original!(
        c"pthread_cond_timedwait" of c"GLIBC_2.3.2": fn(Object, Object, *const timespec) -> c_int
    );
    let Some(turn) = Turn::alone() else { return pass_on!(original(condition, mutex, time)) };
    if is_shared(condition, mutex) {
        return wait_with_others(&turn, mutex, || pass_on!(original(condition, mutex, time)));
    }
    wait_until(turn, condition, mutex, clock_of(time), time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: Object,
    mutex: Object,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    let original = original!(c"pthread_cond_clockwait": fn(Object, Object, c_int, *const timespec) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(condition, mutex, clock, time)) };
    if is_shared(condition, mutex) {
        return wait_with_others(&turn, mutex, || pass_on!(original(condition, mutex, clock, time)));
    }
    wait_until(turn, condition, mutex, clock, time)
}

/// Who is not recorded wakes those who are. (Handlers of signals may not notify any thread.)
fn notify_external(condition: Object, count: usize) {
    if me().is_none() {
        note_external();
        wake_externally(condition as usize, count);
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_cond_signal(condition: Object) -> c_int {
    let original = original!(c"pthread_cond_signal" of c"GLIBC_2.3.2": fn(Object) -> c_int);
    let Some(turn) = Turn::alone() else {
        notify_external(condition, 1);
        return pass_on!(original(condition));
    };
    turn.meeting_at(condition as usize);
    turn.log_sync(SyncOp::Notify, condition as usize, 0);
    if wake_waiters(condition as usize, 1).is_empty() {
        // An unrecorded thread may wait.
        return pass_on!(original(condition));
    }
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_cond_broadcast(condition: Object) -> c_int {
    let original = original!(c"pthread_cond_broadcast" of c"GLIBC_2.3.2": fn(Object) -> c_int);
    let Some(turn) = Turn::alone() else {
        notify_external(condition, usize::MAX);
        return pass_on!(original(condition));
    };
    turn.meeting_at(condition as usize);
    turn.log_sync(SyncOp::NotifyAll, condition as usize, 0);
    wake_waiters(condition as usize, usize::MAX);
    pass_on!(original(condition))
}

/// The original would wait for those who are still inside it, and no recorded thread is.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_cond_destroy(condition: Object) -> c_int {
    match Turn::alone() {
        Some(_turn) => 0,
        None => {
            pass_on!(original!(c"pthread_cond_destroy" of c"GLIBC_2.3.2": fn(Object) -> c_int)(condition))
        }
    }
}
