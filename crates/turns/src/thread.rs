//! What is known of a thread of the program.

use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

use foretell_schedule::Operation;
use foretell_wire::hook::front;
use foretell_wire::record::SyncOp;

use crate::affinity::NOWHERE;
use crate::detect;
use crate::log::LogWriter;
use crate::scheduler::Interruption;
use crate::stack::{CallStack, Stack};
use crate::system::{let_signals_through, stack_end};

/// A thread of the program; lives as long as the process. Cells are touched by the thread itself alone. Instrumented
/// code knows how it begins.
#[repr(C)]
pub struct Thread {
    /// The calls that it is in.
    pub stack: Stack,
    /// Its records.
    log: UnsafeCell<LogWriter>,
    /// Threads are numbered in the order of their creation.
    pub id: u32,
    /// Whether it is the thread's turn: a word to wait on, see [`crate::scheduler`].
    pub go: AtomicU32,
    /// The number by which the kernel knows it; 0 before it runs, and once it is gone.
    pub kernel_id: AtomicI32,
    /// The processor that it stays on, see [`crate::affinity`].
    pub processor: AtomicU32,
    /// The number by which the C library knows it; 0 once it was joined.
    pub handle: AtomicU64,
    /// Its turn was given to others while it ran uninstrumented code.
    pub is_overtaken: AtomicBool,
    /// A handler of a signal has come to our code while the thread waited there, and may not have returned.
    pub is_interrupted: AtomicBool,
    /// Its turn, or its nap, was taken back because a handler keeps it from coming; it has to say when it is back.
    pub is_late: AtomicBool,
    /// It waits in a call that a handler of a signal ends.
    pub interruption: Cell<Option<Interruption>>,
    /// The signals whose handlers came in the midst of our code and were put off, a bit each.
    pub put_off: AtomicU64,
    /// A thread wants it to end where it can be cancelled.
    pub is_cancelled: AtomicBool,
    /// It may be cancelled at any moment.
    pub ends_anywhere: AtomicBool,
    /// A signal handler has touched memory while the thread was in our code.
    pub has_missed: Cell<bool>,
    /// How many turns had been given when it last went away.
    pub left: Cell<u64>,
    /// How often it has handed over at the end of a quantum.
    pub changes: Cell<u32>,
    /// How often it has met others.
    pub meetings: Cell<u32>,
    /// Where it last called out of instrumented code.
    pub site: Cell<u64>,
    /// The lock that it is trying to take, and what is to be reported if it never gets it; or the thread that it is to
    /// join, with [`SyncOp::Join`].
    pub attempt: Cell<Option<(SyncOp, usize)>>,
    /// What it is about to do, for those who ask a strategy whose turn it is.
    pub next: Cell<Operation>,
    /// Who has started it, and as which of its children, counted from 1; the first thread has none.
    pub descent: Cell<Option<(&'static Thread, u32)>>,
    /// How many threads it has started.
    pub children: Cell<u32>,
    /// How often it has passed a point at which it neither made a step nor handed over, see
    /// [`crate::scheduler::replay`].
    pub silence: Cell<u32>,
    /// How many steps it had made when it was last about to make one.
    pub began: Cell<u64>,
    /// Until it has made so many steps it need not ask.
    pub allowed: Cell<u64>,
    /// What its recorder knows of it beyond this; set once, by who makes it.
    pub own: AtomicPtr<()>,
}

const _: () = {
    assert!(offset_of!(Thread, stack) == 0);
    assert!(offset_of!(Thread, log) as u64 == front::CURSOR);
};

// SAFETY: cells are touched by the thread itself alone.
unsafe impl Sync for Thread {}
// SAFETY: as above.
unsafe impl Send for Thread {}

/// The log of a thread, borrowed for one call of a method. Only the thread itself writes there, or the one that has
/// its turn while no other thread runs; and neither holds on to the handle while it calls anything that writes, too.
/// No borrow is counted: a handler that jumps away would leave one for ever.
pub struct LogHandle<'a>(&'a UnsafeCell<LogWriter>);

impl Deref for LogHandle<'_> {
    type Target = LogWriter;

    #[inline(always)]
    fn deref(&self) -> &LogWriter {
        // SAFETY: nothing writes to the log as long as the handle is used, see above.
        unsafe { &*self.0.get() }
    }
}

