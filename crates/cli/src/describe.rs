//! What makes a report readable: stacks, locks, source lines, and how each race comes about. Looked up once everything is
//! decided, in one pass over the trace for all that was found.

use foretell_report::{Access, Decision, Observed, Race, Report, Story, Telling, Walk, add_surroundings};
use foretell_trace::{EventId, Names, Trace};

use crate::analysis::held::Held;
use crate::args::{OutputFormat, WantedArgs};
use crate::error::Failure;
use crate::sources::Sources;
use crate::stop;

/// How many events may be looked at in all to find out why the recorded run hides races.
const LOOKED_AT: usize = 20_000_000;

/// Adds to a report what is around its accesses, and the stories of its races where somebody reads them. The events of the
/// report are those of the held trace.
pub(crate) fn describe(held: &Held<'_>, report: &mut Report, wanted: &WantedArgs) -> Result<(), Failure> {
    let mut accesses: Vec<&mut Access> = Vec::new();
    accesses.extend(report.races.iter_mut().flat_map(|race| [&mut race.first, &mut race.second]));
    accesses.extend(report.undecided.iter_mut().flat_map(|open| [&mut open.first, &mut open.second]));
    look_around(held, &mut accesses)?;
    if let (Some(trace), Some(telling)) = (held.get(), telling(wanted)) {
        tell_stories(trace, &mut report.races, telling);
    }
    Ok(())
}

/// The same for the word on one pair.
pub(crate) fn describe_decision(
    held: &Held<'_>,
    decision: &mut Decision,
    wanted: &WantedArgs,
) -> Result<(), Failure> {
    look_around(held, &mut [&mut decision.first, &mut decision.second])?;
    if let (Some(trace), Some(telling), Some(witness)) = (held.get(), telling(wanted), &decision.witness) {
        decision.story = Story::new(trace, witness, telling);
    }
    Ok(())
}

/// How much of a story is wanted. Programs do not read stories.
fn telling(wanted: &WantedArgs) -> Option<Telling> {
    match wanted.format {
        OutputFormat::Json => None,
        OutputFormat::Text if wanted.witness == usize::MAX => Some(Telling::All),
        OutputFormat::Text => Some(Telling::Essence),
    }
}

fn look_around(held: &Held<'_>, accesses: &mut [&mut Access]) -> Result<(), Failure> {
    if accesses.is_empty() {
        return Ok(());
    }
    let mut walk = Walk::new(accesses.iter().filter_map(|access| EventId::from_number(access.event)));
    if let Some(trace) = held.get() {
        walk.batch(EventId::FIRST, trace.events());
        enter(accesses, walk, trace.names());
    } else {
        // Whoever wants everything to stop does not wait for this.
        let mut reading = held.input().open("looks up")?;
        while !walk.is_done() && !stop::is_requested() {
            let Some((first, events)) = reading.next()? else { break };
            walk.batch(first, events);
        }
        reading.done();
        enter(accesses, walk, reading.names());
    }
    Ok(())
}

fn enter(accesses: &mut [&mut Access], walk: Walk, names: &Names) {
    add_surroundings(accesses.iter_mut().map(|access| &mut **access), &walk.finish(), names);
    let mut sources = Sources::default();
    for access in accesses {
        access.source = sources.line(&access.location);
    }
}

fn tell_stories(trace: &Trace, races: &mut [Race], telling: Telling) {
    let mut left = LOOKED_AT;
    for race in races {
        race.story = race.witness.as_ref().and_then(|witness| Story::new(trace, witness, telling));
        let (Some(first), Some(second)) = (trace.id(race.first.event), trace.id(race.second.event)) else {
            continue;
        };
        // The way from one to the other is gone twice at most.
        if let Some(rest) = left.checked_sub(2 * second.index().saturating_sub(first.index())) {
            left = rest;
            race.observed = Observed::new(trace, first, second);
        }
    }
}
