//! Handlers of the end of the process: the thread that ends it runs what others have registered, so it has all that
//! they had done before. The C library keeps the list under a lock of its own.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_wire::hook::MemoryOrder;

use super::{original, pass_on};
use crate::thread;
use crate::turn::Turn;

type Any = *const c_void;

/// How often any thread has registered a handler while others might run.
static REGISTERED: AtomicU64 = AtomicU64::new(0);

/// A thread registers a handler. While there is one thread only, it comes before all that others do.
fn register() {
    if thread::has_unjoined()
        && let Some(turn) = Turn::take()
    {
        turn.in_order(&REGISTERED, MemoryOrder::Release);
    }
}

/// The handlers are about to run.
pub(crate) fn begin(turn: &Turn) {
    if REGISTERED.load(Ordering::Relaxed) > 0 {
        turn.in_order(&REGISTERED, MemoryOrder::Acquire);
    }
}

macro_rules! registering {
    ($($name:ident, $text:literal ($($argument:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($argument: Any),*) -> c_int {
            register();
            pass_on!(original!($text: fn($(registering!(@type $argument)),*) -> c_int)($($argument),*))
        }
    )*};
    (@type $argument:ident) => { Any };
}

// `atexit` and `at_quick_exit` are in each program itself, and call the first and the second of these.
registering! {
    __cxa_atexit, c"__cxa_atexit"(handler, argument, module);
    __cxa_at_quick_exit, c"__cxa_at_quick_exit"(handler, module);
    on_exit, c"on_exit"(handler, argument);
}