impl DerefMut for LogHandle<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut LogWriter {
        // SAFETY: nothing else reaches the log as long as the handle is used, see above.
        unsafe { &mut *self.0.get() }
    }
}

impl Thread {
    /// The thread with this number, which has not done anything.
    pub fn new(id: u32) -> Thread {
        Thread {
            log: UnsafeCell::new(LogWriter::new(id)),
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
            descent: Cell::new(None),
            children: Cell::new(0),
            silence: Cell::new(0),
            began: Cell::new(0),
            allowed: Cell::new(0),
            own: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// It has started this one.
    pub fn adopt(&'static self, child: &Thread) {
        let number = self.children.get() + 1;
        self.children.set(number);
        child.descent.set(Some((self, number)));
    }

    /// Whether this is what it is called by descent, see [`foretell_wire::schedule`].
    pub fn is_called(&self, name: &str) -> bool {
        match (self.descent.get(), name.rsplit_once('.')) {
            (None, None) => name == "main",
            (Some((parent, number)), Some((rest, last))) => {
                last.parse() == Ok(number) && parent.is_called(rest)
            }
            _ => false,
        }
    }

    /// The first thread of a copy of the process, which is in the same calls as this one.
    pub fn copy(&self) -> Thread {
        let copy = Thread { stack: self.stack.copy(), ..Thread::new(0) };
        copy.site.set(self.site.get());
        copy
    }

    /// Where its records go.
    #[inline(always)]
    pub fn log(&self) -> LogHandle<'_> {
        LogHandle(&self.log)
    }

    /// Tells the log which calls the thread is in, if that has changed.
    #[inline]
    pub fn tell_calls(&self) {
        let watches = detect::is_on();
        if self.stack.has_changed() && !(watches && self.stack.is_told()) {
            let (ended, made) = self.stack.tell(!watches);
            self.log().calls(ended, made);
        }
    }

    /// Calls an instrumented function; returns the calls before.
    #[inline]
    pub fn call(&self, site: u64) -> CallStack {
        self.log().tick();
        self.log().close();
        self.stack.enter(site)
    }

    /// Calls code that is not instrumented; returns the calls before.
    pub fn call_outside(&self, site: u64) -> CallStack {
        self.log().close();
        self.stack.leave(site)
    }

    /// Calls a library whose effects are known; returns the calls before.
    pub fn call_known_library(&self, site: u64) -> CallStack {
        self.log().close();
        self.stack.leave_for_known_library(site)
    }

    /// The thread is back in these calls; says whether it comes from code that is not instrumented.
    #[inline]
    pub fn go_back(&self, calls: CallStack) -> bool {
        self.log().close();
        self.stack.go_back(calls)
    }

    /// Whether the thread was not in our code, and now is.
    #[inline(always)]
    pub fn enter(&self) -> bool {
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
    pub fn leave(&self) {
        compiler_fence(Ordering::SeqCst);
        self.log().leave();
    }

    /// Whether anything has happened that it does not know of yet, see [`crate::turn::Turn::catch_up`].
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.put_off.load(Ordering::Relaxed) != 0
            || self.has_missed.get()
            || self.is_overtaken.load(Ordering::Relaxed)
            || self.ends_anywhere.load(Ordering::Relaxed)
    }

    /// Handlers that were put off run now. It has handed over, or is out of our code.
    #[inline]
    pub fn run_handlers(&self) {
        if self.put_off.load(Ordering::Relaxed) != 0 {
            let_signals_through(self.put_off.swap(0, Ordering::Relaxed));
        }
    }

    /// A hook was met in our code: by a signal handler. What it does is not recorded, so nothing may be reordered
    /// around it.
    #[cold]
    pub fn miss(&self) {
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
pub fn me() -> Option<&'static Thread> {
    // SAFETY: the variable is the calling thread's own.
    unsafe { place_of_me().read() }
}

/// A number that no other thread has, recorded or not; not 0.
#[inline]
pub fn mark_of_caller() -> usize {
    place_of_me() as usize
}

/// From now on the calling thread is recorded as this one, or not at all. Functions that run already may still know
/// who it was.
pub fn set_me(thread: Option<&'static Thread>) {
    if let Some(former) = me() {
        former.log().stop();
    }
    // SAFETY: the variable is the calling thread's own.
    unsafe { place_of_me().write(thread) };
}
