//! Threads as objects of the C++ library: its functions write into them, and into what they are given, unseen.

use std::ffi::c_void;

use super::blocking::received;
use super::{original, pass_on};
use crate::turn::Turn;

type Any = *mut c_void;

/// The library has written the word of an object that it was given.
fn tell(object: Any) {
    if let Some(turn) = Turn::alone() {
        turn.due();
        received(&turn, object, size_of::<usize>());
    }
}

/// The object is no thread any more.
macro_rules! forgetting {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(thread: Any) {
            pass_on!(original!($text: fn(Any))(thread));
            tell(thread);
        }
    )*};
}

// std::thread::join() and std::thread::detach(), of GNU's library and of LLVM's.
forgetting! {
    _ZNSt6thread4joinEv, c"_ZNSt6thread4joinEv";
    _ZNSt6thread6detachEv, c"_ZNSt6thread6detachEv";
    _ZNSt3__16thread4joinEv, c"_ZNSt3__16thread4joinEv";
    _ZNSt3__16thread6detachEv, c"_ZNSt3__16thread6detachEv";
}

/// `std::thread::_M_start_thread` of GNU's library takes the state of the thread away from the pointer that owns it.
/// Which thread it has become, the function that it calls tells.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    thread: Any,
    state: Any,
    depend: Any,
) {
    let original = original!(
        c"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE": fn(Any, Any, Any)
    );
    pass_on!(original(thread, state, depend));
    tell(state);
}
