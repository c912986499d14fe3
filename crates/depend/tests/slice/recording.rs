//! Runs of programs, and what their slices show.

use foretell_cimp::program::Program;
use foretell_cimp::record::{Limits, Run, run};
use foretell_cimp::scheduler::{Scheduler, Serial};
use foretell_depend::{Property, Rule, Slice, slice};
use foretell_trace::{EventId, Trace, Value};
use foretell_witness::{Model, oracle};

/// A slice with more states than this is left out.
const STATES: usize = 20_000;

/// Two events, the first of the trace first.
pub(crate) type Pair = (EventId, EventId);

pub(crate) fn compiled(source: &str) -> Program {
    foretell_cimp::compile(source).unwrap_or_else(|problems| panic!("{source}\n{problems:?}"))
}

/// One of the example programs.
pub(crate) fn example(name: &str) -> Program {
    let path = format!("{}/../../examples/{name}.cimp", env!("CARGO_MANIFEST_DIR"));
    compiled(&std::fs::read_to_string(path).unwrap())
}

pub(crate) fn recorded(program: &Program, mut scheduler: impl Scheduler) -> Run {
    run(program, &mut scheduler, &Limits::default()).unwrap()
}

/// One thread after the other.
pub(crate) fn recorded_serially(program: &Program) -> Run {
    recorded(program, Serial::new())
}

/// The accesses of the program that conflict.
pub(crate) fn conflicts(run: &Run) -> Vec<Pair> {
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

/// A schedule of the slice for it that ends with the race, in numbers of the whole trace. `None` if there is none, or
/// the slice is too large.
pub(crate) fn predicted(run: &Run, pair: Pair, rule: Rule) -> Option<Vec<EventId>> {
    let slice = slice(&run.trace, Some(&run.flow), &Property::race(pair.0, pair.1), rule);
    let sliced = slice.trace(&run.trace).unwrap();
    let in_slice = (slice.sliced(pair.0)?, slice.sliced(pair.1)?);
    let mut schedule = oracle::witnesses(&sliced, Model::SameValue, STATES)?.remove(&in_slice)?;
    schedule.truncate(schedule.len() - 2);
    let mut needed = needed(&slice, &sliced, &schedule);
    needed.extend([pair.0, pair.1]);
    Some(needed)
}

/// What is needed of a schedule, in numbers of the whole trace. A read that sees something else than observed is not,
/// unless it is its thread's last event: its thread does nothing afterwards, and might fail at once.
pub(crate) fn needed(slice: &Slice, sliced: &Trace, schedule: &[EventId]) -> Vec<EventId> {
    // Recordings show what is not 0 at the beginning as writes.
    let mut memory = vec![Some(Value::ZERO); sliced.names().vars.len()];
    let mut needed = Vec::new();
    for &event in schedule {
        let op = sliced.event(event).op;
        let mut strays = false;
        if let Some(access) = op.access() {
            let content = &mut memory[access.var.index()];
            strays = op.value_read().is_some_and(|seen| Some(seen) != *content) && !is_last(sliced, event);
            if access.kind.writes() {
                *content = op.value_written();
            }
        }
        needed.extend(slice.original(event).filter(|_| !strays));
    }
    needed
}

fn is_last(trace: &Trace, event: EventId) -> bool {
    let thread = trace.event(event).thread;
    trace.events()[event.index() + 1..].iter().all(|later| later.thread != thread)
}
