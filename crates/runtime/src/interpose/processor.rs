//! Where the program may run, when it asks, and what it starts; see [`crate::affinity`].

use std::ffi::{CStr, c_int, c_long, c_void};
use std::sync::atomic::Ordering;

use foretell_wire::started::How;
use libc::{pid_t, pthread_t};

use super::asking::tell;
use super::{original, pass_on};
use crate::affinity;
use crate::programs;
use crate::scheduler;
use crate::start::is_recording_process;
use crate::system;
use crate::thread::me;

type Any = *mut c_void;

/// The caller may run wherever the process may.
fn let_go() {
    match me().filter(|_| is_recording_process()) {
        Some(me) => affinity::free(me),
        None => affinity::free_caller(),
    }
}

/// So may the thread that the C library knows by this number.
fn let_go_by_handle(handle: pthread_t) {
    // SAFETY: every thread has a handle.
    if handle == unsafe { libc::pthread_self() } {
        let_go();
    } else {
        scheduler::release_affinity(|thread| thread.handle.load(Ordering::Relaxed) == handle);
    }
}

/// So may the one that the kernel knows by this number; 0 is the caller.
pub(super) fn let_go_by_kernel_id(kernel_id: pid_t) {
    if kernel_id == 0 || kernel_id == system::kernel_id() {
        let_go();
    } else {
        scheduler::release_affinity(|thread| thread.kernel_id.load(Ordering::Relaxed) == kernel_id);
    }
}

/// The mask was written if the call has succeeded.
fn told(mask: Any, bytes: usize, result: c_int) -> c_int {
    if result == 0 {
        tell(&[(mask, bytes)]);
    }
    result
}

/// Calls that ask where a thread may run.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sched_getaffinity(thread: pid_t, bytes: usize, mask: Any) -> c_int {
    let_go_by_kernel_id(thread);
    told(
        mask,
        bytes,
        pass_on!(original!(c"sched_getaffinity": fn(pid_t, usize, Any) -> c_int)(thread, bytes, mask)),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_getaffinity_np(thread: pthread_t, bytes: usize, mask: Any) -> c_int {
    let_go_by_handle(thread);
    told(
        mask,
        bytes,
        pass_on!(original!(c"pthread_getaffinity_np": fn(pthread_t, usize, Any) -> c_int)(
            thread, bytes, mask
        )),
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_getattr_np(thread: pthread_t, about: *mut libc::pthread_attr_t) -> c_int {
    let_go_by_handle(thread);
    // SAFETY: nothing is passed on but what the program has passed.
    unsafe { attributes(thread, about) }
}

/// The attributes of a thread, wherever it is just now.
pub(super) unsafe fn attributes(thread: pthread_t, about: *mut libc::pthread_attr_t) -> c_int {
    pass_on!(original!(c"pthread_getattr_np": fn(pthread_t, *mut libc::pthread_attr_t) -> c_int)(
        thread, about
    ))
}

/// Some versions of the C library count the processors that the caller may run on.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn get_nprocs() -> c_int {
    let_go();
    pass_on!(original!(c"get_nprocs": fn() -> c_int)())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sysconf(name: c_int) -> c_long {
    if name == libc::_SC_NPROCESSORS_ONLN {
        let_go();
    }
    pass_on!(original!(c"sysconf": fn(c_int) -> c_long)(name))
}

/// The program says where a thread may run. Unless that is wherever the process may, it is left alone from now on.
fn leave_unless_anywhere(bytes: usize, mask: Any) -> bool {
    if mask.is_null() {
        // The kernel refuses it.
        return false;
    }
    // SAFETY: the program passes a mask of so many bytes.
    let is_anywhere = affinity::is_anywhere(unsafe { std::slice::from_raw_parts(mask.cast(), bytes) });
    if !is_anywhere {
        scheduler::leave_affinity_to_program();
    }
    is_anywhere
}

/// Whether the thread that the kernel knows by this number is the caller, who may run wherever the process may: then
/// it stays where it is, and the kernel need not know.
pub(super) fn may_stay(kernel_id: pid_t, bytes: usize, mask: Any) -> bool {
    let is_anywhere = leave_unless_anywhere(bytes, mask);
    is_anywhere && (kernel_id == 0 || kernel_id == system::kernel_id())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sched_setaffinity(thread: pid_t, bytes: usize, mask: Any) -> c_int {
    if may_stay(thread, bytes, mask) {
        return 0;
    }
    pass_on!(original!(c"sched_setaffinity": fn(pid_t, usize, Any) -> c_int)(thread, bytes, mask))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setaffinity_np(thread: pthread_t, bytes: usize, mask: Any) -> c_int {
    // SAFETY: every thread has a handle.
    if leave_unless_anywhere(bytes, mask) && thread == unsafe { libc::pthread_self() } {
        return 0;
    }
    pass_on!(original!(c"pthread_setaffinity_np": fn(pthread_t, usize, Any) -> c_int)(thread, bytes, mask))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_attr_setaffinity_np(about: Any, bytes: usize, mask: Any) -> c_int {
    leave_unless_anywhere(bytes, mask);
    pass_on!(original!(c"pthread_attr_setaffinity_np": fn(Any, usize, Any) -> c_int)(about, bytes, mask))
}

/// Calls that start another program, which may run where the caller may.
macro_rules! starting {
    ($($name:ident, $text:literal ($process:ident: Any, $path:ident: Any, $($argument:ident: Any),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($process: Any, $path: Any, $($argument: Any),*) -> c_int {
            let_go();
            let mut own: pid_t = 0;
            let started: Any = if $process.is_null() { (&raw mut own).cast() } else { $process };
            let original = original!($text: fn(Any, Any, $(starting!(@ $argument)),*) -> c_int);
            let result = pass_on!(original(started, $path, $($argument),*));
            if result == 0 && !$path.is_null() {
                // SAFETY: the original has started the process and written its number; the path ends with a zero.
                programs::note(How::Beside, unsafe { *started.cast::<pid_t>() }, unsafe { CStr::from_ptr($path.cast()) });
            }
            result
        }
    )*};
    (@ $argument:ident) => { Any };
}

starting! {
    posix_spawn, c"posix_spawn"(process: Any, path: Any, files: Any, how: Any, arguments: Any, environment: Any);
    posix_spawnp, c"posix_spawnp"(process: Any, file: Any, files: Any, how: Any, arguments: Any, environment: Any);
}

/// A shell is started; as which process the C library does not tell.
fn note_shell(command: Any) {
    if !command.is_null() {
        // SAFETY: the program passes a command that ends with a zero; it was compared with null.
        programs::note(How::Beside, 0, unsafe { CStr::from_ptr(command.cast()) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn system(command: Any) -> c_int {
    let_go();
    note_shell(command);
    pass_on!(original!(c"system": fn(Any) -> c_int)(command))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn popen(command: Any, how: Any) -> Any {
    let_go();
    note_shell(command);
    pass_on!(original!(c"popen": fn(Any, Any) -> Any)(command, how))
}
