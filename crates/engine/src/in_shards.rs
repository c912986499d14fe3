//! Techniques that decide pairs, on a trace that does not fit into memory: it is cut into shards in a second pass, and
//! each is decided as soon as it is there. The first pass finds out what only the whole trace tells.
//!
//! What earlier stages and earlier shards have proven is not decided again. Results can be kept in a [`ShardStore`], so
//! that an analysis which was ended goes on where it was.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_detect::Pairs;
use foretell_predict::{Solver, Technique};
use foretell_report::{ApartPairs, ShardResult};
use foretell_shard::{ApartLocations, Planner, Shard, ShardError, Survey, Whole};
use foretell_trace::source::BATCH;
use foretell_trace::{Ending, Event, Names};

use crate::analysis::{InShards, Note, time_text};
use crate::control::{Control, Progress};
use crate::describe::NoExcerpts;
use crate::error::Error;
use crate::plan::{Choice, Plan};
use crate::shards::{analyse_shard, of_locations};
use crate::stages::Run;

/// The pass that makes shards, and what is prepared for one, need as much memory as so many of them;
const ROOM_FOR: usize = 4;
/// and so does each job: a hard pair is searched for in the whole shard.
const ROOM_FOR_JOB: usize = 4;
/// Longer shards find little more, and take longer.
const MOST_EVENTS: usize = 500_000;

/// Keeps what was found in shards, so that it need not be found again.
pub trait ShardStore {
    /// An analysis begins. What was kept of another one, which has another identity, is no use.
    fn begin(&self, identity: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

    /// What was found in this shard, if it was kept.
    fn load(&self, shard: u32) -> Option<ShardResult>;

    /// Keeps what was found.
    fn save(&self, result: &ShardResult) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// The technique that is used on shards in place of this one, if there is one. Shards do not have what a trace tells of
/// dependence, so in `auto` they are for `rv`.
pub(crate) fn technique(technique: Technique, plan: &Plan) -> Option<Technique> {
    match technique {
        _ if plan.window.is_some() => None,
        Technique::Rf | Technique::Mcm | Technique::Rv => Some(technique),
        Technique::RvNre if plan.choice == Choice::Auto => Some(Technique::Rv),
        _ => None,
    }
}

/// Decides the pairs of a trace that has no more room than for so many events.
pub(crate) fn decide(run: &mut Run<'_>, technique: Technique, room: usize) -> Result<(), Error> {
    let parts = ROOM_FOR + ROOM_FOR_JOB * run.plan.jobs.max(1);
    let step = (room / parts).clamp(2, MOST_EVENTS).div_ceil(2);
    let Some((whole, apart)) = survey(run, step)? else { return Ok(()) };
    let plan = Plan { choice: Choice::One(technique), ..*run.plan };
    let identity = format!(
        "{} {} {step} {:?} {:?} {} {} {whole:?}",
        run.input.name(),
        technique.name(),
        plan.pairs,
        plan.budget,
        plan.max_races,
        plan.witness_steps,
    );
    if let Some(store) = run.input.store() {
        store.begin(&identity).map_err(Error::Input)?;
    }
    let shards = usize::try_from(whole.events).unwrap_or(usize::MAX).div_ceil(step).saturating_sub(1).max(1);
    let known = if plan.pairs == Pairs::ByLocation { run.proven_locations() } else { BTreeSet::new() };
    let mut work =
        Work { plan, whole, shards, known, results: Vec::new(), decided: 0, begin: Instant::now() };
    work.all(run, step)?;
    let done = work.results.len();
    if done < shards {
        run.analysis.notes.push(Note::Shards { done, of: shards });
    }
    run.analysis.window = Some(2 * step);
    run.analysis.in_shards = Some(InShards {
        results: work.results,
        apart: ApartPairs { pairs: apart.pairs, not_examined: apart.not_examined },
        by_location: plan.pairs == Pairs::ByLocation,
        witness_steps: run.room.left,
    });
    Ok(())
}

/// The first pass; nothing if everything is to stop.
fn survey(run: &mut Run<'_>, step: usize) -> Result<Option<(Whole, ApartLocations)>, Error> {
    let mut survey = Survey::new(step);
    let end = for_all(run, "surveys", &mut |event, _| survey.event(event).map_err(failed))?;
    Ok(end.map(|end| survey.finish(&end.names, end.cut_short)))
}

/// What is known once the last event has been seen.
struct End<'a> {
    names: Cow<'a, Names>,
    cut_short: bool,
}

/// Hands out all events, from memory if they are there; nothing comes back if everything is to stop before the end.
fn for_all<'a>(
    run: &Run<'a>,
    doing: &str,
    look: &mut dyn FnMut(&Event, &Names) -> Result<(), Error>,
) -> Result<Option<End<'a>>, Error> {
    if let Some(trace) = run.input.trace() {
        for events in trace.events().chunks(BATCH) {
            events.iter().try_for_each(|event| look(event, trace.names()))?;
            if run.control.is_stopped() {
                return Ok(None);
            }
        }
        let cut_short = trace.ending() == Ending::CutShort;
        return Ok(Some(End { names: Cow::Borrowed(trace.names()), cut_short }));
    }
    let mut reading = run.input.open(doing)?;
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        batch.events.iter().try_for_each(|event| look(event, names))?;
        if run.control.is_stopped() {
            reading.stop();
            return Ok(None);
        }
    }
    let cut_short = reading.is_cut_short();
    Ok(Some(End { names: Cow::Owned(reading.into_names()), cut_short }))
}

