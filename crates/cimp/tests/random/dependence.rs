//! What does not depend on a read happens whatever that read sees.
//!
//! Threads are added to a program that write chosen values. Just before a read of the recorded execution one of them
//! writes something else than what was read; before each read that the event in question does depend on, one writes
//! what was read. The event must happen all the same, at the same place and with the same value.
//!
//! Once more with all reads of a thread at once, by what the trace itself says of them: those that steer nothing up to
//! some event all see something else, and the thread must come to that event by the same steps, and write what does not
//! depend on these.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use foretell_cimp::machine::{Action, Bounds, Machine, Turn};
use foretell_cimp::program::Program;
use foretell_cimp::record::Run;
use foretell_cimp::scheduler::{Schedule, replay};
use foretell_cimp::value::ThreadRef;
use foretell_testkit::program::{Features, Shape};
use foretell_testkit::random::Random;
use foretell_trace::{EventId, Op};

use super::flow::numbers_only;
use super::{for_each, run};

/// How often each of the added threads can write. No thread reads as often.
const WRITES: usize = 20;
/// No other thread writes that.
const STRANGE: &str = "77";

/// Threads are there from the beginning, so that more can be added.
fn shape(seed: u64) -> Shape {
    let shape = numbers_only(seed);
    let features = Features { forks: false, waiting: false, conditions: true, ..shape.features };
    Shape { features, ..shape }
}

/// The name of the variable that an event accesses, the value as text, and the position.
fn access(run: &Run, event: EventId) -> Option<(String, String, String)> {
    let (names, event) = (run.trace.names(), run.trace.event(event));
    let value = event.op.value_read().or(event.op.value_written())?;
    let var = names.vars.name(event.op.access()?.var).to_string();
    Some((var, names.value_text(value).into_owned(), names.loc_text(event.loc).into_owned()))
}

fn reads(op: Op) -> bool {
    op.access().is_some_and(|access| access.kind.reads())
}

/// All reads that the event depends on, by the flow: for what it writes, for where, and for happening at all.
fn dependences(run: &Run, event: EventId) -> BTreeSet<EventId> {
    let mut found = BTreeSet::new();
    let (mut open, mut seen) = (vec![event], BTreeSet::new());
    while let Some(event) = open.pop() {
        if !seen.insert(event) {
            continue;
        }
        let uses = run.flow.of(event);
        let nodes = uses.value.into_iter().chain(uses.address);
        let direct: Vec<EventId> = nodes.flat_map(|node| run.flow.reads(node)).collect();
        found.extend(&direct);
        open.extend(direct);
        open.extend(uses.control);
        open.extend(barriers(run, event));
    }
    found
}

/// Earlier decisions of the thread that could have kept it from coming to the event.
fn barriers(run: &Run, event: EventId) -> Vec<EventId> {
    let thread = run.trace.event(event).thread;
    let may_stop = |&id: &EventId| {
        let scope = run.flow.of(id).scope;
        scope.is_some_and(|scope| run.flow.scope(scope).may_stop)
    };
    let earlier = run.trace.iter().take_while(|(id, _)| *id < event);
    earlier.filter(|(_, other)| other.thread == thread).map(|(id, _)| id).filter(may_stop).collect()
}

/// A read and a later event of its thread that does not depend on it, whose position is unmistakable.
fn independent_pair(run: &Run, random: &mut Random) -> Option<(EventId, EventId)> {
    let steps: Vec<EventId> = run.trace.iter().map(|(id, _)| id).filter(|&id| run.is_step(id)).collect();
    if steps.is_empty() {
        return None;
    }
    let read = *random.pick(&steps);
    let first = run.trace.event(read);
    let later = |&&event: &&EventId| event > read && run.trace.event(event).thread == first.thread;
    let later: Vec<&EventId> = steps.iter().filter(later).collect();
    if !reads(first.op) || later.is_empty() {
        return None;
    }
    let event = **random.pick(&later);
    let dependences = dependences(run, event);
    let unmistakable = |event: EventId| {
        let event = run.trace.event(event);
        run.trace.events().iter().filter(|other| other.loc == event.loc && other.op != Op::Branch).count()
            == 1
    };
    let fits = !dependences.contains(&read)
        && access(run, event).is_some()
        && unmistakable(event)
        && dependences.iter().all(|&read| unmistakable(read));
    fits.then_some((read, event))
}

