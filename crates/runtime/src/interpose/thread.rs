//! The life of threads.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_wire::record::SyncOp;
use libc::{pthread_t, timespec};

use super::blocking::received;
use super::lock::abandon_locks;
use super::processor::attributes;
use super::time::{deadline, is_refused};
use super::{as_function, original, pass_on};
use crate::affinity;
use crate::allocator;
use crate::functions;
use crate::scheduler::{self, Helper, RunState, WakeReason, wake_waiters};
use crate::statics;
use crate::system::{block_signals, kernel_id, say, set_signals};
use crate::thread::{self, AsNative, Native, Start, Thread, set_me};
use crate::turn::Turn;

/// The key of the thread-specific value whose destructor ends the recording of a thread.
static END_KEY: AtomicU32 = AtomicU32::new(0);

/// Destructors of thread-specific values run in rounds; so many of them are left to those of the program.
const ROUNDS: u32 = 3;

/// The number of the first thread that is started.
const FIRST: u32 = 1;

/// Makes the key.
pub(crate) fn make_end_key() {
    let mut key = 0;
    // SAFETY: the function that is called at the end lives as long as the library.
    if unsafe { libc::pthread_key_create(&mut key, Some(ending)) } != 0 {
        say("cannot follow the ends of threads");
    }
    END_KEY.store(key, Ordering::Relaxed);
}

