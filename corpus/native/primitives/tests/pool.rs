//! rayon: a pool of threads.

#![forbid(unsafe_code)]

use std::sync::Mutex;

use primitives::{numbers, sum};
use rayon::prelude::*;

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

#[test]
fn two_at_once() {
    let mut kept = numbers(1);
    let (left, right) = kept.split_at_mut(2);
    pool().install(|| rayon::join(|| left[0] = 6, || right[1] = 6));
    assert_eq!(*kept, [6, 2, 3, 6]);
}

#[test]
fn a_sum() {
    let values: Vec<u64> = (0..40).collect();
    assert_eq!(pool().install(|| values.par_iter().sum::<u64>()), 780);
}

#[test]
fn each_is_changed() {
    let mut values = vec![1_u64; 24];
    pool().install(|| values.par_iter_mut().for_each(|value| *value += 1));
    assert!(values.iter().all(|&value| value == 2));
}

#[test]
fn all_are_collected() {
    let found: Vec<_> = pool().install(|| (0..12_u64).into_par_iter().map(numbers).collect());
    assert_eq!(found.iter().map(|numbers| sum(numbers)).sum::<u64>(), 12 * 6 + 4 * 66);
}

#[test]
fn values_are_sorted() {
    let mut values: Vec<u64> = (0..30).map(|number| number * 7 % 30).collect();
    pool().install(|| values.par_sort_unstable());
    assert!(values.is_sorted());
}

#[test]
fn a_scope_of_tasks() {
    let mut kept = [0_u64; 3];
    pool().scope(|scope| {
        for (slot, number) in kept.iter_mut().zip(1..) {
            scope.spawn(move |_| *slot = number);
        }
    });
    assert_eq!(kept, [1, 2, 3]);
}

#[test]
fn a_task_is_let_go() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let pool = pool();
    pool.spawn(move || sender.send(numbers(1)).unwrap());
    assert_eq!(sum(&receiver.recv().unwrap()), 10);
}

#[test]
fn every_thread_does_it() {
    let seen = Mutex::new(Vec::new());
    pool().broadcast(|context| seen.lock().unwrap().push(context.index()));
    assert_eq!(seen.into_inner().unwrap().len(), 2);
}
