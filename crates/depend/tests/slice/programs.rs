//! Runs of random programs: what is predicted on a slice must be what the program can do.

use std::collections::BTreeSet;

use foretell_cimp::program::Program;
use foretell_cimp::record::{Ending, Limits, Run, run};
use foretell_cimp::schedule::{Pct, Random, RoundRobin, Scheduler, Serial};
use foretell_depend::{Property, Rule, Slice, Slicer};
use foretell_testkit::program::{Shape, program};
use foretell_trace::{EventId, Trace, Value};
use foretell_witness::{Model, oracle};

use crate::replay::replay;

/// A slice with more states than this is left out.
const STATES: usize = 20_000;

/// Two events, the first of the trace first.
pub(crate) type Pair = (EventId, EventId);

fn compiled(source: &str) -> Program {
    foretell_cimp::compile(source).unwrap_or_else(|problems| panic!("{source}\n{problems:?}"))
}

/// A run of any kind: with few switches between threads, with many, and between.
pub(crate) fn recorded(program: &Program, seed: u64) -> Run {
    let mut scheduler: Box<dyn Scheduler> = match seed % 4 {
        0 => Box::new(Serial::new()),
        1 => Box::new(RoundRobin::default()),
        2 => Box::new(Random::new(seed)),
        _ => Box::new(Pct::new(seed, 3, 30)),
    };
    run(program, &mut *scheduler, &Limits::default()).unwrap()
}

/// The accesses of the program that conflict.
fn conflicts(run: &Run) -> Vec<Pair> {
    let accesses: Vec<_> =
        run.trace.iter().filter(|&(id, event)| run.is_step(id) && event.op.access().is_some()).collect();
    let mut pairs = Vec::new();
    for (place, (first, a)) in accesses.iter().enumerate() {
        for (second, b) in &accesses[place + 1..] {
            let conflict = a.op.access().zip(b.op.access()).is_some_and(|(a, b)| a.conflicts_with(b));
            if a.thread != b.thread && conflict {
                pairs.push((*first, *second));
            }
        }
    }
    pairs
}

/// A schedule of the slice for a race that ends with it, in numbers of the whole trace. `None` if there is none, or the
/// slice is too large.
pub(crate) fn witness(run: &Run, slice: &Slice, pair: Pair, model: Model) -> Option<Vec<EventId>> {
    let sliced = slice.trace(&run.trace).unwrap();
    let in_slice = (slice.sliced(pair.0).unwrap(), slice.sliced(pair.1).unwrap());
    let schedule = oracle::witnesses(&sliced, model, STATES)?.remove(&in_slice)?;
    let schedule = without_strays(&sliced, &schedule).into_iter().map(|event| slice.original(event).unwrap());
    let failing = last_step(run).filter(|event| ![pair.0, pair.1].contains(event));
    Some(schedule.filter(|&event| Some(event) != failing).collect())
}

/// The step after which the program failed, if it did. Nothing happens after it, so no schedule needs it.
fn last_step(run: &Run) -> Option<EventId> {
    let steps = run.trace.iter().map(|(id, _)| id).filter(|&id| run.is_step(id));
    steps.last().filter(|_| matches!(run.ending, Ending::Failed(_)))
}

/// The schedule without reads that see something else than observed. Their threads do nothing afterwards, and might fail at
/// once if they went on; nobody needs these reads.
fn without_strays(trace: &Trace, schedule: &[EventId]) -> Vec<EventId> {
    // Recordings show what is not 0 at the beginning as writes.
    let mut memory = vec![Some(Value::ZERO); trace.names().vars.len()];
    let (prefix, race) = schedule.split_at(schedule.len() - 2);
    let mut kept = Vec::new();
    for &event in prefix {
        let op = trace.event(event).op;
        let Some(access) = op.access() else {
            kept.push(event);
            continue;
        };
        let content = &mut memory[access.var.index()];
        if access.kind.writes() {
            *content = op.value_written();
        } else if op.value_read().is_some() && op.value_read() != *content {
            continue;
        }
        kept.push(event);
    }
    kept.extend(race);
    kept
}

/// Follows what is predicted for the pair. `None` if nothing is.
fn predicted(
    program: &Program,
    run: &Run,
    slicer: &Slicer<'_>,
    pair: Pair,
    rule: Rule,
    model: Model,
) -> Option<Result<(), String>> {
    let slice = slicer.slice(&Property::race(pair.0, pair.1), rule);
    let schedule = witness(run, &slice, pair, model)?;
    Some(replay(program, run, &schedule))
}

#[test]
fn races_on_slices_are_races_of_the_program() {
    let (mut races, mut more, mut published_wrong, mut uncompiled) = (0, 0, 0, 0);
    let programs = std::env::var("PROGRAMS").map_or(1000, |number| number.parse().unwrap());
    let from = std::env::var("FROM").map_or(0, |number| number.parse().unwrap());
    for seed in from..from + programs {
        let source = program(seed, Shape::any(seed)).to_string();
        let Ok(program) = foretell_cimp::compile(&source) else {
            uncompiled += 1;
            continue;
        };
        let run = recorded(&program, seed);
        if run.trace.events().is_empty() {
            continue;
        }
        let slicer = Slicer::new(&run.trace, Some(&run.flow));
        let whole: BTreeSet<Pair> = oracle::races(&run.trace, Model::SameValue, STATES).unwrap_or_default();
        for pair in conflicts(&run) {
            if let Some(outcome) = predicted(&program, &run, &slicer, pair, Rule::Sound, Model::SameValue) {
                races += 1;
                more += usize::from(!whole.contains(&pair));
                if let Err(why) = outcome {
                    println!("seed {seed} ({:?}): {pair:?}: {why}", run.ending);
                }
            } else if whole.contains(&pair) {
                println!("seed {seed}: {pair:?} is lost");
            }
            if let Some(Err(_)) = predicted(&program, &run, &slicer, pair, Rule::Published, Model::SameValue)
            {
                published_wrong += 1;
            }
        }
    }
    println!(
        "{races} races, {more} more than on the whole trace; published wrong {published_wrong}; uncompiled {uncompiled}"
    );
}
