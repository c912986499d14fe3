//! What must hold for every trace, on random tiny ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use foretell_testkit::depending;
use foretell_testkit::random::Random;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Event, EventId, MemOrder, Op, ThreadId, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::oracle::{self, Pair};
use foretell_witness::{Claim, Machine, Model, Proof, Referee, UnorderedReferee};

const MODELS: [Model; 4] = [Model::SameWrite, Model::SameValue, Model::ControlFlow, Model::Necessary];
const LIMIT: usize = 1_000_000;
/// Tiny traces make exhaustive search affordable; this many of them make it worth something.
const CASES: u64 = 2500;

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

/// Plain accesses, locks, fork, join, branches, and values in every other trace.
fn locks(seed: u64) -> Features {
    Features { values: seed.is_multiple_of(2), branches: true, ..Features::BASIC }
}

/// All but atomics and failed attempts: what schedulable happens-before is about.
fn synchronised(seed: u64) -> Features {
    Features { atomics: false, failed_attempts: false, ..everything(seed) }
}

/// All operations, with values in every other trace and unexplained reads in every third.
fn everything(seed: u64) -> Features {
    let (values, unexplained) = (seed.is_multiple_of(2), seed.is_multiple_of(3));
    Features { values, unexplained, branches: true, ..Features::ALL }
}

fn for_each(features: fn(u64) -> Features, events: usize, check: impl FnMut(u64, &Trace)) {
    tiny::for_each_completed(
        CASES,
        |seed| Shape::new(features(seed), events),
        // Two traces out of three tell which reads matter; the others are as strict as if they told nothing.
        |seed, trace| if seed % 3 == 1 { trace } else { depending::at_random(seed, trace) },
        check,
    );
}

#[test]
fn the_observed_order_runs_and_its_adjacent_conflicts_race() {
    for_each(everything, 16, |_, trace| {
        let mut referee = Referee::new(trace);
        let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        for model in MODELS {
            let mut machine = Machine::new(Arc::new(Observed::new(trace)), model);
            for event in trace.events() {
                assert_eq!(machine.step(event.thread), Ok(()));
            }
            for (place, pair) in trace.events().windows(2).enumerate() {
                let [a, b] = pair else { continue };
                if a.thread != b.thread && conflict(a, b) && !a.unexplained && !b.unexplained {
                    let pair = (order[place], order[place + 1]);
                    let verdict = referee.check(claim(pair, model, order[..place + 2].to_vec()));
                    assert!(verdict.is_ok(), "{verdict:?}");
                }
            }
        }
    });
}

#[test]
fn the_referee_accepts_every_schedule_of_the_oracle() {
    for_each(everything, 12, |_, trace| {
        let mut referee = Referee::new(trace);
        for model in MODELS {
            for (pair, schedule) in oracle::witnesses(trace, model, LIMIT).unwrap() {
                let verdict = referee.check(claim(pair, model, schedule));
                assert!(verdict.is_ok(), "{verdict:?}");
            }
        }
    });
}

#[test]
fn what_the_referee_accepts_of_a_changed_schedule_is_still_a_race() {
    for_each(everything, 12, |seed, trace| {
        let mut random = Random::new(seed);
        let mut referee = Referee::new(trace);
        for model in MODELS {
            let witnesses = oracle::witnesses(trace, model, LIMIT).unwrap();
            for schedule in witnesses.values() {
                for _ in 0..8 {
                    let schedule = changed(schedule.clone(), &mut random, trace);
                    let &[.., a, b] = schedule.as_slice() else { continue };
                    let claim = claim((a, b), model, schedule);
                    let verdict = referee.check(claim.clone());
                    assert!(verdict.is_err() || witnesses.contains_key(&(a, b)));
                    assert_eq!(verdict, Referee::new(trace).check(claim), "earlier claims left traces");
                }
            }
        }
    });
}

#[test]
fn no_schedule_proves_what_is_no_race() {
    for_each(locks, 12, |seed, trace| {
        let mut random = Random::new(seed);
        let races = races(trace, Model::SameWrite);
        let mut referee = Referee::new(trace);
        let schedule = random_schedule(trace, &mut random);
        for pair in conflicting_pairs(trace).into_iter().filter(|pair| !races.contains(pair)) {
            for length in 0..=schedule.len() {
                let schedule = schedule[..length].iter().copied().chain([pair.0, pair.1]).collect();
                assert!(referee.check(claim(pair, Model::SameWrite, schedule)).is_err());
            }
        }
    });
}

#[test]
fn the_oracle_loses_nothing_by_remembering_states() {
    for_each(everything, 8, |_, trace| {
        for model in MODELS {
            let mut found = BTreeSet::new();
            follow_all_schedules(trace, &Machine::new(Arc::new(Observed::new(trace)), model), &mut found);
            assert_eq!(races(trace, model), found);
        }
    });
}

