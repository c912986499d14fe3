//! How many races hunts find that hide in the usual runs of programs.
//!
//! The programs in `bench/native/hidden` have races that only show when locks are taken in another order than usual.
//! Each strategy makes the same number of runs of each program; a race is a pair of places in the source, and counts
//! once for a program. Beside them the program runs as often under ThreadSanitizer, as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::asked::{ready_for_programs, report};
use super::programs::build_all;
use super::record::{Record, Row, Target};
use xtask::process::release;

/// How often each program runs under each strategy.
const RUNS: usize = 10;
const SOURCES: &str = "bench/native/hidden";
/// The one that is measured, and those that it has to be ahead of.
const STRATEGIES: [&str; 6] = ["random", "contest", "pct", "pos", "drfinder", "predict"];

/// What hunts have found in all programs together.
#[derive(Default)]
struct Tally {
    races: usize,
    /// The largest number of a run that has shown something new, summed over the programs.
    runs_needed: usize,
}

/// Distinct races in as many runs, strategy by strategy.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn hunting(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-hidden");
    let watched = folder.join("tsan");
    fs::create_dir_all(&watched).map_err(|error| format!("{}: {error}", watched.display()))?;
    let programs = build_all(SOURCES, &folder, &release("foretell"), &["cc"])?;
    let plain = build_all(SOURCES, &watched, Path::new("clang-22"), &["-fsanitize=thread"])?;
    let plain = plain.iter().map(|program| watch(program)).sum::<Result<usize, String>>()?;
    let mut tallies = Vec::new();
    for strategy in STRATEGIES {
        let tally = hunt_all(&programs, strategy, &folder)?;
        let what = format!(
            "{} hidden programs, {RUNS} runs each, races of {strategy} (last new one in run {:.1})",
            programs.len(),
            tally.runs_needed as f64 / programs.len().max(1) as f64
        );
        record.add(Row::counts(
            format!("{what} over ThreadSanitizer"),
            tally.races as f64,
            plain as f64,
            None,
        ));
        tallies.push((strategy, tally.races));
    }
    let races =
        |wanted: &str| tallies.iter().find(|(name, _)| *name == wanted).map_or(0, |&(_, races)| races) as f64;
    for (ahead, behind) in [
        ("drfinder", "pct"),
        ("drfinder", "contest"),
        ("drfinder", "random"),
        ("predict", "drfinder"),
        ("predict", "pos"),
    ] {
        let what = format!("hidden programs, races of {ahead} over {behind}");
        let target = (behind != "random" && behind != "pos").then_some(Target::AtLeast(1.0));
        record.add(Row::counts(what, races(ahead), races(behind), target));
    }
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn hunt_all(programs: &[PathBuf], strategy: &str, folder: &Path) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for program in programs {
        let report = hunt(program, strategy, folder)?;
        let runs = report["hunt"]["runs"].as_array().cloned().unwrap_or_default();
        tally.races += report["races"].as_array().map_or(0, Vec::len);
        tally.runs_needed += runs.iter().rposition(|run| run["new"] != 0).map_or(0, |last| last + 1);
    }
    Ok(tally)
}

fn hunt(program: &Path, strategy: &str, folder: &Path) -> Result<Value, String> {
    let runs = RUNS.to_string();
    let options = ["hunt", "--patience", "none", "--strategy", strategy, "--runs", &runs];
    report(&options, &["--".as_ref(), program.as_os_str()], folder)
}

/// How many different races ThreadSanitizer sees in as many runs.
fn watch(program: &Path) -> Result<usize, String> {
    let mut races = BTreeSet::new();
    for _ in 0..RUNS {
        let output = Command::new(program)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        races.extend(pairs(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(races.len())
}

/// The places of each race in what ThreadSanitizer says: those of the first frames of the first two stacks.
fn pairs(text: &str) -> Vec<[String; 2]> {
    let mut found = Vec::new();
    for warning in text.split("WARNING: ThreadSanitizer: data race").skip(1) {
        let frames = warning.lines().filter_map(|line| line.trim_start().strip_prefix("#0 "));
        let mut places = frames.filter_map(|frame| frame.split(' ').find(|word| word.contains(':')));
        if let (Some(one), Some(other)) = (places.next(), places.next()) {
            let mut pair = [one.to_string(), other.to_string()];
            pair.sort();
            found.push(pair);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_the_words_of_threadsanitizer() {
        let text = "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x1 by thread T2:\n    #0 two \
                    /a/x.c:9:3 (x+0x1)\n    #1 main /a/x.c:1:1 (x+0x2)\n  Previous write of size 4 at 0x1 by thread T1:\n    \
                    #0 one /a/x.c:4:3 (x+0x3)\n";
        assert_eq!(pairs(text), [["/a/x.c:4:3".to_string(), "/a/x.c:9:3".to_string()]]);
    }
}
