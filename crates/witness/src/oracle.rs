//! Every race, deadlock and violation of a tiny trace, by exhaustive search through the states of the [`Machine`].
//!
//! The judge of all cleverer techniques: no pruning, no argument, just all reachable states. States that were seen
//! are kept in full, so that no hash collision can lie. The number of states grows exponentially with the number of
//! threads; a limit makes the search give up honestly.

mod circles;
mod violations;

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foretell_trace::{EventId, LockMode, Model, Op, ThreadId, Trace, ops};

use crate::machine::Machine;
use crate::observed::Observed;
use crate::referee::conflict;
use crate::violation::Violation;
pub use circles::Circle;

/// Two events that can be made adjacent, the first of the trace first.
pub type Pair = (EventId, EventId);

/// All races of the trace, or `None` if there are more than `limit` states.
pub fn races(trace: &Trace, model: Model, limit: usize) -> Option<BTreeSet<Pair>> {
    Some(witnesses(trace, model, limit)?.into_keys().collect())
}

/// All races of the trace, each with a schedule that ends with the two, or `None` if there are more than `limit`
/// states.
pub fn witnesses(trace: &Trace, model: Model, limit: usize) -> Option<BTreeMap<Pair, Vec<EventId>>> {
    let found =
        OracleSearch::new(trace, limit).run(model, |_, _| true, |machine| races_in(trace, machine))?;
    let ended = |(pair, schedule): (Pair, Vec<EventId>)| {
        (pair, schedule.into_iter().chain([pair.0, pair.1]).collect())
    };
    Some(found.into_iter().map(ended).collect())
}

/// All deadlocks of the trace, each with a schedule that leads to it, or `None` if there are more than `limit` states.
pub fn deadlocks(trace: &Trace, model: Model, limit: usize) -> Option<BTreeMap<Circle, Vec<EventId>>> {
    OracleSearch::new(trace, limit).run(model, |_, _| true, |machine| circles::circles(trace, machine))
}

/// All violations of the trace, each with a schedule that leads to it, or `None` if there are more than `limit` states.
pub fn violations(trace: &Trace, model: Model, limit: usize) -> Option<BTreeMap<Violation, Vec<EventId>>> {
    OracleSearch::new(trace, limit).run(model, |_, _| true, |machine| violations::violations(trace, machine))
}

/// All sync-preserving races of the trace, or `None` if there are more than `limit` states.
///
/// A schedule is *sync-preserving* if every read sees the same write, and synchronisation keeps the order of the trace:
/// * of two sections of one lock that both begin in the schedule (and not both are shared), the one that begins first
///   in the trace begins first; an earlier one that never begins may be left out;
/// * a failed attempt to take a lock keeps its order to the begins and ends of sections of that lock in the same way;
/// * operations on one semaphore, one barrier or one condition have no sections that could be left out, so these run
///   in the order of the trace and without gaps.
pub fn sync_preserving_races(trace: &Trace, limit: usize) -> Option<BTreeSet<Pair>> {
    let order = SyncOrder::new(trace);
    let races = OracleSearch::new(trace, limit).run(
        Model::SameWrite,
        |machine, event| order.allows(machine, event),
        |machine| races_in(trace, machine),
    )?;
    Some(races.into_keys().collect())
}

/// A search through the states of one trace, for something that shows in a state.
struct OracleSearch<'t, F> {
    trace: &'t Trace,
    limit: usize,
    /// Every state that was reached, with its place in `origins`.
    seen: HashMap<Box<[u32]>, usize>,
    /// How each state was reached first: from which other state, and by which event. The first state has none.
    origins: Vec<Option<(usize, EventId)>>,
    /// What was found so far, each with the first state that shows it.
    found: BTreeMap<F, usize>,
}