#[test]
fn a_freer_model_has_more_races() {
    for_each(everything, 12, |_, trace| {
        let [same_write, same_value, control_flow, necessary] = MODELS.map(|model| races(trace, model));
        assert!(same_write.is_subset(&same_value), "{same_write:?} {same_value:?}");
        assert!(same_value.is_subset(&control_flow), "{same_value:?} {control_flow:?}");
        // Where there are no branches, a read can be said to steer itself, which nothing else assumes.
        if trace.has_branches() {
            assert!(control_flow.is_subset(&necessary), "{control_flow:?} {necessary:?}");
        }
    });
}

#[test]
fn unordered_accesses_can_be_made_adjacent() {
    for_each(synchronised, 14, |_, trace| {
        let (unordered, races) = (unordered_pairs(trace), races(trace, Model::SameWrite));
        assert!(unordered.is_subset(&races), "{unordered:?} {races:?}");
    });
}

#[test]
fn unordered_means_sync_preserving_means_race() {
    for_each(locks, 14, |_, trace| {
        let sync_preserving = oracle::sync_preserving_races(trace, LIMIT).unwrap();
        let (unordered, races) = (unordered_pairs(trace), races(trace, Model::SameWrite));
        assert!(unordered.is_subset(&sync_preserving), "{unordered:?} {sync_preserving:?}");
        assert!(sync_preserving.is_subset(&races), "{sync_preserving:?} {races:?}");
    });
}

#[test]
fn a_sync_preserving_race_needs_no_other_order_than_the_observed_one() {
    for_each(locks, 12, |_, trace| {
        assert_eq!(oracle::sync_preserving_races(trace, LIMIT).unwrap(), races_in_observed_order(trace));
    });
}

#[test]
fn whatever_keeps_the_order_of_synchronisation_can_keep_the_whole_order() {
    for_each(everything, 11, |_, trace| {
        let sync_preserving = oracle::sync_preserving_races(trace, LIMIT).unwrap();
        assert!(sync_preserving.is_subset(&races_in_observed_order(trace)), "{sync_preserving:?}");
    });
}

#[test]
fn the_streaming_order_is_the_transitive_closure_of_its_edges() {
    for_each(everything, 20, |_, trace| {
        assert_eq!(unordered_pairs(trace), unordered_by_closure(trace));
    });
}

/// The schedule with one change: two steps swapped, one dropped, doubled or replaced, or another racing pair.
fn changed(mut schedule: Vec<EventId>, random: &mut Random, trace: &Trace) -> Vec<EventId> {
    let length = schedule.len();
    let (a, b) = (random.below(length), random.below(length));
    match random.below(5) {
        0 => schedule.swap(a, b),
        1 => drop(schedule.remove(a)),
        2 => schedule.insert(b, schedule[a]),
        3 => schedule[a] = EventId::from_index(random.below(trace.events().len())).unwrap(),
        _ => {
            let pair = *random.pick(&conflicting_pairs(trace));
            schedule.truncate(length - 2);
            schedule.extend([pair.0, pair.1]);
        }
    }
    schedule
}

/// A run of up to twelve random steps.
fn random_schedule(trace: &Trace, random: &mut Random) -> Vec<EventId> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameWrite);
    let mut schedule = Vec::new();
    for _ in 0..12 {
        let enabled: Vec<_> = trace.threads().filter(|&thread| machine.enabled(thread).is_ok()).collect();
        if enabled.is_empty() {
            break;
        }
        let thread = *random.pick(&enabled);
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
    if events[a..=b].iter().any(|event| event.unexplained) {
        return true;
    }
    match (events[a].op, events[b].op) {
        // A child need not do anything before it is joined.
        (Op::Fork(child), op) => child == events[b].thread || op == Op::Join(child),
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

/// Whether the generation of the arrival at `a` is complete once `b` runs: its first departure completes it. These
/// traces have one barrier.
fn crossed(events: &[Event], a: usize, b: usize) -> bool {
    let (mut arrived, mut leaving) = (Vec::<usize>::new(), Vec::<ThreadId>::new());
    for (place, event) in events[..=b].iter().enumerate() {
        match event.op {
            Op::Arrive(_) => arrived.push(place),
            Op::Depart(_) => {
                if !leaving.contains(&event.thread) {
                    leaving = arrived.drain(..).map(|arrival| events[arrival].thread).collect();
                }
                leaving.retain(|&thread| thread != event.thread);
            }
            _ => {}
        }
    }
    !arrived.contains(&a)
}

/// Whether a release at `a` (a store, or a fence before one) synchronises with an acquire at `b` (a load, or a fence
/// after one).
fn synchronise(events: &[Event], a: usize, b: usize) -> bool {
    let stores = stores_published_by(events, a);
    loads_acquired_by(events, b).into_iter().any(|load| {
        let mut write = last_atomic_write(events, load);
        let mut later = Vec::new();
        while let Some(place) = write {
            // Updates continue a release sequence, and by the rules of C11 stores of the thread that heads it.
            let head = events[place].thread;
            let continues = |&at: &usize| match events[at].op {
                Op::Store { order, .. } => order == MemOrder::RelaxedC11 && events[at].thread == head,
                op => matches!(op, Op::Rmw { .. }),
            };
            if stores.contains(&place) && later.iter().all(continues) {
                return true;
            }
            later.push(place);
            write = last_atomic_write(events, place);
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
