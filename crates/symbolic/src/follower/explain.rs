//! How a thread came to do what it did: terms for what it stores, and demands for what it went by.
//!
//! Where the way between two records is known step by step, whatever was decided on it by values that can be computed need not be pinned: it is
//! demanded that it comes out the same. Everything else steers its thread, as it does where nobody computes: the reads behind it are pinned.
//! All that was computed is compared with the log. Where it is something else, everything is given up.

use std::ops::Range;
use std::rc::Rc;

use foretell_trace::values::{Binary, Obstacle, Obstacles, TermId, Unary, Values};
use foretell_trace::{Dependence, EventId, Reads};
use foretell_wire::code::opcode;
use foretell_wire::hook::Update;
use foretell_wire::log::module::Module;
use foretell_wire::record::Record;
use rustc_hash::FxHashMap;

use super::Follower;
use super::detour::{Forks, Seed};
use super::given_up::Why;
use crate::evaluate::Given;
use crate::machine::{Arrival, Frame, Machine, Place};
use crate::part::Part;
use crate::routine::{Goal, Routine, Routines};
use crate::shadow::{Decision, Done, Shadow};
use crate::shape::Slot;
use crate::symbolic::Symbolic;
use crate::terms::{CONSTANT, Origin, Origins, Sets, Source, Terms};
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// Of more cases than this it is not said of each that it was not the one.
const MOST_CASES: usize = 16;

/// A call of a function that is computed again.
pub(super) type Computed = (Rc<Routine>, Frame);

/// How much could be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ValueCounts {
    /// Writes of the trace that depend on nothing that is read,
    pub constant_writes: u64,
    /// of which is known how what they store is computed,
    pub computed_writes: u64,
    /// or only from what.
    pub frozen_writes: u64,
    /// Writes whose values the trace does not tell: of words that are also accessed in parts, and of memory that is given back.
    pub unknown_writes: u64,
    /// Ways between two records that are known step by step,
    pub known_ways: u64,
    /// and others.
    pub unknown_ways: u64,
    /// Demands that something comes out the same,
    pub demands: u64,
    /// and reads that are pinned, because nobody knows what they matter to.
    pub pinned_reads: u64,
    /// Reads of the trace once there was a second thread.
    pub reads: u64,
    /// How often something else was computed than what is in the log.
    pub differ: u64,
}

/// What a record tells of its access, and what was computed of it.
#[derive(Debug, Default)]
struct Access {
    /// The record is not just what the instruction does.
    is_vague: bool,
    /// The word that was read.
    read: Option<u64>,
    /// What was stored, if that is the result of an instruction,
    stored: Option<Given>,
    /// or combined with what was there.
    update: Option<(Update, Given)>,
    /// What had to be there.
    expected: Option<Given>,
    /// Where each byte comes from that was read.
    sources: Vec<Option<Source>>,
}

/// Computes again what threads do.
#[derive(Debug, Default)]
pub(super) struct Explainer {
    pub(super) machine: Machine,
    pub(super) terms: Terms,
    events: usize,
    pub(super) threads: Vec<Thread>,
    access: Access,
    counts: ValueCounts,
    /// Decisions that could have gone another way, if anybody wants to know.
    pub(super) forks: Option<Forks>,
    /// What lies on such ways.
    pub(super) seeds: Vec<Seed>,
}

/// What is known of a thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// What must be as it was for its next event to take place.
    waiting: Vec<TermId>,
    /// Bytes of its own memory that are computed from reads, eight at a time.
    pub(super) memory: FxHashMap<u64, [Option<Source>; 8]>,
}

/// Who goes along with a thread.
pub(super) struct Companion<'a> {
    pub(super) symbolic: Symbolic<'a>,
    pub(super) waiting: &'a mut Vec<TermId>,
    /// It was not possible to follow.
    pub(super) has_failed: bool,
    pub(super) manner: Manner<'a>,
}

/// What is made of decisions, and of what steers for reasons that have no term.
pub(super) enum Manner<'a> {
    /// The reads behind it are pinned. Decisions that could have gone another way are noted, if anybody wants to know.
    Recorded(Option<&'a mut Forks>),
    /// It is demanded that the reads behind it see what they saw: nothing of this has happened.
    Imagined,
}

