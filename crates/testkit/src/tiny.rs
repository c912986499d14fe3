//! Random well-formed traces of a few events, as text: small enough for exhaustive search, varied enough to find what a
//! person would not think of.

use std::fmt::Write as _;

use crate::random::Random;

/// What may appear in a trace besides plain accesses and mutexes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// Values on all accesses.
    pub values: bool,
    /// Branches.
    pub branches: bool,
    /// Threads that are forked and joined, instead of being there from the start.
    pub forks: bool,
    /// Read-write locks and failed attempts to lock.
    pub shared_locks: bool,
    /// Semaphores, conditions and barriers.
    pub waiting: bool,
    /// Atomic accesses in all memory orders.
    pub atomics: bool,
    /// Events that share locations, as in loops; otherwise each has its own.
    pub few_locations: bool,
}

impl Features {
    /// Plain accesses, mutexes, forks and joins.
    pub const BASIC: Features = Features {
        values: false,
        branches: false,
        forks: true,
        shared_locks: false,
        waiting: false,
        atomics: false,
        few_locations: false,
    };

    /// Everything but atomics.
    pub const SEQUENTIAL: Features = Features { shared_locks: true, waiting: true, ..Features::BASIC };

    /// Everything but values and branches.
    pub const ALL: Features = Features { atomics: true, ..Features::SEQUENTIAL };
}

/// A random trace in the text format; the same seed gives the same trace.
pub fn trace(seed: u64, features: Features, events: usize) -> String {
    let mut world = World::new(seed, features);
    // A thread that cannot take the step drawn for it takes none; so there are more draws than events.
    for _ in 0..20 * events {
        if world.made >= events {
            break;
        }
        world.step();
    }
    world.text
}

const MAIN: usize = 0;

struct World {
    random: Random,
    features: Features,
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    memory: Vec<u32>,
    permits: u32,
    /// Arrivals of the open generation, and departures that the closed one has still to make.
    barrier: (Vec<usize>, Vec<usize>),
    notified: Vec<usize>,
    text: String,
    made: usize,
}

#[derive(Default)]
struct Thread {
    running: bool,
    ended: bool,
    held: Vec<usize>,
    shared: Vec<usize>,
    waiting: Option<usize>,
    at_barrier: bool,
}

#[derive(Default)]
struct Lock {
    writer: Option<usize>,
    readers: usize,
}

impl World {
    fn new(seed: u64, features: Features) -> World {
        let mut random = Random::new(seed);
        let count = 2 + random.below(3);
        let threads = (0..count)
            .map(|index| Thread {
                running: index == MAIN || !features.forks || random.once_in(3),
                ..Thread::default()
            })
            .collect();
        let locks = (0..1 + random.below(3)).map(|_| Lock::default()).collect();
        let memory = vec![0; 1 + random.below(3)];
        World {
            random,
            features,
            threads,
            locks,
            memory,
            permits: 0,
            barrier: (Vec::new(), Vec::new()),
            notified: Vec::new(),
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
        if state.at_barrier {
            return self.depart(thread);
        }
        match self.random.below(13) {
            0..=4 => self.access(thread),
            5..=6 => self.acquire(thread),
            7..=8 => self.release(thread),
            9 if self.features.branches => self.event(thread, "branch"),
            9 | 10 if self.features.waiting => self.wait_for_something(thread),
            11 if self.features.shared_locks => self.shared(thread),
            12 if self.features.forks && thread != MAIN && self.random.once_in(3) => self.end(thread),
            _ => self.access(thread),
        }
    }

    fn event(&mut self, thread: usize, op: impl std::fmt::Display) {
        self.made += 1;
        let location = if self.features.few_locations { self.made % 4 } else { self.made };
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "t{thread}|{op}|{location}");
    }

    fn access(&mut self, thread: usize) {
        let var = self.random.below(self.memory.len());
        let writes = self.random.once_in(2);
        if writes {
            self.memory[var] = u32::from(self.random.once_in(2)) + 1;
        }
        let value = if self.features.values { format!(",{}", self.memory[var]) } else { String::new() };
        if self.features.atomics && self.random.once_in(3) {
            return self.atomic(thread, var, writes);
        }
        let op = if writes { 'w' } else { 'r' };
        self.event(thread, format_args!("{op}(x{var}{value})"));
    }

    /// On variables of their own, since programs seldom mix; but sometimes they do.
    fn atomic(&mut self, thread: usize, var: usize, writes: bool) {
        let var = if self.random.once_in(4) { format!("x{var}") } else { format!("a{var}") };
        let order = *self.random.pick(&["", ".rlx", ".acq", ".rel", ".acqrel", ".rlx"]);
        if self.random.once_in(5) {
            return self.event(thread, format_args!("fence{}", if order == ".rlx" { "" } else { order }));
        }
        let op = match (writes, self.random.once_in(3)) {
            (_, true) => "rmw",
            (true, _) => "astore",
            (false, _) => "aload",
        };
        self.event(thread, format_args!("{op}{order}({var})"));
    }

