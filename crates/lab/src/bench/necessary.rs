//! What it brings, and what it costs, to know which reads matter.
//!
//! The programs are all of `bench/native`, made for different measurements: those of `mixed` are what servers and tools
//! are made of, queues, caches, tables, statistics; those of `hidden` hide races behind the order of locks; those of
//! `values` decide by what they compute. Each is run briefly under several seeds, and all techniques look at the same
//! runs; a race is a pair of places in the source. Then the mixed ones run for longer, and what it takes to follow the
//! values is put beside the rest of the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use foretell_wire::settings;

use super::asked::{ready_for_programs, report};
use super::cpu::CpuTime;
use super::programs::build_all;
use super::record::{Record, Row, Target};
use xtask::process::release;

/// The folders of the programs.
const SETS: [&str; 3] = ["mixed", "hidden", "values"];
/// Under how many seeds each program runs.
const SEEDS: u32 = 10;
/// The arguments of a program for a long run.
const LONG: &str = "100";
/// How often the work on a log is measured; the best counts.
const RUNS: usize = 5;
/// The techniques: each but the first two knows or decides more than the one before.
const TECHNIQUES: [&str; 5] = ["m2", "seqcheck", "reconp", "rv", "rv-nre"];

/// Races found, and the time and memory that finding them takes.
pub(crate) fn knowing(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-mixed");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut sums = Races::default();
    for set in SETS {
        let programs = built(set, &folder)?;
        let found = races(&programs, &folder)?;
        record_races(record, &format!("{set} programs"), found, [None; 2]);
        for (sum, count) in sums.iter_mut().zip(found) {
            *sum += count;
        }
    }
    record_races(record, "all these programs", sums, [1.2, 1.1].map(Some));
    costs(record, &built("mixed", &folder)?, &folder)?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The programs of a set, built; two sets may have programs of the same name.
fn built(set: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = folder.join(set);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    build_all(&format!("bench/native/{set}"), &folder, &release("foretell"), &["cc"])
}

/// How many races each technique finds.
type Races = [usize; TECHNIQUES.len()];

/// How many races each technique finds in short runs.
fn races(programs: &[PathBuf], folder: &Path) -> Result<Races, String> {
    let mut found = Races::default();
    for program in programs {
        for seed in 0..SEEDS {
            let trace = traced(program, seed, &[], folder)?;
            let reports = predict(&trace, &[&TECHNIQUES.join(",")], folder)?;
            for (count, report) in found.iter_mut().zip(reports.as_array().into_iter().flatten()) {
                *count += report["races"].as_array().map_or(0, Vec::len);
            }
        }
    }
    Ok(found)
}

/// How they compare; `targets` are those of `reconp` over `m2` and over `seqcheck`.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn record_races(record: &mut Record, programs: &str, found: Races, targets: [Option<f64>; 2]) {
    let mut ratio = |name: &str, over: &str, target: Option<f64>| {
        let count = |technique: &str| {
            TECHNIQUES.iter().position(|known| *known == technique).map_or(0, |index| found[index])
        };
        let what = format!("{programs}, races of {name} over {over}");
        record.add(Row::counts(what, count(name) as f64, count(over) as f64, target.map(Target::AtLeast)));
    };
    ratio("reconp", "m2", targets[0]);
    ratio("reconp", "seqcheck", targets[1]);
    ratio("rv-nre", "rv", None);
    ratio("rv-nre", "reconp", None);
}

/// What it takes to find out which reads matter, beside all the rest that `reconp` takes, and beside what `m2` needs of
/// memory.
fn costs(record: &mut Record, programs: &[PathBuf], folder: &Path) -> Result<(), String> {
    let (mut following, mut all) = (0.0, 0.0);
    let (mut with, mut without) = (0.0, 0.0);
    for program in programs {
        let log = logged(program, folder)?;
        let plain = best(|| foretell_native::convert_events(&log).map(drop))?;
        let followed = best(|| foretell_native::convert(&log).map(drop))?;
        let trace = traced(program, 0, &[LONG], folder)?;
        let begin = CpuTime::of_children();
        let reconp = predict(&trace, &["reconp"], folder)?;
        let deciding = begin.elapsed();
        let m2 = predict(&trace, &["m2", "--dependence", "none"], folder)?;
        following += followed - plain;
        all += followed + deciding;
        with += peak(&reconp);
        without += peak(&m2);
    }
    let share = "mixed programs, time to find out which reads matter, of all that reconp takes".to_string();
    record.add(Row::times(share, 1e3 * following, 1e3 * all, Some(Target::AtMost(0.35))));
    let memory = "mixed programs, memory of reconp over m2".to_string();
    record.add(Row::counts(memory, with, without, Some(Target::AtMost(1.8))));
    Ok(())
}

/// The most MiB that the first report took.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn peak(reports: &Value) -> f64 {
    let report = reports.get(0).unwrap_or(reports);
    report["stats"]["peak_memory_bytes"].as_u64().unwrap_or(0) as f64 / f64::from(1 << 20)
}

fn best<E: std::fmt::Display>(act: impl Fn() -> Result<(), E>) -> Result<f64, String> {
    (0..RUNS).try_fold(f64::INFINITY, |best, _| {
        let begin = CpuTime::of_this_thread();
        act().map_err(|error| error.to_string())?;
        Ok(best.min(begin.elapsed()))
    })
}

/// Runs a program for longer; the log that it writes.
fn logged(program: &Path, folder: &Path) -> Result<Vec<u8>, String> {
    let logs = folder.join("logs");
    let failed = |error: std::io::Error| format!("{}: {error}", logs.display());
    fs::create_dir_all(&logs).map_err(failed)?;
    let status =
        Command::new(program).arg(LONG).env(settings::LOG.text(), &logs).stdout(Stdio::null()).status();
    status.map_err(|error| format!("{}: {error}", program.display()))?;
    let log = fs::read_dir(&logs).map_err(failed)?.next().ok_or("nothing was recorded")?;
    let log = fs::read(log.map_err(failed)?.path()).map_err(failed)?;
    fs::remove_dir_all(&logs).map_err(failed)?;
    Ok(log)
}

/// Runs a program, and keeps what it did.
fn traced(program: &Path, seed: u32, arguments: &[&str], folder: &Path) -> Result<PathBuf, String> {
    let trace = folder.join("run.ftr");
    let status = Command::new(release("foretell"))
        .args(["record", "--seed", &seed.to_string(), "-o"])
        .arg(&trace)
        .arg("--")
        .arg(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    if status.success() { Ok(trace) } else { Err(format!("{}: {status}", program.display())) }
}

/// The reports of the techniques that come first among these options.
fn predict(trace: &Path, options: &[&str], folder: &Path) -> Result<Value, String> {
    let before = [&["predict", "--technique"], options].concat();
    report(&before, &[trace], folder)
}
