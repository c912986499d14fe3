//! Builds symbolic values of writes, and path constraints of events.
//!
//! Where the path between two records is known step by step, branches on computed values need no pinned reads: they get
//! path constraints. All other values that steer the thread have their reads pinned. Computed values are compared with
//! the log; on a difference the thread is given up.

mod accesses;

use std::ops::Range;
use std::rc::Rc;

use foretell_trace::values::{Obstacle, TermId, Values};
use foretell_trace::{Dependence, EventId, Reads};
use foretell_wire::hook::Update;
use foretell_wire::log::module::Module;
use foretell_wire::record::Record;
use rustc_hash::FxHashMap;

use super::Follower;
use super::given_up::Why;
use super::symbolic_shadow::{Mode, SymbolicShadow};
use super::untaken::{UntakenBranches, UntakenPath};
use crate::evaluate::Given;
use crate::machine::{Arrival, Frame, Machine, ProgramPoint};
use crate::routine::{Goal, Routine, Routines};
use crate::shadow::Shadow as _;
use crate::shape::Slot;
use crate::symbolic::Symbolic;
use crate::terms::{CONSTANT, Origin, Origins, Sets, Source, Terms};
use crate::values::{Known, UNKNOWN};

/// A call with a frame.
pub(super) type Computed = (Rc<Routine>, Frame);

/// How much has symbolic values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ValueCounts {
    /// Writes of the trace that depend on nothing that is read,
    pub constant_writes: u64,
    /// whose value has a term,
    pub computed_writes: u64,
    /// or only a set of reads.
    pub frozen_writes: u64,
    /// Writes without values in the trace: to words that are also accessed in parts, and of freed memory.
    pub unknown_writes: u64,
    /// Paths between two records that are known step by step,
    pub known_ways: u64,
    /// and others.
    pub unknown_ways: u64,
    /// Path constraints,
    pub demands: u64,
    /// and reads that are pinned, because their use is unknown.
    pub pinned_reads: u64,
    /// Reads of the trace once there was a second thread.
    pub reads: u64,
    /// How often a computed value differed from the log.
    pub differ: u64,
}

/// An access by its record, and the computed values of it.
#[derive(Debug, Default)]
struct SymbolicAccess {
    /// The record is not just what the instruction does.
    is_vague: bool,
    /// The word that was read.
    read: Option<u64>,
    /// What was stored, if that is the result of an instruction,
    stored: Option<Given>,
    /// or combined with what was there.
    update: Option<(Update, Given)>,
    /// The expected value.
    expected: Option<Given>,
    /// Where each byte comes from that was read.
    sources: Vec<Option<Source>>,
}

/// Executes threads symbolically.
#[derive(Debug, Default)]
pub(super) struct Explainer {
    pub(super) machine: Machine,
    pub(super) terms: Terms,
    events: usize,
    pub(super) threads: Vec<Thread>,
    access: SymbolicAccess,
    counts: ValueCounts,
    /// Branches with an untaken side, if they are wanted.
    pub(super) forks: Option<UntakenBranches>,
    /// The untaken paths.
    pub(super) seeds: Vec<UntakenPath>,
}

