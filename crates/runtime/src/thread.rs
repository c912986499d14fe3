//! What is known of a thread of the program.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

/// What a thread runs.
pub(crate) type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// A thread of the program; lives as long as the process. Cells are touched by the thread itself alone.
pub(crate) struct Thread {
    /// Threads are numbered in the order of their creation.
    pub(crate) id: u32,
    /// Whether it is the thread's turn: a word to wait on, see [`crate::scheduler`].
    pub(crate) go: AtomicU32,
    /// The number by which the kernel knows it; 0 before it runs, and once it is gone.
    pub(crate) kernel_id: AtomicI32,
    /// The number by which the C library knows it; 0 once it was joined.
    pub(crate) handle: AtomicU64,
    /// It is in our code: whatever it does is not the program's doing.
    pub(crate) inside: Cell<bool>,
    /// How many steps it goes on before it hands over.
    pub(crate) quantum: Cell<u32>,
    /// Where it last called out of instrumented code.
    pub(crate) site: Cell<u64>,
    /// In how many calls of code that is not instrumented it is.
    pub(crate) depth: Cell<u32>,
    /// What it is doing in a library that synchronises, if it is in one.
    pub(crate) library: Library,
    /// It has read something since its last recorded branch.
    pub(crate) has_read: Cell<bool>,
    /// How often the end of the thread was put off, so that other destructors can run first.
    pub(crate) endings: Cell<u32>,
    /// What it runs.
    pub(crate) start: Option<(Start, *mut c_void)>,
}

/// What a thread is doing in a library that synchronises, see [`crate::primitives`].
#[derive(Default)]
pub(crate) struct Library {
    /// One more than the depth at which it has entered the library; 0 if it has not.
    pub(crate) entered: Cell<u32>,
    /// It has waited there.
    pub(crate) waited: Cell<bool>,
    /// Its waiting was over without anybody waking it.
    pub(crate) timed_out: Cell<bool>,
    /// It is there to wait for its token.
    pub(crate) parks: Cell<bool>,
    /// The word that its token is in; 0 while that is not known.
    pub(crate) token: Cell<usize>,
    /// What was in the object's words when it entered.
    pub(crate) found: Cell<[u64; 3]>,
}

// Cells are touched by the thread itself alone, and what it starts with is only handed on.
unsafe impl Sync for Thread {}
unsafe impl Send for Thread {}

impl Thread {
    pub(crate) fn new(id: u32, start: Option<(Start, *mut c_void)>) -> &'static Thread {
        Box::leak(Box::new(Thread {
            id,
            go: AtomicU32::new(0),
            kernel_id: AtomicI32::new(0),
            handle: AtomicU64::new(0),
            inside: Cell::new(true),
            quantum: Cell::new(0),
            site: Cell::new(0),
            depth: Cell::new(0),
            library: Library::default(),
            has_read: Cell::new(false),
            endings: Cell::new(0),
            start,
        }))
    }
}

thread_local! {
    static ME: Cell<Option<&'static Thread>> = const { Cell::new(None) };
}

/// The calling thread, if it is recorded.
#[inline]
pub(crate) fn me() -> Option<&'static Thread> {
    ME.get()
}

/// From now on the calling thread is recorded as this one, or not at all.
pub(crate) fn set_me(thread: Option<&'static Thread>) {
    ME.set(thread);
}
