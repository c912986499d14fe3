//! Questions about threads and their attributes: the C library writes the answer where the caller wants it, and reads
//! what it returns. Nothing else of it matters to other threads, but for names.

use std::ffi::{c_char, c_int, c_ulong, c_void};
use std::sync::atomic::AtomicU64;

use foretell_wire::record::{Record, SyncOp};
use foretell_wire::thread_name;
use libc::pthread_t;

use super::blocking::{received, sent};
use super::{original, pass_on};
use crate::scheduler;
use crate::thread::Thread;
use crate::turn::Turn;

type Any = *mut c_void;
type Answer = *mut c_void;

const NUMBER: usize = size_of::<c_int>();
const SIZE: usize = size_of::<usize>();
/// A set of signals, as large as the C library has it.
const SIGNALS: usize = size_of::<libc::sigset_t>();

/// The library has written answers, so many bytes each.
pub(super) fn tell(answers: &[(Answer, usize)]) {
    let Some(turn) = Turn::alone() else { return };
    for &(answer, bytes) in answers.iter().filter(|(answer, _)| !answer.is_null()) {
        turn.due();
        received(&turn, answer, bytes);
    }
}

/// Functions that return 0 if they have written an answer of so many bytes each.
macro_rules! answering {
    ($($name:ident, $text:literal ($($argument:ident: $type:ty),*) writes $($answer:ident: $bytes:expr),+;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            let result = pass_on!(original!($text: fn($($type),*) -> c_int)($($argument),*));
            if result == 0 {
                tell(&[$(($answer.cast(), $bytes)),+]);
            }
            result
        }
    )*};
}

answering! {
    pthread_attr_getaffinity_np, c"pthread_attr_getaffinity_np"(about: Any, bytes: usize, answer: Answer) writes answer: bytes;
    pthread_attr_getdetachstate, c"pthread_attr_getdetachstate"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_attr_getguardsize, c"pthread_attr_getguardsize"(about: Any, answer: Answer) writes answer: SIZE;
    pthread_attr_getinheritsched, c"pthread_attr_getinheritsched"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_attr_getschedparam, c"pthread_attr_getschedparam"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_attr_getschedpolicy, c"pthread_attr_getschedpolicy"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_attr_getscope, c"pthread_attr_getscope"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_attr_getsigmask_np, c"pthread_attr_getsigmask_np"(about: Any, answer: Answer) writes answer: SIGNALS;
    pthread_attr_getstack, c"pthread_attr_getstack"(about: Any, start: Answer, bytes: Answer) writes start: SIZE, bytes: SIZE;
    pthread_attr_getstackaddr, c"pthread_attr_getstackaddr"(about: Any, answer: Answer) writes answer: SIZE;
    pthread_attr_getstacksize, c"pthread_attr_getstacksize"(about: Any, answer: Answer) writes answer: SIZE;
    pthread_barrierattr_getpshared, c"pthread_barrierattr_getpshared"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_condattr_getclock, c"pthread_condattr_getclock"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_condattr_getpshared, c"pthread_condattr_getpshared"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutex_getprioceiling, c"pthread_mutex_getprioceiling"(mutex: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getkind_np, c"pthread_mutexattr_gettype"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getprioceiling, c"pthread_mutexattr_getprioceiling"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getprotocol, c"pthread_mutexattr_getprotocol"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getpshared, c"pthread_mutexattr_getpshared"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getrobust, c"pthread_mutexattr_getrobust"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_getrobust_np, c"pthread_mutexattr_getrobust"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_mutexattr_gettype, c"pthread_mutexattr_gettype"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_rwlockattr_getkind_np, c"pthread_rwlockattr_getkind_np"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_rwlockattr_getpshared, c"pthread_rwlockattr_getpshared"(about: Any, answer: Answer) writes answer: NUMBER;
    pthread_getcpuclockid, c"pthread_getcpuclockid"(thread: pthread_t, answer: Answer) writes answer: NUMBER;
    pthread_getschedparam, c"pthread_getschedparam"(thread: pthread_t, policy: Answer, answer: Answer) writes policy: NUMBER, answer: NUMBER;
    pthread_key_create, c"pthread_key_create"(key: *mut libc::pthread_key_t, destructor: Any) writes key: NUMBER;
    sched_getparam, c"sched_getparam"(process: c_int, answer: Answer) writes answer: NUMBER;
    sigemptyset, c"sigemptyset"(set: Answer) writes set: SIGNALS;
    sigfillset, c"sigfillset"(set: Answer) writes set: SIGNALS;
    sched_rr_get_interval, c"sched_rr_get_interval"(process: c_int, answer: Answer) writes answer: size_of::<libc::timespec>();
}

/// Functions that change one signal of a set.
macro_rules! changing {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(set: Answer, signal: c_int) -> c_int {
            read(set, SIGNALS);
            let result = pass_on!(original!($text: fn(Answer, c_int) -> c_int)(set, signal));
            if result == 0 {
                tell(&[(set, SIGNALS)]);
            }
            result
        }
    )*};
}

