//! CPU affinity: pins all threads to one CPU where they run one at a time.
//!
//! If the next thread was on another CPU, that CPU has to be woken, which takes longer than the rest of a hand-over.
//!
//! The kernel chooses the CPU: from time to time a thread that begins to wait may be woken on any CPU, and the others
//! follow it there at their next turns. So no thread stays on a CPU that another program uses while others are idle,
//! and several recorded programs find one each.
//!
//! The program does not notice. A thread that asks for its affinity, or starts another program, is released first
//! (`interpose/processor.rs`), and is pinned again after its next wait; so is a thread that goes on without its turn.
//! A program that sets the affinity of its threads is left alone, unless it lets them run wherever the process may.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::mode;
use crate::system::{self, ask_kernel};
use crate::thread::Thread;

/// Values of [`PINNED_TO`] and [`Thread::processor`] that are no CPUs. All may run wherever the process may.
pub const NOWHERE: u32 = u32::MAX;
/// The first thread to come chooses the CPU.
const NOT_CHOSEN: u32 = u32::MAX - 1;
/// The thread may be woken anywhere, and the others follow it there.
const SEEKS: u32 = u32::MAX - 2;

/// After so long, in nanoseconds, the kernel is asked again.
const INTERVAL: u64 = 100_000_000;

/// The kernel knows at most so many processors.
const PROCESSORS: usize = 8192;

static PINNED_TO: AtomicU32 = AtomicU32::new(NOWHERE);
/// When it was chosen.
static CHOSEN: AtomicU64 = AtomicU64::new(0);
/// There is none: the program says itself who runs where, or did so before this copy was made of it.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
/// How many bytes of [`ALLOWED`] the kernel has filled; 0 if nothing is known.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// The processors that the process may use: a bit for each. Written while there is one thread.
struct Allowed(UnsafeCell<[u8; PROCESSORS / 8]>);

// SAFETY: it is written before there is a second thread, and only read afterwards.
unsafe impl Sync for Allowed {}

static ALLOWED: Allowed = Allowed(UnsafeCell::new([0; PROCESSORS / 8]));

/// There is about to be a second thread. From now on they have a cpu, if that makes a difference.
pub fn open() {
    if mode::is_parallel() || IS_CLOSED.load(Ordering::Relaxed) || KNOWN.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: there is one thread.
    let allowed = unsafe { &mut *ALLOWED.0.get() };
    let Some(known) = usize::try_from(ask_for_affinity(allowed)).ok().filter(|&known| known > 0) else {
        return;
    };
    KNOWN.store(known, Ordering::Relaxed);
    if allowed.iter().map(|byte| byte.count_ones()).sum::<u32>() > 1 {
        PINNED_TO.store(NOT_CHOSEN, Ordering::Relaxed);
    }
}

/// Whether this mask has all processors that the process may use. A thread that asks for no more may stay where it is,
/// unless the program has said before who runs where.
pub fn is_anywhere(mask: &[u8]) -> bool {
    if IS_CLOSED.load(Ordering::Relaxed) {
        return false;
    }
    let mut own = [0; PROCESSORS / 8];
    let known = match KNOWN.load(Ordering::Relaxed) {
        // Nothing is pinned yet.
        0 => usize::try_from(ask_for_affinity(&mut own)).unwrap_or(0),
        known => {
            // SAFETY: it was written before there was a second thread.
            own = unsafe { *ALLOWED.0.get() };
            known
        }
    };
    let has = |(index, processors): (usize, &u8)| processors & !mask.get(index).unwrap_or(&0) == 0;
    known > 0 && own.iter().take(known).enumerate().all(has)
}

/// Where the caller may run. Returns how many bytes the kernel has filled, or an error of the kernel.
fn ask_for_affinity(mask: &mut [u8]) -> i64 {
    ask_kernel(libc::SYS_sched_getaffinity, [0, mask.len(), mask.as_mut_ptr() as usize, 0, 0, 0])
}

