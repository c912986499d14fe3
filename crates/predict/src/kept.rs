//! Which reads of a window must see what they saw.
//!
//! Mostly these are all reads of a thread up to some event. Where the trace tells which reads matter to what, single
//! ones come in addition: those that steer what must run, and those of which a value is made that another read must
//! see.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::window::Window;

/// Reads that must see what they saw.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Demand {
    /// Those among so many events of a thread.
    Until { thread: u32, until: u32 },
    /// This one, because of this event: it steers that, or is in the value that it writes.
    Read { read: u32, because: u32 },
}

/// The reads that must see what they saw.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// For each thread, among how many of its events all.
    until: Vec<u32>,
    /// Others, each with the event because of which.
    others: FxHashMap<u32, u32>,
    /// The sets of two of which all are kept, see [`Window::to_be_seen`].
    pub(crate) sets: FxHashSet<usize>,
}

impl Kept {
    /// None of so many threads.
    pub(crate) fn new(threads: usize) -> Kept {
        Kept { until: vec![0; threads], others: FxHashMap::default(), sets: FxHashSet::default() }
    }

    pub(crate) fn contains(&self, read: u32, window: &Window<'_>) -> bool {
        window.place[read as usize] < self.until[window.thread[read as usize] as usize]
            || self.others.contains_key(&read)
    }

    /// The event because of which the read must see what it saw, if it does not just come before one that does.
    pub(crate) fn because_of(&self, read: u32) -> Option<u32> {
        self.others.get(&read).copied()
    }

    /// Takes one more, if there is one that the demand asks for and that is not kept yet.
    pub(crate) fn take_next(&mut self, demand: Demand, window: &Window<'_>) -> Option<u32> {
        match demand {
            Demand::Read { read, .. } if self.contains(read, window) => None,
            Demand::Read { read, because } => {
                self.others.insert(read, because);
                Some(read)
            }
            Demand::Until { thread, until } => {
                let kept = &mut self.until[thread as usize];
                while *kept < until {
                    let event = window.at(thread, *kept);
                    *kept += 1;
                    if !self.others.contains_key(&event) {
                        return Some(event);
                    }
                }
                None
            }
        }
    }

    /// Takes all that the demand asks for.
    pub(crate) fn take(&mut self, demand: Demand, window: &Window<'_>) {
        match demand {
            Demand::Until { thread, until } => {
                let kept = &mut self.until[thread as usize];
                *kept = (*kept).max(until);
            }
            Demand::Read { .. } => {
                self.take_next(demand, window);
            }
        }
    }
}
