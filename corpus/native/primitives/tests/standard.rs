//! The standard library: threads, scopes, locks, channels, counted references, what is done once.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::mpsc::{self, channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use std::thread;
use std::time::Duration;

use primitives::{numbers, sum};

#[test]
fn a_scope_waits_for_its_threads() {
    let mut sums = [0_u64; 3];
    thread::scope(|scope| {
        for (sum, number) in sums.iter_mut().zip(1..) {
            scope.spawn(move || *sum = number);
        }
    });
    assert_eq!(sums, [1, 2, 3]);
}

#[test]
fn a_scope_lends_what_is_dropped_after_it() {
    let mut kept = numbers(1);
    thread::scope(|scope| {
        scope.spawn(|| black_box(sum(&kept)));
        scope.spawn(|| black_box(kept[3]));
    });
    kept[0] = 7;
    drop(kept);
}

#[test]
fn a_scope_whose_handles_are_dropped() {
    let mut kept = numbers(1);
    thread::scope(|scope| {
        let handle = scope.spawn(|| kept[1] += 1);
        drop(handle);
    });
    assert_eq!(sum(&kept), 11);
}

#[test]
fn a_scope_whose_threads_are_joined_in_it() {
    let kept = numbers(1);
    let total: u64 = thread::scope(|scope| {
        let handles = [0, 1, 2].map(|index| {
            let kept = &kept;
            scope.spawn(move || numbers(kept[index]))
        });
        handles.map(|handle| sum(&handle.join().unwrap())).iter().sum()
    });
    assert_eq!(total, 10 + 14 + 18);
}

#[test]
fn a_scope_whose_results_need_dropping() {
    let dropped = AtomicU64::new(0);
    struct Adds<'a>(&'a AtomicU64, Box<[u64; 4]>);
    impl Drop for Adds<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(sum(&self.1), Ordering::Relaxed);
        }
    }
    thread::scope(|scope| {
        for first in 0..3 {
            let dropped = &dropped;
            scope.spawn(move || Adds(dropped, numbers(first)));
        }
    });
    assert_eq!(dropped.into_inner(), 6 + 10 + 14);
}

#[test]
fn a_result_that_borrows_is_dropped_before_the_scope_ends() {
    let mut last = 0;
    struct Writes<'a>(&'a mut u64);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            *self.0 += 5;
        }
    }
    thread::scope(|scope| {
        scope.spawn(|| Writes(&mut last));
    });
    assert_eq!(last, 5);
}

#[test]
fn a_scope_in_a_scope() {
    let mut outer = numbers(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (left, right) = outer.split_at_mut(2);
            thread::scope(|inner| {
                inner.spawn(|| left[0] = 9);
                inner.spawn(|| right[0] = 9);
            });
            left[1] = right[0];
        });
    });
    assert_eq!(*outer, [9, 9, 9, 4]);
}

#[test]
fn a_thread_of_a_scope_starts_another_there() {
    let (mut one, mut two) = (0, 0);
    thread::scope(|scope| {
        let two = &mut two;
        scope.spawn(|| {
            one = 1;
            scope.spawn(|| *two = 2);
        });
    });
    assert_eq!((one, two), (1, 2));
}

#[test]
fn a_thread_of_a_scope_panics() {
    let mut before = 0;
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            let handle = scope.spawn(|| {
                before = 3;
                std::panic::resume_unwind(Box::new(numbers(1)));
            });
            let payload = handle.join().unwrap_err();
            assert_eq!(sum(payload.downcast_ref::<Box<[u64; 4]>>().unwrap()), 10);
        });
    }));
    assert!(outcome.is_ok());
    assert_eq!(before, 3);
}

#[test]
fn a_panic_that_no_one_looks_at_ends_the_scope() {
    let mut before = numbers(0);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                before[2] = 8;
                std::panic::resume_unwind(Box::new(1));
            });
        });
    }));
    assert!(outcome.is_err());
    assert_eq!(before[2], 8);
}