fn failed(error: ShardError) -> Error {
    Error::Input(Box::new(error))
}

/// The second pass.
struct Work {
    plan: Plan,
    whole: Whole,
    /// How many shards there will be.
    shards: usize,
    /// The pairs of locations that are known to race, each in the order of its names.
    known: BTreeSet<(String, String)>,
    results: Vec<ShardResult>,
    /// How many of them were found here, and when the first one was begun.
    decided: u32,
    begin: Instant,
}

impl Work {
    fn all(&mut self, run: &Run<'_>, step: usize) -> Result<(), Error> {
        let mut planner = Planner::new(step);
        let end = for_all(run, "cuts", &mut |event, names| match planner.event(event, names) {
            Ok(shard) => shard.map_or(Ok(()), |shard| self.one(run, shard)),
            Err(error) => Err(failed(error)),
        })?;
        let Some(end) = end else { return Ok(()) };
        let last = planner.finish(&end.names).map_err(failed)?;
        last.map_or(Ok(()), |shard| self.one(run, shard))
    }

    fn one(&mut self, run: &Run<'_>, shard: Shard) -> Result<(), Error> {
        if run.control.is_stopped() {
            return Ok(());
        }
        let number = shard.number;
        let store = run.input.store();
        let result = match store.and_then(|store| store.load(number)) {
            Some(result) => result,
            None => {
                let shard = shard.into_trace(&self.whole).map_err(failed)?;
                let races = self.known.len();
                let left = self.time_left();
                let doing = format!("shard {} of {}, {races} pairs race{left}:", number + 1, self.shards);
                let control = OnShard { control: run.control, doing };
                let result =
                    analyse_shard(number, &shard, &self.plan, &self.known, &control, &mut NoExcerpts)?;
                if let Some(store) = store.filter(|_| !run.control.is_stopped()) {
                    store.save(&result).map_err(Error::Input)?;
                }
                self.decided += 1;
                result
            }
        };
        if self.plan.pairs == Pairs::ByLocation {
            self.known.extend(result.races.iter().map(|race| of_locations(&race.first, &race.second)));
        }
        // All shards together keep as many steps of witnesses as one trace does.
        let tails = result.races.iter().filter_map(|race| race.witness_tail.as_ref());
        let steps: usize = tails.map(|tail| tail.events.len()).sum();
        self.plan.witness_steps = self.plan.witness_steps.saturating_sub(steps);
        self.results.push(result);
        Ok(())
    }
}

impl Work {
    /// How long the rest will take if it goes on like this, in words.
    fn time_left(&self) -> String {
        let left = self.shards.saturating_sub(self.results.len());
        let each = self.begin.elapsed().checked_div(self.decided);
        let time = each.map(|each| each.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)));
        time.map(|time| format!(", about {} left", time_text(Duration::from_secs(time.as_secs() + 1))))
            .unwrap_or_default()
    }
}

/// The control of an analysis, while a shard is decided.
struct OnShard<'a> {
    control: &'a dyn Control,
    /// What is being done, for the user.
    doing: String,
}

impl Control for OnShard<'_> {
    fn stop_flag(&self) -> &AtomicBool {
        self.control.stop_flag()
    }

    fn is_urgent(&self) -> bool {
        self.control.is_urgent()
    }

    fn is_interrupted(&self) -> bool {
        self.control.is_interrupted()
    }

    fn is_time_over(&self) -> bool {
        self.control.is_time_over()
    }

    fn available_memory(&self) -> Option<u64> {
        self.control.available_memory()
    }

    fn reached_memory_limit(&self) -> Option<(u64, bool)> {
        self.control.reached_memory_limit()
    }

    fn solver(&self) -> Arc<dyn Solver> {
        self.control.solver()
    }

    fn progress(&self, doing: &str) -> Box<dyn Progress> {
        self.control.progress(&format!("{} {doing}", self.doing))
    }
}