/// The program with threads that write what is wanted; gives their names.
fn with_writers(
    text: &str,
    wanted: &BTreeSet<(String, String)>,
) -> (Program, BTreeMap<(String, String), String>) {
    let mut text = text.trim_end().to_string();
    let mut writers = BTreeMap::new();
    for (number, (var, value)) in wanted.iter().enumerate() {
        let write = format!("{var} = {value}; ").repeat(WRITES);
        let _ = write!(text, " || thread writer{number} {{ {write} }}");
        writers.insert((var.clone(), value.clone()), format!("writer{number}"));
    }
    (foretell_cimp::compile(&text).expect("still a program"), writers)
}

/// Whether the event still happens if the read sees something strange. `None` if another thread is in the way.
fn happens_anyway(text: &str, run: &Run, read: EventId, event: EventId) -> Option<bool> {
    let needed: BTreeMap<String, (String, String)> = dependences(run, event)
        .into_iter()
        .filter_map(|read| access(run, read))
        .map(|(var, value, position)| (position, (var, value)))
        .collect();
    let (var, _, _) = access(run, read)?;
    let strange = (var, STRANGE.to_string());
    let wanted = needed.values().cloned().chain([strange.clone()]).collect();
    let (program, writers) = with_writers(text, &wanted);
    let before = run.trace.iter().filter(|(id, _)| *id < read && run.is_step(*id)).count();
    let schedule = Schedule(run.schedule.0[..before].to_vec());
    let mut machine = replay(&program, Bounds::default(), &schedule).expect("the same steps");
    let thread = machine.thread_named(run.trace.names().threads.name(run.trace.event(read).thread))?;
    let write = |machine: &mut Machine<'_>, what: &(String, String)| {
        let writer = machine.thread_named(&writers[what]).expect("a writer");
        machine.step(Turn { thread: writer, wake: None }).expect("writers can always go on");
    };
    write(&mut machine, &strange);
    machine.step(Turn { thread, wake: None }).ok()?;
    while let Some(step) = machine.next(thread) {
        if is(run, event, &machine, thread) {
            return Some(writes_the_same(run, event, &mut machine, thread));
        }
        if let (Action::Read(_), Some(what)) = (step.action, needed.get(&step.position.to_string())) {
            write(&mut machine, what);
        }
        if step.action == Action::Fail {
            return Some(false);
        }
        machine.step(Turn { thread, wake: None }).ok()?;
    }
    Some(false)
}

/// Whether the event is what the thread does next.
fn is(run: &Run, event: EventId, machine: &Machine<'_>, thread: ThreadRef) -> bool {
    let (Some(step), Some((var, _, position))) = (machine.next(thread), access(run, event)) else {
        return false;
    };
    let place = step.action.access().map(|(place, _)| machine.place_name(place));
    place == Some(var) && step.position.to_string() == position
}

/// Whether the thread now writes what it wrote, if the event is a write.
fn writes_the_same(run: &Run, event: EventId, machine: &mut Machine<'_>, thread: ThreadRef) -> bool {
    if reads(run.trace.event(event).op) {
        return true;
    }
    machine.step(Turn { thread, wake: None }).expect("a write can always happen");
    let Some((var, value, _)) = access(run, event) else { return false };
    machine.value_of(&var).map(|written| machine.value_name(written)) == Some(value)
}

#[test]
fn what_does_not_depend_on_a_read_happens_anyway() {
    let mut tried = 0;
    for_each(4000, shape, |seed, text, program| {
        let run = run(program, seed);
        let random = &mut Random::new(seed);
        for _ in 0..3 {
            let Some((read, event)) = independent_pair(&run, random) else { continue };
            let Some(happens) = happens_anyway(text, &run, read, event) else { continue };
            assert!(happens, "event {event} depends on event {read}; {}", run.schedule);
            tried += 1;
        }
    });
    assert!(tried > 1000, "{tried}");
}