#[test]
fn many_scopes_in_a_row() {
    let mut count = 0;
    for _ in 0..4 {
        thread::scope(|scope| {
            scope.spawn(|| count += 1);
        });
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn a_joined_thread_hands_its_result_over() {
    let mut result = thread::spawn(|| numbers(4)).join().unwrap();
    result[0] = 1;
    assert_eq!(sum(&result), 19);
}

#[test]
fn a_thread_that_returns_nothing_is_joined() {
    let shared = Arc::new(Mutex::new(vec![0_u64]));
    let other = Arc::clone(&shared);
    thread::spawn(move || other.lock().unwrap().push(1)).join().unwrap();
    assert_eq!(Arc::try_unwrap(shared).unwrap().into_inner().unwrap(), [0, 1]);
}

#[test]
fn a_thread_that_is_let_go_is_waited_for() {
    let done = Arc::new(AtomicBool::new(false));
    let slot = Arc::new(Mutex::new(None));
    let (other_done, other_slot) = (Arc::clone(&done), Arc::clone(&slot));
    drop(thread::spawn(move || {
        *other_slot.lock().unwrap() = Some(numbers(1));
        other_done.store(true, Ordering::Release);
    }));
    while !done.load(Ordering::Acquire) {
        thread::yield_now();
    }
    assert_eq!(sum(slot.lock().unwrap().as_ref().unwrap()), 10);
}

#[test]
fn a_thread_is_asked_whether_it_has_finished() {
    let handle = thread::spawn(|| numbers(1));
    while !handle.is_finished() {
        thread::yield_now();
    }
    assert_eq!(sum(&handle.join().unwrap()), 10);
}

#[test]
fn a_named_thread() {
    let handle = thread::Builder::new().name("worker".into()).spawn(|| {
        let me = thread::current();
        me.name().map(str::len)
    });
    let handle = handle.unwrap();
    assert_eq!(handle.thread().name(), Some("worker"));
    assert_eq!(handle.join().unwrap(), Some(6));
}

#[test]
fn a_name_outlives_its_thread() {
    for _ in 0..3 {
        let handle = thread::Builder::new().name("worker".into()).spawn(|| ()).unwrap();
        let thread = handle.thread().clone();
        drop(handle);
        assert_eq!(thread.name().map(|name| black_box(name.as_bytes()[2])), Some(b'r'));
        drop(thread);
        thread::yield_now();
    }
}

#[test]
fn a_mutex_keeps_apart() {
    let shared = Mutex::new(vec![0_u64]);
    thread::scope(|scope| {
        for number in 1..4 {
            let shared = &shared;
            scope.spawn(move || shared.lock().unwrap().push(number));
        }
    });
    assert_eq!(shared.into_inner().unwrap().len(), 4);
}

#[test]
fn a_mutex_is_tried() {
    let shared = Mutex::new(0_u64);
    let work = || {
        for _ in 0..3 {
            match shared.try_lock() {
                Ok(mut held) => *held += 1,
                Err(_) => thread::yield_now(),
            }
        }
    };
    both(work, work);
    assert!(*shared.lock().unwrap() > 0);
}

#[test]
fn a_poisoned_mutex() {
    let shared = Arc::new(Mutex::new(numbers(1)));
    let other = Arc::clone(&shared);
    let handle = thread::spawn(move || {
        let mut held = other.lock().unwrap();
        held[0] = 5;
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(handle.join().is_err());
    let held = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert_eq!(held[0], 5);
}

#[test]
fn a_read_write_lock() {
    let shared = RwLock::new(numbers(1));
    let read = || black_box(sum(&shared.read().unwrap()));
    thread::scope(|scope| {
        scope.spawn(read);
        scope.spawn(|| shared.write().unwrap()[1] += 1);
        scope.spawn(read);
    });
    assert_eq!(sum(&shared.into_inner().unwrap()), 11);
}

#[test]
fn a_read_write_lock_is_tried() {
    let shared = RwLock::new(1_u64);
    both(
        || {
            if let Ok(mut held) = shared.try_write() {
                *held += 1;
            }
        },
        || {
            if let Ok(held) = shared.try_read() {
                black_box(*held);
            }
        },
    );
}

#[test]
fn a_condition_is_waited_for() {
    let (slot, filled) = (Mutex::new(None), Condvar::new());
    both(
        || {
            *slot.lock().unwrap() = Some(numbers(1));
            filled.notify_one();
        },
        || {
            let held = filled.wait_while(slot.lock().unwrap(), |slot| slot.is_none()).unwrap();
            assert_eq!(sum(held.as_ref().unwrap()), 10);
        },
    );
}

#[test]
fn a_condition_is_waited_for_in_time() {
    let (slot, filled) = (Mutex::new(0_u64), Condvar::new());
    both(
        || {
            *slot.lock().unwrap() = 1;
            filled.notify_all();
        },
        || {
            let held = slot.lock().unwrap();
            let limit = Duration::from_millis(20);
            let (mut held, _) = filled.wait_timeout_while(held, limit, |slot| *slot == 0).unwrap();
            *held += 1;
        },
    );
    assert!(*slot.lock().unwrap() > 0);
}

#[test]
fn a_barrier_is_passed_by_all() {
    let (slots, barrier) = ([const { Mutex::new(0_u64) }; 3], Barrier::new(3));
    thread::scope(|scope| {
        for index in 0..3 {
            let (slots, barrier) = (&slots, &barrier);
            scope.spawn(move || {
                *slots[index].lock().unwrap() = 1;
                barrier.wait();
                assert_eq!(slots.iter().map(|slot| *slot.lock().unwrap()).sum::<u64>(), 3);
            });
        }
    });
}

#[test]
fn a_barrier_orders_what_atomics_do_not() {
    let (cells, barrier) = ([const { OnceLock::new() }; 2], Barrier::new(2));
    thread::scope(|scope| {
        for index in 0..2 {
            let (cells, barrier) = (&cells, &barrier);
            scope.spawn(move || {
                assert!(cells[index].set(numbers(index as u64)).is_ok());
                barrier.wait();
                let other: &Box<[u64; 4]> = cells[1 - index].get().unwrap();
                black_box(sum(other));
            });
        }
    });
}

#[test]
fn a_channel_hands_over() {
    let (sender, receiver) = channel();
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
    let (sender, receiver) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || (0..4).for_each(|first| sender.send(numbers(first)).unwrap()));
        assert_eq!(receiver.iter().map(|numbers| sum(&numbers)).sum::<u64>(), 48);
    });
}

#[test]
fn a_channel_without_room_hands_over() {
    let (sender, receiver) = sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || (0..2).for_each(|first| sender.send(numbers(first)).unwrap()));
        assert_eq!(receiver.iter().count(), 2);
    });
}

