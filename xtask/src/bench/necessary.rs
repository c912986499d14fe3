//! What it brings, and what it costs, to know which reads matter.
//!
//! The programs in `bench/native/mixed` are what servers and tools are made of: queues, caches, tables, statistics. Each is run
//! briefly under several seeds, and all techniques look at the same runs; a race is a pair of places in the source. Then each runs for
//! longer, and what it takes to follow the values is put beside the rest of the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::record::{Record, Row, Target};
use crate::process::{must, release, root};

/// Under how many seeds each program runs.
const SEEDS: u32 = 10;
/// What a program is told for a long run.
const LONG: &str = "300";
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
    let programs = programs(&folder)?;
    races(record, &programs, &folder)?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// All programs, built.
fn programs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let sources = root().join("bench/native/mixed");
    let failed = |error| format!("{}: {error}", sources.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&sources).map_err(failed)? {
        let source = entry.map_err(failed)?.path();
        let program = folder.join(source.file_stem().unwrap_or_default());
        let built = Command::new(release("foretell"))
            .args(["cc", "-O1", "-g"])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .status()
            .map_err(|error| format!("cannot run foretell: {error}"))?;
        if !built.success() {
            return Err(format!("{}: {built}", source.display()));
        }
        found.push(program);
    }
    found.sort();
    Ok(found)
}

/// How many races each technique finds in short runs.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn races(record: &mut Record, programs: &[PathBuf], folder: &Path) -> Result<(), String> {
    let mut found = [0_usize; TECHNIQUES.len()];
    for program in programs {
        for seed in 0..SEEDS {
            let trace = traced(program, seed, &[], folder)?;
            let reports = predict(&trace, &TECHNIQUES.join(","), folder)?;
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

/// The reports of these techniques.
fn predict(trace: &Path, techniques: &str, folder: &Path) -> Result<Value, String> {
    let report = folder.join("report.json");
    let status = Command::new(release("foretell"))
        .args(["predict", "--no-progress", "-t", techniques, "-o"])
        .arg(&report)
        .arg(trace)
        .status()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    if status.code().is_none_or(|code| code == 2) {
        return Err(format!("{}: {status}", trace.display()));
    }
    let text = fs::read(&report).map_err(|error| format!("{}: {error}", report.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", report.display()))
}
