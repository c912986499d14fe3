//! What each record means.

use std::ops::Range;

use foretell_wire::Malformed;
use foretell_wire::holders::Mode;
use foretell_wire::hook::Order as MemoryOrder;
use foretell_wire::pack::Step;
use foretell_wire::races::{Kind, Race};
use foretell_wire::record::{Context, Record, SyncOp};

use crate::blocks::{Block, Blocks, End, Purpose};
use crate::calls::{Calls, Position};
use crate::cell::How;
use crate::clock::{Epoch, MOST_THREADS};
use crate::order::Order;
use crate::place::Place;
use crate::reports::Reports;
use crate::scene::Scene;
use crate::shadow::{Shadow, WORD};

/// Finds races among the records of a program.
#[derive(Debug, Default)]
pub struct Detector {
    /// What the next record of each thread is relative to.
    contexts: Vec<Context>,
    state: State,
}

/// What is known of the program.
#[derive(Debug, Default)]
struct State {
    order: Order,
    blocks: Blocks,
    shadow: Shadow,
    calls: Calls,
    reports: Reports,
    /// Where each thread is.
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
        Detector::default()
    }

    /// The next records of the thread stand at the beginning of a chunk.
    pub fn begin_chunk(&mut self, thread: u32) {
        if let Some(context) = self.context(thread) {
            *context = Context::NEW;
        }
    }

    /// Looks at the next records of the thread. All of them are complete, and whatever other threads did so far was fed before.
    pub fn feed(&mut self, thread: u32, mut records: &[u8]) -> Result<(), Malformed> {
        if self.context(thread).is_none() {
            self.state.is_blind = true;
        }
        let Some(context) = self.contexts.get_mut(thread as usize) else { return Ok(()) };
        self.state.turn_to(thread);
        while !records.is_empty() && !self.state.is_blind {
            records = self.state.short_records(context, records);
            if !records.is_empty() {
                let record = context.decode(&mut records)?;
                self.state.record(&record);
            }
        }
        self.state.turn_away();
        Ok(())
    }

    /// Looks at a record of the thread.
    pub fn record(&mut self, thread: u32, record: &Record<'_>) {
        if thread >= MOST_THREADS {
            self.state.is_blind = true;
        }
        if !self.state.is_blind {
            self.state.turn_to(thread);
            self.state.record(record);
            self.state.turn_away();
        }
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
    pub fn is_blind(&self) -> bool {
        self.state.is_blind
    }

    fn context(&mut self, thread: u32) -> Option<&mut Context> {
        if thread >= MOST_THREADS {
            return None;
        }
        let index = thread as usize;
        if self.contexts.len() <= index {
            self.contexts.resize(index + 1, Context::NEW);
        }
        self.contexts.get_mut(index)
    }
}

impl State {
    fn turn_to(&mut self, thread: u32) {
        self.thread = thread;
        self.position = self.positions.get(thread as usize).copied().unwrap_or_default();
        self.look();
    }

    fn turn_away(&mut self) {
        let index = self.thread as usize;
        if self.positions.len() <= index {
            self.positions.resize(index + 1, Position::default());
        }
        if let Some(position) = self.positions.get_mut(index) {
            *position = self.position;
        }
    }

    /// The order may have changed.
    fn look(&mut self) {
        self.now = self.order.now(self.thread);
        self.is_ignored = !self.order.has_forked() || self.order.is_waiting(self.thread);
        self.is_blind |= self.order.is_exhausted();
    }

