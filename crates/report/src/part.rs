//! What was found in some shards of a trace, and how the reports of all shards become one.
//!
//! A pair belongs to one shard, and what is said of it depends on that shard alone. So the report of the whole does not
//! depend on who has worked on which shards, nor in which order: races are put in the order of the trace, and of two
//! locations the first race counts. It has no times and no memory, which are those of machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fingerprint;
use crate::report::{Candidate, Race, RacingAccess, Report, TraceInfo};

/// The version of the form.
const VERSION: u32 = 1;

/// What was found in some shards of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartReport {
    /// The version of the form.
    foretell_part: u32,
    /// The version of the tool.
    pub version: String,
    /// What tells the plan from others.
    pub plan: u32,
    /// How many shards the plan has.
    pub shards: u32,
    /// The technique, by its name on the command line.
    pub technique: String,
    /// Whether there is one race for each pair of locations.
    pub by_location: bool,
    /// The whole trace.
    pub trace: TraceInfo,
    /// The pairs of locations with accesses that may race and lie in no common shard; of the first shard only, as it is
    /// the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<ApartPairs>,
    /// What was found, by shard.
    pub results: Vec<ShardResult>,
}

/// Pairs of locations with accesses that lie in no common shard.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ApartPairs {
    /// The pairs, each in the order of its names.
    pub pairs: Vec<(String, String)>,
    /// How many accesses were not compared.
    pub not_examined: u64,
}

/// What was found in one shard. Events have the numbers of the whole trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShardResult {
    /// Which shard, from 0 on.
    pub shard: u32,
    /// Races.
    pub races: Vec<Race>,
    /// Pairs that are not decided.
    pub undecided: Vec<Candidate>,
    /// How many pairs are no race.
    pub refuted: u64,
    /// Pairs that have no race within one window: how many of which locations; without locations where every pair of
    /// events is reported.
    pub not_in_window: Vec<Unsettled>,
    /// How many pairs were not examined.
    pub not_examined: u64,
    /// How many more pairs are not decided.
    pub not_listed: u64,
    /// What else keeps the answer from being complete.
    pub notes: Vec<String>,
}

/// Pairs of two locations that have no race within one window.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unsettled {
    /// The locations, in the order of their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<(String, String)>,
    /// How many pairs of accesses.
    pub pairs: u64,
}

/// Why reports of parts do not make one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// There are none.
    Nothing,
    /// They are of different plans.
    Plans,
    /// They were made by different techniques, or with other options.
    Options,
    /// They were made by different versions.
    Versions,
    /// Some shards are missing: the first of them, and how many there are.
    Missing(u32, usize),
    /// One shard was reported twice, with different results.
    Twice(u32),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Nothing => f.write_str("there is nothing to merge"),
            Mismatch::Plans => f.write_str("the reports are of different plans"),
            Mismatch::Options => f.write_str("the reports were made by different techniques or options"),
            Mismatch::Versions => f.write_str("the reports were made by different versions of foretell"),
            Mismatch::Missing(first, 1) => write!(f, "shard {} is missing", first + 1),
            Mismatch::Missing(first, number) => {
                write!(f, "{number} shards are missing; the first of them is shard {}", first + 1)
            }
            Mismatch::Twice(shard) => {
                write!(f, "shard {} was reported twice, with different results", shard + 1)
            }
        }
    }
}

impl PartReport {
    /// A report of no shard yet.
    pub fn new(plan: u32, shards: u32, technique: &str, by_location: bool, trace: TraceInfo) -> PartReport {
        PartReport {
            foretell_part: VERSION,
            version: env!("CARGO_PKG_VERSION").to_string(),
            plan,
            shards,
            technique: technique.to_string(),
            by_location,
            trace,
            apart: None,
            results: Vec::new(),
        }
    }

    /// The report as the content of a file.
    pub fn to_text(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Reads what [`PartReport::to_text`] has written; says what is wrong with anything else.
    pub fn from_text(text: &str) -> Result<PartReport, String> {
        #[derive(Deserialize)]
        struct Stamp {
            foretell_part: Option<u32>,
        }
        let what = |error: serde_json::Error| format!("it is no report of shards, or damaged: {error}");
        let stamp: Stamp = serde_json::from_str(text).map_err(what)?;
        match stamp.foretell_part {
            None => Err("it is no report of shards; `foretell predict --plan` writes these".to_string()),
            Some(VERSION) => serde_json::from_str(text).map_err(what),
            Some(found) => Err(format!(
                "it has version {found}, and this foretell reads version {VERSION}: make it again"
            )),
        }
    }
}

/// The report of a whole trace from those of all its shards. All witnesses together have at most so many steps.
pub fn merge(parts: Vec<PartReport>, witness_steps: usize) -> Result<Report, Mismatch> {
    let mut parts = parts;
    let Some(first) = parts.first() else { return Err(Mismatch::Nothing) };
    let (plan, shards, by_location) = (first.plan, first.shards, first.by_location);
    let (technique, trace, version) = (first.technique.clone(), first.trace.clone(), first.version.clone());
    if parts.iter().any(|part| (part.plan, part.shards) != (plan, shards)) {
        return Err(Mismatch::Plans);
    }
    if parts.iter().any(|part| part.version != version) {
        return Err(Mismatch::Versions);
    }
    if parts.iter().any(|part| part.technique != technique || part.by_location != by_location) {
        return Err(Mismatch::Options);
    }
    let apart = parts.iter_mut().find_map(|part| part.apart.take()).unwrap_or_default();
    let results = in_order(parts, shards)?;
    let mut report = Report::new(&technique);
    (report.trace, report.version) = (trace, version);
    add(&mut report, results, &apart, by_location, witness_steps);
    fingerprint::mark(&mut report);
    Ok(report)
}

/// Adds what was found in shards to a report: races and open pairs come after those that it has, in the order of the
/// trace, and what it has proven already is not added again. All witnesses of the shards have at most so many steps.
pub fn add(
    report: &mut Report,
    results: Vec<ShardResult>,
    apart: &ApartPairs,
    by_location: bool,
    witness_steps: usize,
) {
    let mut merged = Merged::new(by_location, report);
    results.into_iter().for_each(|result| merged.add(result));
    merged.finish(apart, witness_steps);
    report.complete = !report.is_open() && !report.trace.cut_short;
}

/// The results of all shards in their order.
fn in_order(parts: Vec<PartReport>, shards: u32) -> Result<Vec<ShardResult>, Mismatch> {
    let mut results: BTreeMap<u32, ShardResult> = BTreeMap::new();
    for result in parts.into_iter().flat_map(|part| part.results) {
        let shard = result.shard;
        if let Some(earlier) = results.get(&shard) {
            let text = |result: &ShardResult| serde_json::to_string(result).ok();
            // A task may have been repeated; it has found the same, unless time ran out.
            if text(earlier) != text(&result) {
                return Err(Mismatch::Twice(shard));
            }
        }
        results.insert(shard, result);
    }
    let missing: Vec<u32> = (0..shards).filter(|shard| !results.contains_key(shard)).collect();
    match missing.first() {
        Some(&first) => Err(Mismatch::Missing(first, missing.len())),
        None => Ok(results.into_values().collect()),
    }
}

/// What makes a pair the same as another one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    Locations(String, String),
    Events(u32, u32),
}

