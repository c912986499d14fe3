//! A random walk: each ready thread is equally likely.

use crate::{Dice, Ready, Strategy};

/// See the module.
#[derive(Clone, Debug)]
pub struct Random {
    dice: Dice,
}

impl Random {
    /// The schedule with this seed.
    pub fn new(seed: u64) -> Random {
        Random { dice: Dice::new(seed) }
    }
}

impl Strategy for Random {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        self.dice.one_of(ready).map_or(0, |ready| ready.thread)
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}
