//! Which reads matter to what comes after them: every thread is followed through the code, record by record.
//!
//! A record names the instruction at which its thread was. Between two records of a call the thread took one of the
//! paths from one instruction to the other on which nothing is recorded ([`region`](crate::region)), and what it
//! computed there depends on what it had before. The registers of each call, and the bytes of memory that only one
//! thread touches, are kept as sets of reads ([`Tracker`]). Conditions, addresses, and arguments of uninstrumented
//! code steer the thread from the next event on.
//!
//! Where the path to a record or its effects are not known, everything that the thread has read so far steers it from
//! there on. That is always sound, and nothing before it needs to be followed any more: a mistake about where a
//! thread is costs precision only, as long as it is noticed.
//!
//! Reads before the first thread was started see the same in every run, so nothing depends on them.

mod explain;
mod given_up;
mod stop;
mod symbolic_shadow;
mod untaken;
mod walk;

use foretell_depend::Tracker;
use foretell_trace::{Dependence, EventId, Reads};
use foretell_wire::log::module::Module;
use foretell_wire::record::{Record, SyncOp};
use rustc_hash::FxHashMap;

use crate::code::Functions;
use crate::part::Part;
use crate::region::Regions;
use crate::shape::Slot;
use explain::Explainer;
use given_up::Why;
use stop::{CallStop, Kind, Stop};
use walk::Walk;

pub use explain::{Kept, ValueCounts};
pub use given_up::{GivenUp, Why as WhyGivenUp};
pub use untaken::{
    Environment, Footprint, Limits, LockHolder, TouchedVar, UntakenEvent, UntakenPath, without_value,
};

/// Follows all threads, record by record.
#[derive(Debug, Default)]
pub struct Follower {
    tracker: Tracker,
    functions: Functions,
    regions: Regions,
    /// Where records were made so far, by their sites; none where that is no place in the code.
    known: FxHashMap<u64, Option<usize>>,
    stops: Vec<Stop>,
    /// The numbers of threads in the order in which they came.
    numbers: FxHashMap<u32, usize>,
    walks: Vec<Walk>,
    /// The thread whose record is looked at, and its place among all.
    thread: u32,
    current: usize,
    /// What its record means.
    access: RecordedAccess,
    /// Whether there was ever a second thread.
    has_forked: bool,
    /// The site of the record that is looked at.
    site: u64,
    /// How often, why and where the follower lost track.
    given_up: FxHashMap<(Why, u64), u32>,
    /// Builds symbolic values, if they are wanted.
    explainer: Option<Box<Explainer>>,
    /// How many of the calls in the record its thread has returned from since the record before.
    left: u32,
    /// Scratch space for the values that change on a path.
    changes: Vec<(Slot, Reads)>,
}

/// What the value of a read is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    /// It is the result of the instruction, or is copied.
    Result,
    /// It decides the control flow.
    Decides,
    /// With another value, the event would not be the same.
    DecidesItself,
}

/// The access of a record.
#[derive(Debug)]
struct RecordedAccess {
    reading: Reading,
    /// What was read so far.
    found: Reads,
    /// What is written.
    value: Reads,
    /// If it copies, what each byte depends on.
    copied: Option<Vec<Reads>>,
    /// The slots that hold what was read or copied.
    result: Option<Slot>,
    content: Option<Slot>,
    /// Whether an exchange found what was expected.
    success: Option<bool>,
}

impl Default for RecordedAccess {
    fn default() -> RecordedAccess {
        RecordedAccess {
            reading: Reading::Result,
            found: Reads::NOTHING,
            value: Reads::NOTHING,
            copied: None,
            result: None,
            content: None,
            success: None,
        }
    }
}

impl Follower {
    /// A module was loaded.
    pub fn add(&mut self, module: &Module<'_>) {
        self.functions.add(module);
        if let Some(explainer) = &mut self.explainer {
            explainer.add(module);
        }
        // Functions that were unknown may be in this module.
        self.regions = Regions::default();
        self.known.clear();
        self.stops.clear();
    }