impl Companion<'_> {
    /// The way was not this one, which began with so much waiting.
    fn take_back(&mut self, frame: &mut Frame, waiting: usize, obstacles: Obstacles) {
        frame.take_back();
        self.waiting.truncate(waiting);
        self.symbolic.terms.obstacles = obstacles;
    }

    fn hold_word(&mut self, origin: Origin) {
        match origin {
            Origin::Term(term) => self.waiting.push(term),
            Origin::Made(reads) if matches!(self.manner, Manner::Imagined) => {
                match self.symbolic.terms.frozen(0, reads) {
                    Some(term) => self.waiting.push(term),
                    None => self.has_failed = true,
                }
            }
            Origin::Made(reads) => {
                let Sets { tracker, thread } = &mut self.symbolic.sets;
                tracker.steer(*thread, reads);
            }
        }
    }

    /// What must hold for a division to be possible; none if that cannot be said.
    fn possible(&mut self, opcode: u8, [dividend, divisor]: [&Given; 2]) -> Option<Vec<TermId>> {
        let of = dividend.scalar().or(divisor.scalar())?;
        let divisor = self.symbolic.term(divisor, 0, of)?;
        let mut found = vec![self.symbolic.terms.unary(Unary::IsZero, of.bits(), divisor)?];
        if matches!(opcode, opcode::SDIV | opcode::SREM) {
            let minus_one = self.symbolic.terms.number(of.fit(u64::MAX))?;
            let negates = self.symbolic.binary(Binary::Equal, of, [divisor, minus_one])?;
            found.push(negates);
            if self.symbolic.terms.observed(negates) == 1 {
                let dividend = self.symbolic.term(dividend, 0, of)?;
                let least = self.symbolic.terms.number(1 << (of.bits() - 1))?;
                found.push(self.symbolic.binary(Binary::Equal, of, [dividend, least])?);
            }
        }
        Some(found)
    }

    /// That it was none of these cases; none if that cannot be said.
    pub(super) fn none_of(&mut self, condition: &Given, cases: &[Given]) -> Option<Vec<TermId>> {
        let of = condition.scalar()?;
        let term = self.symbolic.term(condition, 0, of)?;
        let mut found = Vec::new();
        for case in cases.iter().take_while(|_| cases.len() <= MOST_CASES) {
            let case = self.symbolic.terms.number(of.fit(case.known[0]?))?;
            found.push(self.symbolic.binary(Binary::Equal, of, [term, case])?);
        }
        (cases.len() <= MOST_CASES).then_some(found)
    }
}

impl Shadow for Companion<'_> {
    fn result(&mut self, done: &Done<'_>) -> Origins {
        self.symbolic.result(done)
    }

    fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin {
        self.symbolic.mix(given, why)
    }

    fn hold(&mut self, given: &[Given]) {
        for origin in given.iter().flat_map(|given| given.origins) {
            self.hold_word(origin);
        }
    }

    fn divide(&mut self, opcode: u8, given: &[Given]) {
        let [dividend, divisor] = given else { return self.hold(given) };
        if matches!(self.manner, Manner::Imagined) && !is_possible(opcode, dividend, divisor) {
            self.has_failed = true;
            return;
        }
        match self.possible(opcode, [dividend, divisor]) {
            Some(terms) => self.waiting.extend(terms),
            None => self.hold(given),
        }
    }

    fn decide(&mut self, decision: &Decision<'_>) {
        if let Manner::Recorded(Some(forks)) = &mut self.manner
            && let Origin::Term(term) = decision.condition.origins[0]
            && !self.symbolic.terms.is_settled(term)
        {
            forks.note(decision, self.waiting);
        }
        let Decision { condition, cases, way, .. } = *decision;
        let others = if way == 0 && !cases.is_empty() { self.none_of(&condition, cases) } else { None };
        match others {
            Some(terms) => self.waiting.extend(terms),
            None => self.hold(&[condition]),
        }
    }

    fn give_up(&mut self) {
        self.has_failed = true;
    }
}

impl Explainer {
    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// A module was loaded.
    pub(super) fn add(&mut self, module: &Module<'_>) {
        self.machine.functions.add(module);
        self.machine.routines = Routines::default();
    }

