//! What is known of a thread of the program.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering, compiler_fence};

use foretell_schedule::Operation;
use foretell_wire::hook::front;
use foretell_wire::record::SyncOp;

use crate::affinity::NOWHERE;
use crate::detect;
use crate::log::Writer;
use crate::mode;
use crate::scheduler::Interruption;
use crate::stack::{Calls, Stack};
use crate::system::{let_signals_through, stack_end};

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

/// A thread of the program; lives as long as the process. Cells are touched by the thread itself alone. Instrumented
/// code knows how it begins.
#[repr(C)]
pub(crate) struct Thread {
    /// The calls that it is in.
    pub(crate) stack: Stack,
    /// Its records.
    log: UnsafeCell<Writer>,
    /// Threads are numbered in the order of their creation.
    pub(crate) id: u32,
    /// Whether it is the thread's turn: a word to wait on, see [`crate::scheduler`].
    pub(crate) go: AtomicU32,
    /// The number by which the kernel knows it; 0 before it runs, and once it is gone.
    pub(crate) kernel_id: AtomicI32,
    /// The processor that it stays on, see [`crate::affinity`].
    pub(crate) processor: AtomicU32,
    /// The number by which the C library knows it; 0 once it was joined.
    pub(crate) handle: AtomicU64,
    /// Its turn was given to others while it ran uninstrumented code.
    pub(crate) is_overtaken: AtomicBool,
    /// A handler of a signal has come to our code while the thread waited there, and may not have returned.
    pub(crate) is_interrupted: AtomicBool,
    /// Its turn, or its nap, was taken back because a handler keeps it from coming; it has to say when it is back.
    pub(crate) is_late: AtomicBool,
    /// It waits in a call that a handler of a signal ends.
    pub(crate) interruption: Cell<Option<Interruption>>,
    /// The signals whose handlers came in the midst of our code and were put off, a bit each.
    pub(crate) put_off: AtomicU64,
    /// A thread wants it to end where it can be cancelled.
    pub(crate) is_cancelled: AtomicBool,
    /// It may be cancelled at any moment.
    pub(crate) ends_anywhere: AtomicBool,
    /// A signal handler has touched memory while the thread was in our code.
    pub(crate) has_missed: Cell<bool>,
    /// How many turns had been given when it last went away.
    pub(crate) left: Cell<u64>,
    /// How often it has handed over at the end of a quantum.
    pub(crate) changes: Cell<u32>,
    /// How often it has met others.
    pub(crate) meetings: Cell<u32>,
    /// Where it last called out of instrumented code.
    pub(crate) site: Cell<u64>,
    /// The lock that it is trying to take, and what is to be told if it never gets it.
    pub(crate) attempt: Cell<Option<(SyncOp, usize)>>,
    /// What it is about to do, for those who ask a strategy whose turn it is.
    pub(crate) next: Cell<Operation>,
    /// What it is doing in a library that synchronises, if it is in one.
    pub(crate) library: Library,
    /// How often the end of the thread was put off, so that other destructors can run first.
    pub(crate) endings: Cell<u32>,
    /// What it runs.
    pub(crate) start: Option<(Start, *mut c_void)>,
    /// The signals that do not come to it, a bit each, once it runs code of the program.
    pub(crate) signals: Cell<u64>,
    /// Who has started it, and as which of its children, counted from 1; the first thread has none.
    pub(crate) descent: Cell<Option<(&'static Thread, u32)>>,
    /// How many threads it has started.
    pub(crate) children: Cell<u32>,
    /// How often it has passed a point at which it neither made a step nor handed over, see
    /// [`crate::scheduler::replay`].
    pub(crate) silence: Cell<u32>,
    /// The model of the function that it calls applies, see [`crate::models`].
    pub(crate) is_modelled: Cell<bool>,
    /// It has called an allocator without hooks, and nothing else since.
    pub(crate) allocates: Cell<bool>,
    /// How often in a row it has kept its turn for that.
    pub(crate) kept: Cell<u32>,
    /// Whether it asks whose allocator a function belongs to, see [`crate::allocator`].
    pub(crate) probes: Cell<bool>,
    /// What the call that it is about to make returns is not looked at.
    pub(crate) unasked: Cell<bool>,
    /// How many steps it had made when it was last about to make one.
    pub(crate) began: Cell<u64>,
    /// Until it has made so many steps it need not ask.
    pub(crate) allowed: Cell<u64>,
}

const _: () = {
    assert!(offset_of!(Thread, stack) == 0);
    assert!(offset_of!(Thread, log) as u64 == front::CURSOR);
};

/// What a thread is doing in a library that synchronises, see [`crate::primitives`].
#[derive(Default)]
pub(crate) struct Library {
    /// One more than the number of the calls in which it has entered the library; 0 if it has not.
    pub(crate) entered: Cell<u64>,
    /// Nothing that the library calls is the program's: whatever has hooks there is part of what is told already.
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

// SAFETY: cells are touched by the thread itself alone, and what it starts with is only handed on.
unsafe impl Sync for Thread {}
// SAFETY: as above.
unsafe impl Send for Thread {}

/// The log of a thread, borrowed for one call of a method. Only the thread itself writes there, or the one that has
/// its turn while no other thread runs; and neither holds on to the handle while it calls anything that writes, too.
/// No borrow is counted: a handler that jumps away would leave one for ever.
pub(crate) struct LogHandle<'a>(&'a UnsafeCell<Writer>);

impl Deref for LogHandle<'_> {
    type Target = Writer;

