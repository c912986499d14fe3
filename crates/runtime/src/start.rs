//! The beginning and the end of the recording.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use foretell_turns::begin::{absolute, create, follow_schedule, limit_logs, open_log, variable};
use foretell_turns::machine;
use foretell_wire::log::module::Module;
use foretell_wire::record::{EXIT, SyncOp};
use foretell_wire::settings::{self, Setting};
use foretell_wire::started::How;

use crate::affinity;
use crate::detect;
use crate::file;
use crate::folder;
use crate::functions;
use crate::interpose::thread::{make_end_key, set_end};
use crate::interpose::{console, handlers};
use crate::kept::RACES;
use crate::machine::NATIVE;
use crate::mode::{self, Mode};
use crate::modules;
use crate::programs;
use crate::scheduler::{self, replay};
use crate::shared;
use crate::stripes;
use crate::system::{close, kernel_id, process_id, say, wide};
use crate::thread::{AsNative, Native, me, set_me};
use crate::turn::Turn;

static RECORDING: AtomicBool = AtomicBool::new(false);
/// The process has called `exit`, and what has to be recorded by then was recorded.
static HAS_EXITED: AtomicBool = AtomicBool::new(false);
/// The process that records.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// The loader calls this before the constructors of the program, as it is linked with us.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char) = begin;

extern "C" fn begin(_: c_int, arguments: *const *const c_char) {
    let Some(folder) = variable(&settings::LOG).map(absolute) else { return };
    fix_addresses(arguments);
    // A user who wants the same run with a recording says `0`: the environment is in the memory of the program, and
    // what is there shall be where it was.
    let detects = is_one(&settings::DETECT);
    let striped = variable(&settings::ORDER).as_deref() == Some(settings::STRIPED);
    if detects && striped {
        say("online detection works only with serial order, so FORETELL_ORDER is ignored");
    }
    mode::set(if striped && !detects { Mode::Parallel } else { Mode::Random });
    let seed = variable(&settings::SEED).and_then(|seed| seed.parse().ok()).unwrap_or(settings::DEFAULT_SEED);
    machine::set(&NATIVE);
    folder::set(folder);
    let wanted = scheduler::StrategySettings::read(variable);
    // SAFETY: there is no other thread yet, and nothing borrows it.
    unsafe { *SETTINGS.0.get() = Some(Settings { seed, wanted, detects }) };
    limit_logs();
    make_end_key();
    functions::find_idle();
    console::remember();
    follow_schedule();
    if record(Native::new(0, None)) {
        // SAFETY: both functions live as long as the library.
        unsafe {
            libc::atexit(end);
            libc::pthread_atfork(None, Some(shared::begin_to_share), Some(begin_copy));
        }
    }
}

/// What the environment said at the start.
struct Settings {
    seed: u64,
    /// A strategy, if turns are not given at random.
    wanted: Option<scheduler::StrategySettings>,
    /// Races are looked for, and nothing is recorded.
    detects: bool,
}

/// Written once, before there is a second thread.
struct SettingsCell(UnsafeCell<Option<Settings>>);

// SAFETY: it is written once, before there is a second thread, and only read afterwards.
unsafe impl Sync for SettingsCell {}

static SETTINGS: SettingsCell = SettingsCell(UnsafeCell::new(None));

/// Begins a log for this process, whose only thread is the calling one; says whether that worked.
fn record(main: &'static Native) -> bool {
    // SAFETY: it is written before there is a second thread only.
    let Some(settings) = (unsafe { &*SETTINGS.0.get() }) else { return false };
    let Some(folder) = folder::path() else { return false };
    let Some(name) = open_log(folder) else { return false };
    if !file::open() {
        return false;
    }
    if settings.detects {
        detect::begin(|| create(&RACES, &name, "races"));
    }
    PROCESS.store(process_id(), Ordering::SeqCst);
    HAS_EXITED.store(false, Ordering::SeqCst);
    scheduler::prepare();
    main.kernel_id.store(kernel_id(), Ordering::Relaxed);
    // SAFETY: every thread has a handle.
    main.handle.store(unsafe { libc::pthread_self() }, Ordering::Relaxed);
    scheduler::begin(main, settings.seed);
    if let Some(wanted) = settings.wanted.as_ref().filter(|_| !mode::is_parallel()) {
        let file = format!("{folder}/{}.triggers", process_id());
        scheduler::hunt(wanted, settings.seed, file);
    }
    set_me(Some(main));
    set_end(main);
    let turn = Turn::of(main);
    turn.log_sync(SyncOp::Begin, 0, 0);
    modules::tell_all(&turn);
    shared::tell_all(&turn);
    RECORDING.store(true, Ordering::SeqCst);
    true
}

/// The process ends in good order. Destructors of other libraries may follow, and threads that they wait for: all
/// that is still recorded. A child that still shares our memory, as after `vfork`, is another process.
pub(crate) extern "C" fn end() {
    if !is_recording_process() {
        return;
    }
    let turn = Turn::alone();
    if turn.is_none() && !scheduler::all_are_done() {
        return;
    }
    if RECORDING.load(Ordering::SeqCst) && !HAS_EXITED.swap(true, Ordering::SeqCst) {
        replay::end();
        if let Some(turn) = &turn {
            turn.log_sync(SyncOp::End, wide(EXIT), 0);
        }
        scheduler::save_lessons();
        file::set_ended(true);
    }
    show_all(turn.as_ref());
}

