//! What must hold for every trace, on random tiny ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use foretell_trace::{Event, EventId, Op, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::oracle::{self, Pair};
use foretell_witness::{Claim, Machine, Model, Proof, Referee, UnorderedReferee};
use proptest::prelude::*;

use crate::generate::{Flavour, traces};
use crate::trace;

const MODELS: [Model; 3] = [Model::SameWrite, Model::SameValue, Model::ControlFlow];
const LIMIT: usize = 1_000_000;
/// Tiny traces make exhaustive search affordable; this many of them make it worth something.
const CASES: u32 = 2500;

fn races(trace: &Trace, model: Model) -> BTreeSet<Pair> {
    oracle::races(trace, model, LIMIT).unwrap()
}

fn claim(pair: Pair, model: Model, schedule: Vec<EventId>) -> Claim {
    Claim { first: pair.0, second: pair.1, proof: Proof::Adjacent { model, schedule } }
}

fn conflict(a: &Event, b: &Event) -> bool {
    matches!((a.op.access(), b.op.access()), (Some(a), Some(b)) if a.conflicts_with(b))
}

/// All pairs of accesses of different threads that conflict.
fn conflicting_pairs(trace: &Trace) -> Vec<Pair> {
    let accesses: Vec<_> = trace.iter().filter(|(_, event)| event.op.access().is_some()).collect();
    let mut pairs = Vec::new();
    for (place, (a, first)) in accesses.iter().enumerate() {
        for (b, second) in &accesses[place + 1..] {
            if first.thread != second.thread && conflict(first, second) {
                pairs.push((*a, *b));
            }
        }
    }
    pairs
}