    #[inline(always)]
    fn deref(&self) -> &Writer {
        // SAFETY: nothing writes to the log as long as the handle is used, see above.
        unsafe { &*self.0.get() }
    }
}

impl DerefMut for LogHandle<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Writer {
        // SAFETY: nothing else reaches the log as long as the handle is used, see above.
        unsafe { &mut *self.0.get() }
    }
}

impl Thread {
    pub(crate) fn new(id: u32, start: Option<(Start, *mut c_void)>) -> &'static Thread {
        Box::leak(Box::new(Thread::fresh(id, start)))
    }

    fn fresh(id: u32, start: Option<(Start, *mut c_void)>) -> Thread {
        Thread {
            log: UnsafeCell::new(Writer::new(id)),
            id,
            go: AtomicU32::new(0),
            kernel_id: AtomicI32::new(0),
            processor: AtomicU32::new(NOWHERE),
            handle: AtomicU64::new(0),
            is_overtaken: AtomicBool::new(false),
            is_interrupted: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            interruption: Cell::new(None),
            put_off: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            ends_anywhere: AtomicBool::new(false),
            has_missed: Cell::new(false),
            left: Cell::new(0),
            changes: Cell::new(0),
            meetings: Cell::new(0),
            site: Cell::new(0),
            attempt: Cell::new(None),
            next: Cell::new(Operation::Other),
            stack: Stack::new(),
            library: Library::default(),
            endings: Cell::new(0),
            start,
            signals: Cell::new(0),
            descent: Cell::new(None),
            children: Cell::new(0),
            silence: Cell::new(0),
            is_modelled: Cell::new(false),
            allocates: Cell::new(false),
            kept: Cell::new(0),
            probes: Cell::new(false),
            unasked: Cell::new(false),
            began: Cell::new(0),
            allowed: Cell::new(0),
        }
    }

    /// Whether the memory that it gives back is the library's description of a thread or a scope. How often such are
    /// known is not told, so who else has looked at it would seem to race with that.
    pub(crate) fn forgets(&self) -> bool {
        self.library.forgets.get() || self.library.retires.get() && self.stack.is_empty()
    }

    /// It has started this one.
    pub(crate) fn adopt(&'static self, child: &Thread) {
        let number = self.children.get() + 1;
        self.children.set(number);
        child.descent.set(Some((self, number)));
    }

    /// Whether this is what it is called by descent, see [`foretell_wire::schedule`].
    pub(crate) fn is_called(&self, name: &str) -> bool {
        match (self.descent.get(), name.rsplit_once('.')) {
            (None, None) => name == "main",
            (Some((parent, number)), Some((rest, last))) => {
                last.parse() == Ok(number) && parent.is_called(rest)
            }
            _ => false,
        }
    }

    /// The first thread of a copy of the process, which is in the same calls as this one.
    pub(crate) fn copy(&self) -> &'static Thread {
        let copy = Thread { stack: self.stack.copy(), ..Thread::fresh(0, self.start) };
        copy.site.set(self.site.get());
        Box::leak(Box::new(copy))
    }

    /// Where its records go.
    #[inline(always)]
    pub(crate) fn log(&self) -> LogHandle<'_> {
        LogHandle(&self.log)
    }

    /// Tells the log which calls the thread is in, if that has changed.
    #[inline]
    pub(crate) fn tell_calls(&self) {
        let watches = detect::is_on();
        if self.stack.has_changed() && !(watches && self.stack.is_told()) {
            let (ended, made) = self.stack.tell(!watches);
            self.log().calls(ended, made);
        }
    }

    /// Calls an instrumented function; returns the calls before.
    #[inline]
    pub(crate) fn call(&self, site: u64) -> Calls {
        self.log().tick();
        self.log().close();
        self.stack.enter(site)
    }

    /// Calls code that is not instrumented; returns the calls before.
    pub(crate) fn call_outside(&self, site: u64) -> Calls {
        self.log().close();
        self.stack.leave(site)
    }

    /// The thread is back in these calls; says whether it comes from code that is not instrumented.
    #[inline]
    pub(crate) fn go_back(&self, calls: Calls) -> bool {
        self.log().close();
        self.stack.go_back(calls)
    }

    /// Whether the thread was not in our code, and now is.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        if self.log().is_inside() {
            return false;
        }
        self.log().enter(stack_end());
        // Who takes the turn away looks at the one after it has changed the other: see the scheduler.
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// Back to code of the program.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        compiler_fence(Ordering::SeqCst);
        self.log().leave();
    }

    /// Handlers that were put off run now. It has handed over, or is out of our code.
    #[inline]
    pub(crate) fn run_handlers(&self) {
        if self.put_off.load(Ordering::Relaxed) != 0 {
            let_signals_through(self.put_off.swap(0, Ordering::Relaxed));
        }
    }

    /// A hook was met in our code: by a signal handler. What it does is not recorded, so nothing may be reordered
    /// around it.
    #[cold]
    pub(crate) fn miss(&self) {
        self.has_missed.set(true);
        self.log().stop();
    }
}

