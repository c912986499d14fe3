//! What slices are asked for on the command line.

use std::fmt;

use foretell_depend::Flow;
use foretell_depend::slice::{Property, Rule};
use foretell_engine::{Sliced, pair};
use foretell_trace::{EventId, Trace};

use crate::args::RuleArg;
use crate::error::Failure;

/// What a slice is for, as written on the command line. Events are given by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// These two accesses.
    Race(u32, u32),
    /// These events.
    Events(Vec<u32>),
    /// All accesses to these variables.
    On(Vec<String>),
}

impl Purpose {
    pub(crate) const HELP: &str = "\
Keep only the events that PROPERTY depends on, so that fewer reads are pinned:
  race A,B         the race of events A and B
  on X,Y,…         all accesses to these variables
  events A,B,C,…   these events
The data and control flow of a CIMP program shows what depends on what. A trace alone does not, so little is dropped.";

    /// Reads what is written on the command line.
    pub(crate) fn parse(text: &str) -> Result<Purpose, String> {
        let (kind, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let items: Vec<&str> = rest.split(',').map(str::trim).collect();
        let numbers: Option<Vec<u32>> =
            items.iter().map(|item| item.parse().ok().filter(|&number| number > 0)).collect();
        match (kind, numbers.as_deref()) {
            ("race", Some(&[a, b])) if a != b => Ok(Purpose::Race(a.min(b), a.max(b))),
            ("race", _) => Err("expected the numbers of two events, such as `race 3,10`".to_string()),
            ("events", Some(numbers)) => Ok(Purpose::Events(numbers.to_vec())),
            ("events", None) => Err("expected the numbers of events, such as `events 1,5,6`".to_string()),
            ("on", _) if items.iter().all(|item| !item.is_empty()) => {
                Ok(Purpose::On(items.into_iter().map(String::from).collect()))
            }
            ("on", _) => Err("expected names of variables, such as `on x,y`".to_string()),
            _ => Err("expected `race A,B`, `on X,…` or `events A,…`".to_string()),
        }
    }

    /// The events of the trace that it is about.
    fn events(&self, trace: &Trace) -> Result<Vec<EventId>, Failure> {
        let bad = |why: String| Failure::Usage(format!("--slice '{self}': {why}"));
        let id = |&number: &u32| {
            trace.id(number).ok_or_else(|| {
                bad(format!("there is no event {number}: the trace has {}", trace.events().len()))
            })
        };
        match self {
            Purpose::Race(a, b) => [a, b].into_iter().map(id).collect(),
            Purpose::Events(numbers) => numbers.iter().map(id).collect(),
            Purpose::On(names) => {
                let name_of = |event: EventId| {
                    trace.event(event).op.access().map(|access| trace.names().vars.name(access.var))
                };
                // An array stands for all of its elements.
                let is_meant = |name: &str, variable: &str| {
                    let rest = variable.strip_prefix(name);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                };
                let all = || trace.iter().map(|(event, _)| event);
                let touches =
                    |event, name: &str| name_of(event).is_some_and(|variable| is_meant(name, variable));
                if let Some(name) = names.iter().find(|name| !all().any(|event| touches(event, name))) {
                    return Err(bad(format!("nothing in the trace accesses `{name}`")));
                }
                let wanted = |event: &EventId| names.iter().any(|name| touches(*event, name));
                Ok(all().filter(wanted).collect())
            }
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Purpose::Race(a, b) => write!(f, "race {a},{b}"),
            Purpose::Events(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(f, "events {}", numbers.join(","))
            }
            Purpose::On(names) => write!(f, "on {}", names.join(",")),
        }
    }
}

/// The slice for the question whether two events race, and for no other question; or, for other purposes, the one that
/// [`to_explore`] makes.
pub(crate) fn to_predict(trace: &Trace, flow: Option<&Flow>, purpose: &Purpose) -> Result<Sliced, Failure> {
    if let &Purpose::Race(a, b) = purpose {
        pair::find(trace, (a, b)).map_err(Failure::Usage)?;
    }
    let property = match (purpose, purpose.events(trace)?.as_slice()) {
        (Purpose::Race(..), &[a, b]) => Property::race(a, b),
        (_, events) => Property::events(events.iter().copied()),
    };
    slice(trace, flow, purpose, &property, Rule::Sound)
}

/// A slice in all runs of which the property's events happen as in some run of the program.
pub(crate) fn to_explore(
    trace: &Trace,
    flow: Option<&Flow>,
    purpose: &Purpose,
    rule: RuleArg,
) -> Result<Sliced, Failure> {
    let property = Property::events(purpose.events(trace)?);
    slice(trace, flow, purpose, &property, rule.into())
}

fn slice(
    trace: &Trace,
    flow: Option<&Flow>,
    purpose: &Purpose,
    property: &Property,
    rule: Rule,
) -> Result<Sliced, Failure> {
    Sliced::new(trace, flow, purpose.to_string(), property, rule)
        .map_err(|error| Failure::Usage(format!("--slice '{purpose}' leaves no trace: {error}")))
}

impl From<RuleArg> for Rule {
    fn from(rule: RuleArg) -> Rule {
        match rule {
            RuleArg::Sound => Rule::Sound,
            RuleArg::Published => Rule::Published,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for text in ["race 3,10", "events 1,5,6", "on x,a[0]"] {
            assert_eq!(Purpose::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Purpose::parse(" race 10 , 3"), Ok(Purpose::Race(3, 10)));
        for nonsense in
            ["", "race", "race 3", "race 3,3", "events", "events x", "events 0", "on", "on x,", "x"]
        {
            assert!(Purpose::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
