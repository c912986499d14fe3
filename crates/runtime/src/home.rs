//! The processor that threads run on which take turns.
//!
//! Only one of them runs at a time. If the next one was on another processor, that one has to be woken from its sleep, and this takes longer than
//! everything else at a change of turn. So all of them come to one processor, their home.
//!
//! Which one that is the kernel says: now and then a thread that begins to wait may be woken wherever there is room, and the others follow it there at
//! their next turns. So nobody stays where another program runs while processors are idle, and several recorded programs find one each.
//!
//! The program does not notice. Whoever asks where it may run, or starts another program, is let go first (`interpose/processor.rs`), and is back
//! after its next wait; so is a thread that goes on without its turn. A program that says itself who runs where is left alone.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::mode;
use crate::system::{self, ask_kernel};
use crate::thread::Thread;

/// Values of [`HOME`] and [`Thread::home`] that are no processors. All may run wherever the process may.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Whoever comes first says where home is.
const NOT_CHOSEN: u32 = u32::MAX - 1;
/// The thread may be woken anywhere, and home will be there.
const SEEKS: u32 = u32::MAX - 2;

/// After so long, in nanoseconds, the kernel is asked again.
const INTERVAL: u64 = 100_000_000;

/// The kernel knows at most so many processors.
const PROCESSORS: usize = 8192;

static HOME: AtomicU32 = AtomicU32::new(NOWHERE);
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

/// There is about to be a second thread. From now on they have a home, if that makes a difference.
pub(crate) fn open() {
    if mode::is_parallel() || IS_CLOSED.load(Ordering::Relaxed) || KNOWN.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: there is one thread.
    let allowed = unsafe { &mut *ALLOWED.0.get() };
    let known =
        ask_kernel(libc::SYS_sched_getaffinity, [0, allowed.len(), allowed.as_mut_ptr() as usize, 0, 0, 0]);
    let Some(known) = usize::try_from(known).ok().filter(|&known| known > 0) else { return };
    KNOWN.store(known, Ordering::Relaxed);
    if allowed.iter().map(|byte| byte.count_ones()).sum::<u32>() > 1 {
        HOME.store(NOT_CHOSEN, Ordering::Relaxed);
    }
}

/// The program says itself who runs where.
pub(crate) fn close() {
    IS_CLOSED.store(true, Ordering::Relaxed);
    HOME.store(NOWHERE, Ordering::Relaxed);
}

/// The calling thread is alone in a copy of the process.
pub(crate) fn begin_copy() {
    free_caller();
    HOME.store(NOWHERE, Ordering::Relaxed);
    KNOWN.store(0, Ordering::Relaxed);
}

/// It is the turn of the calling thread.
#[inline]
pub(crate) fn arrive(me: &Thread) {
    let home = HOME.load(Ordering::Relaxed);
    if me.home.load(Ordering::Relaxed) != home {
        move_to(me, home);
    }
}

#[cold]
fn move_to(me: &Thread, home: u32) {
    let seeks = me.home.load(Ordering::Relaxed) == SEEKS;
    match home {
        NOWHERE => return free(me),
        NOT_CHOSEN => choose(),
        _ if seeks => choose(),
        _ => {}
    }
    let home = HOME.load(Ordering::Relaxed);
    me.home.store(home, Ordering::Relaxed);
    if home < SEEKS && !pin(home) {
        // Whoever is responsible for the machine has taken it away.
        HOME.store(NOWHERE, Ordering::Relaxed);
    }
    if HOME.load(Ordering::Relaxed) == NOWHERE {
        // Somebody may have said so meanwhile.
        me.home.store(home, Ordering::Relaxed);
        free(me);
    }
}

/// Home is where the calling thread is.
fn choose() {
    let mut here = 0_u32;
    ask_kernel(libc::SYS_getcpu, [std::ptr::from_mut(&mut here) as usize, 0, 0, 0, 0, 0]);
    HOME.store(here, Ordering::Relaxed);
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
pub(crate) fn depart(me: &Thread) {
    let home = HOME.load(Ordering::Relaxed);
    if home < SEEKS && me.home.load(Ordering::Relaxed) == home {
        let now = system::coarse_now();
        if now.saturating_sub(CHOSEN.load(Ordering::Relaxed)) > INTERVAL {
            CHOSEN.store(now, Ordering::Relaxed);
            free(me);
            me.home.store(SEEKS, Ordering::Relaxed);
        }
    }
}

/// The thread may run wherever the process may, until its next turn. It is the calling one, or one that has no turn.
pub(crate) fn free(thread: &Thread) {
    if thread.home.swap(NOWHERE, Ordering::Relaxed) < SEEKS {
        allow(thread.kernel_id.load(Ordering::Relaxed));
    }
}

/// The calling thread ends. The kernel may give its number to somebody else.
pub(crate) fn end(me: &Thread) {
    me.home.store(NOWHERE, Ordering::Relaxed);
}

/// The caller may run wherever the process may. It may be no thread of ours, or a process that only borrows our memory.
pub(crate) fn free_caller() {
    if HOME.load(Ordering::Relaxed) != NOWHERE {
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
