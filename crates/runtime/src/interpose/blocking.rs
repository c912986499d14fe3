//! Calls into the kernel that may block: others go on meanwhile.
//!
//! Through a pipe, a socket or a file threads can tell each other anything, and what a thread reads depends on what
//! others have read from there before. So I/O is modelled as one atomic variable, which every such call updates
//! before and after: all calls keep their order, and everything before one of them happens before everything after the
//! next. For that all memory must be recorded that the kernel reads or writes; where it is not, the call is a fence.
//! Only what is printed, and what is written to devices, never comes back (but see [`console`]).

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicU64;

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use super::{console, original, pass_on};
use crate::primitives::is_inside;
use crate::system::{ask_kernel, timespec};
use crate::turn::{Turn, content};

type Any = *mut c_void;

/// Whether what is written there may come back to the program. Of what is printed see [`console`].
fn comes_back(file: c_int) -> bool {
    !console::is_standard(file) && console::status(file).is_none_or(|about| console::keeps(&about))
}

/// Whether the kernel may keep the thread waiting until another thread does something. Files on a disk never do; and
/// what is printed is not waited for as long as there is room for it.
fn may_block(file: c_int, bytes: usize) -> bool {
    // If there is no such file, the call will say so.
    let Some(about) = console::status(file) else { return false };
    match about.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFBLK | libc::S_IFDIR => false,
        _ if console::is_standard(file) => bytes > libc::PIPE_BUF || !has_room(file),
        _ => true,
    }
}

/// Whether a few bytes can be written there at once.
fn has_room(file: c_int) -> bool {
    let mut question = libc::pollfd { fd: file, events: libc::POLLOUT, revents: 0 };
    let (place, timeout) =
        (std::ptr::from_mut(&mut question) as usize, std::ptr::from_ref(&timespec(0)) as usize);
    ask_kernel(libc::SYS_ppoll, [place, 1, timeout, 0, 0, 0]) == 1
}

/// Calls the kernel. If that may block, others go on meanwhile, and when the thread is back depends on real time; if
/// not, they go on before it now and then.
fn call<R>(turn: &Turn, blocks: bool, act: impl FnOnce() -> R) -> R {
    if blocks {
        return turn.away(act);
    }
    turn.meeting();
    act()
}

fn fence(turn: &Turn) {
    if !turn.me.stack.is_in_known_library() {
        turn.fence(turn.me.site.get());
    }
}

/// An I/O operation, after all earlier I/O operations.
pub(crate) fn world(turn: &Turn) {
    static WORLD: AtomicU64 = AtomicU64::new(0);
    if !turn.me.stack.is_in_known_library() {
        turn.in_order(&WORLD, MemoryOrder::AcqRel);
        if console::comes_back() {
            turn.fence(turn.me.site.get());
        }
    }
}

/// The kernel has read so many bytes, or is about to.
pub(super) fn sent(turn: &Turn, from: Any, bytes: usize) {
    if turn.me.stack.is_in_known_library() {
        return;
    }
    let (site, addr) = (turn.me.site.get(), from as u64);
    turn.at(from as usize, bytes, || {
        let content = content(from.cast(), bytes);
        turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: addr + offset, bytes });
    });
}

/// The kernel, or a library, has written so many bytes on behalf of the thread.
pub(super) fn received(turn: &Turn, into: Any, bytes: usize) {
    if turn.me.stack.is_in_known_library() {
        return;
    }
    let (site, addr) = (turn.me.site.get(), into as u64);
    turn.at(into as usize, bytes, || {
        let content = content(into.cast(), bytes);
        turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: addr + offset, bytes });
    });
}

/// The pieces of memory that a list names.
fn pieces<'a>(list: Any, count: usize) -> &'a [libc::iovec] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the kernel reads the list, too.
    unsafe { std::slice::from_raw_parts(list.cast(), count) }
}

/// All pieces of a list are read, and the list.
fn sent_pieces(turn: &Turn, list: Any, count: usize) {
    sent(turn, list, count.saturating_mul(size_of::<libc::iovec>()));
    for piece in pieces(list, count) {
        sent(turn, piece.iov_base, piece.iov_len);
    }
}

/// So many bytes were written into the pieces of a list.
fn received_pieces(turn: &Turn, list: Any, count: usize, bytes: usize) {
    let mut left = bytes;
    for piece in pieces(list, count) {
        let here = left.min(piece.iov_len);
        received(turn, piece.iov_base, here);
        left -= here;
    }
}

