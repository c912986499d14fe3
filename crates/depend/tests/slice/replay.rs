//! Runs a program along a schedule of a slice, as the argument for the sound rule does: whenever a kept event is due,
//! its thread runs alone through all that was dropped before it.

use foretell_cimp::machine::{Action, Bounds, Machine, PendingStep, Turn};
use foretell_cimp::program::Program;
use foretell_cimp::record::Run;
use foretell_cimp::value::ThreadRef;
use foretell_trace::{EventId, Op};

/// No program that is run here does more between two kept events.
const DROPPED_STEPS: usize = 100;

/// Runs the events in this order. An error says what the program does instead.
pub(crate) fn replay(program: &Program, run: &Run, schedule: &[EventId]) -> Result<(), String> {
    Replay::new(run, schedule, false).follow(Machine::new(program, Bounds::default()), 0)
}

/// Runs the events before the last two, brings these next, and checks that they conflict.
pub(crate) fn replay_race(program: &Program, run: &Run, schedule: &[EventId]) -> Result<(), String> {
    Replay::new(run, schedule, true).follow(Machine::new(program, Bounds::default()), 0)
}

struct Replay<'r> {
    run: &'r Run,
    /// The steps of the program in the schedule.
    steps: Vec<EventId>,
    /// How many of them are run; the others race.
    to_run: usize,
}

impl<'r> Replay<'r> {
    fn new(run: &'r Run, schedule: &[EventId], races: bool) -> Replay<'r> {
        let steps: Vec<EventId> = schedule.iter().copied().filter(|&event| run.is_step(event)).collect();
        let to_run = steps.len() - if races { 2 } else { 0 };
        Replay { run, steps, to_run }
    }

    /// Goes on at this place of the schedule. The same step may occur several times among what was dropped, and nobody
    /// knows which of them is the kept one if a decision among them went another way: so each is tried.
    fn follow(&self, machine: Machine<'_>, place: usize) -> Result<(), String> {
        let Some(&event) = self.steps.get(place) else { return self.race(&machine) };
        let mut machine = machine;
        let name = self.run.trace.names().threads.name(self.run.trace.event(event).thread);
        let thread = machine.thread_named(name).ok_or(format!("event {event}: {name} was not started"))?;
        let mut problem = format!("event {event}: {name} does not come to it");
        for _ in 0..DROPPED_STEPS {
            let Some(next) = machine.next(thread) else { break };
            if self.is_step(&machine, event, next) {
                match self
                    .take_kept(machine.clone(), thread, place)
                    .and_then(|after| self.follow(after, place + 1))
                {
                    Ok(()) => return Ok(()),
                    Err(later) => problem = later,
                }
            }
            if take(&mut machine, event, Turn { thread, wake: None }).is_err() {
                break;
            }
        }
        Err(problem)
    }

    /// Takes the kept step, unless it is one of the two that race: these stay next.
    fn take_kept<'p>(
        &self,
        mut machine: Machine<'p>,
        thread: ThreadRef,
        place: usize,
    ) -> Result<Machine<'p>, String> {
        if place < self.to_run {
            if let Some(Action::Join(awaited)) = machine.next(thread).map(|next| next.action) {
                run_to_its_end(&mut machine, self.steps[place], awaited)?;
            }
            let wake = self.whom_to_wake(&machine, thread, &self.steps[place + 1..]);
            take(&mut machine, self.steps[place], Turn { thread, wake })?;
        }
        Ok(machine)
    }

    fn race(&self, machine: &Machine<'_>) -> Result<(), String> {
        let trace = &self.run.trace;
        let thread =
            |event: &EventId| machine.thread_named(trace.names().threads.name(trace.event(*event).thread));
        match self.steps[self.to_run..].iter().filter_map(thread).collect::<Vec<_>>()[..] {
            [] => Ok(()),
            [first, second] if machine.race(first, second).is_some() => Ok(()),
            _ => Err("the last two do not conflict".to_string()),
        }
    }

    /// Whether the event is the step. No two operations but accesses stand at one place.
    fn is_step(&self, machine: &Machine<'_>, event: EventId, step: PendingStep) -> bool {
        let (event, names) = (self.run.trace.event(event), self.run.trace.names());
        let same = match (event.op.access(), step.action) {
            (Some(access), Action::Read(place)) => {
                access.kind.reads() && names.vars.name(access.var) == machine.place_name(place)
            }
            (Some(access), Action::Write(place)) => {
                access.kind.writes() && names.vars.name(access.var) == machine.place_name(place)
            }
            (Some(_), _) | (None, Action::Read(_) | Action::Write(_)) => false,
            (None, _) => true,
        };
        same && names.loc_text(event.loc) == step.position.to_string()
    }

    /// A notification wakes the one of those who wait that returns first.
    fn whom_to_wake(&self, machine: &Machine<'_>, thread: ThreadRef, later: &[EventId]) -> Option<ThreadRef> {
        let choices: Vec<ThreadRef> = machine.choices(thread).into_iter().flatten().collect();
        let trace = &self.run.trace;
        let returns =
            later.iter().map(|&id| trace.event(id)).filter(|event| matches!(event.op, Op::Woken { .. }));
        let mut returning =
            returns.filter_map(|event| machine.thread_named(trace.names().threads.name(event.thread)));
        returning.find(|thread| choices.contains(thread)).or(choices.first().copied())
    }
}

/// Runs what was dropped at the end of a thread that is awaited.
fn run_to_its_end(machine: &mut Machine<'_>, event: EventId, thread: ThreadRef) -> Result<(), String> {
    for _ in 0..DROPPED_STEPS {
        if machine.has_ended(thread) {
            break;
        }
        take(machine, event, Turn { thread, wake: None })?;
    }
    Ok(())
}

fn take(machine: &mut Machine<'_>, event: EventId, turn: Turn) -> Result<(), String> {
    machine.step(turn).map_err(|_| format!("event {event}: its thread is blocked"))?;
    match machine.failure() {
        Some(failure) => Err(format!("event {event}: {failure}")),
        None => Ok(()),
    }
}
