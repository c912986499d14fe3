//! Things that are done once: `pthread_once`, and local statics of C++.
//!
//! Both are a flag that is read with acquire and, by the thread that does the work, set with release: recorded as
//! such.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use super::{original, pass_on};
use crate::scheduler::{Helper, wake_waiters};
use crate::turn::Turn;

/// glibc's word for a `pthread_once_t` whose work is done.
const DONE: u32 = 2;
/// Our mark in it while the work is being done, in a bit that glibc has for the same.
const BUSY: u32 = 1;

fn log_flag(turn: &Turn, addr: usize, size: u8, value: u64) {
    let (site, addr) = (turn.me.site.get(), addr as u64);
    turn.log(&Record::AtomicLoad { site, addr, size, value, order: MemoryOrder::Acquire });
    turn.log_branch(site, None);
}

fn log_done(turn: &Turn, addr: usize, size: u8, value: u64) {
    let (site, addr) = (turn.me.site.get(), addr as u64);
    turn.log(&Record::AtomicStore { site, addr, size, value, order: MemoryOrder::Release });
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_once(
    once: *mut u32,
    work: unsafe extern "C-unwind" fn(),
) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_once": fn(*mut u32, unsafe extern "C-unwind" fn()) -> c_int);
        return pass_on!(original(once, work));
    };
    turn.meeting();
    // SAFETY: the program passes a `pthread_once_t`, which is an aligned number of this size.
    let flag = unsafe { AtomicU32::from_ptr(once) };
    while flag.load(Ordering::SeqCst) & BUSY != 0 {
        turn.wait(once as usize, None, Helper::Threads);
    }
    turn.due();
    let found = turn.at(once as usize, 4, || {
        let found = flag.load(Ordering::SeqCst);
        log_flag(&turn, once as usize, 4, found.into());
        found
    });
    if found == DONE {
        return 0;
    }
    flag.store(BUSY, Ordering::SeqCst);
    drop(turn);
    let mut outcome = OnceOutcome { once: flag, value: 0 };
    // SAFETY: the program has passed this function to be called.
    unsafe { work() };
    outcome.value = DONE;
    0
}

/// What becomes of the flag when the work is over: if that ended by an exception, it is as if it had not begun.
struct OnceOutcome {
    once: &'static AtomicU32,
    value: u32,
}

impl Drop for OnceOutcome {
    fn drop(&mut self) {
        let place = self.once.as_ptr() as usize;
        let Some(turn) = Turn::alone() else { return self.once.store(self.value, Ordering::SeqCst) };
        turn.due();
        turn.at(place, 4, || {
            self.once.store(self.value, Ordering::SeqCst);
            log_done(&turn, place, 4, self.value.into());
        });
        if self.value != DONE {
            // The thread that tries next finds what was there at first, but not at the same time as we.
            turn.fence(turn.me.site.get());
        }
        wake_waiters(place, usize::MAX);
    }
}

/// The second byte of a guard is ours, as it is the C++ library's: a thread is at work.
fn guard_parts(guard: *mut u8) -> (&'static AtomicU8, &'static AtomicU8) {
    // SAFETY: the compiler has made a guard of eight bytes, of which these are the first.
    unsafe { (AtomicU8::from_ptr(guard), AtomicU8::from_ptr(guard.add(1))) }
}

/// Whether the caller has to initialise the variable.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_acquire(guard: *mut u8) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"__cxa_guard_acquire": fn(*mut u8) -> c_int)(guard));
    };
    turn.due();
    let (done, busy) = guard_parts(guard);
    while busy.load(Ordering::SeqCst) != 0 {
        turn.wait(guard as usize, None, Helper::Threads);
    }
    let found = turn.at(guard as usize, 1, || {
        let found = done.load(Ordering::SeqCst);
        log_flag(&turn, guard as usize, 1, found.into());
        found
    });
    if found != 0 {
        return 0;
    }
    busy.store(1, Ordering::SeqCst);
    1
}

fn end_guard(guard: *mut u8, value: u8) -> bool {
    let Some(turn) = Turn::alone() else { return false };
    turn.due();
    let (done, busy) = guard_parts(guard);
    turn.at(guard as usize, 1, || {
        done.store(value, Ordering::SeqCst);
        log_done(&turn, guard as usize, 1, value.into());
    });
    busy.store(0, Ordering::SeqCst);
    wake_waiters(guard as usize, usize::MAX);
    true
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_release(guard: *mut u8) {
    if !end_guard(guard, 1) {
        pass_on!(original!(c"__cxa_guard_release": fn(*mut u8))(guard));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_abort(guard: *mut u8) {
    if !end_guard(guard, 0) {
        pass_on!(original!(c"__cxa_guard_abort": fn(*mut u8))(guard));
    }
}