/// The pairs that the streaming referee accepts.
fn unordered_pairs(trace: &Trace) -> BTreeSet<Pair> {
    let mut referee = UnorderedReferee::new(conflicting_pairs(trace));
    referee.batch(EventId::FIRST, trace.events());
    let findings = referee.verdicts().into_iter().flatten();
    findings.map(|finding| (finding.first(), finding.second())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_observed_order_runs_and_its_adjacent_conflicts_race(text in traces(Flavour::Everything, 16)) {
        let trace = trace(&text);
        let mut referee = Referee::new(&trace);
        let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        for model in MODELS {
            let mut machine = Machine::new(Arc::new(Observed::new(&trace)), model);
            for event in trace.events() {
                prop_assert_eq!(machine.step(event.thread), Ok(()));
            }
            for (place, pair) in trace.events().windows(2).enumerate() {
                let [a, b] = pair else { continue };
                if a.thread != b.thread && conflict(a, b) && !a.unexplained {
                    let pair = (order[place], order[place + 1]);
                    let verdict = referee.check(claim(pair, model, order[..place + 2].to_vec()));
                    prop_assert!(verdict.is_ok(), "{:?}", verdict);
                }
            }
        }
    }

    #[test]
    fn the_referee_accepts_every_schedule_of_the_oracle(text in traces(Flavour::Everything, 12)) {
        let trace = trace(&text);
        let mut referee = Referee::new(&trace);
        for model in MODELS {
            for (pair, schedule) in oracle::witnesses(&trace, model, LIMIT).unwrap() {
                let verdict = referee.check(claim(pair, model, schedule));
                prop_assert!(verdict.is_ok(), "{:?}", verdict);
            }
        }
    }

    #[test]
    fn what_the_referee_accepts_of_a_changed_schedule_is_still_a_race(
        text in traces(Flavour::Everything, 12),
        changes in prop::collection::vec(any::<[u8; 3]>(), 8),
    ) {
        let trace = trace(&text);
        let mut referee = Referee::new(&trace);
        for model in MODELS {
            let witnesses = oracle::witnesses(&trace, model, LIMIT).unwrap();
            for schedule in witnesses.values() {
                for &change in &changes {
                    let schedule = changed(schedule.clone(), change, &trace);
                    let &[.., a, b] = schedule.as_slice() else { continue };
                    let claim = claim((a, b), model, schedule);
                    let verdict = referee.check(claim.clone());
                    prop_assert!(verdict.is_err() || witnesses.contains_key(&(a, b)));
                    prop_assert_eq!(verdict, Referee::new(&trace).check(claim), "earlier claims left traces");
                }
            }
        }
    }

    #[test]
    fn no_schedule_proves_what_is_no_race(
        text in traces(Flavour::Locks, 12),
        choices in prop::collection::vec(any::<u8>(), 12),
    ) {
        let trace = trace(&text);
        let races = races(&trace, Model::SameWrite);
        let mut referee = Referee::new(&trace);
        let schedule = random_schedule(&trace, &choices);
        for pair in conflicting_pairs(&trace).into_iter().filter(|pair| !races.contains(pair)) {
            for length in 0..=schedule.len() {
                let schedule = schedule[..length].iter().copied().chain([pair.0, pair.1]).collect();
                prop_assert!(referee.check(claim(pair, Model::SameWrite, schedule)).is_err());
            }
        }
    }

    #[test]
    fn the_oracle_loses_nothing_by_remembering_states(text in traces(Flavour::Everything, 8)) {
        let trace = trace(&text);
        for model in MODELS {
            let mut found = BTreeSet::new();
            follow_all_schedules(&trace, &Machine::new(Arc::new(Observed::new(&trace)), model), &mut found);
            prop_assert_eq!(races(&trace, model), found);
        }
    }

    #[test]
    fn a_freer_model_has_more_races(text in traces(Flavour::Everything, 12)) {
        let trace = trace(&text);
        let [same_write, same_value, control_flow] = MODELS.map(|model| races(&trace, model));
        prop_assert!(same_write.is_subset(&same_value), "{same_write:?} {same_value:?}");
        prop_assert!(same_value.is_subset(&control_flow), "{same_value:?} {control_flow:?}");
    }

    #[test]
    fn unordered_accesses_can_be_made_adjacent(text in traces(Flavour::Synchronised, 14)) {
        let trace = trace(&text);
        let (unordered, races) = (unordered_pairs(&trace), races(&trace, Model::SameWrite));
        prop_assert!(unordered.is_subset(&races), "{unordered:?} {races:?}");
    }

    #[test]
    fn unordered_means_sync_preserving_means_race(text in traces(Flavour::Locks, 14)) {
        let trace = trace(&text);
        let sync_preserving = oracle::sync_preserving_races(&trace, LIMIT).unwrap();
        let (unordered, races) = (unordered_pairs(&trace), races(&trace, Model::SameWrite));
        prop_assert!(unordered.is_subset(&sync_preserving), "{unordered:?} {sync_preserving:?}");
        prop_assert!(sync_preserving.is_subset(&races), "{sync_preserving:?} {races:?}");
    }

    #[test]
    fn a_sync_preserving_race_needs_no_other_order_than_the_observed_one(text in traces(Flavour::Locks, 12)) {
        let trace = trace(&text);
        prop_assert_eq!(oracle::sync_preserving_races(&trace, LIMIT).unwrap(), races_in_observed_order(&trace));
    }

    #[test]
    fn whatever_keeps_the_order_of_synchronisation_can_keep_the_whole_order(text in traces(Flavour::Everything, 11)) {
        let trace = trace(&text);
        let sync_preserving = oracle::sync_preserving_races(&trace, LIMIT).unwrap();
        prop_assert!(sync_preserving.is_subset(&races_in_observed_order(&trace)), "{sync_preserving:?}");
    }

    #[test]
    fn the_streaming_order_is_the_transitive_closure_of_its_edges(text in traces(Flavour::Everything, 20)) {
        let trace = trace(&text);
        prop_assert_eq!(unordered_pairs(&trace), unordered_by_closure(&trace));
    }
}

/// The schedule with one change: two steps swapped, one dropped, doubled or replaced, or another racing pair.
fn changed(mut schedule: Vec<EventId>, [kind, a, b]: [u8; 3], trace: &Trace) -> Vec<EventId> {
    let (a, b) = (a as usize, b as usize);
    let length = schedule.len();
    let any_event = EventId::from_index(b % trace.events().len()).unwrap();
    match kind % 5 {
        0 => schedule.swap(a % length, b % length),
        1 => drop(schedule.remove(a % length)),
        2 => schedule.insert(b % length, schedule[a % length]),
        3 => schedule[a % length] = any_event,
        _ => {
            let pairs = conflicting_pairs(trace);
            let pair = pairs[a % pairs.len()];
            schedule.truncate(length - 2);
            schedule.extend([pair.0, pair.1]);
        }
    }
    schedule
}

/// A run as far as the choices lead it.
fn random_schedule(trace: &Trace, choices: &[u8]) -> Vec<EventId> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameWrite);
    let mut schedule = Vec::new();
    for &choice in choices {
        let enabled: Vec<_> = trace.threads().filter(|&thread| machine.enabled(thread).is_ok()).collect();
        if enabled.is_empty() {
            break;
        }
        let thread = enabled[choice as usize % enabled.len()];
        schedule.extend(machine.next(thread));
        machine.step(thread).unwrap();
    }
    schedule
}

