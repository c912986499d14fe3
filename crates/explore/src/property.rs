//! What can be asked of every state.

use std::fmt;
use std::ops::RangeInclusive;

use foretell_trace::{EventId, ThreadId, Trace, Value, VarId};

use crate::program::{NONE, TracePoint};
use crate::run::Run;

/// Something that should hold in every state that can be reached.
pub trait Property: Send + Sync {
    /// The variables whose contents the answer depends on. [`State::value`] has only these.
    fn variables(&self) -> Vec<VarId>;

    /// Whether it holds in this state.
    fn holds(&self, state: &State<'_>) -> bool;
}

/// A state that some run leads to.
#[derive(Clone, Copy, Debug)]
pub struct State<'s> {
    pub(crate) trace: &'s Trace,
    pub(crate) run: &'s Run<'s>,
}

impl State<'_> {
    /// What the variable holds; `None` if the trace does not show it, or it was written by a thread that had read
    /// something else than observed.
    pub fn value(&self, var: VarId) -> Option<Value> {
        self.run.program().value(self.run.cells(), var)
    }

    /// The next step of the thread. `None` at its end, if it has read something else than observed, and while it waits
    /// to be forked.
    pub fn next(&self, thread: ThreadId) -> Option<EventId> {
        let place = self.place(thread);
        if place.event == NONE { None } else { EventId::from_index(place.event as usize) }
    }

    /// Whether the event has run, be it with another value than observed.
    pub fn has_run(&self, event: EventId) -> bool {
        event.index() < self.place(self.trace.event(event).thread).frontier as usize
    }

    /// Whether the thread has read something else than observed, and stopped for good.
    pub fn has_deviated(&self, thread: ThreadId) -> bool {
        self.place(thread).deviated
    }

    /// Whether the event has run as it was observed.
    pub fn has_run_as_observed(&self, event: EventId) -> bool {
        let place = self.place(self.trace.event(event).thread);
        // A thread that deviated did so with the last event that it ran.
        event.index() + usize::from(place.deviated) < place.frontier as usize
    }

    /// Whether the thread's next step is an access that could take place now, whatever it would see.
    pub fn could_race(&self, thread: ThreadId) -> bool {
        self.run.could_race(thread.index())
    }

    fn place(&self, thread: ThreadId) -> TracePoint {
        self.run.program().places[self.run.position(thread.index()) as usize]
    }
}

/// Why something is no property of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadProperty {
    /// Both events are of one thread.
    SameThread(EventId, EventId),
    /// The two do not access one variable such that at least one writes and not both are atomic.
    NoConflict(EventId, EventId),
    /// The two events are not of one thread, in this order.
    NoRange(EventId, EventId),
}

impl fmt::Display for BadProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadProperty::SameThread(a, b) => write!(f, "events {a} and {b} are of the same thread"),
            BadProperty::NoConflict(a, b) => write!(
                f,
                "events {a} and {b} cannot race: only two accesses to one variable do, of which one writes and not both are atomic"
            ),
            BadProperty::NoRange(a, b) => {
                write!(
                    f,
                    "{a}..{b} is no part of a thread: it needs two events of one thread, the first one first"
                )
            }
        }
    }
}

impl std::error::Error for BadProperty {}

/// These two events never race: they are never both the next of their threads, and able to take place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    events: [(ThreadId, EventId); 2],
}

impl Race {
    /// The events must be of the trace.
    pub fn new(trace: &Trace, a: EventId, b: EventId) -> Result<Race, BadProperty> {
        let (first, second) = (trace.event(a), trace.event(b));
        if first.thread == second.thread {
            return Err(BadProperty::SameThread(a, b));
        }
        match (first.op.access(), second.op.access()) {
            (Some(one), Some(other)) if one.conflicts_with(other) => {
                Ok(Race { events: [(first.thread, a), (second.thread, b)] })
            }
            _ => Err(BadProperty::NoConflict(a, b)),
        }
    }
}

impl Property for Race {
    fn variables(&self) -> Vec<VarId> {
        Vec::new()
    }

    fn holds(&self, state: &State<'_>) -> bool {
        !self
            .events
            .iter()
            .all(|&(thread, event)| state.next(thread) == Some(event) && state.could_race(thread))
    }
}

/// Two threads are never inside these parts at once. A thread is inside from when it has run the first event, as it was
/// observed, until it has run the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exclusive {
    parts: [RangeInclusive<EventId>; 2],
}

impl Exclusive {
    /// The events must be of the trace; each part must be of one thread, and not both of the same.
    pub fn new(
        trace: &Trace,
        first: RangeInclusive<EventId>,
        second: RangeInclusive<EventId>,
    ) -> Result<Exclusive, BadProperty> {
        for part in [&first, &second] {
            let (begin, end) = (*part.start(), *part.end());
            if begin >= end || trace.event(begin).thread != trace.event(end).thread {
                return Err(BadProperty::NoRange(begin, end));
            }
        }
        if trace.event(*first.start()).thread == trace.event(*second.start()).thread {
            return Err(BadProperty::SameThread(*first.start(), *second.start()));
        }
        Ok(Exclusive { parts: [first, second] })
    }
}

impl Property for Exclusive {
    fn variables(&self) -> Vec<VarId> {
        Vec::new()
    }

    fn holds(&self, state: &State<'_>) -> bool {
        !self.parts.iter().all(|part| state.has_run_as_observed(*part.start()) && !state.has_run(*part.end()))
    }
}
