//! Exceptions of C++. Raising and catching one touches nothing but what belongs to the exception. But threads can
//! share one, and the thread that is the last to be done with it destroys it: the library counts them, unseen.

use std::sync::atomic::AtomicU64;

use foretell_wire::hook::MemoryOrder;

use super::{original, pass_on};
use crate::turn::Turn;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_end_catch() {
    static DONE: AtomicU64 = AtomicU64::new(0);
    if let Some(turn) = Turn::take() {
        turn.in_order(&DONE, MemoryOrder::AcqRel);
    }
    pass_on!(original!(c"__cxa_end_catch": fn())());
}