impl<'t, F: Ord> OracleSearch<'t, F> {
    fn new(trace: &'t Trace, limit: usize) -> OracleSearch<'t, F> {
        OracleSearch { trace, limit, seen: HashMap::new(), origins: Vec::new(), found: BTreeMap::new() }
    }

    /// Searches all schedules in which each event that runs is `allowed` to.
    fn run(
        mut self,
        model: Model,
        allowed: impl Fn(&Machine<'_>, EventId) -> bool,
        shown: impl Fn(&Machine<'_>) -> Vec<F>,
    ) -> Option<BTreeMap<F, Vec<EventId>>> {
        let start = Machine::new(Arc::new(Observed::new(self.trace)), model);
        let mut open = vec![(self.reach(&start, None)?, start)];
        while let Some((state, machine)) = open.pop() {
            if self.origins.len() > self.limit {
                return None;
            }
            for found in shown(&machine) {
                self.found.entry(found).or_insert(state);
            }
            for thread in self.trace.threads() {
                let Some(event) = machine.next(thread) else { continue };
                if machine.enabled(thread).is_err() || !allowed(&machine, event) {
                    continue;
                }
                let mut after = machine.clone();
                if after.step(thread).is_ok()
                    && let Some(new) = self.reach(&after, Some((state, event)))
                {
                    open.push((new, after));
                }
            }
        }
        let found = std::mem::take(&mut self.found);
        Some(found.into_iter().map(|(found, state)| (found, self.schedule(state))).collect())
    }

    /// The place of a state that was not seen before.
    fn reach(&mut self, machine: &Machine<'_>, origin: Option<(usize, EventId)>) -> Option<usize> {
        match self.seen.entry(machine.key()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                let state = self.origins.len();
                vacant.insert(state);
                self.origins.push(origin);
                Some(state)
            }
        }
    }

    /// How the state was reached.
    fn schedule(&self, mut state: usize) -> Vec<EventId> {
        let mut backwards = Vec::new();
        while let Some((before, event)) = self.origins[state] {
            backwards.push(event);
            state = before;
        }
        backwards.reverse();
        backwards
    }
}

/// The pairs that race in the state.
fn races_in(trace: &Trace, machine: &Machine<'_>) -> Vec<Pair> {
    let ready: Vec<EventId> = trace
        .threads()
        .filter(|&thread: &ThreadId| machine.could_race(thread).is_ok())
        .filter_map(|thread| machine.next(thread))
        .filter(|&id| trace.event(id).op.access().is_some())
        .collect();
    let mut races = Vec::new();
    for (place, &a) in ready.iter().enumerate() {
        for &b in &ready[place + 1..] {
            if conflict(&trace.event(a), &trace.event(b)) {
                races.push((a.min(b), a.max(b)));
            }
        }
    }
    races
}

/// What must run before what, or not at all, so that synchronisation keeps the order of the trace.
struct SyncOrder {
    /// Per event: the events that must not have run before it.
    not_after: Vec<Vec<EventId>>,
    /// Per event: the events that must have run before it.
    after: Vec<Vec<EventId>>,
}

impl SyncOrder {
    fn new(trace: &Trace) -> SyncOrder {
        let related = |holds: fn(Op, Op) -> bool, later: bool| {
            let partners = |id: EventId, op: Op| {
                trace
                    .iter()
                    .filter(|&(other, event)| {
                        if later {
                            other > id && holds(op, event.op)
                        } else {
                            other < id && holds(op, event.op)
                        }
                    })
                    .map(|(other, _)| other)
                    .collect()
            };
            trace.iter().map(|(id, event)| partners(id, event.op)).collect()
        };
        SyncOrder { not_after: related(keep_order, true), after: related(same_chain, false) }
    }

    fn allows(&self, machine: &Machine<'_>, event: EventId) -> bool {
        self.not_after[event.index()].iter().all(|&later| !machine.has_run(later))
            && self.after[event.index()].iter().all(|&earlier| machine.has_run(earlier))
    }
}

/// Whether two operations keep their order if both run.
fn keep_order(a: Op, b: Op) -> bool {
    match (a.section_begin(), b.section_begin()) {
        (Some((a, a_mode)), Some((b, b_mode))) => a == b && a_mode.excludes(b_mode),
        _ => attempt_meets_section(a, b) || attempt_meets_section(b, a),
    }
}

/// Whether `attempt` failed to take a lock that `other` begins or ceases to hold in a way that the attempt would
/// notice.
fn attempt_meets_section(attempt: Op, other: Op) -> bool {
    let (lock, mode) = match attempt {
        Op::TryAcquireFailed(lock) => (lock, LockMode::Exclusive),
        Op::TryAcquireSharedFailed(lock) => (lock, LockMode::Shared),
        ops!(memory | control | semaphores | conditions | barriers | labels | sections | reentries) => {
            return false;
        }
    };
    [other.section_begin(), other.section_end()]
        .into_iter()
        .flatten()
        .any(|(held, held_mode)| held == lock && mode.excludes(held_mode))
}

/// Whether two operations are on one object whose operations run in the order of the trace, without gaps.
fn same_chain(a: Op, b: Op) -> bool {
    let chain = |op| match op {
        Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => Some((0, sem.index())),
        Op::Arrive(barrier) | Op::Depart(barrier) => Some((1, barrier.index())),
        Op::Wait { cond, .. }
        | Op::Woken { cond, .. }
        | Op::WaitTimeout { cond, .. }
        | Op::Notify(cond)
        | Op::NotifyAll(cond) => Some((2, cond.index())),
        ops!(memory | locks | control | labels) => None,
    };
    chain(a).is_some() && chain(a) == chain(b)
}