/// The pairs that are next in some run that is the trace with the rest of some threads left out.
fn races_in_observed_order(trace: &Trace) -> BTreeSet<Pair> {
    let lengths: Vec<usize> = trace
        .threads()
        .map(|thread| trace.events().iter().filter(|event| event.thread == thread).count())
        .collect();
    let mut cut = vec![0; lengths.len()];
    let mut found = BTreeSet::new();
    loop {
        note_races_after(trace, &cut, &mut found);
        let Some(grows) = (0..cut.len()).find(|&thread| cut[thread] < lengths[thread]) else { return found };
        cut[..grows].fill(0);
        cut[grows] += 1;
    }
}

fn note_races_after(trace: &Trace, cut: &[usize], found: &mut BTreeSet<Pair>) {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameWrite);
    let mut ran = vec![0; cut.len()];
    for event in trace.events() {
        let thread = event.thread.index();
        if ran[thread] < cut[thread] {
            ran[thread] += 1;
            if machine.step(event.thread).is_err() {
                return;
            }
        }
    }
    found.extend(conflicting_pairs(trace).into_iter().filter(|&pair| both_next(trace, &machine, pair)));
}

fn both_next(trace: &Trace, machine: &Machine<'_>, (a, b): Pair) -> bool {
    [a, b].into_iter().all(|id| {
        let thread = trace.event(id).thread;
        machine.next(thread) == Some(id) && machine.could_race(thread).is_ok()
    })
}

/// Notes the races of every schedule from here on.
fn follow_all_schedules(trace: &Trace, machine: &Machine<'_>, found: &mut BTreeSet<Pair>) {
    found.extend(conflicting_pairs(trace).into_iter().filter(|&pair| both_next(trace, machine, pair)));
    for thread in trace.threads() {
        let mut after = machine.clone();
        if after.step(thread).is_ok() {
            follow_all_schedules(trace, &after, found);
        }
    }
}

/// The conflicting pairs that no path of edges connects: happens-before as a graph, edge by edge, without any clock.
fn unordered_by_closure(trace: &Trace) -> BTreeSet<Pair> {
    let events = trace.events();
    // `into` orders the event itself, `past` only what comes after it in its thread.
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut after: Vec<BTreeSet<usize>> = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let mut into = BTreeSet::new();
        let mut past = BTreeSet::from([place]);
        for earlier in 0..place {
            let known = || after[earlier].iter().copied();
            if events[earlier].thread == event.thread || orders(events, earlier, place) {
                into.extend(known());
            } else if seen_later(events, earlier, place) {
                past.extend(known());
            }
        }
        past.extend(&into);
        before.push(into);
        after.push(past);
    }
    conflicting_pairs(trace).into_iter().filter(|(a, b)| !before[b.index()].contains(&a.index())).collect()
}

/// Whether `later` saw the write `earlier`, not both being atomic.
fn seen_later(events: &[Event], earlier: usize, later: usize) -> bool {
    let (Some(w), Some(r)) = (events[earlier].op.access(), events[later].op.access()) else { return false };
    r.kind.reads() && !(w.atomic && r.atomic) && last_write(events, later) == Some(earlier)
}

