//! A lock that is held for a few instructions only.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::system::{without_signals, yield_processor};
use crate::thread::{Thread, me};

/// Something that one thread at a time may touch.
pub struct Spin<T> {
    /// Who is at it, see [`mark`]; 0 if no thread is.
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
    /// Something that no thread is at.
    pub const fn new(content: T) -> Spin<T> {
        Spin { taken: AtomicUsize::new(0), content: UnsafeCell::new(content) }
    }

    /// Waits until no other thread is at it, then does something with it.
    pub fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
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
    pub fn with_unless_own<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        (self.taken.load(Ordering::Relaxed) != mark(me())).then(|| without_signals(|| self.with(act)))
    }

    /// The thread that was at it is not there any more: the process is a copy with one thread.
    pub fn forget(&self) {
        self.taken.store(0, Ordering::SeqCst);
    }

    /// If the thread was at it, it is not any more: it is about to jump away. Says whether it was.
    pub fn leave(&self, thread: &'static Thread) -> bool {
        let mark = mark(Some(thread));
        self.taken.compare_exchange(mark, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn one_thread_at_a_time_is_at_it() {
        let shared = Arc::new(Spin::new(0_u64));
        let count = |spin: Arc<Spin<u64>>| move || (0..10_000).for_each(|_| spin.with(|number| *number += 1));
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(count(Arc::clone(&shared)))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.with(|number| *number), 40_000);
    }

    #[test]
    fn a_handler_does_not_wait_for_the_thread_that_it_has_interrupted() {
        let spin = Spin::new(1);
        assert_eq!(spin.with(|_| spin.with_unless_own(|number| *number)), None);
        assert_eq!(spin.with_unless_own(|number| *number), Some(1));
    }

    #[test]
    fn a_copy_of_the_process_finds_it_free() {
        let spin = Spin::new(1);
        spin.taken.store(7, Ordering::SeqCst);
        spin.forget();
        assert_eq!(spin.with(|number| *number), 1);
    }
}
