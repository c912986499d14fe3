//! What it brings, and what it costs, to know which reads matter.
//!
//! The programs in `bench/native/mixed` are what servers and tools are made of: queues, caches, tables, statistics. Each is run
//! briefly under several seeds, and all techniques look at the same runs; a race is a pair of places in the source. Then each runs for
//! longer, and what it takes to follow the values is put beside the rest of the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cpu::CpuTime;
use super::programs::build_all;
use super::record::{Record, Row, Target};
use crate::process::{must, release};

/// Under how many seeds each program runs.
const SEEDS: u32 = 10;
/// What a program is told for a long run.
const LONG: &str = "100";
/// How often the work on a log is measured; the best counts.
const RUNS: usize = 5;
/// The techniques: each but the first two knows or decides more than the one before.
const TECHNIQUES: [&str; 5] = ["m2", "seqcheck", "reconp", "rv", "rv-nre"];

/// Races found, and the time and memory that finding them takes.
pub(crate) fn knowing(record: &mut Record) -> Result<(), String> {
    must(
        "cargo",
        &["build", "--quiet", "--release", "--package", "foretell-llvm", "--package", "foretell-runtime"],
    )?;
    let folder = release("bench-mixed");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let programs = build_all("bench/native/mixed", &folder, &release("foretell"), &["cc"])?;
    races(record, &programs, &folder)?;
    costs(record, &programs, &folder)?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// How many races each technique finds in short runs.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn races(record: &mut Record, programs: &[PathBuf], folder: &Path) -> Result<(), String> {
    let mut found = [0_usize; TECHNIQUES.len()];
    for program in programs {
        for seed in 0..SEEDS {
            let trace = traced(program, seed, &[], folder)?;
            let reports = predict(&trace, &[&TECHNIQUES.join(",")], folder)?;
            for (count, report) in found.iter_mut().zip(reports.as_array().into_iter().flatten()) {
                *count += report["races"].as_array().map_or(0, Vec::len);
            }
        }
    }
    let ratio = |name: &str, over: &str, target: Option<f64>| {
        let count = |technique: &str| {
            TECHNIQUES.iter().position(|known| *known == technique).map_or(0, |index| found[index])
        };
        let what = format!("mixed programs, races of {name} over {over}");
        Row::counts(what, count(name) as f64, count(over) as f64, target.map(Target::AtLeast))
    };
    record.add(ratio("reconp", "m2", Some(1.2)));
    record.add(ratio("reconp", "seqcheck", Some(1.1)));
    record.add(ratio("rv-nre", "rv", None));
    record.add(ratio("rv-nre", "reconp", None));
    Ok(())
}

/// What it takes to find out which reads matter, beside all the rest that `reconp` takes, and beside what `m2` needs of memory.
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
    let status = Command::new(program).arg(LONG).env("FORETELL_LOG", &logs).stdout(Stdio::null()).status();
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
    let report = folder.join("report.json");
    let status = Command::new(release("foretell"))
        .args(["predict", "--no-progress", "-o"])
        .arg(&report)
        .arg(trace)
        .arg("-t")
        .args(options)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    if status.code().is_none_or(|code| code == 2) {
        return Err(format!("{}: {status}", trace.display()));
    }
    let text = fs::read(&report).map_err(|error| format!("{}: {error}", report.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", report.display()))
}
