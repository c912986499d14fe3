//! Ways to end the process that skip the handlers of `exit`.

use std::ffi::c_int;

use crate::start::end;
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
