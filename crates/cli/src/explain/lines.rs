//! The accesses of two lines of a program that might race with each other.

use std::collections::HashMap;

use foretell_report::SourceLocation;
use foretell_trace::{Event, EventId, Trace, VarId};

/// So many accesses before and after one are looked at as its partners.
const NEAR: usize = 32;

/// Pairs of accesses of two lines, and how many there are in all.
pub(super) struct Pairs {
    /// The numbers of their events, the nearest pairs first.
    pub(super) nearest: Vec<(u32, u32)>,
    /// Whether there may be others.
    pub(super) are_all: bool,
}

/// The pairs of conflicting accesses of two threads, one on each line; or what is wrong with the lines.
pub(super) fn pairs(trace: &Trace, one: &str, other: &str) -> Result<Pairs, String> {
    let first = accesses(trace, one)?;
    let second = by_variable(trace, accesses(trace, other)?);
    let mut pairs = Pairs { nearest: Vec::new(), are_all: true };
    for id in first {
        let event = trace.event(id);
        let Some(access) = event.op.access() else { continue };
        let Some(partners) = second.get(&access.var) else { continue };
        let at = partners.partition_point(|&partner| partner < id);
        let (from, to) = (at.saturating_sub(NEAR), partners.len().min(at + NEAR));
        pairs.are_all &= (from, to) == (0, partners.len());
        let near = partners[from..to].iter().filter(|&&near| conflict(&event, &trace.event(near)));
        pairs.nearest.extend(near.map(|&near| (id.min(near).number(), id.max(near).number())));
    }
    pairs.nearest.sort_unstable_by_key(|&(a, b)| (b - a, a));
    pairs.nearest.dedup();
    if pairs.nearest.is_empty() {
        return Err(format!(
            "no two accesses at {one} and {other} conflict: they would be of two threads, to one variable, and one of \
             them writes, and not both are atomic"
        ));
    }
    Ok(pairs)
}

/// Whether two events are accesses that could race.
fn conflict(one: &Event, other: &Event) -> bool {
    let accesses = one.op.access().zip(other.op.access());
    one.thread != other.thread
        && !one.unexplained
        && !other.unexplained
        && accesses.is_some_and(|(a, b)| a.conflicts_with(b))
}

/// All accesses on a line, in their order.
fn accesses(trace: &Trace, line: &str) -> Result<Vec<EventId>, String> {
    let mut is_there = HashMap::new();
    let mut found = Vec::new();
    for (id, event) in trace.iter() {
        let is_there =
            *is_there.entry(event.loc).or_insert_with(|| is_on(&trace.names().loc_text(event.loc), line));
        if is_there && event.op.access().is_some() {
            found.push(id);
        }
    }
    if found.is_empty() {
        return Err(format!("the trace has no access at {line}"));
    }
    Ok(found)
}

fn by_variable(trace: &Trace, events: Vec<EventId>) -> HashMap<VarId, Vec<EventId>> {
    let mut variables: HashMap<VarId, Vec<EventId>> = HashMap::new();
    for id in events {
        if let Some(access) = trace.event(id).op.access() {
            variables.entry(access.var).or_default().push(id);
        }
    }
    variables
}

/// Whether a location is on the line that the user names: exactly it, or with the last parts of the path alone, and the
/// column only if it is named.
fn is_on(location: &str, line: &str) -> bool {
    let (Some(place), Some(named)) = (SourceLocation::parse(location), SourceLocation::parse(line)) else {
        return location == line;
    };
    let is_file = place.file == named.file
        || place.file.strip_suffix(named.file).is_some_and(|before| before.ends_with('/'));
    is_file && place.line == named.line && (named.column.is_none() || named.column == place.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_what_people_call_them() {
        assert!(is_on("src/bank.c:12:3", "bank.c:12") && is_on("src/bank.c:12:3", "src/bank.c:12:3"));
        assert!(is_on("here", "here") && is_on("12", "12"));
        assert!(!is_on("src/bank.c:12:3", "bank.c:12:4") && !is_on("src/bank.c:12", "ank.c:12"));
        assert!(!is_on("src/bank.c:12", "bank.c:1") && !is_on("bank.c:12", "here"));
    }

    #[test]
    fn the_nearest_pairs_come_first() {
        let trace = foretell_testkit::trace(
            "A|w(x)|a\nB|r(x)|b\nA|r(x)|a\nB|w(y)|b\nA|w(x)|a\nA|r(z)|c\nB|r(x)|b\nA|acq(l)|d\n",
        );
        let pairs = pairs(&trace, "a", "b").unwrap();
        assert_eq!((pairs.nearest, pairs.are_all), (vec![(1, 2), (5, 7), (2, 5), (1, 7)], true));
        assert!(super::pairs(&trace, "a", "c").is_err_and(|why| why.contains("conflict")));
        assert!(super::pairs(&trace, "a", "d").is_err_and(|why| why.contains("no access at d")));
    }

    #[test]
    fn of_a_hot_line_only_the_nearest_pairs_are_looked_at() {
        let text = "A|w(x)|a\n".repeat(100) + &"B|w(x)|b\n".repeat(100);
        let pairs = pairs(&foretell_testkit::trace(&text), "a", "b").unwrap();
        assert_eq!((pairs.nearest.len(), pairs.are_all, pairs.nearest[0]), (3200, false, (100, 101)));
    }
}
