//! Futexes: what libraries that are not instrumented build their own synchronisation on.
//!
//! Waiting would block the thread whose turn it is, so it is done by the scheduler. What such a library synchronises is not
//! known, hence nothing may be reordered around its calls.

use std::sync::atomic::{AtomicU32, Ordering};

use libc::timespec;

use crate::primitives;
use crate::scheduler::{Reason, wake_waiters};
use crate::system::{kernel, nanoseconds, set_errno, until};
use crate::turn::{Turn, deadline_in};

#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    let arguments = [a, b, c, d, e, f];
    if number != libc::SYS_futex {
        return kernel(number, arguments);
    }
    let Some(turn) = Turn::alone() else { return kernel(number, arguments) };
    let operation = i32::try_from(b).unwrap_or(0);
    match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => wait(&turn, a, c, deadline(operation, d)),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            fence(&turn);
            let woken = wake_waiters(a, c).len();
            // Somebody whom we do not know may wait in the kernel.
            kernel(number, arguments).max(0) + i64::try_from(woken).unwrap_or(0)
        }
        _ => kernel(number, arguments),
    }
}

/// What is synchronised is not known, unless the thread is in a library that is.
fn fence(turn: &Turn) {
    if !primitives::is_inside(turn) {
        turn.fence(turn.me.site.get());
    }
}

/// A plain wait is told for how long, one with a mask until when.
fn deadline(operation: i32, time: usize) -> Option<u64> {
    let time = unsafe { (time as *const timespec).as_ref() }?;
    let waiting = if operation & libc::FUTEX_CMD_MASK == libc::FUTEX_WAIT {
        nanoseconds(time)
    } else if operation & libc::FUTEX_CLOCK_REALTIME != 0 {
        until(libc::CLOCK_REALTIME, time)
    } else {
        until(libc::CLOCK_MONOTONIC, time)
    };
    Some(deadline_in(waiting))
}

fn wait(turn: &Turn, word: usize, expected: usize, deadline: Option<u64>) -> i64 {
    turn.meeting();
    let content = unsafe { AtomicU32::from_ptr(word as *mut u32) }.load(Ordering::SeqCst);
    fence(turn);
    if u64::from(content) != expected as u64 & u64::from(u32::MAX) {
        set_errno(libc::EAGAIN);
        return -1;
    }
    // Futexes may wake without a reason, so looking again is always allowed.
    primitives::begins_to_wait(turn, word);
    let reason = turn.wait(word, deadline, true);
    primitives::has_waited(turn, reason);
    fence(turn);
    if reason == Reason::TimedOut {
        set_errno(libc::ETIMEDOUT);
        return -1;
    }
    0
}
