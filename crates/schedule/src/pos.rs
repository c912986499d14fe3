//! Partial order sampling (Yuan, Yang and Gu, CAV 2018): a random order of what conflicts, and not of what does not
//! matter.
//!
//! What a thread is about to do gets a random priority when it is first seen, and the highest one happens. Then the
//! priorities of all that conflicts with it are drawn again: so a late thread has the same chance as one that waited.
//! Every partial order has a chance, and mostly a better one than under a random walk, as nothing is spent on the order
//! of what does not conflict. The less of what a thread does is a known operation, the nearer this comes to a random
//! walk.
//!
//! **Changed:** what is not known is taken to conflict with everything; so no thread waits in a loop for ever.

use std::collections::BTreeMap;

use crate::{Dice, Ready, Strategy};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pos {
    dice: Dice,
    /// The priority of what each thread is about to do.
    priorities: BTreeMap<u32, u64>,
}

impl Pos {
    /// The schedule with this seed.
    pub fn new(seed: u64) -> Pos {
        Pos { dice: Dice::new(seed), priorities: BTreeMap::new() }
    }

    fn priority(&mut self, thread: u32) -> u64 {
        *self.priorities.entry(thread).or_insert_with(|| self.dice.bits())
    }
}

impl Strategy for Pos {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        let first = ready.iter().copied().max_by_key(|ready| self.priority(ready.thread));
        let Some(picked) = first else { return 0 };
        self.priorities.remove(&picked.thread);
        for other in ready.iter().filter(|other| picked.next.conflicts(other.next)) {
            self.priorities.remove(&other.thread);
        }
        picked.thread
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}
