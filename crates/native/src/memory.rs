//! Which allocation an address belongs to at each moment.
//!
//! Memory that was freed and allocated again is other memory: each allocation, and the stack of each thread, is an era
//! of its own. Everything that is not known to be allocated belongs to [`Era::STATIC`].

use std::cell::Cell;
use std::collections::BTreeMap;

use foretell_wire::record::{Record, SyncOp};

/// The time for which a range of memory belongs to one purpose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Era(pub(crate) u32);

impl Era {
    /// Whatever was there from the beginning.
    pub(crate) const STATIC: Era = Era(0);
}

/// What an era is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Global variables and everything that is not known to be allocated.
    Static,
    /// A block of the heap; they are counted from 1 on.
    Heap(u32),
    /// A part of such a block, which a library hands out by itself; counted from 1 on.
    Part(u32),
    /// The stack of a thread.
    Stack(u32),
    /// An object of a managed heap; the site tells its type.
    Object(u64),
    /// Memory that was mapped again.
    Mapped,
    /// Memory that has other addresses as well, or is seen by other processes. Nothing is known of what happens
    /// there.
    Shared,
}

/// An era, and where its memory begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct About {
    pub(crate) start: u64,
    pub(crate) purpose: Purpose,
    /// Its memory was freed. Until it is allocated again, an access to it belongs to this era: a use after free, which
    /// is to be found.
    pub(crate) given_back: bool,
}

/// What happens to memory at a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The era begins.
    Begins(Era),
    /// The era ends: its memory was freed.
    Ends(Era),
}

/// The ranges that are known, as they come and go.
#[derive(Debug)]
pub(crate) struct Memory {
    /// End and era of each range, by its start. They do not overlap.
    live: BTreeMap<u64, (u64, Era)>,
    /// What each era is for, by its number.
    eras: Vec<About>,
    /// The eras whose memory, or a part of it, the newest era has taken over.
    replaced: Vec<Era>,
    blocks: u32,
    parts: u32,
    recent: Recent,
}

/// The ranges that were asked for last: start, end and era, each at a place that the address alone determines. What is
/// there holds for all addresses with this place.
#[derive(Debug)]
struct Recent {
    ranges: Box<[Cell<(u64, u64, Era)>]>,
}

impl Recent {
    const PLACES: u64 = 1 << 10;
    /// So many addresses side by side have one place.
    const GRAIN: u64 = 1 << 6;
    const NOTHING: (u64, u64, Era) = (0, 0, Era::STATIC);

    fn new() -> Recent {
        Recent { ranges: (0..Recent::PLACES).map(|_| Cell::new(Recent::NOTHING)).collect() }
    }

    #[inline]
    fn at(&self, addr: u64) -> &Cell<(u64, u64, Era)> {
        let place = (addr / Recent::GRAIN % Recent::PLACES) as usize;
        &self.ranges[place]
    }

    /// These addresses belong to another era from now on.
    fn forget(&self, start: u64, end: u64) {
        let (first, last) = (start / Recent::GRAIN, end.max(start) / Recent::GRAIN);
        if last - first >= Recent::PLACES {
            self.ranges.iter().for_each(|range| range.set(Recent::NOTHING));
        } else {
            (first..=last).for_each(|grain| self.at(grain * Recent::GRAIN).set(Recent::NOTHING));
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        let about = About { start: 0, purpose: Purpose::Static, given_back: false };
        let (live, recent) = (BTreeMap::new(), Recent::new());
        Memory { live, eras: vec![about], replaced: Vec::new(), blocks: 0, parts: 0, recent }
    }
}

impl Memory {
    /// The era that an address belongs to now.
    #[inline]
    pub(crate) fn era(&self, addr: u64) -> Era {
        let (start, end, era) = self.recent.at(addr).get();
        if start <= addr && addr < end { era } else { self.look_up(addr) }
    }

    fn look_up(&self, addr: u64) -> Era {
        let before = self.live.range(..=addr).next_back();
        let start = match before {
            Some((&start, &(end, era))) if addr < end => {
                self.recent.at(addr).set((start, end, era));
                return era;
            }
            Some((_, &(end, _))) => end,
            None => 0,
        };
        let end = self.live.range(addr..).next().map_or(u64::MAX, |(&start, _)| start);
        self.recent.at(addr).set((start, end, Era::STATIC));
        Era::STATIC
    }

    /// What an era is for.
    pub(crate) fn about(&self, era: Era) -> About {
        let unknown = About { start: 0, purpose: Purpose::Static, given_back: false };
        self.eras.get(era.0 as usize).copied().unwrap_or(unknown)
    }

    /// The eras whose memory, or a part of it, the newest era has taken over.
    pub(crate) fn replaced(&self) -> &[Era] {
        &self.replaced
    }

    /// Whether what is there may be changed and read at other addresses, or by other processes.
    pub(crate) fn is_shared(&self, addr: u64) -> bool {
        self.about(self.era(addr)).purpose == Purpose::Shared
    }

