//! Noise, as ConTest makes it (Edelstein, Farchi, Nir, Ratsaby and Ur, IBM Systems Journal 2002): a thread that is
//! about to synchronise is now and then held back for a little while.
//!
//! Apart from that, each ready thread is as likely to run as the others. The delays are short: they reverse operations
//! at nearly the same time, and none that are far apart; that is the nature of noise.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Dice, Ready, Strategy};

/// One thread out of so many is held back at synchronisation,
const ODDS: u64 = 4;
/// for at most so many picks.
const LONGEST: u64 = 10;

/// See the module.
#[derive(Clone, Debug)]
pub struct Contest {
    dice: Dice,
    /// The delayed threads, and for how many picks.
    held: BTreeMap<u32, u64>,
    /// Threads that were delayed before their next operation, and are not again.
    delayed: BTreeSet<u32>,
}

impl Contest {
    /// The schedule with this seed.
    pub fn new(seed: u64) -> Contest {
        Contest { dice: Dice::new(seed), held: BTreeMap::new(), delayed: BTreeSet::new() }
    }

    fn let_time_pass(&mut self) {
        self.held.retain(|_, picks| {
            *picks -= 1;
            *picks > 0
        });
    }

    /// The thread whose delay is over first, where all ready threads are delayed.
    fn first_of_held(&self, ready: &[Ready]) -> Option<Ready> {
        ready.iter().copied().min_by_key(|ready| self.held.get(&ready.thread).copied().unwrap_or(0))
    }

    fn is_delayed(&mut self, candidate: Ready) -> bool {
        let meets = candidate.next.object().is_some() && !self.delayed.contains(&candidate.thread);
        if !meets || self.dice.below(ODDS) != 0 {
            return false;
        }
        self.delayed.insert(candidate.thread);
        self.held.insert(candidate.thread, 1 + self.dice.below(LONGEST));
        true
    }
}

impl Strategy for Contest {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        self.let_time_pass();
        let mut free: Vec<Ready> =
            ready.iter().copied().filter(|ready| !self.held.contains_key(&ready.thread)).collect();
        let picked = loop {
            let Some(candidate) = self.dice.one_of(&free) else { break self.first_of_held(ready) };
            if !self.is_delayed(candidate) {
                break Some(candidate);
            }
            free.retain(|ready| ready.thread != candidate.thread);
        };
        let thread = picked.map_or(0, |ready| ready.thread);
        self.held.remove(&thread);
        self.delayed.remove(&thread);
        thread
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}
