//! The analysis of one shard of a trace that does not fit into memory. What is found there holds for the whole trace.
//!
//! Races come with the end of their witness: it begins with all events before the shard, as they were recorded. The
//! referee has checked it on the shard, whose border events bring about the state after these.

use std::collections::{BTreeSet, HashMap, HashSet};

use foretell_detect::Pairs;
use foretell_predict::{Key, Part, Technique};
use foretell_report::{
    PartReport, Race, RacingAccess, Report, ShardResult, TraceInfo, Unsettled, WitnessTail,
};
use foretell_shard::{ShardTrace, Whole};
use foretell_trace::{Loc, Names, Trace};

use crate::analysis::{Analysis, Judged, Room};
use crate::control::Control;
use crate::describe::{Excerpts, report_without_stories};
use crate::error::Error;
use crate::exact::{Exact, Workers};
use crate::input::Input;
use crate::plan::{Choice, Plan};

/// The technique that the plan stands for on shards: of `auto`, the strongest that needs no more of the trace.
pub fn technique(plan: &Plan) -> Result<Technique, Error> {
    const GOOD: [Technique; 3] = [Technique::Rf, Technique::Mcm, Technique::Rv];
    if plan.window.is_some() {
        return Err(Error::Plan("--window does not go together with shards, which are windows".to_string()));
    }
    match plan.choice {
        Choice::Auto => Ok(Technique::Rv),
        Choice::One(technique) if GOOD.contains(&technique) => Ok(technique),
        Choice::One(technique) => Err(Error::Plan(format!(
            "{} does not work on shards; use one of {}, or auto",
            technique.name(),
            GOOD.map(Technique::name).join(", ")
        ))),
    }
}

/// A report of shards that says nothing yet. `file` is the trace.
pub fn begin((id, shards): (u32, u32), file: &str, whole: &Whole, plan: &Plan) -> Result<PartReport, Error> {
    let trace = TraceInfo {
        file: file.to_string(),
        events: usize::try_from(whole.events).unwrap_or(usize::MAX),
        threads: usize::try_from(whole.threads).unwrap_or(usize::MAX),
        cut_short: whole.cut_short,
        unexplained_reads: whole.unexplained_reads,
        ..TraceInfo::default()
    };
    let by_location = plan.pairs == Pairs::ByLocation;
    Ok(PartReport::new(id, shards, technique(plan)?.name(), by_location, trace))
}

/// Decides the pairs that belong to a shard, but for those of locations that are known to race; each two of these in
/// the order of their names.
pub fn analyse_shard(
    number: u32,
    shard: &ShardTrace,
    plan: &Plan,
    known: &BTreeSet<(String, String)>,
    control: &dyn Control,
    excerpts: &mut dyn Excerpts,
) -> Result<ShardResult, Error> {
    let technique = technique(plan)?;
    let part = Part { border: shard.border, owned: shard.owned, continues: shard.continues };
    let part = (!shard.is_whole()).then_some(part);
    let exact = Exact::of_part(&shard.trace, technique, plan, control, part)?;
    let (mut workers, mut room) = (Workers::new(plan.jobs), Room { left: plan.witness_steps });
    let judged = exact.run_beside(proven(known, &shard.trace), &mut workers, &mut room)?;
    let not_in_window = unsettled(&judged, shard.trace.names());
    let mut analysis = Analysis::new(Choice::One(technique));
    analysis.add(judged, plan);
    let input = Input::of_trace("shard", &shard.trace);
    let mut report = report_without_stories(&input, analysis, excerpts, control)?;
    renumber(&mut report, shard);
    Ok(ShardResult {
        shard: number,
        races: report.races,
        undecided: report.undecided,
        refuted: report.stats.refuted,
        not_in_window,
        not_examined: report.stats.not_examined,
        not_listed: report.stats.not_listed,
        notes: report.notes,
    })
}

/// What need not be decided as these locations are known to race.
fn proven(known: &BTreeSet<(String, String)>, trace: &Trace) -> HashSet<Key> {
    if known.is_empty() {
        return HashSet::new();
    }
    let locations: HashSet<Loc> = trace.events().iter().map(|event| event.loc).collect();
    let by_name: HashMap<String, Loc> =
        locations.into_iter().map(|loc| (trace.names().loc_text(loc).into_owned(), loc)).collect();
    let key = |(a, b): &(String, String)| {
        let (a, b) = (*by_name.get(a)?, *by_name.get(b)?);
        Some(Key::Locations(a.min(b), a.max(b)))
    };
    known.iter().filter_map(key).collect()
}

/// The locations of two accesses, in the order of their names.
pub(crate) fn of_locations(first: &RacingAccess, second: &RacingAccess) -> (String, String) {
    let (a, b) = (first.location.clone(), second.location.clone());
    if a <= b { (a, b) } else { (b, a) }
}

/// The pairs that have no race within a window, by locations.
fn unsettled(judged: &Judged, names: &Names) -> Vec<Unsettled> {
    let mut of_events = 0;
    let mut found = Vec::new();
    for &(key, pairs) in &judged.not_in_window {
        match key {
            Key::Locations(a, b) => {
                let (a, b) = (names.loc_text(a).into_owned(), names.loc_text(b).into_owned());
                let locations = Some(if a <= b { (a, b) } else { (b, a) });
                found.push(Unsettled { locations, pairs });
            }
            Key::Events(_) => of_events += pairs,
        }
    }
    found.sort_by(|a, b| a.locations.cmp(&b.locations));
    if of_events > 0 {
        found.push(Unsettled { locations: None, pairs: of_events });
    }
    found
}

/// Makes the report one of the whole trace.
fn renumber(report: &mut Report, shard: &ShardTrace) {
    for race in &mut report.races {
        race.witness_tail = race.witness.take().map(|witness| tail(&witness, shard));
        race.witness_length =
            race.witness_length.map(|length| length - shard.border as usize + shard.before() as usize);
        let Race { first, second, .. } = race;
        [first, second].into_iter().for_each(|access| renumber_access(access, shard));
    }
    for open in &mut report.undecided {
        [&mut open.first, &mut open.second].into_iter().for_each(|access| renumber_access(access, shard));
    }
}

/// A witness begins with the border events, which stand for all that comes before the shard.
fn tail(witness: &[u32], shard: &ShardTrace) -> WitnessTail {
    let own = witness.iter().skip(shard.border as usize);
    let events = own.filter_map(|&event| shard.original(event)).collect();
    WitnessTail { after: shard.before(), events }
}

fn renumber_access(access: &mut RacingAccess, shard: &ShardTrace) {
    let original = |number: &mut u32| *number = shard.original(*number).unwrap_or(*number);
    original(&mut access.event);
    let origins = [&mut access.thread_started, &mut access.memory_allocated];
    origins.into_iter().flatten().for_each(|origin| original(&mut origin.event));
}
