//! The closure against a deliberately naive enumeration on the referee's machine.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use foretell_explore::{Closure, Count, Exploration, Limits, Progress, Totals, happens_before};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Event, EventId, Op, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::{Claim, Machine, Model, Proof, Referee, oracle};
use rayon::ThreadPoolBuilder;

/// Traces with more runs than this are left out: all of them are kept.
const MOST: usize = 3000;

fn is_silent(op: Op) -> bool {
    use Op::{AcquireAgain, AcquireSharedAgain, ReleaseAgain, ReleaseSharedAgain};
    let again =
        matches!(op, AcquireAgain(_) | ReleaseAgain(_) | AcquireSharedAgain(_) | ReleaseSharedAgain(_));
    again
        || matches!(op, Op::Branch | Op::Begin | Op::End | Op::Fence { .. })
        || matches!(op, Op::Enter(_) | Op::Exit(_) | Op::Dummy(_))
}

/// All runs as sequences of events, without those that do nothing to others. `None` if there are too many.
struct Naive {
    runs: HashSet<Vec<EventId>>,
    /// Those that no other one prolongs.
    ends: usize,
}

fn settle<'t>(trace: &Trace, mut machine: Machine<'t>) -> Machine<'t> {
    loop {
        let silent = trace.threads().find(|&thread| {
            machine.next(thread).is_some_and(|event| is_silent(trace.event(event).op))
                && machine.enabled(thread).is_ok()
        });
        match silent {
            Some(thread) => machine.step(thread).expect("it is enabled"),
            None => return machine,
        }
    }
}

fn naive(trace: &Trace) -> Option<Naive> {
    let machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameValue);
    let mut open = vec![(Vec::new(), settle(trace, machine))];
    let mut runs = HashSet::new();
    let mut ends = 0;
    while let Some((run, machine)) = open.pop() {
        let mut is_end = true;
        for thread in trace.threads() {
            let mut after = machine.clone();
            let Some(event) = after.next(thread) else { continue };
            if after.step(thread).is_ok() {
                assert!(!is_silent(trace.event(event).op));
                is_end = false;
                let mut longer = run.clone();
                longer.push(event);
                assert!(runs.insert(longer.clone()));
                open.push((longer, settle(trace, after)));
            }
        }
        ends += usize::from(is_end && !run.is_empty());
        if runs.len() > MOST {
            return None;
        }
    }
    Some(Naive { runs, ends })
}

/// Whether two events may not change places.
fn depend(a: Event, b: Event) -> bool {
    let shares = |op| matches!(op, Op::AcquireShared(_) | Op::TryAcquireShared(_) | Op::ReleaseShared(_));
    let fails = |op| matches!(op, Op::TryAcquireFailed(_) | Op::TryAcquireSharedFailed(_));
    let lock = |op| match op {
        Op::Acquire(lock)
        | Op::TryAcquire(lock)
        | Op::Release(lock)
        | Op::AcquireShared(lock)
        | Op::TryAcquireShared(lock)
        | Op::ReleaseShared(lock)
        | Op::TryAcquireFailed(lock)
        | Op::TryAcquireSharedFailed(lock)
        | Op::Wait { lock, .. }
        | Op::Woken { lock, .. }
        | Op::WaitTimeout { lock, .. } => Some(lock),
        _ => None,
    };
    let other = |op| match op {
        Op::Wait { cond, .. } | Op::Woken { cond, .. } | Op::WaitTimeout { cond, .. } => {
            Some((0, cond.index()))
        }
        Op::Notify(cond) | Op::NotifyAll(cond) => Some((0, cond.index())),
        Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => Some((1, sem.index())),
        Op::Arrive(barrier) | Op::Depart(barrier) => Some((2, barrier.index())),
        _ => None,
    };
    let var = |op: Op| match op {
        Op::Alloc(var) => Some((var, true)),
        op => op.access().map(|access| (access.var, access.kind.writes())),
    };
    let thread = |op| match op {
        Op::Fork(child) | Op::Join(child) => Some(child),
        _ => None,
    };
    let same_var = var(a.op).zip(var(b.op)).is_some_and(|(a, b)| a.0 == b.0 && (a.1 || b.1));
    let same_lock = lock(a.op).is_some() && lock(a.op) == lock(b.op);
    let commute = (shares(a.op) && shares(b.op)) || (fails(a.op) && fails(b.op));
    let is_join = |op| matches!(op, Op::Join(_));
    let life = thread(a.op) == Some(b.thread)
        || thread(b.op) == Some(a.thread)
        || (thread(a.op).is_some() && thread(a.op) == thread(b.op) && !(is_join(a.op) && is_join(b.op)));
    a.thread == b.thread
        || a.unexplained
        || b.unexplained
        || same_var
        || (same_lock && !commute)
        || (other(a.op).is_some() && other(a.op) == other(b.op))
        || life
}

