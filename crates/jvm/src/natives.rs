//! Native methods of the library that are replaced: what threads do with each other.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use foretell_turns::scheduler::{self, Helper, RunState, WakeReason, wake_waiters};
use foretell_turns::system::{kernel_id, now, pause};
use foretell_turns::thread::set_me;
use foretell_turns::turn::{Turn, deadline_in};
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::{Record, SyncOp};
use foretell_wire::thread_name;

use crate::agent::tool;
use crate::boundary;
use crate::jni::{Id, Jni, NULL, NativeMethod, Object};
use crate::monitors::{self, Waited};
use crate::objects;
use crate::sites;
use crate::thread::{self, AsJava, Java, this};

const MILLISECOND: u64 = 1_000_000;

type Start = unsafe extern "system" fn(Jni, Object);
type Wait = unsafe extern "system" fn(Jni, Object, i64);
type Sleep = unsafe extern "system" fn(Jni, Object, i64);

/// What the virtual machine does itself.
struct Originals {
    start: Start,
    interrupt: Start,
    give_way: Start,
    wait: Wait,
    sleep: Sleep,
    /// It sleeps by nanoseconds, not by milliseconds.
    sleeps_nanoseconds: bool,
    /// Where a thread is told that it was interrupted.
    interrupted: Id,
}

// SAFETY: ids and functions are good on all threads.
unsafe impl Send for Originals {}
// SAFETY: as above.
unsafe impl Sync for Originals {}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

/// A function of the virtual machine that its own library calls.
fn original<F: Copy>(name: &std::ffi::CStr) -> Option<F> {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: the callers name functions with their types, and a pointer to a function is a pointer.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut libc::c_void, F>(&found) })
}

/// Takes the places of the native methods. None if this is another virtual machine than those that we know.
pub(crate) fn replace(jni: Jni) -> Option<()> {
    let thread = jni.class(c"java/lang/Thread");
    let object = jni.class(c"java/lang/Object");
    let holder = jni.class(c"jdk/internal/misc/Unsafe");
    let by_nanoseconds = original::<Sleep>(c"JVM_SleepNanos");
    let originals = Originals {
        start: original(c"JVM_StartThread")?,
        interrupt: original(c"JVM_Interrupt")?,
        give_way: original(c"JVM_Yield")?,
        wait: original(c"JVM_MonitorWait")?,
        sleep: by_nanoseconds.or_else(|| original(c"JVM_Sleep"))?,
        sleeps_nanoseconds: by_nanoseconds.is_some(),
        interrupted: jni.field(thread, c"interrupted".as_ptr(), c"Z".as_ptr()),
    };
    ORIGINALS.set(originals).ok()?;
    let nothing = c"()V";
    let long = c"(J)V";
    register(jni, thread, &[(c"start0", nothing, start as *const _)])?;
    register(jni, thread, &[(c"interrupt0", nothing, interrupt as *const _)])?;
    register(jni, thread, &[(c"yield", nothing, give_way as *const _)])
        .or_else(|| register(jni, thread, &[(c"yield0", nothing, give_way as *const _)]))?;
    register(jni, thread, &[(c"sleep", long, sleep as *const _)])
        .or_else(|| register(jni, thread, &[(c"sleep0", long, sleep as *const _)]))
        .or_else(|| register(jni, thread, &[(c"sleepNanos0", long, sleep as *const _)]))?;
    register(jni, object, &[(c"wait", long, wait as *const _)])
        .or_else(|| register(jni, object, &[(c"wait0", long, wait as *const _)]))?;
    register(jni, holder, &[(c"park", c"(ZJ)V", park as *const _)])?;
    register(jni, holder, &[(c"unpark", c"(Ljava/lang/Object;)V", unpark as *const _)])
}

fn register(
    jni: Jni,
    class: Object,
    methods: &[(&std::ffi::CStr, &std::ffi::CStr, *const libc::c_void)],
) -> Option<()> {
    let table: Vec<NativeMethod> = methods
        .iter()
        .map(|&(name, signature, function)| NativeMethod {
            name: name.as_ptr(),
            signature: signature.as_ptr(),
            function,
        })
        .collect();
    let is_done = jni.register(class, table.as_ptr(), 1) == 0;
    (!jni.forget_exception() && is_done).then_some(())
}

