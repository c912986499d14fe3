//! crossbeam: channels, queues, deques, epochs and what else it has for threads.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{after, bounded, select, unbounded};
use crossbeam_deque::{Injector, Steal, Worker};
use crossbeam_epoch::{self as epoch, Atomic, Owned};
use crossbeam_queue::{ArrayQueue, SegQueue};
use crossbeam_utils::atomic::AtomicCell;
use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};
use crossbeam_utils::{Backoff, CachePadded};
use primitives::{numbers, sum};

#[test]
fn an_unbounded_channel_hands_over() {
    let (sender, receiver) = unbounded();
    thread::scope(|scope| {
        for first in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || sender.send(numbers(first)).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().map(|numbers| sum(&numbers)).sum::<u64>(), 16);
    });
}

#[test]
fn a_bounded_channel_hands_over() {
    let (sender, receiver) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(move || (0..3).for_each(|first| sender.send(numbers(first)).unwrap()));
        let other = receiver.clone();
        scope.spawn(move || other.iter().map(|numbers| sum(&numbers)).sum::<u64>());
        black_box(receiver.iter().map(|numbers| sum(&numbers)).sum::<u64>());
    });
}

#[test]
fn a_channel_without_room_hands_over() {
    let (sender, receiver) = bounded(0);
    thread::scope(|scope| {
        scope.spawn(move || (0..2).for_each(|first| sender.send(numbers(first)).unwrap()));
        assert_eq!(receiver.iter().count(), 2);
    });
}

#[test]
fn one_of_several_channels_is_ready() {
    let ((one, first), (other, second)) = (unbounded(), bounded(1));
    thread::scope(|scope| {
        // Both stay open: one that nothing more can come from is always ready.
        scope.spawn(|| one.send(numbers(1)).unwrap());
        scope.spawn(|| other.send(numbers(2)).unwrap());
        let limit = after(Duration::from_secs(20));
        for _ in 0..2 {
            select! {
                recv(first) -> found => assert_eq!(found.map(|numbers| sum(&numbers)), Ok(10)),
                recv(second) -> found => assert_eq!(found.map(|numbers| sum(&numbers)), Ok(14)),
                recv(limit) -> _ => panic!("nothing came"),
            }
        }
    });
}

#[test]
fn a_queue_of_an_array() {
    let queue = ArrayQueue::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            for first in 0..4 {
                let mut wanted = numbers(first);
                while let Err(back) = queue.push(wanted) {
                    wanted = back;
                    thread::yield_now();
                }
            }
        });
        let mut total = 0;
        for _ in 0..4 {
            let found = loop {
                match queue.pop() {
                    Some(found) => break found,
                    None => thread::yield_now(),
                }
            };
            total += sum(&found);
        }
        assert_eq!(total, 48);
    });
}

#[test]
fn a_queue_of_segments() {
    let queue = SegQueue::new();
    thread::scope(|scope| {
        for first in 0..2 {
            let queue = &queue;
            scope.spawn(move || (0..3).for_each(|_| queue.push(numbers(first))));
        }
    });
    let found: u64 = std::iter::from_fn(|| queue.pop()).map(|numbers| sum(&numbers)).sum();
    assert_eq!(found, 48);
}

#[test]
fn work_is_stolen() {
    let worker: Worker<Box<[u64; 4]>> = Worker::new_fifo();
    let stealer = worker.stealer();
    let stolen = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..4 {
                match stealer.steal() {
                    Steal::Success(numbers) => *stolen.lock().unwrap() += sum(&numbers),
                    Steal::Empty | Steal::Retry => thread::yield_now(),
                }
            }
        });
        let mut own = 0;
        for first in 0..4 {
            worker.push(numbers(first));
        }
        while let Some(numbers) = worker.pop() {
            own += sum(&numbers);
        }
        *stolen.lock().unwrap() += own;
    });
    assert_eq!(stolen.into_inner().unwrap(), 48);
}

#[test]
fn work_is_injected() {
    let (injector, total) = (Injector::new(), Mutex::new(0));
    (0..6).for_each(|first| injector.push(numbers(first)));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let own = Worker::new_lifo();
                while !injector.is_empty() {
                    if let Steal::Success(numbers) = injector.steal_batch_and_pop(&own) {
                        *total.lock().unwrap() += sum(&numbers);
                    }
                    while let Some(numbers) = own.pop() {
                        *total.lock().unwrap() += sum(&numbers);
                    }
                }
            });
        }
    });
    assert_eq!(total.into_inner().unwrap(), 96);
}

#[test]
fn values_are_exchanged_in_epochs() {
    let shared = Atomic::null();
    thread::scope(|scope| {
        for first in 0..3 {
            let shared = &shared;
            scope.spawn(move || {
                let guard = epoch::pin();
                let before = shared.swap(Owned::new(AtomicBool::new(first > 0)), Ordering::AcqRel, &guard);
                black_box(before.is_null());
            });
        }
    });
    let guard = epoch::pin();
    assert!(!shared.load(Ordering::Acquire, &guard).is_null());
}

#[test]
fn a_lock_in_shards() {
    let shared = ShardedLock::new(numbers(1));
    thread::scope(|scope| {
        scope.spawn(|| black_box(sum(&shared.read().unwrap())));
        scope.spawn(|| shared.write().unwrap()[0] = 4);
    });
    assert_eq!(sum(&shared.into_inner().unwrap()), 13);
}

#[test]
fn a_group_is_waited_for() {
    let (group, slot) = (WaitGroup::new(), Mutex::new(None));
    thread::scope(|scope| {
        let other = group.clone();
        let slot = &slot;
        scope.spawn(move || {
            *slot.lock().unwrap() = Some(numbers(1));
            drop(other);
        });
        group.wait();
        assert_eq!(slot.lock().unwrap().as_deref().map(sum), Some(10));
    });
}

#[test]
fn a_thread_is_unparked() {
    let parker = Parker::new();
    let (unparker, slot) = (parker.unparker().clone(), Mutex::new(None));
    thread::scope(|scope| {
        scope.spawn(|| {
            *slot.lock().unwrap() = Some(numbers(1));
            unparker.unpark();
        });
        parker.park();
        assert_eq!(slot.lock().unwrap().as_deref().map(sum), Some(10));
    });
}

#[test]
fn a_cell_is_exchanged() {
    let cell = AtomicCell::new(Some(numbers(1)));
    thread::scope(|scope| {
        for first in 2..4 {
            let cell = &cell;
            scope.spawn(move || black_box(cell.swap(Some(numbers(first))).as_deref().map(sum)));
        }
    });
    assert!(cell.into_inner().is_some());
}

#[test]
fn who_waits_backs_off() {
    let (flag, slot) = (CachePadded::new(AtomicBool::new(false)), std::sync::OnceLock::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(slot.set(numbers(1)).is_ok());
            flag.store(true, Ordering::Release);
        });
        let backoff = Backoff::new();
        while !flag.load(Ordering::Acquire) {
            backoff.snooze();
        }
        assert_eq!(slot.get().map(|numbers| sum(numbers)), Some(10));
    });
}

#[test]
fn a_scope_of_its_own() {
    let mut kept = numbers(1);
    crossbeam_utils::thread::scope(|scope| {
        let (left, right) = kept.split_at_mut(2);
        scope.spawn(move |_| left[0] = 5);
        scope.spawn(move |scope| {
            scope.spawn(move |_| right[0] = 5);
        });
    })
    .unwrap();
    assert_eq!(*kept, [5, 2, 5, 4]);
}
