//! Memory of the detector's own, far away from the program's: whether races are looked for or not must not change any
//! address that the program gets, for the lengths of records depend on them, and on those the turns of threads.
//!
//! One thread at a time is in the detector, and whatever it allocates there comes from here.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::system::{self, kernel};
use crate::thread::mark_of_caller;

/// Where it is: neither the kernel nor the loader puts anything there by itself.
const START: usize = 0x1000_0000_0000;
/// How much there is. It takes no room before it is used.
const BYTES: usize = 1 << 38;
/// What everything is a multiple of.
const GRAIN: usize = 16;
/// For each power of two there are so many sizes of blocks.
const STEPS: usize = 8;
const SIZES: usize = usize::BITS as usize * STEPS;

/// Who is in the detector; 0 if no thread is.
static CALLER: AtomicUsize = AtomicUsize::new(0);

struct Arena {
    /// Where there was nothing so far; 0 if there is no arena.
    next: usize,
    /// The first free block of each size. The first word of a free block is the address of the next.
    free: [usize; SIZES],
}

struct ArenaCell(UnsafeCell<Arena>);

// SAFETY: only the thread that is in the detector touches it, and that is one.
unsafe impl Sync for ArenaCell {}

static ARENA: ArenaCell = ArenaCell(UnsafeCell::new(Arena { next: 0, free: [0; SIZES] }));

/// Begins with nothing allocated. If there is no room for it, the C library's memory has to do.
pub(crate) fn begin() {
    let how = system::word(libc::PROT_READ | libc::PROT_WRITE);
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let got = kernel(libc::SYS_mmap, [START, BYTES, how, system::word(kind), usize::MAX, 0]);
    let next = if usize::try_from(got) == Ok(START) { START } else { 0 };
    // SAFETY: there is one thread.
    unsafe { *ARENA.0.get() = Arena { next, free: [0; SIZES] } };
}

/// Gives everything back, whatever still points there.
pub(crate) fn forget() {
    CALLER.store(0, Ordering::SeqCst);
    kernel(libc::SYS_munmap, [START, BYTES, 0, 0, 0, 0]);
}

/// The calling thread is in the detector until this is dropped.
pub(crate) struct Within;

impl Drop for Within {
    #[inline(always)]
    fn drop(&mut self) {
        CALLER.store(0, Ordering::Relaxed);
    }
}

/// The calling thread is in the detector from now on.
#[inline(always)]
pub(crate) fn enter() -> Within {
    CALLER.store(mark_of_caller(), Ordering::Relaxed);
    Within
}

/// Whether the calling thread is in the detector.
pub(crate) fn is_within() -> bool {
    CALLER.load(Ordering::Relaxed) == mark_of_caller()
}

/// The thread in the detector has jumped out of it.
pub(crate) fn leave() {
    CALLER.store(0, Ordering::Relaxed);
}

/// The calling thread is in the detector meanwhile.
pub(crate) fn within<R>(act: impl FnOnce() -> R) -> R {
    let _within = enter();
    act()
}

/// Whether the address is one of these.
pub(crate) fn contains(block: *mut u8) -> bool {
    (START..START + BYTES).contains(&(block as usize))
}

/// Memory for the caller, if it is in the detector; and whether it was used before, so that there may be something in
/// it.
pub(crate) fn allocate(layout: Layout) -> Option<(*mut u8, bool)> {
    if CALLER.load(Ordering::Relaxed) != mark_of_caller() || layout.align() > GRAIN {
        return None;
    }
    // SAFETY: the caller is in the detector.
    let arena = unsafe { &mut *ARENA.0.get() };
    let (bytes, index) = size(layout.size());
    let first = arena.free.get_mut(index)?;
    if *first != 0 {
        let block = *first as *mut usize;
        // SAFETY: it is a free block, so its first word is ours.
        *first = unsafe { block.read() };
        return Some((block.cast(), true));
    }
    let end = arena.next.checked_add(bytes).filter(|&end| arena.next != 0 && end <= START + BYTES)?;
    Some((std::mem::replace(&mut arena.next, end) as *mut u8, false))
}

/// Takes a block back.
pub(crate) fn free(block: *mut u8, layout: Layout) {
    let (_, index) = size(layout.size());
    // SAFETY: the thread that gives it back is in the detector, or there is one thread.
    let arena = unsafe { &mut *ARENA.0.get() };
    if let Some(first) = arena.free.get_mut(index) {
        // SAFETY: the block was allocated here with at least a word, and its owner gives it back.
        unsafe { block.cast::<usize>().write(*first) };
        *first = block as usize;
    }
}

/// How many bytes a block has that is to have at least so many, and which of all sizes that is.
fn size(bytes: usize) -> (usize, usize) {
    let bytes = bytes.max(GRAIN);
    let power = bytes.next_power_of_two();
    let step = (power / 2 / STEPS).max(GRAIN);
    let rounded = bytes.next_multiple_of(step);
    let steps_below = (power - rounded) / step;
    (rounded, power.trailing_zeros() as usize * STEPS + steps_below.min(STEPS - 1))
}
