//! Which functions tell what they do: all that have the mark of the compiler pass in front of them.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_wire::hook::MARK;
use foretell_wire::mark;

use crate::allocator;
use crate::system::peek;

/// Libraries whose threads do nothing but call what the program gave them: the standard library of C++.
const THREADING: &[u8] = b"libstdc++.so";

const C_LIBRARY: &[u8] = b"libc.so";

/// This library, which stands in for functions of others.
const OURS: &[u8] = b"libforetell_rt.so";

/// Smaller than every page of a processor that we know.
const PAGE: u64 = 4096;

/// What `-finstrument-functions` calls, if that is the C library's: these do nothing. And `std::thread::join`, which
/// `std::async` calls through a pointer: what it does is recorded.
static IDLE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Looks for functions that do nothing. The program may have others by these names.
pub(crate) fn find_idle() {
    const NAMES: [(&CStr, &[u8]); 3] = [
        (c"__cyg_profile_func_enter", C_LIBRARY),
        (c"__cyg_profile_func_exit", C_LIBRARY),
        (c"_ZNSt6thread4joinEv", OURS),
    ];
    for ((name, file), place) in NAMES.into_iter().zip(&IDLE) {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as u64;
        if library(found).is_some_and(|name| name.starts_with(file)) {
            place.store(found, Ordering::Relaxed);
        }
    }
}

/// Whether the function at this address is instrumented, or does nothing.
pub(crate) fn is_instrumented(function: u64) -> bool {
    let read = |place: u64| {
        let ends_in_page = (place + size_of::<u64>() as u64 - 1) / PAGE == function / PAGE;
        if place / PAGE == function / PAGE && ends_in_page {
            // SAFETY: the page of a function can be read.
            return Some(unsafe { (place as *const u64).read_unaligned() });
        }
        // Before the first page of code there may be nothing.
        peek(place)
    };
    let Some(place) = function.checked_sub(size_of::<u64>() as u64).filter(|&place| place >= PAGE) else {
        return false;
    };
    read(place) == Some(MARK)
        || mark::is_at(function, read)
        || IDLE.iter().any(|idle| idle.load(Ordering::Relaxed) == function)
}

/// Whether a thread that begins with this function does nothing unseen on its way to instrumented code.
pub(crate) fn begins_a_thread_seen(function: u64) -> bool {
    // What the library gives back when the function has returned, another thread may get unseen.
    is_instrumented(function)
        || (!allocator::is_unseen() && library(function).is_some_and(|name| name.starts_with(THREADING)))
}

/// The name of the file that a function was loaded from, if the loader knows.
fn library(function: u64) -> Option<&'static [u8]> {
    // SAFETY: the structure is of pointers, which may be null.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the loader only compares the address, and fills our structure.
    let known = unsafe { libc::dladdr(function as *const libc::c_void, &mut about) } != 0;
    // SAFETY: the loader keeps the name as long as the file is loaded.
    let path = (known && !about.dli_fname.is_null()).then(|| unsafe { CStr::from_ptr(about.dli_fname) })?;
    path.to_bytes().rsplit(|&byte| byte == b'/').next()
}

/// Parts of the names of functions of the standard library of C++.
const CPP_LIBRARY: [&str; 5] = ["_ZNSt", "_ZNKSt", "_ZSt", "__gthread", "_ZN9__gnu_cxx"];
/// How the paths of functions of Rust's own libraries begin.
const RUST_LIBRARY: [&str; 3] = ["3std", "4core", "5alloc"];

/// Whether the linker's name is that of a function of a standard library. What such a function is an instance for
/// comes later in its name.
pub(crate) fn is_of_library(name: &str) -> bool {
    let Some(rust) = name.strip_prefix("_R") else {
        return CPP_LIBRARY.iter().any(|part| name.contains(part));
    };
    let path = rust.split_once("Cs").and_then(|(_, of_crate)| of_crate.split_once('_'));
    path.is_some_and(|(_, path)| RUST_LIBRARY.iter().any(|library| path.starts_with(library)))
}
