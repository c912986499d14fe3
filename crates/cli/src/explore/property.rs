//! Properties as they are written on the command line.

use std::fmt;

use foretell_explore::{Exclusive, Property, Race};
use foretell_trace::{EventId, Trace};
use foretell_witness::Machine;

/// What should hold in every state, by the numbers of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// These two never race.
    Race(u32, u32),
    /// No two threads are inside these parts at once, each from its first event to its last.
    Exclusive([(u32, u32); 2]),
}

impl Wanted {
    pub(crate) const HELP: &str = "\
What should hold in every state; may be given several times:
  race A,B              events A and B never race
  exclusive A..B,C..D   no two threads are inside these parts at once: one thread has run A, but not B, and
                        another one has run C, but not D";

    /// Reads what is written on the command line.
    pub(crate) fn parse(text: &str) -> Result<Wanted, String> {
        let (kind, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let pair = rest.split_once(',');
        match kind {
            "race" => pair
                .and_then(|(a, b)| Some(Wanted::Race(number(a)?, number(b)?)))
                .ok_or("expected the numbers of two events, such as `race 3,10`".to_string()),
            "exclusive" => pair
                .and_then(|(a, b)| Some(Wanted::Exclusive([part(a)?, part(b)?])))
                .ok_or("expected two parts of threads, such as `exclusive 3..5,10..12`".to_string()),
            _ => Err("expected `race A,B` or `exclusive A..B,C..D`".to_string()),
        }
    }

    /// The property of this trace, or why it is none.
    pub(crate) fn bind(self, trace: &Trace) -> Result<Box<dyn Property>, String> {
        let id = |number| {
            let missing = || format!("there is no event {number}: the trace has {}", trace.events().len());
            trace.id(number).ok_or_else(missing)
        };
        let bad = |error: foretell_explore::BadProperty| error.to_string();
        match self {
            Wanted::Race(a, b) => Ok(Box::new(Race::new(trace, id(a)?, id(b)?).map_err(bad)?)),
            Wanted::Exclusive([first, second]) => {
                let (first, second) = (id(first.0)?..=id(first.1)?, id(second.0)?..=id(second.1)?);
                Ok(Box::new(Exclusive::new(trace, first, second).map_err(bad)?))
            }
        }
    }

    /// Whether the referee's machine, too, is in a state in which this does not hold.
    pub(crate) fn is_violated(self, trace: &Trace, machine: &Machine<'_>) -> bool {
        match self {
            Wanted::Race(a, b) => [a, b].into_iter().all(|number| {
                trace.id(number).is_some_and(|event| {
                    let thread = trace.event(event).thread;
                    machine.next(thread) == Some(event) && machine.could_race(thread).is_ok()
                })
            }),
            Wanted::Exclusive(parts) => {
                let has_run = |number| trace.id(number).is_some_and(|event: EventId| machine.has_run(event));
                parts.iter().all(|&(begin, end)| has_run(begin) && !has_run(end))
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Race(a, b) => write!(f, "race {a},{b}"),
            Wanted::Exclusive([(a, b), (c, d)]) => write!(f, "exclusive {a}..{b},{c}..{d}"),
        }
    }
}

/// The number of an event.
fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|&number| number > 0)
}

/// Two events with `..` in between.
fn part(text: &str) -> Option<(u32, u32)> {
    let (begin, end) = text.split_once("..")?;
    Some((number(begin)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for text in ["race 3,10", "exclusive 3..5,10..12"] {
            assert_eq!(Wanted::parse(text).expect("a property").to_string(), text);
        }
        assert_eq!(Wanted::parse(" race  3 , 10 "), Ok(Wanted::Race(3, 10)));
        for nonsense in
            ["", "race", "race 3", "race 0,1", "race a,b", "exclusive 1,2", "exclusive 1..2", "rice 1,2"]
        {
            assert!(Wanted::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
