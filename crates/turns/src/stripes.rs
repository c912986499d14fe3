//! Locks for stripes of memory, with clocks: how things are ordered when threads run in parallel.
//!
//! A line of memory belongs to a stripe. The thread that accesses it holds the stripe from before the access until
//! the record is written; and the record gets a clock that is larger than those of all records that were made under
//! this stripe before, and of all earlier ones of the thread. So for two accesses to the same memory the clocks tell
//! which one came first; and whatever depends on something else, over any number of steps, has the larger clock.
//!
//! Three more stripes are no line of memory: [`SYNC`] is held by who synchronises, [`MEMORY`] by who tells of memory
//! that comes or goes, [`OUTSIDE`] by who deals with what others than this process may see. Several stripes are
//! locked in the order of their numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::shared;
use crate::system::yield_processor;
use crate::thread::{Thread, me};

/// Held by who synchronises.
pub const SYNC: usize = 0;
/// Held by who allocates memory, or is about to free it.
pub const MEMORY: usize = 1;

/// Held by who accesses memory that has other addresses or is seen by other processes, or asks the kernel for
/// anything: all of these may be informed by one another, whatever their addresses.
pub const OUTSIDE: usize = 2;

const FIRST_LINE: usize = 3;
const LINES: usize = 1 << 10;
const COUNT: usize = FIRST_LINE + LINES;
/// The logarithm of how many bytes a line has.
const LINE: u32 = 6;
/// How often to look again before others may run.
const PATIENCE: u32 = 100;

/// The lowest bit tells whether it is locked; the rest is its clock, or who has locked it.
static STRIPES: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];

/// Stripes by their numbers.
#[derive(Clone, Copy)]
pub struct Set([u64; COUNT.div_ceil(64)]);

impl Set {
    const NONE: Set = Set([0; COUNT.div_ceil(64)]);

    /// One stripe.
    pub fn one(stripe: usize) -> Set {
        let mut set = Set::NONE;
        set.insert(stripe);
        set
    }

    /// All stripes but [`SYNC`].
    pub fn all_but_sync() -> Set {
        let mut set = Set::NONE;
        (SYNC + 1..COUNT).for_each(|stripe| set.insert(stripe));
        set
    }

    /// The stripes of the memory from `addr` on.
    pub fn of_range(addr: usize, bytes: usize) -> Set {
        let mut set = Set::NONE;
        set.add_range(addr, bytes);
        set
    }

    /// Adds the stripes of this memory.
    pub fn add_range(&mut self, addr: usize, bytes: usize) {
        if shared::contains(addr, bytes) {
            self.insert(OUTSIDE);
        }
        let first = addr >> LINE;
        let last = addr.saturating_add(bytes.max(1) - 1) >> LINE;
        for line in first..=last.min(first + LINES - 1) {
            self.insert(FIRST_LINE + line % LINES);
        }
    }

    fn insert(&mut self, stripe: usize) {
        if let Some(word) = self.0.get_mut(stripe / 64) {
            *word |= 1 << (stripe % 64);
        }
    }

    /// The stripes in the order of their numbers.
    fn stripes(&self) -> impl Iterator<Item = &'static AtomicU64> {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let stripe = 64 * index + rest.checked_ilog2().map(|_| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                STRIPES.get(stripe)
            })
        })
    }

    /// Locks them all; the largest of their clocks.
    pub fn lock(&self) -> u64 {
        self.stripes().map(lock).max().unwrap_or(0)
    }

    /// Unlocks them, with this clock.
    pub fn unlock(&self, clock: u64) {
        self.stripes().for_each(|stripe| unlock(stripe, clock));
    }
}

/// What is in a stripe while the thread has locked it.
fn mark(thread: Option<&Thread>) -> u64 {
    thread.map_or(0, |thread| u64::from(thread.id) + 1) << 1 | 1
}

/// The thread is about to jump away from wherever it is in our code: unlocks all stripes that it has. Returns a clock
/// that is as large as any that it can know of.
pub fn leave(me: &Thread, clock: u64) -> u64 {
    let seen = STRIPES.iter().map(|stripe| stripe.load(Ordering::SeqCst));
    let clock = seen.filter(|seen| seen & 1 == 0).map(|seen| seen >> 1).fold(clock, u64::max);
    for stripe in STRIPES.iter().filter(|stripe| stripe.load(Ordering::SeqCst) == mark(Some(me))) {
        unlock(stripe, clock);
    }
    clock
}

/// Locks one stripe; its clock.
#[inline]
pub fn lock(stripe: &AtomicU64) -> u64 {
    lock_as(me(), stripe)
}

/// The same for the calling thread, which knows who it is.
#[inline(always)]
pub fn lock_as(me: Option<&Thread>, stripe: &AtomicU64) -> u64 {
    let mark = mark(me);
    let seen = stripe.load(Ordering::Relaxed);
    if seen & 1 == 0 && stripe.compare_exchange(seen, mark, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        return seen >> 1;
    }
    wait_for(stripe, mark)
}

/// Locks a stripe that another thread has locked a moment ago.
#[cold]
fn wait_for(stripe: &AtomicU64, mark: u64) -> u64 {
    let mut tries = 0;
    loop {
        let seen = stripe.load(Ordering::Relaxed);
        if seen & 1 == 0
            && stripe.compare_exchange_weak(seen, mark, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return seen >> 1;
        }
        tries += 1;
        if tries > PATIENCE {
            yield_processor();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Unlocks it, with this clock.
#[inline]
pub fn unlock(stripe: &AtomicU64, clock: u64) {
    stripe.store(clock << 1, Ordering::Release);
}

/// The stripe of memory that lies within one line.
#[inline]
pub fn of_word(addr: usize, bytes: usize) -> Option<&'static AtomicU64> {
    let line = addr >> LINE;
    if (addr + bytes.max(1) - 1) >> LINE != line {
        return None;
    }
    if shared::contains(addr, bytes) {
        return STRIPES.get(OUTSIDE);
    }
    STRIPES.get(FIRST_LINE + line % LINES)
}

/// No thread holds any stripe: the process is a copy with one thread.
pub fn forget() {
    STRIPES.iter().for_each(|stripe| stripe.store(0, Ordering::Relaxed));
}