/// All that adjacent independent events make of the trace when they change places, again and again.
fn reorderings(trace: &Trace) -> Option<HashSet<Vec<EventId>>> {
    let observed: Vec<EventId> =
        trace.iter().filter(|(_, event)| !is_silent(event.op)).map(|(id, _)| id).collect();
    let mut all = HashSet::from([observed.clone()]);
    let mut open = vec![observed];
    while let Some(order) = open.pop() {
        for place in 1..order.len() {
            if !depend(trace.event(order[place - 1]), trace.event(order[place])) {
                let mut other = order.clone();
                other.swap(place - 1, place);
                if all.insert(other.clone()) {
                    open.push(other);
                }
            }
        }
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// Memory for states, and workers.
const WAYS: [(u64, usize); 6] = [(0, 1), (0, 3), (1 << 30, 1), (1 << 30, 3), (3000, 1), (12_000, 3)];

fn explored(trace: &Trace, memory: u64, jobs: usize) -> (Exploration, Totals) {
    let stop = AtomicBool::new(false);
    let limits = Limits { memory, max_steps: None, stop: &stop };
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build().expect("threads");
    pool.install(|| {
        let closure = Closure::new(trace, Vec::new()).expect("a small trace");
        let exploration = closure.explore(limits, &Progress::default());
        let order = happens_before(trace, limits, &Progress::default()).expect("a small trace");
        (exploration, order)
    })
}

/// All features, in different mixtures.
fn shape(seed: u64) -> Shape {
    let features = Features {
        values: !seed.is_multiple_of(3),
        unexplained: seed.is_multiple_of(5),
        branches: seed.is_multiple_of(2),
        crowds: seed % 3 == 1,
        ..if seed % 4 == 3 { Features::BASIC } else { Features::ALL }
    };
    let threads = 2 + usize::try_from(seed % 3).expect("small");
    Shape {
        threads,
        locks: 2,
        vars: 2,
        ..Shape::new(features, 8 + usize::try_from(seed % 5).expect("small"))
    }
}

#[test]
fn all_walks_count_what_the_naive_one_finds() {
    let mut compared = 0;
    tiny::for_each(700, shape, |_, trace| {
        let (Some(naive), Some(reorderings)) = (naive(trace), reorderings(trace)) else { return };
        compared += 1;
        assert!(reorderings.iter().all(|order| order.is_empty() || naive.runs.contains(order)));
        let count = |number: usize| Count::from(number as u64);
        let mut found = None;
        for (memory, jobs) in WAYS {
            let (exploration, order) = explored(trace, memory, jobs);
            let totals = exploration.totals;
            assert!(totals.complete && order.complete);
            assert_eq!(totals.feasible, count(naive.runs.len()), "feasible, {memory} {jobs}");
            assert_eq!(totals.proper, count(naive.ends), "proper, {memory} {jobs}");
            let none = order.feasible == Count::ZERO;
            let expected = if none { Count::ZERO } else { count(reorderings.len()) };
            assert_eq!(order.proper, expected, "happens before, {memory} {jobs}");
            assert_eq!(found.get_or_insert(exploration.races.clone()), &exploration.races);
        }
    });
    assert!(compared > 300, "{compared}");
}

#[test]
fn the_races_are_those_of_the_oracle_and_the_referee_accepts_them() {
    let mut races = 0;
    let larger = |seed| Shape { events: 12 + usize::try_from(seed % 8).expect("small"), ..shape(seed) };
    tiny::for_each(600, larger, |_, trace| {
        let Some(expected) = oracle::races(trace, Model::SameValue, 20_000) else { return };
        let (exploration, _) = explored(trace, 1 << 30, 2);
        let found: BTreeSet<_> = exploration.races.iter().map(|race| (race.first, race.second)).collect();
        assert_eq!(found, expected);
        races += found.len();
        let mut referee = Referee::new(trace);
        for race in exploration.races {
            let (first, second) = (race.first, race.second);
            let mut schedule: Vec<_> = race.schedule.iter().map(|taken| taken.event).collect();
            schedule.extend([first, second]);
            let proof = Proof::Adjacent { model: Model::SameValue, schedule };
            if let Err(rejection) = referee.check(Claim { first, second, proof }) {
                panic!("{first} {second}: {rejection}");
            }
        }
    });
    assert!(races > 1000, "{races}");
}

/// What the engine says of reads that see something else, the referee's machine says, too.
#[test]
fn schedules_deviate_where_the_machine_does() {
    let mut deviated = 0;
    tiny::for_each(300, shape, |_, trace| {
        let Some(naive) = naive(trace) else { return };
        let closure = Closure::new(trace, Vec::new()).expect("a small trace");
        let lasts: BTreeMap<usize, EventId> =
            trace.iter().map(|(id, event)| (event.thread.index(), id)).collect();
        for run in &naive.runs {
            let schedule = closure.schedule(run).expect("a run of the closure");
            let observed = Arc::new(Observed::new(trace));
            let mut machine = Machine::new(observed, Model::SameValue);
            for taken in &schedule {
                let thread = trace.event(taken.event).thread;
                assert_eq!(machine.next(thread), Some(taken.event));
                machine.step(thread).expect("it can run");
                deviated += usize::from(taken.deviates);
                if taken.deviates && lasts[&thread.index()] != taken.event {
                    assert_eq!(machine.enabled(thread), Err(foretell_witness::Blocked::Deviated));
                }
            }
        }
    });
    assert!(deviated > 1000, "{deviated}");
}
