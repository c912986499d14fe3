//! A lock that is held for a few instructions only.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::system::{without_signals, yield_processor};
use crate::thread::{Thread, me};

/// Something that one thread at a time may touch.
pub(crate) struct Spin<T> {
    /// Who is at it, see [`mark`]; 0 if nobody is.
    taken: AtomicUsize,
    content: UnsafeCell<T>,
}

// SAFETY: only the thread that has set `taken` reaches the content.
unsafe impl<T: Send> Sync for Spin<T> {}

/// A number for each recorded thread, and one for all others; not 0.
fn mark(thread: Option<&'static Thread>) -> usize {
    thread.map_or(1, |thread| std::ptr::from_ref(thread) as usize)
}

impl<T> Spin<T> {
    pub(crate) const fn new(content: T) -> Spin<T> {
        Spin { taken: AtomicUsize::new(0), content: UnsafeCell::new(content) }
    }

    /// Waits until nobody else is at it, then does something with it.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        let mark = mark(me());
        while self.taken.compare_exchange(0, mark, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_processor();
        }
        // SAFETY: `taken` is ours, so no other thread is here; what `act` does never comes here again.
        let result = act(unsafe { &mut *self.content.get() });
        self.taken.store(0, Ordering::Release);
        result
    }

    /// As [`Spin::with`], in a handler of a signal, too. If that has interrupted its thread at it, nothing is done.
    pub(crate) fn with_unless_own<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        (self.taken.load(Ordering::Relaxed) != mark(me())).then(|| without_signals(|| self.with(act)))
    }

    /// Whoever was at it is not there any more: the process is a copy with one thread.
    pub(crate) fn forget(&self) {
        self.taken.store(0, Ordering::SeqCst);
    }

    /// If the thread was at it, it is not any more: it is about to jump away. Says whether it was.
    pub(crate) fn leave(&self, thread: &'static Thread) -> bool {
        let mark = mark(Some(thread));
        self.taken.compare_exchange(mark, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}
