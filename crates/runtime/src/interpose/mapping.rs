//! Memory that is mapped, moved and unmapped. What is mapped anew is other memory than what was there before; and
//! what others may see as well is recorded, see [`crate::shared`].

use std::ffi::{c_char, c_int, c_uint, c_void};

use foretell_wire::record::SyncOp;

use super::{original, pass_on};
use crate::shared;
use crate::system::{kernel, word};
use crate::turn::Turn;

type Start = *mut c_void;

fn goes(start: usize, bytes: usize) {
    if let Some(turn) = Turn::take() {
        turn.log_memory(SyncOp::Free, start, bytes);
    }
    shared::remove(start, bytes);
}

const PAGE: usize = 4096;

macro_rules! mapping {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(
            wanted: Start, bytes: usize, access: c_int, flags: c_int, file: c_int, at: isize,
        ) -> Start {
            map([wanted as usize, bytes, word(access), word(flags), word(file), at.cast_unsigned()], flags)
        }
    )*};
}

mapping! { mmap mmap64 }

/// The kernel is asked directly: allocators call this before anything can be looked up.
fn map(arguments: [usize; 6], flags: c_int) -> Start {
    let [wanted, bytes, ..] = arguments;
    if flags & libc::MAP_FIXED != 0 {
        goes(wanted, bytes);
    }
    let start = kernel(libc::SYS_mmap, arguments);
    if let Ok(start) = usize::try_from(start)
        && flags & libc::MAP_SHARED != 0
    {
        shared::add(start, bytes.next_multiple_of(PAGE), flags & libc::MAP_ANONYMOUS == 0);
    }
    start as Start
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn munmap(start: Start, bytes: usize) -> c_int {
    goes(start as usize, bytes);
    pass_on!(original!(c"munmap": fn(Start, usize) -> c_int)(start, bytes))
}

/// What was there is somewhere else now; if nothing is taken away from the old place, it is in both.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn mremap(
    start: Start,
    bytes: usize,
    new_bytes: usize,
    flags: c_int,
    wanted: Start,
) -> Start {
    let was_shared = shared::contains(start as usize, bytes);
    let arguments = [start as usize, bytes, new_bytes, word(flags), wanted as usize, 0];
    let moved = kernel(libc::SYS_mremap, arguments);
    let Ok(place) = usize::try_from(moved) else { return moved as Start };
    if bytes == 0 {
        shared::add(start as usize, new_bytes.next_multiple_of(PAGE), true);
    } else if place != start as usize {
        goes(start as usize, bytes);
    }
    if was_shared || bytes == 0 {
        shared::add(place, new_bytes.next_multiple_of(PAGE), true);
    } else if place != start as usize {
        goes(place, new_bytes);
    }
    moved as Start
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn shmat(id: c_int, wanted: *const c_void, flags: c_int) -> Start {
    let start = pass_on!(original!(c"shmat": fn(c_int, *const c_void, c_int) -> Start)(id, wanted, flags));
    if start as isize != -1 {
        shared::add(start as usize, segment_size(id), true);
    }
    start
}

fn segment_size(id: c_int) -> usize {
    // SAFETY: the structure is of numbers, which may be zero.
    let mut about: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours to be filled.
    unsafe { libc::shmctl(id, libc::IPC_STAT, &mut about) };
    about.shm_segsz.next_multiple_of(PAGE)
}

/// Named semaphores are in memory that the C library maps itself.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_open(
    name: *const c_char,
    flags: c_int,
    mode: c_uint,
    permits: c_uint,
) -> Start {
    const SEMAPHORE: usize = 32;
    let original = original!(c"sem_open": fn(*const c_char, c_int, c_uint, c_uint) -> Start);
    let semaphore = pass_on!(original(name, flags, mode, permits));
    if !semaphore.is_null() {
        shared::add(semaphore as usize, SEMAPHORE, true);
    }
    semaphore
}
