//! Random well-formed traces of a few events, as text: small enough for exhaustive search, varied enough to find what a
//! person would not think of.
//!
//! Threads that take random steps are simulated. A step that cannot be taken in the present state is left out; critical
//! sections, waits and barriers may stay open at the end.

mod locks;
mod memory;
mod shape;
mod threads;
mod waiting;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use foretell_trace::Trace;

use crate::random::Random;
use memory::Variable;
pub use shape::{Features, Shape};
use shape::{OpKind, steps};
use threads::Thread;
use waiting::Semaphore;

/// A random trace in the text format; the same seed gives the same trace.
pub fn trace(seed: u64, shape: Shape) -> String {
    let mut world = World::new(seed, shape);
    // A thread that cannot take the step drawn for it takes none; so there are more draws than events.
    for _ in 0..20 * shape.events {
        if world.made >= shape.events {
            break;
        }
        world.step();
    }
    world.text
}

/// Calls `check` with the traces of `count` seeds, each of the shape that `shape` has for its seed; if the check fails,
/// seed and trace are printed.
///
/// # Panics
/// If the check does.
pub fn for_each(count: u64, shape: impl Fn(u64) -> Shape, check: impl FnMut(u64, &Trace)) {
    for_each_completed(count, shape, |_, trace| trace, check);
}

/// As [`for_each`], after `complete` has added to each trace what the text format has no words for.
///
/// # Panics
/// If the check does.
pub fn for_each_completed(
    count: u64,
    shape: impl Fn(u64) -> Shape,
    complete: impl Fn(u64, Trace) -> Trace,
    mut check: impl FnMut(u64, &Trace),
) {
    for seed in 0..count {
        let text = trace(seed, shape(seed));
        let completed = complete(seed, crate::trace(&text));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(seed, &completed))) {
            eprintln!("seed {seed}:\n{text}{:?}", completed.dependence());
            resume_unwind(panic);
        }
    }
}

/// The state of the simulated program.
struct World {
    random: Random,
    shape: Shape,
    /// What a thread draws its next step from.
    steps: Vec<OpKind>,
    threads: Vec<Thread>,
    locks: usize,
    /// Variables for plain accesses first, then as many for atomic ones.
    memory: Vec<Variable>,
    semaphore: Semaphore,
    /// The generation that the next arrival at the barrier belongs to.
    generation: usize,
    /// How many cross the barrier together, if always as many do.
    together: Option<usize>,
    text: String,
    made: usize,
}

impl World {
    fn new(seed: u64, shape: Shape) -> World {
        let mut random = Random::new(seed);
        let threads = threads::start(&mut random, shape.threads, shape.features.forks);
        let locks = 1 + random.below(shape.locks);
        let memory = vec![Variable::default(); 2 * (1 + random.below(shape.vars))];
        let together = shape.features.crowds.then(|| 1 + random.below(threads.len().min(3)));
        World {
            random,
            shape,
            steps: steps(shape.features, shape.decisive, shape.locking),
            threads,
            locks,
            memory,
            semaphore: Semaphore::default(),
            generation: 0,
            together,
            text: String::new(),
            made: 0,
        }
    }

    fn step(&mut self) {
        let thread = self.random.below(self.threads.len());
        let state = &self.threads[thread];
        if !state.running || state.ended {
            return self.fork_or_join(thread);
        }
        if state.waiting.is_some() {
            return self.return_from_wait(thread);
        }
        // A thread that has arrived may do other things before it departs.
        if state.inside.is_some() && !self.random.once_in(4) {
            return self.depart(thread);
        }
        if self.shape.features.forks && !self.threads[thread].known && self.random.once_in(3) {
            return self.event(thread, "begin");
        }
        match *self.random.pick(&self.steps) {
            OpKind::Access => self.access(thread),
            OpKind::Atomic => self.atomic(thread),
            OpKind::Fence => self.fence(thread),
            OpKind::Heap => self.heap(thread),
            OpKind::Branch => self.event(thread, "branch"),
            OpKind::Acquire => self.acquire(thread),
            OpKind::AcquireShared => self.acquire_shared(thread),
            OpKind::Release => self.release(thread),
            OpKind::Attempt => self.attempt(thread),
            OpKind::Semaphore => self.semaphore(thread),
            OpKind::Wait => self.wait(thread),
            OpKind::Notify => self.notify(thread),
            OpKind::Arrive => self.arrive(thread),
            OpKind::End => self.end(thread),
            OpKind::Join => self.join_any(thread),
        }
    }

