//! Descriptors that the program closes or takes: ours are not its own, see [`crate::kept`].

use std::ffi::{c_int, c_uint};

use super::{original, pass_on};
use crate::kept;
use crate::system::{kernel, set_errno, word};

/// Nothing is open there, as far as the program knows.
fn not_open() -> c_int {
    set_errno(libc::EBADF);
    -1
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn close(file: c_int) -> c_int {
    if kept::is_ours(file) {
        return not_open();
    }
    pass_on!(original!(c"close": fn(c_int) -> c_int)(file))
}

/// The kernel is asked for the ranges between our descriptors.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let close = |first: c_uint, last: c_uint| {
        let arguments = [first as usize, last as usize, word(flags), 0, 0, 0];
        c_int::try_from(kernel(libc::SYS_close_range, arguments)).unwrap_or(-1)
    };
    let mut next = first;
    for file in kept::descriptors().filter(|&file| kept::is_ours(file)) {
        let Some(file) = c_uint::try_from(file).ok().filter(|file| (next..=last).contains(file)) else {
            continue;
        };
        if next < file && close(next, file - 1) != 0 {
            return -1;
        }
        next = file + 1;
    }
    // With a first number above the last one the kernel says what is wrong, unless nothing is left.
    if next > last && next > first { 0 } else { close(next, last) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn closefrom(first: c_int) {
    let first = c_uint::try_from(first).unwrap_or(0);
    // SAFETY: closing is what the program asks for; our own files are left out.
    if unsafe { close_range(first, c_uint::MAX, 0) } != 0 {
        // A kernel that does not know it: one after the other.
        // SAFETY: the call reads a number of the system.
        let most = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
        let most = c_int::try_from(most).unwrap_or(c_int::MAX);
        for file in c_int::try_from(first).unwrap_or(0)..most {
            // SAFETY: closing is what the program asks for; our own files are left out.
            unsafe { close(file) };
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup2(from: c_int, to: c_int) -> c_int {
    make_way(from, to);
    pass_on!(original!(c"dup2": fn(c_int, c_int) -> c_int)(from, to))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    make_way(from, to);
    pass_on!(original!(c"dup3": fn(c_int, c_int, c_int) -> c_int)(from, to, flags))
}

fn make_way(from: c_int, to: c_int) {
    if from != to {
        kept::make_way(to);
    }
}

/// As the C library does it, but by functions that the recorder sees: the process that is left behind ends in good
/// order.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn daemon(stays: c_int, keeps_open: c_int) -> c_int {
    // SAFETY: the copy does nothing but what is safe in one.
    match unsafe { libc::fork() } {
        -1 => return -1,
        0 => {}
        _ => super::ending::end_now(0),
    }
    // SAFETY: the arguments are numbers, and texts that end with a zero.
    unsafe {
        if libc::setsid() == -1 {
            return -1;
        }
        if stays == 0 {
            libc::chdir(c"/".as_ptr());
        }
        if keeps_open == 0 { close_standard_streams() } else { 0 }
    }
}

/// Standard input, output and error go nowhere from now on.
unsafe fn close_standard_streams() -> c_int {
    // SAFETY: the arguments are numbers, and texts that end with a zero.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        let mut about: libc::stat = std::mem::zeroed();
        if nowhere == -1 || libc::fstat(nowhere, &mut about) != 0 {
            return -1;
        }
        if about.st_mode & libc::S_IFMT != libc::S_IFCHR || about.st_rdev != libc::makedev(1, 3) {
            close(nowhere);
            set_errno(libc::ENODEV);
            return -1;
        }
        for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            dup2(nowhere, stream);
        }
        if nowhere > libc::STDERR_FILENO {
            close(nowhere);
        }
    }
    0
}
