//! Handlers of signals.
//!
//! The kernel calls our own handler, which calls the program's: so we know when one runs, and which calls end by it.
//! The program sees its own handlers only.
//!
//! A handler that comes in the midst of our code, where a record may be half written and no thread can take the turn
//! over, is put off until the thread looks up or hands over: it may wait for another thread.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::{as_function, original, pass_on};
use crate::mode;
use crate::scheduler;
use crate::signals::expect_handlers;
use crate::system::{action_of, ask_kernel, kernel_id, process_id, set_action, set_signals, word};
use crate::thread::{Thread, me};
use crate::turn::Turn;

type Handler = *mut c_void;

/// What the program has installed for a signal.
struct Installed {
    handler: AtomicPtr<c_void>,
    /// The program wants to know more than the number of the signal.
    is_told: AtomicBool,
}

/// By the number of the signal. An entry counts as long as the kernel has [`handle`] for the signal.
static INSTALLED: [Installed; 65] =
    [const { Installed { handler: AtomicPtr::new(std::ptr::null_mut()), is_told: AtomicBool::new(false) } };
        65];

impl Installed {
    /// None for signals that a thread brings upon itself by what it does: their handlers are called directly.
    fn of(signal: c_int) -> Option<&'static Installed> {
        const DIRECT: [c_int; 7] = [
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGABRT,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGSEGV,
            libc::SIGSYS,
        ];
        INSTALLED.get(usize::try_from(signal).ok()?).filter(|_| !DIRECT.contains(&signal))
    }

    /// The program's handler, if the kernel has ours.
    fn instead_of(&self, handler: Handler) -> Option<Handler> {
        std::ptr::eq(handler, handle as *const c_void).then(|| self.handler.load(Ordering::SeqCst))
    }
}

/// What the kernel calls.
unsafe extern "C-unwind" fn handle(signal: c_int, about: *mut c_void, context: *mut c_void) {
    if let Some(me) = me() {
        if is_in_the_midst(me) && put_off(me, signal, about, context) {
            return;
        }
        me.interruption.set(me.interruption.get().map(|interruption| interruption.by(signal)));
    }
    if let Some(installed) = Installed::of(signal) {
        let handler: unsafe extern "C-unwind" fn(c_int, *mut c_void, *mut c_void) =
            as_function(installed.handler.load(Ordering::SeqCst));
        // SAFETY: the program has installed this function for the signal. If it takes the number only, what else is
        // passed stays in registers that it does not look at.
        unsafe { handler(signal, about, context) }
    }
}

/// Whether the thread is in our code and has its turn.
fn is_in_the_midst(me: &'static Thread) -> bool {
    !mode::is_parallel() && me.log().is_inside() && scheduler::has_turn(me)
}

/// Sends the signal again, and keeps it from the thread after this handler returns. Says whether that was possible.
fn put_off(me: &'static Thread, signal: c_int, about: *mut c_void, context: *mut c_void) -> bool {
    let bit = 1_u64 << (signal - 1);
    let mut action = action_of(signal);
    // A handler that is installed for one signal only is forgotten by now, and waits for the next one again.
    let for_one = u64::from(libc::SA_RESETHAND.cast_unsigned());
    let is_forgotten = action.handler == libc::SIG_DFL && action.flags & for_one != 0;
    if is_forgotten {
        action.handler = handle as Handler as usize;
    }
    if action.handler != handle as Handler as usize || context.is_null() {
        return false;
    }
    let before = set_signals(u64::MAX);
    let process = word(process_id());
    let thread = word(kernel_id());
    let is_told = action.flags & u64::from(libc::SA_SIGINFO.cast_unsigned()) != 0;
    let sent = if is_told {
        ask_kernel(libc::SYS_rt_tgsigqueueinfo, [process, thread, word(signal), about as usize, 0, 0])
    } else {
        ask_kernel(libc::SYS_tgkill, [process, thread, word(signal), 0, 0, 0])
    };
    if sent == 0 {
        if is_forgotten {
            set_action(signal, &action);
        }
        // SAFETY: the kernel passes the state that the thread returns to, with the signals that are kept from it then.
        let kept = unsafe { &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask }.cast::<u64>();
        // SAFETY: as above; the kernel has a bit for each signal in the first word.
        unsafe { kept.write(kept.read() | bit) };
        me.put_off.fetch_or(bit, Ordering::Relaxed);
        me.log().stop();
    }
    // Until this handler returns, the signal does not come again.
    set_signals(if sent == 0 { before | bit } else { before });
    sent == 0
}

