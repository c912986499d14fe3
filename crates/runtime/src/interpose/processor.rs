//! Where the program may run, when it asks, and what it starts; see [`crate::home`].

use std::ffi::{c_int, c_long, c_void};

use libc::{pid_t, pthread_t};

use super::original;
use crate::home;
use crate::scheduler;
use crate::system::without_signals;
use crate::thread::{Thread, me};

type Any = *mut c_void;

/// The calling thread may run wherever the process may.
fn let_go() {
    if let Some(me) = me() {
        home::free(me);
    }
}

/// So may this thread, if it is ours.
fn let_go_of(find: impl FnOnce() -> Option<&'static Thread>) {
    if let Some(thread) = without_signals(find) {
        home::free(thread);
    }
}

/// Calls that ask where a thread may run.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(thread: pid_t, bytes: usize, mask: Any) -> c_int {
    match thread {
        0 => let_go(),
        _ => let_go_of(|| scheduler::by_kernel_id(thread)),
    }
    unsafe { original!(c"sched_getaffinity": fn(pid_t, usize, Any) -> c_int)(thread, bytes, mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getaffinity_np(thread: pthread_t, bytes: usize, mask: Any) -> c_int {
    let_go_of(|| scheduler::by_handle(thread));
    unsafe { original!(c"pthread_getaffinity_np": fn(pthread_t, usize, Any) -> c_int)(thread, bytes, mask) }
}

/// Some versions of the C library count the processors that the caller may run on.
#[unsafe(no_mangle)]
unsafe extern "C" fn get_nprocs() -> c_int {
    let_go();
    unsafe { original!(c"get_nprocs": fn() -> c_int)() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    if name == libc::_SC_NPROCESSORS_ONLN {
        let_go();
    }
    unsafe { original!(c"sysconf": fn(c_int) -> c_long)(name) }
}

/// Calls that say where a thread may run.
macro_rules! saying {
    ($($name:ident, $text:literal ($what:ident: $type:ty, $bytes:ident: usize, $mask:ident: Any);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($what: $type, $bytes: usize, $mask: Any) -> c_int {
            scheduler::leave_processors_alone();
            unsafe { original!($text: fn($type, usize, Any) -> c_int)($what, $bytes, $mask) }
        }
    )*};
}

saying! {
    sched_setaffinity, c"sched_setaffinity"(thread: pid_t, bytes: usize, mask: Any);
    pthread_setaffinity_np, c"pthread_setaffinity_np"(thread: pthread_t, bytes: usize, mask: Any);
    pthread_attr_setaffinity_np, c"pthread_attr_setaffinity_np"(about: Any, bytes: usize, mask: Any);
}

/// Calls that start another program, which may run where the caller may.
macro_rules! starting {
    ($($name:ident, $text:literal ($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let_go();
            unsafe { original!($text: fn($($type),*) -> $result)($($argument),*) }
        }
    )*};
}

starting! {
    posix_spawn, c"posix_spawn"(process: Any, path: Any, files: Any, how: Any, arguments: Any, environment: Any) -> c_int;
    posix_spawnp, c"posix_spawnp"(process: Any, file: Any, files: Any, how: Any, arguments: Any, environment: Any) -> c_int;
    system, c"system"(command: Any) -> c_int;
    popen, c"popen"(command: Any, how: Any) -> Any;
}
