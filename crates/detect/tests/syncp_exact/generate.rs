//! Random well-formed traces in the text format: threads are simulated, so that locks, waits and barriers are respected.

use std::fmt::Write;

/// Marsaglia's xorshift; small, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % limit as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Which operations a trace is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operations {
    /// Plain accesses, locks, forks and joins.
    Basic,
    /// All that there are.
    All,
}

/// How large a trace may become at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) operations: Operations,
    pub(crate) events: usize,
    pub(crate) locks: usize,
    pub(crate) vars: usize,
}

#[derive(Clone, Default)]
struct Thread {
    running: bool,
    forked_later: bool,
    joined: bool,
    events: usize,
    /// Exclusive and shared locks held, in the order of their acquires.
    held: Vec<(usize, bool)>,
    /// The lock to take again after waiting, and whether a notification came.
    waiting: Option<(usize, bool)>,
    /// The barrier's generation that the thread is in.
    inside: Option<usize>,
}

struct Simulation {
    random: Random,
    threads: Vec<Thread>,
    locks: usize,
    vars: usize,
    permits: usize,
    generation: usize,
    freed: Vec<bool>,
    text: String,
    events: usize,
    /// How many locations there are; each event has its own if there are enough.
    locations: usize,
    shape: Shape,
}

/// A random trace.
pub(crate) fn trace(seed: u64, shape: Shape) -> String {
    let mut random = Random::new(seed);
    let count = 2 + random.below(3);
    let mut threads = vec![Thread::default(); count];
    for (index, thread) in threads.iter_mut().enumerate() {
        thread.forked_later = index > 0 && random.chance(30);
        thread.running = !thread.forked_later;
    }
    let (locks, vars) = (1 + random.below(shape.locks), 1 + random.below(shape.vars));
    let locations = [2, 5, 20, shape.events][random.below(4)];
    let mut simulation = Simulation {
        random,
        threads,
        locks,
        vars,
        permits: 0,
        generation: 0,
        freed: vec![false; vars],
        text: String::new(),
        events: 0,
        locations,
        shape,
    };
    let few = shape.events / 3;
    let target = few + simulation.random.below(shape.events - few) + 1;
    for _ in 0..20 * shape.events {
        if simulation.events == target {
            break;
        }
        simulation.step();
    }
    if simulation.events == 0 {
        simulation.emit(0, "w(x0)");
    }
    simulation.text
}

impl Simulation {
    fn emit(&mut self, thread: usize, op: &str) {
        let location =
            if self.locations < self.shape.events { self.random.below(self.locations) } else { self.events };
        writeln!(self.text, "t{thread}|{op}|{location}").unwrap();
        self.threads[thread].events += 1;
        self.events += 1;
    }

    fn step(&mut self) {
        let operations = self.shape.operations;
        let thread = self.random.below(self.threads.len());
        let state = &self.threads[thread];
        if !state.running || state.joined {
            return;
        }
        if state.waiting.is_some() {
            return self.wake(thread);
        }
        if state.inside.is_some() {
            return self.depart(thread);
        }
        match self.random.below(if operations == Operations::Basic { 12 } else { 24 }) {
            0..=3 => self.access(thread),
            4..=6 => self.acquire(thread),
            7..=9 => self.release(thread),
            10 => self.fork(thread),
            // In long traces, threads should live long.
            11 if self.random.below(self.shape.events) < 10 => self.join(thread),
            12..=13 => self.acquire_shared(thread),
            14..=15 => self.atomic(thread),
            16 => self.semaphore(thread),
            17..=18 => self.wait(thread),
            19..=20 => self.notify(thread),
            21 => self.try_lock(thread),
            22 => self.arrive(thread),
            23 => self.memory(thread),
            _ => {}
        }
    }

    fn var(&mut self) -> Option<usize> {
        let var = self.random.below(self.vars);
        (!self.freed[var]).then_some(var)
    }

    fn access(&mut self, thread: usize) {
        let Some(var) = self.var() else { return };
        let valued = self.shape.operations == Operations::All && self.random.chance(10);
        let op = if self.random.chance(50) { "r" } else { "w" };
        if valued {
            // Often a value that nobody wrote: an unexplained read.
            let value = self.random.below(2);
            self.emit(thread, &format!("{op}(x{var},{value})"));
        } else {
            self.emit(thread, &format!("{op}(x{var})"));
        }
    }

    fn atomic(&mut self, thread: usize) {
        let Some(var) = self.var() else { return };
        let op = ["aload", "astore", "rmw"][self.random.below(3)];
        self.emit(thread, &format!("{op}(x{var})"));
    }