/// The process is about to exit in good order: the other threads go on first, as far as they can.
pub(crate) fn exit_soon() {
    if !RECORDING.load(Ordering::SeqCst) || !is_recording_process() {
        return;
    }
    let Some(turn) = Turn::alone() else { return };
    if mode::is_scheduled() {
        // Others may have to come to their accesses first.
        replay::wait(&turn, replay::Point::Between);
    } else {
        scheduler::let_others_go_on(&turn);
    }
    handlers::begin(&turn);
}

/// Whether the process is being recorded just now.
pub(crate) fn is_recording() -> bool {
    RECORDING.load(Ordering::SeqCst)
}

/// Whether the caller is a thread of the process that is recorded. A child that still shares our memory, as after
/// `vfork`, is not.
pub(crate) fn is_recording_process() -> bool {
    PROCESS.load(Ordering::SeqCst) == process_id()
}

/// Another program takes the place of this one, unless the attempt fails.
pub(crate) fn replace<R>(program: &CStr, act: impl FnOnce() -> R) -> R {
    let ours = RECORDING.load(Ordering::SeqCst) && is_recording_process();
    programs::note(if ours { How::Instead } else { How::Beside }, process_id(), program);
    if ours {
        show_all(Turn::take().as_ref());
        file::set_ended(true);
    }
    affinity::free_caller();
    let result = act();
    programs::note(How::Failed, process_id(), program);
    if ours {
        file::set_ended(false);
    }
    result
}

/// The detector sees everything, and tells how often it saw what it has found.
fn show_all(turn: Option<&Turn>) {
    if let Some(turn) = turn {
        turn.me.log().show();
    }
    detect::tell_counts();
}

/// A copy of the process has only one thread, and the log belongs to the original: the copy begins one of its own.
extern "C" fn begin_copy() {
    let Some(me) = me() else { return };
    let original = disown();
    record(me.native().copy());
    original.into_iter().for_each(close);
}

/// A copy of the process that shall not be recorded leaves the log to the original.
pub(crate) fn leave_copy() {
    disown().into_iter().for_each(close);
}

/// The process is a copy, and has nothing to do with what the original records. Returns the original's file.
fn disown() -> Option<c_int> {
    set_me(None);
    RECORDING.store(false, Ordering::SeqCst);
    // As long as this is open, it can be seen that there is a thread that will go on with a log of its own.
    let original = file::disown();
    detect::forget();
    stripes::forget();
    shared::forget();
    scheduler::forget();
    affinity::begin_copy();
    replay::let_go();
    original
}

/// A module of the program tells where its hooks stand. Returns 0 if the process will never be recorded: what decides
/// that is in the environment when it begins.
#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_module(
    table: *const u8,
    bytes: usize,
    globals: *const u64,
    globals_count: usize,
) -> u8 {
    let may_record = u8::from(folder::path().is_some());
    let Some(turn) = Turn::alone() else { return may_record };
    // SAFETY: the pass has made these two constants.
    let content = unsafe { std::slice::from_raw_parts(table, bytes) };
    // SAFETY: as above.
    let globals = unsafe { std::slice::from_raw_parts(globals, globals_count) };
    let module = Module { address: table as u64, table: content, globals: globals.to_vec() };
    scheduler::note_module(&module);
    detect::module(module.address, content);
    modules::add(&turn, module.encode());
    may_record
}

/// Addresses become values in the trace; for the same run to give the same trace they must not be random. If they
/// are, the process starts again without that.
fn fix_addresses(arguments: *const *const c_char) {
    const ASK: libc::c_ulong = 0xFFFF_FFFF;
    let fixed = libc::c_ulong::try_from(libc::ADDR_NO_RANDOMIZE).unwrap_or(0);
    // SAFETY: the call only asks.
    let now = unsafe { libc::personality(ASK) };
    let Ok(now) = libc::c_ulong::try_from(now) else { return };
    if now & fixed != 0 || variable(&settings::STARTED_AGAIN).is_some() {
        return;
    }
    // SAFETY: the texts end with a zero, the arguments are those that the loader has passed, and there is one thread.
    unsafe {
        if libc::personality(now | fixed) >= 0 {
            libc::setenv(settings::STARTED_AGAIN.name.as_ptr(), c"1".as_ptr(), 1);
            libc::execv(c"/proc/self/exe".as_ptr(), arguments);
        }
    }
}

/// Whether the variable is `1`. Asks without allocating anything: that would move what the program allocates later.
fn is_one(setting: &Setting) -> bool {
    // SAFETY: the name ends with a zero, and there is one thread.
    let value = unsafe { libc::getenv(setting.name.as_ptr()) };
    // SAFETY: it is not null, and the environment is of texts that end with a zero; there is one thread, so nothing
    // changes it.
    !value.is_null() && unsafe { CStr::from_ptr(value) } == c"1"
}
