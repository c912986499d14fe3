//! What each record means.

use std::ops::Range;

use foretell_wire::holders::HoldMode;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::races::{LoggedRace, RacingAccessKind};
use foretell_wire::record::{EXIT, LARGEST_LOCAL, Record, SyncOp};
use foretell_wire::site::SourceLanguage;

use crate::blocks::{BlockEnd, BlockPurpose, Blocks, MemoryBlock};
use crate::calls::{CallTree, StackPosition};
use crate::cell::How;
use crate::clock::{Epoch, MOST_THREADS};
use crate::languages::Languages;
use crate::order::Order;
use crate::place::AccessSite;
use crate::reports::RaceReports;
use crate::scene::Scene;
use crate::shadow::{ShadowMemory, WORD};

/// Finds races among the records of a program.
#[derive(Debug, Default)]
pub struct Detector {
    state: ProgramState,
}

/// A plain access or a call: the most frequent records, in a short form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShortRecord {
    /// A plain access to 1, 2, 4 or 8 bytes.
    Access {
        /// Where it was made.
        site: u64,
        /// The address of the first byte.
        addr: u64,
        /// How many bytes it touches.
        size: u8,
        /// It is a store.
        writes: bool,
    },
    /// What follows happened within a call that was made there.
    Enter {
        /// Where.
        site: u64,
    },
    /// What follows happened after so many of these calls have ended.
    Exit {
        /// How many.
        calls: u32,
    },
}

/// What is known of the program.
#[derive(Debug, Default)]
struct ProgramState {
    order: Order,
    blocks: Blocks,
    shadow: ShadowMemory,
    calls: CallTree,
    languages: Languages,
    reports: RaceReports,
    /// Where each thread is that is not looked at now.
    positions: Vec<StackPosition>,
    /// The thread of the current record, and its epoch.
    thread: u32,
    now: Epoch,
    /// The calls that it is in.
    position: StackPosition,
    /// What it accesses is of no interest: it is the doing of a library in which it waits, or there was never another
    /// thread.
    is_ignored: bool,
    /// There were too many threads, or they met too often: nothing is looked at any more.
    is_blind: bool,
}

impl Detector {
    /// Nothing has happened yet.
    pub fn new() -> Detector {
        let mut detector = Detector::default();
        detector.state.look();
        detector
    }

    /// Processes the next record of the thread, after all records of other threads so far. Returns whether the same
    /// record again would change nothing, as long as the only records in between are plain accesses and calls of this
    /// thread.
    pub fn steps(&mut self, thread: u32, steps: &[ShortRecord]) -> bool {
        let mut is_known = false;
        if self.may_look_at(thread) {
            for &step in steps {
                is_known = self.state.step(step);
            }
        }
        is_known
    }

    /// As [`Detector::steps`], for a plain access to 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub fn access(&mut self, thread: u32, site: u64, addr: u64, size: u8, writes: bool) -> bool {
        self.may_look_at(thread) && self.state.plain(site, addr, size, writes)
    }

    /// So many calls of the thread have ended, and then these were made.
    pub fn calls(&mut self, thread: u32, ended: u32, made: &[u64]) {
        if self.may_look_at(thread) {
            self.state.calls.exit(&mut self.state.position, ended);
            for &site in made {
                self.state.calls.enter(&mut self.state.position, site);
            }
        }
    }

    /// A module was loaded whose sites are these, and where this language rules. Elsewhere it is none.
    pub fn module(&mut self, sites: &Range<u64>, language: SourceLanguage) {
        self.state.languages.add(sites, language);
    }

    /// Looks at a record of the thread.
    pub fn record(&mut self, thread: u32, record: &Record<'_>) {
        if self.may_look_at(thread) {
            self.state.record(record);
        }
    }

    #[inline(always)]
    fn may_look_at(&mut self, thread: u32) -> bool {
        if thread != self.state.thread {
            self.state.turn_to(thread);
        }
        !self.state.is_blind
    }

    /// Whether races were found that were not taken yet.
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.state.reports.has_news()
    }

    /// The races that were found since this was last asked: one for each pair of sites, and not more than a thousand
    /// in all.
    pub fn take_races(&mut self) -> Vec<LoggedRace> {
        self.state.reports.take_news()
    }

    /// How often each race was seen, in the order in which they were found.
    pub fn counts(&self) -> &[u64] {
        self.state.reports.counts()
    }

    /// Whether nothing is looked at any more: there were too many threads, or they met too often, for what is kept of
    /// that.
    #[inline(always)]
    pub fn is_blind(&self) -> bool {
        self.state.is_blind
    }
}