    fn held_by_other(&self, thread: usize, lock: usize, exclusive_only: bool) -> bool {
        let excludes = |&(held, exclusive): &(usize, bool)| held == lock && (exclusive || !exclusive_only);
        self.threads
            .iter()
            .enumerate()
            .any(|(other, state)| other != thread && state.held.iter().any(excludes))
    }

    fn acquire(&mut self, thread: usize) {
        let lock = self.random.below(self.locks);
        if !self.held_by_other(thread, lock, false) {
            self.threads[thread].held.push((lock, true));
            self.emit(thread, &format!("acq(l{lock})"));
        }
    }

    fn acquire_shared(&mut self, thread: usize) {
        let lock = self.random.below(self.locks);
        if !self.held_by_other(thread, lock, true) {
            self.threads[thread].held.push((lock, false));
            self.emit(thread, &format!("racq(l{lock})"));
        }
    }

    fn release(&mut self, thread: usize) {
        let count = self.threads[thread].held.len();
        if count > 0 {
            let position = self.random.below(count);
            let (lock, exclusive) = self.threads[thread].held.remove(position);
            let op = if exclusive { "rel" } else { "rrel" };
            self.emit(thread, &format!("{op}(l{lock})"));
        }
    }

    fn try_lock(&mut self, thread: usize) {
        let lock = self.random.below(self.locks);
        if self.held_by_other(thread, lock, true) {
            self.emit(thread, &format!("rtryfail(l{lock})"));
        } else if self.held_by_other(thread, lock, false) {
            self.emit(thread, &format!("tryfail(l{lock})"));
        }
    }

    fn fork(&mut self, thread: usize) {
        let child = self.random.below(self.threads.len());
        if !self.threads[child].running {
            self.threads[child].running = true;
            self.emit(thread, &format!("fork(t{child})"));
        }
    }

    fn join(&mut self, thread: usize) {
        let child = self.random.below(self.threads.len());
        let state = &self.threads[child];
        let known = state.events > 0 || (state.forked_later && state.running);
        if child != thread && known && state.waiting.is_none() && state.inside.is_none() && !state.joined {
            self.threads[child].joined = true;
            self.emit(thread, &format!("join(t{child})"));
        }
    }

    fn semaphore(&mut self, thread: usize) {
        if self.permits > 0 && self.random.chance(60) {
            self.permits -= 1;
            self.emit(thread, "p(s)");
        } else {
            self.permits += 1;
            self.emit(thread, "v(s)");
        }
    }

    fn wait(&mut self, thread: usize) {
        let held = &self.threads[thread].held;
        // Only of a lock that is held once and not shared as well: then waiting gives it up.
        let lock = self.random.below(self.locks);
        if held.iter().filter(|held| held.0 == lock).eq([&(lock, true)]) {
            self.threads[thread].held.retain(|held| held.0 != lock);
            self.threads[thread].waiting = Some((lock, false));
            self.emit(thread, &format!("wait(c,l{lock})"));
        }
    }

    fn wake(&mut self, thread: usize) {
        let Some((lock, notified)) = self.threads[thread].waiting else { return };
        if self.held_by_other(thread, lock, false) || (!notified && !self.random.chance(10)) {
            return;
        }
        self.threads[thread].waiting = None;
        self.threads[thread].held.push((lock, true));
        let op = if notified { "woken" } else { "timeout" };
        self.emit(thread, &format!("{op}(c,l{lock})"));
    }

    fn notify(&mut self, thread: usize) {
        let all = self.random.chance(50);
        for state in &mut self.threads {
            if let Some((_, notified @ false)) = &mut state.waiting {
                *notified = true;
                if !all {
                    break;
                }
            }
        }
        self.emit(thread, if all { "notifyall(c)" } else { "notify(c)" });
    }

    fn arrive(&mut self, thread: usize) {
        self.threads[thread].inside = Some(self.generation);
        self.emit(thread, "arrive(b)");
    }

    fn depart(&mut self, thread: usize) {
        let Some(generation) = self.threads[thread].inside else { return };
        let inside = |wanted: usize| self.threads.iter().filter(|state| state.inside == Some(wanted)).count();
        if generation == self.generation {
            let older = self.threads.iter().any(|state| state.inside.is_some_and(|other| other < generation));
            if older || inside(generation) < 2 {
                return;
            }
            self.generation += 1;
        }
        self.threads[thread].inside = None;
        self.emit(thread, "depart(b)");
    }

    fn memory(&mut self, thread: usize) {
        let var = self.random.below(self.vars);
        if self.random.chance(50) {
            // A fresh variable under the same name.
            self.freed[var] = false;
            self.emit(thread, &format!("alloc(x{var})"));
        } else if !self.freed[var] {
            self.freed[var] = true;
            self.emit(thread, &format!("free(x{var})"));
        }
    }
}
