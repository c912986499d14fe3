//! Scheduling strategies: they choose the next thread so that bugs show that usual runs hide.
//!
//! * [`Strategy`]: picks one of the threads that are ready
//! * [`random`]: any of them
//! * [`contest`]: noise at synchronisation
//! * [`pct`]: priorities that change in few places, with a known probability of finding a bug
//! * [`pos`]: a random order of what conflicts
//! * [`drfinder`]: takes locks in another order than the runs before
//! * [`relation`]: what a run of `drfinder` teaches the next one
//! * [`by_name`]: all of them, by name
//! * [`Dice`]: where the random numbers come from
//!
//! Strategies know threads, locks and functions by numbers only, so the same ones serve the virtual machine and native
//! programs. A strategy only ever picks a ready thread: it delays threads, but never blocks them, and causes no
//! deadlock.

pub mod by_name;
pub mod contest;
pub mod dice;
pub mod drfinder;
pub mod pct;
pub mod pos;
pub mod random;
pub mod relation;

pub use by_name::{Name, Plan};
pub use contest::Contest;
pub use dice::Dice;
pub use drfinder::{DrFinder, Learnt, Statistics};
pub use pct::Pct;
pub use pos::Pos;
pub use random::Random;
pub use relation::Relation;

/// What a thread is about to do, or does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Takes a lock.
    Acquire {
        /// Which one.
        lock: u64,
        /// The locks that are used alike have the same kind.
        kind: u32,
    },
    /// Gives a lock up.
    Release {
        /// Which one.
        lock: u64,
    },
    /// Accesses memory.
    Access {
        /// Where.
        place: u64,
        /// It may change what is there.
        writes: bool,
    },
    /// Synchronises by something else: a semaphore, a condition, a barrier, or a lock that it only tries to take.
    Meet {
        /// By what. Nothing but a lock has the number of a lock.
        object: u64,
    },
    /// Something that no other thread's order matters to.
    Other,
    /// No thread knows: the thread has run for a while, or lets others go first. It may be waiting for them in a
    /// loop.
    Unknown,
}

impl Operation {
    /// Whether the order of the two may matter.
    pub fn conflicts(self, other: Operation) -> bool {
        match (self, other) {
            (Operation::Unknown, _) | (_, Operation::Unknown) => true,
            (Operation::Access { place: a, writes: x }, Operation::Access { place: b, writes: y }) => {
                a == b && (x || y)
            }
            (a, b) => a.object().is_some_and(|object| b.object() == Some(object)),
        }
    }

    /// What it synchronises by.
    pub fn object(self) -> Option<u64> {
        match self {
            Operation::Acquire { lock: object, .. }
            | Operation::Release { lock: object }
            | Operation::Meet { object } => Some(object),
            Operation::Access { .. } | Operation::Other | Operation::Unknown => None,
        }
    }

    /// How much is spent on letting the thread do this instead of others what they are about to do. The thread that
    /// runs for long without a known step may well wait for a thread.
    fn effort(self) -> u32 {
        if self == Operation::Unknown { 50 } else { 1 }
    }
}

/// A ready thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready {
    /// Its number.
    pub thread: u32,
    /// What it is about to do.
    pub next: Operation,
    /// The functions that it is in, as far as they are known, the innermost one first.
    pub functions: Functions,
}

/// How many functions of a thread that does not run are kept in mind.
pub const REACH: usize = 4;

/// The innermost functions that a thread is in, the last one called first; none after the first that is none.
pub type Functions = [Option<u32>; REACH];

/// The innermost ones of these calls.
pub fn innermost(calls: impl IntoIterator<Item = u32>) -> Functions {
    let mut functions = [None; REACH];
    for (place, function) in functions.iter_mut().zip(calls) {
        *place = Some(function);
    }
    functions
}

/// Picks the next thread.
pub trait Strategy {
    /// One of the threads that are ready. There always is one, and they come in the order of their numbers.
    fn pick(&mut self, ready: &[Ready]) -> u32;

    /// The thread does something now, or just has, and is in these calls, the innermost one first.
    fn happens(&mut self, _thread: u32, _operation: Operation, _calls: &mut dyn Iterator<Item = u32>) {}

    /// The thread has ended.
    fn ended(&mut self, _thread: u32) {}

    /// The random numbers of all choices. A caller with further choices draws from here, too: then the seed determines
    /// the whole run.
    fn dice(&mut self) -> &mut Dice;

    /// What the run has taught, for strategies that learn.
    fn learnt(&self) -> Option<&Learnt> {
        None
    }
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        (**self).pick(ready)
    }

    fn happens(&mut self, thread: u32, operation: Operation, calls: &mut dyn Iterator<Item = u32>) {
        (**self).happens(thread, operation, calls);
    }

    fn ended(&mut self, thread: u32) {
        (**self).ended(thread);
    }

    fn dice(&mut self) -> &mut Dice {
        (**self).dice()
    }

    fn learnt(&self) -> Option<&Learnt> {
        (**self).learnt()
    }
}

#[cfg(test)]
mod tests;
