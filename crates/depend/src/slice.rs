//! Which events of a trace matter to a property, so that one can predict or explore on these alone.
//!
//! A [`Slice`] drops reads that nothing relevant depends on. Threads then need not see what they saw there, and more
//! schedules are possible. That is the idea of *sliced causality* (section 2.4 of the paper on maximal causal models).
//!
//! **Changed.** As published, the slice is the closure of the property's events under control, data and relevance
//! dependence, and whether that is enough is left as a conjecture. It is not ([`Rule::Published`]). [`Rule::Sound`],
//! the default, also keeps what could interfere had it gone another way. SOUNDNESS.md has the argument.
//!
//! **Guarantee** of [`Rule::Sound`]. A schedule of the sliced trace in which every read that is not the last event of
//! its thread sees the same value is the restriction of a run of the program, in which the property's events happen as
//! in the schedule.
//!
//! **May miss** what would need another value of a read that is kept, but would do no harm.

mod closure;
mod horizon;
mod index;
mod sections;

use foretell_trace::{Event, EventId, Listed, Op, Trace, TraceError, ops};
use rustc_hash::FxHashSet;

use crate::flow::Flow;
use closure::Closure;
use index::Index;

/// What must be kept.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Rule {
    /// What makes every schedule of the slice one of the program.
    #[default]
    Sound,
    /// The closure under control, data and relevance dependence as published; lock sections where they contain a kept
    /// event. Predicts what no run of the program does: to compare with.
    Published,
}

/// What a slice is for.
#[derive(Clone, Debug)]
pub struct Property {
    events: Vec<EventId>,
    /// No thread runs its last event of the property.
    is_last: bool,
}

impl Property {
    /// In which orders these events can happen. What a read of the property itself sees is left open.
    pub fn events(events: impl IntoIterator<Item = EventId>) -> Property {
        Property { events: events.into_iter().collect(), is_last: false }
    }

    /// Whether these two accesses race. The slice is good for just that question: what the two threads do after the
    /// two events is in it only as far as the observed run cannot be understood without.
    pub fn race(first: EventId, second: EventId) -> Property {
        Property { events: vec![first, second], is_last: true }
    }

    /// The events that the trace has.
    fn known(&self, trace: &Trace) -> impl Iterator<Item = EventId> {
        let length = trace.events().len();
        self.events.iter().copied().filter(move |event| event.index() < length)
    }
}

/// Makes slices of one trace.
#[derive(Debug)]
pub struct Slicer<'t> {
    trace: &'t Trace,
    flow: Option<&'t Flow>,
    index: Index,
}

impl<'t> Slicer<'t> {
    /// Goes through the trace. Without a flow of the whole trace, a decision depends on all that its thread has read
    /// before and may have any effect; in a trace that shows no decisions so does every event.
    pub fn new(trace: &'t Trace, flow: Option<&'t Flow>) -> Slicer<'t> {
        let flow = flow.filter(|flow| flow.len() == trace.events().len());
        Slicer { trace, flow, index: Index::new(trace, flow) }
    }

    /// The events that matter to the property.
    pub fn slice(&self, property: &Property, rule: Rule) -> Slice {
        let closure = Closure::of(self.trace, self.flow, &self.index, property, rule);
        let events: Vec<EventId> = closure.kept().collect();
        let hidden = events.iter().copied().filter(|&event| closure.hides_value(event)).collect();
        Slice { events, hidden }
    }
}

/// The events of the trace that matter to the property. To make many slices of one trace, use a [`Slicer`].
pub fn slice(trace: &Trace, flow: Option<&Flow>, property: &Property, rule: Rule) -> Slice {
    Slicer::new(trace, flow).slice(property, rule)
}

/// Some events of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Sorted: the index of an event here is its index in the sliced trace.
    events: Vec<EventId>,
    /// Reads among them whose value means nothing, since not all writes of their variables are kept.
    hidden: FxHashSet<EventId>,
}

impl Slice {
    /// The events that are kept, in the order of the trace.
    pub fn events(&self) -> &[EventId] {
        &self.events
    }

    /// The number that an event of the original trace has in the sliced one.
    pub fn sliced(&self, original: EventId) -> Option<EventId> {
        self.events.binary_search(&original).ok().and_then(EventId::from_index)
    }

    /// The number that an event of the sliced trace has in the original one.
    pub fn original(&self, sliced: EventId) -> Option<EventId> {
        self.events.get(sliced.index()).copied()
    }

    /// The sliced trace. All names and locations are those of the original one, which must be that of the slice; its
    /// events get new numbers.
    pub fn trace(&self, original: &Trace) -> Result<Trace, TraceError> {
        let kept = self.events.iter().filter_map(|&id| Some((id, original.events().get(id.index())?)));
        let events =
            kept.map(|(id, &event)| if self.hidden.contains(&id) { without_value(event) } else { event });
        Trace::read(Box::new(Listed::new(events.collect(), original.names().clone(), original.ending())))
    }
}

fn without_value(event: Event) -> Event {
    let op = match event.op {
        Op::Read { var, .. } => Op::Read { var, value: None },
        Op::Load { var, order, .. } => Op::Load { var, value: None, order },
        op @ (Op::Write { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Fence { .. }) => op,
        op @ (Op::Alloc(_) | Op::Free(_)) => op,
        op @ ops!(locks | control | semaphores | conditions | barriers | labels) => op,
    };
    Event { op, ..event }
}
