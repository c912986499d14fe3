//! Memory, counted: where the limit comes near everything is asked to stop, so that what is known can still be
//! reported; and where there is none left at all, the end is a message and no crash.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::{memory, stop};

/// A thread counts for itself until it has come so far.
const STEP: i64 = 64 << 10;
/// After so much more it is asked what the system has really given.
const LOOK: i64 = 16 << 20;
/// What nothing could be proven with counts as an error.
const OUT_OF_MEMORY: i32 = 2;

/// How many bytes are in use.
static USED: AtomicI64 = AtomicI64::new(0);
/// With more, everything is asked to stop.
static ENOUGH: AtomicI64 = AtomicI64::new(i64::MAX);
/// With more that the system has really given, the end comes at once.
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
/// With so many bytes in use the system is asked next.
static NEXT_LOOK: AtomicI64 = AtomicI64::new(i64::MAX);
/// Everything was asked to stop.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread has taken and freed since it was last counted.
    static UNTOLD: Cell<i64> = const { Cell::new(0) };
}

/// The allocator of the program.
pub(crate) struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Limits the memory in use; the stop flag is set at three quarters of the limit, as there must be room for what he
/// does then.
pub(crate) fn limit(bytes: u64) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    ENOUGH.store(bytes / 4 * 3, Ordering::Relaxed);
    LIMIT.store(bytes, Ordering::Relaxed);
    NEXT_LOOK.store(bytes / 4 * 3, Ordering::Relaxed);
}

/// Whether one part of so many is in use of what lets everything stop.
pub(crate) fn is_taken(parts: i64) -> bool {
    USED.load(Ordering::Relaxed) > ENOUGH.load(Ordering::Relaxed) / parts
}

/// Whether everything was asked to stop.
pub(crate) fn is_short() -> bool {
    IS_SHORT.load(Ordering::Relaxed)
}

fn count(bytes: i64) {
    // Only a thread that has ended cannot count.
    let _ = UNTOLD.try_with(|untold| {
        let all = untold.get() + bytes;
        untold.set(if all.abs() < STEP { all } else { 0 });
        if all.abs() >= STEP {
            report(all);
        }
    });
}

#[cold]
fn report(bytes: i64) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if bytes <= 0 || used <= ENOUGH.load(Ordering::Relaxed) {
        return;
    }
    IS_SHORT.store(true, Ordering::Relaxed);
    // The next work may have begun meanwhile, and goes no further either.
    if !stop::is_requested() {
        stop::request();
    }
    // What was taken is not always used: only what the system has given counts in the end.
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    if used > next {
        NEXT_LOOK.store(used.saturating_add(LOOK), Ordering::Relaxed);
        let given = memory::in_use().and_then(|bytes| i64::try_from(bytes).ok());
        if given.is_some_and(|given| given > LIMIT.load(Ordering::Relaxed)) {
            end();
        }
    }
}

/// There is no way on, and nothing may be allocated.
#[cold]
#[expect(unsafe_code, reason = "destructors would need memory")]
fn end() -> ! {
    // If standard error is closed, nothing can be reported.
    let _ = std::io::stderr().write_all(
        b"foretell: error: out of memory; --memory allows more where the system has it, a smaller trace needs less\n",
    );
    // SAFETY: a process may end at any moment.
    unsafe { libc::_exit(OUT_OF_MEMORY) }
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

// SAFETY: the system's allocator does all of it; the sizes are counted.
#[expect(unsafe_code, reason = "this is what an allocator is made of")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: the caller keeps to what the trait asks for.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: the caller keeps to what the trait asks for.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(size(bytes) - size(layout.size()));
        // SAFETY: the block comes from the system's allocator, and the caller keeps to what the trait asks for.
        given(unsafe { System.realloc(start, layout, bytes) })
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        count(-size(layout.size()));
        // SAFETY: the block comes from the system's allocator, and the caller keeps to what the trait asks for.
        unsafe { System.dealloc(start, layout) }
    }
}

fn given(start: *mut u8) -> *mut u8 {
    if start.is_null() { end() } else { start }
}
