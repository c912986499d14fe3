//! Schedules that are given: followed as far as possible, or strictly.

use super::{Choice, Moment, Schedule, Scheduler, Serial};
use crate::machine::{Action, Bounds, Machine, Shadow, Turn};
use crate::program::Program;

/// Follows a schedule, and continues with one thread after the other when that is over, or cannot be followed.
#[derive(Clone, Debug)]
pub struct Given {
    choices: Vec<Choice>,
    taken: usize,
    problem: Option<String>,
    then: Serial,
}

impl Given {
    /// Will follow this schedule.
    pub fn new(schedule: Schedule) -> Given {
        Given { choices: schedule.0, taken: 0, problem: None, then: Serial::new() }
    }

    /// Which entry of the schedule could not be followed, if any.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Entries of the schedule that were not taken: because one could not be followed, or because the execution ended.
    pub fn left(&self) -> usize {
        self.choices.len() - self.taken
    }

    fn follow(&mut self, moment: &Moment<'_>) -> Option<Turn> {
        let choice = self.choices.get(self.taken)?;
        let says = |turn: Turn| {
            let by_name = moment.choice(turn);
            by_name.thread == choice.thread && (choice.wake.is_none() || by_name.wake == choice.wake)
        };
        match moment.turns.iter().copied().find(|&turn| says(turn)) {
            Some(turn) => {
                self.taken += 1;
                Some(turn)
            }
            None => {
                let entry = self.taken + 1;
                let mut able: Vec<_> =
                    moment.turns.iter().map(|&turn| moment.choice(turn).to_string()).collect();
                able.dedup();
                let able = able.join(" or ");
                self.problem = Some(format!(
                    "entry {entry} of the schedule, {choice}, is not possible: {able} can continue"
                ));
                None
            }
        }
    }
}

impl Scheduler for Given {
    fn pick(&mut self, moment: &Moment<'_>) -> Turn {
        if self.problem.is_none()
            && let Some(turn) = self.follow(moment)
        {
            self.then = Serial::from(turn.thread);
            return turn;
        }
        self.then.pick(moment)
    }
}

/// The state that a schedule leads to; an error if some entry of it is not possible.
pub fn replay<'p>(program: &'p Program, bounds: Bounds, schedule: &Schedule) -> Result<Machine<'p>, String> {
    let mut machine = Machine::new(program, bounds);
    for (index, choice) in schedule.0.iter().enumerate() {
        let turn = machine.turn(choice);
        turn.and_then(|turn| machine.step(turn).ok())
            .ok_or_else(|| format!("entry {} of the schedule, {choice}, is not possible", index + 1))?;
    }
    Ok(machine)
}

impl<S: Shadow> Machine<'_, S> {
    /// What the choice means in this state. If it does not name the woken thread, the first waiting one is woken.
    pub fn turn(&self, choice: &Choice) -> Option<Turn> {
        let thread = self.thread_named(&choice.thread)?;
        let wake = match (&choice.wake, self.next(thread)?.action) {
            (Some(name), _) => Some(self.thread_named(name)?),
            (None, Action::Notify(condition)) => self.waiting(condition).next(),
            (None, _) => None,
        };
        Some(Turn { thread, wake })
    }
}