    /// The result, and where the follower lost track, the most frequent places first.
    pub fn finish(self) -> (Dependence, Vec<GivenUp>) {
        let functions = &self.functions;
        let place = |site: u64| {
            let spot = functions.spot(site)?;
            Some(functions.get(spot.function)?.describe(spot.instruction))
        };
        let entry = |((why, site), times)| GivenUp { why, place: place(site).unwrap_or_default(), times };
        let mut given_up: Vec<GivenUp> = self.given_up.into_iter().map(entry).collect();
        given_up.sort_by(|one, other| {
            (other.times, one.why, &one.place).cmp(&(one.times, other.why, &other.place))
        });
        (self.tracker.finish(), given_up)
    }

    /// Switches to this thread.
    pub fn turn_to(&mut self, thread: u32) {
        if self.walks.is_empty() || self.thread != thread {
            self.thread = thread;
            let next = self.numbers.len();
            self.current = *self.numbers.entry(thread).or_insert(next);
            if self.current == next {
                self.walks.push(Walk::default());
            }
        }
    }

    /// Adds an event of the current thread.
    pub fn event(&mut self) {
        self.tracker.event(self.current);
        if let Some(explainer) = &mut self.explainer {
            explainer.event(self.current);
        }
    }

    /// The current thread has made an unmodelled operation.
    pub fn be_lost(&mut self) {
        self.give_up(Why::Opaque);
    }

    /// The path of the current thread is lost.
    fn give_up(&mut self, why: Why) {
        if self.has_forked {
            *self.given_up.entry((why, self.site)).or_default() += 1;
        }
        self.spend_all();
    }

    /// All that the thread has read steers it from now on.
    fn spend_all(&mut self) {
        self.tracker.give_up(self.current);
        if let Some(explainer) = &mut self.explainer {
            explainer.forget_memory(self.current);
        }
    }

    /// Before the events of a record of this site: brings its thread to where it was made.
    pub fn begin(&mut self, record: &Record<'_>, site: u64) {
        self.access = RecordedAccess::default();
        (self.site, self.left) = (site, 0);
        self.begin_explaining(record);
        match *record {
            Record::Clock(_) | Record::Ahead(_) | Record::Branch { .. } => {}
            Record::Enter { site } => self.enter(site),
            Record::Exit { calls } => self.leave_calls(calls),
            Record::Fence { .. } | Record::Sync { op: SyncOp::LocalEnd, .. } => self.look_ahead(),
            Record::Opaque { site } => self.be_opaque(site),
            Record::Sync { op: SyncOp::Begin, .. } => {
                self.spend_all();
                self.walks[self.current] = Walk::default();
            }
            Record::Sync { op: SyncOp::End, .. } => self.end(),
            // Only the last thread at a barrier has a record of leaving it.
            Record::Sync { op: SyncOp::Depart | SyncOp::Name, .. } => {}
            Record::Sync { site, op, .. } => {
                self.has_forked |= op == SyncOp::Fork;
                self.come_to(site, record);
            }
            Record::Read { site, .. }
            | Record::Write { site, .. }
            | Record::AtomicLoad { site, .. }
            | Record::AtomicStore { site, .. }
            | Record::Rmw { site, .. }
            | Record::ReadRange { site, .. }
            | Record::Scan { site, .. }
            | Record::WriteRange { site, .. }
            | Record::Fill { site, .. } => self.come_to(site, record),
            Record::Copy { site, bytes, .. } => {
                self.come_to(site, record);
                self.access.copied = Some(vec![self.access.found; bytes.len()]);
            }
        }
    }

    /// After the events of a record.
    pub fn end_access(&mut self) {
        if let Some(result) = self.access.result.take() {
            let found = self.access.found;
            self.set(Some(result), found);
            self.explain_result(result, found);
            if let Some(success) = self.access.success {
                self.explain_success(result, success);
            }
        }
        if let Some(content) = self.access.content.take() {
            for set in self.access.copied.take().unwrap_or_default() {
                self.add_content(Some(content), set);
            }
        }
    }

    /// Where records with this site are made.
    fn stop(&mut self, site: u64) -> Option<usize> {
        if let Some(&known) = self.known.get(&site) {
            return known;
        }
        let stop = self.functions.spot(site).map(|spot| {
            self.stops.push(Stop::new(&self.functions, &mut self.regions, spot));
            self.stops.len() - 1
        });
        self.known.insert(site, stop);
        stop
    }

