//! Schedulers: which thread takes the next step.
//!
//! * [`Scheduler`]: picks one of the turns that are possible
//! * [`simple`]: one thread after the other, in turns
//! * [`given`]: as a schedule says
//! * [`mod@strategy`]: the strategies of [`foretell_schedule`], each of which is a scheduler
//! * [`Schedule`], [`text`]: the turns of an execution, by name, and their text

pub mod given;
pub mod simple;
pub mod strategy;
pub mod text;

use std::sync::Arc;

use foretell_schedule::{Operation, Ready};

pub use foretell_schedule::{Contest, DrFinder, Pct, Pos, Random};
pub use given::{Given, replay};
pub use simple::{RoundRobin, Serial};
pub use text::{Schedule, ScheduleError};

use crate::machine::Turn;
use crate::value::ThreadRef;

/// A turn by name, so that it means the same in every run of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choice {
    /// The thread that takes a step.
    pub thread: Arc<str>,
    /// The thread that it wakes, if it is a notification.
    pub wake: Option<Arc<str>>,
}

/// What a scheduler may look at.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The turns that are possible, in the order of the threads. Never empty.
    pub turns: &'a [Turn],
    /// The names of all threads.
    pub names: &'a [Arc<str>],
    /// The ready threads, and their next operations, in the same order.
    pub ready: &'a [Ready],
}

impl Moment<'_> {
    /// The turn by name.
    pub fn choice(&self, turn: Turn) -> Choice {
        let name = |thread: ThreadRef| Arc::clone(&self.names[thread.index()]);
        Choice { thread: name(turn.thread), wake: turn.wake.map(name) }
    }

    /// The first turn of the first ready thread, beginning with `thread` and going round.
    fn from(&self, thread: ThreadRef) -> Turn {
        let turns = self.turns;
        turns.iter().find(|turn| turn.thread >= thread).or(turns.first()).copied().unwrap_or(NO_TURN)
    }
}

/// There always is a turn to pick; this one would be refused.
const NO_TURN: Turn = Turn { thread: ThreadRef(u32::MAX), wake: None };

/// Picks the thread that takes the next step.
pub trait Scheduler {
    /// One of the turns of the moment.
    fn pick(&mut self, moment: &Moment<'_>) -> Turn;

    /// The thread that was picked takes this step, in these calls, the innermost one first.
    fn happens(&mut self, _thread: ThreadRef, _operation: Operation, _calls: &mut dyn Iterator<Item = u32>) {}

    /// The thread has ended.
    fn ended(&mut self, _thread: ThreadRef) {}
}
