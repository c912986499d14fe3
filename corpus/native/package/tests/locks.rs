//! Locks of parking_lot, used rightly and wrongly.

use std::thread;

use package::Unprotected;
use parking_lot::{Condvar, Mutex, RwLock};

#[test]
fn a_mutex_keeps_apart() {
    let (lock, number) = (Mutex::new(()), Unprotected::default());
    let work = || {
        for _ in 0..3 {
            let _held = lock.lock();
            number.count();
        }
        if let Some(_held) = lock.try_lock() {
            number.count();
        }
    };
    both(work, work);
}

#[test]
fn writers_keep_apart() {
    let lock = RwLock::new(0);
    let work = || {
        for _ in 0..3 {
            *lock.write() += 1;
            assert!(*lock.read() > 0);
        }
    };
    both(work, work);
    assert_eq!(*lock.read(), 6);
}

#[test]
fn a_condition_is_waited_for() {
    let (ready, changed, number) = (Mutex::new(false), Condvar::new(), Unprotected::default());
    both(
        || {
            number.count();
            *ready.lock() = true;
            changed.notify_one();
        },
        || {
            let mut ready = ready.lock();
            while !*ready {
                changed.wait(&mut ready);
            }
            number.count();
        },
    );
}

#[test]
fn readers_do_not_keep_apart() {
    let (lock, number) = (RwLock::new(()), Unprotected::default());
    let work = || {
        let _held = lock.read();
        number.count();
    };
    both(work, work);
}

#[test]
#[ignore = "it is here to be left out"]
fn ignored() {}

#[test]
fn failing() {
    assert_eq!(1, 2);
}

fn both(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let _one = scope.spawn(one);
        let _other = scope.spawn(other);
    });
}
