//! What a called function that is not part of the module may do to memory unseen.
//!
//! Whatever is not named here counts as unknown: it may read and write everything.

use foretell_wire::library;
use foretell_wire::threads::{self, Known};

use crate::ir::{Opcode, Value};
use crate::rust_name;

/// How a call deals with the program's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// Nothing is called at all.
    Nothing,
    /// It touches no memory that the program reads or writes itself, or the runtime tells what it does.
    Quiet,
    /// A hook takes its place: it does what the function does, and tells what memory that touches.
    Performed,
    /// As [`Manner::Quiet`], but it reads the word behind this argument, which tells it what to do.
    Reads(u32),
    /// As [`Manner::Quiet`], but it may come back a second time, from wherever the thread is by then.
    Twice,
    /// Anything.
    Unknown,
}

/// The runtime stands in for these and tells what they do. Functions that are about threads: see [`threads`].
const TOLD: &[&str] = &[
    "_Exit __cxa_end_catch __cxa_guard_abort __cxa_guard_acquire __cxa_guard_release _exit abort accept accept4 aligned_alloc calloc",
    "clock_nanosleep connect epoll_ctl epoll_pwait epoll_wait fdatasync flock free fsync malloc memalign munmap nanosleep pause poll posix_memalign",
    "ppoll pread pread64 pselect pwrite pwrite64 read readv realloc reallocarray recv recvfrom recvmsg select send sendmsg sendto",
    "sigsuspend sigwait sleep syscall usleep wait4 waitpid write writev",
];

/// These touch at most memory that is theirs: the allocator's, the stream's.
const HARMLESS: &[&str] = &[
    "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location getpagesize isalnum isalpha isdigit islower isprint",
    "ispunct isspace isupper isxdigit malloc_usable_size sysconf tolower toupper",
    "exit quick_exit getpid getppid gettid putchar",
    "abs labs llabs acos acosf asin asinf atan atan2 atan2f atanf cbrt cbrtf ceil ceilf cos cosf cosh coshf exp exp2 exp2f expf",
    "fabs fabsf floor floorf fmax fmaxf fmin fminf fmod fmodf hypot hypotf log log10 log10f log2 log2f logf pow powf round roundf",
    "sin sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc truncf __assert_fail __stack_chk_fail",
    // C++: new and delete in all sizes, exceptions, the beginning and the end of the process, and waking who waits
    // for a condition.
    "_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPv _ZdaPv _ZdlPvm",
    "_ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t __cxa_atexit",
    "__cxa_thread_atexit __clang_call_terminate __cxa_allocate_exception __cxa_begin_catch __cxa_free_exception __cxa_get_exception_ptr __cxa_throw",
    "_ZSt9terminatev _ZNSt18condition_variable10notify_oneEv _ZNSt18condition_variable10notify_allEv",
    "_ZNSt18condition_variableC1Ev _ZNSt18condition_variableD1Ev _ZNSt6thread6detachEv _ZNSt6thread6_StateD2Ev",
];

/// Of those that are quiet, these may give memory of the program back: to the C library, or to C++.
const GIVING_BACK: &[&str] = &[
    "free realloc reallocarray __cxa_end_catch __cxa_free_exception _ZNSt6thread6_StateD2Ev",
    "_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t",
];

/// And these allocate memory.
const TAKING: &[&str] = &[
    "aligned_alloc calloc malloc memalign posix_memalign pvalloc valloc __cxa_allocate_exception",
    "_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t",
];

/// What the names of functions begin with that the compiler calls when a check has failed, or to make sure: they look
/// at types, and tell the user.
const CHECKING: &[&str] = &["__ubsan_handle_", "__cfi_"];

/// These write down where the thread is, for it to come back to.
const TWICE: &[&str] = &["_setjmp setjmp sigsetjmp __sigsetjmp"];

/// Functions of Rust's libraries that touch at most memory that is theirs, or whose effects the runtime sees. Not
/// what they are instantiated with: that may be anything, and what it does where it is not instrumented may
/// synchronise.
const RUST: &[&str] = &[
    // Memory comes from `malloc` and goes to `free`.
    "__rustc::__rust_alloc __rustc::__rust_dealloc __rustc::__rust_realloc __rustc::__rust_alloc_zeroed",
    "__rustc::__rust_no_alloc_shim_is_unstable_v2 alloc::raw_vec::RawVecInner::try_allocate_in",
    // Threads end by the functions of the C library.
    "std::sys::thread::unix::Thread::join std::sys::thread::unix::Thread::drop",
    "std::thread::spawnhook::run_spawn_hooks std::thread::spawnhook::ChildSpawnHooks::run",
    "std::thread::spawnhook::SpawnHooks::drop std::thread::functions::sleep std::thread::functions::yield_now",
    // What a thread knows of itself, and how often it is known.
    "std::thread::current::current std::thread::current::current_or_unnamed std::thread::current::id::get_or_init",
    "std::thread::thread::Thread::new std::thread::id::ThreadId::new std::panicking::panic_count::is_zero_slow_path",
    "std::sys::thread_local::destructors::linux_like::register std::sync::mpmc::context::Context::new",
    "std::panicking::catch_unwind::cleanup",
    // They call the program's own functions, and what these do is told by them.
    "std::rt::lang_start_internal test::test_main_static",
    // The size of a new thread's stack is asked from the environment.
    "std::env::_var_os",
];

/// Of these, the ones that only take memory.
const RUST_TAKING: &[&str] = &[
    "__rustc::__rust_alloc __rustc::__rust_alloc_zeroed __rustc::__rust_no_alloc_shim_is_unstable_v2",
    "alloc::raw_vec::RawVecInner::try_allocate_in",
];