/// The write to the variable of the event at `place` that comes last before it.
fn last_write(events: &[Event], place: usize) -> Option<usize> {
    let var = events[place].op.access()?.var;
    (0..place)
        .rev()
        .find(|&at| events[at].op.access().is_some_and(|access| access.var == var && access.kind.writes()))
}

/// Whether the event `a` is ordered before the event `b`, of another thread, by an edge.
fn orders(events: &[Event], a: usize, b: usize) -> bool {
    if events[a..b].iter().any(|event| event.unexplained) {
        return true;
    }
    match (events[a].op, events[b].op) {
        (Op::Fork(child), _) => child == events[b].thread,
        (_, Op::Join(child)) => child == events[a].thread,
        (Op::Alloc(var), op) => {
            op.access().is_some_and(|access| access.var == var) || synchronise(events, a, b)
        }
        (
            Op::SemInit { sem: x, .. } | Op::SemPost(x) | Op::SemWait(x),
            Op::SemInit { sem: y, .. } | Op::SemPost(y) | Op::SemWait(y),
        ) => x == y,
        (Op::Notify(x) | Op::NotifyAll(x), Op::Notify(y) | Op::NotifyAll(y)) => x == y,
        (Op::Notify(x) | Op::NotifyAll(x), Op::Woken { cond, .. }) => x == cond,
        (Op::Arrive(x), Op::Depart(y)) if x == y => crossed(events, a, b),
        (Op::Arrive(x), Op::Arrive(y)) if x == y => crossed(events, a, b),
        (end, begin) => match (end.section_end(), begin.section_begin()) {
            (Some((x, x_mode)), Some((y, y_mode))) => x == y && x_mode.excludes(y_mode),
            _ => synchronise(events, a, b),
        },
    }
}

/// Whether somebody has departed between the arrival at `a` and the event `b`, or does so at `b`, first of the
/// generation or not. The barrier of these traces lets nobody arrive while others depart.
fn crossed(events: &[Event], a: usize, b: usize) -> bool {
    events[a..=b].iter().any(|event| matches!(event.op, Op::Depart(_)))
}

/// Whether a release at `a` (a store, or a fence before one) synchronises with an acquire at `b` (a load, or a fence
/// after one).
fn synchronise(events: &[Event], a: usize, b: usize) -> bool {
    let stores = stores_published_by(events, a);
    loads_acquired_by(events, b).into_iter().any(|load| {
        let mut write = last_atomic_write(events, load);
        while let Some(place) = write {
            if stores.contains(&place) {
                return true;
            }
            // Only an update continues the release sequence of what it saw.
            let continues = matches!(events[place].op, Op::Rmw { .. });
            write = if continues { last_atomic_write(events, place) } else { None };
        }
        false
    })
}

fn last_atomic_write(events: &[Event], place: usize) -> Option<usize> {
    last_write(events, place).filter(|&write| events[write].op.access().is_some_and(|access| access.atomic))
}

fn stores_published_by(events: &[Event], a: usize) -> Vec<usize> {
    let stores = |at: usize| matches!(events[at].op, Op::Store { .. } | Op::Rmw { .. });
    match events[a].op {
        Op::Store { order, .. } | Op::Rmw { order, .. } if order.releases() => vec![a],
        Op::Fence { order } if order.releases() => {
            (a + 1..events.len()).filter(|&at| events[at].thread == events[a].thread && stores(at)).collect()
        }
        _ => Vec::new(),
    }
}

fn loads_acquired_by(events: &[Event], b: usize) -> Vec<usize> {
    let loads = |at: usize| matches!(events[at].op, Op::Load { .. } | Op::Rmw { .. });
    match events[b].op {
        Op::Load { order, .. } | Op::Rmw { order, .. } if order.acquires() => vec![b],
        Op::Fence { order } if order.acquires() => {
            (0..b).filter(|&at| events[at].thread == events[b].thread && loads(at)).collect()
        }
        _ => Vec::new(),
    }
}
