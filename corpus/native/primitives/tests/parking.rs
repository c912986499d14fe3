//! parking_lot: all that can be done to its locks.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, OnceState, ReentrantMutex, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use primitives::{numbers, sum};
use std::cell::Cell;

const ROUNDS: u64 = 3;
const LIMIT: Duration = Duration::from_millis(50);

#[test]
fn a_mutex_is_given_up_fairly() {
    let shared = Mutex::new(numbers(0));
    threads(|| {
        let mut held = shared.lock();
        held[0] += 1;
        MutexGuard::unlock_fair(held);
    });
    assert_eq!(shared.lock()[0], 3 * ROUNDS);
}

#[test]
fn a_mutex_is_passed_on() {
    let shared = Mutex::new(0);
    threads(|| {
        let mut held = shared.lock();
        *held += 1;
        MutexGuard::bump(&mut held);
        *held += 1;
    });
    assert_eq!(shared.into_inner(), 6 * ROUNDS);
}

#[test]
fn a_mutex_is_given_up_meanwhile() {
    let shared = Mutex::new(0);
    threads(|| {
        let mut held = shared.lock();
        MutexGuard::unlocked(&mut held, thread::yield_now);
        *held += 1;
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_mutex_is_tried_for_a_while() {
    let shared = Mutex::new(0);
    threads(|| {
        if let Some(mut held) = shared.try_lock_for(LIMIT) {
            *held += 1;
        }
        if let Some(mut held) = shared.try_lock_until(Instant::now() + LIMIT) {
            *held += 1;
        }
        if let Some(mut held) = shared.try_lock() {
            *held += 1;
        }
        black_box(shared.is_locked());
    });
}

#[test]
fn a_fair_mutex() {
    let shared = FairMutex::new(0);
    threads(|| *shared.lock() += 1);
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_mutex_that_its_owner_takes_again() {
    let shared = ReentrantMutex::new(Cell::new(0));
    threads(|| {
        let outer = shared.lock();
        let inner = shared.lock();
        inner.set(inner.get() + 1);
        drop(inner);
        outer.set(outer.get() + 1);
        black_box(shared.is_owned_by_current_thread());
    });
    assert_eq!(shared.into_inner().get(), 6 * ROUNDS);
}

#[test]
fn a_guard_is_mapped() {
    let shared = Mutex::new(numbers(0));
    threads(|| *MutexGuard::map(shared.lock(), |numbers| &mut numbers[2]) += 1);
    assert_eq!(shared.lock()[2], 2 + 3 * ROUNDS);
}

#[test]
fn writers_give_up_fairly() {
    let shared = RwLock::new(0);
    threads(|| {
        let mut held = shared.write();
        *held += 1;
        RwLockWriteGuard::unlock_fair(held);
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn readers_give_up_fairly() {
    let shared = RwLock::new(0);
    threads(|| {
        let held = shared.read();
        black_box(*held);
        RwLockReadGuard::unlock_fair(held);
        *shared.write() += 1;
    });
}

#[test]
fn readers_and_writers_pass_on() {
    let shared = RwLock::new(0);
    threads(|| {
        let mut held = shared.write();
        *held += 1;
        RwLockWriteGuard::bump(&mut held);
        *held += 1;
        drop(held);
        let mut held = shared.read();
        RwLockReadGuard::bump(&mut held);
        black_box(*held);
    });
}

#[test]
fn readers_and_writers_try_for_a_while() {
    let shared = RwLock::new(0);
    threads(|| {
        if let Some(mut held) = shared.try_write_for(LIMIT) {
            *held += 1;
        }
        if let Some(held) = shared.try_read_for(LIMIT) {
            black_box(*held);
        }
        if let Some(mut held) = shared.try_write() {
            *held += 1;
        }
        if let Some(held) = shared.try_read() {
            black_box(*held);
        }
        if let Some(held) = shared.try_read_recursive() {
            black_box(*held);
        }
        black_box(shared.is_locked_exclusive());
    });
}

#[test]
fn readers_read_again() {
    let shared = RwLock::new(numbers(1));
    threads(|| {
        {
            let outer = shared.read();
            black_box(sum(&shared.read_recursive()) + outer[0]);
        }
        shared.write()[1] += 1;
    });
}

#[test]
fn a_writer_becomes_a_reader() {
    let shared = RwLock::new(0);
    threads(|| {
        let mut held = shared.write();
        *held += 1;
        let held = RwLockWriteGuard::downgrade(held);
        black_box(*held);
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_reader_that_may_write_later() {
    let shared = RwLock::new(0);
    threads(|| {
        {
            let held = shared.upgradable_read();
            black_box(*held);
        }
        *shared.write() += 1;
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_reader_becomes_a_writer() {
    let shared = RwLock::new(0);
    threads(|| {
        let held = shared.upgradable_read();
        let seen = *held;
        let mut held = RwLockUpgradableReadGuard::upgrade(held);
        assert_eq!(*held, seen);
        *held += 1;
        drop(held);
        black_box(*shared.read());
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_reader_tries_to_become_a_writer() {
    let shared = RwLock::new(0);
    threads(|| {
        if let Some(held) = shared.try_upgradable_read() {
            match RwLockUpgradableReadGuard::try_upgrade(held) {
                Ok(mut held) => *held += 1,
                Err(held) => {
                    black_box(*held);
                }
            }
        }
        if let Some(held) = shared.try_upgradable_read_for(LIMIT) {
            match RwLockUpgradableReadGuard::try_upgrade_for(held, LIMIT) {
                Ok(mut held) => *held += 1,
                Err(held) => RwLockUpgradableReadGuard::unlock_fair(held),
            }
        }
        black_box(*shared.read());
    });
}

#[test]
fn a_writer_becomes_a_reader_that_may_write_later() {
    let shared = RwLock::new(0);
    threads(|| {
        let held = RwLockWriteGuard::downgrade_to_upgradable(shared.write());
        black_box(*held);
        let mut held = RwLockUpgradableReadGuard::upgrade(held);
        *held += 1;
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_reader_gives_up_that_it_may_write() {
    let shared = RwLock::new(0);
    threads(|| {
        let mut held = shared.upgradable_read();
        RwLockUpgradableReadGuard::bump(&mut held);
        let held = RwLockUpgradableReadGuard::downgrade(held);
        black_box(*held);
        drop(held);
        *shared.write() += 1;
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_reader_writes_in_between() {
    let shared = RwLock::new(0);
    threads(|| {
        let mut held = shared.upgradable_read();
        held.with_upgraded(|held| *held += 1);
        black_box(*held);
    });
    assert_eq!(shared.into_inner(), 3 * ROUNDS);
}

#[test]
fn a_condition_is_waited_for() {
    let (slot, filled) = (Mutex::new(None), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *slot.lock() = Some(numbers(1));
            filled.notify_one();
        });
        scope.spawn(|| {
            let mut held = slot.lock();
            filled.wait_while(&mut held, |slot| slot.is_none());
            assert_eq!(held.as_deref().map(sum), Some(10));
        });
    });
}

#[test]
fn a_condition_is_waited_for_in_time() {
    let (slot, filled) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut held = slot.lock();
                while *held == 0 {
                    if filled.wait_for(&mut held, LIMIT).timed_out() {
                        break;
                    }
                }
                *held += 1;
            });
        }
        scope.spawn(|| {
            *slot.lock() = 1;
            filled.notify_all();
        });
    });
}

#[test]
fn something_is_done_once() {
    static ONCE: Once = Once::new();
    static CELL: Mutex<Option<Box<[u64; 4]>>> = parking_lot::const_mutex(None);
    threads(|| {
        ONCE.call_once(|| *CELL.lock() = Some(numbers(1)));
        assert_eq!(ONCE.state(), OnceState::Done);
        assert_eq!(CELL.lock().as_deref().map(sum), Some(10));
    });
}

/// Three threads do the same a few times.
fn threads(work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..ROUNDS).for_each(|_| work()));
        }
    });
}