    fn last_event(&self) -> Option<EventId> {
        EventId::from_index(self.events.checked_sub(1)?)
    }

    /// The trace has an event more, one of this thread: it takes what waits for that.
    pub(super) fn event(&mut self, thread: usize) {
        self.events += 1;
        let Some(event) = self.last_event() else { return };
        let mut waiting = std::mem::take(&mut self.thread(thread).waiting);
        for term in waiting.drain(..) {
            self.terms.demand(event, term);
        }
        self.thread(thread).waiting = waiting;
    }

    /// Nobody knows what the memory of the thread holds.
    pub(super) fn forget_memory(&mut self, thread: usize) {
        // To clear a table takes as long as it once was large, and this may happen at every call of unknown code.
        self.thread(thread).memory = FxHashMap::default();
    }

    fn begin(&mut self, record: &Record<'_>) {
        let (read, length) = match *record {
            Record::Read { size, value, .. } | Record::AtomicLoad { size, value, .. } => {
                (Some(value), size.into())
            }
            Record::Rmw { size, read, .. } => (Some(read), size.into()),
            Record::Copy { bytes, .. } => (None, bytes.len()),
            _ => (None, 0),
        };
        let mut sources = std::mem::take(&mut self.access.sources);
        sources.clear();
        sources.resize(length, None);
        self.access = Access { read: read.filter(|_| length <= 8), sources, ..Access::default() };
    }

    /// All that was found, for a trace with this dependence.
    fn finish(mut self, found: &Dependence, to: &mut Dependence) -> Option<(Values, ValueCounts, Vec<Seed>)> {
        let ids = (0..self.events).filter_map(EventId::from_index);
        self.counts.pinned_reads = ids.filter(|&id| found.steered_by(id).is_some()).count() as u64;
        self.counts.demands = self.terms.demanded();
        let beside = self.seeds.iter_mut().map(|seed| &mut seed.terms);
        let values = self.terms.finish(self.events, found, to, beside)?;
        Some((values, self.counts, self.seeds))
    }
}

/// A part of what was accessed that is an event of the trace.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The event.
    pub event: EventId,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Which bytes of the access it is.
    pub bytes: Range<u64>,
    /// What it has read, and written; none if the event does not tell.
    pub values: Option<[u64; 2]>,
}

impl Kept {
    fn range(&self) -> Option<Range<usize>> {
        Some(usize::try_from(self.bytes.start).ok()?..usize::try_from(self.bytes.end).ok()?)
    }

    fn bits(&self) -> u32 {
        u32::try_from((self.bytes.end - self.bytes.start).saturating_mul(8)).unwrap_or(u32::MAX)
    }
}

impl Follower {
    /// One that also says how values are computed.
    pub fn explaining() -> Follower {
        Follower { explainer: Some(Box::default()), ..Follower::default() }
    }

    /// How values are computed, for a trace with this dependence; none if nobody wanted to know, or there is too much of it.
    pub fn finish_values(self, to: &mut Dependence) -> Option<(Values, ValueCounts, Vec<Seed>)> {
        let found = self.tracker.finish();
        self.explainer?.finish(&found, to)
    }

