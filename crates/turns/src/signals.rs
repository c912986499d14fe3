//! Whether handlers of signals may come at any moment. As long as the program has none, nothing has to be protected
//! from them, which would take two calls into the kernel each time.
//!
//! Most handlers are put off while a thread is in our code with its turn. Where threads take turns, only those that
//! cannot be put off have to be kept away.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::mode;
use crate::thread::me;

/// The program has, or has had, a handler.
static EXPECTED: AtomicBool = AtomicBool::new(false);
/// One that may come into the midst of our code, or something else that ends a thread there.
static BREAKS_IN: AtomicBool = AtomicBool::new(false);

/// Whether a handler may run at any moment on the calling thread. Of threads that are not recorded, or that run in
/// parallel, no thread knows what they are doing when a handler is installed: these never rely on there being none.
#[inline]
pub fn may_interrupt() -> bool {
    EXPECTED.load(Ordering::Relaxed) || mode::is_parallel() || me().is_none()
}

/// Whether a handler may run at any moment on the calling thread that is not put off while the thread is in our code
/// and has its turn. Handlers of what a thread brings upon itself do not count: in our code that comes with an access
/// of the program, when nothing is half done. Where it does not, see [`crate::detect::jump_away`].
#[inline]
pub fn may_break_in() -> bool {
    BREAKS_IN.load(Ordering::Relaxed) || mode::is_parallel() || me().is_none()
}

/// Handlers may run from now on that are put off, or come only where the thread brings that upon itself. The caller
/// has its turn, so no thread is in the midst of what they must not interrupt.
pub fn expect_handlers() {
    EXPECTED.store(true, Ordering::SeqCst);
    if let Some(me) = me() {
        // It may have gone on as if there were none.
        me.log().stop();
    }
}

/// As [`expect_handlers`], for what is never put off.
pub fn expect_break_ins() {
    BREAKS_IN.store(true, Ordering::SeqCst);
    expect_handlers();
}
