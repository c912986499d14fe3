//! An explicit-state search for a schedule of a window.
//!
//! A state is how far each thread is, which threads have read something else than observed, and what the variables hold
//! that are still read. Where values repeat, many schedules lead to few states; the clause-learning search of
//! [`crate::encode`] does not see that and takes exponential time, this one takes as long as there are states.
//!
//! Two things keep states few. An event that nothing else can interfere with (see [`shape`]) runs at once, as the only
//! choice: a persistent set of one. A goal, once reached, stays reached whatever else runs, so every goal shows in a
//! state where no more can run, and these are what persistent sets preserve (Godefroid 1996). And the order that the
//! closure knows is kept.
//!
//! It knows windows with a fixed border in which reads are pinned as a whole, without conditions, barriers that any
//! threads may cross, or unexplained reads; of the others [`States::new`] makes nothing.

mod beam;
mod shape;
mod visited;

use self::shape::{NOTHING, WindowConstants};
use self::visited::Visited;
use crate::closure::{Closure, ENTRY};
use crate::index::{NONE, permits_after};
use crate::replay::{Subject, Subjects};
use crate::window::{Domain, Window};
use foretell_trace::{Model, Op};

/// What a variable holds that a thread wrote after it had read something else than observed.
const FOREIGN: u32 = NONE - 4;
/// How many events run between two looks at the clock.
const EVENTS_AT_ONCE: u64 = 4096;

/// The answer of the search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Explored {
    /// These events, in this order, reach the goal.
    Schedule(Vec<u32>),
    /// No state is the goal.
    Impossible,
    /// There are more states than there is room or time for.
    TooMany,
}

/// What is tried first where several events can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TrialOrder {
    /// What has to run before the goal in every schedule, then as recorded.
    NeededFirst,
    /// The order of the trace.
    AsRecorded,
}

/// A search in progress: the state after the events of `done`.
pub(crate) struct States<'c> {
    closure: &'c Closure<'c>,
    window: &'c Window<'c>,
    subjects: &'c Subjects,
    shape: WindowConstants,
    /// How many events of each thread have run.
    next: Vec<u32>,
    /// Which threads have read something else than observed.
    deviated: Vec<bool>,
    /// For each variable, its last writer, [`ENTRY`] or [`FOREIGN`].
    content: Vec<u32>,
    /// The critical sections that have begun and not ended.
    open: Vec<u32>,
    permits: Vec<Option<u64>>,
    done: Vec<Done>,
    visited: Visited,
    /// How many events have run in all.
    steps: u64,
    /// Where the lots of beams go on.
    lots: u64,
}

/// An event that has run, and what it takes to take it back.
struct Done {
    event: u32,
    content: u32,
    deviated: bool,
    permits: Option<u64>,
}

/// A state that is being explored.
struct SearchFrame {
    /// How many events lead to it.
    base: usize,
    /// What can run there and has not been tried, the best last.
    choices: Vec<u32>,
}

