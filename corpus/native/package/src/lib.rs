//! Something to share.

use std::cell::UnsafeCell;

/// A number that nobody protects.
#[derive(Default)]
pub struct Unprotected(UnsafeCell<u32>);

unsafe impl Sync for Unprotected {}

impl Unprotected {
    /// One more.
    pub fn count(&self) {
        unsafe { *self.0.get() += 1 };
    }
}