/// The steps of the thread up to the event.
fn steps_up_to(run: &Run, last: EventId) -> Vec<EventId> {
    let thread = run.trace.event(last).thread;
    let own = run.trace.iter().filter(|&(id, event)| id <= last && event.thread == thread && run.is_step(id));
    own.map(|(id, _)| id).collect()
}

/// The reads among these steps that steer none of them.
fn unneeded(run: &Run, steps: &[EventId]) -> Option<BTreeSet<EventId>> {
    let (dependence, last) = (run.trace.dependence()?, steps.last()?);
    let steers = |read: EventId| dependence.steered_by(read).is_some_and(|steered| steered <= *last);
    Some(steps.iter().copied().filter(|&id| reads(run.trace.event(id).op) && !steers(id)).collect())
}

/// Whether what the event writes depends on one of these reads.
fn is_changed(run: &Run, write: EventId, strange: &BTreeSet<EventId>) -> Option<bool> {
    let dependence = run.trace.dependence()?;
    let value = dependence.reads(dependence.value_of(write))?;
    Some(value.iter().any(|read| strange.contains(read)))
}

/// Lets a thread take its recorded steps up to the event, all reads that it does not need for that seeing something
/// strange. Gives how many writes were not changed by that; `None` if another thread is in the way.
fn takes_its_steps(text: &str, run: &Run, last: EventId) -> Option<usize> {
    let steps = steps_up_to(run, last);
    let strange = unneeded(run, &steps).filter(|reads| !reads.is_empty())?;
    let to_see = |read: EventId| {
        let (var, value, _) = access(run, read)?;
        Some((var, if strange.contains(&read) { STRANGE.to_string() } else { value }))
    };
    let all_reads = steps.iter().copied().filter(|&id| reads(run.trace.event(id).op));
    let (program, writers) = with_writers(text, &all_reads.filter_map(to_see).collect());
    let before = run.trace.iter().filter(|(id, _)| *id < steps[0] && run.is_step(*id)).count();
    let mut machine =
        replay(&program, Bounds::default(), &Schedule(run.schedule.0[..before].to_vec())).expect("the same");
    let thread = machine.thread_named(run.trace.names().threads.name(run.trace.event(last).thread))?;
    let mut unchanged = 0;
    for &event in &steps {
        let op = run.trace.event(event).op;
        if op.access().is_none() {
            machine.step(Turn { thread, wake: None }).ok()?;
            continue;
        }
        assert!(is(run, event, &machine, thread), "event {event} does not happen; {}", run.schedule);
        if reads(op) {
            let writer = machine.thread_named(&writers[&to_see(event)?]).expect("a writer");
            machine.step(Turn { thread: writer, wake: None }).expect("writers can always go on");
            machine.step(Turn { thread, wake: None }).expect("a read can always happen");
        } else if is_changed(run, event, &strange)? {
            machine.step(Turn { thread, wake: None }).expect("a write can always happen");
        } else {
            let same = writes_the_same(run, event, &mut machine, thread);
            assert!(same, "event {event} writes something else; {}", run.schedule);
            unchanged += 1;
        }
    }
    Some(unchanged)
}

#[test]
fn a_thread_takes_its_steps_without_the_reads_that_steer_none_of_them() {
    let (mut tried, mut written) = (0, 0);
    for_each(4000, shape, |seed, text, program| {
        let run = run(program, seed);
        let steps: Vec<EventId> = run.trace.iter().map(|(id, _)| id).filter(|&id| run.is_step(id)).collect();
        let random = &mut Random::new(seed);
        for _ in 0..3.min(steps.len()) {
            let Some(unchanged) = takes_its_steps(text, &run, *random.pick(&steps)) else { continue };
            (tried, written) = (tried + 1, written + unchanged);
        }
    });
    assert!(tried > 1000 && written > 1000, "{tried} {written}");
}