/// What is known of a thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Pending path constraints of its next event.
    waiting: Vec<TermId>,
    /// Bytes of thread-local memory that depend on reads, eight at a time.
    pub(super) memory: FxHashMap<u64, [Option<Source>; 8]>,
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

    /// Adds an event of this thread, with the pending path constraints.
    pub(super) fn event(&mut self, thread: usize) {
        self.events += 1;
        let Some(event) = self.last_event() else { return };
        let mut waiting = std::mem::take(&mut self.thread(thread).waiting);
        for term in waiting.drain(..) {
            self.terms.demand(event, term);
        }
        self.thread(thread).waiting = waiting;
    }

    /// Forgets the thread-local memory.
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
        self.access =
            SymbolicAccess { read: read.filter(|_| length <= 8), sources, ..SymbolicAccess::default() };
    }

    /// All that was found, for a trace with this dependence.
    fn finish(
        mut self,
        found: &Dependence,
        to: &mut Dependence,
    ) -> Option<(Values, ValueCounts, Vec<UntakenPath>)> {
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
    /// The values read and written; none if the event lacks them.
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

    /// How values are computed, for a trace with this dependence; none if that was not wanted, or there is too much
    /// of it.
    pub fn finish_values(self, to: &mut Dependence) -> Option<(Values, ValueCounts, Vec<UntakenPath>)> {
        let found = self.tracker.finish();
        self.explainer?.finish(&found, to)
    }

    /// The shadow of the current thread.
    fn shadow(&mut self) -> Option<SymbolicShadow<'_>> {
        let explainer = self.explainer.as_deref_mut()?;
        explainer.thread(self.current);
        let sets = Sets { tracker: &mut self.tracker, thread: self.current };
        let symbolic = Symbolic { terms: &mut explainer.terms, sets };
        let waiting = &mut explainer.threads[self.current].waiting;
        let mode = Mode::Recorded(None);
        Some(SymbolicShadow { symbolic, waiting, has_failed: false, mode })
    }

    /// Uses the frame of the innermost call, if there is one.
    fn again<R>(
        &mut self,
        act: impl FnOnce(&mut Machine, &Rc<Routine>, &mut Frame, &mut SymbolicShadow<'_>) -> R,
    ) -> Option<R> {
        let explainer = self.explainer.as_deref_mut()?;
        explainer.thread(self.current);
        let (routine, frame) = self.walks[self.current].computed()?;
        let sets = Sets { tracker: &mut self.tracker, thread: self.current };
        let symbolic = Symbolic { terms: &mut explainer.terms, sets };
        let waiting = &mut explainer.threads[self.current].waiting;
        let mode = Mode::Recorded(explainer.forks.as_mut());
        let mut shadow = SymbolicShadow { symbolic, waiting, has_failed: false, mode };
        Some(act(&mut explainer.machine, routine, frame, &mut shadow))
    }

    /// The frame of a call with these arguments.
    pub(super) fn computed(&mut self, function: u32, given: &[Given]) -> Option<Computed> {
        let explainer = self.explainer.as_deref_mut()?;
        let routine = explainer.machine.routine(function)?;
        let frame = Frame::of(&routine, given);
        Some((routine, frame))
    }

    /// Executes from one instruction, or the beginning, to another; returns whether every step is known. If not,
    /// nothing has changed.
    pub(super) fn explain_way(&mut self, from: Option<u32>, to: u32) -> bool {
        let forks = self.forks();
        let is_exact = self.again(|machine, routine, frame, shadow| {
            let (before, obstacles) = (shadow.waiting.len(), shadow.symbolic.terms.obstacles);
            frame.place = from.map_or(ProgramPoint::Before(0), ProgramPoint::After);
            let arrival = machine.walk(routine, frame, Goal::At(to), shadow);
            // An instruction that is not recorded every time may have been executed before.
            let is_first = routine.is_recorded(to) || machine.routines.around(routine, to).is_empty();
            let is_exact = arrival == Arrival::Exact && !shadow.has_failed && is_first;
            if !is_exact {
                shadow.take_back(frame, before, obstacles);
            }
            is_exact
        });
        self.keep_forks(forks, is_exact == Some(true), Some(to));
        self.count_way(is_exact)
    }

    /// Goes from an instruction, or the beginning, to the end of the function; what it returns, if every step of that
    /// is known.
    pub(super) fn explain_end(&mut self, from: Option<u32>) -> Option<(Known, Origins)> {
        let forks = self.forks();
        let returned = self.again(|machine, routine, frame, shadow| {
            let (before, obstacles) = (shadow.waiting.len(), shadow.symbolic.terms.obstacles);
            frame.place = from.map_or(ProgramPoint::Before(0), ProgramPoint::After);
            let returned = machine.returned(routine, frame, shadow);
            if shadow.has_failed {
                shadow.take_back(frame, before, obstacles);
            }
            (!shadow.has_failed).then_some(returned)
        });
        self.keep_forks(forks, returned.is_some_and(|returned| returned.is_some()), None);
        self.count_way(returned.map(|returned| returned.is_some()));
        returned.flatten()
    }

    /// How many branches with an untaken side were noted.
    fn forks(&self) -> usize {
        let forks = self.explainer.as_ref().and_then(|explainer| explainer.forks.as_ref());
        forks.map_or(0, |forks| forks.found.len())
    }

    /// Of decisions on a way that is known step by step, which led to this instruction, also notes who had called;
    /// others are not kept.
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

    /// A function was called with this whose effects are not known.
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
        self.again(|_, routine, frame, shadow| {
            let of = routine.type_at(call as usize);
            let given = Given { of: Some(of), known, origins };
            let origins =
                if of.fit(known) == known { origins } else { [shadow.mix(&[given], Obstacle::Operation); 2] };
            frame.put(call as usize, of.fit(known), origins);
        });
    }

    /// Values steer what comes next; says whether that is taken care of.
    pub(super) fn hold(&mut self, given: &[Given]) -> bool {
        self.shadow().map(|mut shadow| shadow.hold(given)).is_some()
    }

    /// What is in a slot steers what comes next; says whether that is taken care of.
    pub(super) fn hold_slot(&mut self, slot: Slot) -> bool {
        let held = self.again(|machine, routine, frame, shadow| {
            shadow.hold(&[machine.given_at(routine, frame, slot as usize)]);
        });
        held.is_some()
    }

    fn given_slot(&mut self, slot: Option<Slot>) -> Option<Given> {
        let slot = slot?;
        self.again(|machine, routine, frame, _| machine.given_at(routine, frame, slot as usize))
    }

    /// What was computed is not what is in the log. Nothing is known then.
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
}

/// What a call returns of which nothing is known but what it is made of.
pub(super) fn unknown(reads: Reads) -> (Known, Origins) {
    (UNKNOWN, if reads == Reads::NOTHING { CONSTANT } else { [Origin::Made(reads); 2] })
}
