//! The other way of a decision: what its thread would do there, as far as that can be told exactly.
//!
//! The run shows one way of each decision. Its code is known, and so is the state in which the thread decided; so it
//! can go the other way, alone, with everybody else standing still. What it reads there is not what it will read in
//! an execution that really takes this way: nothing is made of that but terms. Decisions that depend on such reads
//! are taken all ways, each with the demand that it goes so, and what is accessed is demanded to be accessed again.
//! So whenever all demands hold, the thread does exactly this.
//!
//! The way ends where that cannot be said: before a function that is not instrumented, what has to do with other
//! threads (atomics, conditions, all locks but a mutex that is free), an address that is not known, memory that the
//! run has never touched, and at some length. What comes before is right nevertheless.

mod environment;
mod path;

use std::rc::Rc;

use foretell_depend::Tracker;
use foretell_trace::values::{Binary, Term, TermId};
use foretell_trace::{EventId, Loc, Op, ThreadId};
use rustc_hash::FxHashMap;

use super::Follower;
use super::explain::Explainer;
use super::symbolic_shadow::{Mode, SymbolicShadow};
use super::walk::Caller;
use crate::code::FunctionId;
use crate::machine::Frame;
use crate::routine::Routine;
use crate::shadow::Decision;
use crate::symbolic::Symbolic;
use crate::terms::Sets;
use path::Path;

pub use environment::{Environment, Footprint, LockHolder, TouchedVar};

/// How many other ways are gone, and how far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many ways are followed behind each decision.
    pub ways: usize,
    /// How many events a way may have.
    pub events: usize,
    /// How many of them may come after the thread is where it was recorded next in the run.
    pub behind: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { ways: 16, events: 64, behind: 16 }
    }
}

/// A decision that could have gone another way.
#[derive(Clone, Debug)]
pub(super) struct UntakenBranch {
    routine: Rc<Routine>,
    /// What was known when it was made.
    frame: Frame,
    index: u32,
    way: usize,
    /// What had to hold for the thread to come there.
    waiting: Vec<TermId>,
    pub(super) callers: Rc<Vec<Caller>>,
    /// Where the thread was recorded next in this call.
    pub(super) goal: Option<u32>,
    /// How many calls it had left since its last record.
    pub(super) left: u32,
}

/// Decisions that could have gone another way.
#[derive(Debug, Default)]
pub(super) struct UntakenBranches {
    /// How often each decision went each way.
    counts: FxHashMap<(FunctionId, u32, usize), u32>,
    pub(super) found: Vec<UntakenBranch>,
}

impl UntakenBranches {
    /// Takes up a decision, unless the same was made just as often as not to be of interest: the first ones are, then
    /// fewer and fewer.
    pub(super) fn note(&mut self, decision: &Decision<'_>, waiting: &[TermId]) {
        let Decision { routine, frame, index, way, is_inner, .. } = *decision;
        if is_inner || routine.shape.is_returned_to {
            return;
        }
        let count = self.counts.entry((routine.id, index, way)).or_default();
        *count = count.saturating_add(1);
        if count.is_power_of_two() {
            self.found.push(UntakenBranch {
                routine: Rc::clone(routine),
                frame: frame.clone(),
                index,
                way,
                waiting: waiting.to_vec(),
                callers: Rc::default(),
                goal: None,
                left: 0,
            });
        }
    }
}

/// An event on another way.
#[derive(Debug)]
pub struct UntakenEvent {
    /// What is done,
    pub op: Op,
    /// and where.
    pub loc: Loc,
    /// How many steps the thread has made since its last event.
    pub since: u64,
    /// What must be what for it to take place.
    pub demands: Vec<(TermId, u64)>,
    /// What it writes, if that can be told.
    pub written: Option<TermId>,
}