/// The end of the calling thread is to be recorded.
pub(crate) fn set_end(thread: &'static Thread) {
    // SAFETY: the key was made at the start.
    unsafe { libc::pthread_setspecific(END_KEY.load(Ordering::Relaxed), (thread as *const Thread).cast()) };
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_create(
    handle: *mut pthread_t,
    how: *const c_void,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let original =
        original!(c"pthread_create": fn(*mut pthread_t, *const c_void, Start, *mut c_void) -> c_int);
    allocator::ask_all();
    let Some(turn) = Turn::alone() else {
        affinity::free_caller();
        return pass_on!(original(handle, how, start, argument));
    };
    turn.meeting();
    // Whether the stack of an ended thread can be used again shall not depend on how fast the kernel is.
    scheduler::wait_for_ends();
    let thread = Native::new(scheduler::next_id(), Some((start, argument)));
    thread.library.is_spawned.set(turn.me.native().library.spawns.get());
    if turn.me.stack.is_in_known_library() {
        thread.stack.leave_for_known_library(0);
        thread.channel.set(turn.me.native().channel.get());
    }
    if thread.id == FIRST {
        affinity::open();
    }
    // The new thread may run where this one may, and has no home yet.
    affinity::free(turn.me);
    // A handler that came before the thread is known could wait for others, and no thread would notice.
    let signals = block_signals();
    // What is put off for this thread is not kept from the new one.
    let kept = signals & !turn.me.put_off.load(Ordering::Relaxed);
    thread.signals.set(signals_of(how).unwrap_or(kept));
    let result = pass_on!(original(handle, how, run, std::ptr::from_ref(thread).cast_mut().cast()));
    set_signals(signals);
    if result == 0 {
        // SAFETY: the original has succeeded, and written the handle there.
        thread.handle.store(unsafe { handle.read() }, Ordering::Relaxed);
        // The new thread waits for its first turn, so until now no thread but this one has written anything.
        if thread.id == FIRST {
            statics::tell(&turn);
        }
        received(&turn, handle.cast(), size_of::<pthread_t>());
        thread::note_start();
        turn.log_sync(SyncOp::Fork, thread.id as usize, 0);
        turn.me.adopt(thread);
        scheduler::add(thread);
        turn.meeting();
    }
    result
}

/// The signals that do not come to a new thread, if its attributes say so, or those of all threads do.
fn signals_of(how: *const c_void) -> Option<u64> {
    type Ask = unsafe extern "C-unwind" fn(*const c_void, *mut u64) -> c_int;
    /// Old libraries do not have it.
    static ASK: OnceLock<usize> = OnceLock::new();
    let name = c"pthread_attr_getsigmask_np".as_ptr();
    // SAFETY: the name ends with a zero.
    let ask = *ASK.get_or_init(|| unsafe { libc::dlsym(libc::RTLD_NEXT, name) } as usize);
    if ask == 0 {
        return None;
    }
    let ask: Ask = as_function(ask as *mut c_void);
    // As large as the C library has it; the kernel knows the first word.
    let mut signals = [0_u64; size_of::<libc::sigset_t>() / size_of::<u64>()];
    // SAFETY: the structure is filled before it is read.
    let mut of_all: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours; what the program passes was compared with null.
    let says_so = unsafe {
        if !how.is_null() {
            ask(how, signals.as_mut_ptr()) == 0
        } else if pthread_getattr_default_np(&mut of_all) == 0 {
            let says_so = ask((&raw const of_all).cast(), signals.as_mut_ptr()) == 0;
            libc::pthread_attr_destroy(&mut of_all);
            says_so
        } else {
            false
        }
    };
    says_so.then_some(signals[0])
}

unsafe extern "C" {
    fn pthread_getattr_default_np(answer: *mut libc::pthread_attr_t) -> c_int;
}

/// What every thread runs first.
unsafe extern "C-unwind" fn run(thread: *mut c_void) -> *mut c_void {
    // SAFETY: it is the thread that its creator has passed, which is never given back.
    let me: &'static Native = unsafe { &*thread.cast() };
    me.kernel_id.store(kernel_id(), Ordering::Relaxed);
    let turn = Turn::of(me);
    scheduler::begin_thread(me);
    // The thread that made it lets go once it is known to all.
    turn.begin_alone();
    set_me(Some(me));
    set_end(me);
    let (low, high) = stack();
    turn.log_sync(SyncOp::Begin, low, high);
    if let Some((start, _)) = me.start
        && (!me.library.is_spawned.get() || allocator::is_unseen())
        && !me.stack.is_in_known_library()
        && !functions::begins_a_thread_seen(start as usize as u64)
    {
        // Whatever it calls back may have learnt anything before, and may communicate anything afterwards.
        me.call_outside(0);
    }
    drop(turn);
    set_signals(me.signals.get());
    match me.start {
        // SAFETY: the program has passed this function and its argument to be called.
        Some((start, argument)) => unsafe { start(argument) },
        None => std::ptr::null_mut(),
    }
}

/// The bounds of the calling thread's stack, on which its thread-local variables are, too.
fn stack() -> (usize, u64) {
    // SAFETY: the structure is filled before it is read.
    unsafe {
        let mut about: libc::pthread_attr_t = std::mem::zeroed();
        if attributes(libc::pthread_self(), &mut about) != 0 {
            return (0, 0);
        }
        let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&about, &mut start, &mut bytes);
        libc::pthread_attr_destroy(&mut about);
        (start as usize, (start as usize + bytes) as u64)
    }
}

/// The thread is about to end: its function has returned or it has called `pthread_exit`.
unsafe extern "C" fn ending(thread: *mut c_void) {
    // SAFETY: it is the thread that its creator has passed, which is never given back.
    let me: &'static Thread = unsafe { &*thread.cast() };
    if me.native().endings.get() < ROUNDS {
        me.native().endings.set(me.native().endings.get() + 1);
        set_end(me);
        return;
    }
    let Some(turn) = Turn::alone() else { return };
    turn.due();
    abandon_locks(&turn);
    turn.log_sync(SyncOp::End, 0, 0);
    set_me(None);
    wake_waiters(waiting_place(me), usize::MAX);
    affinity::end(me);
    scheduler::note_end();
    scheduler::go_away(me, RunState::Done);
    me.log().give_back();
}

