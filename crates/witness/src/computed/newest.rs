//! The last read that each term depends on.
//!
//! A path constraint of an event depends on no later read. So it depends on the event's own read if and only if that is
//! the last of its reads.

use foretell_trace::dependence::{Part, Reads};
use foretell_trace::values::Term;
use foretell_trace::{Dependence, EventId, Trace};

/// For each term of the trace, the last read that it depends on.
pub(crate) fn newest_reads(trace: &Trace) -> Vec<Option<EventId>> {
    let Some(values) = trace.values() else { return Vec::new() };
    let sets = trace.dependence().map(newest_of_unions).unwrap_or_default();
    let mut newest: Vec<Option<EventId>> = Vec::with_capacity(values.terms().len());
    for &term in values.terms() {
        let of_parts = term.parts().filter_map(|part| newest.get(part.index()).copied().flatten()).max();
        newest.push(match term {
            Term::Read(read) => Some(read),
            Term::Frozen { reads, .. } => {
                trace.dependence().and_then(|dependence| newest_of(dependence, reads, &sets))
            }
            _ => of_parts,
        });
    }
    newest
}

/// For each union, its last read.
fn newest_of_unions(dependence: &Dependence) -> Vec<Option<EventId>> {
    let mut newest = Vec::with_capacity(dependence.union_count());
    for &[first, second] in dependence.unions() {
        let of = |set| newest_of(dependence, set, &newest);
        newest.push(of(first).max(of(second)));
    }
    newest
}

fn newest_of(dependence: &Dependence, set: Reads, unions: &[Option<EventId>]) -> Option<EventId> {
    match dependence.part(set) {
        Part::Nothing | Part::Everything => None,
        Part::Read(read) => Some(read),
        Part::Both(union, ..) => unions.get(union).copied().flatten(),
    }
}
