//! Windows of a busy program, with values and branches: what exact prediction has to decide, at realistic sizes.
//!
//! Threads run in bursts. Most of what they do is right: shared variables are read and counted up under their lock,
//! sometimes in a section inside another (always in the order of the locks, so there is no deadlock); data is handed
//! over by a flag. Some of it is not: a few variables have no lock, and now and then a lock is left out. Values are
//! small, so that a read often finds its value with several writers.
//!
//! Like a window of a longer trace, it is cut after the last event, whatever is open then.

mod plan;

use std::collections::VecDeque;

use crate::random::Random;
use crate::script::Script;
use plan::{Layout, PlannedOp};

/// What the trace looks like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many events.
    pub events: usize,
    /// How many threads. The first forks one half of the others at once, the rest after a third of the trace.
    pub threads: usize,
    /// How many locks.
    pub locks: usize,
    /// How many variables belong to each lock.
    pub vars_per_lock: usize,
    /// How many variables are accessed without any lock.
    pub racy_vars: usize,
    /// How many pairs of flag and data there are.
    pub channels: usize,
    /// A thread takes up to so many steps before another has its turn.
    pub burst: usize,
    /// Which of the many traces of this shape.
    pub seed: u64,
}

impl Shape {
    /// The shape that measurements of exact prediction speak of: 8 threads, a lock for every 100 events (2 to 20), 3
    /// variables to a lock, and a few without.
    pub fn standard(events: usize) -> Shape {
        Shape {
            events,
            threads: 8,
            locks: (events / 100).clamp(2, 20),
            vars_per_lock: 3,
            racy_vars: 4 + events / 500,
            channels: 2 + events / 2000,
            burst: 20,
            seed: 1,
        }
    }
}

/// The trace of this shape.
pub fn trace(shape: Shape) -> Script {
    Run::new(shape).finish()
}

/// Where a thread is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Unborn,
    Running,
    Ended,
}

/// A thread and what it has decided to do next.
#[derive(Debug)]
struct Worker {
    life: Life,
    plan: VecDeque<PlannedOp>,
}

/// A run in progress.
struct Run {
    shape: Shape,
    layout: Layout,
    random: Random,
    script: Script,
    workers: Vec<Worker>,
    /// Whether each lock is taken.
    taken: Vec<bool>,
    /// Whether the threads that come late were forked.
    late_forked: bool,
    /// Whether the thread that ends early was joined.
    joined: bool,
}

/// The thread that ends after two thirds of the trace, where there are enough to go on without it.
const LEAVER: usize = 1;

impl Run {
    fn new(shape: Shape) -> Run {
        let layout = Layout::new(shape);
        let mut workers: Vec<Worker> =
            (0..shape.threads).map(|_| Worker { life: Life::Unborn, plan: VecDeque::new() }).collect();
        workers[0].life = Life::Running;
        workers[0].plan.extend((1..=shape.threads / 2).map(PlannedOp::Fork));
        Run {
            shape,
            layout,
            random: Random::new(shape.seed),
            script: Script::new(shape.threads, shape.locks, layout.vars()),
            workers,
            taken: vec![false; shape.locks],
            late_forked: false,
            joined: false,
        }
    }

    fn finish(mut self) -> Script {
        while self.script.len() < self.shape.events {
            let thread = self.random.below(self.shape.threads);
            let steps = 1 + self.random.below(self.shape.burst);
            self.burst(thread, steps);
        }
        self.script
    }

    /// Lets the thread go on until it has done so many steps, must wait, or has ended.
    fn burst(&mut self, thread: usize, steps: usize) {
        for _ in 0..steps {
            if self.workers[thread].life != Life::Running || self.script.len() >= self.shape.events {
                return;
            }
            let Some(step) = self.next_step(thread) else { return };
            if !self.take(thread, step) {
                self.workers[thread].plan.push_front(step);
                return;
            }
        }
    }