    /// Who goes along with the thread that acts.
    fn companion(&mut self) -> Option<Companion<'_>> {
        let explainer = self.explainer.as_deref_mut()?;
        explainer.thread(self.current);
        let sets = Sets { tracker: &mut self.tracker, thread: self.current };
        let symbolic = Symbolic { terms: &mut explainer.terms, sets };
        let waiting = &mut explainer.threads[self.current].waiting;
        let manner = Manner::Recorded(None);
        Some(Companion { symbolic, waiting, has_failed: false, manner })
    }

    /// Does something with the innermost call, if it is computed again.
    fn again<R>(
        &mut self,
        act: impl FnOnce(&mut Machine, &Rc<Routine>, &mut Frame, &mut Companion<'_>) -> R,
    ) -> Option<R> {
        let explainer = self.explainer.as_deref_mut()?;
        explainer.thread(self.current);
        let (routine, frame) = self.walks[self.current].computed()?;
        let sets = Sets { tracker: &mut self.tracker, thread: self.current };
        let symbolic = Symbolic { terms: &mut explainer.terms, sets };
        let waiting = &mut explainer.threads[self.current].waiting;
        let manner = Manner::Recorded(explainer.forks.as_mut());
        let mut companion = Companion { symbolic, waiting, has_failed: false, manner };
        Some(act(&mut explainer.machine, routine, frame, &mut companion))
    }

    /// A call of a function, with what it is given, to be computed again.
    pub(super) fn computed(&mut self, function: u32, given: &[Given]) -> Option<Computed> {
        let explainer = self.explainer.as_deref_mut()?;
        let routine = explainer.machine.routine(function)?;
        let frame = Frame::of(&routine, given);
        Some((routine, frame))
    }

    /// Goes from one instruction, or the beginning, to another; says whether every step of that is known. If it is not, nothing has changed.
    pub(super) fn explain_way(&mut self, from: Option<u32>, to: u32) -> bool {
        let forks = self.forks();
        let is_exact = self.again(|machine, routine, frame, companion| {
            let (before, obstacles) = (companion.waiting.len(), companion.symbolic.terms.obstacles);
            frame.place = from.map_or(Place::Before(0), Place::After);
            let arrival = machine.walk(routine, frame, Goal::At(to), companion);
            // Where no record is made of every time, the thread may have come by before.
            let is_first = routine.is_told(to) || machine.routines.around(routine, to).is_empty();
            let is_exact = arrival == Arrival::Exact && !companion.has_failed && is_first;
            if !is_exact {
                companion.take_back(frame, before, obstacles);
            }
            is_exact
        });
        self.keep_forks(forks, is_exact == Some(true), Some(to));
        self.count_way(is_exact)
    }

    /// Goes from an instruction, or the beginning, to the end of the function; what it returns, if every step of that is known.
    pub(super) fn explain_end(&mut self, from: Option<u32>) -> Option<(Known, Origins)> {
        let forks = self.forks();
        let returned = self.again(|machine, routine, frame, companion| {
            let (before, obstacles) = (companion.waiting.len(), companion.symbolic.terms.obstacles);
            frame.place = from.map_or(Place::Before(0), Place::After);
            let returned = machine.returned(routine, frame, companion);
            if companion.has_failed {
                companion.take_back(frame, before, obstacles);
            }
            (!companion.has_failed).then_some(returned)
        });
        self.keep_forks(forks, returned.is_some_and(|returned| returned.is_some()), None);
        self.count_way(returned.map(|returned| returned.is_some()));
        returned.flatten()
    }

    /// How many decisions were noted that could have gone another way.
    fn forks(&self) -> usize {
        let forks = self.explainer.as_ref().and_then(|explainer| explainer.forks.as_ref());
        forks.map_or(0, |forks| forks.found.len())
    }

    /// Of decisions on a way that is known step by step, which led to this instruction, also notes who had called; others are not kept.
    fn keep_forks(&mut self, first: usize, is_exact: bool, goal: Option<u32>) {
        if self.forks() == first {
            return;
        }
        let callers = Rc::new(self.walks[self.current].callers());
        let Some(forks) = self.explainer.as_mut().and_then(|explainer| explainer.forks.as_mut()) else {
            return;
        };
        if !is_exact {
            return forks.found.truncate(first);
        }
        for fork in &mut forks.found[first..] {
            (fork.callers, fork.goal, fork.left) = (Rc::clone(&callers), goal, self.left);
        }
    }

    fn count_way(&mut self, is_exact: Option<bool>) -> bool {
        if let Some(explainer) = &mut self.explainer {
            explainer.counts.known_ways += u64::from(is_exact == Some(true));
            explainer.counts.unknown_ways += u64::from(is_exact != Some(true));
            explainer.terms.obstacles.add(Obstacle::UnknownWay, u64::from(is_exact != Some(true)));
        }
        is_exact == Some(true)
    }

    /// A function was called with this of which nobody knows what it does.
    pub(super) fn count_unknown_call(&mut self, arguments: &[Reads]) {
        if let Some(explainer) = &mut self.explainer {
            let depends = arguments.iter().any(|&reads| reads != Reads::NOTHING);
            explainer.terms.obstacles.add(Obstacle::UnknownFunction, u64::from(depends));
        }
    }

    /// What a call passes.
    pub(super) fn passed(&mut self, call: u32) -> Vec<Given> {
        self.again(|machine, routine, frame, _| machine.arguments(routine, frame, call)).unwrap_or_default()
    }

    /// Nothing is known of a slot but what it is made of.
    pub(super) fn blur(&mut self, slot: Slot, reads: Reads) {
        self.again(|_, _, frame, _| frame.put(slot as usize, UNKNOWN, [Origin::Made(reads); 2]));
    }

    /// Nothing is known of the innermost call any more; all that it is made of is pinned.
    pub(super) fn begin_anew(&mut self) {
        self.again(|_, _, frame, _| frame.begin_anew());
    }

    /// A call has returned this.
    pub(super) fn set_returned(&mut self, call: Option<u32>, (known, origins): (Known, Origins)) {
        let Some(call) = call else { return };
        self.again(|_, routine, frame, companion| {
            let of = routine.type_at(call as usize);
            let given = Given { of: Some(of), known, origins };
            let origins = if of.fit(known) == known {
                origins
            } else {
                [companion.mix(&[given], Obstacle::Operation); 2]
            };
            frame.put(call as usize, of.fit(known), origins);
        });
    }

    /// Values steer what comes next; says whether anybody has taken care of that.
    pub(super) fn hold(&mut self, given: &[Given]) -> bool {
        self.companion().map(|mut companion| companion.hold(given)).is_some()
    }

    /// What is in a slot steers what comes next; says whether anybody has taken care of that.
    pub(super) fn hold_slot(&mut self, slot: Slot) -> bool {
        let held = self.again(|machine, routine, frame, companion| {
            companion.hold(&[machine.given_at(routine, frame, slot as usize)]);
        });
        held.is_some()
    }

    fn given_slot(&mut self, slot: Option<Slot>) -> Option<Given> {
        let slot = slot?;
        self.again(|machine, routine, frame, _| machine.given_at(routine, frame, slot as usize))
    }

    /// What was computed is not what is in the log. Then nobody knows anything.
    fn distrust(&mut self) {
        if let Some(explainer) = &mut self.explainer {
            explainer.counts.differ += 1;
        }
        self.give_up(Why::NoWay);
        self.begin_anew();
    }

    /// What is known of an operand of the instruction that has made a record.
    fn operand(&mut self, instruction: u32, position: usize) -> Option<Given> {
        self.again(|machine, routine, frame, _| {
            machine.all_given(routine, frame, instruction).get(position).copied()
        })
        .flatten()
    }

    /// A record of an access.
    pub(super) fn begin_explaining(&mut self, record: &Record<'_>) {
        if let Some(explainer) = &mut self.explainer {
            explainer.begin(record);
        }
    }

    /// This instruction has made the record. What is part of a lock, say, is told in other terms, at addresses that nothing is at.
    pub(super) fn explain_instruction(&mut self, instruction: u32) {
        let is_told = self.again(|_, routine, _, _| routine.is_told(instruction));
        if is_told != Some(true) {
            self.explain_nothing();
        }
    }

    fn is_vague(&self) -> bool {
        self.explainer.as_ref().is_none_or(|explainer| explainer.access.is_vague)
    }

    /// The address that an access was made at is in this slot. What was not known of it is known from now on.
    pub(super) fn explain_address(&mut self, pointer: Option<Slot>, record: &Record<'_>) {
        if self.is_vague() {
            return;
        }
        let address = match *record {
            Record::Read { addr, .. }
            | Record::Write { addr, .. }
            | Record::AtomicLoad { addr, .. }
            | Record::AtomicStore { addr, .. }
            | Record::Rmw { addr, .. }
            | Record::ReadRange { addr, .. }
            | Record::WriteRange { addr, .. } => addr,
            _ => return,
        };
        match self.given_slot(pointer).map(|given| given.known[0]) {
            Some(Some(known)) if known != address => self.distrust(),
            Some(None) => self.learn_address(pointer, address),
            _ => {}
        }
    }

    fn learn_address(&mut self, pointer: Option<Slot>, address: u64) {
        self.again(|machine, routine, frame, _| {
            let at = match frame.place {
                Place::Before(at) => at,
                Place::At(_) | Place::After(_) | Place::Unknown => return,
            };
            let operand = machine.values(routine, at).find(|&operand| routine.shape.slot(operand) == pointer);
            if let Some(operand) = operand {
                machine.learn(routine, frame, at, (operand, address));
            }
        });
    }

    /// The instruction stores what is at this position among its operands.
    pub(super) fn explain_store(&mut self, instruction: u32, position: usize) {
        let stored = if self.is_vague() { None } else { self.operand(instruction, position) };
        if let Some(explainer) = &mut self.explainer {
            explainer.access.stored = stored;
        }
    }

    /// The instruction combines what is there with its operand.
    pub(super) fn explain_update(&mut self, instruction: u32) {
        let operand = if self.is_vague() { None } else { self.operand(instruction, 1) };
        let update = self.again(|machine, routine, _, _| {
            let code = machine.numbers(routine, instruction).first()?;
            Update::from_code(u32::try_from(*code).ok()?)
        });
        if let Some(explainer) = &mut self.explainer {
            explainer.access.update = update.flatten().zip(operand);
        }
    }

    /// The instruction stores something if it finds what is expected; says whether anybody will take care of that.
    pub(super) fn explain_exchange(&mut self, instruction: u32) -> bool {
        let expected = if self.is_vague() { None } else { self.operand(instruction, 1) };
        self.explain_store(instruction, 2);
        if let Some(explainer) = &mut self.explainer {
            explainer.access.expected = expected;
        }
        expected.is_some()
    }

    /// What the access reads is made of more than its bytes tell.
    pub(super) fn explain_nothing(&mut self) {
        if let Some(explainer) = &mut self.explainer {
            explainer.access.is_vague = true;
            explainer.access.read = None;
            explainer.access.sources.clear();
        }
    }

    /// An event has compared what it read with what was expected; says whether it is demanded that this comes out the same.
    pub(super) fn explain_comparison(&mut self, kept: &Kept) -> bool {
        let Some(explainer) = &mut self.explainer else { return false };
        let Some(expected) = explainer.access.expected else { return false };
        let is_whole = kept.range() == Some(0..explainer.access.sources.len());
        let read = kept.values.map(|[read, _]| read).filter(|_| is_whole && self.has_forked);
        let term = self.compared(kept, read, &expected);
        if let Some((term, explainer)) = term.zip(self.explainer.as_mut()) {
            explainer.terms.demand(kept.event, term);
            return true;
        }
        // What is expected must be what it was, for the very same event.
        let word = Scalar::Int(kept.bits().clamp(1, u64::BITS));
        let held = self.companion().and_then(|mut companion| companion.symbolic.term(&expected, 0, word));
        let reads = self.companion().map(|mut companion| companion.symbolic.reads(&[expected]));
        let Some(explainer) = &mut self.explainer else { return false };
        match held.or_else(|| explainer.terms.frozen(0, reads?)) {
            Some(term) => explainer.terms.demand(kept.event, term),
            None => self.give_up(Why::NoWay),
        }
        false
    }

    /// Whether what was read is what was expected, as a term.
    fn compared(&mut self, kept: &Kept, read: Option<u64>, expected: &Given) -> Option<TermId> {
        let word = Scalar::Int(kept.bits());
        let mut companion = self.companion()?;
        let symbolic = &mut companion.symbolic;
        let read = symbolic.terms.read(kept.event, kept.bits(), read?)?;
        let expected = symbolic.term(expected, 0, word)?;
        let same = symbolic.binary(Binary::Equal, word, [read, expected])?;
        // A comparison that came out otherwise is none of these.
        (symbolic.terms.observed(same) == u64::from(kept.writes)).then_some(same)
    }

    /// What was expected decides, and no event tells of it.
    pub(super) fn hold_expected(&mut self) {
        let expected = self.explainer.as_ref().and_then(|explainer| explainer.access.expected);
        self.hold(expected.as_slice());
    }

    /// An event reads: what it reads is a term.
    pub(super) fn explain_read(&mut self, kept: &Kept, is_result: bool) {
        let Some(explainer) = &mut self.explainer else { return };
        explainer.counts.reads += 1;
        let Some([read, _]) = kept.values else { return };
        let Some(term) = explainer.terms.read(kept.event, kept.bits(), read) else { return };
        let Some(bytes) = kept.range().filter(|_| is_result && !explainer.access.is_vague) else { return };
        // The machine reads at once what is several variables of the trace, so these must see what they saw together.
        let is_whole = bytes == (0..explainer.access.sources.len());
        explainer.terms.obstacles.add(Obstacle::InParts, u64::from(!is_whole));
        for (byte, source) in (0..).zip(explainer.access.sources.get_mut(bytes).unwrap_or_default()) {
            let origin = if is_whole { Origin::Term(term) } else { Origin::Made(Reads::of(kept.event)) };
            *source = Some((origin, if is_whole { byte } else { 0 }));
        }
    }

    /// An event writes: what it writes is a term, or made of these reads.
    pub(super) fn explain_write(&mut self, kept: &Kept, reads: Reads) {
        let Some(explainer) = &mut self.explainer else { return };
        let Some([_, written]) = kept.values else {
            explainer.counts.unknown_writes += 1;
            return;
        };
        let term = self.written_term(kept, written);
        if term.is_some_and(|term| self.observed(term) != Some(written)) {
            return self.distrust();
        }
        let Some(explainer) = &mut self.explainer else { return };
        match term {
            Some(_) => explainer.counts.computed_writes += 1,
            None if reads == Reads::NOTHING => explainer.counts.constant_writes += 1,
            None => explainer.counts.frozen_writes += 1,
        }
        if let Some(term) = term.or_else(|| explainer.terms.frozen(written, reads)) {
            explainer.terms.write(kept.event, term);
        }
    }

    fn observed(&self, term: TermId) -> Option<u64> {
        self.explainer.as_ref().map(|explainer| explainer.terms.observed(term))
    }

    /// The term that an event writes, if it is computed from reads.
    fn written_term(&mut self, kept: &Kept, written: u64) -> Option<TermId> {
        let bytes = kept.range().filter(|bytes| !bytes.is_empty())?;
        let explainer = self.explainer.as_deref()?;
        if explainer.access.stored.is_some() || explainer.access.update.is_some() {
            let Origin::Term(term) = self.stored_origin()? else { return None };
            let from = u32::try_from(8 * bytes.start).ok()?;
            let Companion { mut symbolic, .. } = self.companion()?;
            return symbolic.terms.extract(&mut symbolic.sets, term, from, kept.bits());
        }
        // What is copied.
        let sources = explainer.access.sources.get(bytes)?.to_vec();
        self.assembled(&sources, written)
    }

    /// What the instruction stores is made of.
    fn stored_origin(&mut self) -> Option<Origin> {
        let explainer = self.explainer.as_deref()?;
        let size = u32::try_from(explainer.access.sources.len()).unwrap_or(u32::MAX);
        match (explainer.access.stored, explainer.access.update) {
            (Some(stored), _) if stored.scalar().is_some() => Some(stored.origins[0]),
            (None, Some((update, operand))) if (1..=8).contains(&size) => {
                let (sources, read) = (explainer.access.sources.clone(), explainer.access.read?);
                let old = self.assembled(&sources, read)?;
                let word = Scalar::Int(8 * size);
                let mut companion = self.companion()?;
                let operand = companion.symbolic.term(&operand, 0, word)?;
                companion.symbolic.update(update, word, [old, operand]).map(Origin::Term)
            }
            _ => None,
        }
    }

    /// Bytes that are left out of the trace are read: their sources, and what those are made of of which none is known.
    pub(super) fn explain_private_read(&mut self, part: Part, bytes: u8) {
        let Some(explainer) = &mut self.explainer else { return };
        let Explainer { threads, access, .. } = &mut **explainer;
        let Some(thread) = threads.get(self.current) else { return };
        let known = thread.memory.get(&part.word);
        for byte in (part.first..part.end).filter(|byte| bytes >> byte & 1 == 1) {
            let offset = usize::try_from(part.offset + u64::from(byte - part.first)).unwrap_or(usize::MAX);
            let Some(source) = access.sources.get_mut(offset) else { continue };
            *source = known.and_then(|known| known[byte as usize]).or_else(|| {
                let reads = self.tracker.load(self.current, part.word, 1 << byte);
                Some((Origin::Made(reads), 0))
            });
        }
    }

    /// Bytes that are left out of the trace are written.
    pub(super) fn explain_private_write(&mut self, part: Part, bytes: u8) {
        let Some(explainer) = self.explainer.as_deref() else { return };
        let is_word = explainer.access.stored.is_some() || explainer.access.update.is_some();
        let stored = if is_word { self.stored_origin() } else { None };
        let Some(explainer) = self.explainer.as_deref_mut() else { return };
        explainer.thread(self.current);
        let Explainer { threads, access, .. } = explainer;
        let memory = &mut threads[self.current].memory;
        for byte in (part.first..part.end).filter(|byte| bytes >> byte & 1 == 1) {
            let offset = part.offset + u64::from(byte - part.first);
            let source = match stored {
                Some(origin) => u32::try_from(offset).ok().map(|offset| (origin, offset)),
                None if is_word => None,
                None => usize::try_from(offset).ok().and_then(|offset| *access.sources.get(offset)?),
            };
            let source = source.filter(|(origin, _)| matches!(origin, Origin::Term(_)));
            if source.is_some() || memory.contains_key(&part.word) {
                memory.entry(part.word).or_default()[byte as usize] = source;
            }
        }
        if memory.get(&part.word).is_some_and(|sources| sources.iter().all(Option::is_none)) {
            memory.remove(&part.word);
        }
    }

    /// The result of a load is what was read.
    pub(super) fn explain_result(&mut self, result: Slot, found: Reads) {
        let Some(explainer) = self.explainer.as_deref() else { return };
        let Some(read) = explainer.access.read else { return };
        let sources = explainer.access.sources.clone();
        let success = explainer.access.expected.is_some();
        let term = self.assembled(&sources, read);
        self.again(|_, routine, frame, companion| {
            let (of, first) = match routine.type_at(result as usize) {
                of @ Type::One(first) => (of, first),
                of @ Type::Two([first, Scalar::Int(1)]) if success => (of, first),
                _ => return,
            };
            let terms = &mut companion.symbolic.terms;
            let term = term.and_then(|term| terms.unary(Unary::Truncate, first.bits(), term));
            let origin = match term.filter(|&term| terms.observed(term) == first.fit(read)) {
                Some(term) => Origin::Term(term),
                None => Origin::Made(found),
            };
            frame.put(result as usize, of.fit([Some(read), None]), [origin, Origin::NOTHING]);
        });
    }

    /// An exchange has come out like this, which is demanded, or pinned.
    pub(super) fn explain_success(&mut self, result: Slot, success: bool) {
        if self.is_vague() {
            return;
        }
        self.again(|_, _, frame, _| {
            let (known, origins) = frame.held(result as usize);
            frame.put(result as usize, [known[0], Some(u64::from(success))], [origins[0], Origin::NOTHING]);
        });
    }

    /// See [`Symbolic::assembled`].
    fn assembled(&mut self, sources: &[Option<Source>], observed: u64) -> Option<TermId> {
        self.companion()?.symbolic.assembled(sources, observed)
    }
}

/// Whether a division is possible with what is known: nobody has made it yet.
fn is_possible(code: u8, dividend: &Given, divisor: &Given) -> bool {
    let Some(of) = dividend.scalar().or(divisor.scalar()) else { return false };
    let known = |given: &Given| given.known[0].map(|known| of.fit(known));
    let is_signed = matches!(code, opcode::SDIV | opcode::SREM);
    match known(divisor) {
        None | Some(0) => false,
        Some(by) if is_signed && by == of.fit(u64::MAX) => {
            known(dividend).is_some_and(|dividend| dividend != 1 << (of.bits() - 1))
        }
        Some(_) => true,
    }
}

/// What a call returns of which nothing is known but what it is made of.
pub(super) fn unknown(reads: Reads) -> (Known, Origins) {
    (UNKNOWN, if reads == Reads::NOTHING { CONSTANT } else { [Origin::Made(reads); 2] })
}
