//! What each record means.

use std::ops::Range;

use foretell_wire::holders::Mode;
use foretell_wire::hook::Order as MemoryOrder;
use foretell_wire::races::{Kind, Race};
use foretell_wire::record::{EXIT, LARGEST_LOCAL, Record, SyncOp};
use foretell_wire::site::Language;

use crate::blocks::{Block, Blocks, End, Purpose};
use crate::calls::{Calls, Position};
use crate::cell::How;
use crate::clock::{Epoch, MOST_THREADS};
use crate::languages::Languages;
use crate::order::Order;
use crate::place::Place;
use crate::reports::Reports;
use crate::scene::Scene;
use crate::shadow::{Shadow, WORD};

/// Finds races among the records of a program.
#[derive(Debug, Default)]
pub struct Detector {
    state: State,
}

/// A plain access or a call, in the form in which a program tells most of what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
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
struct State {
    order: Order,
    blocks: Blocks,
    shadow: Shadow,
    calls: Calls,
    languages: Languages,
    reports: Reports,
    /// Where each thread is that is not looked at now.
    positions: Vec<Position>,
    /// Who does what is looked at, and its present moment.
    thread: u32,
    now: Epoch,
    /// The calls that it is in.
    position: Position,
    /// What it accesses is of no interest: it is the doing of a library in which it waits, or there was never another thread.
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