/// Whether this is a function, and none of the names for what the kernel does by itself.
fn is_function(handler: Handler) -> bool {
    const NONE: [usize; 4] = [libc::SIG_DFL, libc::SIG_IGN, libc::SIG_ERR, SIG_HOLD];
    const SIG_HOLD: usize = 2;
    !NONE.contains(&(handler as usize))
}

/// The caller is about to install a handler. Returns what the kernel gets instead.
fn expect(installed: Option<&Installed>, handler: Handler, is_told: bool) -> Handler {
    if !is_function(handler) {
        return handler;
    }
    let _turn = Turn::take();
    expect_handlers();
    let Some(installed) = installed.filter(|installed| installed.instead_of(handler).is_none()) else {
        return handler;
    };
    installed.handler.store(handler, Ordering::SeqCst);
    installed.is_told.store(is_told, Ordering::SeqCst);
    handle as Handler
}

macro_rules! installing {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(signal: c_int, handler: Handler) -> Handler {
            let installed = Installed::of(signal);
            let before = installed.map(|installed| installed.handler.load(Ordering::SeqCst));
            let handler = expect(installed, handler, false);
            let old = pass_on!(original!($text: fn(c_int, Handler) -> Handler)(signal, handler));
            before.filter(|_| std::ptr::eq(old, handle as Handler)).unwrap_or(old)
        }
    )*};
}

installing! {
    signal, c"signal";
    bsd_signal, c"bsd_signal";
    ssignal, c"ssignal";
    sysv_signal, c"sysv_signal";
    __sysv_signal, c"__sysv_signal";
    sigset, c"sigset";
}

type Action = libc::sigaction;

/// Installs an action by the original, and tells which one was there before.
fn act(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
    install: impl FnOnce(*const Action, *mut Action) -> c_int,
) -> c_int {
    let Some(installed) = Installed::of(signal) else {
        // SAFETY: the program passes an action that the kernel would read, or null.
        if let Some(new) = unsafe { new.as_ref() } {
            expect(None, new.sa_sigaction as Handler, false);
        }
        return install(new, old);
    };
    let before = (installed.handler.load(Ordering::SeqCst), installed.is_told.load(Ordering::SeqCst));
    // SAFETY: as above.
    let ours = unsafe { new.as_ref() }.map(|new| {
        let is_told = new.sa_flags & libc::SA_SIGINFO != 0;
        let handler = expect(Some(installed), new.sa_sigaction as Handler, is_told);
        let more = if is_function(handler) { libc::SA_SIGINFO } else { 0 };
        Action { sa_sigaction: handler as usize, sa_flags: new.sa_flags | more, ..*new }
    });
    let result = install(ours.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old);
    // SAFETY: the program passes room for an action, which the original has filled, or null.
    if let Some(old) = unsafe { old.as_mut() }.filter(|_| result == 0)
        && std::ptr::eq(old.sa_sigaction as Handler, handle as Handler)
    {
        old.sa_sigaction = before.0 as usize;
        if !before.1 {
            old.sa_flags &= !libc::SA_SIGINFO;
        }
    }
    result
}

macro_rules! acting {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
            let original = original!($text: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
            act(signal, new, old, |new, old| pass_on!(original(signal, new, old)))
        }
    )*};
}

acting! {
    sigaction, c"sigaction";
    __sigaction, c"__sigaction";
}
