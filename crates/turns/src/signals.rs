//! Whether handlers of signals may come at any moment. As long as the program has none, nothing has to be protected
//! from them, which would take two calls into the kernel each time.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::mode;
use crate::thread::me;

/// The program has, or has had, a handler.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Whether a handler may run at any moment on the calling thread. Of threads that are not recorded, or that run in
/// parallel, no thread knows what they are doing when a handler is installed: these never rely on there being none.
#[inline]
pub fn may_interrupt() -> bool {
    EXPECTED.load(Ordering::Relaxed) || mode::is_parallel() || me().is_none()
}

/// Handlers may run from now on. The caller has its turn, so no thread is in the midst of what they must not
/// interrupt.
pub fn expect_handlers() {
    EXPECTED.store(true, Ordering::SeqCst);
    if let Some(me) = me() {
        // It may have gone on as if there were none.
        me.log().stop();
    }
}
