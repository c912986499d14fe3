//! Which functions are instrumented: each module lists its own when it is loaded.

use std::cell::UnsafeCell;
use std::collections::BTreeSet;

use crate::turn::Turn;

/// The addresses of all instrumented functions, to be touched by the thread whose turn it is.
struct Functions(UnsafeCell<BTreeSet<u64>>);

// Only one thread at a time has its turn, and turns are handed over through the scheduler's lock.
unsafe impl Sync for Functions {}

static FUNCTIONS: Functions = Functions(UnsafeCell::new(BTreeSet::new()));

/// These functions tell what they do.
pub(crate) fn add(_: &Turn, functions: &[u64]) {
    // It is our turn, and the borrow ends here.
    unsafe { &mut *FUNCTIONS.0.get() }.extend(functions);
}

/// Whether the function at this address tells what it does.
pub(crate) fn is_instrumented(_: &Turn, function: u64) -> bool {
    // It is our turn, and the borrow ends here.
    unsafe { &*FUNCTIONS.0.get() }.contains(&function)
}
