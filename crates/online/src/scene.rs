//! The current access: its thread, its site, and the state to compare it with.

use foretell_wire::races::{self, LoggedRace};

use crate::blocks::{BlockPurpose, Blocks};
use crate::calls::CallTree;
use crate::clock::Epoch;
use crate::languages::Languages;
use crate::order::Order;
use crate::place::AccessSite;
use crate::reports::RaceReports;

/// The access, and what is known beside the memory that it touches.
pub(crate) struct Scene<'a> {
    pub(crate) thread: u32,
    /// The current epoch of the thread.
    pub(crate) now: Epoch,
    pub(crate) place: AccessSite,
    /// The access has turned out to order others, whatever it is: to make it again is something new.
    pub(crate) orders: bool,
    pub(crate) order: &'a mut Order,
    pub(crate) blocks: &'a Blocks,
    pub(crate) calls: &'a CallTree,
    pub(crate) languages: &'a Languages,
    pub(crate) reports: &'a mut RaceReports,
}

impl Scene<'_> {
    /// Whether the epoch comes before this access.
    #[inline(always)]
    pub(crate) fn is_before(&self, epoch: Epoch) -> bool {
        epoch.thread() == self.thread || self.order.is_before(epoch, self.thread)
    }

    /// Everything so far comes before everything from now on.
    pub(crate) fn fence(&mut self) {
        self.orders = true;
        self.order.fence(self.thread);
        self.now = self.order.now(self.thread);
    }

    /// No thread can touch memory that is not there yet: the thread comes after the allocation.
    #[cold]
    pub(crate) fn learn_birth(&mut self, addr: u64) {
        if let Some(block) = self.blocks.at(addr)
            && !self.order.is_before(block.birth, self.thread)
        {
            self.order.learn(self.thread, &block.known);
        }
    }

    /// The access is to bytes that no thread has written since they were allocated. If nothing orders it after the
    /// allocation of a block, that is a race: to allocate is to write. What comes after it is ordered.
    #[cold]
    pub(crate) fn meet_birth(&mut self, addr: u64) {
        let blocks = self.blocks;
        if let Some(block) = blocks.at(addr).filter(|block| block.purpose == BlockPurpose::Heap)
            && !self.is_before(block.birth)
        {
            self.report(block.birth, &block.place, addr);
        }
        self.learn_birth(addr);
    }

    /// It is a race with an earlier access to these bytes, unless something orders the two.
    #[inline(always)]
    pub(crate) fn compare(&mut self, earlier: Epoch, there: &AccessSite, addr: u64) {
        if !self.is_before(earlier) {
            self.compare_with_care(earlier, there, addr);
        }
    }

    #[cold]
    fn compare_with_care(&mut self, earlier: Epoch, there: &AccessSite, addr: u64) {
        self.learn_birth(addr);
        if !self.is_before(earlier) {
            self.report(earlier, there, addr);
        }
    }

    fn report(&mut self, earlier: Epoch, there: &AccessSite, addr: u64) {
        let (calls, blocks) = (self.calls, self.blocks);
        let told = |epoch: Epoch, place: &AccessSite| races::LoggedAccess {
            thread: epoch.thread(),
            kind: place.kind(),
            bytes: place.bytes().into(),
            site: place.site,
            calls: calls.path(place.context()),
        };
        let (now, place) = (self.now, self.place);
        self.reports.add(there.site, place.site, || LoggedRace {
            address: addr,
            first: told(earlier, there),
            second: told(now, &place),
            memory: blocks.at(addr).map_or(races::RaceMemory::Static, |block| block.reported(calls)),
        });
    }
}
