//! What the values of a run are computed from, where a recorder knows.
//!
//! A read may see something else than it saw, and its thread still do what it did: if whatever is decided is decided
//! alike, and whatever is accessed stays the same. For that one must be able to compute. Every value of the run is a
//! [`Term`]: a constant, what some read saw, or an operation on other terms. The terms of a run form one graph without
//! cycles, the run in static single assignment form. Of each write the trace tells the term that it stores, and of each
//! event what must hold for it to take place: its [`Demand`]s.
//!
//! # What this means
//! In a schedule each read sees what the last write before it stored; where there is none, what the memory held at
//! first. A term has a value once the reads that it is made of have run, or *none*, and then nothing is known of it. An
//! event can take place only once the terms of its demands have the values that these say. Nothing else keeps a thread
//! from going on: what it does next then is its next event.
//!
//! Values are numbers of 64 bits, or names that are equal to nothing but themselves (references, handles). A number of
//! fewer bits is filled up with zeroes. Of an operation:
//! * `width` bits of the result count, and of the operands; the result is filled up with zeroes, so is that of a
//!   comparison, which is 1 or 0.
//! * Signed operations take the highest of the `width` bits as the sign. Quotients are rounded towards zero; the
//!   quotient of the least number and -1 wraps around.
//! * A division by 0, and a shift by `width` bits or more, has no value.
//! * Names can be compared for equality, also with numbers, which they never equal, and chosen; as a condition they
//!   count as not 0. Any other operation on a name has no value.
//! * What is made of a term without a value has none, but for a choice, which asks for the condition and the chosen one
//!   only.

use std::fmt;

use crate::dependence::Reads;
use crate::event::Event;
use crate::id::EventId;
use crate::symbol::Value;

/// No term.
const NONE: u32 = u32::MAX;

/// A term of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermId(u32);

impl TermId {
    /// Its place in the order in which the terms came about, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The term at this place.
    pub fn from_index(index: usize) -> Option<TermId> {
        u32::try_from(index).ok().filter(|&index| index != NONE).map(TermId)
    }
}

/// What a value is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// This number.
    Number(u64),
    /// This value, which is no number.
    Name(Value),
    /// What this event read.
    Read(EventId),
    /// This number, if all of these reads see what they saw, and otherwise none: how it is computed is unknown, but
    /// from what.
    Frozen {
        /// What it was in the run.
        value: u64,
        /// What it is made of, a set of the trace's [`crate::Dependence`].
        reads: Reads,
    },
    /// An operation on one term.
    Unary {
        /// What is done.
        op: Unary,
        /// How many bits count.
        width: u8,
        /// To what.
        of: TermId,
    },
    /// An operation on two terms.
    Binary {
        /// What is done.
        op: Binary,
        /// How many bits count.
        width: u8,
        /// To what.
        left: TermId,
        /// And what.
        right: TermId,
    },
    /// One of two terms.
    Choice {
        /// If this is not 0,
        condition: TermId,
        /// this one,
        then: TermId,
        /// else that one.
        otherwise: TermId,
    },
}

impl Term {
    /// The terms that it is made of. All of these came about before it.
    pub fn parts(self) -> impl Iterator<Item = TermId> {
        let parts = match self {
            Term::Number(_) | Term::Name(_) | Term::Read(_) | Term::Frozen { .. } => [None, None, None],
            Term::Unary { of, .. } => [Some(of), None, None],
            Term::Binary { left, right, .. } => [Some(left), Some(right), None],
            Term::Choice { condition, then, otherwise } => [Some(condition), Some(then), Some(otherwise)],
        };
        parts.into_iter().flatten()
    }
}

/// Operations on one number of some width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// Its lowest `width` bits.
    Truncate,
    /// Those, with the highest of them repeated up to 64 bits.
    ExtendSign,
    /// 1 for 0, and 0 for anything else.
    IsZero,
}

/// Operations on two numbers of some width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    DivideUnsigned,
    DivideSigned,
    RemainderUnsigned,
    RemainderSigned,
    And,
    Or,
    Xor,
    ShiftLeft,
    /// Filled up with zeroes.
    ShiftRight,
    /// Filled up with the sign.
    ShiftRightSigned,
    Equal,
    LessUnsigned,
    LessSigned,
}

/// What must hold for an event to take place: a decision goes as it went, an address is what it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Demand {
    /// The event that needs it. If what this event itself reads is in the term, the event can take place only if it
    /// sees something that makes it hold; as one of two that race it need not.
    pub event: EventId,
    /// What is looked at.
    pub term: TermId,
    /// What it must be: a number, or a name.
    pub value: Demanded,
}

/// What a demand asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Demanded {
    /// This number.
    Number(u64),
    /// This value, which is no number.
    Name(Value),
}

/// How the values of a run are computed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Values {
    terms: Vec<Term>,
    /// For each event, the term that it writes.
    written: Vec<u32>,
    /// In the order of their events.
    demands: Vec<Demand>,
    /// Whether numbers are shown with a sign.
    signed: bool,
    /// What was not computed, and why not.
    obstacles: Obstacles,
}

