//! Reads that must see the very value that they saw, though reads may see anything: nothing else would let a demand
//! hold.
//!
//! That is so for most addresses. Where, moreover, everything that is ever written to the variable is known in advance,
//! such a read must see one of the writes of that value, and much follows from that before anything is searched for.

use foretell_trace::EventId;
use foretell_trace::values::{Binary, Demand, Term, TermId, Unary, Values};

use super::arithmetic::Datum;
use crate::index::{Index, NONE};

/// For each event of the trace that is such a read, the first event that needs it to be; [`NONE`] for all others.
pub(crate) fn pinned(index: &Index<'_>, values: &Values) -> Vec<u32> {
    let events = index.trace.events();
    let mut pinned = vec![NONE; events.len()];
    let mut is_settled: Vec<Option<bool>> = vec![None; index.trace.names().vars.len()];
    for demand in values.all_demands() {
        let Some(read) = needed(index, values, demand) else { continue };
        let Some(access) = events[read.index()].op.access() else { continue };
        let settled = is_settled[access.var.index()].get_or_insert_with(|| {
            index
                .writes_of(access.var)
                .iter()
                .flat_map(|of| &of.1)
                .all(|&write| is_constant(index, values, write))
        });
        let known = &mut pinned[read.index()];
        if *settled && *known == NONE {
            *known = demand.event.number() - 1;
        }
    }
    pinned
}

/// The read of the event's own thread that must see what it saw for the demand to hold.
fn needed(index: &Index<'_>, values: &Values, demand: &Demand) -> Option<EventId> {
    let (read, value) = only_solution(values, demand)?;
    let (event, of) = (index.trace.event(read), index.trace.event(demand.event));
    let seen = event.op.value_read()?;
    let seen = index.trace.names().value_number(seen).map_or(Datum::Name(seen), Datum::Number);
    (seen == value && event.thread == of.thread && read <= demand.event && !event.unexplained).then_some(read)
}

/// The one value of the one read for which the demand holds.
fn only_solution(values: &Values, demand: &Demand) -> Option<(EventId, Datum)> {
    let (mut term, mut value) = (demand.term, Datum::from(demand.value));
    loop {
        let number = |term: TermId| match values.term(term) {
            Term::Number(number) => Some(number),
            _ => None,
        };
        (term, value) = match (values.term(term), value) {
            (Term::Read(read), value) => return Some((read, value)),
            (Term::Unary { op: Unary::IsZero, width: 64, of }, Datum::Number(1)) => (of, Datum::Number(0)),
            (Term::Binary { op, width: 64, left, right }, Datum::Number(wanted)) => {
                match (op, number(left), number(right)) {
                    (Binary::Add, None, Some(other)) => (left, Datum::Number(wanted.wrapping_sub(other))),
                    (Binary::Add, Some(other), None) => (right, Datum::Number(wanted.wrapping_sub(other))),
                    (Binary::Subtract, None, Some(other)) => {
                        (left, Datum::Number(wanted.wrapping_add(other)))
                    }
                    (Binary::Equal, None, Some(other)) if wanted == 1 => (left, Datum::Number(other)),
                    (Binary::Equal, Some(other), None) if wanted == 1 => (right, Datum::Number(other)),
                    _ => return None,
                }
            }
            _ => return None,
        };
    }
}

/// Whether the write writes what it wrote whatever its thread has read.
fn is_constant(index: &Index<'_>, values: &Values, write: u32) -> bool {
    let term = EventId::from_index(write as usize).and_then(|write| values.written(write));
    let is_constant = term.is_some_and(|term| matches!(values.term(term), Term::Number(_) | Term::Name(_)));
    is_constant && index.value_after(write).is_some()
}
