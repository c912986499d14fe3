//! Untaken branches: what the thread would do there, as far as that is known exactly.
//!
//! The run takes one side of each branch. The code of the other side is known, and so is the state at the branch, so
//! the executor can run the thread along the untaken side while all other threads stand still. A read there need not
//! see this value in an execution that really takes this side, so it becomes a symbolic value. Branches on such values
//! are taken both ways, each with its path constraint, and addresses get path constraints, too. So whenever all path
//! constraints hold, the thread does exactly this.
//!
//! The path ends before anything that is not modelled: uninstrumented functions, synchronisation (atomics, condition
//! variables, all locks but a free mutex), unknown addresses, memory that the run has never touched; and at a limit of
//! length. The part before that is exact.

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

/// How many untaken paths are followed, and how far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many paths are followed after each branch.
    pub ways: usize,
    /// How many events a path may have.
    pub events: usize,
    /// How many of them may come after the path has joined the recorded one.
    pub behind: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { ways: 16, events: 64, behind: 16 }
    }
}

/// A branch with an untaken side.
#[derive(Clone, Debug)]
pub(super) struct UntakenBranch {
    routine: Rc<Routine>,
    /// The frame at the branch.
    frame: Frame,
    index: u32,
    way: usize,
    /// The path constraints up to the branch.
    waiting: Vec<TermId>,
    pub(super) callers: Rc<Vec<Caller>>,
    /// The next recorded instruction of this call.
    pub(super) goal: Option<u32>,
    /// How many calls the thread had returned from since its last record.
    pub(super) left: u32,
}

/// Branches with an untaken side.
#[derive(Debug, Default)]
pub(super) struct UntakenBranches {
    /// How often each side of each branch was taken.
    counts: FxHashMap<(FunctionId, u32, usize), u32>,
    pub(super) found: Vec<UntakenBranch>,
}

impl UntakenBranches {
    /// Notes a branch. Of a branch that is executed again and again, the first executions are noted, then fewer and
    /// fewer.
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

/// An event on an untaken path.
#[derive(Debug)]
pub struct UntakenEvent {
    /// The operation,
    pub op: Op,
    /// and its location.
    pub loc: Loc,
    /// How many steps the thread has made since its last event.
    pub since: u64,
    /// Its path constraint.
    pub demands: Vec<(TermId, u64)>,
    /// The value that it writes, if it has a term.
    pub written: Option<TermId>,
}

/// An untaken path.
#[derive(Debug)]
pub struct UntakenPath {
    /// Its thread.
    pub thread: ThreadId,
    /// How many events of the run come before; the events of the path follow these.
    pub after: usize,
    /// The events from the branch on.
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

    /// Follows the untaken sides of the branches that were noted since the last call.
    pub fn explore(&mut self, limits: &Limits, environment: &mut dyn Environment) {
        let forks = self.explainer.as_mut().and_then(|explainer| explainer.forks.as_mut());
        let found = forks.map(|forks| std::mem::take(&mut forks.found)).unwrap_or_default();
        for fork in &found {
            let mut untried = fork.others();
            for _ in 0..limits.ways {
                let Some(prescribed) = untried.pop() else { break };
                untried.extend(self.explore_way(fork, prescribed, limits, environment));
            }
        }
    }

    /// Follows the path with these branch decisions; returns the paths that fork from it.
    fn explore_way(
        &mut self,
        fork: &UntakenBranch,
        prescribed: Vec<usize>,
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
        let mut path = Path::new(machine, shadow, own, environment, prescribed);
        // It ends where it cannot be followed.
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

/// A value that depends on hypothetical reads in an unknown way has no term.
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

/// A term without a value in any run: a division by zero.
pub fn without_value(zero: TermId) -> Term {
    Term::Binary { op: Binary::DivideUnsigned, width: 64, left: zero, right: zero }
}

impl UntakenBranch {
    /// The remaining paths, the first one last.
    fn others(&self) -> Vec<Vec<usize>> {
        let ways = self.routine.shape.next(self.index);
        let taken = ways.get(self.way);
        (0..ways.len()).rev().filter(|&way| ways.get(way) != taken).map(|way| vec![way]).collect()
    }
}