/// Why it is not said how something is computed from what was read. It stays what it was in the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Obstacle {
    /// An operation on floating-point numbers.
    FloatingPoint,
    /// An operation on something that does not fit into 64 bits: a wider number, a vector, a structure.
    Wide,
    /// Another operation that there is no term for.
    Operation,
    /// Something that is accessed as a whole and in parts.
    InParts,
    /// A call of an unknown function.
    UnknownFunction,
    /// The way between two records of a thread, if it is not known step by step.
    UnknownWay,
}

impl Obstacle {
    /// All of them.
    pub const ALL: [Obstacle; 6] = [
        Obstacle::FloatingPoint,
        Obstacle::Wide,
        Obstacle::Operation,
        Obstacle::InParts,
        Obstacle::UnknownFunction,
        Obstacle::UnknownWay,
    ];

    /// What it is called in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::FloatingPoint => "floating-point",
            Obstacle::Wide => "wide",
            Obstacle::Operation => "operation",
            Obstacle::InParts => "in-parts",
            Obstacle::UnknownFunction => "unknown-function",
            Obstacle::UnknownWay => "unknown-way",
        }
    }
}

/// How often each obstacle was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Obstacles([u64; Obstacle::ALL.len()]);

impl Obstacles {
    /// It was met so many times more.
    pub fn add(&mut self, obstacle: Obstacle, times: u64) {
        let count = &mut self.0[obstacle as usize];
        *count = count.saturating_add(times);
    }

    /// Those that were met, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Obstacle, u64)> {
        Obstacle::ALL.into_iter().zip(self.0).filter(|&(_, times)| times > 0)
    }
}

/// Why values are not those of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// They are of another number of events.
    Length,
    /// They tell of this event, which there is not.
    NoEvent(EventId),
    /// This term is made of terms that come after it, or of something that is not there.
    Circular(TermId),
    /// This term is what an event read, but that event reads nothing.
    ReadsNothing(TermId),
    /// This event is said to write something, but writes nothing.
    WritesNothing(EventId),
    /// What this event writes, or demands, is made of what is read only after it.
    TooEarly(EventId),
    /// The width of this term is not between 1 and 64.
    Width(TermId),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Length => f.write_str("the values are those of a trace of another length"),
            Mismatch::NoEvent(event) => write!(f, "there is no event {event}"),
            Mismatch::Circular(term) => write!(f, "term {} is made of what comes after it", term.0),
            Mismatch::ReadsNothing(term) => {
                write!(f, "term {} is what an event read that reads nothing", term.0)
            }
            Mismatch::WritesNothing(event) => write!(f, "event {event} has no value: it writes nothing"),
            Mismatch::TooEarly(event) => write!(f, "event {event} depends on what is read after it"),
            Mismatch::Width(term) => write!(f, "term {} has no width between 1 and 64", term.0),
        }
    }
}

impl std::error::Error for Mismatch {}

impl Values {
    /// Of so many events: nothing is known of what they write, and they demand nothing.
    pub fn new(events: usize, signed: bool) -> Values {
        Values {
            terms: Vec::new(),
            written: vec![NONE; events],
            demands: Vec::new(),
            signed,
            obstacles: Obstacles::default(),
        }
    }

    /// Takes up a term; none if there are too many. What it is made of must have been taken up before.
    pub fn add(&mut self, term: Term) -> Option<TermId> {
        let id = TermId::from_index(self.terms.len())?;
        self.terms.push(term);
        Some(id)
    }

    /// The event writes this.
    pub fn set_written(&mut self, event: EventId, term: TermId) {
        if let Some(written) = self.written.get_mut(event.index()) {
            *written = term.0;
        }
    }

    /// Takes up a demand. Those of earlier events come first.
    pub fn demand(&mut self, demand: Demand) {
        debug_assert!(
            self.demands.last().is_none_or(|last| last.event <= demand.event),
            "in the order of events"
        );
        self.demands.push(demand);
    }

    /// The term.
    pub fn term(&self, id: TermId) -> Term {
        self.terms[id.index()]
    }

    /// All terms, each after those that it is made of.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// What the event writes. If that is unknown, it is what was observed if all earlier reads of its thread saw what
    /// they saw, and otherwise none.
    pub fn written(&self, event: EventId) -> Option<TermId> {
        self.written.get(event.index()).copied().filter(|&term| term != NONE).map(TermId)
    }

    /// What must hold for the event to take place.
    pub fn demands(&self, event: EventId) -> &[Demand] {
        let begin = self.demands.partition_point(|demand| demand.event < event);
        let count = self.demands[begin..].partition_point(|demand| demand.event == event);
        &self.demands[begin..begin + count]
    }

    /// The demands of all events, in the order of these.
    pub fn all_demands(&self) -> &[Demand] {
        &self.demands
    }

    /// What was not computed, and why not.
    pub fn obstacles(&self) -> &Obstacles {
        &self.obstacles
    }

    /// Says what was not computed.
    pub fn set_obstacles(&mut self, obstacles: Obstacles) {
        self.obstacles = obstacles;
    }

