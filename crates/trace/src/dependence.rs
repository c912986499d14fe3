//! Which reads matter to what comes after them.
//!
//! A read can matter to its thread in two ways. It can *steer* it: decide at a branch, be part of an address, or go to
//! unknown code. From the first event that it steers, nothing of its thread need happen as it did, had the
//! read seen something else. And it can be in the *value* that an event writes: then the event happens, but writes
//! something else.
//!
//! So for each read one number is kept, and for each write a set of reads. Sets share their parts: what is made of two
//! values depends on all that these depend on, and that is one pair of numbers. So all of this is as large as the
//! trace, however far values travel.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::event::Event;
use crate::id::EventId;

/// No event.
const NONE: u32 = u32::MAX;
/// The bit of those sets that are made of two others. The last such set would be [`Reads::EVERYTHING`], so there is
/// none.
const UNION: u32 = 1 << 31;

/// A set of reads of one thread, see [`Dependence::part`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reads(u32);

impl Reads {
    /// No read at all.
    pub const NOTHING: Reads = Reads(0);
    /// All that the thread has read before.
    pub const EVERYTHING: Reads = Reads(NONE);

    /// The union with this index, see [`Dependence::unions`].
    pub(crate) fn union(index: usize) -> Option<Reads> {
        u32::try_from(index).ok().filter(|&index| index < UNION - 1).map(|index| Reads(UNION | index))
    }

    /// This read alone. Of events that are too far down in a trace to be distinguished, everything.
    pub fn of(read: EventId) -> Reads {
        if read.number() < UNION { Reads(read.number()) } else { Reads::EVERYTHING }
    }
}

/// What a set of reads is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// No read at all.
    Nothing,
    /// All that the thread has read before.
    Everything,
    /// One read.
    Read(EventId),
    /// All of two sets. Both are older than this one, which is the one with this index.
    Both(usize, Reads, Reads),
}

/// What the events of a trace depend on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Dependence {
    /// For each event that reads, the number of the first event that it steers.
    steered: Vec<u32>,
    /// For each event, the reads that the value which it writes depends on.
    values: Vec<Reads>,
    unions: Vec<[Reads; 2]>,
}

/// Why a dependence is not one of this trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// It is one of another number of events.
    Length,
    /// It tells of this event, which there is not.
    NoEvent(EventId),
    /// This event is said to steer something, but reads nothing.
    SteersUnread(EventId),
    /// This read is said to steer an event that is not of its thread, or comes before it.
    SteersOther(EventId),
    /// This event is said to write something that depends on reads, but writes nothing.
    WritesNothing(EventId),
    /// What this event writes is said to depend on something else than earlier reads of its thread.
    MadeOfOthers(EventId),
}

impl Misfit {
    /// The event at fault, if it is one.
    pub fn event(self) -> Option<EventId> {
        match self {
            Misfit::Length => None,
            Misfit::NoEvent(event)
            | Misfit::SteersUnread(event)
            | Misfit::SteersOther(event)
            | Misfit::WritesNothing(event)
            | Misfit::MadeOfOthers(event) => Some(event),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Length => f.write_str("the dependences are those of a trace of another length"),
            Misfit::NoEvent(event) => write!(f, "there is no event {event}"),
            Misfit::SteersUnread(event) => write!(f, "event {event} steers nothing: it reads nothing"),
            Misfit::SteersOther(event) => {
                write!(f, "what event {event} reads can steer later events of its own thread only")
            }
            Misfit::WritesNothing(event) => write!(f, "event {event} has no value: it writes nothing"),
            Misfit::MadeOfOthers(event) => {
                write!(f, "what event {event} writes can depend on earlier reads of its own thread only")
            }
        }
    }
}

impl std::error::Error for Misfit {}

impl Dependence {
    /// Of so many events: no read steers anything yet, and every value depends on everything.
    pub fn new(events: usize) -> Dependence {
        Dependence {
            steered: vec![NONE; events],
            values: vec![Reads::EVERYTHING; events],
            unions: Vec::new(),
        }
    }

    /// The same, where these sets are known already: each is made of earlier ones.
    pub(crate) fn with_unions(events: usize, unions: Vec<[Reads; 2]>) -> Dependence {
        Dependence { unions, ..Dependence::new(events) }
    }

    /// One event more.
    pub fn push(&mut self) {
        self.steered.push(NONE);
        self.values.push(Reads::EVERYTHING);
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.steered.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.steered.is_empty()
    }

    /// The first event of its thread that the read steers: without its value, neither that event nor any after it need
    /// happen as observed. It can be the read itself, if that would not even take place. None if there is no such
    /// event.
    pub fn steered_by(&self, read: EventId) -> Option<EventId> {
        EventId::from_number(self.steered.get(read.index()).copied().filter(|&event| event != NONE)?)
    }