changing! {
    sigaddset, c"sigaddset";
    sigdelset, c"sigdelset";
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigismember(set: Any, signal: c_int) -> c_int {
    read(set, SIGNALS);
    pass_on!(original!(c"sigismember": fn(Any, c_int) -> c_int)(set, signal))
}

/// The library is about to read so many bytes of the program's.
fn read(what: Any, bytes: usize) {
    if let Some(turn) = Turn::alone().filter(|_| !what.is_null()) {
        turn.due();
        sent(&turn, what, bytes);
    }
}

/// The handler of a signal that is let through may run before this returns.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_sigmask(how: c_int, new: Any, before: Answer) -> c_int {
    read(new, SIGNALS);
    let result = pass_on!(original!(c"pthread_sigmask": fn(c_int, Any, Answer) -> c_int)(how, new, before));
    if result == 0 {
        tell(&[(before, SIGNALS)]);
    }
    result
}

/// The name of a thread is a variable of its own: who asks for it learns what was done before it was given. Several
/// threads may have to share one, which orders more than need be.
fn name_of(thread: pthread_t) -> &'static AtomicU64 {
    const SOME: usize = 64;
    const DESCRIPTION: usize = 4096;
    static NAMES: [AtomicU64; SOME] = [const { AtomicU64::new(0) }; SOME];
    let place = usize::try_from(thread).unwrap_or(0) / DESCRIPTION;
    &NAMES[(place ^ (place / SOME)) % SOME]
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
    if let Some(turn) = Turn::alone() {
        turn.due();
        let named = scheduler::by_handle(thread);
        hand_name(&turn, named, name);
        turn.publish(name_of(thread));
    }
    pass_on!(original!(c"pthread_setname_np": fn(pthread_t, *const c_char) -> c_int)(thread, name))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_getname_np(thread: pthread_t, name: *mut c_char, room: usize) -> c_int {
    let original = original!(c"pthread_getname_np": fn(pthread_t, *mut c_char, usize) -> c_int);
    let result = pass_on!(original(thread, name, room));
    if let Some(turn) = Turn::alone().filter(|_| result == 0) {
        turn.due();
        turn.look_at(name_of(thread));
        // SAFETY: the C library has just written the name to the room that the program passes.
        let length = unsafe { libc::strnlen(name, room) };
        received(&turn, name.cast(), (length + 1).min(room));
    }
    result
}

/// Of all that can be asked for here, names are known. Anything else may have any effect.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn prctl(what: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
    let original = original!(c"prctl": fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(what, a, b, c, d)) };
    turn.due();
    if what == libc::PR_SET_NAME {
        // SAFETY: a thread always has an identity.
        let me = unsafe { libc::pthread_self() };
        hand_name(&turn, Some(turn.me), a as *const c_char);
        turn.publish(name_of(me));
        return pass_on!(original(what, a, b, c, d));
    }
    turn.fence(turn.me.site.get());
    let result = pass_on!(original(what, a, b, c, d));
    turn.fence(turn.me.site.get());
    result
}

/// The library reads the new name of a thread, which is recorded if the thread is known.
fn hand_name(turn: &Turn, thread: Option<&'static Thread>, name: *const c_char) {
    // SAFETY: the program passes a name that ends with a zero.
    let length = unsafe { libc::strnlen(name, thread_name::LENGTH) };
    sent(turn, name.cast_mut().cast(), (length + 1).min(thread_name::LENGTH));
    let Some(thread) = thread else { return };
    // SAFETY: so many bytes of the name were just read.
    let name = unsafe { std::slice::from_raw_parts(name.cast(), length) };
    for (object, other) in thread_name::records(thread.id, name) {
        let site = turn.me.site.get();
        turn.log_sync_record(&Record::Sync { site, op: SyncOp::Name, object, other });
    }
}
