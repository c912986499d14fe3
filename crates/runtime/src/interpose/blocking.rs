//! Calls into the kernel that may block: others go on meanwhile.
//!
//! Through a pipe, a socket or a file threads can tell each other anything, and what a thread reads depends on what others
//! have read from there before; so nothing may be reordered around such a call. Only what is written to a terminal or
//! another device never comes back.

use std::ffi::{c_int, c_void};

use foretell_wire::record::Record;

use super::original;
use crate::turn::Turn;

/// Whether what is written there may come back.
fn comes_back(file: c_int) -> bool {
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    let known = unsafe { libc::fstat(file, &mut about) } == 0;
    !known || about.st_mode & libc::S_IFMT != libc::S_IFCHR
}

fn fence(turn: &Turn) {
    turn.fence(turn.me.site.get());
}

macro_rules! blocking {
    ($($(#[$doc:meta])* $name:ident, $text:literal ($($argument:ident: $type:ty),*) -> $result:ty, if $communicates:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            let original = original!($text: fn($($type),*) -> $result);
            let Some(turn) = Turn::alone() else { return unsafe { original($($argument),*) } };
            let communicates = $communicates;
            if communicates {
                fence(&turn);
            }
            let result = turn.away(|| unsafe { original($($argument),*) });
            if communicates {
                fence(&turn);
            }
            result
        }
    )*};
}

type Any = *mut c_void;

blocking! {
    write, c"write"(file: c_int, from: Any, bytes: usize) -> isize, if comes_back(file);
    writev, c"writev"(file: c_int, parts: Any, count: c_int) -> isize, if comes_back(file);
    readv, c"readv"(file: c_int, parts: Any, count: c_int) -> isize, if true;
    send, c"send"(file: c_int, from: Any, bytes: usize, flags: c_int) -> isize, if true;
    sendto, c"sendto"(file: c_int, from: Any, bytes: usize, flags: c_int, to: Any, length: u32) -> isize, if true;
    sendmsg, c"sendmsg"(file: c_int, message: Any, flags: c_int) -> isize, if true;
    recvfrom, c"recvfrom"(file: c_int, into: Any, bytes: usize, flags: c_int, from: Any, length: Any) -> isize, if true;
    recvmsg, c"recvmsg"(file: c_int, message: Any, flags: c_int) -> isize, if true;
    accept, c"accept"(file: c_int, from: Any, length: Any) -> c_int, if true;
    accept4, c"accept4"(file: c_int, from: Any, length: Any, flags: c_int) -> c_int, if true;
    connect, c"connect"(file: c_int, to: Any, length: u32) -> c_int, if true;
    poll, c"poll"(files: Any, count: usize, limit: c_int) -> c_int, if true;
    ppoll, c"ppoll"(files: Any, count: usize, limit: Any, signals: Any) -> c_int, if true;
    select, c"select"(count: c_int, read: Any, write: Any, other: Any, limit: Any) -> c_int, if true;
    pselect, c"pselect"(count: c_int, read: Any, write: Any, other: Any, limit: Any, signals: Any) -> c_int, if true;
    epoll_wait, c"epoll_wait"(file: c_int, events: Any, count: c_int, limit: c_int) -> c_int, if true;
    epoll_pwait, c"epoll_pwait"(file: c_int, events: Any, count: c_int, limit: c_int, signals: Any) -> c_int, if true;
    waitpid, c"waitpid"(process: c_int, status: Any, flags: c_int) -> c_int, if true;
    wait4, c"wait4"(process: c_int, status: Any, flags: c_int, used: Any) -> c_int, if true;
    sigwait, c"sigwait"(signals: Any, number: Any) -> c_int, if true;
    sigsuspend, c"sigsuspend"(signals: Any) -> c_int, if true;
    pause, c"pause"() -> c_int, if true;
    flock, c"flock"(file: c_int, what: c_int) -> c_int, if true;
}

/// What was read is new in memory, and the thread's own doing.
fn received(turn: &Turn, into: Any, bytes: isize) {
    let Ok(bytes) = usize::try_from(bytes) else { return };
    let (site, addr) = (turn.me.site.get(), into as u64);
    // The kernel has written that much.
    let content = unsafe { std::slice::from_raw_parts(into.cast::<u8>(), bytes) };
    turn.at(into as usize, bytes, || {
        turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: addr + offset, bytes });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn read(file: c_int, into: Any, bytes: usize) -> isize {
    let original = original!(c"read": fn(c_int, Any, usize) -> isize);
    let Some(turn) = Turn::alone() else { return unsafe { original(file, into, bytes) } };
    receive(&turn, into, || unsafe { original(file, into, bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recv(file: c_int, into: Any, bytes: usize, flags: c_int) -> isize {
    let original = original!(c"recv": fn(c_int, Any, usize, c_int) -> isize);
    let Some(turn) = Turn::alone() else { return unsafe { original(file, into, bytes, flags) } };
    receive(&turn, into, || unsafe { original(file, into, bytes, flags) })
}

fn receive(turn: &Turn, into: Any, act: impl FnOnce() -> isize) -> isize {
    fence(turn);
    let result = turn.away(act);
    fence(turn);
    received(turn, into, result);
    result
}