// A thread-local variable whose address needs no call: we are there from the start of the program.
std::arch::global_asm!(
    ".pushsection .tbss.foretell_me,\"awT\",@nobits",
    ".p2align 3",
    ".globl foretell_me",
    ".hidden foretell_me",
    ".type foretell_me,@object",
    ".size foretell_me,8",
    "foretell_me:",
    ".zero 8",
    ".popsection",
);

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn place_of_me() -> *mut Option<&'static Thread> {
    let place;
    // SAFETY: the address of a thread-local variable is computed; nothing is accessed.
    unsafe {
        std::arch::asm!(
            "mov {place}, qword ptr fs:[0]",
            "add {place}, qword ptr [rip + foretell_me@GOTTPOFF]",
            place = out(reg) place,
            options(pure, nomem, nostack),
        );
    }
    place
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn place_of_me() -> *mut Option<&'static Thread> {
    let place;
    // SAFETY: the address of a thread-local variable is computed; nothing is accessed.
    unsafe {
        std::arch::asm!(
            "adrp {offset}, :gottprel:foretell_me",
            "ldr {offset}, [{offset}, :gottprel_lo12:foretell_me]",
            "mrs {place}, tpidr_el0",
            "add {place}, {place}, {offset}",
            place = out(reg) place,
            offset = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    place
}

/// The calling thread, if it is recorded.
#[inline(always)]
pub(crate) fn me() -> Option<&'static Thread> {
    // SAFETY: the variable is the calling thread's own.
    unsafe { place_of_me().read() }
}

/// A number that no other thread has, recorded or not; not 0.
#[inline]
pub(crate) fn mark_of_caller() -> usize {
    place_of_me() as usize
}

/// From now on the calling thread is recorded as this one, or not at all. Functions that run already may still know
/// who it was.
pub(crate) fn set_me(thread: Option<&'static Thread>) {
    if let Some(former) = me() {
        former.log().stop();
    }
    // SAFETY: the variable is the calling thread's own.
    unsafe { place_of_me().write(thread) };
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