/// Another way.
#[derive(Debug)]
pub struct UntakenPath {
    /// The thread that goes it.
    pub thread: ThreadId,
    /// How many events of the run come before; the events of the way follow these.
    pub after: usize,
    /// The decision, and what comes after it.
    pub events: Vec<UntakenEvent>,
    /// How many terms of the run there were; their numbers are followed by those of `terms`.
    pub base: usize,
    /// The first of these is zero.
    pub terms: Vec<Term>,
}

impl Follower {
    /// One that also says how values are computed, and what lies on untaken branches.
    pub fn exploring() -> Follower {
        let mut explainer: Box<Explainer> = Box::default();
        explainer.forks = Some(UntakenBranches::default());
        Follower { explainer: Some(explainer), ..Follower::default() }
    }

    /// Whether decisions were noted that could have gone another way.
    pub fn has_forks(&self) -> bool {
        let forks = self.explainer.as_ref().and_then(|explainer| explainer.forks.as_ref());
        forks.is_some_and(|forks| !forks.found.is_empty())
    }

    /// Goes the untaken branches of the decisions that were noted since the last time.
    pub fn explore(&mut self, limits: &Limits, environment: &mut dyn Environment) {
        let forks = self.explainer.as_mut().and_then(|explainer| explainer.forks.as_mut());
        let found = forks.map(|forks| std::mem::take(&mut forks.found)).unwrap_or_default();
        for fork in &found {
            let mut untried = fork.others();
            for _ in 0..limits.ways {
                let Some(told) = untried.pop() else { break };
                untried.extend(self.explore_way(fork, told, limits, environment));
            }
        }
    }

    /// Goes the way on which decisions go as told; gives the ways that part from it.
    fn explore_way(
        &mut self,
        fork: &UntakenBranch,
        told: Vec<usize>,
        limits: &Limits,
        environment: &mut dyn Environment,
    ) -> Vec<Vec<usize>> {
        let Some(Explainer { machine, terms, threads, seeds, .. }) = self.explainer.as_deref_mut() else {
            return Vec::new();
        };
        let Some(own) = threads.get(self.current).map(|thread| &thread.memory) else { return Vec::new() };
        let (base, after, thread) = (terms.len(), environment.events(), environment.thread());
        let mut waiting = fork.waiting.clone();
        let sets = Sets { tracker: &mut self.tracker, thread: self.current };
        let symbolic = Symbolic { terms, sets };
        let mode = Mode::Hypothetical;
        let shadow = SymbolicShadow { symbolic, waiting: &mut waiting, has_failed: false, mode };
        let mut path = Path::new(machine, shadow, own, environment, told);
        // Where it has to end, it ends.
        let _ = path.go(fork, limits);
        let (events, others) = path.finish();
        let mut terms = terms.take_back(base);
        void_imagined(&mut terms, base, after, &self.tracker);
        if let Some(thread) = thread.filter(|_| events.iter().any(|event| event.op.access().is_some())) {
            seeds.push(UntakenPath { thread, after, events, base, terms });
        }
        others
    }
}

/// What is made of reads that were not made, in an unknown way, has no value at all.
fn void_imagined(terms: &mut [Term], base: usize, after: usize, tracker: &Tracker) {
    let Some(zero) = TermId::from_index(base) else { return };
    for term in terms {
        if let Term::Frozen { reads, .. } = *term {
            let is_recorded = |reads: Vec<EventId>| reads.iter().all(|read| read.index() < after);
            if !tracker.reads(reads).is_some_and(is_recorded) {
                *term = without_value(zero);
            }
        }
    }
}

/// A term that never has a value, made of zero.
pub fn without_value(zero: TermId) -> Term {
    Term::Binary { op: Binary::DivideUnsigned, width: 64, left: zero, right: zero }
}

impl UntakenBranch {
    /// The other ways, the first one last.
    fn others(&self) -> Vec<Vec<usize>> {
        let ways = self.routine.shape.next(self.index);
        let taken = ways.get(self.way);
        (0..ways.len()).rev().filter(|&way| ways.get(way) != taken).map(|way| vec![way]).collect()
    }
}
