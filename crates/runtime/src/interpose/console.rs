//! What a program prints is for its user, so it orders nothing. That ends where the program itself has changed what
//! its standard output or standard error leads to: another thread may read there what was printed.
//!
//! The C library prints by ways that cannot be replaced, and when it likes. So it is not the printing that is recorded
//! as communication, but any other I/O that happens while what is printed may come back: nothing is reordered there.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

type Stream = *const c_void;

unsafe extern "C" {
    static stdout: Stream;
    static stderr: Stream;
    static _IO_2_1_stdout_: c_void;
    static _IO_2_1_stderr_: c_void;
}

const FILES: [c_int; 2] = [libc::STDOUT_FILENO, libc::STDERR_FILENO];

/// Which file a descriptor leads to: its device, and its number there.
type Identity = (libc::dev_t, libc::ino_t);

/// What the descriptors led to when the process began.
static FIRST: OnceLock<[Option<Identity>; 2]> = OnceLock::new();

pub(super) fn status(file: c_int) -> Option<libc::stat> {
    // SAFETY: the structure is of numbers, which may be zero.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours to be filled.
    (unsafe { libc::fstat(file, &mut about) } == 0).then_some(about)
}

/// Remembers where the standard streams lead to, before the program can change that.
pub(crate) fn remember() {
    FIRST.get_or_init(|| FILES.map(|file| status(file).map(|about| (about.st_dev, about.st_ino))));
}

pub(super) fn is_standard(file: c_int) -> bool {
    FILES.contains(&file)
}

/// Whether the stream is standard output or standard error.
pub(crate) fn is_stream(stream: Stream) -> bool {
    // SAFETY: the C library has set both before the program starts.
    !stream.is_null() && unsafe { stream == stdout || stream == stderr }
}

/// Whether what is written to such a file may be read again. A device keeps it for itself, unless it is a terminal:
/// at the other end of that may be the program, too.
pub(super) fn keeps(about: &libc::stat) -> bool {
    const TERMINALS: [u32; 9] = [5, 136, 137, 138, 139, 140, 141, 142, 143];
    about.st_mode & libc::S_IFMT != libc::S_IFCHR || TERMINALS.contains(&libc::major(about.st_rdev))
}

/// Whether the program may read what it has printed.
pub(super) fn comes_back() -> bool {
    let Some(first) = FIRST.get() else { return false };
    let leads_back = |(&file, first): (&c_int, &Option<Identity>)| {
        status(file).is_some_and(|about| *first != Some((about.st_dev, about.st_ino)) && keeps(&about))
    };
    has_other_streams() || FILES.iter().zip(first).any(leads_back)
}

/// Whether the program has put streams of its own in the place of those of the C library.
fn has_other_streams() -> bool {
    // SAFETY: the C library has set these before the program starts.
    unsafe { stdout != &raw const _IO_2_1_stdout_ || stderr != &raw const _IO_2_1_stderr_ }
}
