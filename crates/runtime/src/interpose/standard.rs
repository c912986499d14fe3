//! The threads of C11. Within the C library they are those of POSIX, by ways that cannot be replaced: so they are
//! here, too.

use std::ffi::{c_int, c_void};

use libc::{pthread_t, timespec};

use super::asking::pthread_key_create;
use super::blocking::received;
use super::condition::{
    pthread_cond_broadcast, pthread_cond_destroy, pthread_cond_signal, pthread_cond_timedwait,
    pthread_cond_wait,
};
use super::lock::{pthread_mutex_lock, pthread_mutex_timedlock, pthread_mutex_trylock, pthread_mutex_unlock};
use super::once::pthread_once;
use super::sleep::{nanosleep, sched_yield};
use super::thread::{pthread_create, wait_for_end};
use crate::thread::Start;
use crate::turn::Turn;

type Object = *mut c_void;

/// What the functions return: `thrd_success` and its kin.
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// What C11 has for an error of POSIX.
fn outcome(error: c_int) -> c_int {
    match error {
        0 => 0,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// What the function returns is a number here. It is in the register of a pointer, and only the lower half of that is
/// looked at.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_create(
    handle: *mut pthread_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the program has passed the handle, the function and its argument to the function of C11 that this
    // stands for.
    outcome(unsafe { pthread_create(handle, std::ptr::null(), start, argument) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_join(handle: pthread_t, result: *mut c_int) -> c_int {
    let mut returned = std::ptr::null_mut();
    // SAFETY: the program has passed the handle of a thread to be joined.
    let joined = unsafe { wait_for_end(handle, &mut returned, None) };
    if joined == 0 && !result.is_null() {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the number")]
        let number = returned as usize as c_int;
        // SAFETY: it was compared with null, and the program passes a place for the result.
        unsafe { result.write(number) };
        if let Some(turn) = Turn::alone() {
            turn.due();
            received(&turn, result.cast(), size_of::<c_int>());
        }
    }
    outcome(joined)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_sleep(time: *const timespec, rest: *mut timespec) -> c_int {
    const INTERRUPTED: c_int = -1;
    const FAILED: c_int = -2;
    // SAFETY: the program passes times as the function of C11 wants them.
    match unsafe { nanosleep(time, rest) } {
        0 => 0,
        _ if crate::system::errno() == libc::EINTR => INTERRUPTED,
        _ => FAILED,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_yield() {
    // SAFETY: any thread may yield.
    unsafe { sched_yield() };
}

/// Functions that do what one of POSIX does.
macro_rules! standing_for {
    ($($name:ident($($argument:ident: $type:ty),*) is $original:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the program has passed to the function of C11 what that of POSIX wants.
            outcome(unsafe { $original($($argument),*) })
        }
    )*};
}

standing_for! {
    mtx_lock(mutex: Object) is pthread_mutex_lock;
    mtx_trylock(mutex: Object) is pthread_mutex_trylock;
    mtx_timedlock(mutex: Object, time: *const timespec) is pthread_mutex_timedlock;
    mtx_unlock(mutex: Object) is pthread_mutex_unlock;
    cnd_wait(condition: Object, mutex: Object) is pthread_cond_wait;
    cnd_timedwait(condition: Object, mutex: Object, time: *const timespec) is pthread_cond_timedwait;
    cnd_signal(condition: Object) is pthread_cond_signal;
    cnd_broadcast(condition: Object) is pthread_cond_broadcast;
    tss_create(key: *mut libc::pthread_key_t, destructor: *mut c_void) is pthread_key_create;
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn cnd_destroy(condition: Object) {
    // SAFETY: the program has passed a condition that it has made.
    unsafe { pthread_cond_destroy(condition) };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn call_once(once: *mut u32, work: unsafe extern "C-unwind" fn()) {
    // SAFETY: the program has passed a flag and a function.
    unsafe { pthread_once(once, work) };
}