    /// The reads that the value which the event writes depends on. Whether it writes at all depends on what steers its
    /// thread.
    pub fn value_of(&self, write: EventId) -> Reads {
        self.values.get(write.index()).copied().unwrap_or(Reads::EVERYTHING)
    }

    /// The read steers this event, unless it steers an earlier one already.
    pub fn steer(&mut self, read: EventId, event: EventId) {
        if let Some(steered) = self.steered.get_mut(read.index()) {
            *steered = (*steered).min(event.number());
        }
    }

    /// The read steers nothing before this event, and nothing at all if there is none.
    pub(crate) fn postpone(&mut self, read: EventId, event: Option<EventId>) {
        if let Some(steered) = self.steered.get_mut(read.index()) {
            *steered = event.map_or(NONE, EventId::number);
        }
    }

    /// What the event writes depends on these reads.
    pub fn set_value(&mut self, write: EventId, reads: Reads) {
        if let Some(value) = self.values.get_mut(write.index()) {
            *value = reads;
        }
    }

    /// All of two sets.
    pub fn unite(&mut self, first: Reads, second: Reads) -> Reads {
        match (first, second) {
            (Reads::NOTHING, other) | (other, Reads::NOTHING) => other,
            (Reads::EVERYTHING, _) | (_, Reads::EVERYTHING) => Reads::EVERYTHING,
            (first, second) if first == second => first,
            (first, second) => match Reads::union(self.unions.len()) {
                Some(both) => {
                    self.unions.push([first, second]);
                    both
                }
                None => Reads::EVERYTHING,
            },
        }
    }

    /// What a set is made of.
    pub fn part(&self, reads: Reads) -> Part {
        match reads {
            Reads::NOTHING => Part::Nothing,
            Reads(number) if number < UNION => {
                EventId::from_number(number).map_or(Part::Everything, Part::Read)
            }
            Reads(number) => match self.unions.get((number & !UNION) as usize) {
                Some(&[first, second]) => Part::Both((number & !UNION) as usize, first, second),
                None => Part::Everything,
            },
        }
    }

    /// How many sets are made of two others.
    pub fn union_count(&self) -> usize {
        self.unions.len()
    }

    /// The sets that are made of two others, each after those that it is made of.
    pub fn unions(&self) -> &[[Reads; 2]] {
        &self.unions
    }

    /// The reads of a set in the order of the trace; none if it is everything.
    pub fn reads(&self, set: Reads) -> Option<Vec<EventId>> {
        let (mut reads, mut seen, mut open) = (Vec::new(), FxHashSet::default(), vec![set]);
        while let Some(set) = open.pop() {
            match self.part(set) {
                Part::Nothing => {}
                Part::Everything => return None,
                Part::Read(read) => reads.push(read),
                Part::Both(index, first, second) => {
                    if seen.insert(index) {
                        open.extend([first, second]);
                    }
                }
            }
        }
        reads.sort_unstable();
        reads.dedup();
        Some(reads)
    }

    /// Whether this can be said of these events: reads steer events of their own thread that do not come before them,
    /// and what is written depends on reads of the own thread that do not come after it.
    pub fn check(&self, events: &[Event]) -> Result<(), Misfit> {
        if self.steered.len() != events.len() || self.values.len() != events.len() {
            return Err(Misfit::Length);
        }
        let newest = self.newest(events);
        for (index, event) in events.iter().enumerate() {
            let Some(id) = EventId::from_index(index) else { break };
            self.check_steering(id, event, events)?;
            self.check_value(id, event, events, &newest)?;
        }
        Ok(())
    }

    fn check_steering(&self, id: EventId, event: &Event, events: &[Event]) -> Result<(), Misfit> {
        let steered = self.steered[id.index()];
        if steered == NONE {
            return Ok(());
        }
        if !event.op.access().is_some_and(|access| access.kind.reads()) {
            return Err(Misfit::SteersUnread(id));
        }
        let other = EventId::from_number(steered).filter(|&other| other >= id);
        let other = other.and_then(|other| events.get(other.index()));
        let is_own = other.is_some_and(|other| other.thread == event.thread);
        if is_own { Ok(()) } else { Err(Misfit::SteersOther(id)) }
    }

    fn check_value(
        &self,
        id: EventId,
        event: &Event,
        events: &[Event],
        newest: &[Option<Newest>],
    ) -> Result<(), Misfit> {
        let value = self.part(self.values[id.index()]);
        if value == Part::Everything {
            return Ok(());
        }
        if !event.op.access().is_some_and(|access| access.kind.writes()) {
            return Err(Misfit::WritesNothing(id));
        }
        let newest = match value {
            Part::Nothing | Part::Everything => return Ok(()),
            Part::Read(read) => Newest::of(read, events),
            Part::Both(union, ..) => newest.get(union).copied().flatten(),
        };
        let is_own = newest.is_some_and(|newest| newest.thread == event.thread.index() && newest.read <= id);
        if is_own { Ok(()) } else { Err(Misfit::MadeOfOthers(id)) }
    }

