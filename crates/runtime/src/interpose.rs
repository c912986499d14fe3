//! The functions of the C library that the program meets instead of the originals.
//!
//! Those that can block try instead, and wait for their turn until trying succeeds: the thread that holds what they
//! want needs a turn to give it up. What they do and what they return is what the originals do and return.
//!
//! Safety of all of them: they hand their arguments on to the original, which has the same requirements.

mod asking;
pub(crate) mod blocking;
pub(crate) mod cancel;
pub(crate) mod condition;
pub(crate) mod console;
mod copy;
mod descriptor;
pub(crate) mod ending;
pub(crate) mod exception;
pub(crate) mod futex;
pub(crate) mod handlers;
pub(crate) mod jump;
pub(crate) mod lock;
pub(crate) mod mapping;
pub(crate) mod meeting;
pub(crate) mod memory;
mod object;
pub(crate) mod once;
mod processor;
pub(crate) mod signal;
pub(crate) mod sleep;
mod standard;
pub(crate) mod thread;
mod time;
mod upkeep;

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::system::{exit_now, say};

/// The original of a function: what the program would have met without us.
macro_rules! original {
    ($name:literal: fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {
        original!(@ $name, None, unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?)
    };
    ($name:literal of $version:literal: fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {
        original!(@ $name, Some($version), unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?)
    };
    (@ $name:literal, $version:expr, $signature:ty) => {{
        static FOUND: std::sync::atomic::AtomicPtr<std::ffi::c_void> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let found = crate::interpose::find(&FOUND, $name, $version);
        crate::interpose::as_function::<$signature>(found)
    }};
}
pub(crate) use original;

/// Calls the original of a function with what the program has passed to ours.
macro_rules! pass_on {
    (original!($($what:tt)*)($($argument:expr),* $(,)?)) => {{
        let original = $crate::interpose::original!($($what)*);
        $crate::interpose::pass_on!(original($($argument),*))
    }};
    ($original:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: ours has the name and the signature of the original, and the program has called it with these
        // arguments, or with ones that these stand for: whatever the original asks of its caller, the program has
        // promised.
        unsafe { $original($($argument),*) }
    };
}
pub(crate) use pass_on;

/// The function at an address. The signatures in use are those that the C library documents.
pub(crate) fn as_function<F: Copy>(address: *mut c_void) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: both are pointers of the same size, and the caller names the signature that the C library documents for
    // it.
    unsafe { std::mem::transmute_copy(&address) }
}

/// Looks an original up once.
pub(crate) fn find(known: &AtomicPtr<c_void>, name: &CStr, version: Option<&CStr>) -> *mut c_void {
    let found = known.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    let found = match version {
        // SAFETY: both texts end with a zero.
        Some(version) => unsafe { libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) },
        // SAFETY: the name ends with a zero.
        None => unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) },
    };
    let found = if found.is_null() { find_in_cpp(name) } else { found };
    if found.is_null() {
        say(&format!("the C library has no {}", name.to_string_lossy()));
        exit_now(127);
    }
    known.store(found, Ordering::Relaxed);
    found
}

/// Looks a function of the C library up once, any other thread that has one of its name.
pub(crate) fn find_in_c_library(known: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = known.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    // SAFETY: the name ends with a zero, and a library that is loaded already runs no constructors.
    let library = unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    // SAFETY: the handle is that of a loaded library, and the name ends with a zero.
    let found = if library.is_null() { library } else { unsafe { libc::dlsym(library, name.as_ptr()) } };
    if found.is_null() {
        return find(known, name, None);
    }
    known.store(found, Ordering::Relaxed);
    found
}

/// Looks a function up in the C++ library, which may have come with a plugin that keeps it for itself.
fn find_in_cpp(name: &CStr) -> *mut c_void {
    const LIBRARIES: [&CStr; 3] = [c"libstdc++.so.6", c"libc++.so.1", c"libc++abi.so.1"];
    let in_library = |library: &CStr| {
        // SAFETY: the name ends with a zero, and a library that is loaded already runs no constructors.
        let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        let is_loaded = !library.is_null();
        // SAFETY: the handle is that of a loaded library, and the name ends with a zero.
        if is_loaded { unsafe { libc::dlsym(library, name.as_ptr()) } } else { std::ptr::null_mut() }
    };
    LIBRARIES.into_iter().map(in_library).find(|found| !found.is_null()).unwrap_or(std::ptr::null_mut())
}