/// A message: its pieces, and where it goes to. Whatever else comes with it is not understood.
fn sent_message(turn: &Turn, message: Any) {
    // SAFETY: the program passes a message that the kernel reads, too.
    let about: &libc::msghdr = unsafe { &*message.cast() };
    sent(turn, message, size_of::<libc::msghdr>());
    sent_pieces(turn, about.msg_iov.cast(), about.msg_iovlen);
    if !about.msg_name.is_null() || !about.msg_control.is_null() {
        fence(turn);
    }
}

/// An address that the kernel has written, and its length.
fn received_address(turn: &Turn, address: Any, length: Any, room: u32) {
    if !address.is_null() && !length.is_null() {
        // SAFETY: the kernel has just written the length there.
        let written = unsafe { length.cast::<u32>().read() };
        received(turn, address, room.min(written) as usize);
        received(turn, length, size_of::<u32>());
    }
}

/// What the kernel has found out about files; the questions it leaves as they are.
fn received_answers(turn: &Turn, files: Any, count: usize) {
    let first = files.cast::<libc::pollfd>();
    for index in 0..count {
        // SAFETY: the program passes so many entries, which the kernel reads and writes.
        let answer = unsafe { &raw mut (*first.add(index)).revents };
        received(turn, answer.cast(), size_of::<libc::c_short>());
    }
}

/// How much room there is for an address.
fn room_at(length: Any) -> u32 {
    // SAFETY: the program passes a length that the kernel reads, or null.
    unsafe { length.cast::<u32>().as_ref() }.copied().unwrap_or(0)
}

/// A count of bytes, none if the call has failed.
fn count(result: isize) -> usize {
    usize::try_from(result).unwrap_or(0)
}

/// Calls that are recorded completely: what the kernel reads of the program's memory, and what it has written when it
/// returns.
macro_rules! told {
    ($($name:ident, $text:literal ($($argument:ident: $type:ty),*) -> $result:ty, $blocks:expr, |$turn:ident| $before:expr, |$outcome:ident| $after:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            let original = original!($text: fn($($type),*) -> $result);
            let Some(turn) = Turn::alone() else { return pass_on!(original($($argument),*)) };
            let $turn = &turn;
            $turn.due();
            let kept = $before;
            world($turn);
            let $outcome = call($turn, $blocks, || pass_on!(original($($argument),*)));
            $turn.due();
            world($turn);
            ($after)(kept);
            $outcome
        }
    )*};
}

told! {
    read, c"read"(file: c_int, into: Any, bytes: usize) -> isize, may_block(file, 0), |turn| (), |result| |()| received(turn, into, count(result));
    pread, c"pread"(file: c_int, into: Any, bytes: usize, at: i64) -> isize, false, |turn| (), |result| |()| received(turn, into, count(result));
    pread64, c"pread64"(file: c_int, into: Any, bytes: usize, at: i64) -> isize, false, |turn| (), |result| |()| received(turn, into, count(result));
    readv, c"readv"(file: c_int, list: Any, parts: c_int) -> isize, may_block(file, 0),
        |turn| sent(turn, list, as_count(parts).saturating_mul(size_of::<libc::iovec>())),
        |result| |()| received_pieces(turn, list, as_count(parts), count(result));
    recv, c"recv"(file: c_int, into: Any, bytes: usize, flags: c_int) -> isize, true, |turn| (), |result| |()| received(turn, into, count(result));
    recvfrom, c"recvfrom"(file: c_int, into: Any, bytes: usize, flags: c_int, from: Any, length: Any) -> isize, true,
        |turn| room_at(length),
        |result| |room| {
            received(turn, into, count(result));
            received_address(turn, from, length, room);
        };
    pwrite, c"pwrite"(file: c_int, from: Any, bytes: usize, at: i64) -> isize, false, |turn| sent(turn, from, bytes), |result| |()| ();
    pwrite64, c"pwrite64"(file: c_int, from: Any, bytes: usize, at: i64) -> isize, false, |turn| sent(turn, from, bytes), |result| |()| ();
    send, c"send"(file: c_int, from: Any, bytes: usize, flags: c_int) -> isize, true, |turn| sent(turn, from, bytes), |result| |()| ();
    sendmsg, c"sendmsg"(file: c_int, message: Any, flags: c_int) -> isize, true, |turn| sent_message(turn, message), |result| |()| ();
    accept, c"accept"(file: c_int, from: Any, length: Any) -> c_int, true,
        |turn| room_at(length), |result| |room| if result >= 0 { received_address(turn, from, length, room) };
    accept4, c"accept4"(file: c_int, from: Any, length: Any, flags: c_int) -> c_int, true,
        |turn| room_at(length), |result| |room| if result >= 0 { received_address(turn, from, length, room) };
    poll, c"poll"(files: Any, many: usize, limit: c_int) -> c_int, true,
        |turn| sent(turn, files, many.saturating_mul(size_of::<libc::pollfd>())),
        |result| |()| received_answers(turn, files, many);
    epoll_wait, c"epoll_wait"(file: c_int, events: Any, many: c_int, limit: c_int) -> c_int, true,
        |turn| (), |result| |()| received(turn, events, as_count(result).saturating_mul(size_of::<libc::epoll_event>()));
    epoll_ctl, c"epoll_ctl"(file: c_int, what: c_int, other: c_int, event: Any) -> c_int, false,
        |turn| sent(turn, event, if event.is_null() { 0 } else { size_of::<libc::epoll_event>() }), |result| |()| ();
    fsync, c"fsync"(file: c_int) -> c_int, false, |turn| (), |result| |()| ();
    fdatasync, c"fdatasync"(file: c_int) -> c_int, false, |turn| (), |result| |()| ();
}

