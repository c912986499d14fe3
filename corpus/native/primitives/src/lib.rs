//! What tests share.

use std::cell::UnsafeCell;

/// Some numbers in memory of their own, to be written by one thread and read by another.
pub fn numbers(first: u64) -> Box<[u64; 4]> {
    Box::new([first, first + 1, first + 2, first + 3])
}

/// Their sum.
pub fn sum(numbers: &[u64; 4]) -> u64 {
    numbers.iter().sum()
}

/// A number that nobody protects, for tests that are to have a race.
#[derive(Default)]
pub struct Unprotected(UnsafeCell<u64>);

unsafe impl Sync for Unprotected {}

impl Unprotected {
    /// One more.
    pub fn count(&self) {
        unsafe { *self.0.get() += 1 };
    }
}