    /// An unmodelled operation happened.
    fn be_opaque(&mut self, site: u64) {
        self.give_up(Why::Opaque);
        let walk = &mut self.walks[self.current];
        if let Some(spot) = self.functions.spot(site)
            && walk.function() == Some(spot.function)
        {
            walk.stand_at(spot.instruction, false);
        }
        self.begin_anew();
    }

    /// Brings the thread to an instruction that accesses memory, or calls a function that does.
    fn come_to(&mut self, site: u64, record: &Record<'_>) {
        let Some(stop) = self.stop(site) else { return self.be_nowhere() };
        let kind = self.stops[stop].kind.clone();
        let is_word = matches!(
            record,
            Record::Read { .. }
                | Record::Write { .. }
                | Record::AtomicLoad { .. }
                | Record::AtomicStore { .. }
                | Record::Rmw { .. }
        );
        if !self.go_to(stop, is_word && !matches!(kind, Kind::Call(_))) {
            return self.be_nowhere();
        }
        let instruction = self.stops[stop].spot.instruction;
        if !matches!(kind, Kind::Call(_)) {
            self.explain_instruction(instruction);
        }
        match kind {
            Kind::Load { pointer, content } => {
                self.go_by_address(pointer, record);
                self.access.result = Some(instruction);
                self.find_content(content);
            }
            Kind::Store { value, pointer, content } => {
                self.go_by_address(pointer, record);
                self.access.value = self.of(value);
                self.explain_store(instruction, 0);
                self.add_content(content, self.access.value);
            }
            Kind::Update { pointer, operand } => {
                self.go_by_address(pointer, record);
                self.access.value = self.of(operand);
                self.explain_update(instruction);
                self.access.result = Some(instruction);
            }
            Kind::Exchange { pointer, expected, desired } => {
                // What is expected decides whether anything is written.
                self.go_by_address(pointer, record);
                if !self.explain_exchange(instruction) {
                    self.steer_by(expected);
                }
                self.access.value = self.of(desired);
                self.access.reading = Reading::DecidesItself;
                self.access.result = Some(instruction);
                self.access.success = Some(matches!(record, Record::Rmw { .. }));
            }
            Kind::Call(call) => {
                self.call(&call, record);
                self.set(Some(instruction), Reads::NOTHING);
            }
            Kind::Unknown => self.be_nowhere(),
        }
    }

    /// The thread depends on the address that it accesses.
    fn go_by_address(&mut self, pointer: Option<Slot>, record: &Record<'_>) {
        self.explain_address(pointer, record);
        self.steer_by(pointer);
    }

    /// The position of the thread is unknown, so no slot holds what it reads.
    fn be_nowhere(&mut self) {
        self.give_up(Why::Nowhere);
        self.walks[self.current].be_nowhere();
        self.access.reading = Reading::Decides;
    }

    /// A library function accesses its arguments. What it reads decides what it does, unless it only copies or fills.
    fn call(&mut self, call: &CallStop, record: &Record<'_>) {
        for &slot in &call.steering {
            self.steer_by(Some(slot));
        }
        match *record {
            Record::Copy { .. } => {
                self.find_content(call.from);
                self.access.content = call.to;
            }
            Record::AtomicLoad { .. } | Record::Rmw { .. } => self.access.reading = Reading::DecidesItself,
            Record::Fill { .. } => {
                self.access.value = self.of(call.byte);
                self.add_content(call.to, self.access.value);
            }
            _ => self.access.reading = Reading::Decides,
        }
        if call.is_unknown {
            self.give_up(Why::Unknown);
        }
    }

