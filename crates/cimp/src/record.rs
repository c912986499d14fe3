//! One execution of a program, as a trace with the flow of its values and decisions.
//!
//! * `recorder`: keeps track while the program runs
//! * `setup`: what the trace must say of the beginning
//! * `translate`: what was kept becomes a trace and a [`Flow`]
//! * `values`: and terms, of which values can be computed anew
//! * [`mod@detours`]: traces of where the execution could have gone at its decisions
//! * [`mod@confirm`]: whether a new order of a trace's events is an execution of the program

pub mod confirm;
pub mod detours;
mod recorder;
mod setup;
mod translate;
mod values;

use std::sync::Arc;

use foretell_depend::Flow;
use foretell_trace::{EventId, Trace, TraceError};

pub use confirm::{confirm, confirm_stuck};

use crate::machine::{Blocked, Bounds, Failure, Machine};
use crate::program::Program;
use crate::scheduler::{Moment, Schedule, Scheduler, strategy};
use recorder::Recorder;

/// How far a recorded execution may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many steps it may take.
    pub steps: usize,
    /// Limits of the machine.
    pub bounds: Bounds,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 1_000_000, bounds: Bounds::default() }
    }
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All threads have ended.
    Finished,
    /// Something went wrong.
    Failed(Failure),
    /// These threads wait for each other, or for what never comes.
    Deadlock(Vec<Blocked>),
    /// It took as many steps as it may.
    StepLimit,
}

/// A recorded execution.
#[derive(Debug)]
pub struct Run {
    /// What happened. Without any event if the program does nothing that others could notice.
    pub trace: Trace,
    /// Where values come from, and which decisions led to each event.
    pub flow: Flow,
    /// How it ended.
    pub ending: Ending,
    /// Who took which step.
    pub schedule: Schedule,
    /// For each event whether it is a step of the program.
    steps: Vec<bool>,
}

impl Run {
    /// Whether the event is a step of the program. Others are decisions, what new cells hold, and what the thread that
    /// sets up the program does.
    pub fn is_step(&self, event: EventId) -> bool {
        self.steps.get(event.index()).copied().unwrap_or(false)
    }
}

/// Runs the program as the scheduler says. The only error is a trace of more events than can be numbered.
pub fn run(program: &Program, scheduler: &mut dyn Scheduler, limits: &Limits) -> Result<Run, TraceError> {
    let mut recorder = Recorder::default();
    let mut machine = Machine::start(program, limits.bounds, &mut recorder);
    let mut schedule = Schedule::default();
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut turns = Vec::new();
    let mut ready = Vec::new();
    let ending = loop {
        if let Some(failure) = machine.failure() {
            break Ending::Failed(failure.clone());
        }
        machine.turns(&mut turns);
        if turns.is_empty() {
            break if machine.is_finished() { Ending::Finished } else { Ending::Deadlock(machine.blocked()) };
        }
        if schedule.0.len() >= limits.steps {
            break Ending::StepLimit;
        }
        names.extend(machine.threads().skip(names.len()).map(|thread| machine.thread_name(thread).into()));
        strategy::ready(&machine, &turns, &mut ready);
        let moment = Moment { turns: &turns, names: &names, ready: &ready };
        let picked = scheduler.pick(&moment);
        // A scheduler that picks none of the turns gets the first one.
        let turn = turns.iter().find(|&&turn| turn == picked).unwrap_or(&turns[0]);
        schedule.0.push(moment.choice(*turn));
        let operation = machine.operation(turn.thread);
        scheduler.happens(turn.thread, operation, &mut machine.calls(turn.thread));
        if machine.step_with(*turn, &mut recorder).is_err() {
            break Ending::StepLimit;
        }
        if machine.has_ended(turn.thread) {
            scheduler.ended(turn.thread);
        }
    };
    translate::translate(&recorder, &machine, ending, schedule)
}

#[cfg(test)]
mod tests;
