//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).
//!
//! Each thread gets a random priority when it is first seen, and the thread of highest priority runs. At `depth - 1`
//! random places of the execution the thread that would run gets a priority below all others instead. A bug that needs
//! `depth` ordering constraints shows in a run with probability at least 1 / (n·k^(depth-1)), for n threads and k steps.

use super::{Dice, Moment, Scheduler};
use crate::machine::Turn;
use crate::value::ThreadRef;

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
}

impl Pct {
    /// The schedule with this seed, for bugs of this depth in executions of about so many steps.
    pub fn new(seed: u64, depth: u32, expected_steps: u64) -> Pct {
        let mut dice = Dice(seed);
        let mut changes: Vec<u64> = (1..depth).map(|_| dice.below(expected_steps.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct { dice, priorities: Vec::new(), changes, steps: 0, lowest: u64::from(u32::MAX) }
    }

    fn priority(&mut self, thread: ThreadRef) -> u64 {
        while self.priorities.len() <= thread.index() {
            // The highest bit keeps these above all priorities that are given later.
            self.priorities.push(self.dice.bits() | 1 << 63);
        }
        self.priorities[thread.index()]
    }

    fn first(&mut self, moment: &Moment<'_>) -> ThreadRef {
        let threads = moment.turns.iter().map(|turn| turn.thread);
        threads.max_by_key(|&thread| self.priority(thread)).unwrap_or(ThreadRef(0))
    }
}

impl Scheduler for Pct {
    fn pick(&mut self, moment: &Moment<'_>) -> Turn {
        let mut thread = self.first(moment);
        while self.changes.pop_if(|step| *step <= self.steps).is_some() {
            self.priorities[thread.index()] = self.lowest;
            self.lowest = self.lowest.saturating_sub(1);
            thread = self.first(moment);
        }
        self.steps += 1;
        self.dice.turn_of(thread, moment.turns)
    }
}
