//! Handlers of signals: whether the program has any. As long as it has none, nothing has to be protected from them,
//! which would take two calls into the kernel each time.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{original, pass_on};
use crate::mode;
use crate::thread::me;
use crate::turn::Turn;

type Handler = *mut c_void;

/// The program has, or has had, a handler.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Whether a handler may run at any moment on the calling thread. Of threads that are not recorded, or that run in
/// parallel, no thread knows what they are doing when a handler is installed: these never rely on there being none.
#[inline]
pub(crate) fn may_interrupt() -> bool {
    EXPECTED.load(Ordering::Relaxed) || mode::is_parallel() || me().is_none()
}

/// Handlers may run from now on. The caller has its turn, so no thread is in the midst of what they must not
/// interrupt.
pub(crate) fn expect_handlers() {
    EXPECTED.store(true, Ordering::SeqCst);
    if let Some(me) = me() {
        // It may have gone on as if there were none.
        me.log().stop();
    }
}

/// A handler is about to be installed by the caller, unless it is one of the names for what the kernel does by
/// itself.
fn expect(handler: Handler) {
    const NONE: [usize; 4] = [libc::SIG_DFL, libc::SIG_IGN, libc::SIG_ERR, SIG_HOLD];
    const SIG_HOLD: usize = 2;
    if !NONE.contains(&(handler as usize)) {
        let _turn = Turn::take();
        expect_handlers();
    }
}

macro_rules! installing {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(signal: c_int, handler: Handler) -> Handler {
            expect(handler);
            pass_on!(original!($text: fn(c_int, Handler) -> Handler)(signal, handler))
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

macro_rules! acting {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
            // SAFETY: the program passes an action that the kernel would read, or null.
            if let Some(new) = unsafe { new.as_ref() } {
                expect(new.sa_sigaction as Handler);
            }
            let original = original!($text: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
            pass_on!(original(signal, new, old))
        }
    )*};
}

acting! {
    sigaction, c"sigaction";
    __sigaction, c"__sigaction";
}