/// The functions by which an allocator of a Rust program is called, and whether memory is given back there.
const RUST_ALLOCATOR: &[(&str, bool)] = &[
    ("__rust_alloc", false),
    ("__rust_alloc_zeroed", false),
    ("__rust_dealloc", true),
    ("__rust_realloc", true),
    ("__rg_alloc", false),
    ("__rg_alloc_zeroed", false),
    ("__rg_dealloc", true),
    ("__rg_realloc", true),
];

/// The same, of functions that are known only for what they are instantiated with here: the library's own.
const RUST_INSTANCES: &[&str] = &[
    "<alloc::sync::Arc<std::thread::spawnhook::SpawnHook>>::drop_slow",
    "<alloc::sync::Arc<std::sync::mpmc::context::Inner>>::drop_slow",
];

/// Panics end the function. They read their message, which goes to the user, and count themselves, which only decides
/// what panics do.
fn is_panic(function: Value, path: &str) -> bool {
    function.has_attribute("noreturn")
        && ["core::", "alloc::", "std::"].iter().any(|start| path.starts_with(start))
}

/// These read one word of the program's memory: which thread, which lock, what to run.
const READING: &[(&str, u32)] = &[
    ("_ZNSt6thread4joinEv", 0),
    ("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE", 1),
    ("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", 1),
];

/// These write what they are told to; the number is the position of the format.
const PRINTING: &[(&str, u32)] = &[("printf", 0), ("fprintf", 1), ("puts", 0)];

/// Assembly that does nothing to memory but keep the compiler from moving accesses.
const IDLE_ASSEMBLY: &[&str] = &["", "nop", "pause", "rep; nop", "rep nop", "yield"];

impl Manner {
    pub(crate) fn of(call: Value) -> Manner {
        let callee = call.callee();
        if let Some(text) = callee.assembly() {
            let idle = IDLE_ASSEMBLY.contains(&text.trim());
            return if idle { Manner::Nothing } else { Manner::Unknown };
        }
        if !callee.is_function() || callee.is_defined() {
            return Manner::Unknown;
        }
        let name = callee.name();
        let can_be_replaced = call.opcode() == Some(Opcode::LLVMCall) && !call.is_last_of_function();
        if can_be_replaced && library::hook(&name, call.arguments().len()).is_some() {
            return Manner::Performed;
        }
        match threads::known(&name) {
            Some(Known::Modelled | Known::Harmless) => return Manner::Quiet,
            Some(Known::Fence) => return Manner::Unknown,
            None => {}
        }
        let is_check = CHECKING.iter().any(|start| name.starts_with(start));
        if is_check || is_listed(TOLD, &name) || is_listed(HARMLESS, &name) {
            return Manner::Quiet;
        }
        if is_listed(TWICE, &name) {
            return Manner::Twice;
        }
        if is_quiet_rust(callee, &name) {
            return Manner::Quiet;
        }
        if let Some(&(_, argument)) = READING.iter().find(|(known, _)| *known == name) {
            return Manner::Reads(argument);
        }
        match PRINTING.iter().find(|(known, _)| *known == name) {
            Some(&(_, format))
                if call.arguments().get(format as usize).is_some_and(|&text| prints_numbers(text)) =>
            {
                Manner::Quiet
            }
            _ => Manner::Unknown,
        }
    }
}

/// The function by which a quiet call may give memory back, if it may: its own name, or `free`.
pub(crate) fn gives_back(callee: Value) -> Option<String> {
    let name = callee.name();
    if is_listed(GIVING_BACK, &name) {
        return Some(if name.starts_with("_Zd") { name } else { "free".to_string() });
    }
    let (text, path) = (rust_name::text(&name)?, rust_name::path(&name)?);
    let is_known = is_listed(RUST, &path) || RUST_INSTANCES.contains(&text.as_str());
    (is_known && !is_listed(RUST_TAKING, &path)).then(|| "free".to_string())
}

/// Whether a quiet call allocates memory.
pub(crate) fn takes(callee: Value) -> bool {
    let name = callee.name();
    is_listed(TAKING, &name) || rust_name::path(&name).is_some_and(|path| is_listed(RUST_TAKING, &path))
}

/// Whether the function is the entry of an allocator that the program has defined, and if so, whether memory is given
/// back there.
pub(crate) fn as_allocator(function: &str) -> Option<bool> {
    if is_listed(TAKING, function) || is_listed(GIVING_BACK, function) {
        return Some(is_listed(GIVING_BACK, function));
    }
    let path = rust_name::path(function);
    let path = path.as_deref().map_or(function, |path| path.strip_prefix("__rustc::").unwrap_or(path));
    RUST_ALLOCATOR.iter().find(|(name, _)| *name == path).map(|&(_, gives_back)| gives_back)
}

fn is_quiet_rust(function: Value, name: &str) -> bool {
    let (Some(text), Some(path)) = (rust_name::text(name), rust_name::path(name)) else { return false };
    let is_known = is_listed(RUST, &path) && !rust_name::is_instance(&text);
    is_known || RUST_INSTANCES.contains(&text.as_str()) || is_panic(function, &path)
}

fn is_listed(list: &[&str], name: &str) -> bool {
    list.iter().any(|line| line.split(' ').any(|known| known == name))
}

/// Whether the format is known and asks for nothing that lies behind a pointer.
fn prints_numbers(format: Value) -> bool {
    format.constant_text().is_some_and(|text| {
        let mut conversions = text.split('%').skip(1);
        let is_flag = |c: char| c.is_ascii_digit() || "-+ #0.*'hlLqjzt".contains(c);
        conversions
            .all(|conversion| !conversion.trim_start_matches(is_flag).starts_with(['s', 'S', 'n', 'm']))
    })
}