    /// A part of what was accessed is this event of the trace.
    pub fn kept(&mut self, kept: &Kept) {
        let mut own = Reads::NOTHING;
        if kept.reads && self.has_forked {
            let reading = match self.access.reading {
                // What an update writes depends on what it reads, also where its thread is unknown.
                Reading::Decides if kept.writes => Reading::DecidesItself,
                reading => reading,
            };
            let is_explained = reading == Reading::DecidesItself && self.explain_comparison(kept);
            let reading = if is_explained { Reading::Result } else { reading };
            self.explain_read(kept, reading == Reading::Result);
            match reading {
                Reading::DecidesItself => self.tracker.steer_itself(self.current, kept.event),
                Reading::Decides => {
                    let read = self.tracker.read(self.current, kept.event);
                    self.tracker.steer(self.current, read);
                }
                Reading::Result => {
                    own = self.tracker.read(self.current, kept.event);
                    self.find(own, kept.bytes.clone());
                }
            }
        }
        if kept.writes {
            let value = self.written(kept.bytes.clone());
            let value = if self.access.reading == Reading::Result {
                self.tracker.unite(self.current, value, own)
            } else {
                value
            };
            self.tracker.set_value(self.current, kept.event, value);
            self.explain_write(kept, value);
        }
    }

    /// A part of what was accessed is not in the trace: some bytes of a word. What is written there is seen by no
    /// other thread.
    pub fn left_out(&mut self, reads: bool, writes: bool, part: Part, bytes: u8) {
        if bytes == 0 {
            return;
        }
        let offset = |byte: u32| part.offset + u64::from(byte - part.first);
        let mut read = Reads::NOTHING;
        if reads && self.access.reading == Reading::Result {
            self.explain_private_read(part, bytes);
        }
        if reads && self.access.copied.is_some() {
            for byte in part.first..part.end {
                let set = self.tracker.load(self.current, part.word, bytes & 1 << byte);
                self.find(set, offset(byte)..offset(byte) + 1);
            }
        } else if reads {
            read = self.tracker.load(self.current, part.word, bytes);
            match self.access.reading {
                Reading::Result => self.find(read, 0..0),
                Reading::Decides | Reading::DecidesItself => self.tracker.steer(self.current, read),
            }
            self.hold_expected();
        }
        if writes && self.access.copied.is_some() {
            for byte in (part.first..part.end).filter(|byte| bytes >> byte & 1 == 1) {
                let value = self.written(offset(byte)..offset(byte) + 1);
                self.tracker.store(self.current, part.word, 1 << byte, value);
            }
        } else if writes {
            let value = self.tracker.unite(self.current, self.access.value, read);
            self.tracker.store(self.current, part.word, bytes, value);
        }
        if writes {
            self.explain_private_write(part, bytes);
        }
    }

    /// What is read is in a local variable.
    fn find_content(&mut self, content: Option<Slot>) {
        self.access.found = self.of(content);
        if self.access.found != Reads::NOTHING {
            self.explain_nothing();
        }
    }

    /// Bytes that were read depend on this.
    fn find(&mut self, reads: Reads, bytes: std::ops::Range<u64>) {
        match &mut self.access.copied {
            Some(copied) => {
                for set in range(copied, bytes) {
                    *set = self.tracker.unite(self.current, *set, reads);
                }
            }
            None => self.access.found = self.tracker.unite(self.current, self.access.found, reads),
        }
    }

    /// What bytes that are written depend on.
    fn written(&mut self, bytes: std::ops::Range<u64>) -> Reads {
        let mut value = self.access.value;
        if let Some(copied) = &mut self.access.copied {
            for &mut set in range(copied, bytes) {
                value = self.tracker.unite(self.current, value, set);
            }
        }
        value
    }

    /// A read that the converter has added; all that follows depends on it.
    pub fn invented_read(&mut self, event: EventId) {
        if self.has_forked {
            let read = self.tracker.read(self.current, event);
            self.tracker.steer(self.current, read);
        }
    }

    /// A write that the converter has added; it depends on no read.
    pub fn invented_write(&mut self, event: EventId, number: Option<u64>) {
        self.tracker.set_value(self.current, event, Reads::NOTHING);
        let values = number.map(|number| [0, number]);
        self.explain_write(&Kept { event, reads: false, writes: true, bytes: 0..0, values }, Reads::NOTHING);
    }
}

/// A part of what is copied.
fn range(copied: &mut [Reads], bytes: std::ops::Range<u64>) -> &mut [Reads] {
    let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    copied.get_mut(index(bytes.start)..index(bytes.end)).unwrap_or_default()
}