    fn event(&mut self, thread: usize, op: impl std::fmt::Display) {
        self.made += 1;
        self.threads[thread].known = true;
        let location = match self.shape.locations {
            Some(count) => self.random.below(count),
            None => self.made,
        };
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "t{thread}|{op}|{location}");
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::Op;

    use super::*;

    const EVERYTHING: Features =
        Features { values: true, unexplained: true, branches: true, ..Features::ALL };

    #[test]
    fn all_traces_are_well_formed() {
        for features in [Features::MUTEXES, Features::BASIC, Features::SEQUENTIAL, Features::ALL, EVERYTHING]
        {
            for (events, count) in [(14, 2000), (50, 500), (500, 20)] {
                for_each(
                    count,
                    |_| Shape::new(features, events),
                    |_, trace| assert!(trace.events().len() <= events),
                );
            }
        }
    }

    #[test]
    fn most_traces_are_as_long_as_asked_for() {
        let mut long = 0;
        for_each(
            1000,
            |_| Shape::new(EVERYTHING, 50),
            |_, trace| long += usize::from(trace.events().len() == 50),
        );
        assert!(long > 900, "{long}");
    }

    #[test]
    fn every_operation_comes_up() {
        let all: String = (0..3000).map(|seed| trace(seed, Shape::new(EVERYTHING, 14))).collect();
        for op in
            "r( w( acq( rel( racq( rrel( tryfail( rtryfail( try( rtry( fork( join( begin end branch sem( p( v( wait( \
                   woken( timeout( notify( notifyall( arrive( depart( aload astore rmw fence alloc( free("
                .split_whitespace()
        {
            assert!(all.contains(&format!("|{op}")), "{op} never comes up");
        }
    }

    /// What the names of operations do not show.
    #[test]
    fn every_kind_of_event_comes_up() {
        type Kind = (&'static str, fn(&Op) -> bool);
        const KINDS: [Kind; 5] = [
            ("nested acquires", |op| matches!(op, Op::AcquireAgain(_))),
            ("nested shared acquires", |op| matches!(op, Op::AcquireSharedAgain(_))),
            ("an update with values", |op| matches!(op, Op::Rmw { read: Some(_), .. })),
            ("a read without value", |op| matches!(op, Op::Read { value: None, .. })),
            ("a write with value", |op| matches!(op, Op::Write { value: Some(_), .. })),
        ];
        let (mut counts, mut unexplained) = ([0; 5], 0);
        let shape = |seed| Shape::new(Features { values: seed % 2 == 0, ..EVERYTHING }, 14);
        for_each(3000, shape, |_, trace| {
            for event in trace.events() {
                unexplained += usize::from(event.unexplained);
                for (count, (_, is)) in counts.iter_mut().zip(KINDS) {
                    *count += usize::from(is(&event.op));
                }
            }
        });
        assert!(unexplained > 100, "{unexplained}");
        for (count, (name, _)) in counts.iter().zip(KINDS) {
            assert!(*count > 20, "{name}: {count}");
        }
    }

    /// A thread that holds a lock in one mode acquires it in the other as well.
    #[test]
    fn locks_are_upgraded_and_downgraded() {
        let all: Vec<String> =
            (0..3000).map(|seed| trace(seed, Shape::new(Features::SEQUENTIAL, 14))).collect();
        for pair in ["t0|racq(l0)|1\nt0|acq(l0)|2\n", "t0|acq(l0)|1\nt0|racq(l0)|2\n"] {
            assert!(all.iter().any(|text| text.contains(pair)), "{pair}");
        }
    }
}