/// Calls what the virtual machine does itself.
macro_rules! pass_on {
    ($name:ident($($argument:expr),*)) => {
        if let Some(originals) = ORIGINALS.get() {
            // SAFETY: it gets the arguments that we have got.
            unsafe { (originals.$name)($($argument),*) }
        }
    };
}

/// The turn of the calling thread, to synchronise, if it is recorded.
fn alone() -> Option<Turn> {
    let turn = Turn::alone()?;
    sites::tell(&turn);
    Some(turn)
}

extern "system" fn start(jni: Jni, new: Object) {
    let Some(turn) = alone() else {
        return pass_on!(start(jni, new));
    };
    if is_of_machine(jni, new) {
        return pass_on!(start(jni, new));
    }
    boundary::order_if_in_library(&turn);
    turn.meeting();
    scheduler::wait_for_ends();
    let child = Java::new(scheduler::next_id());
    let object = objects::address(jni, &turn, new);
    thread::add(object, child);
    pass_on!(start(jni, new));
    if jni.has_exception() != 0 {
        return thread::remove(object);
    }
    turn.log_sync(SyncOp::Fork, child.id as usize, 0);
    turn.me.adopt(child);
    scheduler::add(child);
    // The library holds the monitor of the new thread's object, which that thread wants when it ends.
    turn.me.java().meets.set(true);
}

/// Whether a thread runs no code of the program, but what the virtual machine needs now and then.
fn is_of_machine(jni: Jni, thread: Object) -> bool {
    let class = jni.class_of(thread);
    let name = tool().class_name(class);
    jni.delete_local(class);
    [&b"jdk/internal/"[..], b"java/lang/ref/", b"sun/"].iter().any(|package| name.starts_with(package))
}

/// A thread begins, and waits for its first turn.
pub(crate) fn begin(jni: Jni, object: Object) {
    let Some(me) = objects::known(object).and_then(thread::by_object).filter(|me| me.is_fresh.get()) else {
        return;
    };
    if this().is_some() {
        return;
    }
    me.kernel_id.store(kernel_id(), Ordering::Relaxed);
    let (name, is_daemon) = tool().about_thread(jni, object);
    me.is_daemon.store(is_daemon, Ordering::Relaxed);
    let turn = Turn::of(me);
    scheduler::begin_thread(me);
    set_me(Some(me));
    turn.log_sync(SyncOp::Begin, 0, 0);
    tell_name(&turn, &name);
}

/// Tells the log what a thread is called.
pub(crate) fn tell_name(turn: &Turn, name: &[u8]) {
    for (object, other) in thread_name::records(turn.me.id, name) {
        turn.log_sync_record(&Record::Sync { site: 0, op: SyncOp::Name, object, other });
    }
}

/// The calling thread ends.
pub(crate) fn end() {
    let Some(me) = this().filter(|me| !me.has_ended.load(Ordering::Relaxed)) else { return };
    if !tool().frames(0, 1).is_empty() {
        // It is in the midst of ending the whole process, which is told next.
        return;
    }
    let Some(turn) = alone() else { return };
    boundary::end(&turn);
    if me.id == 0 {
        return end_main(me, &turn);
    }
    turn.due();
    boundary::order_if_in_library(&turn);
    turn.log_sync(SyncOp::End, 0, 0);
    me.has_ended.store(true, Ordering::Relaxed);
    set_me(None);
    wake_waiters(me.end_place(), usize::MAX);
    wake_waiters(main_place(), usize::MAX);
    scheduler::note_end();
    scheduler::go_away(me, RunState::Done);
    me.log().give_back();
}

/// What the main thread waits on when it has nothing more to do.
fn main_place() -> usize {
    std::ptr::from_ref(&ORIGINALS) as usize
}

/// The main thread has nothing more to do, but to end the process once others are done.
fn end_main(me: &Java, turn: &Turn) {
    me.has_ended.store(true, Ordering::Relaxed);
    wake_waiters(me.end_place(), usize::MAX);
    while !thread::only_daemons_are_left() {
        turn.wait(main_place(), None, Helper::Waker);
    }
}

