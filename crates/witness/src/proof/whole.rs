//! Certificates for a whole trace: nothing but what was reported can race.

use std::collections::HashSet;
use std::fmt::Write as _;

use foretell_trace::{EventId, Loc, Model, Trace};

use super::coverage::for_each_open;
use super::facts::TraceFacts;
use super::{Refusal, Refuted};
use crate::model::supported;
use crate::referee::conflict;

/// What a reported race stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Itself alone.
    Events,
    /// All pairs of accesses at its two locations.
    Locations,
}

/// The first line of the list of races.
const FIRST_LINE: &str = "foretell-races 1";

impl Extent {
    fn name(self) -> &'static str {
        match self {
            Extent::Events => "events",
            Extent::Locations => "locations",
        }
    }
}

/// What is proven of a trace: no pair can be made adjacent in the model but those that were reported. Only
/// [`Examination::finish`] makes these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NothingElse {
    model: Model,
    extent: Extent,
    reported: usize,
    certificates: usize,
}

impl NothingElse {
    /// How far schedules may deviate from what was observed.
    pub fn model(self) -> Model {
        self.model
    }

    /// What each reported race stands for.
    pub fn extent(self) -> Extent {
        self.extent
    }

    /// How many races were reported.
    pub fn reported(self) -> usize {
        self.reported
    }

    /// How many pairs have a certificate of their own.
    pub fn certificates(self) -> usize {
        self.certificates
    }
}

/// Why nothing is proven of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unproven {
    /// Nothing was said about this pair, which may race.
    Open(EventId, EventId),
    /// It was stopped before the end.
    Stopped,
}

/// An examination of a whole trace.
#[derive(Debug)]
pub struct Examination<'f> {
    facts: &'f TraceFacts<'f>,
    model: Model,
    extent: Extent,
    reported: HashSet<(EventId, EventId)>,
    locations: HashSet<(Loc, Loc)>,
    refuted: HashSet<(EventId, EventId)>,
}

impl<'f> Examination<'f> {
    /// Examines whether there are more races than these.
    pub fn new(
        facts: &'f TraceFacts<'f>,
        model: Model,
        extent: Extent,
        reported: impl IntoIterator<Item = (EventId, EventId)>,
    ) -> Examination<'f> {
        let reported: HashSet<_> = reported.into_iter().collect();
        let loc = |event: &EventId| facts.trace().events().get(event.index()).map(|event| event.loc);
        let locations = reported.iter().filter(|_| extent == Extent::Locations);
        let locations = locations.filter_map(|(a, b)| Some(unordered(loc(a)?, loc(b)?))).collect();
        let model = supported(model, facts.trace());
        Examination { facts, model, extent, reported, locations, refuted: HashSet::new() }
    }

    /// The examination that a list of races asks for.
    pub fn read(facts: &'f TraceFacts<'f>, text: &str) -> Result<Examination<'f>, Refusal> {
        let refuse = |line: usize, reason: String| Refusal { line: line + 1, reason };
        let mut lines = text.lines().enumerate();
        let mut field = |word: &str| match lines.next() {
            Some((_, line)) if line == word => Ok(line),
            Some((number, line)) => line
                .strip_prefix(word)
                .and_then(|rest| rest.strip_prefix(' '))
                .ok_or_else(|| refuse(number, format!("here should be `{word}`"))),
            None => Err(refuse(text.lines().count(), format!("here should be `{word}`"))),
        };
        field(FIRST_LINE)?;
        let name = field("model")?;
        let model = Model::from_name(name).ok_or_else(|| refuse(1, format!("there is no model `{name}`")))?;
        let count = field("events")?;
        if count.parse() != Ok(facts.trace().events().len()) {
            let found = facts.trace().events().len();
            return Err(refuse(2, format!("it is about a trace with {count} events; this one has {found}")));
        }
        let name = field("pairs")?;
        let extent = [Extent::Events, Extent::Locations].into_iter().find(|extent| extent.name() == name);
        let extent = extent.ok_or_else(|| refuse(3, "here should be `events` or `locations`".to_string()))?;
        let mut reported = Vec::new();
        for (number, line) in lines {
            let event = |word: &str| facts.trace().id(word.parse().ok()?);
            let numbers = line.strip_prefix("race ").and_then(|rest| rest.split_once(' '));
            let pair = numbers.and_then(|(first, second)| event(first).zip(event(second)));
            let pair = pair.filter(|&(first, second)| {
                let (one, other) = (facts.trace().event(first), facts.trace().event(second));
                first < second && one.thread != other.thread && conflict(&one, &other)
            });
            let wrong = || refuse(number, "here should be `race` and two accesses that conflict".to_string());
            reported.push(pair.ok_or_else(wrong)?);
        }
        Ok(Examination::new(facts, model, extent, reported))
    }

    /// This pair cannot be made adjacent. Proofs for other models are of no use.
    pub fn refute(&mut self, refuted: &Refuted) {
        self.refuted.extend(refuted.pair().filter(|_| refuted.model() == self.model));
    }

    /// Calls `visit` with all pairs that are left, until it fails. Says whether it was not stopped before the end.
    pub fn for_each_open<E>(
        &self,
        is_stopped: &dyn Fn() -> bool,
        mut visit: impl FnMut(EventId, EventId) -> Result<(), E>,
    ) -> Result<bool, E> {
        for_each_open(
            self.facts,
            |a, b| self.locations.contains(&unordered(a, b)),
            is_stopped,
            |first, second| {
                let pair = (first, second);
                let is_known = self.refuted.contains(&pair) || self.reported.contains(&pair);
                if is_known { Ok(()) } else { visit(first, second) }
            },
        )
    }

    /// What is proven, or why nothing is.
    pub fn finish(self, is_stopped: &dyn Fn() -> bool) -> Result<NothingElse, Unproven> {
        if !self.for_each_open(is_stopped, |first, second| Err(Unproven::Open(first, second)))? {
            return Err(Unproven::Stopped);
        }
        Ok(NothingElse {
            model: self.model,
            extent: self.extent,
            reported: self.reported.len(),
            certificates: self.refuted.len(),
        })
    }
}

fn unordered(a: Loc, b: Loc) -> (Loc, Loc) {
    (a.min(b), a.max(b))
}

/// The list of races that [`Examination::read`] reads.
pub fn races_text(
    trace: &Trace,
    model: Model,
    extent: Extent,
    races: impl IntoIterator<Item = (EventId, EventId)>,
) -> String {
    let events = trace.events().len();
    let mut text =
        format!("{FIRST_LINE}\nmodel {}\nevents {events}\npairs {}\n", model.name(), extent.name());
    for (first, second) in races {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "race {first} {second}");
    }
    text
}