#[test]
fn a_channel_that_is_given_up_drops_what_is_in_it() {
    let (sender, receiver) = channel();
    let handle = thread::spawn(move || {
        for first in 0..3 {
            if sender.send(numbers(first)).is_err() {
                break;
            }
        }
    });
    black_box(receiver.recv().map(|numbers| sum(&numbers)).ok());
    drop(receiver);
    handle.join().unwrap();
}

#[test]
fn a_channel_is_looked_at() {
    let (sender, receiver) = channel();
    let handle = thread::spawn(move || sender.send(numbers(1)).unwrap());
    let found = loop {
        match receiver.try_recv() {
            Ok(found) => break found,
            Err(mpsc::TryRecvError::Empty) => thread::yield_now(),
            Err(mpsc::TryRecvError::Disconnected) => panic!("nothing came"),
        }
    };
    assert_eq!(sum(&found), 10);
    handle.join().unwrap();
}

#[test]
fn counted_references_are_freed_by_the_last() {
    let shared = Arc::new(numbers(1));
    for _ in 0..3 {
        let other = Arc::clone(&shared);
        drop(thread::spawn(move || black_box(sum(&other))));
    }
    black_box(sum(&shared));
    drop(shared);
}

#[test]
fn a_counted_reference_is_unwrapped() {
    let shared = Arc::new(Mutex::new(numbers(1)));
    let other = Arc::clone(&shared);
    let handle = thread::spawn(move || other.lock().unwrap()[0] = 2);
    handle.join().unwrap();
    let mut numbers = Arc::into_inner(shared).unwrap().into_inner().unwrap();
    numbers[1] = 0;
    assert_eq!(sum(&numbers), 9);
}

