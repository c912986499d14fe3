//! Cancellation of threads.
//!
//! One that may be ended at any moment is ended where it looks up: in the midst of our code there are locks of our
//! own, and a record may be half written. So the C library never learns that it may be ended anywhere, and we say
//! when.

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use libc::pthread_t;

use super::blocking::received;
use super::{original, pass_on};
use crate::scheduler;
use crate::signals::expect_break_ins;
use crate::thread::{Thread, me};
use crate::turn::Turn;

const ENABLE: c_int = 0;
const DISABLE: c_int = 1;
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

unsafe extern "C-unwind" {
    fn pthread_testcancel();
}

/// Ends the calling thread, which was cancelled and allows that. It is cancelled once.
pub(crate) fn end(me: &'static Thread) {
    me.is_cancelled.store(false, Ordering::SeqCst);
    // SAFETY: any thread may ask whether it is cancelled.
    unsafe { pthread_testcancel() };
}

/// Whether the calling thread allows to be ended.
pub(crate) fn is_allowed() -> bool {
    let mut state = DISABLE;
    set_state(DISABLE, &mut state);
    if state == ENABLE {
        set_state(ENABLE, std::ptr::null_mut());
    }
    state == ENABLE
}

fn set_state(state: c_int, before: *mut c_int) -> c_int {
    pass_on!(original!(c"pthread_setcancelstate": fn(c_int, *mut c_int) -> c_int)(state, before))
}

/// Does something out of our code, where the calling thread may be ended at any moment.
pub(crate) fn anywhere(act: &mut dyn FnMut()) {
    set_kind(ASYNCHRONOUS, std::ptr::null_mut());
    act();
    set_kind(DEFERRED, std::ptr::null_mut());
}

fn set_kind(kind: c_int, before: *mut c_int) -> c_int {
    pass_on!(original!(c"pthread_setcanceltype": fn(c_int, *mut c_int) -> c_int)(kind, before))
}

/// Ends the calling thread if it was cancelled and may be ended anywhere.
fn end_if_due() {
    if let Some(me) = me()
        && me.ends_anywhere.load(Ordering::Relaxed)
        && me.is_cancelled.load(Ordering::SeqCst)
        && is_allowed()
    {
        end(me);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cancel(handle: pthread_t) -> c_int {
    let cancel = || {
        // The C library has a handler for this.
        expect_break_ins();
        pass_on!(original!(c"pthread_cancel": fn(pthread_t) -> c_int)(handle))
    };
    let Some(turn) = Turn::alone() else { return cancel() };
    let result = cancel();
    if let Some(thread) = scheduler::by_handle(handle)
        && result == 0
    {
        scheduler::cancel(thread);
    }
    drop(turn);
    end_if_due();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
    let result = set_state(state, before);
    if result == 0 {
        tell(before);
    }
    end_if_due();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
    let Some(me) = me() else { return set_kind(kind, before) };
    if !matches!(kind, DEFERRED | ASYNCHRONOUS) {
        return libc::EINVAL;
    }
    let did = me.ends_anywhere.swap(kind == ASYNCHRONOUS, Ordering::Relaxed);
    if !before.is_null() {
        // SAFETY: the program passes a place for the state before, which was compared with null.
        unsafe { before.write(c_int::from(did)) };
        tell(before);
    }
    end_if_due();
    0
}

/// An answer was written where the program wants it.
fn tell(answer: *mut c_int) {
    if let Some(turn) = Turn::alone().filter(|_| !answer.is_null()) {
        turn.due();
        received(&turn, answer.cast(), size_of::<c_int>());
    }
}
