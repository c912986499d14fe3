//! Measurements, in CPU time, each beside its target.
//!
//! The traces are those of [`Shape::standard`]: 10 threads, 50 locks, 1000 variables, each touched under its lock but
//! for 1 access in 2000. Machines are noisy: figures are the best of several runs, and the ratio to reading alone tells
//! more than the figure itself.

mod asked;
mod certified;
mod cpu;
mod debian;
mod explore;
mod families;
mod files;
mod hidden;
mod native;
mod necessary;
mod online;
mod pairs;
mod price;
mod programs;
mod record;
mod shards;
mod values;

use std::process::{Command, ExitCode};

use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::{ProofScheduler, Technique};
use foretell_testkit::locked::{LockedTrace, Shape};
use foretell_trace::check::Checker;
use foretell_trace::format::{Format, open};
use foretell_trace::source::BATCH;
use foretell_trace::{Batch, EventId, Trace};
use foretell_witness::{Claim, Model, Proof, Referee, UnorderedReferee};
use serde_json::Value;

use cpu::CpuTime;
use files::TraceFile;
use record::{QUICK, Record, Row, Target};
use xtask::process::{must, release};

/// A measurement that can be asked for by name.
type Measurement = (&'static str, fn(&mut Record) -> Result<(), String>);

const MEASUREMENTS: [Measurement; 18] = [
    ("read", reading),
    ("detect", detecting),
    ("syncp", sync_preserving),
    ("referee", refereeing),
    ("predict", whole_command),
    ("memory", memory),
    ("exact", pairs::exact),
    ("families", families::deciding),
    ("certify", certified::certifying),
    ("auto", everything),
    ("shards", shards::sharding),
    ("explore", explore::exploring),
    ("z3", pairs::deciding),
    ("native", price::all),
    ("online", online::detecting),
    ("necessary", necessary::knowing),
    ("recipe", values::computing),
    ("hidden", hidden::hunting),
];

/// How often each figure is taken; the best counts.
const RUNS: usize = 9;

/// Runs the named measurements, or all.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let (save, names): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| *arg == "--save");
    let names: Vec<&String> = names.into_iter().filter(|name| *name != QUICK).collect();
    if let Some(unknown) = names.iter().find(|name| MEASUREMENTS.iter().all(|known| known.0 != name.as_str()))
    {
        return Err(format!("there is no benchmark named `{unknown}`"));
    }
    must("cargo", &["build", "--quiet", "--release", "--package", "foretell"])?;
    let mut record = Record::new(args);
    for (name, measure) in MEASUREMENTS {
        if names.is_empty() || names.iter().any(|wanted| *wanted == name) {
            measure(&mut record)?;
        }
    }
    if !save.is_empty() {
        record.save()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reading and checking alone.
fn reading(record: &mut Record) -> Result<(), String> {
    for format in [Format::Text, Format::Binary] {
        let file = TraceFile::get(Shape::standard(2_000_000), format)?;
        let (events, seconds) = best(|| pass(&file, None))?;
        record.add(Row::speed(format!("read {}", format.name()), events, seconds, None));
        record.add(Row::size(format!("size {}", format.name()), file.bytes()?, events, size_target(format)));
    }
    Ok(())
}

fn size_target(format: Format) -> Option<Target> {
    (format == Format::Binary).then_some(Target::AtMost(4.0))
}

/// Reading, checking and detecting in one stream, without proofs.
fn detecting(record: &mut Record) -> Result<(), String> {
    let streaming = Technique::ALL.into_iter().filter(|technique| !technique.decides_pairs());
    for technique in streaming.filter(|technique| *technique != Technique::SyncP) {
        for format in [Format::Text, Format::Binary] {
            let file = TraceFile::get(Shape::standard(2_000_000), format)?;
            let (events, seconds) = best(|| pass(&file, Some(technique)))?;
            let what = format!("{} from {}", technique.name(), format.name());
            record.add(Row::speed(what, events, seconds, speed_target(technique, format)));
        }
    }
    for technique in [Technique::Hb, Technique::Shb] {
        let shape = Shape { own_locations: true, ..Shape::standard(2_000_000) };
        let file = TraceFile::get(shape, Format::Text)?;
        let (events, seconds) = best(|| pass(&file, Some(technique)))?;
        let what = format!("{} from std, own locations", technique.name());
        record.add(Row::speed(what, events, seconds, speed_target(technique, Format::Text)));
    }
    Ok(())
}

fn speed_target(technique: Technique, format: Format) -> Option<Target> {
    match (technique, format) {
        (Technique::Hb | Technique::Shb, Format::Text) => Some(Target::AtLeast(8.0)),
        (Technique::Hb | Technique::Shb, Format::Binary) => Some(Target::AtLeast(25.0)),
        (Technique::Wcp, _) => Some(Target::AtLeast(1.0)),
        _ => None,
    }
}

/// How the cost of sync-preserving prediction grows, proofs included.
fn sync_preserving(record: &mut Record) -> Result<(), String> {
    for own_locations in [false, true] {
        for (events, limit) in [(10_000, None), (100_000, Some(5.0)), (1_000_000, Some(60.0))] {
            let shape = Shape { own_locations, ..Shape::standard(events) };
            let file = TraceFile::get(shape, Format::Text)?;
            let (report, seconds) = command(&file, "syncp")?;
            let locations = if own_locations { ", own locations" } else { "" };
            let what = format!("predict syncp, {events} events{locations}");
            record.add(Row::seconds(what, seconds, &report, limit.map(Target::AtMost)));
        }
    }
    Ok(())
}

/// Checking the last race of the trace: by replaying its schedule, and by watching the whole trace go by.
fn refereeing(record: &mut Record) -> Result<(), String> {
    let source = LockedTrace::new(Shape { values: true, ..Shape::standard(1_000_000) });
    let trace = Trace::read(Box::new(source)).map_err(|error| error.to_string())?;
    let race = last_race(&trace).ok_or("the trace has no race")?;
    let schedule = ProofScheduler::new(Technique::Shb, &trace).and_then(|scheduler| scheduler.schedule(race));
    let schedule = schedule.ok_or("the race has no schedule")?;
    for model in [Model::SameWrite, Model::SameValue] {
        let (steps, seconds) = best(|| replay(&trace, race, model, &schedule))?;
        record.add(Row::speed(format!("referee: replay, {model:?}"), steps, seconds, None));
    }
    let (events, seconds) = best(|| unordered(&trace, race))?;
    record.add(Row::speed("referee: unordered accesses".to_string(), events, seconds, None));
    Ok(())
}

fn last_race(trace: &Trace) -> Option<Pair> {
    let mut reports = Reports::new(Pairs::ByLocation);
    let mut detector = Technique::Shb.detector()?;
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    reports.pairs().iter().copied().max_by_key(|pair| pair.first)
}

/// One replay; returns the steps and the CPU seconds that it took.
fn replay(trace: &Trace, race: Pair, model: Model, schedule: &[EventId]) -> Result<(usize, f64), String> {
    let mut referee = Referee::new(trace);
    let proof = Proof::Adjacent { model, schedule: schedule.to_vec() };
    let begin = CpuTime::of_this_thread();
    let claim = Claim { first: race.first, second: race.second, proof };
    referee.check(claim).map_err(|rejection| rejection.to_string())?;
    Ok((schedule.len(), begin.elapsed()))
}

/// One pass of the streaming referee; returns the events and the CPU seconds that it took.
fn unordered(trace: &Trace, race: Pair) -> Result<(usize, f64), String> {
    let begin = CpuTime::of_this_thread();
    let mut referee = UnorderedReferee::new(vec![(race.first, race.second)]);
    for (index, batch) in trace.events().chunks(BATCH).enumerate() {
        referee.batch(EventId::from_index(index * BATCH).ok_or("too many events")?, batch);
    }
    let verdicts: Result<Vec<_>, _> = referee.verdicts().into_iter().collect();
    verdicts.map_err(|rejection| rejection.to_string())?;
    Ok((trace.events().len(), begin.elapsed()))
}

/// The whole command, from the start of the process to its end, proofs included.
fn whole_command(record: &mut Record) -> Result<(), String> {
    for technique in Technique::ALL.map(Technique::name).into_iter().chain(["auto"]) {
        let file = TraceFile::get(Shape::standard(1_000_000), Format::Text)?;
        let (report, seconds) = command(&file, technique)?;
        record.add(Row::seconds(format!("predict {technique}, 1000000 events"), seconds, &report, None));
    }
    Ok(())
}

/// All stages of `auto` on long traces.
fn everything(record: &mut Record) -> Result<(), String> {
    for own_locations in [false, true] {
        for (events, limit) in [(10_000, None), (100_000, Some(10.0)), (1_000_000, Some(120.0))] {
            let shape = Shape { own_locations, ..Shape::standard(events) };
            let (report, seconds) = command(&TraceFile::get(shape, Format::Text)?, "auto")?;
            let locations = if own_locations { ", own locations" } else { "" };
            let what = format!("predict auto, {events} events{locations}");
            record.add(Row::seconds(what, seconds, &report, limit.map(Target::AtMost)));
        }
    }
    Ok(())
}

/// Whether memory grows with the length of the trace.
fn memory(record: &mut Record) -> Result<(), String> {
    for own_locations in [false, true] {
        let mut peaks = Vec::new();
        for events in [1_000_000, 10_000_000] {
            let shape = Shape { own_locations, ..Shape::standard(events) };
            let (report, _) = command(&TraceFile::get(shape, Format::Binary)?, "hb")?;
            peaks.push(report["stats"]["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1_048_576.0);
        }
        let locations = if own_locations { ", own locations" } else { "" };
        let what = format!("hb: peak MiB at 10M events over that at 1M{locations}");
        record.add(Row::ratio(what, peaks[1], peaks[0], Target::AtMost(1.25)));
    }
    Ok(())
}

/// One pass over a file; returns the events and the CPU seconds that it took.
fn pass(file: &TraceFile, technique: Option<Technique>) -> Result<(usize, f64), String> {
    let begin = CpuTime::of_this_thread();
    let mut source = open(file.read()?, None).map_err(|error| error.to_string())?;
    let mut checker = Checker::default();
    let mut detector = technique.and_then(Technique::detector);
    let mut reports = Reports::new(Pairs::ByLocation);
    let mut batch = Batch::default();
    while source.fill(&mut batch).map_err(|error| error.to_string())? {
        let checked = match &mut detector {
            Some(detector) => detector.checked_batch(&mut checker, &mut batch, source.names(), &mut reports),
            None => checker.check_batch(&mut batch, source.names()),
        };
        checked.map_err(|error| error.to_string())?;
    }
    if let Some(detector) = &mut detector {
        detector.finish(&mut reports);
    }
    Ok((checker.event_count(), begin.elapsed()))
}

fn best(run: impl Fn() -> Result<(usize, f64), String>) -> Result<(usize, f64), String> {
    let mut best = run()?;
    for _ in 1..RUNS {
        let next = run()?;
        if next.1 < best.1 {
            best = next;
        }
    }
    Ok(best)
}

/// `foretell predict` in a process of its own; returns its report and the CPU seconds that it took.
fn command(file: &TraceFile, technique: &str) -> Result<(Value, f64), String> {
    command_with(file, technique, &[])
}

/// The same with further options.
fn command_with(file: &TraceFile, technique: &str, options: &[&str]) -> Result<(Value, f64), String> {
    let begin = CpuTime::of_children();
    let output = Command::new(release("foretell"))
        .args(["predict", "--format", "json", "--technique", technique])
        .args(options)
        .arg(file.path())
        .output()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    let seconds = begin.elapsed();
    let report = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("foretell printed no report: {error}\n{}", String::from_utf8_lossy(&output.stderr))
    })?;
    Ok((report, seconds))
}
