//! `foretell plan`, `foretell predict --plan`, `foretell merge`: traces that do not fit into memory, on one machine or
//! on many.

mod folder;
mod state;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use foretell_engine::shards::{analyse_shard, begin};
use foretell_engine::{Control as _, Input, NoExcerpts, Plan};
use foretell_report::{ApartPairs, PartReport, ShardResult};
use foretell_shard::{PlanFile, Planner, Shard, ShardEntry, ShardError, Survey};

use crate::analysis::outcome;
use crate::args::{MergeArgs, PlanArgs, PredictArgs, ReportFormat, Share};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::output::{self, Target};
use crate::progress::Progress;
use crate::render::write_reports;
use crate::stop::{TimeLimit, Watch};
use crate::suppress::Rules;
use crate::{Outcome, memory, stop};
use folder::{NewFolder, PlanFolder};
pub(crate) use state::StateFolder;

/// Cuts a trace into shards.
pub(crate) fn plan(args: &PlanArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let file = TraceFile::new(&args.trace, &args.input);
    let folder = NewFolder::create(&args.output)?;
    let step = args.shard_events.div_ceil(2);
    let mut shards = Vec::new();
    let failed = |error| Failure::Shard { path: args.trace.clone(), error };
    let (mut planner, mut survey) = (Planner::new(step), Survey::new(step));
    let input = Input::of_source(&file);
    let mut reading = input.open("cuts")?;
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        for event in &batch.events {
            survey.event(event).map_err(failed)?;
            if let Some(shard) = planner.event(event, names).map_err(failed)? {
                shards.push(save(&folder, &shard)?);
            }
        }
        refuse_to_stop()?;
    }
    let cut_short = reading.is_cut_short();
    let (whole, apart) = survey.finish(reading.names(), cut_short);
    let last = planner.finish(reading.names()).map_err(failed)?;
    shards.extend(last.map(|shard| save(&folder, &shard)).transpose()?);
    let plan = PlanFile::new(file.name(), step, whole, apart, shards);
    folder.finish(&plan)?;
    let shards = if plan.shards.len() == 1 { "shard" } else { "shards" };
    output::note(&format!(
        "{}: {} events in {} {shards}; next: foretell predict --plan {} -o part.json",
        args.output.display(),
        plan.whole.events,
        plan.shards.len(),
        args.output.display()
    ));
    Ok(Outcome::Clean)
}

fn save(folder: &NewFolder, shard: &Shard) -> Result<ShardEntry, Failure> {
    let failed = |error| Failure::Shard { path: folder.path().to_path_buf(), error };
    let bytes = shard.to_bytes().map_err(failed)?;
    let entry = ShardEntry::new(shard.number, &bytes, shard.len());
    folder.write(&entry.file, &bytes)?;
    Ok(entry)
}

/// Half a plan is of no use.
fn refuse_to_stop() -> Result<(), Failure> {
    if !stop::is_requested() {
        return Ok(());
    }
    Err(Failure::Environment(match memory::note() {
        Some(note) => format!("the plan was not finished: {note}"),
        None => format!("the plan was not finished: {}", stop::signal_name()),
    }))
}

/// Analyses a share of the shards of a plan.
pub(crate) fn predict(args: &PredictArgs, path: &Path) -> Result<Outcome, Failure> {
    stop::listen()?;
    let target = target(args)?;
    let choice = match args.wanted.technique[..] {
        [choice] => choice,
        _ => return Err(Failure::Usage("--plan works with one technique at a time".to_string())),
    };
    let plan = Plan { witness_steps: usize::MAX, ..args.wanted.plan(choice) };
    let folder = PlanFolder::open(path)?;
    let share = args.shards.shard.unwrap_or(Share::ALL);
    let report = work_off(&folder, share, &plan, !args.input.no_progress)?;
    let text = report.to_text().map_err(|error| Failure::rendering(error.into()))?;
    output::write(target, &text)?;
    Ok(report.results.iter().map(outcome_of_shard).max().unwrap_or(Outcome::Clean))
}

/// Where the report goes.
fn target(args: &PredictArgs) -> Result<Option<&Path>, Failure> {
    let report = &args.wanted.report;
    let is_json = |target: &crate::render::Target<'_>| target.format == ReportFormat::Json;
    match &report.output[..] {
        [] => Ok(None),
        [path] if report.targets().iter().all(is_json) => Ok(Some(path)),
        _ => Err(Failure::Usage(
            "--plan writes one report for `foretell merge`: give one --output FILE.json, or none".to_string(),
        )),
    }
}

fn work_off(folder: &PlanFolder, share: Share, plan: &Plan, progress: bool) -> Result<PartReport, Failure> {
    let limit = TimeLimit::start(plan.time_limit)?;
    let control = Watch::plain().within(&limit);
    let file = &folder.plan;
    let count = u32::try_from(file.shards.len()).unwrap_or(u32::MAX);
    let mine: Vec<(u32, &ShardEntry)> =
        (0..).zip(&file.shards).filter(|(number, _)| share.has(*number)).collect();
    let mut report = begin((file.id(), count), &file.trace, &file.whole, plan)?;
    if mine.first().is_some_and(|first| first.0 == 0) {
        let apart = &file.apart;
        report.apart = Some(ApartPairs { pairs: apart.pairs.clone(), not_examined: apart.not_examined });
    }
    let bar = Progress::of_work("shards", progress);
    bar.expect(mine.len());
    for (done, &(number, entry)) in mine.iter().enumerate() {
        let shard = folder.shard(number, entry)?;
        report.results.push(analyse_shard(
            number,
            &shard,
            plan,
            &BTreeSet::new(),
            &control,
            &mut NoExcerpts,
        )?);
        if control.is_stopped() {
            return Err(unfinished(done, mine.len(), &limit));
        }
        bar.worked();
    }
    Ok(report)
}

/// A report that says less than the next attempt would is not written.
fn unfinished(done: usize, of: usize, limit: &TimeLimit) -> Failure {
    let why = match memory::note() {
        Some(note) => note,
        None if limit.is_over() => "the time limit was reached; --time-limit gives more".to_string(),
        None => stop::signal_name().to_string(),
    };
    Failure::Environment(format!("only {done} of {of} shards were decided, so no report is written: {why}"))
}

fn outcome_of_shard(result: &ShardResult) -> Outcome {
    if !result.races.is_empty() {
        Outcome::Race
    } else if result.undecided.is_empty() && result.not_in_window.is_empty() && result.not_examined == 0 {
        Outcome::Clean
    } else {
        Outcome::Undecided
    }
}

/// Makes one report of those of all shards.
pub(crate) fn merge(args: &MergeArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    args.report.check_outputs()?;
    let rules = Rules::load(&args.report)?;
    let read = |path| {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, "read", error))?;
        let bad = |why| Failure::Usage(format!("{}: {why}", path.display()));
        PartReport::from_text(&text).map_err(bad)
    };
    let parts = args.reports.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let report = foretell_report::merge(parts, args.report.witness)
        .map_err(|mismatch| Failure::Usage(mismatch.to_string()))?;
    let mut reports = [report];
    rules.apply(&mut reports);
    write_reports(&reports, &args.report)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// Writes a file, which has its name only once it is complete.
fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::file(path, "write", error);
    let write = |target: &Target| target.open().and_then(|mut file| file.write_all(content)).map_err(failed);
    Target::new(path).fill(failed, write)
}

/// A failure about this file of a plan.
fn bad(path: &Path, error: ShardError) -> Failure {
    Failure::Shard { path: path.to_path_buf(), error }
}
