//! What is known of a thread of the program beyond what every recorder knows of one.

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_wire::hook::front;

use crate::mode;

pub(crate) use foretell_turns::thread::{Thread, me, set_me};

/// How many threads were started that no thread has waited for.
static UNJOINED: AtomicU32 = AtomicU32::new(0);

/// A thread was started.
pub(crate) fn note_start() {
    UNJOINED.fetch_add(1, Ordering::Relaxed);
}

/// A thread has waited for the end of a thread.
pub(crate) fn note_join() {
    UNJOINED.fetch_sub(1, Ordering::Relaxed);
}

/// Whether there are threads that were started and that no thread has waited for.
#[inline]
pub(crate) fn has_unjoined() -> bool {
    UNJOINED.load(Ordering::Relaxed) > 0
}

/// What a thread runs.
pub(crate) type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// A thread of a native program; lives as long as the process. Every thread that takes turns here is one.
pub(crate) struct Native {
    /// What every recorder knows of it.
    common: Thread,
    /// What it is doing in a library that synchronises, if it is in one.
    pub(crate) library: Library,
    /// How often the end of the thread was put off, so that other destructors can run first.
    pub(crate) endings: Cell<u32>,
    /// What it runs.
    pub(crate) start: Option<(Start, *mut c_void)>,
    /// The signals that do not come to it, a bit each, once it runs code of the program.
    pub(crate) signals: Cell<u64>,
    /// The model of the function that it calls applies, see [`crate::models`].
    pub(crate) is_modelled: Cell<bool>,
    /// The channel by which the library that it is in calls functions of the program; 0 if there is none.
    pub(crate) channel: Cell<u64>,
    /// Others may go on once the effects of that function are recorded.
    pub(crate) meets: Cell<bool>,
    /// It has called an allocator without hooks, and nothing else since.
    pub(crate) allocates: Cell<bool>,
    /// How often in a row it has kept its turn for that.
    pub(crate) kept: Cell<u32>,
    /// Whether it asks whose allocator a function belongs to, see [`crate::allocator`].
    pub(crate) probes: Cell<bool>,
    /// What the call that it is about to make returns is not looked at.
    pub(crate) unasked: Cell<bool>,
}

impl Deref for Native {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        &self.common
    }
}

impl Native {
    /// The thread with this number, which is going to run this.
    pub(crate) fn new(id: u32, start: Option<(Start, *mut c_void)>) -> &'static Native {
        Native::leak(Thread::new(id), start)
    }

    /// The first thread of a copy of the process, which is in the same calls as this one.
    pub(crate) fn copy(&self) -> &'static Native {
        Native::leak(self.common.copy(), self.start)
    }

    fn leak(common: Thread, start: Option<(Start, *mut c_void)>) -> &'static Native {
        let native = Box::leak(Box::new(Native {
            common,
            library: Library::default(),
            endings: Cell::new(0),
            start,
            signals: Cell::new(0),
            is_modelled: Cell::new(false),
            channel: Cell::new(0),
            meets: Cell::new(false),
            allocates: Cell::new(false),
            kept: Cell::new(0),
            probes: Cell::new(false),
            unasked: Cell::new(false),
        }));
        let whole = std::ptr::from_mut(native);
        native.common.own.store(whole.cast(), Ordering::Relaxed);
        native
    }

    /// Whether the memory that it gives back is the library's description of a thread or a scope. How often such are
    /// known is not recorded, so a thread that has looked at it would seem to race with that.
    pub(crate) fn forgets(&self) -> bool {
        self.library.forgets.get() || self.library.retires.get() && self.stack.is_empty()
    }
}

/// From what every recorder knows of a thread to the rest.
pub(crate) trait AsNative {
    /// The thread as a whole.
    fn native(&self) -> &Native;
}

impl AsNative for Thread {
    #[inline(always)]
    fn native(&self) -> &Native {
        // SAFETY: all threads of a native program are made by `Native::leak`, which sets this.
        unsafe { &*self.own.load(Ordering::Relaxed).cast() }
    }
}

