//! Ways to end the process that skip the handlers of `exit`, or to become another program.

use std::ffi::{c_int, c_void};

use super::original;
use crate::start::{end, replace};
use crate::system::exit_now;

#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    end_now(code)
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    end_now(code)
}

pub(super) fn end_now(code: c_int) -> ! {
    end();
    exit_now(code)
}

type Any = *const c_void;

macro_rules! replacing {
    ($($name:ident, $text:literal ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let original = original!($text: fn($($type),*) -> c_int);
            replace(|| unsafe { original($($argument),*) })
        }
    )*};
}

replacing! {
    execve, c"execve"(path: Any, arguments: Any, environment: Any);
    execv, c"execv"(path: Any, arguments: Any);
    execvp, c"execvp"(file: Any, arguments: Any);
    execvpe, c"execvpe"(file: Any, arguments: Any, environment: Any);
    fexecve, c"fexecve"(file: c_int, arguments: Any, environment: Any);
}