/// Waits for the end of a thread, as long as that is wanted; others are no threads.
pub(crate) fn join(jni: Jni, turn: &Turn, object: Object, milliseconds: i64) {
    let Some(other) =
        objects::known(object).and_then(thread::by_object).filter(|other| other.id != turn.me.id)
    else {
        return;
    };
    let java = turn.me.java();
    turn.meeting();
    let limit = u64::try_from(milliseconds).ok().filter(|&limit| limit > 0);
    let deadline = limit.map(|limit| deadline_in(limit.saturating_mul(MILLISECOND)));
    java.is_interrupted.set(is_interrupted(jni, object_of_caller()));
    java.is_interruptible.set(true);
    while !other.has_ended.load(Ordering::Relaxed) && !java.is_interrupted.get() {
        let wait = || turn.wait(other.end_place(), deadline, Helper::Waker);
        if turn.joining(other.id, wait) == WakeReason::TimedOut {
            break;
        }
    }
    java.is_interruptible.set(false);
    if !other.has_ended.load(Ordering::Relaxed) {
        // That it has not ended yet is something that its end would change.
        return turn.fence(turn.me.site.get());
    }
    if other.id != 0 {
        if limit.is_some() {
            // Who waits no longer than a time does not wait for ever: such a join is part of no deadlock.
            turn.fence(turn.me.site.get());
        }
        turn.log_sync(SyncOp::Join, other.id as usize, 0);
        wait_until_gone(object);
    } else {
        turn.fence(turn.me.site.get());
    }
}

/// Waits until the virtual machine, too, knows that the thread has ended: it takes no turn any more.
fn wait_until_gone(thread: Object) {
    const IS_ALIVE: i32 = 1;
    const PAUSE: u64 = 50_000;
    const PATIENCE: u64 = 2_000_000_000;
    let begin = now();
    let mut state = IS_ALIVE;
    while state & IS_ALIVE != 0 && now().saturating_sub(begin) < PATIENCE {
        if tool().thread_state(thread, &mut state) != 0 {
            return;
        }
        if state & IS_ALIVE != 0 {
            pause(PAUSE);
        }
    }
}

/// The object of the calling thread.
fn object_of_caller() -> Object {
    let mut thread = NULL;
    tool().current_thread(&mut thread);
    thread
}

fn is_interrupted(jni: Jni, thread: Object) -> bool {
    let Some(originals) = ORIGINALS.get().filter(|originals| !originals.interrupted.is_null()) else {
        return false;
    };
    !thread.is_null() && jni.get_boolean(thread, originals.interrupted) != 0
}

/// The thread learns that it was interrupted.
fn throw_interrupted(jni: Jni) {
    let caller = object_of_caller();
    if let Some(originals) = ORIGINALS.get().filter(|originals| !originals.interrupted.is_null()) {
        jni.set_boolean(caller, originals.interrupted, 0);
    }
    let class = jni.class(c"java/lang/InterruptedException");
    if !class.is_null() {
        jni.throw_new(class, std::ptr::null());
    }
}

extern "system" fn wait(jni: Jni, object: Object, milliseconds: i64) {
    let Some(turn) = alone() else {
        return pass_on!(wait(jni, object, milliseconds));
    };
    let is_wrong = milliseconds < 0 || is_interrupted(jni, object_of_caller());
    let limit = u64::try_from(milliseconds).unwrap_or(0).saturating_mul(MILLISECOND);
    let deadline = (limit > 0).then(|| deadline_in(limit));
    let waited = if is_wrong { Waited::NotHeld } else { monitors::wait(jni, &turn, object, deadline) };
    match waited {
        Waited::Over => {}
        Waited::Interrupted => {
            drop(turn);
            throw_interrupted(jni);
        }
        Waited::NotHeld => {
            // The library's own code waits, or the program does what it must not.
            boundary::order_if_in_library(&turn);
            turn.fence(turn.me.site.get());
            turn.away(|| pass_on!(wait(jni, object, milliseconds)));
            turn.fence(turn.me.site.get());
        }
    }
}

extern "system" fn sleep(jni: Jni, class: Object, time: i64) {
    let Some(turn) = alone().filter(|_| time >= 0) else {
        return pass_on!(sleep(jni, class, time));
    };
    let unit =
        if ORIGINALS.get().is_some_and(|originals| originals.sleeps_nanoseconds) { 1 } else { MILLISECOND };
    let java = turn.me.java();
    boundary::order_if_in_library(&turn);
    java.is_interrupted.set(is_interrupted(jni, object_of_caller()));
    java.is_interruptible.set(true);
    let deadline = deadline_in(time.cast_unsigned().saturating_mul(unit));
    let mut reason = WakeReason::Woken;
    while !java.is_interrupted.get() && reason != WakeReason::TimedOut {
        reason = turn.wait(java.place(), Some(deadline), Helper::Waker);
    }
    java.is_interruptible.set(false);
    if java.is_interrupted.get() {
        turn.fence(turn.me.site.get());
        drop(turn);
        throw_interrupted(jni);
    }
}

