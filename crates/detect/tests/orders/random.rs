//! Tiny random traces: threads that take random steps, as far as locks, forks and joins let them.

#![expect(unreachable_pub, reason = "shared by several test programs")]

use std::fmt::Write as _;

/// A small generator of pseudo-random numbers (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: usize) -> Random {
        Random((seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from((self.next() >> 20) % bound as u64).unwrap_or(0)
    }
}

/// What a random trace may contain.
#[derive(Clone, Copy)]
pub struct Shape {
    pub events: usize,
    /// Locations to draw from; with none, every event has its own.
    pub locations: Option<usize>,
    /// Also read-write locks, semaphores and atomics.
    pub rich: bool,
}

#[derive(Clone, Default)]
struct Thread {
    alive: bool,
    joined: bool,
    /// Forked, or has done something: the trace knows of it.
    seen: bool,
    /// Locks held, with whether shared.
    held: Vec<(usize, bool)>,
}

/// Simulates some threads that take random steps.
struct Simulation {
    random: Random,
    threads: Vec<Thread>,
    locks: usize,
    vars: usize,
    permits: usize,
    rich: bool,
}

impl Simulation {
    fn step(&mut self) -> Option<(usize, String)> {
        let thread = self.random.below(self.threads.len());
        if !self.threads[thread].alive || self.threads[thread].joined {
            return None;
        }
        let op = match self.random.below(if self.rich { 46 } else { 32 }) {
            0..10 => Some(self.access()),
            10..20 => self.acquire(thread),
            20..30 => self.release(thread),
            30 => self.fork(),
            31 => self.join(thread),
            32..42 => self.acquire_shared(thread),
            42..45 => Some(self.atomic()),
            _ => self.semaphore(),
        };
        self.threads[thread].seen |= op.is_some();
        op.map(|op| (thread, op))
    }

    fn access(&mut self) -> String {
        let kind = if self.random.below(2) == 0 { "r" } else { "w" };
        format!("{kind}(x{})", self.random.below(self.vars))
    }

    fn atomic(&mut self) -> String {
        let kind = ["aload.rlx", "astore", "rmw.acq"][self.random.below(3)];
        format!("{kind}(x{})", self.random.below(self.vars))
    }

    fn is_held(&self, lock: usize, by_readers_too: bool) -> bool {
        self.threads
            .iter()
            .flat_map(|thread| &thread.held)
            .any(|&(held, shared)| held == lock && (by_readers_too || !shared))
    }

    fn acquire(&mut self, thread: usize) -> Option<String> {
        let lock = self.random.below(self.locks);
        if self.is_held(lock, true) {
            return None;
        }
        self.threads[thread].held.push((lock, false));
        Some(format!("acq(l{lock})"))
    }

    fn acquire_shared(&mut self, thread: usize) -> Option<String> {
        let lock = self.random.below(self.locks);
        if self.is_held(lock, false) || self.threads[thread].held.contains(&(lock, true)) {
            return None;
        }
        self.threads[thread].held.push((lock, true));
        Some(format!("racq(l{lock})"))
    }

    fn release(&mut self, thread: usize) -> Option<String> {
        let count = self.threads[thread].held.len();
        if count == 0 {
            return None;
        }
        // Mostly the innermost, sometimes any.
        let position = if self.random.below(4) == 0 { self.random.below(count) } else { count - 1 };
        let (lock, shared) = self.threads[thread].held.remove(position);
        Some(if shared { format!("rrel(l{lock})") } else { format!("rel(l{lock})") })
    }

    fn fork(&mut self) -> Option<String> {
        let child = self.threads.iter().position(|thread| !thread.alive)?;
        self.threads[child].alive = true;
        self.threads[child].seen = true;
        Some(format!("fork(T{child})"))
    }

    fn join(&mut self, thread: usize) -> Option<String> {
        let child = self.random.below(self.threads.len());
        let state = &mut self.threads[child];
        if child == thread || !state.seen || state.joined || !state.held.is_empty() {
            return None;
        }
        state.joined = true;
        Some(format!("join(T{child})"))
    }

    fn semaphore(&mut self) -> Option<String> {
        if self.random.below(2) == 0 {
            self.permits += 1;
            return Some("v(s)".to_owned());
        }
        self.permits = self.permits.checked_sub(1)?;
        Some("p(s)".to_owned())
    }
}

/// The text of a random trace: two to four threads, one to three locks, one to four variables.
pub fn random_trace(seed: usize, shape: Shape) -> String {
    let mut random = Random::new(seed);
    for _ in 0..8 {
        random.next();
    }
    let (count, forked) = (2 + random.below(3), random.below(3) == 0);
    let mut threads = vec![Thread::default(); count];
    for thread in threads.iter_mut().take(if forked { 1 } else { count }) {
        thread.alive = true;
    }
    let (locks, vars) = (1 + random.below(3), 1 + random.below(4));
    let mut simulation = Simulation { random, threads, locks, vars, permits: 0, rich: shape.rich };
    let mut text = String::new();
    let mut events = 0;
    for _ in 0..shape.events * 20 {
        let Some((thread, op)) = simulation.step() else { continue };
        events += 1;
        let loc = shape.locations.map_or(events, |count| 1 + simulation.random.below(count));
        let _ = writeln!(text, "T{thread}|{op}|{loc}");
        if events == shape.events {
            break;
        }
    }
    text
}
