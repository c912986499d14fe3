//! The races of a report, found again in the trace.

use std::collections::BTreeSet;

use foretell_trace::{EventId, Names, Trace};
use serde::Deserialize;

/// A race that a report tells of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Race {
    /// The access that comes first in the trace.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// The schedule that shows it, ending with the two; empty if the report has none.
    pub witness: Vec<EventId>,
}

/// Of a report, what is needed here.
#[derive(Debug, Deserialize)]
struct Report {
    trace: TraceInfo,
    #[serde(default)]
    races: Vec<Reported>,
}

#[derive(Debug, Deserialize)]
struct TraceInfo {
    #[serde(default)]
    file: String,
    events: usize,
    slice: Option<Slice>,
}

/// The numbers of events are those of the whole trace.
#[derive(Debug, Deserialize)]
struct Slice {
    of: usize,
}

#[derive(Debug, Deserialize)]
struct Reported {
    first: Access,
    second: Access,
    #[serde(default)]
    witness: Vec<u32>,
}

/// An access, as a report has it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Access {
    pub(crate) event: u32,
    thread: String,
    location: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Document {
    One(Box<Report>),
    Many(Vec<Report>),
}

/// Reports, not yet compared with any trace.
#[derive(Debug, Default)]
pub struct Reports(Vec<Report>);

impl Reports {
    /// Reads what `foretell predict --format json` has written.
    pub fn parse(json: &str) -> Result<Reports, String> {
        match serde_json::from_str(json) {
            Ok(Document::One(report)) => Ok(Reports(vec![*report])),
            Ok(Document::Many(reports)) => Ok(Reports(reports)),
            Err(_) => Err("this is no report of `foretell predict --format json`".to_string()),
        }
    }

    /// The races of this trace. Of several reports, those on traces of another length are left out; what does not fit the
    /// trace is an error.
    pub fn races(&self, trace: &Trace) -> Result<Vec<Race>, String> {
        let events = trace.events().len();
        let of_trace = |report: &&Report| report.events() == events;
        let mut races = BTreeSet::new();
        for report in self.0.iter().filter(of_trace) {
            for race in &report.races {
                races.insert(race.find(trace).map_err(|wrong| report.is_of_another(&wrong))?);
            }
        }
        match (self.0.first(), self.0.iter().any(|report| report.events() == events)) {
            (Some(report), false) => Err(report.is_of_another(&format!("it has {} events", report.events()))),
            _ => Ok(without_repetition(races)),
        }
    }

    /// How many events the trace has by each report, for whoever has not read it yet.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(Report::events)
    }

    /// The two accesses of each race.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = [&Access; 2]> {
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

impl Report {
    fn events(&self) -> usize {
        self.trace.slice.as_ref().map_or(self.trace.events, |slice| slice.of)
    }

    fn is_of_another(&self, wrong: &str) -> String {
        format!("the report is on another trace ({}): {wrong}", self.trace.file)
    }
}

impl Reported {
    fn find(&self, trace: &Trace) -> Result<Race, String> {
        let find = |number| trace.id(number).ok_or_else(|| format!("it has an event {number}"));
        let witness: Result<Vec<EventId>, String> = self.witness.iter().map(|&number| find(number)).collect();
        let race =
            Race { first: find(self.first.event)?, second: find(self.second.event)?, witness: witness? };
        self.first.check(trace, race.first)?;
        self.second.check(trace, race.second)?;
        Ok(race)
    }
}

impl Access {
    fn check(&self, trace: &Trace, id: EventId) -> Result<(), String> {
        let (event, names) = (trace.event(id), trace.names());
        let (thread, location) = (names.threads.name(event.thread), names.loc_text(event.loc));
        if self.is(thread, &location) { Ok(()) } else { Err(self.to_string()) }
    }

    /// Whether it can be this one.
    pub(crate) fn is(&self, thread: &str, location: &str) -> bool {
        self.thread == thread && self.location == location
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "its event {} is by {} at {}", self.event, self.thread, self.location)
    }
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
    use super::*;

    const TRACE: &str = "A|w(x)|1\nB|w(x)|2\nA|w(x)|3\n";

    fn report(events: usize, races: &str) -> String {
        format!(r#"{{"trace":{{"file":"t","events":{events}}},"races":[{races}]}}"#)
    }

    fn race(first: u32, second: u32, witness: &str) -> String {
        let thread = |number| if number == 2 { "B" } else { "A" };
        format!(
            r#"{{"first":{{"event":{first},"thread":"{}","location":"{first}"}},
                "second":{{"event":{second},"thread":"{}","location":"{second}"}},"witness":{witness}}}"#,
            thread(first),
            thread(second)
        )
    }

    fn races(json: &str) -> Result<Vec<(u32, u32, usize)>, String> {
        let trace = foretell_testkit::trace(TRACE);
        let races = Reports::parse(json)?.races(&trace)?;
        Ok(races.iter().map(|race| (race.first.number(), race.second.number(), race.witness.len())).collect())
    }

    #[test]
    fn the_same_race_is_listed_once_with_its_shortest_witness() {
        let one = report(3, &[race(2, 3, "[]"), race(1, 2, "[1,2]")].join(","));
        let two = report(3, &race(2, 3, "[1,2,3]"));
        assert_eq!(races(&format!("[{one},{two}]")), Ok(vec![(1, 2, 2), (2, 3, 3)]));
    }

    #[test]
    fn reports_on_other_traces_are_refused_or_left_out() {
        let (here, there) = (report(3, &race(1, 2, "[]")), report(4, &race(1, 2, "[]")));
        assert!(races(&there).unwrap_err().contains("4 events"));
        assert_eq!(races(&format!("[{there},{here}]")), Ok(vec![(1, 2, 0)]));
        let other = race(1, 2, "[]").replace("\"B\"", "\"C\"");
        assert!(races(&report(3, &other)).unwrap_err().contains("its event 2 is by C at 2"));
        assert!(races(&report(3, &race(1, 9, "[]"))).unwrap_err().contains("event 9"));
        assert!(races("{}").is_err() && races("[1").is_err());
        assert_eq!(races(&report(3, "")), Ok(vec![]));
    }
}