/// What a thread is doing in a library that synchronises, see [`crate::primitives`].
#[derive(Default)]
pub(crate) struct Library {
    /// One more than the number of the calls in which it has entered the library; 0 if it has not.
    pub(crate) entered: Cell<u64>,
    /// Nothing that the library calls is the program's: whatever has hooks there is part of what is recorded already.
    pub(crate) is_closed: Cell<bool>,
    /// It has waited there.
    pub(crate) waited: Cell<bool>,
    /// Its waiting was over without any thread waking it.
    pub(crate) timed_out: Cell<bool>,
    /// The condition and the lock that it is about to wait with, if it is there for that and has not begun to.
    pub(crate) waits_with: Cell<Option<(usize, u64)>>,
    /// It is there to start a thread.
    pub(crate) spawns: Cell<bool>,
    /// It was started there, so that what it runs first is known.
    pub(crate) is_spawned: Cell<bool>,
    /// It is there to wait for its token.
    pub(crate) parks: Cell<bool>,
    /// The word that its token is in; 0 while that is not known.
    pub(crate) token: Cell<usize>,
    /// What was in the object's word when it entered.
    pub(crate) found: Cell<u32>,
    /// It is there to drop what the library knows of a thread or of a scope.
    pub(crate) forgets: Cell<bool>,
    /// It has given up its result: what is left is its end.
    pub(crate) retires: Cell<bool>,
    /// The scope whose thread's result it is dropping.
    pub(crate) leaves: Cell<Option<u64>>,
    /// What it was doing when the program's own allocator was called there, and how often that was called within
    /// itself.
    outer: Cell<Option<Outer>>,
    allocators: Cell<u32>,
}

/// What a thread was doing in a library, as far as it matters to what is done within.
#[derive(Clone, Copy)]
struct Outer {
    entered: u64,
    is_closed: bool,
    waited: bool,
    timed_out: bool,
    waits_with: Option<(usize, u64)>,
    spawns: bool,
    parks: bool,
    found: u32,
    forgets: bool,
    retires: bool,
    leaves: Option<u64>,
}

impl Library {
    /// The program's own allocator begins, which is no part of the library.
    pub(crate) fn begin_allocator(&self) {
        self.allocators.set(self.allocators.get() + 1);
        if self.allocators.get() > 1 {
            return;
        }
        self.outer.set(Some(Outer {
            entered: self.entered.take(),
            is_closed: self.is_closed.take(),
            waited: self.waited.take(),
            timed_out: self.timed_out.take(),
            waits_with: self.waits_with.take(),
            spawns: self.spawns.take(),
            parks: self.parks.take(),
            found: self.found.take(),
            forgets: self.forgets.take(),
            retires: self.retires.take(),
            leaves: self.leaves.take(),
        }));
    }

    /// Whether the thread is in the program's own allocator.
    pub(crate) fn is_in_allocator(&self) -> bool {
        self.allocators.get() > 0
    }

    /// The thread is back in the library.
    pub(crate) fn end_allocator(&self) {
        self.allocators.set(self.allocators.get().saturating_sub(1));
        if self.allocators.get() > 0 {
            return;
        }
        let Some(outer) = self.outer.take() else { return };
        self.entered.set(outer.entered);
        self.is_closed.set(outer.is_closed);
        self.waited.set(outer.waited);
        self.timed_out.set(outer.timed_out);
        self.waits_with.set(outer.waits_with);
        self.spawns.set(outer.spawns);
        self.parks.set(outer.parks);
        self.found.set(outer.found);
        self.forgets.set(outer.forgets);
        self.retires.set(outer.retires);
        self.leaves.set(outer.leaves);
    }

    /// The thread has jumped out of it.
    pub(crate) fn leave(&self) {
        self.entered.set(0);
        self.is_closed.set(false);
        self.waits_with.set(None);
        self.spawns.set(false);
        self.parks.set(false);
        self.leaves.set(None);
        self.forgets.set(false);
        self.outer.set(None);
        self.allocators.set(0);
    }
}

/// What those find who are not recorded: a thread is inside.
#[expect(clippy::cast_possible_truncation, reason = "the front has a few bytes")]
static NOBODY: [u8; front::ADDRS as usize] = {
    let mut bytes = [0; front::ADDRS as usize];
    bytes[front::INSIDE as usize] = 1;
    bytes
};

/// Only where threads take turns does instrumented code write to the log by itself.
#[unsafe(no_mangle)]
extern "C" fn __foretell_thread() -> *const c_void {
    me().filter(|_| !mode::is_parallel()).map_or(NOBODY.as_ptr().cast(), |me| std::ptr::from_ref(me).cast())
}