    /// For each union, its last read; none if its reads are of several threads, or no reads.
    fn newest(&self, events: &[Event]) -> Vec<Option<Newest>> {
        let mut newest: Vec<Option<Newest>> = Vec::with_capacity(self.unions.len());
        for (index, sets) in self.unions.iter().enumerate() {
            let of = |set: Reads| match self.part(set) {
                Part::Nothing | Part::Everything => None,
                Part::Read(read) => Newest::of(read, events),
                Part::Both(union, ..) => newest.get(union).copied().flatten().filter(|_| union < index),
            };
            let both = of(sets[0]).zip(of(sets[1])).filter(|(first, second)| first.thread == second.thread);
            newest.push(both.map(|(first, second)| first.max(second)));
        }
        newest
    }
}

/// The last read of a set, all of whose reads are of one thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Newest {
    read: EventId,
    thread: usize,
}

impl Newest {
    fn of(read: EventId, events: &[Event]) -> Option<Newest> {
        let event = events.get(read.index())?;
        let reads = event.op.access().is_some_and(|access| access.kind.reads());
        reads.then_some(Newest { read, thread: event.thread.index() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::TextReader;
    use crate::trace::Trace;

    fn id(number: u32) -> EventId {
        EventId::from_number(number).unwrap()
    }

    fn trace() -> Trace {
        let text = "A|r(x)|1\nA|r(y)|2\nB|r(y)|3\nA|w(z)|4\nA|branch|5\nA|r(x)|6\n";
        Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap()
    }

    #[test]
    fn sets_share_their_parts() {
        let mut dependence = Dependence::new(3);
        let both = dependence.unite(Reads::of(id(2)), Reads::of(id(1)));
        let again = dependence.unite(both, Reads::of(id(1)));
        assert_eq!(dependence.reads(again), Some(vec![id(1), id(2)]));
        assert_eq!(dependence.unite(Reads::NOTHING, both), both);
        assert_eq!(dependence.unite(both, both), both);
        assert_eq!(dependence.unite(both, Reads::EVERYTHING), Reads::EVERYTHING);
        assert_eq!(dependence.reads(Reads::EVERYTHING), None);
        assert_eq!(dependence.reads(Reads::NOTHING), Some(vec![]));
        assert_eq!(dependence.union_count(), 2);
    }

    #[test]
    fn a_read_steers_from_the_first_event_on() {
        let mut dependence = Dependence::new(9);
        assert_eq!(dependence.steered_by(id(1)), None);
        for event in [7, 5, 6] {
            dependence.steer(id(1), id(event));
        }
        assert_eq!(dependence.steered_by(id(1)), Some(id(5)));
        assert_eq!(dependence.value_of(id(8)), Reads::EVERYTHING, "unless somebody knows better");
    }

    #[test]
    fn what_is_of_another_trace_is_refused() {
        let trace = trace();
        let fits = |change: &dyn Fn(&mut Dependence)| {
            let mut dependence = Dependence::new(trace.events().len());
            change(&mut dependence);
            dependence.check(trace.events())
        };
        let steers_other = |event: u32| Err(Misfit::SteersOther(id(event)));
        assert_eq!(fits(&|of| of.steer(id(1), id(5))), Ok(()));
        assert_eq!(fits(&|of| of.steer(id(1), id(3))), steers_other(1), "an event of another thread");
        assert_eq!(fits(&|of| of.steer(id(2), id(1))), steers_other(2), "an earlier event");
        assert_eq!(fits(&|of| of.steer(id(2), id(7))), steers_other(2), "no event");
        assert_eq!(fits(&|of| of.steer(id(4), id(5))), Err(Misfit::SteersUnread(id(4))));
        let value = |reads: [u32; 2]| {
            move |of: &mut Dependence| {
                let set = of.unite(Reads::of(id(reads[0])), Reads::of(id(reads[1])));
                of.set_value(id(4), set);
            }
        };
        assert_eq!(fits(&value([1, 2])), Ok(()));
        assert_eq!(fits(&value([1, 3])), Err(Misfit::MadeOfOthers(id(4))), "a read of another thread");
        assert_eq!(fits(&value([1, 5])), Err(Misfit::MadeOfOthers(id(4))), "no read");
        assert_eq!(
            fits(&|of| of.set_value(id(4), Reads::of(id(6)))),
            Err(Misfit::MadeOfOthers(id(4))),
            "a later read"
        );
        assert_eq!(fits(&|of| of.set_value(id(1), Reads::NOTHING)), Err(Misfit::WritesNothing(id(1))));
        assert_eq!(Dependence::new(2).check(trace.events()), Err(Misfit::Length));
    }
}
