//! The races of a report, found again in the trace.

use std::collections::BTreeSet;

use foretell_report::{Race as Reported, RacingAccess, Report, json};
use foretell_trace::{EventId, Names, Trace};

/// A race of a report.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Race {
    /// The access that comes first in the trace.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// The schedule that shows it, ending with the two; empty if the report has none.
    pub witness: Vec<EventId>,
}

/// Reports, not yet compared with any trace.
#[derive(Debug, Default)]
pub struct Reports(Vec<Report>);

impl Reports {
    /// Reads what `foretell predict --format json` has written.
    pub fn parse(json: &str) -> Result<Reports, String> {
        let no_report = |_| "not a JSON report of `foretell predict --format json`".to_string();
        json::parse(json).map(Reports).map_err(no_report)
    }

    /// The races of this trace. Of several reports, those on traces of another length are left out; what does not fit
    /// the trace is an error.
    pub fn races(&self, trace: &Trace) -> Result<Vec<Race>, String> {
        let events = trace.events().len();
        let of_trace = |report: &&Report| length(report) == events;
        let mut races = BTreeSet::new();
        for report in self.0.iter().filter(of_trace) {
            for race in &report.races {
                races.insert(find(race, trace).map_err(|wrong| is_of_another(report, &wrong))?);
            }
        }
        match (self.0.first(), self.0.iter().any(|report| length(report) == events)) {
            (Some(report), false) => Err(is_of_another(report, &format!("it has {} events", length(report)))),
            _ => Ok(without_repetition(races)),
        }
    }

    /// How many events the trace has by each report, for callers that have not read it yet.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(length)
    }

    /// The two accesses of each race.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = [&RacingAccess; 2]> {
        self.0.iter().flat_map(|report| &report.races).map(|race| [&race.first, &race.second])
    }
}

/// Techniques find the same race with different witnesses: one is enough, and the shortest says most.
fn without_repetition(races: BTreeSet<Race>) -> Vec<Race> {
    let mut kept: Vec<Race> = Vec::new();
    for race in races {
        match kept.last_mut().filter(|last| (last.first, last.second) == (race.first, race.second)) {
            Some(last) if last.witness.is_empty() || race.witness.len() < last.witness.len() => *last = race,
            Some(_) => {}
            None => kept.push(race),
        }
    }
    kept
}

/// How many events the trace of a report has. The numbers of events are those of the whole trace.
fn length(report: &Report) -> usize {
    report.trace.slice.as_ref().map_or(report.trace.events, |slice| slice.of)
}

fn is_of_another(report: &Report, wrong: &str) -> String {
    format!("the report is of another trace ({}): {wrong}", report.trace.file)
}

fn find(reported: &Reported, trace: &Trace) -> Result<Race, String> {
    let find = |number| trace.id(number).ok_or_else(|| format!("it has an event {number}"));
    let witness = reported.witness.iter().flatten().map(|&number| find(number)).collect::<Result<_, _>>()?;
    let race = Race { first: find(reported.first.event)?, second: find(reported.second.event)?, witness };
    check(&reported.first, trace, race.first)?;
    check(&reported.second, trace, race.second)?;
    Ok(race)
}

fn check(access: &RacingAccess, trace: &Trace, id: EventId) -> Result<(), String> {
    let (event, names) = (trace.event(id), trace.names());
    let (thread, location) = (names.threads.name(event.thread), names.loc_text(event.loc));
    if is(access, thread, &location) { Ok(()) } else { Err(words(access)) }
}

/// Whether the access can be by this thread at this location.
pub(crate) fn is(access: &RacingAccess, thread: &str, location: &str) -> bool {
    access.thread == thread && access.location == location
}

/// The access in words.
pub(crate) fn words(access: &RacingAccess) -> String {
    format!("its event {} is by {} at {}", access.event, access.thread, access.location)
}

/// The two accesses in words, for lists: `note: teller bank.c:12 (4) and auditor bank.c:31 (14)`.
pub fn summary(race: &Race, trace: &Trace) -> String {
    let names: &Names = trace.names();
    let access = |id: EventId| {
        let event = trace.event(id);
        let (thread, location) = (names.threads.name(event.thread), names.loc_text(event.loc));
        format!("{thread} {location} ({id})")
    };
    let var = trace.event(race.first).op.access().map_or("?", |access| names.vars.name(access.var));
    format!("{var}: {} and {}", access(race.first), access(race.second))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const TRACE: &str = "A|w(x)|1\nB|w(x)|2\nA|w(x)|3\n";

    fn report(events: usize, races: &[Value]) -> Value {
        let mut report = json!(Report::new("rv"));
        report["trace"] =
            json!({"file": "t", "events": events, "threads": 2, "cut_short": false, "unexplained_reads": 0});
        report["races"] = json!(races);
        report
    }

    fn race(first: u32, second: u32, witness: &[u32]) -> Value {
        let access = |event: u32| {
            let thread = if event == 2 { "B" } else { "A" };
            json!({"event": event, "thread": thread, "op": "w", "target": "x", "location": event.to_string()})
        };
        json!({"first": access(first), "second": access(second), "proof": "adjacent", "witness": witness})
    }

    fn races(json: &Value) -> Result<Vec<(u32, u32, usize)>, String> {
        let trace = foretell_testkit::trace(TRACE);
        let races = Reports::parse(&json.to_string())?.races(&trace)?;
        Ok(races.iter().map(|race| (race.first.number(), race.second.number(), race.witness.len())).collect())
    }

    #[test]
    fn the_same_race_is_listed_once_with_its_shortest_witness() {
        let one = report(3, &[race(2, 3, &[]), race(1, 2, &[1, 2])]);
        let two = report(3, &[race(2, 3, &[1, 2, 3])]);
        assert_eq!(races(&json!([one, two])), Ok(vec![(1, 2, 2), (2, 3, 3)]));
    }

    #[test]
    fn reports_on_other_traces_are_refused_or_left_out() {
        let (here, there) = (report(3, &[race(1, 2, &[])]), report(4, &[race(1, 2, &[])]));
        assert!(races(&there).unwrap_err().contains("4 events"));
        assert_eq!(races(&json!([there, here])), Ok(vec![(1, 2, 0)]));
        let mut other = race(1, 2, &[]);
        other["second"]["thread"] = json!("C");
        assert!(races(&report(3, &[other])).unwrap_err().contains("its event 2 is by C at 2"));
        assert!(races(&report(3, &[race(1, 9, &[])])).unwrap_err().contains("event 9"));
        assert!(races(&json!({})).is_err() && Reports::parse("[1").is_err());
        assert_eq!(races(&report(3, &[])), Ok(vec![]));
    }
}
