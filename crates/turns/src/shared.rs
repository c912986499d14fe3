//! Memory that others may see: mapped so that another process, or this one at another address, has the same.
//!
//! What is done there and what is found there cannot be distinguished by address. So accesses to it are fences, and so
//! is everything that is done to a lock or another object in it. Memory without a file can be seen by others only
//! once there is a copy of the process, and until then it is memory like any other.

use std::sync::atomic::{AtomicUsize, Ordering};

use foretell_wire::record::SyncOp;

use crate::spin::Spin;
use crate::thread::Thread;
use crate::turn::Turn;

/// A range of such memory.
#[derive(Clone, Copy)]
struct Range {
    start: usize,
    end: usize,
    /// The log knows of it.
    is_told: bool,
}

static RANGES: Spin<Vec<Range>> = Spin::new(Vec::new());
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether there is such memory.
#[inline]
pub fn is_there() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Whether any of so many bytes may be seen by others.
#[inline]
pub fn contains(addr: usize, bytes: usize) -> bool {
    is_there() && overlaps(addr, bytes)
}

#[cold]
fn overlaps(addr: usize, bytes: usize) -> bool {
    let end = addr.saturating_add(bytes.max(1));
    RANGES.with(|ranges| ranges.iter().any(|range| range.start < end && addr < range.end))
}

/// Others may see this memory, if not now then once the process is copied.
pub fn add(start: usize, bytes: usize, is_seen: bool) {
    let end = start.saturating_add(bytes);
    if start == end {
        return;
    }
    RANGES.with(|ranges| {
        cut(ranges, start, end);
        ranges.push(Range { start, end, is_told: is_seen });
        COUNT.store(ranges.len(), Ordering::SeqCst);
    });
    if is_seen && let Some(turn) = Turn::take() {
        tell(&turn, Range { start, end, is_told: true });
    }
}

/// This memory is no more, or is another's from now on.
pub fn remove(start: usize, bytes: usize) {
    if !is_there() {
        return;
    }
    RANGES.with(|ranges| {
        cut(ranges, start, start.saturating_add(bytes));
        COUNT.store(ranges.len(), Ordering::SeqCst);
    });
}

fn cut(ranges: &mut Vec<Range>, start: usize, end: usize) {
    let old = std::mem::take(ranges);
    for range in old {
        let before = Range { end: range.end.min(start), ..range };
        let after = Range { start: range.start.max(end), ..range };
        ranges.extend([before, after].into_iter().filter(|part| part.start < part.end));
    }
}

/// The process was copied, and this is the original: both see this memory from now on.
pub extern "C" fn begin_to_share() {
    if !is_there() {
        return;
    }
    let Some(turn) = Turn::take() else { return };
    for range in untold() {
        tell(&turn, range);
    }
}

fn untold() -> Vec<Range> {
    RANGES.with(|ranges| {
        let untold = ranges.iter().copied().filter(|range| !range.is_told).collect();
        ranges.iter_mut().for_each(|range| range.is_told = true);
        untold
    })
}

/// Tells a new log of all such memory.
pub fn tell_all(turn: &Turn) {
    if is_there() {
        untold();
        let ranges = RANGES.with(|ranges| ranges.clone());
        ranges.into_iter().for_each(|range| tell(turn, range));
    }
}

/// The thread is about to jump away from wherever it is in our code.
pub fn leave(me: &'static Thread) {
    RANGES.leave(me);
}

/// The process is a copy with one thread.
pub fn forget() {
    RANGES.forget();
}

fn tell(turn: &Turn, range: Range) {
    turn.log_memory(SyncOp::Shared, range.start, range.end - range.start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_where_memory_is_unmapped() {
        let range = |start, end| Range { start, end, is_told: false };
        let ends = |ranges: &[Range]| ranges.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>();
        let mut ranges = vec![range(10, 20), range(30, 40)];
        cut(&mut ranges, 15, 35);
        assert_eq!(ends(&ranges), [(10, 15), (35, 40)]);
        cut(&mut ranges, 11, 12);
        let mut left = ends(&ranges);
        left.sort_unstable();
        assert_eq!(left, [(10, 11), (12, 15), (35, 40)]);
    }
}