/// What was found in shards, as it is added to a report.
struct Merged<'r> {
    by_location: bool,
    report: &'r mut Report,
    races: Vec<Race>,
    proven: BTreeSet<Same>,
    undecided: BTreeMap<Same, Candidate>,
    not_in_window: Vec<Unsettled>,
}

impl Merged<'_> {
    fn new(by_location: bool, report: &mut Report) -> Merged<'_> {
        let mut merged = Merged {
            by_location,
            report,
            races: Vec::new(),
            proven: BTreeSet::new(),
            undecided: BTreeMap::new(),
            not_in_window: Vec::new(),
        };
        let proven = merged.report.races.iter().map(|race| merged.same([&race.first, &race.second]));
        merged.proven = proven.collect();
        merged
    }

    fn same(&self, [first, second]: [&RacingAccess; 2]) -> Same {
        if self.by_location {
            let (a, b) = (first.location.clone(), second.location.clone());
            if a <= b { Same::Locations(a, b) } else { Same::Locations(b, a) }
        } else {
            Same::Events(first.event, second.event)
        }
    }

    fn add(&mut self, result: ShardResult) {
        for race in result.races {
            if self.proven.insert(self.same([&race.first, &race.second])) {
                self.races.push(race);
            }
        }
        for open in result.undecided {
            let same = self.same([&open.first, &open.second]);
            match self.undecided.get_mut(&same) {
                Some(known) => known.more += 1 + open.more,
                None => drop(self.undecided.insert(same, open)),
            }
        }
        self.not_in_window.extend(result.not_in_window);
        let stats = &mut self.report.stats;
        stats.refuted += result.refuted;
        stats.not_examined += result.not_examined;
        stats.not_listed += result.not_listed;
        for note in result.notes {
            if !self.report.notes.contains(&note) {
                self.report.notes.push(note);
            }
        }
    }

    fn is_open(&self, (a, b): &(String, String)) -> bool {
        !self.proven.contains(&Same::Locations(a.clone(), b.clone()))
    }

    fn finish(mut self, apart: &ApartPairs, witness_steps: usize) {
        let is_left = |some: &&Unsettled| some.locations.as_ref().is_none_or(|pair| self.is_open(pair));
        let near: u64 = self.not_in_window.iter().filter(is_left).map(|some| some.pairs).sum();
        let far = apart.pairs.iter().filter(|pair| self.is_open(pair)).count() as u64;
        let undecided = std::mem::take(&mut self.undecided).into_iter();
        let mut undecided: Vec<Candidate> =
            undecided.filter(|(same, _)| !self.proven.contains(same)).map(|(_, open)| open).collect();
        undecided.sort_by_key(|open| (open.second.event, open.first.event));
        self.races.sort_by_key(|race| (race.first.event, race.second.event));
        print_witnesses(&mut self.races, witness_steps);
        let report = self.report;
        report.races.extend(self.races);
        report.undecided.extend(undecided);
        report.stats.not_in_window += near + far;
        report.stats.not_examined += apart.not_examined;
        if far > 0 {
            let pairs = if far == 1 { "pair" } else { "pairs" };
            report.notes.push(format!(
                "accesses at {far} {pairs} of locations may race, but lie farther apart than a shard is sure to \
                 reach: they were not decided; longer shards bring more of them together"
            ));
        }
        let not_listed = usize::try_from(report.stats.not_listed).unwrap_or(usize::MAX);
        report.stats.candidates = report.races.len() + report.undecided.len().saturating_add(not_listed);
        report.stats.witnesses_not_printed =
            report.races.iter().filter(|race| race.is_witness_left_out()).count();
    }
}

/// Writes out witnesses from the first event of the trace on, as far as there is room.
fn print_witnesses(races: &mut [Race], mut steps: usize) {
    for race in races {
        let length = race.witness_length.unwrap_or(0);
        if let Some(tail) = race.witness_tail.take_if(|_| length <= steps) {
            steps -= length;
            race.witness = Some((1..=tail.after).chain(tail.events).collect());
        }
    }
}
