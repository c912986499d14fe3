//! All executions of a program.
//!
//! States are visited once each, however many ways lead to them. In each state the next steps of all threads are known,
//! so two that conflict are a data race, found for sure; what goes wrong and who waits forever is found as well. All
//! that is found comes with a schedule that leads there. If no limit was reached, what is not found does not exist.
//!
//! * [`findings`]: what was found
//! * [`limits`]: how far to go, and why it was not far enough
//! * `states`: the states seen so far
//! * `count`: how many executions there are

mod count;
pub mod findings;
pub mod limits;
mod states;

use std::sync::atomic::Ordering;

pub use findings::{Deadlock, Exploration, FoundFailure, Race, RaceSide, StateView};
pub use limits::{Incomplete, Limits, Order, Property};

use crate::machine::{Machine, Turn};
use crate::program::Program;
use crate::scheduler::{Choice, Schedule};
use count::Edges;
use findings::Findings;
use limits::Loops;
use states::{StateId, States};

/// Progress is reported after so many states.
const WATCHED: usize = 4096;

/// Visits all states of the program, as far as the limits allow.
pub fn explore(program: &Program, limits: &Limits<'_>) -> Exploration {
    let mut explorer = Explorer::new(program, limits);
    explorer.run();
    explorer.finish()
}

struct Explorer<'p, 'l> {
    limits: &'l Limits<'l>,
    states: States,
    /// States whose turns have not been taken yet, if they are not simply the ones after the last.
    open: Vec<StateId>,
    edges: Option<Edges>,
    loops: Loops,
    findings: Findings,
    /// The state whose turns are being taken.
    current: Machine<'p, Loops>,
    /// The state after a turn.
    next: Machine<'p, Loops>,
    key: Vec<u8>,
}

impl<'p, 'l> Explorer<'p, 'l> {
    fn new(program: &'p Program, limits: &'l Limits<'l>) -> Self {
        let mut loops = Loops::default();
        let start = Machine::start(program, limits.bounds, &mut loops);
        Explorer {
            limits,
            states: States::default(),
            open: Vec::new(),
            edges: limits.count_executions.then(Edges::default),
            loops,
            findings: Findings::new(limits.properties.len()),
            current: start.clone(),
            next: start,
            key: Vec::new(),
        }
    }

    fn run(&mut self) {
        self.arrive(None);
        let mut turns = Vec::new();
        let mut visited = 0_usize;
        while let Some(state) = self.next_state() {
            visited += 1;
            if let (true, Some(watch)) = (visited.is_multiple_of(WATCHED), self.limits.watch) {
                watch(self.states.len());
            }
            if let Some(why) = self.must_stop() {
                self.findings.incomplete(why);
                return;
            }
            self.current.restore(self.states.key(state), &mut self.loops);
            self.current.turns(&mut turns);
            for &turn in &turns {
                self.next.clone_from(&self.current);
                // Turns come from the state itself, so they are never refused.
                if self.next.step_with(turn, &mut self.loops).is_ok() {
                    self.arrive(Some((state, turn)));
                }
            }
        }
    }

    fn next_state(&mut self) -> Option<StateId> {
        match self.limits.order {
            // States are numbered as they are found, which is the order of a queue.
            Order::BreadthFirst => self.states.next_unvisited(),
            Order::DepthFirst => self.open.pop(),
        }
    }

    fn must_stop(&self) -> Option<Incomplete> {
        let busiest_loop = || self.loops.busiest();
        if self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            Some(Incomplete::Stopped { busiest_loop: busiest_loop() })
        } else if self.states.len() > self.limits.states {
            Some(Incomplete::States { limit: self.limits.states, busiest_loop: busiest_loop() })
        } else if self.bytes() > self.limits.bytes {
            Some(Incomplete::Bytes { limit: self.limits.bytes, busiest_loop: busiest_loop() })
        } else {
            None
        }
    }

    /// How much memory states take, and the count of executions will take.
    fn bytes(&self) -> usize {
        self.states.bytes() + self.edges.as_ref().map_or(0, |edges| edges.bytes(self.states.len()))
    }

    /// Takes up the state that the turn leads to, and what is to be found there.
    fn arrive(&mut self, from: Option<(StateId, Turn)>) {
        if let Some(failure) = self.next.failure() {
            if self.findings.is_new_failure(failure) {
                let failure = failure.clone();
                let schedule = self.schedule(from);
                self.findings.failure(failure, schedule);
            }
            self.lead(from, None);
            return;
        }
        self.next.key(&mut self.key);
        let (state, is_new) = self.states.insert(&self.key, from);
        self.lead(from, Some(state));
        if is_new {
            if self.limits.order == Order::DepthFirst {
                self.open.push(state);
            }
            self.look(from);
        }
    }

    fn lead(&mut self, from: Option<(StateId, Turn)>, to: Option<StateId>) {
        if let (Some(edges), Some((state, _))) = (&mut self.edges, from) {
            edges.add(state, to);
        }
    }

    /// Looks at a state that was not seen before.
    fn look(&mut self, from: Option<(StateId, Turn)>) {
        for (first, second) in self.findings.new_races(&self.next) {
            let schedule = self.schedule(from);
            self.findings.race(&self.next, first, second, schedule);
        }
        if self.next.is_finished() {
            self.findings.final_state();
        } else if self.next.is_deadlocked() {
            let blocked = self.next.blocked();
            if self.findings.is_new_deadlock(&blocked) {
                let schedule = self.schedule(from);
                self.findings.deadlock(blocked, schedule);
            }
        }
        for (index, property) in self.limits.properties.iter().enumerate() {
            if !self.findings.is_violated(index) && !property(&StateView::of(&self.next)) {
                let schedule = self.schedule(from);
                self.findings.violation(index, schedule);
            }
        }
    }

    /// The schedule that leads to a state and then takes a turn.
    fn schedule(&self, to: Option<(StateId, Turn)>) -> Schedule {
        let mut machine = self.current.clone();
        let mut choices = Vec::new();
        let mut step = to;
        while let Some((state, turn)) = step {
            machine.restore(self.states.key(state), &mut Loops::default());
            let name = |thread| machine.thread_name(thread).into();
            choices.push(Choice { thread: name(turn.thread), wake: turn.wake.map(name) });
            step = self.states.origin(state);
        }
        choices.reverse();
        Schedule(choices)
    }

    fn finish(self) -> Exploration {
        let executions = self.edges.as_ref().and_then(|edges| edges.executions(self.states.len()));
        self.findings.finish(self.states.len(), executions)
    }
}

#[cfg(test)]
mod tests;