    fn acquire(&mut self, thread: usize) {
        let lock = self.random.below(self.locks.len());
        let free =
            self.locks[lock].readers == 0 && self.locks[lock].writer.is_none_or(|owner| owner == thread);
        // Nested too deeply, small traces would consist of nothing else.
        if free && self.threads[thread].held.len() < 3 {
            self.locks[lock].writer = Some(thread);
            self.threads[thread].held.push(lock);
            self.event(thread, format_args!("acq(l{lock})"));
        } else if !free && self.features.shared_locks && self.random.once_in(3) {
            self.event(thread, format_args!("tryfail(l{lock})"));
        }
    }

    fn release(&mut self, thread: usize) {
        let held = &self.threads[thread].held;
        if held.is_empty() {
            return;
        }
        // Locks need not be released in the reverse order.
        let position = if self.random.once_in(4) { self.random.below(held.len()) } else { held.len() - 1 };
        let lock = self.threads[thread].held.remove(position);
        if !self.threads[thread].held.contains(&lock) {
            self.locks[lock].writer = None;
        }
        self.event(thread, format_args!("rel(l{lock})"));
    }

    fn shared(&mut self, thread: usize) {
        if let Some(lock) = self.threads[thread].shared.pop() {
            self.locks[lock].readers -= 1;
            return self.event(thread, format_args!("rrel(l{lock})"));
        }
        let lock = self.random.below(self.locks.len());
        if self.locks[lock].writer.is_none() {
            self.locks[lock].readers += 1;
            self.threads[thread].shared.push(lock);
            self.event(thread, format_args!("racq(l{lock})"));
        }
    }

    fn wait_for_something(&mut self, thread: usize) {
        match self.random.below(5) {
            0 => {
                self.permits += 1;
                self.event(thread, "v(s)");
            }
            1 if self.permits > 0 => {
                self.permits -= 1;
                self.event(thread, "p(s)");
            }
            2 => {
                let waiting = self.threads.iter().position(|other| other.waiting.is_some());
                self.notified.extend(waiting.filter(|thread| !self.notified.contains(thread)));
                self.event(thread, "notify(c)");
            }
            3 if self.threads[thread].held.len() == 1 => {
                let lock = self.threads[thread].held.remove(0);
                self.locks[lock].writer = None;
                self.threads[thread].waiting = Some(lock);
                self.event(thread, format_args!("wait(c,l{lock})"));
            }
            _ if self.barrier.1.is_empty() && self.threads[thread].held.is_empty() => {
                self.threads[thread].at_barrier = true;
                self.barrier.0.push(thread);
                self.event(thread, "arrive(b)");
            }
            _ => {}
        }
    }

    fn return_from_wait(&mut self, thread: usize) {
        let Some(lock) = self.threads[thread].waiting else { return };
        if self.locks[lock].writer.is_some() || self.locks[lock].readers > 0 {
            return;
        }
        let notified = self.notified.iter().position(|&other| other == thread);
        if notified.is_none() && !self.random.once_in(4) {
            return;
        }
        notified.map(|position| self.notified.remove(position));
        self.threads[thread].waiting = None;
        self.threads[thread].held.push(lock);
        self.locks[lock].writer = Some(thread);
        let op = if notified.is_some() { "woken" } else { "timeout" };
        self.event(thread, format_args!("{op}(c,l{lock})"));
    }

    fn depart(&mut self, thread: usize) {
        let (arrived, leaving) = &mut self.barrier;
        if leaving.is_empty() && arrived.len() >= 2 {
            *leaving = std::mem::take(arrived);
        }
        let Some(position) = leaving.iter().position(|&other| other == thread) else { return };
        leaving.remove(position);
        self.threads[thread].at_barrier = false;
        self.event(thread, "depart(b)");
    }

    fn fork_or_join(&mut self, thread: usize) {
        let parents: Vec<usize> = (0..self.threads.len()).filter(|&other| self.is_free(other)).collect();
        if parents.is_empty() {
            return;
        }
        let parent = *self.random.pick(&parents);
        if !self.threads[thread].running {
            self.threads[thread].running = true;
            self.event(parent, format_args!("fork(t{thread})"));
        } else if self.random.once_in(2) {
            self.event(parent, format_args!("join(t{thread})"));
        }
    }

    fn is_free(&self, thread: usize) -> bool {
        let state = &self.threads[thread];
        state.running && !state.ended && state.waiting.is_none() && !state.at_barrier
    }

    fn end(&mut self, thread: usize) {
        let state = &self.threads[thread];
        if state.held.is_empty() && state.shared.is_empty() {
            self.threads[thread].ended = true;
            self.event(thread, "end");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_traces_are_well_formed() {
        let everything = Features { values: true, branches: true, ..Features::ALL };
        for features in
            [Features::default(), Features::BASIC, Features::SEQUENTIAL, Features::ALL, everything]
        {
            for seed in 0..2000 {
                let text = trace(seed, features, 14);
                assert!(!text.is_empty());
                crate::trace(&text);
            }
        }
    }

    #[test]
    fn every_operation_comes_up() {
        let everything = Features { branches: true, ..Features::ALL };
        let all: String = (0..3000).map(|seed| trace(seed, everything, 14)).collect();
        for op in
            "r( w( acq( rel( racq( rrel( tryfail( fork( join( end branch p( v( wait( woken( timeout( notify( \
                   arrive( depart( aload astore rmw fence"
                .split_whitespace()
        {
            assert!(all.contains(&format!("|{op}")), "{op} never comes up");
        }
    }
}
