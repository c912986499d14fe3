//! Paths of the engine as schedules of the trace.

use foretell_trace::EventId;

use crate::compile::is_silent;
use crate::property::State;
use crate::run::Run;
use crate::system::System as _;
use crate::{Closure, Path};

/// One event of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Which event.
    pub event: EventId,
    /// It reads something else than observed, and its thread stops for good.
    pub deviates: bool,
}

/// Events in the order in which they run.
pub type Schedule = Vec<Taken>;

/// A run of the closure, event by event.
pub(crate) struct Scheduler<'c> {
    closure: &'c Closure<'c>,
    run: Run<'c>,
    /// Per thread, how many of its events are in the schedule.
    done: Vec<usize>,
    schedule: Schedule,
}

impl<'c> Scheduler<'c> {
    pub(crate) fn new(closure: &'c Closure<'c>) -> Scheduler<'c> {
        let done = vec![0; closure.program.threads];
        let mut scheduler =
            Scheduler { closure, run: Run::new(&closure.program), done, schedule: Vec::new() };
        scheduler.run_silent_of_all();
        scheduler
    }

    /// The schedule in which the threads take their steps in this order.
    pub(crate) fn along(mut self, path: &Path) -> Schedule {
        for &thread in path {
            self.step(thread as usize);
        }
        self.schedule
    }

    /// The schedule in which these steps come in this order, if there is one.
    pub(crate) fn of(mut self, steps: &[EventId]) -> Option<Schedule> {
        for &event in steps {
            let thread = self.closure.trace.events().get(event.index())?.thread;
            let state = State { trace: self.closure.trace, run: &self.run };
            if state.next(thread) != Some(event) || !self.run.is_enabled(thread.index()) {
                return None;
            }
            self.step(thread.index());
        }
        Some(self.schedule)
    }

    fn step(&mut self, thread: usize) {
        let place = self.closure.program.places[self.run.position(thread) as usize];
        let undo = self.run.step(thread);
        let deviates = self.run.position(thread) != undo.position + 1;
        if let Some(event) = EventId::from_index(place.event as usize) {
            self.schedule.push(Taken { event, deviates });
        }
        self.done[thread] += 1;
        if self.run.step_at(undo.position).lift_count > 0 {
            self.run_silent_of_all();
        } else {
            self.run_silent(thread);
        }
    }

    fn run_silent_of_all(&mut self) {
        for thread in 0..self.done.len() {
            self.run_silent(thread);
        }
    }

    /// Adds what runs together with the steps of the thread so far.
    fn run_silent(&mut self, thread: usize) {
        let frontier = self.closure.program.places[self.run.position(thread) as usize].frontier as usize;
        let runs =
            |&&event: &&EventId| event.index() < frontier && is_silent(self.closure.trace.event(event).op);
        let silent = self.closure.events[thread][self.done[thread]..].iter().take_while(runs);
        for &event in silent {
            self.schedule.push(Taken { event, deviates: false });
            self.done[thread] += 1;
        }
    }
}