/// A number of things, none if it is negative.
fn as_count(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// What goes to a device is no I/O operation in this sense.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(file: c_int, from: Any, bytes: usize) -> isize {
    let original = original!(c"write": fn(c_int, Any, usize) -> isize);
    let Some(turn) = Turn::alone() else { return pass_on!(original(file, from, bytes)) };
    deliver(&turn, file, bytes, || sent(&turn, from, bytes), || pass_on!(original(file, from, bytes)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(file: c_int, list: Any, parts: c_int) -> isize {
    let original = original!(c"writev": fn(c_int, Any, c_int) -> isize);
    let Some(turn) = Turn::alone() else { return pass_on!(original(file, list, parts)) };
    let bytes =
        pieces(list, as_count(parts)).iter().map(|piece| piece.iov_len).fold(0, usize::saturating_add);
    deliver(
        &turn,
        file,
        bytes,
        || sent_pieces(&turn, list, as_count(parts)),
        || pass_on!(original(file, list, parts)),
    )
}

fn deliver(
    turn: &Turn,
    file: c_int,
    bytes: usize,
    tell: impl FnOnce(),
    act: impl FnOnce() -> isize,
) -> isize {
    if !comes_back(file) {
        // What a library does to print is its own.
        if !turn.me.stack.is_outside() && !is_inside(turn) {
            turn.due();
            tell();
        }
        return call(turn, may_block(file, bytes), act);
    }
    turn.due();
    tell();
    world(turn);
    let result = call(turn, may_block(file, bytes), act);
    turn.due();
    world(turn);
    result
}

/// Calls that are not recorded completely.
macro_rules! fenced {
    ($($name:ident, $text:literal ($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            let original = original!($text: fn($($type),*) -> $result);
            let Some(turn) = Turn::alone() else { return pass_on!(original($($argument),*)) };
            fence(&turn);
            let result = turn.away(|| pass_on!(original($($argument),*)));
            fence(&turn);
            result
        }
    )*};
}

fenced! {
    sendto, c"sendto"(file: c_int, from: Any, bytes: usize, flags: c_int, to: Any, length: u32) -> isize;
    recvmsg, c"recvmsg"(file: c_int, message: Any, flags: c_int) -> isize;
    connect, c"connect"(file: c_int, to: Any, length: u32) -> c_int;
    ppoll, c"ppoll"(files: Any, count: usize, limit: Any, signals: Any) -> c_int;
    select, c"select"(count: c_int, read: Any, write: Any, other: Any, limit: Any) -> c_int;
    pselect, c"pselect"(count: c_int, read: Any, write: Any, other: Any, limit: Any, signals: Any) -> c_int;
    epoll_pwait, c"epoll_pwait"(file: c_int, events: Any, count: c_int, limit: c_int, signals: Any) -> c_int;
    waitpid, c"waitpid"(process: c_int, status: Any, flags: c_int) -> c_int;
    wait4, c"wait4"(process: c_int, status: Any, flags: c_int, used: Any) -> c_int;
    sigwait, c"sigwait"(signals: Any, number: Any) -> c_int;
    sigsuspend, c"sigsuspend"(signals: Any) -> c_int;
    pause, c"pause"() -> c_int;
    flock, c"flock"(file: c_int, what: c_int) -> c_int;
}
