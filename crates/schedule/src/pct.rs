//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).
//!
//! Each thread gets a random priority when it is first seen, and the thread of highest priority runs. At `depth - 1`
//! random places of the execution the thread that would run gets a priority below all others instead. A bug that
//! needs `depth` ordering constraints shows in a run with probability at least 1 / (n·k^(depth-1)), for n threads and
//! k steps.
//!
//! **Changed:** a thread that has been preferred to others for very long may wait for them in a loop: it gets a
//! priority below all others, too. The bound holds for executions in which no thread runs for that long while others
//! are ready.

use crate::{Dice, Operation, REACH, Ready, Strategy};

/// How much a thread may spend in a row while others are ready.
const LONGEST_RUN: u32 = 10_000;

/// See the module.
#[derive(Clone, Debug)]
pub struct Pct {
    dice: Dice,
    /// The priority of each thread seen so far.
    priorities: Vec<u64>,
    /// After how many steps priorities change, the next change at the end.
    changes: Vec<u64>,
    /// How many steps were taken.
    steps: u64,
    /// The next priority below all others; falls.
    lowest: u64,
    /// The last thread, and how long it ran in a row while others were ready.
    run: (u32, u32),
}

impl Pct {
    /// The schedule with this seed, for bugs of this depth in executions of about so many steps.
    pub fn new(seed: u64, depth: u32, expected_steps: u64) -> Pct {
        let mut dice = Dice::new(seed);
        // More changes than steps make no difference.
        let changes = u64::from(depth.saturating_sub(1)).min(expected_steps);
        let mut changes: Vec<u64> = (0..changes).map(|_| dice.below(expected_steps.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct { dice, priorities: Vec::new(), changes, steps: 0, lowest: u64::from(u32::MAX), run: (0, 0) }
    }

    fn priority(&mut self, thread: u32) -> &mut u64 {
        let index = thread as usize;
        while self.priorities.len() <= index {
            // The highest bit keeps these above all priorities that are given later.
            self.priorities.push(self.dice.bits() | 1 << 63);
        }
        &mut self.priorities[index]
    }

    fn first(&mut self, ready: &[Ready]) -> Ready {
        let first = ready.iter().copied().max_by_key(|ready| *self.priority(ready.thread));
        first.unwrap_or(Ready { thread: 0, next: Operation::Other, functions: [None; REACH] })
    }

    fn lower(&mut self, thread: u32) {
        *self.priority(thread) = self.lowest;
        self.lowest = self.lowest.saturating_sub(1);
    }

    /// Whether the thread has been preferred for too long.
    fn is_exhausted(&mut self, picked: Ready, ready: &[Ready]) -> bool {
        let spent = if self.run.0 == picked.thread && ready.len() > 1 { self.run.1 } else { 0 };
        self.run = (picked.thread, spent.saturating_add(picked.next.effort()));
        self.run.1 > LONGEST_RUN
    }
}

impl Strategy for Pct {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        let mut picked = self.first(ready);
        while self.changes.pop_if(|step| *step <= self.steps).is_some() {
            self.lower(picked.thread);
            picked = self.first(ready);
        }
        self.steps += 1;
        if self.is_exhausted(picked, ready) {
            self.lower(picked.thread);
            picked = self.first(ready);
        }
        picked.thread
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}
