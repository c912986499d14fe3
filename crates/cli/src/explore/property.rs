//! Properties as they are written on the command line.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_cimp::Condition;
use foretell_explore::{Exclusive, Property, Race, State};
use foretell_trace::{EventId, Names, Trace, Value, VarId};
use foretell_witness::Machine;

use foretell_engine::Sliced;

/// What should hold in every state. Events are given by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// This holds of shared memory.
    Assert(Condition),
    /// These two never race.
    Race(u32, u32),
    /// No two threads are inside these parts at once, each from its first event to its last.
    Exclusive([(u32, u32); 2]),
}

impl Wanted {
    pub(crate) const HELP: &str = "\
Check that PROPERTY holds in every state; repeatable:
  assert CONDITION     a condition on shared variables, such as x + y <= 2 && a[0] != 1
  race A,B             events A and B never race
  exclusive A..B,C..D  two critical sections never overlap: no thread is between its
                       events A and B while another one is between C and D";

    /// Reads what is written on the command line.
    pub(crate) fn parse(text: &str) -> Result<Wanted, String> {
        let (kind, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let pair = rest.split_once(',');
        match kind {
            "assert" => Condition::parse(rest)
                .map(Wanted::Assert)
                .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
            "race" => pair
                .and_then(|(a, b)| Some(Wanted::Race(number(a)?, number(b)?)))
                .ok_or("expected the numbers of two events, such as `race 3,10`".to_string()),
            "exclusive" => pair
                .and_then(|(a, b)| Some(Wanted::Exclusive([part(a)?, part(b)?])))
                .ok_or("expected two parts of threads, such as `exclusive 3..5,10..12`".to_string()),
            _ => Err("expected `assert CONDITION`, `race A,B` or `exclusive A..B,C..D`".to_string()),
        }
    }

    /// The same in the numbers of a slice, or why the slice cannot tell.
    pub(crate) fn sliced(&self, slice: &Sliced) -> Result<Wanted, String> {
        let number = |event: u32| {
            slice.sliced(event).ok_or_else(|| format!("{self}: event {event} is not in the slice"))
        };
        let part = |(begin, end)| Ok::<_, String>((number(begin)?, number(end)?));
        match *self {
            Wanted::Assert(_) => Err(format!("{self}: what variables hold is not known in a slice")),
            Wanted::Race(a, b) => Ok(Wanted::Race(number(a)?, number(b)?)),
            Wanted::Exclusive([first, second]) => Ok(Wanted::Exclusive([part(first)?, part(second)?])),
        }
    }

    /// The property of this trace, or why it is none. Where it is unknown whether it holds, there is a doubt.
    pub(crate) fn bind(&self, trace: &Trace, doubt: Doubt) -> Result<Box<dyn Property>, String> {
        let id = |number| {
            let missing = || format!("there is no event {number}: the trace has {}", trace.events().len());
            trace.id(number).ok_or_else(missing)
        };
        let bad = |error: foretell_explore::BadProperty| error.to_string();
        match *self {
            Wanted::Assert(ref condition) => Ok(Box::new(Assertion::new(condition, trace, doubt)?)),
            Wanted::Race(a, b) => Ok(Box::new(Race::new(trace, id(a)?, id(b)?).map_err(bad)?)),
            Wanted::Exclusive([first, second]) => {
                let (first, second) = (id(first.0)?..=id(first.1)?, id(second.0)?..=id(second.1)?);
                Ok(Box::new(Exclusive::new(trace, first, second).map_err(bad)?))
            }
        }
    }

    /// Whether the referee's machine, too, is in a state in which this does not hold.
    pub(crate) fn is_violated(&self, trace: &Trace, machine: &Machine<'_>) -> bool {
        match *self {
            Wanted::Assert(ref condition) => Assertion::new(condition, trace, Doubt::default())
                .is_ok_and(|asserted| !asserted.of(|var| machine.value(var))),
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
            Wanted::Assert(condition) => write!(f, "assert {condition}"),
            Wanted::Race(a, b) => write!(f, "race {a},{b}"),
            Wanted::Exclusive([(a, b), (c, d)]) => write!(f, "exclusive {a}..{b},{c}..{d}"),
        }
    }
}

/// A condition on the variables of a trace.
struct Assertion {
    condition: Condition,
    /// The variables that it speaks of, by name; all elements of arrays.
    variables: HashMap<String, VarId>,
    /// What the values of the trace are as numbers, where they are numbers.
    names: Names,
    /// Set once it was unknown whether it holds.
    doubt: Doubt,
}

/// Whether there is a state of which it is not known whether a property holds in it.
pub(crate) type Doubt = Arc<AtomicBool>;

impl Assertion {
    fn new(condition: &Condition, trace: &Trace, doubt: Doubt) -> Result<Assertion, String> {
        let names = trace.names();
        let is_meant = |variable: &str| {
            let (name, is_element) =
                variable.split_once('[').map_or((variable, false), |(array, _)| (array, true));
            condition.names().any(|meant| meant == (name, is_element))
        };
        let accesses = trace.events().iter().filter_map(|event| event.op.access());
        let variables: HashMap<String, VarId> = accesses
            .map(|access| (names.vars.name(access.var), access.var))
            .filter(|(name, _)| is_meant(name))
            .map(|(name, var)| (name.to_string(), var))
            .collect();
        let occurs = |(name, is_element): (&str, bool)| {
            variables.keys().any(|variable| {
                variable.split('[').next() == Some(name) && variable.contains('[') == is_element
            })
        };
        match condition.names().find(|&meant| !occurs(meant)) {
            Some((name, false)) => Err(format!("nothing in the trace accesses `{name}`")),
            Some((name, true)) => Err(format!("nothing in the trace accesses an element of `{name}`")),
            None => Ok(Assertion { condition: condition.clone(), variables, names: names.clone(), doubt }),
        }
    }

    /// Whether it holds of these contents. What is not known, such as a variable whose values the trace does not show,
    /// cannot violate it, but leaves a doubt.
    fn of(&self, content: impl Fn(VarId) -> Option<Value>) -> bool {
        let number = |name: &str| {
            let value = content(*self.variables.get(name)?)?;
            self.names.value_text(value).parse().ok()
        };
        self.condition.holds(&number).unwrap_or_else(|| {
            self.doubt.store(true, Ordering::Relaxed);
            true
        })
    }
}

impl Property for Assertion {
    fn variables(&self) -> Vec<VarId> {
        self.variables.values().copied().collect()
    }

    fn holds(&self, state: &State<'_>) -> bool {
        self.of(|var| state.value(var))
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
        for text in ["race 3,10", "exclusive 3..5,10..12", "assert x + 1 <= a[2]"] {
            assert_eq!(Wanted::parse(text).expect("a property").to_string(), text);
        }
        assert_eq!(Wanted::parse(" race  3 , 10 "), Ok(Wanted::Race(3, 10)));
        for nonsense in [
            "",
            "assert",
            "assert x <",
            "assert f(1)",
            "race",
            "race 3",
            "race 0,1",
            "race a,b",
            "exclusive 1,2",
            "exclusive 1..2",
            "rice 1,2",
        ] {
            assert!(Wanted::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
