//! The beginning and the end of the recording, and what the virtual machine tells in between.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_turns::begin::{absolute, create, follow_schedule, limit_logs, open_log, variable};
use foretell_turns::kept::RACES;
use foretell_turns::machine::{self, Machine, Others};
use foretell_turns::mode::{self, Mode};
use foretell_turns::scheduler::{self, StrategySettings, replay};
use foretell_turns::system::{kernel_id, process_id, say};
use foretell_turns::thread::{Thread, set_me};
use foretell_turns::turn::Turn;
use foretell_turns::{detect, file, folder};
use foretell_wire::record::{EXIT, SyncOp};
use foretell_wire::settings;

use crate::hooks;
use crate::jdk;
use crate::jni::{Jni, NULL, Object, Tool};
use crate::natives;
use crate::objects;
use crate::rewrite::rewrite;
use crate::thread::{self, AsJava, Java};
use crate::types;

/// The version of the functions for tools that we use.
const VERSION: i32 = 0x3001_0000;
const OK: i32 = 0;

static TOOL: OnceLock<Tool> = OnceLock::new();
/// Classes get hooks.
static REWRITES: AtomicBool = AtomicBool::new(false);
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// The functions for tools.
pub(crate) fn tool() -> Tool {
    // Nothing is called before they are there.
    *TOOL.get().expect("the virtual machine has begun")
}

/// A Java virtual machine. Of its threads those that run no code of the program release nothing.
static JAVA: Machine = Machine {
    keeps_turn: |thread: &Thread| thread.java().keeps_turn.get() > 0,
    allows_cancellation: || false,
    end_cancelled: |_| {},
    do_cancellable: |act| act(),
    others: |_, _| Others { threads: false, handlers: false },
    is_of_library: |name| name.starts_with("java."),
};

/// What the virtual machine passes to agents.
#[repr(C)]
struct Machinery {
    functions: *const [*const c_void; 8],
}

type GetEnv = unsafe extern "system" fn(*mut Machinery, *mut Tool, i32) -> i32;

/// The virtual machine loads the agent before anything else.
///
/// # Safety
///
/// It passes its own table of functions.
#[unsafe(no_mangle)]
unsafe extern "system" fn Agent_OnLoad(machine: *mut Machinery, _: *mut c_char, _: *mut c_void) -> i32 {
    const GET_ENV: usize = 6;
    let Some(folder) = variable(&settings::LOG).map(absolute) else { return OK };
    folder::set(folder);
    let mut found = std::mem::MaybeUninit::<Tool>::uninit();
    // SAFETY: the table has this function at this place.
    let ask = unsafe { std::mem::transmute::<*const c_void, GetEnv>((*(*machine).functions)[GET_ENV]) };
    // SAFETY: it gets the machine, and room for the answer.
    if unsafe { ask(machine, found.as_mut_ptr(), VERSION) } != OK {
        say("nothing is recorded: this Java has no interface for tools");
        return OK;
    }
    // SAFETY: the function has succeeded.
    let _ = TOOL.set(unsafe { found.assume_init() });
    if !listen() {
        say("nothing is recorded: this Java does not let tools see all that is needed");
    }
    OK
}

/// The events that we want, by their numbers.
const INITIALISED: i32 = 50;
const DEATH: i32 = 51;
const THREAD_START: i32 = 52;
const THREAD_END: i32 = 53;
const CLASS: i32 = 54;

fn listen() -> bool {
    // `can_tag_objects`, `can_generate_all_class_hook_events`.
    let capabilities = [1 | 1 << 26, 0, 0, 0];
    let mut callbacks = [std::ptr::null::<c_void>(); 36];
    callbacks[0] = initialised as *const c_void;
    callbacks[1] = death as *const c_void;
    callbacks[2] = thread_start as *const c_void;
    callbacks[3] = thread_end as *const c_void;
    callbacks[4] = class as *const c_void;
    let bytes = i32::try_from(size_of_val(&callbacks)).unwrap_or(0);
    tool().add_capabilities(capabilities.as_ptr()) == OK
        && tool().set_callbacks(callbacks.as_ptr(), bytes) == OK
        && [INITIALISED, DEATH, THREAD_START, THREAD_END, CLASS]
            .into_iter()
            .all(|event| tool().set_event(1, event, NULL) == OK)
}