    /// Looks at what the thread did next. All that other threads did so far was looked at before. Says whether it would be nothing new if
    /// the thread did the last of these again, as long as nothing else is told: neither another thread does anything, nor this
    /// one more than plain accesses and calls.
    pub fn steps(&mut self, thread: u32, steps: &[Step]) -> bool {
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

    /// A module was loaded whose sites are these, and where this language rules. Wherever nobody told, it is none.
    pub fn module(&mut self, sites: &Range<u64>, language: Language) {
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

    /// Whether races were found that nobody has taken.
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.state.reports.has_news()
    }

    /// The races that were found since this was last asked: one for each pair of sites, and not more than a thousand in all.
    pub fn take_races(&mut self) -> Vec<Race> {
        self.state.reports.take_news()
    }

    /// How often each race was seen, in the order in which they were found.
    pub fn counts(&self) -> &[u64] {
        self.state.reports.counts()
    }

    /// Whether nothing is looked at any more: there were too many threads, or they met too often, for what is kept of that.
    #[inline(always)]
    pub fn is_blind(&self) -> bool {
        self.state.is_blind
    }
}

impl State {
    /// Another thread does what is looked at from now on.
    #[inline(never)]
    fn turn_to(&mut self, thread: u32) {
        if thread >= MOST_THREADS {
            self.is_blind = true;
            return;
        }
        let most = self.thread.max(thread) as usize + 1;
        if self.positions.len() < most {
            self.positions.resize(most, Position::default());
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
    fn step(&mut self, step: Step) -> bool {
        match step {
            Step::Access { site, addr, size, writes } => return self.plain(site, addr, size, writes),
            Step::Enter { site } => self.calls.enter(&mut self.position, site),
            Step::Exit { calls } => self.calls.exit(&mut self.position, calls),
        }
        false
    }

    /// A plain access to 1, 2, 4 or 8 bytes. Says whether it would be nothing new if the thread did the same again.
    ///
    /// Nearly all are ordered after what is remembered of their bytes, and take the place of that.
    #[inline(always)]
    fn plain(&mut self, site: u64, addr: u64, size: u8, writes: bool) -> bool {
        let (how, kind) = if writes { (How::Write, Kind::Write) } else { (How::Read, Kind::Read) };
        let bytes = (u64::from(u8::MAX) >> (WORD - u64::from(size))) << (addr % WORD);
        let Some(bytes) = u8::try_from(bytes).ok().filter(|_| !self.is_ignored) else {
            return self.range(addr, size.into(), site, how);
        };
        let place = Place { site, context: self.position.context, bytes: size.into(), kind };
        let known = self.order.known_to(self.thread);
        self.shadow.is_kept(addr, bytes, writes, self.now, place, &known)
            || self.access_anew(addr - addr % WORD, bytes, size.into(), site, how)
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

    /// An atomic access. No word holds one that reaches across words, and nobody understands it.
    fn atomic(&mut self, addr: u64, size: u8, site: u64, how: How) {
        if addr % WORD + u64::from(size) > WORD {
            return self.opaque();
        }
        self.sized(addr, size, site, how);
        self.look();
    }

    /// An access that has these bytes of a word, the first of which is at this address. Says whether it would be nothing new if the thread
    /// did the same again.
    #[inline(always)]
    fn access(&mut self, addr: u64, bytes: u8, count: u16, site: u64, how: How) -> bool {
        if !how.is_atomic() && self.shadow.is_repeated(addr, bytes, how.writes(), self.now) {
            return true;
        }
        self.access_anew(addr - addr % WORD, bytes, count, site, how)
    }

    #[inline(never)]
    fn access_anew(&mut self, word: u64, bytes: u8, count: u16, site: u64, how: How) -> bool {
        let kind = match how {
            How::Read => Kind::Read,
            How::Write => Kind::Write,
            How::Atomic { reads: true, writes: true, .. } => Kind::Update,
            How::Atomic { writes: true, .. } => Kind::AtomicStore,
            How::Atomic { .. } => Kind::AtomicLoad,
        };
        let place = Place { site, context: self.position.context, bytes: count, kind };
        !self.scene(place, |shadow, scene| shadow.access(word, bytes, how, scene))
    }

    /// Says whether what was done orders anything.
    fn scene(&mut self, place: Place, act: impl FnOnce(&mut Shadow, &mut Scene<'_>)) -> bool {
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

    /// Something may have synchronised with anybody.
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
        let place = Place { site, context: self.position.context, bytes: 0, kind: Kind::Free };
        match op {
            SyncOp::Begin => self.begin(place, object..other),
            // Who has called `exit` still uses its stack.
            SyncOp::End if object == EXIT => {}
            SyncOp::End => self.end_stack(place),
            SyncOp::Fork => self.order.fork(thread, small(object)),
            SyncOp::Join => self.order.join(thread, small(object)),
            SyncOp::Lock => self.order.lock(thread, object, Mode::Alone),
            SyncOp::LockShared => self.order.lock(thread, object, Mode::Shared),
            SyncOp::Unlock => self.order.unlock(thread, object),
            SyncOp::TryFailed => self.order.try_failed(thread, object, Mode::Alone),
            SyncOp::TrySharedFailed => self.order.try_failed(thread, object, Mode::Shared),
            SyncOp::Wait => self.order.wait(thread, other),
            SyncOp::Woken => self.order.go_on(thread, Some(object), other),
            SyncOp::TimedOut => self.order.go_on(thread, None, other),
            SyncOp::Notify | SyncOp::NotifyAll => self.order.notify(thread, object),
            SyncOp::SemInit => self.order.create_semaphore(thread, object, other),
            SyncOp::SemWait => self.order.take_permit(thread, object),
            SyncOp::SemPost => self.order.post(thread, object),
            SyncOp::Arrive => self.order.arrive(thread, object),
            // The last one to come tells for all that they leave.
            SyncOp::Depart => {
                let who = small(other);
                self.order.now(who);
                self.order.depart(who, object);
            }
            SyncOp::Alloc => self.allocate(place, object..object.saturating_add(other.max(1)), Purpose::Heap),
            SyncOp::Free if other > 0 => {
                self.allocate(place, object..object.saturating_add(other), Purpose::Mapped);
            }
            SyncOp::Free => self.give_back(place, object),
            SyncOp::LocalEnd => {
                let end = object.saturating_add(other.min(LARGEST_LOCAL));
                self.end_local(place, object..end);
            }
            SyncOp::Shared => {
                self.allocate(place, object..object.saturating_add(other), Purpose::Outside);
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

    fn begin(&mut self, place: Place, stack: Range<u64>) {
        if stack.start < stack.end {
            self.allocate(place, stack, Purpose::Stack(self.thread));
        }
    }

    /// Memory is used anew.
    fn allocate(&mut self, place: Place, range: Range<u64>, purpose: Purpose) {
        for old in self.blocks.cut(&range) {
            match (old.end, old.purpose) {
                (Some(end), _) => self.order.learn(self.thread, &end.known),
                // Somebody must have given it back unseen.
                (None, Purpose::Heap | Purpose::Stack(_)) => self.order.fence(self.thread),
                (None, Purpose::Mapped | Purpose::Outside) => {}
            }
        }
        let birth = self.order.now(self.thread);
        let known = self.order.copy(self.thread);
        self.order.advance_if_seen(self.thread);
        self.order.forget(&range);
        let seen = if purpose == Purpose::Outside { Epoch::OUTSIDE } else { birth };
        self.shadow.renew(&range, seen);
        // To allocate memory is to write it.
        let place = Place { kind: Kind::Write, ..place };
        self.blocks.add(&range, Block::new(&range, purpose, birth, place, known));
    }

    /// The block that begins here is given back, unless it already was.
    fn give_back(&mut self, place: Place, start: u64) {
        let known = self.order.copy(self.thread);
        self.order.advance_if_seen(self.thread);
        self.look();
        let end = End { epoch: self.now, place, known };
        let Some((until, block)) = self.blocks.beginning_at(start) else { return };
        if block.end.is_some() {
            return;
        }
        block.end = Some(end);
        if self.is_ignored {
            return self.shadow.renew(&(start..until), self.now);
        }
        self.scene(place, |shadow, scene| shadow.give_back(&(start..until), scene));
    }

    /// A local variable of the thread is no more; its memory is the thread's own again.
    fn end_local(&mut self, place: Place, range: Range<u64>) {
        if !self.is_ignored {
            self.scene(place, |shadow, scene| shadow.end_local(&range, scene));
        }
    }

    /// The stack of a thread that has ended can become another's.
    fn end_stack(&mut self, place: Place) {
        let thread = self.thread;
        let end = End { epoch: self.now, place, known: self.order.copy(thread) };
        self.blocks.end_stack(thread, end);
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use foretell_wire::races::Memory;
    use foretell_wire::record::SyncOp::{
        Alloc, Arrive, Begin, Depart, End, Fork, Free, LocalEnd, Lock, Notify, Shared, TimedOut, TryFailed,
        Unlock, Wait, Woken,
    };

    use super::*;

    const X: u64 = 0x1000;
    const LOCK: u64 = 0x8000;
    const CONDITION: u64 = 0x8100;

    fn sync(op: SyncOp, object: u64, other: u64) -> Record<'static> {
        Record::Sync { site: 1, op, object, other }
    }

    fn write(addr: u64, site: u64) -> Record<'static> {
        Record::Write { site, addr, size: 8, value: 0 }
    }

    fn read(addr: u64, site: u64) -> Record<'static> {
        Record::Read { site, addr, size: 8, value: 0 }
    }

    /// The races among these records, after two threads were started.
    fn races(records: &[(u32, Record<'_>)]) -> Vec<Race> {
        let mut detector = Detector::new();
        for child in [1, 2] {
            detector.record(0, &sync(Fork, child, 0));
        }
        for (thread, record) in records {
            detector.record(*thread, record);
        }
        assert!(!detector.is_blind());
        detector.take_races()
    }

    fn pairs(records: &[(u32, Record<'_>)]) -> Vec<(u64, u64)> {
        races(records).iter().map(|race| (race.first.site, race.second.site)).collect()
    }

    #[test]
    fn a_notification_orders_and_a_timeout_does_not() {
        let meeting = |end| {
            [
                (1, sync(Lock, LOCK, 0)),
                (1, sync(Wait, CONDITION, LOCK)),
                (2, write(X, 10)),
                (2, sync(Notify, CONDITION, 0)),
                (1, sync(end, CONDITION, LOCK)),
                (1, read(X, 11)),
            ]
        };
        assert_eq!(pairs(&meeting(Woken)), []);
        assert_eq!(pairs(&meeting(TimedOut)), [(10, 11)]);
    }

    #[test]
    fn what_a_library_does_while_its_caller_waits_is_not_the_programs_doing() {
        let records = [
            (1, sync(Lock, LOCK, 0)),
            (1, sync(Wait, CONDITION, LOCK)),
            (2, write(X, 10)),
            (1, read(X, 11)),
            (1, Record::Opaque { site: 12 }),
            (2, write(X + 8, 13)),
            (1, sync(TimedOut, CONDITION, LOCK)),
            (1, read(X + 8, 14)),
        ];
        assert_eq!(pairs(&records), [], "what nobody understands takes effect when the thread goes on");
    }

    /// The races among these records, after two threads were started, of a module that is written in this language.
    fn pairs_in(language: Language, records: &[(u32, Record<'_>)]) -> Vec<(u64, u64)> {
        let mut detector = Detector::new();
        detector.module(&(0..100), language);
        for child in [1, 2] {
            detector.record(0, &sync(Fork, child, 0));
        }
        for (thread, record) in records {
            detector.record(*thread, record);
        }
        detector.take_races().iter().map(|race| (race.first.site, race.second.site)).collect()
    }

    fn load(site: u64, addr: u64, size: u8, order: MemoryOrder) -> Record<'static> {
        Record::AtomicLoad { site, addr, size, value: 0, order }
    }

    fn store(site: u64, addr: u64, size: u8, order: MemoryOrder) -> Record<'static> {
        Record::AtomicStore { site, addr, size, value: 0, order }
    }

    #[test]
    fn atomics_of_different_sizes_race_in_rust_unless_both_read() {
        let order = MemoryOrder::SeqCst;
        let writes = [(1, store(10, X, 4, order)), (2, load(11, X + 2, 2, order))];
        assert_eq!(pairs_in(Language::Rust, &writes), [(10, 11)], "even if the one has seen the other");
        assert_eq!(pairs_in(Language::Cpp, &writes), []);
        let reads = [(1, load(10, X, 4, order)), (2, load(11, X, 1, order)), (2, store(12, X, 4, order))];
        assert_eq!(pairs_in(Language::Rust, &reads), []);
        let hidden = [(1, load(10, X, 4, order)), (1, load(11, X, 1, order)), (2, store(12, X, 1, order))];
        assert_eq!(
            pairs_in(Language::Rust, &hidden),
            [(10, 12)],
            "the load of one byte does not stand for it"
        );
        let beside =
            [(1, store(10, X, 4, order)), (1, store(11, X, 1, order)), (2, store(12, X + 4, 4, order))];
        assert_eq!(pairs_in(Language::Rust, &beside), []);
    }

    #[test]
    fn plain_accesses_of_words_in_parts_race_with_atomic_ones() {
        let (rlx, acq, rel) = (MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release);
        let byte = |site| Record::Write { site, addr: X + 1, size: 1, value: 0 };
        assert_eq!(pairs(&[(1, store(10, X, 4, rlx)), (2, byte(11))]), [(10, 11)]);
        assert_eq!(pairs(&[(1, byte(10)), (1, store(11, X, 4, rel)), (2, load(12, X, 4, acq))]), []);
        assert_eq!(pairs(&[(1, byte(10)), (1, store(11, X, 4, rlx)), (2, load(12, X, 4, acq))]), [(10, 12)]);
        let others =
            [(1, store(10, X, 4, rlx)), (2, Record::Write { site: 11, addr: X + 4, size: 1, value: 0 })];
        assert_eq!(pairs(&others), []);
    }

    #[test]
    fn who_comes_before_the_allocation_races_with_it() {
        let order = MemoryOrder::Relaxed;
        let handed_on = |order| {
            [
                (1, Record::Sync { site: 10, op: Alloc, object: X, other: 16 }),
                (1, store(11, LOCK, 8, order)),
                (2, load(12, LOCK, 8, MemoryOrder::Acquire)),
                (2, write(X, 13)),
                (2, read(X, 14)),
                (2, load(15, X + 8, 4, order)),
            ]
        };
        assert_eq!(pairs(&handed_on(order)), [(10, 13)], "what comes after that is ordered");
        assert_eq!(pairs(&handed_on(MemoryOrder::Release)), []);
    }

    #[test]
    fn local_variables_end_with_their_function_alone() {
        let order = MemoryOrder::Relaxed;
        let end = |length| Record::Sync { site: 20, op: LocalEnd, object: X, other: length };
        let records = |length| [(1, read(X, 10)), (1, read(X + 8, 11)), (2, end(length)), (1, read(X, 12))];
        assert_eq!(pairs(&records(4)), [(10, 20), (20, 12)]);
        assert_eq!(pairs(&records(9)), [(10, 20), (11, 20), (20, 12)]);
        let told = [(1, read(X, 10)), (1, store(11, LOCK, 8, MemoryOrder::Release))];
        let told = told.into_iter().chain([(2, load(12, LOCK, 8, MemoryOrder::Acquire)), (2, end(8))]);
        assert_eq!(pairs(&told.collect::<Vec<_>>()), []);
        assert_eq!(pairs(&[(1, load(10, X, 8, order)), (2, end(8))]), [(10, 20)]);
    }

    #[test]
    fn stores_end_release_sequences_as_the_language_says() {
        let (rlx, acq, rel) = (MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release);
        let records = [
            (1, write(X, 10)),
            (1, store(11, X + 8, 8, rel)),
            (1, store(12, X + 8, 8, rlx)),
            (2, load(13, X + 8, 8, acq)),
            (2, read(X, 14)),
        ];
        assert_eq!(pairs_in(Language::Other, &records), []);
        assert_eq!(pairs_in(Language::Cpp, &records), [(10, 14)]);
        assert_eq!(pairs_in(Language::Rust, &records), [(10, 14)]);
    }

    #[test]
    fn a_lock_that_another_thread_gives_up_orders_who_takes_it_next() {
        let records = [
            (1, sync(Lock, LOCK, 0)),
            (1, write(X, 10)),
            (2, write(X + 8, 11)),
            (2, sync(Unlock, LOCK, 0)),
            (2, write(X, 12)),
            (3, sync(Lock, LOCK, 0)),
            (3, write(X + 8, 13)),
        ];
        assert_eq!(pairs(&records), [(10, 12)]);
    }

    #[test]
    fn who_waits_gives_the_lock_up() {
        let records = [
            (1, sync(Lock, LOCK, 0)),
            (1, write(X, 10)),
            (1, sync(Wait, CONDITION, LOCK)),
            (2, sync(Lock, LOCK, 0)),
            (2, write(X, 11)),
            (2, sync(Unlock, LOCK, 0)),
        ];
        assert_eq!(pairs(&records), []);
    }

    #[test]
    fn a_barrier_orders_all_who_came_before_all_who_leave() {
        let barrier = 0x9000;
        let records = [
            (1, write(X, 10)),
            (1, sync(Arrive, barrier, 0)),
            (2, write(X + 8, 11)),
            (2, sync(Arrive, barrier, 0)),
            (2, sync(Depart, barrier, 1)),
            (2, sync(Depart, barrier, 2)),
            (1, read(X + 8, 12)),
            (2, read(X, 13)),
            (2, write(X + 8, 14)),
        ];
        assert_eq!(pairs(&records), [(12, 14)]);
    }

    #[test]
    fn an_attempt_that_failed_comes_after_what_the_owner_did() {
        let records = [
            (1, sync(Lock, LOCK, 0)),
            (1, write(X, 10)),
            (2, sync(TryFailed, LOCK, 0)),
            (2, read(X, 11)),
            (1, write(X, 12)),
        ];
        assert_eq!(pairs(&records), [(11, 12)]);
    }

    #[test]
    fn a_lock_that_was_given_up_unseen_orders_everything() {
        let records =
            [(1, write(X, 10)), (1, sync(Lock, LOCK, 0)), (2, sync(Lock, LOCK, 0)), (2, write(X, 11))];
        assert_eq!(pairs(&records), []);
    }

    #[test]
    fn memory_is_there_before_it_is_touched() {
        let records = [
            (1, write(X, 10)),
            (1, sync(Alloc, 0x4000, 64)),
            (1, write(0x4000, 11)),
            (2, read(0x4000, 12)),
            (2, read(X, 13)),
        ];
        let found = races(&records);
        let [race] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (race.first.site, race.second.site),
            (11, 12),
            "what came before the allocation is ordered"
        );
        assert!(matches!(race.memory, Memory::Heap { start: 0x4000, bytes: 64, thread: 1, site: 1, .. }));
    }

    #[test]
    fn memory_that_is_used_again_is_another_and_comes_after() {
        let records = [
            (1, sync(Alloc, 0x4000, 64)),
            (1, write(0x4000, 10)),
            (1, write(X, 11)),
            (1, sync(Free, 0x4000, 0)),
            (1, write(X, 12)),
            (2, sync(Alloc, 0x4000, 64)),
            (2, write(0x4000, 13)),
            (2, read(X, 14)),
        ];
        assert_eq!(pairs(&records), [(12, 14)], "only what followed the end of the block races");
    }

    #[test]
    fn to_give_memory_back_conflicts_with_all_accesses() {
        let give_back = [
            (1, sync(Alloc, 0x4000, 64)),
            (1, write(0x4000, 10)),
            (2, Record::Opaque { site: 2 }),
            (2, read(0x4008, 11)),
            (1, Record::Sync { site: 12, op: Free, object: 0x4000, other: 0 }),
            (2, read(0x4010, 13)),
        ];
        assert_eq!(pairs(&give_back), [(11, 12), (12, 13)]);
        assert!(races(&give_back).iter().any(|race| race.first.kind == Kind::Free));
    }

    #[test]
    fn the_stack_of_an_ended_thread_can_be_anothers() {
        let records = [
            (1, sync(Begin, 0x10_0000, 0x11_0000)),
            (1, write(0x10_8000, 10)),
            (1, sync(End, 0, 0)),
            (2, sync(Begin, 0x10_0000, 0x11_0000)),
            (2, write(0x10_8000, 11)),
        ];
        assert_eq!(pairs(&records), []);
    }

    #[test]
    fn memory_that_other_processes_see_is_a_fence() {
        let records = [
            (1, sync(Shared, 0x2_0000, 0x1000)),
            (1, write(X, 10)),
            (1, write(0x2_0000, 11)),
            (2, read(0x2_0000, 12)),
            (2, read(X, 13)),
        ];
        assert_eq!(pairs(&records), []);
    }

    #[test]
    fn a_part_of_an_atomic_word_races_like_the_whole() {
        let order = MemoryOrder::Relaxed;
        let records = [
            (1, Record::AtomicStore { site: 10, addr: X, size: 8, value: 0, order }),
            (2, Record::Write { site: 11, addr: X + 4, size: 4, value: 0 }),
            (1, Record::AtomicLoad { site: 12, addr: X, size: 8, value: 0, order }),
        ];
        assert_eq!(pairs(&records), [(10, 11), (11, 12)]);
        let whole = (2, Record::Write { site: 11, addr: X, size: 8, value: 0 });
        assert_eq!(pairs(&[records[0], whole]), [(10, 11)]);
    }

    #[test]
    fn neighbours_do_not_race_and_overlaps_do() {
        let at = |addr, size, site| Record::Write { site, addr, size, value: 0 };
        assert_eq!(pairs(&[(1, at(X, 4, 10)), (2, at(X + 4, 4, 11))]), []);
        assert_eq!(pairs(&[(1, at(X, 1, 10)), (2, at(X + 1, 1, 11))]), []);
        assert_eq!(pairs(&[(1, at(X + 6, 4, 10)), (2, at(X + 8, 1, 11))]), [(10, 11)]);
        let copy = Record::Copy { site: 11, to: X + 100, from: X + 3, bytes: &[0; 40] };
        assert_eq!(pairs(&[(1, at(X + 40, 1, 10)), (2, copy)]), [(10, 11)]);
        let fill = Record::Fill { site: 11, addr: X, byte: 0, length: 10_000 };
        assert_eq!(pairs(&[(1, at(X + 9_999, 1, 10)), (1, at(X + 10_000, 1, 12)), (2, fill)]), [(10, 11)]);
        let unknown = Record::Fill { site: 11, addr: X, byte: 0, length: 1 << 40 };
        assert_eq!(pairs(&[(1, at(X, 1, 10)), (2, unknown)]), [], "too much to be told apart");
    }

    #[test]
    fn both_sides_have_their_calls_and_the_same_race_is_told_once() {
        let step = |site| Record::Enter { site };
        let records = [
            (1, step(100)),
            (1, step(101)),
            (1, write(X, 10)),
            (1, Record::Exit { calls: 2 }),
            (2, step(200)),
            (2, write(X, 11)),
            (1, write(X, 10)),
        ];
        let found = races(&records);
        let [race] = &found[..] else { panic!("{found:?}") };
        assert_eq!((race.address, race.first.calls.as_slice()), (X, &[100, 101][..]));
        assert_eq!((race.second.thread, race.second.calls.as_slice()), (2, &[200][..]));
    }

    #[test]
    fn too_many_threads_are_told() {
        let mut detector = Detector::new();
        detector.record(0, &sync(Fork, u64::from(MOST_THREADS), 0));
        assert!(detector.is_blind());
        detector.record(0, &write(X, 10));
        assert!(!detector.steps(MOST_THREADS + 1, &[]));
    }

    #[test]
    fn to_repeat_an_access_is_nothing_new_unless_it_orders() {
        let access = |addr, size, writes| [Step::Access { site: 10, addr, size, writes }];
        let mut detector = Detector::new();
        detector.record(0, &sync(Fork, 1, 0));
        assert!(detector.steps(1, &access(X, 4, true)));
        assert!(detector.access(1, 10, X + 32, 4, true));
        assert!(detector.steps(1, &access(X + 6, 4, false)), "across words");
        detector.record(1, &sync(Shared, 0x2_0000, 0x1000));
        assert!(!detector.steps(1, &access(0x2_0000, 8, false)), "other processes see it");
        assert!(!detector.steps(1, &access(0x2_0000, 8, false)), "again");
        let order = MemoryOrder::Relaxed;
        detector.record(1, &Record::AtomicStore { site: 10, addr: X + 16, size: 8, value: 0, order });
        assert!(detector.steps(1, &access(X + 16, 8, true)), "the whole of an atomic word");
        assert!(!detector.steps(1, &access(X + 16, 4, true)), "a part of one, which counts as atomic");
        assert!(!detector.steps(1, &access(X + 16, 4, true)), "again");
        assert!(!detector.steps(1, &[Step::Enter { site: 1 }]));
    }

    #[test]
    fn steps_are_what_their_records_are() {
        let told = |as_steps: bool| {
            let mut detector = Detector::new();
            for child in [1, 2] {
                detector.record(0, &sync(Fork, child, 0));
            }
            let mut enter = |thread, site| match as_steps {
                true => _ = detector.steps(thread, &[Step::Enter { site }]),
                false => detector.record(thread, &Record::Enter { site }),
            };
            enter(1, 100);
            enter(2, 200);
            enter(1, 101);
            let mut end = |thread, calls, site, writes| match as_steps {
                true => {
                    let access = Step::Access { site, addr: X, size: 8, writes };
                    detector.steps(thread, &[Step::Exit { calls }, access]);
                }
                false => {
                    detector.record(thread, &Record::Exit { calls });
                    detector.record(thread, &if writes { write(X, site) } else { read(X, site) });
                }
            };
            end(1, 1, 10, true);
            end(2, 0, 11, false);
            detector.take_races()
        };
        let found = told(true);
        assert_eq!(found, told(false));
        assert_eq!((&*found[0].first.calls, &*found[0].second.calls), (&[100][..], &[200][..]));
    }
}