    /// Looks at short records as long as there are any: nearly all are. Returns what follows. A loop of its own, so that all it needs is
    /// at hand.
    #[inline(never)]
    fn short_records<'a>(&mut self, context: &mut Context, mut records: &'a [u8]) -> &'a [u8] {
        loop {
            while let Some(access) = context.short_access(&mut records) {
                let how = if access.writes { How::Write } else { How::Read };
                self.sized(access.addr, access.size, access.site, how);
            }
            match context.short_step(&mut records) {
                Some(Step::Enter { site }) => self.calls.enter(&mut self.position, site),
                Some(Step::Exit) => self.calls.exit(&mut self.position, 1),
                Some(Step::Branch) => {}
                None => break,
            }
        }
        records
    }

    #[inline(never)]
    fn record(&mut self, record: &Record<'_>) {
        match *record {
            Record::Read { site, addr, size, .. } => self.sized(addr, size, site, How::Read),
            Record::Write { site, addr, size, .. } => self.sized(addr, size, site, How::Write),
            Record::AtomicLoad { site, addr, size, order, .. } => {
                self.atomic(addr, size, site, How::Atomic { reads: true, writes: false, order });
            }
            Record::AtomicStore { site, addr, size, order, .. } => {
                self.atomic(addr, size, site, How::Atomic { reads: false, writes: true, order });
            }
            Record::Rmw { site, addr, size, order, .. } => {
                self.atomic(addr, size, site, How::Atomic { reads: true, writes: true, order });
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
            Record::Fill { site, addr, length, .. } => self.range(addr, length, site, How::Write),
            Record::Fence { order } => self.memory_fence(order),
            Record::Opaque { .. } => self.opaque(),
            Record::Enter { site } => self.calls.enter(&mut self.position, site),
            Record::Exit { calls } => self.calls.exit(&mut self.position, calls),
            Record::Sync { site, op, object, other } => self.sync(site, op, object, other),
            Record::Clock(_) | Record::Ahead(_) | Record::Branch { .. } => {}
        }
    }

    /// A plain access to 1, 2, 4 or 8 bytes.
    #[inline(always)]
    fn sized(&mut self, addr: u64, size: u8, site: u64, how: How) {
        let first = addr % WORD;
        let bytes = (u64::from(u8::MAX) >> (WORD - u64::from(size))) << first;
        match u8::try_from(bytes) {
            Ok(bytes) if !self.is_ignored => self.access(addr, bytes, size.into(), site, how),
            _ => self.range(addr, size.into(), site, how),
        }
    }

    fn range(&mut self, addr: u64, length: u64, site: u64, how: How) {
        if self.is_ignored {
            return;
        }
        let count = u16::try_from(length).unwrap_or(u16::MAX);
        let end = addr.saturating_add(length);
        let mut from = addr;
        while from < end {
            let first = from % WORD;
            let taken = (WORD - first).min(end - from);
            let bytes = (u8::MAX >> (WORD - taken)) << first;
            self.access(from, bytes, count, site, how);
            from += taken;
        }
    }

    /// An atomic access. No word holds one that reaches across words, and nobody understands it.
    fn atomic(&mut self, addr: u64, size: u8, site: u64, how: How) {
        if addr % WORD + u64::from(size) > WORD {
            return self.opaque();
        }
        self.sized(addr, size, site, how);
        self.look();
    }

    /// An access that has these bytes of a word, the first of which is at this address.
    #[inline(always)]
    fn access(&mut self, addr: u64, bytes: u8, count: u16, site: u64, how: How) {
        if how.is_atomic() || !self.shadow.is_repeated(addr, bytes, how.writes(), self.now) {
            self.access_anew(addr - addr % WORD, bytes, count, site, how);
        }
    }

    #[inline(never)]
    fn access_anew(&mut self, word: u64, bytes: u8, count: u16, site: u64, how: How) {
        let kind = match how {
            How::Read => Kind::Read,
            How::Write => Kind::Write,
            How::Atomic { reads: true, writes: true, .. } => Kind::Update,
            How::Atomic { writes: true, .. } => Kind::AtomicStore,
            How::Atomic { .. } => Kind::AtomicLoad,
        };
        let place = Place { site, context: self.position.context, bytes: count, kind };
        self.scene(place, |shadow, scene| shadow.access(word, bytes, how, scene));
    }

    fn scene(&mut self, place: Place, act: impl FnOnce(&mut Shadow, &mut Scene<'_>)) {
        let mut scene = Scene {
            thread: self.thread,
            now: self.now,
            place,
            order: &mut self.order,
            blocks: &self.blocks,
            calls: &self.calls,
            reports: &mut self.reports,
        };
        act(&mut self.shadow, &mut scene);
        self.now = scene.now;
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
