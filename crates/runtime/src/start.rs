//! The beginning and the end of the recording.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_wire::log::module::Module;
use foretell_wire::record::SyncOp;

use crate::file;
use crate::interpose::thread::make_end_key;
use crate::order::set_striped;
use crate::scheduler;
use crate::system::{close, errno, kernel_id, say};
use crate::thread::{Thread, set_me};
use crate::turn::Turn;

/// The folder for the log; without it nothing is recorded. Each process makes a file of its own.
const LOG_FOLDER: &CStr = c"FORETELL_LOG";
/// The seed of all choices.
const SEED: &CStr = c"FORETELL_SEED";
/// How the order of what threads do is known: `serial` or `striped`.
const ORDER: &CStr = c"FORETELL_ORDER";
/// The process has been started again with fixed addresses.
const STARTED_AGAIN: &CStr = c"FORETELL_STARTED_AGAIN";

static RECORDING: AtomicBool = AtomicBool::new(false);

/// The loader calls this before the constructors of the program, as it is linked with us.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char) = begin;

extern "C" fn begin(_: c_int, arguments: *const *const c_char) {
    let Some(folder) = variable(LOG_FOLDER) else { return };
    fix_addresses(arguments);
    let Some(file) = open_log(&folder) else { return };
    if !file::open(file) {
        return;
    }
    set_striped(variable(ORDER).as_deref() == Some("striped"));
    scheduler::prepare();
    let seed = variable(SEED).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let main = Thread::new(0, None);
    main.kernel_id.store(kernel_id(), Ordering::Relaxed);
    main.handle.store(unsafe { libc::pthread_self() }, Ordering::Relaxed);
    scheduler::begin(main, seed);
    set_me(Some(main));
    make_end_key(main);
    Turn::of(main).log_sync(SyncOp::Begin, 0, 0);
    RECORDING.store(true, Ordering::SeqCst);
    unsafe {
        libc::atexit(end);
        libc::pthread_atfork(None, None, Some(forget));
    }
}

/// The process ends here. What follows is not recorded, be it the destructors of other libraries.
pub(crate) extern "C" fn end() {
    let turn = Turn::alone();
    if turn.is_none() && !scheduler::all_are_done() {
        return;
    }
    if RECORDING.swap(false, Ordering::SeqCst) {
        if let Some(turn) = &turn {
            turn.log_sync(SyncOp::End, 0, 0);
        }
        file::set_ended(true);
    }
    set_me(None);
}

/// A copy of the process has only one thread, and the log belongs to the original: the copy goes on unrecorded.
extern "C" fn forget() {
    set_me(None);
    RECORDING.store(false, Ordering::SeqCst);
    file::disown();
}

/// A module of the program tells where its hooks stand.
#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_module(
    table: *const u8,
    bytes: usize,
    globals: *const u64,
    globals_count: usize,
) {
    let Some(turn) = Turn::alone() else { return };
    // The pass has made these two constants.
    let content = unsafe { std::slice::from_raw_parts(table, bytes) };
    let globals = unsafe { std::slice::from_raw_parts(globals, globals_count) };
    let module = Module { address: table as u64, table: content, globals: globals.to_vec() };
    turn.me.log().module(&module.encode());
}

/// Addresses become values in the trace; for the same run to give the same trace they must not be random. If they are,
/// the process starts again without that.
fn fix_addresses(arguments: *const *const c_char) {
    const ASK: libc::c_ulong = 0xFFFF_FFFF;
    let fixed = libc::c_ulong::try_from(libc::ADDR_NO_RANDOMIZE).unwrap_or(0);
    let now = unsafe { libc::personality(ASK) };
    let Ok(now) = libc::c_ulong::try_from(now) else { return };
    if now & fixed != 0 || variable(STARTED_AGAIN).is_some() {
        return;
    }
    unsafe {
        if libc::personality(now | fixed) >= 0 {
            libc::setenv(STARTED_AGAIN.as_ptr(), c"1".as_ptr(), 1);
            libc::execv(c"/proc/self/exe".as_ptr(), arguments);
        }
    }
}

/// The file for the log of this process, with a number that the program does not use itself.
fn open_log(folder: &str) -> Option<c_int> {
    const HIGH: c_int = 900;
    let path = format!("{folder}/{}.ftraw", std::process::id());
    let name = CString::new(path.as_str()).ok()?;
    let how = libc::O_CREAT | libc::O_TRUNC | libc::O_RDWR | libc::O_CLOEXEC;
    let low = unsafe { libc::open(name.as_ptr(), how, 0o644) };
    if low < 0 {
        say(&format!(
            "nothing is recorded: cannot write {path}: {}",
            std::io::Error::from_raw_os_error(errno())
        ));
        return None;
    }
    let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, HIGH) };
    if high < 0 {
        return Some(low);
    }
    close(low);
    Some(high)
}

fn variable(name: &CStr) -> Option<String> {
    let value = unsafe { libc::getenv(name.as_ptr()) };
    let value = (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })?;
    Some(value.to_string_lossy().into_owned())
}
