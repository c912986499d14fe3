//! Which functions are instrumented: each module lists its own when it is loaded.

use std::cell::UnsafeCell;
use std::collections::BTreeSet;

use crate::turn::Turn;

/// The addresses of all instrumented functions, to be touched by a thread that is alone.
struct Functions(UnsafeCell<BTreeSet<u64>>);

// Only one thread at a time is alone: it has its turn, or holds the stripe for synchronisation.
unsafe impl Sync for Functions {}

static FUNCTIONS: Functions = Functions(UnsafeCell::new(BTreeSet::new()));

/// These functions tell what they do.
pub(crate) fn add(_: &Turn, functions: &[u64]) {
    // We are alone, and the borrow ends here.
    unsafe { &mut *FUNCTIONS.0.get() }.extend(functions);
}

/// Whether the function at this address tells what it does.
pub(crate) fn is_instrumented(_: &Turn, function: u64) -> bool {
    // We are alone, and the borrow ends here.
    unsafe { &*FUNCTIONS.0.get() }.contains(&function)
}
