//! Which block of memory an address belongs to, and since when.
//!
//! An access to a block comes after its allocation, and the allocator hands memory out again only after it was freed.
//! The language guarantees both orders, and both are kept here. Freed memory belongs to its last block until it is
//! allocated again: an access to it is one to that block.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use foretell_wire::races;
use rustc_hash::FxHashMap;

use crate::calls::CallTree;
use crate::clock::{Clock, Epoch};
use crate::place::AccessSite;

/// What a block is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockPurpose {
    Heap,
    /// The stack of a thread.
    Stack(u32),
    /// A part of a block, which a library hands out by itself.
    Part,
    /// Memory that was mapped again.
    Mapped,
    /// Memory that has other addresses as well, or is seen by other processes.
    Outside,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub(crate) struct BlockEnd {
    pub(crate) epoch: Epoch,
    pub(crate) place: AccessSite,
    /// What came before.
    pub(crate) known: Arc<Clock>,
}

/// A block of memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBlock {
    /// Where it began, if a part of it is something else now.
    first: u64,
    /// How long it was then.
    bytes: u64,
    pub(crate) purpose: BlockPurpose,
    /// When and where it was allocated.
    pub(crate) birth: Epoch,
    pub(crate) place: AccessSite,
    /// What came before that.
    pub(crate) known: Arc<Clock>,
    /// It was freed, or is the stack of a thread that has ended.
    pub(crate) end: Option<BlockEnd>,
}

impl MemoryBlock {
    pub(crate) fn new(
        range: &Range<u64>,
        purpose: BlockPurpose,
        birth: Epoch,
        place: AccessSite,
        known: Arc<Clock>,
    ) -> MemoryBlock {
        let bytes = range.end.saturating_sub(range.start);
        MemoryBlock { first: range.start, bytes, purpose, birth, place, known, end: None }
    }

    /// The block as it is reported.
    pub(crate) fn reported(&self, calls: &CallTree) -> races::RaceMemory {
        match self.purpose {
            BlockPurpose::Heap | BlockPurpose::Part => races::RaceMemory::Heap {
                start: self.first,
                bytes: self.bytes,
                thread: self.birth.thread(),
                site: self.place.site,
                calls: calls.path(self.place.context()),
            },
            BlockPurpose::Stack(thread) => races::RaceMemory::Stack(thread),
            BlockPurpose::Mapped | BlockPurpose::Outside => races::RaceMemory::Static,
        }
    }
}

/// All blocks. They do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// End and block, by its start.
    live: BTreeMap<u64, (u64, MemoryBlock)>,
    /// Where the stack of each thread begins.
    stacks: FxHashMap<u32, u64>,
}

impl Blocks {
    /// The block that the address belongs to.
    pub(crate) fn at(&self, addr: u64) -> Option<&MemoryBlock> {
        let (_, (end, block)) = self.live.range(..=addr).next_back()?;
        (addr < *end).then_some(block)
    }

    /// The block that begins here, and where it ends.
    pub(crate) fn beginning_at(&mut self, start: u64) -> Option<(u64, &mut MemoryBlock)> {
        self.live.get_mut(&start).map(|(end, block)| (*end, block))
    }

    /// The thread has ended, and its stack can become another's.
    pub(crate) fn end_stack(&mut self, thread: u32, end: BlockEnd) {
        let Some(&start) = self.stacks.get(&thread) else { return };
        if let Some((_, block)) =
            self.live.get_mut(&start).filter(|(_, block)| block.purpose == BlockPurpose::Stack(thread))
        {
            block.end = Some(end);
        }
    }

    /// The blocks that have a part of this range, with that part.
    pub(crate) fn within(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &MemoryBlock)> {
        let Range { start, end } = range;
        let before = self.live.range(..start).next_back();
        before.into_iter().chain(self.live.range(start..end)).filter_map(move |(&from, (to, block))| {
            let part = from.max(start)..(*to).min(end);
            (part.start < part.end).then_some((part, block))
        })
    }

    /// A range is allocated again: cuts away what was there before, and returns those blocks.
    pub(crate) fn cut(&mut self, range: &Range<u64>) -> Vec<MemoryBlock> {
        let overlaps = self.live.range(..range.end).rev().take_while(|(_, (end, _))| *end > range.start);
        let starts: Vec<u64> = overlaps.map(|(&start, _)| start).collect();
        let mut replaced = Vec::new();
        for start in starts {
            let Some((end, block)) = self.live.remove(&start) else { continue };
            if start < range.start {
                self.live.insert(start, (range.start, block.clone()));
            }
            if range.end < end {
                self.live.insert(range.end, (end, block.clone()));
            }
            replaced.push(block);
        }
        replaced
    }

    /// The block is there from now on, where nothing else is.
    pub(crate) fn add(&mut self, range: &Range<u64>, block: MemoryBlock) {
        if let BlockPurpose::Stack(thread) = block.purpose {
            self.stacks.insert(thread, range.start);
        }
        self.live.insert(range.start, (range.end, block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(range: &Range<u64>, purpose: BlockPurpose) -> MemoryBlock {
        MemoryBlock::new(range, purpose, Epoch::NONE, AccessSite::default(), Arc::default())
    }

    #[test]
    fn a_block_within_another_leaves_the_rest() {
        let mut blocks = Blocks::default();
        let (outer, inner) = (0x100..0x200, 0x140..0x180);
        blocks.add(&outer, block(&outer, BlockPurpose::Heap));
        assert_eq!(blocks.cut(&inner).len(), 1);
        blocks.add(&inner, block(&inner, BlockPurpose::Stack(2)));
        let purpose = |addr| blocks.at(addr).map(|block| block.purpose);
        assert_eq!(purpose(0x13F), Some(BlockPurpose::Heap));
        assert_eq!(purpose(0x140), Some(BlockPurpose::Stack(2)));
        assert_eq!(purpose(0x180), Some(BlockPurpose::Heap));
        assert_eq!(purpose(0x200), None);
        let parts: Vec<_> = blocks.within(0x150..0x190).map(|(part, _)| part).collect();
        assert_eq!(parts, [0x150..0x180, 0x180..0x190]);
    }
}