#[test]
fn a_counted_reference_becomes_the_only_one() {
    let mut shared = Arc::new(numbers(1));
    let other = Arc::clone(&shared);
    let handle = thread::spawn(move || black_box(sum(&other)));
    while Arc::get_mut(&mut shared).is_none() {
        thread::yield_now();
    }
    Arc::get_mut(&mut shared).unwrap()[0] = 9;
    assert_eq!(sum(&shared), 18);
    handle.join().unwrap();
}

#[test]
fn a_counted_reference_is_copied_to_be_written() {
    let mut shared = Arc::new(vec![1_u64, 2]);
    let other = Arc::clone(&shared);
    let handle = thread::spawn(move || black_box(other.iter().sum::<u64>()));
    Arc::make_mut(&mut shared).push(3);
    handle.join().unwrap();
    assert_eq!(shared.len(), 3);
}

#[test]
fn a_weak_reference_is_upgraded() {
    let shared = Arc::new(numbers(1));
    let weak: Weak<_> = Arc::downgrade(&shared);
    let handle = thread::spawn(move || weak.upgrade().map(|found| sum(&found)));
    drop(shared);
    assert!(matches!(handle.join().unwrap(), None | Some(10)));
}

#[test]
fn bytes_that_many_know_of_and_the_library_drops() {
    // The library has instantiated this type itself.
    let shared = Arc::new(Mutex::new(Vec::<u8>::new()));
    let weak = Arc::downgrade(&shared);
    let other = Arc::clone(&shared);
    let first = thread::spawn(move || other.lock().unwrap().push(1));
    let second = thread::spawn(move || drop(weak.upgrade().map(|found| found.lock().unwrap().push(2))));
    drop(shared);
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn something_is_done_once() {
    static ONCE: Once = Once::new();
    static CELL: Mutex<Option<Box<[u64; 4]>>> = Mutex::new(None);
    let work = || {
        ONCE.call_once(|| *CELL.lock().unwrap() = Some(numbers(1)));
        assert!(ONCE.is_completed());
        assert_eq!(CELL.lock().unwrap().as_deref().map(sum), Some(10));
    };
    both(work, work);
}

#[test]
fn a_cell_is_filled_once() {
    static CELL: OnceLock<Box<[u64; 4]>> = OnceLock::new();
    let work = || assert_eq!(sum(CELL.get_or_init(|| numbers(1))), 10);
    both(work, work);
    assert_eq!(CELL.get().map(|found| sum(found)), Some(10));
}

#[test]
fn a_lazy_value_is_made_once() {
    static LAZY: LazyLock<HashMap<u64, u64>> = LazyLock::new(|| (0..4).map(|n| (n, n * n)).collect());
    let work = || assert_eq!(LAZY.get(&3), Some(&9));
    both(work, work);
}

#[test]
fn a_thread_is_unparked() {
    let slot = Mutex::new(None);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            while slot.lock().unwrap().is_none() {
                thread::park();
            }
            slot.lock().unwrap().take().map(|numbers: Box<[u64; 4]>| sum(&numbers))
        });
        *slot.lock().unwrap() = Some(numbers(1));
        waiter.thread().unpark();
        assert_eq!(waiter.join().unwrap(), Some(10));
    });
}