impl<'c> States<'c> {
    /// A search in the window of the closure, if it is of the kind that this can search.
    pub(crate) fn new(closure: &'c Closure<'c>, subjects: &'c Subjects) -> Option<States<'c>> {
        let window = closure.window;
        let shape = WindowConstants::new(closure, subjects)?;
        let open = window.locks.iter().flat_map(|lock| &lock.held).copied().collect();
        Some(States {
            closure,
            window,
            subjects,
            next: vec![0; window.threads.len()],
            deviated: vec![false; window.threads.len()],
            content: vec![ENTRY; window.vars.len()],
            open,
            permits: window.semaphores.iter().map(|semaphore| semaphore.permits).collect(),
            done: Vec::new(),
            visited: Visited::new(shape.width()),
            shape,
            steps: 0,
            lots: 0,
        })
    }

    /// How many bytes so many states take.
    pub(crate) fn bytes(&self, states: usize) -> usize {
        states.saturating_mul(self.shape.width() * size_of::<u32>() + size_of::<u64>())
    }

    /// Searches until so many states have been seen, depth first. Can be called again with a larger number; it then
    /// begins anew.
    pub(crate) fn run(&mut self, order: TrialOrder, most_states: usize) -> Explored {
        self.undo_to(0);
        self.visited.clear();
        let mut frames: Vec<SearchFrame> = Vec::new();
        let mut is_new = self.arrive();
        loop {
            if self.is_goal() {
                return Explored::Schedule(self.done.iter().map(|done| done.event).collect());
            }
            if is_new {
                frames.push(SearchFrame { base: self.done.len(), choices: self.choices(order) });
            }
            let Some(event) = self.next_choice(&mut frames) else { return Explored::Impossible };
            self.step(event);
            is_new = self.arrive();
            if self.visited.len() > most_states || self.is_out_of_time() {
                return Explored::TooMany;
            }
        }
    }

    /// Goes back to the last state that has a choice left, and takes it.
    fn next_choice(&mut self, frames: &mut Vec<SearchFrame>) -> Option<u32> {
        loop {
            let frame = frames.last_mut()?;
            if let Some(event) = frame.choices.pop() {
                let base = frame.base;
                self.undo_to(base);
                return Some(event);
            }
            frames.pop();
        }
    }

    /// Runs what nothing can interfere with. Tells whether the state is new and not hopeless.
    fn arrive(&mut self) -> bool {
        let mut thread = 0;
        let mut idle = 0;
        let threads = self.next.len();
        while idle < threads {
            match self.next_event(thread).filter(|&event| self.shape.is_alone(event)) {
                Some(event) if self.is_enabled(event) => {
                    self.step(event);
                    idle = 0;
                    continue;
                }
                // Nothing can change what it waits to see.
                Some(event) if self.closure.runs(event) && self.is_misled(event) => return false,
                _ => {}
            }
            idle += 1;
            thread = (thread + 1) % threads;
        }
        self.shape.key(&self.next, &self.deviated, &self.content, self.visited.candidate());
        self.visited.insert()
    }

    /// The thread's next event, if it may run at all.
    fn next_event(&self, thread: usize) -> Option<u32> {
        let place = self.next[thread];
        let may_run = place < self.window.limit[thread] && self.shape.matters(thread);
        may_run.then(|| self.window.threads[thread][place as usize])
    }

    /// The events that can run, the best last.
    fn choices(&self, order: TrialOrder) -> Vec<u32> {
        let events = (0..self.next.len()).filter_map(|thread| self.next_event(thread));
        let mut choices: Vec<u32> = events.filter(|&event| self.is_enabled(event)).collect();
        let comes_first = |event| order == TrialOrder::NeededFirst && self.closure.runs(event);
        choices.sort_unstable_by_key(|&event| (comes_first(event), std::cmp::Reverse(event)));
        choices
    }

    fn is_goal(&self) -> bool {
        self.next_are_due() && self.window.goal_ran().all(|event| self.has_run(event))
    }

    /// Whether the events that are to come next in the end do so now.
    fn next_are_due(&self) -> bool {
        self.window.next.iter().all(|&event| {
            let thread = self.window.thread[event as usize] as usize;
            self.next[thread] == self.window.place[event as usize] && self.needs_have_run(event)
        })
    }

    fn has_run(&self, event: u32) -> bool {
        self.window.place[event as usize] < self.next[self.window.thread[event as usize] as usize]
    }

    fn needs_have_run(&self, event: u32) -> bool {
        self.window.needs(event).iter().all(|&need| self.has_run(need))
    }

    /// Whether all that the closure knows to come before the event has run.
    fn is_in_order(&self, event: u32) -> bool {
        let own = self.window.thread[event as usize] as usize;
        let in_order = |(thread, (known, next)): (usize, (&u32, &u32))| thread == own || known <= next;
        !self.closure.runs(event)
            || self.closure.known(event).iter().zip(&self.next).enumerate().all(in_order)
    }

    /// Whether the event, the next one of its thread, can run now.
    fn is_enabled(&self, event: u32) -> bool {
        self.needs_have_run(event)
            && self.is_in_order(event)
            && !self.is_misled(event)
            && self.is_object_ready(event)
            && self.is_memory_there(event)
    }

    /// Whether the event would have to see something else than is there.
    fn is_misled(&self, event: u32) -> bool {
        let thread = self.window.thread[event as usize] as usize;
        match self.window.op(event).access() {
            _ if self.deviated[thread] && self.shape.stops_deviated(self.window.op(event)) => true,
            None => false,
            Some(access) => {
                access.kind.reads()
                    && self.shape.is_pinned(event, self.closure)
                    && !self.sees_what_it_saw(event)
            }
        }
    }

    fn is_object_ready(&self, event: u32) -> bool {
        let window = self.window;
        match self.subjects.of(event) {
            Subject::Nothing => true,
            Subject::WindowSection(number) => {
                let section = &window.sections[number as usize];
                let excludes = |&open: &u32| {
                    let open = &window.sections[open as usize];
                    open.lock == section.lock && open.excludes(section)
                };
                !self.open.iter().any(excludes)
            }
            Subject::Semaphore(number) => {
                !matches!(window.op(event), Op::SemWait(_)) || self.permits[number as usize] != Some(0)
            }
            Subject::Attempt(number) => {
                let attempt = &window.attempts[number as usize];
                let fails = |&open: &u32| {
                    let open = &window.sections[open as usize];
                    open.lock == attempt.lock && attempt.mode.excludes(open.mode)
                };
                self.open.iter().any(fails)
            }
        }
    }

    fn is_memory_there(&self, event: u32) -> bool {
        let variable = self.window.variable(event);
        variable.is_none_or(|variable| {
            variable.free == NONE || variable.free == event || !self.has_run(variable.free)
        })
    }

    fn sees_what_it_saw(&self, read: u32) -> bool {
        let content = self.content[self.window.var[read as usize] as usize];
        match self.window.domain(read) {
            Domain::Free => true,
            Domain::Entry => content == ENTRY,
            Domain::Write(write) => content == write,
            Domain::Group { entry, .. } if content == ENTRY => entry,
            Domain::Group { group, .. } => content < FOREIGN && self.shape.group_of(content) == group,
            // Only windows with an open border have these.
            Domain::Beyond { .. } => false,
        }
    }

    /// Runs the event.
    fn step(&mut self, event: u32) {
        self.steps += 1;
        let window = self.window;
        let (thread, var) = (window.thread[event as usize] as usize, window.var[event as usize]);
        let mut done = Done { event, content: NOTHING, deviated: self.deviated[thread], permits: None };
        self.next[thread] += 1;
        if let Some(access) = window.op(event).access() {
            done.content = self.content[var as usize];
            if access.kind.reads() && !self.sees_what_it_saw(event) {
                self.deviated[thread] = true;
            }
            if window.changes_memory(event) {
                self.content[var as usize] = if self.deviated[thread] { FOREIGN } else { event };
            }
        }
        match self.subjects.of(event) {
            Subject::WindowSection(section) => self.open.push(section),
            Subject::Semaphore(number) => {
                let permits = &mut self.permits[number as usize];
                done.permits = *permits;
                *permits = permits_after(window.op(event), *permits);
            }
            Subject::Nothing | Subject::Attempt(_) => {}
        }
        if let Some(section) = window.section_ending(event) {
            self.open.retain(|&open| open != section);
        }
        self.done.push(done);
    }

    fn undo_to(&mut self, base: usize) {
        while self.done.len() > base
            && let Some(done) = self.done.pop()
        {
            self.undo(&done);
        }
    }

    /// Takes back the last event.
    fn undo(&mut self, done: &Done) {
        let window = self.window;
        let (event, thread) = (done.event, window.thread[done.event as usize] as usize);
        if let Some(section) = window.section_ending(event).filter(|&section| self.shape.is_held(section)) {
            self.open.push(section);
        }
        match self.subjects.of(event) {
            Subject::WindowSection(section) => self.open.retain(|&open| open != section),
            Subject::Semaphore(number) => self.permits[number as usize] = done.permits,
            Subject::Nothing | Subject::Attempt(_) => {}
        }
        if done.content != NOTHING {
            self.content[window.var[event as usize] as usize] = done.content;
        }
        self.deviated[thread] = done.deviated;
        self.next[thread] -= 1;
    }

    fn is_out_of_time(&self) -> bool {
        self.steps.is_multiple_of(EVENTS_AT_ONCE) && self.closure.is_out_of_time()
    }
}

/// Whether reads of this model are pinned as a whole: up to some event of their thread, all of them.
fn pins_as_a_whole(model: Model) -> bool {
    match model {
        Model::SameWrite | Model::SameValue | Model::ControlFlow => true,
        Model::Necessary | Model::Values => false,
    }
}