/// What those wait on who join a thread.
fn waiting_place(thread: &'static Thread) -> usize {
    std::ptr::from_ref(thread) as usize
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> c_int {
    // SAFETY: the program has passed the handle of a thread to be joined.
    let joined = unsafe { wait_for_end(handle, result, None) };
    tell_result(joined, result);
    joined
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_timedjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    time: *const timespec,
) -> c_int {
    // SAFETY: nothing is passed on but what the program has passed.
    unsafe { pthread_clockjoin_np(handle, result, libc::CLOCK_REALTIME, time) }
}

/// Without a time this is a join like any other.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_clockjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    // SAFETY: the program has passed the handle of a thread to be joined.
    let joined = unsafe { wait_for_end(handle, result, time.as_ref().map(|time| (clock, time))) };
    tell_result(joined, result);
    joined
}

/// That a thread has not ended yet is something that its end would change: nothing is reordered around that.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> c_int {
    let original = original!(c"pthread_tryjoin_np": fn(pthread_t, *mut *mut c_void) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(handle, result)) };
    turn.yield_turn();
    match scheduler::by_handle(handle) {
        Some(thread) if scheduler::is_done(thread) => {
            turn.fence(turn.me.site.get());
            drop(turn);
            // SAFETY: nothing is passed on but what the program has passed.
            unsafe { pthread_join(handle, result) }
        }
        Some(_) => {
            turn.fence(turn.me.site.get());
            libc::EBUSY
        }
        None => {
            turn.fence(turn.me.site.get());
            pass_on!(original(handle, result))
        }
    }
}

/// What a thread has returned was written where the caller wants it.
fn tell_result(joined: c_int, result: *mut *mut c_void) {
    if joined == 0
        && !result.is_null()
        && let Some(turn) = Turn::alone()
    {
        received(&turn, result.cast(), size_of::<*mut c_void>());
    }
}

/// Waits for the end of a thread, at most until a time on a clock. What it has returned is written, but not recorded.
/// Who waits no longer than that does not wait for a thread that never ends: nothing is reordered around such a join,
/// so it is part of no deadlock.
pub(super) unsafe fn wait_for_end(
    handle: pthread_t,
    result: *mut *mut c_void,
    limit: Option<(c_int, &timespec)>,
) -> c_int {
    let original = original!(c"pthread_join": fn(pthread_t, *mut *mut c_void) -> c_int);
    let join = || match limit {
        None => pass_on!(original(handle, result)),
        Some((clock, time)) => pass_on!(original!(
            c"pthread_clockjoin_np": fn(pthread_t, *mut *mut c_void, c_int, *const timespec) -> c_int
        )(handle, result, clock, time)),
    };
    let Some(mut turn) = Turn::alone() else { return join() };
    turn.meeting();
    let Some(thread) = scheduler::by_handle(handle) else { return turn.away(join) };
    if thread.id == turn.me.id {
        return libc::EDEADLK;
    }
    if limit.is_some_and(|(clock, time)| is_refused(clock, time)) {
        return libc::EINVAL;
    }
    let deadline = limit.map(|(clock, time)| deadline(clock, time));
    while !scheduler::is_done(thread) {
        let wait = || turn.wait_or_end(waiting_place(thread), deadline, Helper::Threads);
        match turn.joining(thread.id, wait) {
            WakeReason::Woken | WakeReason::Interrupted => {}
            WakeReason::TimedOut if scheduler::is_done(thread) => {}
            WakeReason::TimedOut => {
                turn.fence(turn.me.site.get());
                return libc::ETIMEDOUT;
            }
            WakeReason::Cancelled => turn = turn.end_if_cancelled(),
        }
    }
    // It has handed over for the last time: what is left of its end takes no turn.
    let outcome = pass_on!(original(handle, result));
    if outcome == 0 {
        thread.handle.store(0, Ordering::Relaxed);
        thread::note_join();
        if limit.is_some() {
            turn.fence(turn.me.site.get());
        }
        turn.log_sync(SyncOp::Join, thread.id as usize, 0);
    }
    outcome
}
