//! Copies of the process that are made past the C library's `fork`: handlers of `pthread_atfork` are not called.
//!
//! Such a copy has one thread, so there is nothing to find in it, and it must leave the log to the original. It may
//! not allocate either, as another thread may just have been in the midst of that.

use std::ffi::{c_int, c_void};

use super::{original, pass_on};
use crate::shared;
use crate::start::leave_copy;
use crate::turn::Turn;

/// Copies the process.
fn copy<R: Into<i64> + Copy>(act: impl FnOnce() -> R) -> R {
    if let Some(turn) = Turn::alone() {
        turn.fence(turn.me.site.get());
    }
    let result = act();
    match result.into() {
        0 => leave_copy(),
        1.. => shared::begin_to_share(),
        _ => {}
    }
    result
}

/// Whether this call of the kernel makes a copy with memory of its own.
pub(super) fn is_copying(number: i64, arguments: [usize; 6]) -> bool {
    match number {
        libc::SYS_fork => true,
        libc::SYS_clone => !shares_memory(arguments[0] as u64),
        // SAFETY: the first word of its argument are the same flags.
        libc::SYS_clone3 => !shares_memory(unsafe { (arguments[0] as *const u64).read() }),
        _ => false,
    }
}

fn shares_memory(flags: u64) -> bool {
    flags & libc::CLONE_VM as u64 != 0
}

/// As above, by a call of the kernel.
pub(super) fn copy_by_kernel(act: impl FnOnce() -> i64) -> i64 {
    copy(act)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _Fork() -> c_int {
    copy(|| pass_on!(original!(c"_Fork": fn() -> c_int)()))
}

type Body = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a copy does, with the argument for it.
struct CopyTask(Body, *mut c_void);

/// The copy finds what the original has left on its stack.
unsafe extern "C-unwind" fn work(work: *mut c_void) -> c_int {
    leave_copy();
    // SAFETY: the caller has put it on its stack, and waits for the copy to read it.
    let CopyTask(body, argument) = unsafe { work.cast::<CopyTask>().read() };
    // SAFETY: the program has passed this function and its argument to be called.
    unsafe { body(argument) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn clone(
    body: Body,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent_id: *mut c_void,
    own_data: *mut c_void,
    child_id: *mut c_void,
) -> c_int {
    type Clone = unsafe extern "C-unwind" fn(
        Body,
        *mut c_void,
        c_int,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        *mut c_void,
    ) -> c_int;
    let original: Clone = original!(
        c"clone": fn(Body, *mut c_void, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int
    );
    if shares_memory(flags as u64) {
        return pass_on!(original(body, stack, flags, argument, parent_id, own_data, child_id));
    }
    let mut given = CopyTask(body, argument);
    let given = (&raw mut given).cast();
    copy(|| pass_on!(original(work, stack, flags, given, parent_id, own_data, child_id)))
}
