//! A lock that is held for a few instructions only.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::system::yield_processor;

/// Something that one thread at a time may touch.
pub(crate) struct Spin<T> {
    taken: AtomicBool,
    content: UnsafeCell<T>,
}

// The content is only reached by who has set `taken`.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub(crate) const fn new(content: T) -> Spin<T> {
        Spin { taken: AtomicBool::new(false), content: UnsafeCell::new(content) }
    }

    /// Waits until nobody else is at it, then does something with it.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            yield_processor();
        }
        let result = act(unsafe { &mut *self.content.get() });
        self.taken.store(false, Ordering::Release);
        result
    }

    /// Whoever was at it is not there any more: the process is a copy with one thread, or it has jumped away.
    pub(crate) fn forget(&self) {
        self.taken.store(false, Ordering::SeqCst);
    }
}