/// The program says itself who runs where.
pub fn close() {
    IS_CLOSED.store(true, Ordering::Relaxed);
    PINNED_TO.store(NOWHERE, Ordering::Relaxed);
}

/// The calling thread is alone in a copy of the process.
pub fn begin_copy() {
    free_caller();
    PINNED_TO.store(NOWHERE, Ordering::Relaxed);
    KNOWN.store(0, Ordering::Relaxed);
}

/// It is the turn of the calling thread.
#[inline]
pub fn arrive(me: &Thread) {
    let cpu = PINNED_TO.load(Ordering::Relaxed);
    if me.processor.load(Ordering::Relaxed) != cpu {
        move_to(me, cpu);
    }
}

#[cold]
fn move_to(me: &Thread, cpu: u32) {
    let seeks = me.processor.load(Ordering::Relaxed) == SEEKS;
    match cpu {
        NOWHERE => return free(me),
        NOT_CHOSEN => choose(),
        _ if seeks => choose(),
        _ => {}
    }
    let cpu = PINNED_TO.load(Ordering::Relaxed);
    me.processor.store(cpu, Ordering::Relaxed);
    if cpu < SEEKS && !pin(cpu) {
        // The administrator of the machine has taken it away.
        PINNED_TO.store(NOWHERE, Ordering::Relaxed);
    }
    if PINNED_TO.load(Ordering::Relaxed) == NOWHERE {
        // A thread may have said so meanwhile.
        me.processor.store(cpu, Ordering::Relaxed);
        free(me);
    }
}

/// Home is where the calling thread is.
fn choose() {
    let mut here = 0_u32;
    ask_kernel(libc::SYS_getcpu, [std::ptr::from_mut(&mut here) as usize, 0, 0, 0, 0, 0]);
    PINNED_TO.store(here, Ordering::Relaxed);
    CHOSEN.store(system::coarse_now(), Ordering::Relaxed);
}

fn pin(processor: u32) -> bool {
    let mut mask = [0_u8; PROCESSORS / 8];
    let Some(byte) = mask.get_mut(processor as usize / 8) else { return false };
    *byte = 1 << (processor % 8);
    ask_kernel(libc::SYS_sched_setaffinity, [0, mask.len(), mask.as_ptr() as usize, 0, 0, 0]) == 0
}

/// The calling thread is about to wait for its turn.
#[inline]
pub fn depart(me: &Thread) {
    let cpu = PINNED_TO.load(Ordering::Relaxed);
    if cpu < SEEKS && me.processor.load(Ordering::Relaxed) == cpu {
        let now = system::coarse_now();
        if now.saturating_sub(CHOSEN.load(Ordering::Relaxed)) > INTERVAL {
            CHOSEN.store(now, Ordering::Relaxed);
            free(me);
            me.processor.store(SEEKS, Ordering::Relaxed);
        }
    }
}

/// The thread may run wherever the process may, until its next turn. It is the calling one, or one that has no turn.
pub fn free(thread: &Thread) {
    if thread.processor.swap(NOWHERE, Ordering::Relaxed) < SEEKS {
        allow(thread.kernel_id.load(Ordering::Relaxed));
    }
}

/// The calling thread ends. The kernel may give its number to another thread.
pub fn end(me: &Thread) {
    me.processor.store(NOWHERE, Ordering::Relaxed);
}

/// The caller may run wherever the process may. It may be no thread of ours, or a process that only borrows our
/// memory.
pub fn free_caller() {
    if PINNED_TO.load(Ordering::Relaxed) != NOWHERE {
        allow(0);
    }
}

fn allow(kernel_id: i32) {
    // SAFETY: it is written before there is a second thread only.
    let allowed = unsafe { &*ALLOWED.0.get() };
    let known = KNOWN.load(Ordering::Relaxed);
    let arguments = [system::word(kernel_id), known, allowed.as_ptr() as usize, 0, 0, 0];
    ask_kernel(libc::SYS_sched_setaffinity, arguments);
}
