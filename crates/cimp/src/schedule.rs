//! Who takes the next step.
//!
//! * [`Scheduler`]: picks one of the turns that are possible
//! * [`simple`]: one thread after the other, in turns, at random
//! * [`pct`]: at random, but so that bugs of a given depth are found with a known probability
//! * [`given`]: as a schedule says
//! * [`Schedule`], [`text`]: the turns of an execution, by name, and their text

pub mod given;
pub mod pct;
pub mod simple;
pub mod text;

use std::sync::Arc;

pub use given::{Given, replay};
pub use pct::Pct;
pub use simple::{Random, RoundRobin, Serial};
pub use text::{Schedule, ScheduleError};

use crate::machine::Turn;
use crate::value::ThreadRef;

/// A turn by name, so that it means the same in every run of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choice {
    /// Who takes a step.
    pub thread: Arc<str>,
    /// Who is woken by it, if it is a notification.
    pub wake: Option<Arc<str>>,
}

/// What a scheduler may look at.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The turns that are possible, in the order of the threads. Never empty.
    pub turns: &'a [Turn],
    /// The names of all threads.
    pub names: &'a [Arc<str>],
}

impl Moment<'_> {
    /// The turn by name.
    pub fn choice(&self, turn: Turn) -> Choice {
        let name = |thread: ThreadRef| Arc::clone(&self.names[thread.index()]);
        Choice { thread: name(turn.thread), wake: turn.wake.map(name) }
    }

    /// The first turn of the first thread that can go on, beginning with `thread` and going round.
    fn from(&self, thread: ThreadRef) -> Turn {
        let turns = self.turns;
        turns.iter().find(|turn| turn.thread >= thread).or(turns.first()).copied().unwrap_or(NOBODY)
    }
}

/// There always is a turn to pick; this one would be refused.
const NOBODY: Turn = Turn { thread: ThreadRef(u32::MAX), wake: None };

/// Decides who takes the next step.
pub trait Scheduler {
    /// One of the turns of the moment.
    fn pick(&mut self, moment: &Moment<'_>) -> Turn;
}

/// A small generator of random numbers, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if the bound is 0.
    fn below(&mut self, bound: u64) -> u64 {
        // The bias is far below anything that anybody could see.
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// One of the turns.
    fn turn(&mut self, turns: &[Turn]) -> Turn {
        let index = usize::try_from(self.below(turns.len() as u64)).unwrap_or(0);
        turns.get(index).copied().unwrap_or(NOBODY)
    }

    /// One of the turns of this thread.
    fn turn_of(&mut self, thread: ThreadRef, turns: &[Turn]) -> Turn {
        let begin = turns.partition_point(|turn| turn.thread < thread);
        let end = turns.partition_point(|turn| turn.thread <= thread);
        self.turn(&turns[begin..end])
    }
}