impl ProgramState {
    /// Another thread does what is looked at from now on.
    #[inline(never)]
    fn turn_to(&mut self, thread: u32) {
        if thread >= MOST_THREADS {
            self.is_blind = true;
            return;
        }
        let most = self.thread.max(thread) as usize + 1;
        if self.positions.len() < most {
            self.positions.resize(most, StackPosition::default());
        }
        let (before, after) = (self.thread as usize, thread as usize);
        if let Some(position) = self.positions.get_mut(before) {
            *position = self.position;
        }
        self.position = self.positions.get(after).copied().unwrap_or_default();
        self.thread = thread;
        self.look();
    }

    /// The order may have changed.
    fn look(&mut self) {
        self.now = self.order.now(self.thread);
        self.is_ignored = !self.order.has_forked() || self.order.is_waiting(self.thread);
        self.is_blind |= self.order.is_exhausted();
    }

    /// Says whether it would be nothing new if the thread did the same again.
    #[inline(always)]
    fn step(&mut self, step: ShortRecord) -> bool {
        match step {
            ShortRecord::Access { site, addr, size, writes } => return self.plain(site, addr, size, writes),
            ShortRecord::Enter { site } => self.calls.enter(&mut self.position, site),
            ShortRecord::Exit { calls } => self.calls.exit(&mut self.position, calls),
        }
        false
    }

    /// A plain access to 1, 2, 4 or 8 bytes. Says whether it would be nothing new if the thread did the same again.
    #[inline(always)]
    fn plain(&mut self, site: u64, addr: u64, size: u8, writes: bool) -> bool {
        self.sized(addr, size, site, if writes { How::Write } else { How::Read })
    }

    #[inline(never)]
    fn record(&mut self, record: &Record<'_>) {
        match *record {
            Record::Read { site, addr, size, .. } => {
                self.sized(addr, size, site, How::Read);
            }
            Record::Write { site, addr, size, .. } => {
                self.sized(addr, size, site, How::Write);
            }
            Record::AtomicLoad { site, addr, size, order, .. } => {
                let language = self.languages.at(site);
                self.atomic(addr, size, site, How::Atomic { reads: true, writes: false, order, language });
            }
            Record::AtomicStore { site, addr, size, order, .. } => {
                let language = self.languages.at(site);
                self.atomic(addr, size, site, How::Atomic { reads: false, writes: true, order, language });
            }
            Record::Rmw { site, addr, size, order, .. } => {
                let language = self.languages.at(site);
                self.atomic(addr, size, site, How::Atomic { reads: true, writes: true, order, language });
            }
            Record::ReadRange { site, addr, bytes } | Record::Scan { site, addr, bytes } => {
                self.range(addr, bytes.len() as u64, site, How::Read);
            }
            Record::WriteRange { site, addr, bytes } => {
                self.range(addr, bytes.len() as u64, site, How::Write);
            }
            Record::Copy { site, to, from, bytes } => {
                self.range(from, bytes.len() as u64, site, How::Read);
                self.range(to, bytes.len() as u64, site, How::Write);
            }
            Record::Fill { .. } if record.is_vague() => self.opaque(),
            Record::Fill { site, addr, length, .. } => {
                self.range(addr, length, site, How::Write);
            }
            Record::Fence { order } => self.memory_fence(order),
            Record::Opaque { .. } => self.opaque(),
            Record::Enter { site } => self.calls.enter(&mut self.position, site),
            Record::Exit { calls } => self.calls.exit(&mut self.position, calls),
            Record::Sync { site, op, object, other } => self.sync(site, op, object, other),
            Record::Clock(_) | Record::Ahead(_) | Record::Branch { .. } => {}
        }
    }

    /// An access to 1, 2, 4 or 8 bytes. Says whether it would be nothing new if the thread did the same again.
    #[inline(always)]
    fn sized(&mut self, addr: u64, size: u8, site: u64, how: How) -> bool {
        let first = addr % WORD;
        let bytes = (u64::from(u8::MAX) >> (WORD - u64::from(size))) << first;
        match u8::try_from(bytes) {
            Ok(bytes) if !self.is_ignored => self.access(addr, bytes, size.into(), site, how),
            _ => self.range(addr, size.into(), site, how),
        }
    }

