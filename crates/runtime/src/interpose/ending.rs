//! Ways to end the process that skip the handlers of `exit`.

use std::ffi::c_int;

use super::original;
use crate::start::{end, flush};
use crate::system::exit_now;

#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    end();
    exit_now(code)
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    end();
    exit_now(code)
}

/// The log stays open: it tells that the program did not end well.
#[unsafe(no_mangle)]
extern "C" fn abort() -> ! {
    flush();
    unsafe { original!(c"abort": fn())() };
    exit_now(134)
}
