//! What the static memory of the program holds when it starts its first thread.
//!
//! Where the first access to a variable is a write, no other thread tells what was there before. The file of the
//! program would, but only what the loader began with; at the first fork, loaders, constructors and uninstrumented
//! code are done with it, there is one thread, and what is there is what every schedule begins with. The thread that
//! starts no thread has no use for it.
//!
//! Looked at are the writable segments of all files that have instrumented code, through the kernel: the program may
//! have protected parts of them. Nothing is allocated, so that the program finds its memory where it would find it
//! anyway.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use foretell_wire::log::memory::ByteRun;
use foretell_wire::log::{HEADER, PAGE};

use crate::detect;
use crate::modules;
use crate::system::{self, kernel};
use crate::turn::Turn;

/// So much is looked at; what lies beyond is unknown. A page that no thread has touched yet stays none of its own,
/// but takes the kernel its time.
const MOST_LOOKED_AT: usize = 64 << 20;
/// So much goes into the log at most.
const MOST_TOLD: usize = 4 << 20;
/// So much is looked at in one go.
const PIECE: usize = 64 << 10;
/// So many bytes are recorded as zeros, or one by one.
const BLOCK: usize = 64;

/// Tells the log, before the first thread is started.
pub(crate) fn tell(turn: &Turn) {
    if detect::is_on() {
        // Who looks for races in itself keeps no log.
        return;
    }
    let room = MOST_TOLD + PIECE;
    let how = system::word(libc::PROT_READ | libc::PROT_WRITE);
    let kind = system::word(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let got = kernel(libc::SYS_mmap, [0, room, how, kind, usize::MAX, 0]);
    let Ok(start) = usize::try_from(got) else { return };
    // The memory is ours, and zero.
    let (told, piece) =
        // SAFETY: the kernel has just given us so many bytes, all zero.
        unsafe { std::slice::from_raw_parts_mut(start as *mut u8, room) }.split_at_mut(MOST_TOLD);
    let mut teller = Teller { told, used: HEADER, piece, left: MOST_LOOKED_AT, zeros: None };
    // SAFETY: the function takes what is passed here, and does not keep it.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::from_mut(&mut teller).cast()) };
    teller.tell_zeros();
    let used = teller.used - HEADER;
    turn.me.log().memory(teller.told, used);
    kernel(libc::SYS_munmap, [start, room, 0, 0, 0, 0]);
}

/// Collects what is recorded.
struct Teller<'a> {
    /// The chunk of the log, up to `used`.
    told: &'a mut [u8],
    used: usize,
    /// What is being looked at.
    piece: &'a mut [u8],
    /// How many bytes may still be looked at.
    left: usize,
    /// Zeros that were found, and not recorded yet: where they begin, and how many.
    zeros: Option<(usize, usize)>,
}

/// A file was loaded; the loader calls this for each.
unsafe extern "C" fn look(file: *mut libc::dl_phdr_info, _: usize, teller: *mut c_void) -> c_int {
    // SAFETY: the loader has made the one, and we the other.
    let (file, teller) = unsafe { (&*file, &mut *teller.cast::<Teller<'_>>()) };
    if file.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader keeps so many headers as long as the file is loaded.
    let headers = unsafe { std::slice::from_raw_parts(file.dlpi_phdr, file.dlpi_phnum.into()) };
    let base = system::wide(file.dlpi_addr);
    let segments = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let range = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(system::wide(header.p_vaddr));
        start..start.saturating_add(system::wide(header.p_memsz))
    };
    if modules::any(|table| segments().any(|segment| range(segment).contains(&table))) {
        for segment in segments().filter(|segment| segment.p_flags & libc::PF_W != 0) {
            teller.look_at(range(segment));
        }
    }
    0
}

impl Teller<'_> {
    fn look_at(&mut self, memory: Range<usize>) {
        let mut at = memory.start;
        while at < memory.end && self.left > 0 {
            // Pieces end where pages and blocks do.
            let end = (at + 1).next_multiple_of(PIECE).min(memory.end);
            let length = (end - at).min(self.left);
            let read = system::copy_out(at, self.piece.get_mut(..length).unwrap_or_default());
            self.left -= length;
            self.tell_piece(at, read);
            // From where it cannot be read on, there may be something behind the page.
            at = if read == length { at + length } else { (at + read + 1).next_multiple_of(PAGE) };
        }
    }

    /// So many bytes of the piece are what is at this address.
    fn tell_piece(&mut self, address: usize, length: usize) {
        let mut at = 0;
        while at < length {
            let is_zero = self.is_zero(address, at, length);
            let start = at;
            while at < length && self.is_zero(address, at, length) == is_zero {
                at = block_end(address, at, length);
            }
            if is_zero {
                self.add_zeros(address + start, at - start);
            } else {
                self.tell_zeros();
                let run = ByteRun {
                    address: (address + start) as u64,
                    length: (at - start) as u64,
                    bytes: self.piece.get(start..at),
                };
                put(self.told, &mut self.used, &run);
            }
        }
    }

    /// Whether the block of the piece that begins here is zero.
    fn is_zero(&self, address: usize, at: usize, length: usize) -> bool {
        self.piece
            .get(at..block_end(address, at, length))
            .is_some_and(|block| block.iter().all(|&byte| byte == 0))
    }

    fn add_zeros(&mut self, start: usize, length: usize) {
        match &mut self.zeros {
            Some((first, count)) if *first + *count == start => *count += length,
            _ => {
                self.tell_zeros();
                self.zeros = Some((start, length));
            }
        }
    }

    fn tell_zeros(&mut self) {
        if let Some((start, length)) = self.zeros.take() {
            put(
                self.told,
                &mut self.used,
                &ByteRun { address: start as u64, length: length as u64, bytes: None },
            );
        }
    }
}

/// Where the block ends that begins at this place of a piece.
fn block_end(address: usize, at: usize, length: usize) -> usize {
    ((address + at + 1).next_multiple_of(BLOCK) - address).min(length)
}

/// Tells a run; if there is no room left, it is unknown.
fn put(told: &mut [u8], used: &mut usize, run: &ByteRun<'_>) {
    if let Some(length) = told.get_mut(*used..).and_then(|room| run.encode(room)) {
        *used += length;
    }
}
