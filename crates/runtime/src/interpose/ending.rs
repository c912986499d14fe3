//! Ways to end the process, or to become another program.
//!
//! Before the process ends, the other threads go on as far as they can (see [`exit_soon`]): before anything is
//! destroyed that they use.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::{as_function, original, pass_on};
use crate::start::{end, exit_soon, replace};
use crate::system::exit_now;

type Any = *const c_void;
type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// The function `main` of the program.
static MAIN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// What a program begins with.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __libc_start_main(
    main: Main,
    count: c_int,
    arguments: *mut *mut c_char,
    begin: Any,
    finish: Any,
    loader: Any,
    stack: Any,
) -> c_int {
    MAIN.store(main as *mut c_void, Ordering::SeqCst);
    let original = original!(
        c"__libc_start_main": fn(Main, c_int, *mut *mut c_char, Any, Any, Any, Any) -> c_int
    );
    pass_on!(original(run_main, count, arguments, begin, finish, loader, stack))
}

unsafe extern "C-unwind" fn run_main(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    let main: Main = as_function(MAIN.load(Ordering::SeqCst));
    // SAFETY: the loader has passed this function and its arguments to be called.
    let code = unsafe { main(count, arguments, environment) };
    // Other threads may still use what was on the stack of `main`.
    // SAFETY: the function only moves the stack before it calls ours.
    unsafe { foretell_call_deep(exit_soon_from_main) };
    code
}

extern "C" fn exit_soon_from_main() {
    exit_soon();
}

unsafe extern "C" {
    /// Calls a function with so much of the stack left as it is that no other will use it meanwhile.
    fn foretell_call_deep(function: extern "C" fn());
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.foretell_call_deep,\"ax\",@progbits",
    ".globl foretell_call_deep",
    ".hidden foretell_call_deep",
    ".type foretell_call_deep,@function",
    "foretell_call_deep:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, 131072",
    "and rsp, -16",
    "call rdi",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size foretell_call_deep, . - foretell_call_deep",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text.foretell_call_deep,\"ax\",@progbits",
    ".globl foretell_call_deep",
    ".hidden foretell_call_deep",
    ".type foretell_call_deep,@function",
    "foretell_call_deep:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset x29, -16",
    ".cfi_offset x30, -8",
    "mov x29, sp",
    ".cfi_def_cfa_register x29",
    "sub sp, sp, #32, lsl #12",
    "blr x0",
    "mov sp, x29",
    ".cfi_def_cfa_register sp",
    "ldp x29, x30, [sp], #16",
    "ret",
    ".cfi_endproc",
    ".size foretell_call_deep, . - foretell_call_deep",
    ".popsection",
);

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn exit(code: c_int) -> ! {
    exit_soon();
    pass_on!(original!(c"exit": fn(c_int) -> !)(code))
}

/// Its handlers do not include ours.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn quick_exit(code: c_int) -> ! {
    exit_soon();
    end();
    pass_on!(original!(c"quick_exit": fn(c_int) -> !)(code))
}

#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    exit_soon();
    end_now(code)
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    exit_soon();
    end_now(code)
}

pub(super) fn end_now(code: c_int) -> ! {
    end();
    exit_now(code)
}

macro_rules! replacing {
    ($($name:ident, $text:literal ($file:ident: $kind:ty, $($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($file: $kind, $($argument: $type),*) -> c_int {
            let original = original!($text: fn($kind, $($type),*) -> c_int);
            // SAFETY: the program passes a name that ends with a zero, or null.
            let program = unsafe { $file.name() };
            replace(program, || pass_on!(original($file, $($argument),*)))
        }
    )*};
}

/// What says which program is meant.
trait NamedProgram {
    /// Its name, as far as that is known.
    ///
    /// # Safety
    /// If it is a pointer, it must be one to a text.
    unsafe fn name(&self) -> &CStr;
}

impl NamedProgram for Any {
    unsafe fn name(&self) -> &CStr {
        // SAFETY: it is not null, and the program passes a name that ends with a zero.
        if self.is_null() { c"?" } else { unsafe { CStr::from_ptr(self.cast()) } }
    }
}

impl NamedProgram for c_int {
    unsafe fn name(&self) -> &CStr {
        c"an open file"
    }
}

replacing! {
    execve, c"execve"(path: Any, arguments: Any, environment: Any);
    execv, c"execv"(path: Any, arguments: Any);
    execvp, c"execvp"(file: Any, arguments: Any);
    execvpe, c"execvpe"(file: Any, arguments: Any, environment: Any);
    fexecve, c"fexecve"(file: c_int, arguments: Any, environment: Any);
}
