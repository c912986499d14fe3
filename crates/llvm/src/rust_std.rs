//! Rust's standard library, where it is compiled with the pass, too.
//!
//! What makes threads, starts the program and lets panics come to it is recorded by what it means, whether the library
//! is instrumented or not: it is left as it is, as in the library that comes with the compiler, and so is what it calls
//! there.

use foretell_wire::settings;

use crate::ir::Value;
use crate::primitives;
use crate::rust_name;

/// The crate whose functions are left as they are if they belong to [`LEFT`].
const CRATE: &str = "std";

/// Parts of the library that are not instrumented.
const LEFT: &[&str] = &[
    "__rustc::__rdl_",
    "std::alloc::",
    "std::backtrace",
    "std::panicking::",
    "std::rt::",
    "std::sys::backtrace::BacktraceLock",
    "std::sys::backtrace::_print",
    "std::sys::backtrace::lock",
    "std::sys::backtrace::output",
    "std::sys::pal::unix::cleanup",
    "std::sys::pal::unix::futex::",
    "std::sys::pal::unix::init",
    "std::sys::pal::unix::stack_overflow::",
    "std::sys::pal::unix::weak::",
    "std::sys::thread::",
    "std::sys::thread_local::",
    "std::thread::builder::",
    "std::thread::current::",
    "std::thread::functions::",
    "std::thread::join_handle::",
    "std::thread::lifecycle::",
    "std::thread::main_thread::",
    "std::thread::scoped::",
    "std::thread::spawnhook::",
    "std::thread::thread::",
];

/// What calls a function and catches its panic.
const TRY: &str = "__rust_try";

/// Functions with models.
const MODELLED: &[&str] = &[
    "std::sys::fs::unix::debug_assert_fd_is_open",
    "std::sys::random::linux::hashmap_random_keys",
    "std::sys::stdio::unix::Stdout::write",
    "std::sys::stdio::unix::Stderr::write",
    "std::thread::id::ThreadId::new",
];

/// What the library makes its locks of.
const LOCKS: &str = "std::sys::sync::";

/// Whether programs are built with an instrumented standard library.
pub(crate) fn is_instrumented() -> bool {
    std::env::var_os(settings::STD.text()).is_some_and(|folder| !folder.is_empty())
}

/// Whether this is a function of the library that is left as it is. Of what the library has instantiated for itself, a
/// part that is left may be the type. Of its locks, only what takes them at once is instrumented.
pub(crate) fn leaves(function: Value) -> bool {
    // The compiler names modules after the crate.
    function.module_name().split('.').next() == Some(CRATE)
        && rust_name::text(&function.name()).map_or(function.name() == TRY, |text| is_left(&text))
}

fn is_left(text: &str) -> bool {
    let path = rust_name::path_of(text);
    LEFT.iter().any(|part| text.contains(part))
        || MODELLED.contains(&path.as_str())
        || text.contains(LOCKS) && !primitives::is_word(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_library_are_left() {
        for text in [
            "std::rt::lang_start_internal",
            "__rustc::__rdl_dealloc",
            "<std::alloc::System as core::alloc::global::GlobalAlloc>::dealloc",
            "<core::mem::drop_guard::DropGuard<(), std::sys::thread::unix::Thread::new::{closure#0}> as Drop>::drop",
            "<std::thread::spawnhook::ChildSpawnHooks>::run",
            "<std::sys::sync::mutex::futex::Mutex>::spin",
        ] {
            assert!(is_left(text), "{text}");
        }
        for text in [
            "<std::thread::local::LocalKey<u8>>::with::<u8>",
            "<core::option::Option<std::thread::id::ThreadId>>::map_or::<u64, f>",
            "std::sys::pal::unix::cvt::<i32>",
            "<std::sys::sync::mutex::futex::Mutex>::lock",
            "<std::fs::File as std::io::Read>::read",
            "<alloc::string::String as core::clone::Clone>::clone",
        ] {
            assert!(!is_left(text), "{text}");
        }
    }
}