    fn range(&mut self, addr: u64, length: u64, site: u64, how: How) -> bool {
        let mut is_known = true;
        if self.is_ignored {
            return is_known;
        }
        let count = u16::try_from(length).unwrap_or(u16::MAX);
        let end = addr.saturating_add(length);
        let mut from = addr;
        while from < end {
            let first = from % WORD;
            let taken = (WORD - first).min(end - from);
            let bytes = (u8::MAX >> (WORD - taken)) << first;
            is_known &= self.access(from, bytes, count, site, how);
            from += taken;
        }
        is_known
    }

    /// An atomic access. No word holds one that reaches across words, and it is not modelled.
    fn atomic(&mut self, addr: u64, size: u8, site: u64, how: How) {
        if addr % WORD + u64::from(size) > WORD {
            return self.opaque();
        }
        self.sized(addr, size, site, how);
        self.look();
    }

    /// An access that has these bytes of a word, the first of which is at this address. Says whether it would be
    /// nothing new if the thread did the same again.
    ///
    /// Nearly all are ordered after what is remembered of their bytes, and take the place of that.
    #[inline(always)]
    fn access(&mut self, addr: u64, bytes: u8, count: u16, site: u64, how: How) -> bool {
        let place = AccessSite::new(site, self.position.context, count, kind(how));
        let past = self.order.known_to(self.thread);
        !how.is_atomic() && self.shadow.is_kept(addr, bytes, how.writes(), self.now, place, &past)
            || self.access_anew(addr - addr % WORD, bytes, place, how)
    }

    #[inline(never)]
    fn access_anew(&mut self, word: u64, bytes: u8, place: AccessSite, how: How) -> bool {
        !self.scene(place, |shadow, scene| shadow.access(word, bytes, how, scene))
    }