    /// How many events this is about.
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Whether this is about no event.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Whether numbers are shown with a sign.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// A number as people want to see it.
    pub fn text(&self, number: u64) -> String {
        number_text(number, self.signed)
    }

    /// Whether this can be said of these events.
    pub fn check(&self, events: &[Event]) -> Result<(), Mismatch> {
        if self.written.len() != events.len() {
            return Err(Mismatch::Length);
        }
        let newest = self.newest_reads(events)?;
        let in_time = |event: EventId, term: TermId| {
            let newest = *newest.get(term.index()).ok_or(Mismatch::Circular(term))?;
            if newest.is_none_or(|read| read <= event) { Ok(()) } else { Err(Mismatch::TooEarly(event)) }
        };
        for (index, event) in events.iter().enumerate() {
            let Some(id) = EventId::from_index(index) else { break };
            let Some(term) = self.written(id) else { continue };
            if !event.op.access().is_some_and(|access| access.kind.writes()) {
                return Err(Mismatch::WritesNothing(id));
            }
            in_time(id, term)?;
        }
        for demand in &self.demands {
            if demand.event.index() >= events.len() {
                return Err(Mismatch::Length);
            }
            in_time(demand.event, demand.term)?;
        }
        Ok(())
    }

    /// For each term, the last of the reads that it is made of, as far as these are named one by one.
    fn newest_reads(&self, events: &[Event]) -> Result<Vec<Option<EventId>>, Mismatch> {
        let mut newest: Vec<Option<EventId>> = Vec::with_capacity(self.terms.len());
        for (index, &term) in self.terms.iter().enumerate() {
            let Some(id) = TermId::from_index(index) else { break };
            let mut last = None;
            if let Term::Read(read) = term {
                let event = events.get(read.index());
                let reads =
                    event.and_then(|event| event.op.access()).is_some_and(|access| access.kind.reads());
                last = Some(read).filter(|_| reads);
                last.ok_or(Mismatch::ReadsNothing(id))?;
            }
            if let Term::Unary { width, .. } | Term::Binary { width, .. } = term
                && !(1..=64).contains(&width)
            {
                return Err(Mismatch::Width(id));
            }
            for part in term.parts() {
                last = last.max(*newest.get(part.index()).ok_or(Mismatch::Circular(id))?);
            }
            newest.push(last);
        }
        Ok(newest)
    }
}

/// A number as people want to see it, with a sign or without.
pub fn number_text(number: u64, signed: bool) -> String {
    if signed { number.cast_signed().to_string() } else { number.to_string() }
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
        let text = "A|r(x,1)|1\nA|branch|2\nA|w(y,2)|3\nB|r(y,2)|4\n";
        Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap()
    }

    /// What comes of values of four events after a change.
    fn checked(change: impl Fn(&mut Values)) -> Result<(), Mismatch> {
        let mut values = Values::new(4, true);
        change(&mut values);
        values.check(trace().events())
    }

    #[test]
    fn demands_are_found_by_their_events() {
        let mut values = Values::new(4, true);
        let read = values.add(Term::Read(id(1))).unwrap();
        for (event, number) in [(2, 1), (3, 1), (3, 2)] {
            values.demand(Demand { event: id(event), term: read, value: Demanded::Number(number) });
        }
        let counts = [1, 2, 3, 4].map(|event| values.demands(id(event)).len());
        assert_eq!(counts, [0, 1, 2, 0]);
        assert_eq!(values.text(u64::MAX), "-1");
    }

    #[test]
    fn what_is_of_another_trace_is_refused() {
        let sum = |left: TermId, right: TermId| Term::Binary { op: Binary::Add, width: 64, left, right };
        assert_eq!(
            checked(|values| {
                let read = values.add(Term::Read(id(1))).unwrap();
                let twice = values.add(sum(read, read)).unwrap();
                values.set_written(id(3), twice);
                values.demand(Demand { event: id(2), term: twice, value: Demanded::Number(2) });
            }),
            Ok(())
        );
        assert_eq!(Values::new(3, true).check(trace().events()), Err(Mismatch::Length));
        let first = TermId::from_index(0).unwrap();
        let circular = |values: &mut Values| _ = values.add(sum(first, first));
        assert_eq!(checked(circular), Err(Mismatch::Circular(first)));
        let reads_nothing = |values: &mut Values| _ = values.add(Term::Read(id(2)));
        assert_eq!(checked(reads_nothing), Err(Mismatch::ReadsNothing(first)));
        let wide = |values: &mut Values| {
            let one = values.add(Term::Number(1)).unwrap();
            values.add(Term::Unary { op: Unary::Truncate, width: 65, of: one });
        };
        assert_eq!(checked(wide), Err(Mismatch::Width(TermId::from_index(1).unwrap())));
        let written = |event: u32| {
            move |values: &mut Values| {
                let read = values.add(Term::Read(id(4))).unwrap();
                values.set_written(id(event), read);
            }
        };
        assert_eq!(checked(written(2)), Err(Mismatch::WritesNothing(id(2))));
        assert_eq!(checked(written(3)), Err(Mismatch::TooEarly(id(3))));
    }
}
