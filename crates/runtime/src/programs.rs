//! What runs beside the recorded threads: programs that are started, as one that is not instrumented leaves no log,
//! and threads that were made past the C library, or go on after their end.
//!
//! Each is a line of one file in the folder for logs: how it is started, the process that is going to be it or 0, and
//! the program. The process may be a child that still shares our memory, so nothing is allocated here, and the line
//! is written at once.

use std::ffi::CStr;
use std::sync::atomic::{AtomicI32, Ordering};

use foretell_wire::started::{FILE, How, LONGEST};

use crate::folder;
use crate::start::{is_recording, is_recording_process};
use crate::system::{append_file, kernel_id};

/// Notes that a process is about to be another program, or that this has failed.
pub(crate) fn note(how: How, process: i32, program: &CStr) {
    let Some(folder) = folder::path() else { return };
    let mut path = Line::<{ libc::PATH_MAX as usize }>::new();
    path.push(folder.as_bytes());
    path.push(b"/");
    path.push(FILE.as_bytes());
    path.push(&[0]);
    let mut line = Line::<{ LONGEST + 64 }>::new();
    line.push(how.word().as_bytes());
    line.push(b" ");
    line.push_number(process.unsigned_abs());
    line.push(b" ");
    let program = program.to_bytes();
    // A line must stay one, and commands may have several.
    for &byte in program.get(..LONGEST).unwrap_or(program) {
        line.push(&[if byte == b'\n' { b' ' } else { byte }]);
    }
    line.push(b"\n");
    if let Ok(path) = CStr::from_bytes_with_nul(path.bytes()) {
        append_file(path, line.bytes());
    }
}

/// How many threads are noted.
const MOST_THREADS: usize = 64;
/// Those that were, as the kernel knows them.
static NOTED: [AtomicI32; MOST_THREADS] = [const { AtomicI32::new(0) }; MOST_THREADS];

/// Notes, once, that the calling thread comes to instrumented code and is not recorded.
#[cold]
#[inline(never)]
pub(crate) fn note_thread() {
    if !is_recording() || !is_recording_process() {
        return;
    }
    let caller = kernel_id();
    for noted in &NOTED {
        match noted.compare_exchange(0, caller, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return note(How::Thread, caller, c"not recorded"),
            Err(known) if known == caller => return,
            Err(_) => {}
        }
    }
}

/// Bytes in the stack; what does not fit is left out.
struct Line<const ROOM: usize> {
    content: [u8; ROOM],
    length: usize,
}

impl<const ROOM: usize> Line<ROOM> {
    fn new() -> Line<ROOM> {
        Line { content: [0; ROOM], length: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        for (place, &byte) in self.content[self.length..].iter_mut().zip(bytes) {
            *place = byte;
            self.length += 1;
        }
    }

    fn push_number(&mut self, mut number: u32) {
        let mut digits = [b'0'; 10];
        let mut first = digits.len();
        while number > 0 || first == digits.len() {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.push(&digits[first..]);
    }

    fn bytes(&self) -> &[u8] {
        &self.content[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_what_is_too_long_is_cut() {
        let mut line = Line::<8>::new();
        line.push_number(0);
        line.push(b" ");
        line.push_number(1_203_456_789);
        assert_eq!(line.bytes(), b"0 120345");
    }
}