extern "system" fn give_way(jni: Jni, class: Object) {
    match alone() {
        Some(turn) => turn.yield_turn(),
        None => pass_on!(give_way(jni, class)),
    }
}

extern "system" fn interrupt(jni: Jni, object: Object) {
    pass_on!(interrupt(jni, object));
    let Some(turn) = alone() else { return };
    // Pools wake their idle threads like that.
    if !boundary::is_within_library(turn.me.java()) {
        turn.fence(turn.me.site.get());
    }
    if let Some(other) = objects::known(object).and_then(thread::by_object) {
        other.permit.set(true);
        other.is_interrupted.set(true);
        if other.is_interruptible.get() {
            wake_waiters(other.place(), 1);
            // It may wait for the end of another thread, with others.
            thread::each(|thread| drop(wake_waiters(thread.end_place(), usize::MAX)));
        }
    }
}

/// Where the permits of threads are in the log, below all objects.
const PERMITS: u64 = 1 << 20;

/// Tells the log that a thread takes or gives a permit.
fn tell_permit(turn: &Turn, of: &Java, written: u64) {
    if boundary::is_within_library(turn.me.java()) {
        return;
    }
    let (site, addr) = (turn.me.site.get(), PERMITS + 16 * u64::from(of.id));
    let read = u64::from(of.permit.get());
    turn.log(&Record::Rmw { site, addr, size: 8, read, written, order: MemoryOrder::SeqCst });
    turn.log_branch(site, None);
}

extern "system" fn park(jni: Jni, _: Object, is_absolute: u8, time: i64) {
    let Some(turn) = alone() else {
        return outside::park(is_absolute != 0, time);
    };
    let java = turn.me.java();
    boundary::order_if_in_library(&turn);
    java.is_interruptible.set(true);
    let deadline = deadline_of(is_absolute != 0, time);
    let is_over = deadline.is_some_and(|deadline| deadline <= scheduler::clock());
    if !java.permit.get() && !is_over && !is_interrupted(jni, object_of_caller()) {
        turn.wait(java.place(), deadline, Helper::Waker);
    }
    java.is_interruptible.set(false);
    tell_permit(&turn, java, 0);
    java.permit.set(false);
    boundary::order_if_in_library(&turn);
}

/// When a thread stops to wait for a permit, in counted time.
fn deadline_of(is_absolute: bool, time: i64) -> Option<u64> {
    let time = time.cast_unsigned();
    if is_absolute {
        let epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let left =
            time.saturating_mul(MILLISECOND).saturating_sub(u64::try_from(epoch.as_nanos()).unwrap_or(0));
        return Some(deadline_in(left));
    }
    (time > 0).then(|| deadline_in(time))
}

extern "system" fn unpark(jni: Jni, _: Object, thread: Object) {
    if thread.is_null() {
        return;
    }
    let other = objects::known(thread).and_then(thread::by_object);
    let Some(turn) = alone() else {
        return match other {
            Some(other) => {
                scheduler::note_external();
                other.permit.set(true);
                scheduler::wake_externally(other.place(), 1);
            }
            None => outside::unpark(jni, thread),
        };
    };
    boundary::order_if_in_library(&turn);
    match other {
        Some(other) => {
            tell_permit(&turn, other, 1);
            other.permit.set(true);
            wake_waiters(other.place(), 1);
            turn.meeting();
        }
        None => outside::unpark(jni, thread),
    }
}

/// Permits of threads that are not recorded. To return without one is allowed, so all of them look again now and then.
mod outside {
    use std::sync::{Condvar, Mutex, PoisonError};
    use std::time::Duration;

    use super::{Jni, Object};

    static COUNT: Mutex<u64> = Mutex::new(0);
    static CHANGED: Condvar = Condvar::new();
    const LONGEST: Duration = Duration::from_millis(10);

    pub(super) fn park(is_absolute: bool, time: i64) {
        let limit = match u64::try_from(time) {
            Ok(time) if time > 0 && !is_absolute => Duration::from_nanos(time).min(LONGEST),
            _ => LONGEST,
        };
        let count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
        drop(CHANGED.wait_timeout(count, limit));
    }

    pub(super) fn unpark(_: Jni, _: Object) {
        *COUNT.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        CHANGED.notify_all();
    }
}
