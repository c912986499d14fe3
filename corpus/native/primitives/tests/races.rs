//! What is known of primitives must not hide races: each of these tests has one.

use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use primitives::Unprotected;

#[test]
fn two_threads_of_a_scope() {
    let number = Unprotected::default();
    thread::scope(|scope| {
        scope.spawn(|| number.count());
        scope.spawn(|| number.count());
    });
}

#[test]
fn a_thread_of_a_scope_and_who_started_it() {
    let number = Unprotected::default();
    thread::scope(|scope| {
        scope.spawn(|| number.count());
        number.count();
    });
}

#[test]
fn threads_of_two_scopes() {
    let number = Unprotected::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| number.count());
            })
        });
        scope.spawn(|| number.count());
    });
}

#[test]
fn threads_whose_results_no_one_wants() {
    let number: &'static Unprotected = Box::leak(Box::default());
    // That both are done is known, and orders nothing.
    static DONE: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..2 {
        drop(thread::spawn(move || {
            number.count();
            DONE.fetch_add(1, Ordering::Relaxed);
        }));
    }
    while DONE.load(Ordering::Relaxed) < 2 {
        thread::yield_now();
    }
}

#[test]
fn a_thread_that_is_let_go_and_one_that_is_joined() {
    let number: &'static Unprotected = Box::leak(Box::default());
    drop(thread::spawn(move || {
        number.count();
        vec![1]
    }));
    thread::spawn(move || number.count()).join().unwrap();
}

#[test]
fn readers_of_a_lock() {
    let (lock, number) = (RwLock::new(()), Unprotected::default());
    let work = || {
        let _held = lock.read().unwrap();
        number.count();
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

#[cfg(feature = "others")]
mod others {
    use parking_lot::{RwLock, RwLockWriteGuard};

    use super::*;

    fn both(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        thread::scope(|scope| {
            scope.spawn(one);
            scope.spawn(other);
        });
    }

    #[test]
    fn a_reader_beside_one_that_may_write_later() {
        let (lock, number) = (RwLock::new(()), Unprotected::default());
        both(
            || {
                let _held = lock.upgradable_read();
                number.count();
            },
            || {
                let _held = lock.read();
                number.count();
            },
        );
    }

    #[test]
    fn after_a_lock_was_given_up_fairly() {
        let (lock, number) = (RwLock::new(()), Unprotected::default());
        both(
            || {
                RwLockWriteGuard::unlock_fair(lock.write());
                number.count();
            },
            || {
                number.count();
                drop(lock.write());
            },
        );
    }

    #[test]
    fn two_halves_of_a_join() {
        let number = Unprotected::default();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.broadcast(|_| number.count());
    }
}
