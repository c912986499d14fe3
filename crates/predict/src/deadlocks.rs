//! Candidates for deadlocks: circles of threads each of which may come to wait for what the next one holds.
//!
//! Waits that look the same (thread, what is wanted, what is held meanwhile, location) count as one, as the abstract
//! acquires of SPDOffline (Tunç, Mathur, Pavlogiannis, Viswanathan, PLDI 2023) do; unlike there, joins and returns from
//! waits are waits, too, and locks are held in two modes. A circle of such waits, by different threads that hold
//! nothing which excludes each other, stands for all combinations of their events. Whether a schedule leads to one of
//! these is for a [`crate::Predictor`] to decide: what is held at an event depends on nothing but the event, so the
//! question is just whether all of them can be next at once.
//!
//! [`Waits`] needs one pass over the trace, and memory that grows with what is acquired while something is held.

mod circles;
mod combinations;

use foretell_detect::Pairs;
use foretell_detect::lock_set::{LockSetId, LockSets};
use foretell_trace::{Event, EventId, Loc, LockId, LockMode, Op, ThreadId, ops};
use rustc_hash::FxHashMap;

use crate::goal::Goal;

/// More waits that look different are only counted.
const MOST_WAITS: usize = 1 << 20;
/// So many events are kept of waits that look the same; more are only counted.
const MOST_EVENTS: usize = 1 << 12;

/// Threads that may get stuck.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Circle {
    /// What each of them waits for, in the order of the circle: each is held up by the thread of the next, and the last
    /// one by that of the first.
    pub waits: Vec<EventId>,
    /// The end of the thread that holds up the last one instead, if it ends with the lock.
    pub ended: Option<EventId>,
}

impl From<&Circle> for Goal {
    fn from(circle: &Circle) -> Goal {
        Goal {
            next: circle.waits.clone(),
            ran: circle.ended.into_iter().collect(),
            ..Goal::new("the deadlock")
        }
    }
}

/// What makes one deadlock the same as another one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CircleKey {
    /// The same events.
    Events(Vec<EventId>),
    /// The same places where threads wait.
    Locations(Vec<Loc>),
}

/// Circles that count as one, the closest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circles {
    /// What they have in common.
    pub key: CircleKey,
    /// The circles. Never empty.
    pub circles: Vec<Circle>,
    /// How many more there are.
    pub left_out: u64,
}

/// All candidates of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deadlocks {
    /// Those that are to be decided.
    pub circles: Vec<Circles>,
    /// There are more circles than were gone through.
    pub are_more: bool,
}

/// Something that one thread has and another one may wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Resource {
    Lock(LockId),
    /// The end of the thread, which only the thread itself can bring about.
    End(ThreadId),
}

/// Waits that look the same.
#[derive(Debug)]
struct Wait {
    thread: ThreadId,
    /// What is wanted, and how.
    wanted: Resource,
    mode: LockMode,
    /// What the thread holds meanwhile.
    held: LockSetId,
    loc: Loc,
    /// Its events, in the order of the trace.
    events: Vec<EventId>,
    /// How many more there are.
    more: u64,
}

/// The waits of a trace, collected event by event.
#[derive(Debug, Default)]
pub struct Waits {
    locks: LockSets,
    waits: Vec<Wait>,
    known: FxHashMap<(ThreadId, Resource, LockMode, LockSetId, Loc), usize>,
    /// Threads that have ended while they held locks.
    ended: Vec<(EventId, ThreadId, LockSetId)>,
    /// Waits that there was no room for.
    left_out: u64,
}

impl Waits {
    /// Takes note of the next events, of which the first has the id `first`.
    pub fn batch(&mut self, first: EventId, events: &[Event]) {
        let ids = (first.index()..).map_while(EventId::from_index);
        for (id, event) in ids.zip(events) {
            self.event(id, event);
        }
    }

    fn event(&mut self, id: EventId, event: &Event) {
        let wanted = match event.op {
            Op::Acquire(lock) | Op::Woken { lock, .. } | Op::WaitTimeout { lock, .. } => {
                Some((Resource::Lock(lock), LockMode::Exclusive))
            }
            Op::AcquireShared(lock) => Some((Resource::Lock(lock), LockMode::Shared)),
            Op::Join(child) => Some((Resource::End(child), LockMode::Exclusive)),
            Op::End => {
                let held = self.locks.held(event.thread);
                if held != LockSetId::default() {
                    self.ended.push((id, event.thread, held));
                }
                None
            }
            Op::TryAcquire(_)
            | Op::TryAcquireShared(_)
            | Op::Release(_)
            | Op::ReleaseShared(_)
            | Op::Fork(_)
            | Op::Begin
            | Op::Branch
            | Op::Wait { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | semaphores | barriers | labels | reentries | attempts) => None,
        };
        if let Some((wanted, mode)) = wanted {
            self.wait(id, event, wanted, mode);
        }
        self.locks.event(event);
    }

    fn wait(&mut self, id: EventId, event: &Event, wanted: Resource, mode: LockMode) {
        let (thread, held, loc) = (event.thread, self.locks.held(event.thread), event.loc);
        let key = (thread, wanted, mode, held, loc);
        let number = match self.known.get(&key) {
            Some(&number) => number,
            None if self.waits.len() >= MOST_WAITS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.known.insert(key, self.waits.len());
                self.waits.push(Wait { thread, wanted, mode, held, loc, events: Vec::new(), more: 0 });
                self.waits.len() - 1
            }
        };
        let wait = &mut self.waits[number];
        if wait.events.len() < MOST_EVENTS {
            wait.events.push(id);
        } else {
            wait.more += 1;
        }
    }

    /// The circles among the waits of the whole trace. `is_stopped` tells when to give up.
    pub fn deadlocks(self, pairs: Pairs, is_stopped: impl Fn() -> bool) -> Deadlocks {
        let (found, are_more) = circles::find(&self, is_stopped);
        let (circles, are_left_out) = combinations::of_all(&self, &found, pairs);
        Deadlocks { circles, are_more: are_more || are_left_out || self.left_out > 0 }
    }
}
