//! Long traces of threads that touch each variable under its lock, but for the occasional slip.

use foretell_trace::source::BATCH;
use foretell_trace::symbol::Symbol;
use foretell_trace::{Batch, Event, Loc, LockId, Names, Op, Source, ThreadId, TraceError, Value, VarId};

use crate::random::Random;

/// What the trace looks like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many events, give or take the last few sections.
    pub events: usize,
    /// How many threads, one of which forks and joins the others.
    pub threads: usize,
    /// How many locks.
    pub locks: usize,
    /// How many variables; each belongs to one lock.
    pub vars: usize,
    /// One access in this many is made without the lock.
    pub slip: usize,
    /// Whether accesses show values.
    pub values: bool,
    /// Whether every event has a location of its own. Otherwise a variable has four: read or write, locked or not.
    pub own_locations: bool,
    /// Which of the many traces of this shape.
    pub seed: u64,
}

impl Shape {
    /// The shape that the project's speed targets speak of: 10 threads, 50 locks, 1000 variables, 1 slip in 2000.
    pub fn standard(events: usize) -> Shape {
        Shape {
            events,
            threads: 10,
            locks: 50,
            vars: 1000,
            slip: 2000,
            values: false,
            own_locations: false,
            seed: 1,
        }
    }
}

/// A stream of events of the given shape.
pub struct LockedTrace {
    shape: Shape,
    random: Random,
    names: Names,
    threads: Vec<Worker>,
    /// The holder of each lock.
    owners: Vec<Option<usize>>,
    /// The last value written to each variable.
    memory: Vec<u32>,
    made: usize,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The first thread forks the others; this one is next.
    Forking(usize),
    Running,
    /// Sections are closed, none is opened.
    Draining,
    /// The first thread joins the others; this one is next.
    Joining(usize),
    Done,
}

#[derive(Clone, Copy, Debug, Default)]
struct Worker {
    /// The lock that the thread holds, and how many accesses it will still make under it.
    section: Option<(usize, usize)>,
}

impl LockedTrace {
    /// The beginning of the trace.
    pub fn new(shape: Shape) -> LockedTrace {
        // Ids are given in the order of the names, so the id with index 7 is that of `T7`, `L7` or `V7`. There are far
        // fewer than can be numbered.
        let mut names = Names::default();
        for number in 0..shape.threads {
            let _ = names.threads.intern(format!("T{number}").as_bytes());
        }
        for number in 0..shape.locks {
            let _ = names.locks.intern(format!("L{number}").as_bytes());
        }
        for number in 0..shape.vars {
            let _ = names.vars.intern(format!("V{number}").as_bytes());
        }
        LockedTrace {
            shape,
            random: Random::new(shape.seed),
            names,
            threads: vec![Worker::default(); shape.threads],
            owners: vec![None; shape.locks],
            memory: vec![0; shape.vars],
            made: 0,
            phase: Phase::Forking(1),
        }
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            match self.phase {
                Phase::Forking(child) if child < self.shape.threads => {
                    self.phase = Phase::Forking(child + 1);
                    return self.event(0, Op::Fork(ThreadId::from_index(child)?), 0);
                }
                Phase::Forking(_) => self.phase = Phase::Running,
                Phase::Running if self.made >= self.shape.events => self.phase = Phase::Draining,
                Phase::Running => {
                    let thread = self.random.below(self.shape.threads);
                    if let Some(event) = self.step(thread) {
                        return Some(event);
                    }
                }
                Phase::Draining => match self.threads.iter().position(|worker| worker.section.is_some()) {
                    Some(thread) => return self.close(thread),
                    None => self.phase = Phase::Joining(1),
                },
                Phase::Joining(child) if child < self.shape.threads => {
                    self.phase = Phase::Joining(child + 1);
                    return self.event(0, Op::Join(ThreadId::from_index(child)?), 1);
                }
                Phase::Joining(_) => self.phase = Phase::Done,
                Phase::Done => return None,
            }
        }
    }

    /// The next event of `thread`, unless the lock that it wants is taken.
    fn step(&mut self, thread: usize) -> Option<Event> {
        match self.threads[thread].section {
            Some((_, 0)) => self.close(thread),
            Some((lock, left)) => {
                self.threads[thread].section = Some((lock, left - 1));
                let var = self.var_of(lock);
                self.access(thread, var, false)
            }
            None => {
                let lock = self.random.below(self.shape.locks);
                if self.random.once_in((self.shape.slip / 3).max(1)) {
                    let var = self.var_of(lock);
                    return self.access(thread, var, true);
                }
                if self.owners[lock].is_some() {
                    return None;
                }
                self.owners[lock] = Some(thread);
                self.threads[thread].section = Some((lock, 1 + self.random.below(5)));
                self.event(thread, Op::Acquire(LockId::from_index(lock)?), 2)
            }
        }
    }

    fn close(&mut self, thread: usize) -> Option<Event> {
        let (lock, _) = self.threads[thread].section.take()?;
        self.owners[lock] = None;
        self.event(thread, Op::Release(LockId::from_index(lock)?), 3)
    }

    fn var_of(&mut self, lock: usize) -> usize {
        let per_lock = (self.shape.vars / self.shape.locks).max(1);
        (lock + self.shape.locks * self.random.below(per_lock)) % self.shape.vars
    }

    fn access(&mut self, thread: usize, index: usize, slip: bool) -> Option<Event> {
        let var = VarId::from_index(index)?;
        let writes = self.random.once_in(2);
        if writes {
            self.memory[index] = self.memory[index].wrapping_add(1) % 1000;
        }
        let value = Symbol::number(self.memory[index]).map(Value).filter(|_| self.shape.values);
        let op = if writes { Op::Write { var, value } } else { Op::Read { var, value } };
        let location = 4 + 4 * index + 2 * usize::from(slip) + usize::from(writes);
        self.event(thread, op, location)
    }

    fn event(&mut self, thread: usize, op: Op, location: usize) -> Option<Event> {
        self.made += 1;
        let location = if self.shape.own_locations { self.made } else { location };
        let loc = Loc(Symbol::number(u32::try_from(location).ok()?)?);
        Some(Event::new(ThreadId::from_index(thread)?, op, loc))
    }
}

impl Source for LockedTrace {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        while batch.events.len() < BATCH {
            let Some(event) = self.next() else { break };
            batch.events.push(event);
        }
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::Trace;

    use super::*;

    #[test]
    fn the_trace_is_well_formed_and_as_long_as_asked_for() {
        let shape = Shape { values: true, ..Shape::standard(20_000) };
        let trace = Trace::read(Box::new(LockedTrace::new(shape))).unwrap();
        assert!((20_000..20_100).contains(&trace.events().len()));
        assert_eq!(trace.thread_count(), 10);
        assert!(trace.events().iter().all(|event| !event.unexplained));
    }

    #[test]
    fn slips_are_as_rare_as_asked_for() {
        let trace = Trace::read(Box::new(LockedTrace::new(Shape::standard(400_000)))).unwrap();
        let accesses = trace.events().iter().filter(|event| event.op.access().is_some()).count();
        let mut held = [false; 10];
        let mut slips = 0;
        for event in trace.events() {
            match event.op {
                Op::Acquire(_) => held[event.thread.index()] = true,
                Op::Release(_) => held[event.thread.index()] = false,
                op => slips += usize::from(op.access().is_some() && !held[event.thread.index()]),
            }
        }
        let one_in = accesses / slips;
        assert!((1500..2500).contains(&one_in), "one slip in {one_in}");
    }
}