/// The virtual machine is ready, and the calling thread is going to run the program.
extern "system" fn initialised(_: Tool, jni: Jni, main: Object) {
    if types::prepare(jni).is_none() || hooks::define(jni).is_none() {
        return say("nothing is recorded: this version of Java is not known (11 to 25 are)");
    }
    if begin(jni, main).is_none() {
        return;
    }
    REWRITES.store(true, Ordering::SeqCst);
}

fn begin(jni: Jni, object: Object) -> Option<()> {
    let detects = variable(&settings::DETECT).as_deref() == Some("1");
    if variable(&settings::ORDER).as_deref() == Some(settings::STRIPED) {
        say("Java programs are recorded in serial order only, so FORETELL_ORDER is ignored");
    }
    mode::set(Mode::Random);
    let seed = variable(&settings::SEED).and_then(|seed| seed.parse().ok()).unwrap_or(settings::DEFAULT_SEED);
    machine::set(&JAVA);
    limit_logs();
    follow_schedule();
    let folder = folder::path()?;
    let name = open_log(folder)?;
    file::open().then_some(())?;
    if detects {
        detect::begin(|| create(&RACES, &name, "races"));
    }
    scheduler::prepare();
    let main = Java::new(0);
    main.kernel_id.store(kernel_id(), Ordering::Relaxed);
    main.is_fresh.set(true);
    scheduler::begin(main, seed);
    if let Some(wanted) = StrategySettings::read(variable).as_ref() {
        scheduler::hunt(wanted, seed, format!("{folder}/{}.triggers", process_id()));
    }
    set_me(Some(main));
    let turn = Turn::of(main);
    turn.log_sync(SyncOp::Begin, 0, 0);
    thread::add(objects::address(jni, &turn, object), main);
    Some(())
}

extern "system" fn thread_start(_: Tool, jni: Jni, thread: Object) {
    if REWRITES.load(Ordering::Relaxed) {
        natives::begin(jni, thread);
    }
}

extern "system" fn thread_end(_: Tool, _: Jni, _: Object) {
    natives::end();
}

/// The virtual machine ends: the program has come to its end, or has called `exit`.
extern "system" fn death(_: Tool, _: Jni) {
    let Some(turn) = Turn::alone() else { return };
    if HAS_ENDED.swap(true, Ordering::SeqCst) {
        return;
    }
    if mode::is_scheduled() {
        replay::wait(&turn, replay::Point::Between);
    } else {
        scheduler::let_others_go_on(&turn);
    }
    replay::end();
    turn.log_sync(SyncOp::End, usize::try_from(EXIT).unwrap_or(1), 0);
    scheduler::save_lessons();
    turn.me.log().show();
    detect::tell_counts();
    file::set_ended(true);
    // Threads that are left stay where they are.
    std::mem::forget(turn);
}

/// A class is loaded.
extern "system" fn class(
    tool: Tool,
    _: Jni,
    _: Object,
    loader: Object,
    name: *const c_char,
    _: Object,
    length: i32,
    bytes: *const u8,
    new_length: *mut i32,
    new_bytes: *mut *mut u8,
) {
    if !REWRITES.load(Ordering::Relaxed) || loader.is_null() || name.is_null() {
        return;
    }
    // SAFETY: it is not null, and ends with a zero.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if jdk::is_of_jdk(name) {
        return;
    }
    // SAFETY: the virtual machine passes so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, usize::try_from(length).unwrap_or(0)) };
    match rewrite(bytes) {
        Ok(Some(new)) => {
            let mut at = std::ptr::null_mut();
            let Ok(length) = i32::try_from(new.len()) else { return };
            if tool.allocate(length.into(), &mut at) == OK {
                // SAFETY: there is room for so many bytes, and the places for the answer are the caller's.
                unsafe {
                    std::ptr::copy_nonoverlapping(new.as_ptr(), at, new.len());
                    new_length.write(length);
                    new_bytes.write(at);
                }
            }
        }
        Ok(None) => {}
        Err(error) => {
            let name = String::from_utf8_lossy(name);
            say(&format!("the class {name} is not recorded: {error}"));
        }
    }
}
