//! Futexes, on which synchronisation is built, and other direct system calls.
//!
//! Waiting would block the thread whose turn it is, so it is done by the scheduler. To instrumented code a futex that
//! is waited for is a word that is read; to be woken orders nothing, as it may happen without a reason. What a
//! library that is not instrumented synchronises is not known, hence nothing may be reordered around its calls.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;
use libc::timespec;

use super::copy::{copy_by_kernel, is_copying};
use super::descriptor::{close, close_range};
use super::processor::{let_go_by_kernel_id, may_stay};
use crate::kept;
use crate::primitives;
use crate::scheduler::{Helper, WakeReason, wake_waiters};
use crate::signals::expect_break_ins;
use crate::system::{kernel, nanoseconds, set_errno, until};
use crate::turn::{Turn, deadline_in};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    let arguments = [a, b, c, d, e, f];
    match number {
        libc::SYS_sched_getaffinity => let_go_by_kernel_id(i32::try_from(a).unwrap_or(0)),
        libc::SYS_sched_setaffinity if may_stay(number_of(a), b, c as *mut _) => return 0,
        // SAFETY: our `close` leaves our own files alone.
        libc::SYS_close if kept::is_ours(number_of(a)) => return unsafe { close(number_of(a)) }.into(),
        libc::SYS_close_range => return close_some(a, b, c).into(),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_dup2 => kept::make_way(number_of(b)),
        libc::SYS_dup3 => kept::make_way(number_of(b)),
        _ if is_copying(number, arguments) => return copy_by_kernel(|| kernel(number, arguments)),
        _ => {}
    }
    let Some(turn) = Turn::alone() else { return kernel(number, arguments) };
    if number != libc::SYS_futex {
        return other(&turn, number, arguments);
    }
    let operation = i32::try_from(b).unwrap_or(0);
    match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => wait(&turn, a, c, deadline(operation, d)),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            fence(&turn);
            let woken = wake_waiters(a, c).len();
            // A thread that we do not know may wait in the kernel.
            let all = kernel(number, arguments).max(0) + i64::try_from(woken).unwrap_or(0);
            if woken > 0 && !primitives::is_inside(&turn) {
                turn.meeting();
            }
            all
        }
        // Waiters may return without a reason, so those that would go on to wait for another word return, too.
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            wake_after(&turn, arguments, &[(a, c.saturating_add(d))])
        }
        libc::FUTEX_WAKE_OP => wake_after(&turn, arguments, &[(a, c), (e, d)]),
        // The kernel gives the word to the next thread, or waits for it.
        _ => other(&turn, number, arguments),
    }
}

/// The kernel does its part first, and says if it cannot. Then so many waiters for each of these words wake up.
fn wake_after(turn: &Turn, arguments: [usize; 6], waiters: &[(usize, usize)]) -> i64 {
    let result = other(turn, libc::SYS_futex, arguments);
    if result < 0 {
        return result;
    }
    let woken: usize = waiters.iter().map(|&(word, most)| wake_waiters(word, most).len()).sum();
    result + i64::try_from(woken).unwrap_or(0)
}

/// A descriptor as the kernel gets it.
fn number_of(argument: usize) -> c_int {
    c_int::try_from(argument).unwrap_or(-1)
}

fn close_some(first: usize, last: usize, flags: usize) -> c_int {
    let number = |argument: usize| c_uint::try_from(argument).unwrap_or(c_uint::MAX);
    // SAFETY: our `close_range` leaves our own files alone.
    unsafe { close_range(number(first), number(last), number_of(flags)) }
}

/// Any other call: it may pass anything on, but for those that only ask who one is.
fn other(turn: &Turn, number: i64, arguments: [usize; 6]) -> i64 {
    if matches!(number, libc::SYS_gettid | libc::SYS_getpid | libc::SYS_getppid | libc::SYS_sched_yield) {
        return kernel(number, arguments);
    }
    if number == libc::SYS_rt_sigaction {
        expect_break_ins();
    }
    let is_known = turn.me.stack.is_in_known_library();
    let fence = || {
        if !is_known {
            turn.fence(turn.me.site.get());
        }
    };
    fence();
    let result = turn.away(|| kernel(number, arguments));
    fence();
    result
}

/// What is synchronised is not known, unless the thread is in a library that is, or in code that tells it.
fn fence(turn: &Turn) {
    if !primitives::is_inside(turn) && turn.me.stack.is_outside() {
        turn.fence(turn.me.site.get());
    }
}

/// The kernel reads the word, and what it does depends on that.
fn look_at(turn: &Turn, word: usize) -> u32 {
    // SAFETY: the kernel would read the word, which the program has aligned for it; an address that is not mapped was
    // sorted out before.
    let atomic = unsafe { AtomicU32::from_ptr(word as *mut u32) };
    if primitives::is_inside(turn) || turn.me.stack.is_outside() {
        return atomic.load(Ordering::SeqCst);
    }
    turn.due();
    let (site, addr) = (turn.me.site.get(), word as u64);
    let content = turn.at(word, size_of::<u32>(), || {
        let content = atomic.load(Ordering::SeqCst);
        let value = content.into();
        turn.log(&Record::AtomicLoad { site, addr, size: 4, value, order: MemoryOrder::Relaxed });
        content
    });
    turn.log_branch(site, None);
    content
}

/// A plain wait has a duration, one with a mask a deadline.
fn deadline(operation: i32, time: usize) -> Option<u64> {
    // SAFETY: the program passes a time that the kernel would read, or null.
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
    primitives::comes_to_wait(turn, word);
    turn.meeting();
    fence(turn);
    let content = look_at(turn, word);
    if u64::from(content) != expected as u64 & u64::from(u32::MAX) {
        set_errno(libc::EAGAIN);
        return -1;
    }
    // Futexes may wake without a reason, so looking again is always allowed.
    primitives::begins_to_wait(turn);
    let reason = turn.wait(word, deadline, Helper::Anybody);
    primitives::has_waited(turn, reason);
    fence(turn);
    if reason == WakeReason::TimedOut {
        set_errno(libc::ETIMEDOUT);
        return -1;
    }
    0
}