    /// Follows a record of this thread.
    pub(crate) fn follow(&mut self, thread: u32, record: &Record<'_>) -> Option<Change> {
        let Record::Sync { site, op, object, other } = *record else { return None };
        match op {
            SyncOp::Alloc => {
                self.blocks = self.blocks.saturating_add(1);
                let end = object.saturating_add(other.max(1));
                Some(Change::Begins(self.begin(object, end, Purpose::Heap(self.blocks))))
            }
            SyncOp::Object => {
                self.begin(object, object.saturating_add(other.max(1)), Purpose::Object(site));
                None
            }
            SyncOp::Part => {
                self.parts = self.parts.saturating_add(1);
                let end = object.saturating_add(other.max(1));
                Some(Change::Begins(self.begin(object, end, Purpose::Part(self.parts))))
            }
            SyncOp::Begin if object < other => {
                Some(Change::Begins(self.begin(object, other, Purpose::Stack(thread))))
            }
            SyncOp::Free if other > 0 => {
                let end = object.saturating_add(other);
                Some(Change::Begins(self.begin(object, end, Purpose::Mapped)))
            }
            SyncOp::Free => self.free(object),
            SyncOp::Shared => {
                let end = object.saturating_add(other);
                Some(Change::Begins(self.begin(object, end, Purpose::Shared)))
            }
            _ => None,
        }
    }

    /// The block that begins here is freed, unless it already was.
    fn free(&mut self, start: u64) -> Option<Change> {
        let (_, era) = *self.live.get(&start)?;
        let about = self.eras.get_mut(era.0 as usize)?;
        let first_time = !std::mem::replace(&mut about.given_back, true);
        first_time.then_some(Change::Ends(era))
    }

    /// A range is reused; what was there before is cut away.
    fn begin(&mut self, start: u64, end: u64, purpose: Purpose) -> Era {
        let overlapping: Vec<u64> = self
            .live
            .range(..end)
            .rev()
            .take_while(|&(_, &(other_end, _))| other_end > start)
            .map(|(&other, _)| other)
            .collect();
        self.replaced.clear();
        for other in overlapping {
            if let Some((other_end, era)) = self.live.remove(&other) {
                self.replaced.push(era);
                self.keep(other, start.min(other_end), era);
                self.keep(end.max(other), other_end, era);
            }
        }
        self.recent.forget(start, end);
        let era = Era(u32::try_from(self.eras.len()).unwrap_or(u32::MAX));
        self.eras.push(About { start, purpose, given_back: false });
        self.live.insert(start, (end, era));
        era
    }

    fn keep(&mut self, start: u64, end: u64, era: Era) {
        if start < end {
            self.live.insert(start, (end, era));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(op: SyncOp, object: u64, other: u64) -> Record<'static> {
        Record::Sync { site: 0, op, object, other }
    }

    #[test]
    fn memory_that_is_used_again_is_another() {
        let mut memory = Memory::default();
        assert_eq!(memory.era(0x100), Era::STATIC);
        memory.follow(0, &sync(SyncOp::Alloc, 0x100, 16));
        let first = memory.era(0x10F);
        assert_eq!((memory.era(0x100), memory.era(0x110)), (first, Era::STATIC));
        assert_eq!(memory.follow(1, &sync(SyncOp::Free, 0x100, 0)), Some(Change::Ends(first)));
        assert_eq!(memory.era(0x100), first, "nobody else uses it yet");
        assert_eq!(memory.follow(1, &sync(SyncOp::Free, 0x100, 0)), None, "it can be given back only once");
        memory.follow(0, &sync(SyncOp::Alloc, 0x100, 16));
        assert!(memory.era(0x100) != first && memory.era(0x100) != Era::STATIC);
        assert_eq!(memory.about(memory.era(0x100)).purpose, Purpose::Heap(2));
    }

    #[test]
    fn memory_that_others_see_is_told_apart_until_it_goes() {
        let mut memory = Memory::default();
        memory.follow(0, &sync(SyncOp::Shared, 0x1000, 0x1000));
        assert!(memory.is_shared(0x1000) && memory.is_shared(0x1FFF) && !memory.is_shared(0x2000));
        memory.follow(0, &sync(SyncOp::Free, 0x1000, 0x800));
        assert!(!memory.is_shared(0x1000) && memory.is_shared(0x1800));
    }

    #[test]
    fn what_was_asked_for_before_is_forgotten_where_it_changes() {
        let mut memory = Memory::default();
        let (first, last) = (0x10_0000, 0x10_0000 + 2 * Recent::PLACES * Recent::GRAIN);
        let places = || (first - 0x100..last + 0x100).step_by(0x18);
        memory.follow(0, &sync(SyncOp::Alloc, first, 0x1000));
        let ranges = [(first + 0x200, 0x30), (first + 0x208, 1), (first, last - first), (last - 8, 0x40)];
        for (start, bytes) in ranges {
            let before: Vec<Era> = places().map(|addr| memory.era(addr)).collect();
            memory.follow(0, &sync(SyncOp::Alloc, start, bytes));
            let new = Era(u32::try_from(memory.eras.len() - 1).unwrap());
            for (addr, before) in places().zip(before) {
                let expected = if (start..start + bytes).contains(&addr) { new } else { before };
                assert_eq!(memory.era(addr), expected, "{addr:#x} after {start:#x}");
            }
        }
    }

    #[test]
    fn a_range_within_another_leaves_the_rest() {
        let mut memory = Memory::default();
        memory.follow(0, &sync(SyncOp::Alloc, 0x100, 0x100));
        let outer = memory.era(0x100);
        memory.follow(2, &sync(SyncOp::Begin, 0x140, 0x180));
        let inner = memory.era(0x140);
        assert_eq!([0x13F, 0x140, 0x17F, 0x180].map(|at| memory.era(at)), [outer, inner, inner, outer]);
        assert_eq!(memory.about(inner).purpose, Purpose::Stack(2));
    }
}
