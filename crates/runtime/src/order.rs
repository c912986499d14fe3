//! How the order of what threads do is known: they take turns, or they run in parallel and lock stripes of memory.

use std::sync::atomic::{AtomicBool, Ordering};

static STRIPED: AtomicBool = AtomicBool::new(false);

/// Decides, before there is a second thread.
pub(crate) fn set_striped(striped: bool) {
    STRIPED.store(striped, Ordering::Relaxed);
}

/// Whether threads run in parallel.
#[inline]
pub(crate) fn is_striped() -> bool {
    STRIPED.load(Ordering::Relaxed)
}