    fn next_step(&mut self, thread: usize) -> Option<PlannedOp> {
        if self.workers[thread].plan.is_empty() {
            let plan = match self.due(thread) {
                Some(steps) => steps,
                None => self.layout.plan(&mut self.random),
            };
            self.workers[thread].plan.extend(plan);
        }
        self.workers[thread].plan.pop_front()
    }

    /// What the thread must do at this point of the trace besides its work.
    fn due(&mut self, thread: usize) -> Option<Vec<PlannedOp>> {
        let (made, events) = (self.script.len(), self.shape.events);
        let leaver = self.workers.get(LEAVER).map(|worker| worker.life);
        if thread == 0 && !self.late_forked && made > events / 3 {
            self.late_forked = true;
            return Some((self.shape.threads / 2 + 1..self.shape.threads).map(PlannedOp::Fork).collect());
        }
        if thread == LEAVER && self.shape.threads > 3 && made > 2 * events / 3 {
            return Some(vec![PlannedOp::End]);
        }
        if thread == 0 && !self.joined && leaver == Some(Life::Ended) {
            self.joined = true;
            return Some(vec![PlannedOp::Join(LEAVER)]);
        }
        None
    }

    /// Takes the step; `false` if it has to wait.
    fn take(&mut self, thread: usize, step: PlannedOp) -> bool {
        match step {
            PlannedOp::Acquire(lock) if self.taken[lock] => return false,
            PlannedOp::Acquire(lock) => {
                self.taken[lock] = true;
                self.script.acquire(thread, lock);
            }
            PlannedOp::Release(lock) => {
                self.taken[lock] = false;
                self.script.release(thread, lock);
            }
            PlannedOp::Read(var) => self.script.read(thread, var),
            PlannedOp::Write(var, value) => self.script.write(thread, var, value),
            PlannedOp::Increment(var) => self.increment(thread, var),
            PlannedOp::Branch => self.script.branch(thread),
            PlannedOp::Consume { flag, data } => self.consume(thread, flag, data),
            PlannedOp::Fork(child) => {
                self.workers[child].life = Life::Running;
                self.workers[child].plan.push_back(PlannedOp::Begin);
                self.script.fork(thread, child);
            }
            PlannedOp::Join(child) => self.script.join(thread, child),
            PlannedOp::Begin => self.script.begin(thread),
            PlannedOp::End => {
                self.workers[thread].life = Life::Ended;
                self.script.end(thread);
            }
        }
        true
    }

    /// Reads a counter; what will be written is settled by what was read, sometimes after a look at it.
    fn increment(&mut self, thread: usize, var: usize) {
        let next = (self.script.content(var) + 1) % plan::COUNTER_VALUES;
        self.script.read(thread, var);
        self.workers[thread].plan.push_front(PlannedOp::Write(var, next));
        if self.random.once_in(3) {
            self.workers[thread].plan.push_front(PlannedOp::Branch);
        }
    }