#[test]
fn a_thread_is_unparked_by_a_flag() {
    let (flag, cell) = (AtomicBool::new(false), OnceLock::new());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            while !flag.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(5));
            }
            cell.get().map(|numbers: &Box<[u64; 4]>| sum(numbers))
        });
        assert!(cell.set(numbers(1)).is_ok());
        flag.store(true, Ordering::Release);
        waiter.thread().unpark();
        assert_eq!(waiter.join().unwrap(), Some(10));
    });
}

#[test]
fn a_flag_publishes() {
    let (flag, slot) = (AtomicBool::new(false), OnceLock::new());
    both(
        || {
            assert!(slot.set(numbers(1)).is_ok());
            flag.store(true, Ordering::Release);
        },
        || {
            if flag.load(Ordering::Acquire) {
                assert_eq!(slot.get().map(|numbers| sum(numbers)), Some(10));
            }
        },
    );
}

#[test]
fn fences_publish() {
    let (flag, slot) = (AtomicBool::new(false), OnceLock::new());
    both(
        || {
            assert!(slot.set(numbers(1)).is_ok());
            fence(Ordering::Release);
            flag.store(true, Ordering::Relaxed);
        },
        || {
            if flag.load(Ordering::Relaxed) {
                fence(Ordering::Acquire);
                assert_eq!(slot.get().map(|numbers| sum(numbers)), Some(10));
            }
        },
    );
}

#[test]
fn tickets_are_drawn() {
    let (next, slots) = (AtomicUsize::new(0), [const { OnceLock::new() }; 6]);
    let work = || {
        for _ in 0..3 {
            let ticket = next.fetch_add(1, Ordering::Relaxed);
            assert!(slots[ticket].set(numbers(ticket as u64)).is_ok());
        }
    };
    both(work, work);
    assert!(slots.iter().all(|slot| slot.get().is_some()));
}

#[test]
fn thread_locals_are_everybodys_own() {
    thread_local!(static OWN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) });
    let work = || {
        OWN.with_borrow_mut(|own| own.push(1));
        OWN.with_borrow(|own| assert_eq!(own.len(), 1));
    };
    both(work, work);
}

#[test]
fn thread_locals_tell_when_they_are_dropped() {
    struct Tells(mpsc::Sender<Box<[u64; 4]>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            let _ = self.0.send(numbers(1));
        }
    }
    thread_local!(static OWN: RefCell<Option<Tells>> = const { RefCell::new(None) });
    let (sender, receiver) = channel();
    let handle = thread::spawn(move || OWN.set(Some(Tells(sender))));
    assert_eq!(sum(&receiver.recv().unwrap()), 10);
    handle.join().unwrap();
}

#[test]
fn threads_print() {
    let shared = Mutex::new(numbers(1));
    let work = || {
        println!("{:?}", shared.lock().unwrap());
        shared.lock().unwrap()[0] += 1;
        eprintln!("{:?}", shared);
    };
    both(work, work);
}

#[test]
fn work_is_stolen() {
    let queue = Mutex::new((0..6).map(numbers).collect::<Vec<_>>());
    let done = Mutex::new(0);
    let work = || {
        while let Some(numbers) = { queue.lock().unwrap().pop() } {
            *done.lock().unwrap() += sum(&numbers);
        }
    };
    both(work, work);
    assert_eq!(done.into_inner().unwrap(), 96);
}

#[test]
fn an_iterator_is_shared_by_chunks() {
    let mut values = vec![1_u64; 12];
    thread::scope(|scope| {
        for chunk in values.chunks_mut(4) {
            scope.spawn(|| chunk.iter_mut().for_each(|value| *value *= 2));
        }
    });
    assert_eq!(values.iter().sum::<u64>(), 24);
}

fn both(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(one);
        scope.spawn(other);
    });
}