    /// Says whether what was done orders anything.
    fn scene(&mut self, place: AccessSite, act: impl FnOnce(&mut ShadowMemory, &mut Scene<'_>)) -> bool {
        let mut scene = Scene {
            thread: self.thread,
            now: self.now,
            place,
            orders: false,
            order: &mut self.order,
            blocks: &self.blocks,
            calls: &self.calls,
            languages: &self.languages,
            reports: &mut self.reports,
        };
        act(&mut self.shadow, &mut scene);
        let orders = scene.orders;
        self.now = scene.now;
        orders
    }

    /// Something may have synchronised with any thread.
    fn opaque(&mut self) {
        self.order.fence(self.thread);
        self.look();
    }

    fn memory_fence(&mut self, order: MemoryOrder) {
        if !self.order.is_waiting(self.thread) {
            self.order.memory_fence(self.thread, order);
            self.look();
        }
    }

    fn sync(&mut self, site: u64, op: SyncOp, object: u64, other: u64) {
        self.is_blind |= !self.knows_threads(op, object, other);
        if self.is_blind {
            return;
        }
        let thread = self.thread;
        let place = AccessSite::new(site, self.position.context, 0, RacingAccessKind::Free);
        match op {
            SyncOp::Begin => self.begin(place, object..other),
            // The thread that called `exit` still uses its stack.
            SyncOp::End if object == EXIT => {}
            SyncOp::End => self.end_stack(place),
            SyncOp::Fork => self.order.fork(thread, small(object)),
            SyncOp::Join => self.order.join(thread, small(object)),
            SyncOp::Lock | SyncOp::TryLock => self.order.lock(thread, object, HoldMode::Alone),
            SyncOp::LockShared | SyncOp::TryLockShared => self.order.lock(thread, object, HoldMode::Shared),
            SyncOp::Unlock => self.order.unlock(thread, object),
            SyncOp::TryFailed => self.order.try_failed(thread, object, HoldMode::Alone),
            SyncOp::TrySharedFailed => self.order.try_failed(thread, object, HoldMode::Shared),
            SyncOp::Wait => self.order.wait(thread, other),
            SyncOp::Woken => self.order.go_on(thread, Some(object), other),
            SyncOp::TimedOut => self.order.go_on(thread, None, other),
            SyncOp::Notify | SyncOp::NotifyAll => self.order.notify(thread, object),
            SyncOp::SemInit => self.order.create_semaphore(thread, object, other),
            SyncOp::SemWait => self.order.take_permit(thread, object),
            SyncOp::SemPost => self.order.post(thread, object),
            SyncOp::Arrive => self.order.arrive(thread, object),
            // The record of the last thread at a barrier counts for all that leave it.
            SyncOp::Depart => {
                let who = small(other);
                self.order.now(who);
                self.order.depart(who, object);
            }
            SyncOp::Alloc => {
                self.allocate(place, object..object.saturating_add(other.max(1)), BlockPurpose::Heap);
            }
            SyncOp::Part => {
                self.allocate(place, object..object.saturating_add(other.max(1)), BlockPurpose::Part);
            }
            SyncOp::Free if other > 0 => {
                self.allocate(place, object..object.saturating_add(other), BlockPurpose::Mapped);
            }
            SyncOp::Free => self.free(place, object),
            SyncOp::LocalEnd => {
                let end = object.saturating_add(other.min(LARGEST_LOCAL));
                self.end_local(place, object..end);
            }
            SyncOp::Name | SyncOp::Object => {}
            SyncOp::Shared => {
                self.allocate(place, object..object.saturating_add(other), BlockPurpose::Outside);
            }
        }
        self.look();
    }

    /// Whether the threads that this is about have numbers that are kept.
    fn knows_threads(&self, op: SyncOp, object: u64, other: u64) -> bool {
        let most = u64::from(MOST_THREADS);
        match op {
            SyncOp::Fork | SyncOp::Join => object < most,
            SyncOp::Depart => other < most,
            _ => true,
        }
    }

    fn begin(&mut self, place: AccessSite, stack: Range<u64>) {
        if stack.start < stack.end {
            self.allocate(place, stack, BlockPurpose::Stack(self.thread));
        }
    }

    /// Memory is allocated again.
    fn allocate(&mut self, place: AccessSite, range: Range<u64>, purpose: BlockPurpose) {
        for old in self.blocks.cut(&range) {
            match (old.end, old.purpose) {
                (Some(end), _) => self.order.learn(self.thread, &end.known),
                // It must have been freed by uninstrumented code.
                (None, BlockPurpose::Heap) if purpose == BlockPurpose::Part => {}
                (None, BlockPurpose::Heap | BlockPurpose::Stack(_)) => self.order.fence(self.thread),
                (None, BlockPurpose::Part | BlockPurpose::Mapped | BlockPurpose::Outside) => {}
            }
        }
        let birth = self.order.now(self.thread);
        let known = self.order.copy(self.thread);
        self.order.advance_if_seen(self.thread);
        self.order.forget(&range);
        let seen = if purpose == BlockPurpose::Outside { Epoch::OUTSIDE } else { birth };
        self.shadow.renew(&range, seen);
        // To allocate memory is to write it.
        let place = place.as_kind(RacingAccessKind::Write);
        self.blocks.add(&range, MemoryBlock::new(&range, purpose, birth, place, known));
    }

    /// The block that begins here is freed, unless it already was.
    fn free(&mut self, place: AccessSite, start: u64) {
        let known = self.order.copy(self.thread);
        self.order.advance_if_seen(self.thread);
        self.look();
        let end = BlockEnd { epoch: self.now, place, known };
        let Some((until, block)) = self.blocks.beginning_at(start) else { return };
        if block.end.is_some() {
            return;
        }
        block.end = Some(end);
        if self.is_ignored {
            return self.shadow.renew(&(start..until), self.now);
        }
        self.scene(place, |shadow, scene| shadow.free(&(start..until), scene));
    }

    /// A local variable of the thread is no more; its memory is the thread's own again.
    fn end_local(&mut self, place: AccessSite, range: Range<u64>) {
        if !self.is_ignored {
            self.scene(place, |shadow, scene| shadow.end_local(&range, scene));
        }
    }

    /// The stack of a thread that has ended can become another's.
    fn end_stack(&mut self, place: AccessSite) {
        let thread = self.thread;
        let end = BlockEnd { epoch: self.now, place, known: self.order.copy(thread) };
        self.blocks.end_stack(thread, end);
    }
}

/// What an access of this kind is called in reports.
fn kind(how: How) -> RacingAccessKind {
    match how {
        How::Read => RacingAccessKind::Read,
        How::Write => RacingAccessKind::Write,
        How::Atomic { reads: true, writes: true, .. } => RacingAccessKind::Update,
        How::Atomic { writes: true, .. } => RacingAccessKind::AtomicStore,
        How::Atomic { .. } => RacingAccessKind::AtomicLoad,
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