    /// Looks whether there is data, and takes it if so.
    fn consume(&mut self, thread: usize, flag: usize, data: usize) {
        let ready = self.script.content(flag) == 1;
        self.script.read(thread, flag);
        let plan = &mut self.workers[thread].plan;
        if ready {
            plan.push_front(PlannedOp::Write(flag, 0));
            if self.random.once_in(3) {
                plan.push_front(PlannedOp::Branch);
            }
            plan.push_front(PlannedOp::Read(data));
        }
        plan.push_front(PlannedOp::Branch);
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::{Op, Trace};

    use super::*;

    fn standard(events: usize, seed: u64) -> Trace {
        Trace::read(Box::new(trace(Shape { seed, ..Shape::standard(events) }))).unwrap()
    }

    #[test]
    fn windows_are_well_formed_and_every_read_is_explained() {
        for events in [50, 200, 500, 1000, 20_000] {
            for seed in 0..20 {
                let trace = standard(events, seed);
                assert_eq!(trace.events().len(), events);
                assert_eq!(trace.thread_count(), 8);
                assert!(trace.events().iter().all(|event| !event.unexplained));
                let shows = |op: Op| op.value_read().or(op.value_written()).is_some();
                assert!(trace.events().iter().all(|event| event.op.access().is_none() || shows(event.op)));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_trace() {
        assert_eq!(standard(1000, 7).events(), standard(1000, 7).events());
        assert_ne!(standard(1000, 7).events(), standard(1000, 8).events());
    }

    /// How often each thread of the trace does one event right after another.
    fn successions(trace: &Trace, wanted: impl Fn(Op, Op) -> bool) -> usize {
        let mut last = vec![None; trace.thread_count()];
        let mut count = 0;
        for event in trace.events() {
            let before = last[event.thread.index()].replace(event.op);
            count += usize::from(before.is_some_and(|before| wanted(before, event.op)));
        }
        count
    }

    #[test]
    fn all_patterns_come_up() {
        type Pattern = (&'static str, fn(Op, Op) -> bool);
        const PATTERNS: [Pattern; 9] = [
            ("a decision right after a read", |a, b| matches!((a, b), (Op::Read { .. }, Op::Branch))),
            ("an increment", |a, b| match (a, b) {
                (Op::Read { var, .. }, Op::Write { var: same, .. }) => var == same,
                _ => false,
            }),
            ("a section inside another", |a, b| !matches!(a, Op::Release(_)) && matches!(b, Op::Acquire(_))),
            ("one release after another", |a, b| matches!((a, b), (Op::Release(_), Op::Release(_)))),
            ("data, then its flag", |a, b| match (a, b) {
                (Op::Write { var: data, .. }, Op::Write { var: flag, .. }) => {
                    data.index() == flag.index() + 1
                }
                _ => false,
            }),
            ("a decision, then the data", |a, b| matches!((a, b), (Op::Branch, Op::Read { .. }))),
            ("a thread that begins", |a, _| a == Op::Begin),
            ("a thread that ends", |_, b| b == Op::End),
            ("a join", |_, b| matches!(b, Op::Join(_))),
        ];
        for seed in 0..5 {
            let trace = standard(2000, seed);
            for (name, pattern) in PATTERNS {
                assert!(successions(&trace, pattern) > 0, "seed {seed}: never {name}");
            }
        }
    }

    #[test]
    fn some_threads_come_late_and_one_leaves_early() {
        let trace = standard(3000, 1);
        let forks = trace.iter().filter(|(_, event)| matches!(event.op, Op::Fork(_)));
        let forks: Vec<usize> = forks.map(|(id, _)| id.index()).collect();
        assert_eq!(forks.len(), 7);
        assert_eq!(forks.iter().filter(|&&index| index > 1000).count(), 3);
        let end = trace.iter().find(|(_, event)| event.op == Op::End).unwrap().0;
        assert!(end.index() > 2000);
    }

    #[test]
    fn some_variables_are_accessed_with_and_without_their_lock() {
        let trace = standard(2000, 1);
        let mut depth = [0usize; 8];
        let (mut locked, mut bare) = (vec![0; 100], vec![0; 100]);
        for event in trace.events() {
            let thread = event.thread.index();
            match event.op {
                Op::Acquire(_) => depth[thread] += 1,
                Op::Release(_) => depth[thread] -= 1,
                op => {
                    let Some(access) = op.access() else { continue };
                    let counts = if depth[thread] > 0 { &mut locked } else { &mut bare };
                    counts[access.var.index()] += 1;
                }
            }
        }
        let shape = Shape::standard(2000);
        let protected = shape.locks * shape.vars_per_lock;
        let forgotten = (0..protected).filter(|&var| bare[var] > 0).count();
        assert!(forgotten > 10, "{forgotten}");
        assert!((0..protected).all(|var| locked[var] > bare[var]));
        assert!(bare[protected..].iter().sum::<usize>() > 100);
    }
}
