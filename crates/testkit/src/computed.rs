//! A judge of how values are said to be computed: what terms are if reads see this or that, by the words of
//! [`foretell_trace::values`] alone.

use foretell_trace::values::{Binary, Demanded, Term, Unary, Values};
use foretell_trace::{EventId, Reads, Trace};

/// What all terms of a trace are in one run of it.
#[derive(Debug)]
pub struct Computed<'a> {
    values: &'a Values,
    /// Each none if it has no value.
    terms: Vec<Option<u64>>,
}

impl<'a> Computed<'a> {
    /// The run in which all reads see what they saw, but for one that sees this. None if the trace has no symbolic
    /// values.
    pub fn of(trace: &'a Trace, changed: Option<(EventId, u64)>) -> Option<Computed<'a>> {
        let (values, dependence) = (trace.values()?, trace.dependence()?);
        let is_changed = |read: EventId| changed.is_some_and(|(changed, _)| changed == read);
        let read = |read: EventId| match changed {
            Some((changed, value)) if changed == read => Some(value),
            _ => observed(trace, trace.event(read).op.value_read()),
        };
        let keeps =
            |reads: Reads| dependence.reads(reads).is_some_and(|reads| !reads.into_iter().any(is_changed));
        let terms = evaluate(values.terms(), read, keeps);
        Some(Computed { values, terms })
    }

    /// The first event that cannot take place, because something that it demands does not hold.
    pub fn first_impossible(&self) -> Option<EventId> {
        let is_violated = |term: usize, value| match value {
            Demanded::Number(number) => self.terms[term] != Some(number),
            Demanded::Name(_) => true,
        };
        let mut demands = self.values.all_demands().iter();
        demands.find(|demand| is_violated(demand.term.index(), demand.value)).map(|demand| demand.event)
    }

    /// What an event writes, if that is said at all, and has a value.
    pub fn written(&self, event: EventId) -> Option<u64> {
        self.values.written(event).and_then(|term| self.terms[term.index()])
    }

    /// The first event that does not write what it wrote, in a run in which all reads see what they saw.
    pub fn first_different(&self, trace: &Trace) -> Option<EventId> {
        let mut events = trace.iter().filter(|&(id, _)| self.values.written(id).is_some());
        let is_different = |&(id, event): &(EventId, foretell_trace::Event)| {
            self.written(id) != observed(trace, event.op.value_written())
        };
        events.find(is_different).map(|(id, _)| id)
    }
}

/// What terms are, each none if it has no value, if reads see this and these sets of them see what they saw.
pub fn evaluate(
    terms: &[Term],
    read: impl Fn(EventId) -> Option<u64>,
    keeps: impl Fn(Reads) -> bool,
) -> Vec<Option<u64>> {
    let mut found: Vec<Option<u64>> = Vec::with_capacity(terms.len());
    for &term in terms {
        let value = match term {
            Term::Number(number) => Some(number),
            Term::Name(_) => None,
            Term::Read(event) => read(event),
            Term::Frozen { value, reads } => keeps(reads).then_some(value),
            Term::Unary { op, width, of } => found[of.index()].map(|of| unary(op, width, of)),
            Term::Binary { op, width, left, right } => {
                let both = found[left.index()].zip(found[right.index()]);
                both.and_then(|(left, right)| binary(op, width, left, right))
            }
            Term::Choice { condition, then, otherwise } => found[condition.index()]
                .and_then(|condition| found[if condition == 0 { otherwise } else { then }.index()]),
        };
        found.push(value);
    }
    found
}

fn observed(trace: &Trace, value: Option<foretell_trace::Value>) -> Option<u64> {
    value.and_then(|value| trace.names().value_number(value))
}

fn fit(width: u8, value: u64) -> u64 {
    if width == 64 { value } else { value % (1 << width) }
}

fn signed(width: u8, value: u64) -> i128 {
    let value = i128::from(fit(width, value));
    if value >= 1 << (width - 1) { value - (1 << width) } else { value }
}

fn wrapped(width: u8, value: i128) -> u64 {
    u64::try_from(value.rem_euclid(1 << width)).expect("below")
}

fn unary(op: Unary, width: u8, of: u64) -> u64 {
    match op {
        Unary::Truncate => fit(width, of),
        Unary::ExtendSign => wrapped(64, signed(width, of)),
        Unary::IsZero => u64::from(fit(width, of) == 0),
    }
}

fn binary(op: Binary, width: u8, left: u64, right: u64) -> Option<u64> {
    let (left, right) = (fit(width, left), fit(width, right));
    let (one, other) = (signed(width, left), signed(width, right));
    let shift = (right < u64::from(width)).then_some(right);
    Some(match op {
        Binary::Add => wrapped(width, one + other),
        Binary::Subtract => wrapped(width, one - other),
        Binary::Multiply => wrapped(width, one.wrapping_mul(other)),
        Binary::DivideUnsigned => left.checked_div(right)?,
        Binary::RemainderUnsigned => left.checked_rem(right)?,
        Binary::DivideSigned => wrapped(width, one.checked_div(other)?),
        Binary::RemainderSigned => wrapped(width, one.checked_rem(other)?),
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => fit(width, left << shift?),
        Binary::ShiftRight => left >> shift?,
        Binary::ShiftRightSigned => wrapped(width, one >> shift?),
        Binary::Equal => (left == right).into(),
        Binary::LessUnsigned => (left < right).into(),
        Binary::LessSigned => (one < other).into(),
    })
}
