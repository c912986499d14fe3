//! Every program of `corpus/native` is driven into each race that is predicted of it, and from the saved schedule again
//! and again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use foretell_testkit::native::{Program, programs};
use serde_json::Value;

use crate::native_corpus::{build, prepare};
use xtask::process::{release, root};

/// So many seeds by default.
const SEEDS: u64 = 3;
/// So often a schedule is followed.
const AGAIN: usize = 10;
/// Of a hundred races so many must be confirmed; those without a schedule that brings the accesses together do not
/// count.
const ENOUGH: usize = 95;

#[derive(Default)]
struct Tally {
    confirmed: usize,
    /// Races whose proof is no schedule.
    unordered: usize,
    /// Races that were not confirmed, and why; schedules that were not followed each time.
    others: Vec<String>,
}

/// `cargo xtask replay-corpus [SEEDS [PART OF A NAME]]`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let seeds = match args.first() {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number of seeds"))?,
        None => SEEDS,
    };
    let part = args.get(1).map_or("", String::as_str);
    let folder = prepare()?;
    let mut tally = Tally::default();
    for program in all().iter().filter(|program| program.name.contains(part)) {
        let built = build(program, &folder)?;
        let before = tally.confirmed;
        for seed in 1..=seeds {
            replay(program, &built, seed, &folder, &mut tally)?;
        }
        println!("{:<32} {:>5} confirmed", program.name, tally.confirmed - before);
    }
    tally.others.iter().for_each(|message| println!("  {message}"));
    let (confirmed, others, unordered) = (tally.confirmed, tally.others.len(), tally.unordered);
    println!("{confirmed} confirmed, {others} not; {unordered} ordered by values");
    if confirmed * 100 < (confirmed + others) * ENOUGH {
        return Err(format!("less than {ENOUGH} % were confirmed"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The programs that have races, and those of other folders, of which some do.
fn all() -> Vec<Program> {
    let mut all: Vec<Program> = programs().into_iter().filter(|program| !program.races.is_empty()).collect();
    for folder in ["depend", "figures"] {
        let entries = fs::read_dir(root().join("corpus/native").join(folder));
        let mut paths: Vec<_> =
            entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        all.extend(paths.into_iter().map(|path| Program {
            name: format!("{folder}_{}", path.file_name().unwrap_or_default().to_string_lossy()),
            path,
            options: Vec::new(),
            serial: false,
            races: BTreeSet::new(),
        }));
    }
    all
}

fn replay(program: &Program, built: &str, seed: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let path = folder.join("report.json");
    let failed = |error| format!("{}: {error}", path.display());
    Command::new(release("foretell"))
        .args(["run", "--confirm", "--no-progress", "--seed", &seed.to_string(), "-o"])
        .args([&path.display().to_string(), "--", built])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(failed)?;
    let text = fs::read_to_string(&path).map_err(failed)?;
    let report: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let reports = report.as_array().map_or(std::slice::from_ref(&report), Vec::as_slice);
    let races = reports.iter().filter_map(|report| report["races"].as_array()).flatten();
    for (number, race) in races.filter(|race| race["repeated"] != true).enumerate() {
        let name = format!("{}, seed {seed}, race {}", program.name, number + 1);
        if race["proof"] == "unordered" {
            tally.unordered += 1;
        } else if race["confirmation"]["confirmed"] != true {
            tally.others.push(format!("{name}: {}", race["confirmation"]["why"]));
        } else {
            match again(race["schedule"].as_str().unwrap_or_default(), built, folder)? {
                AGAIN => tally.confirmed += 1,
                times => tally.others.push(format!("{name}: followed only {times} of {AGAIN} times")),
            }
        }
    }
    Ok(())
}

/// How often the program follows the schedule.
fn again(schedule: &str, built: &str, folder: &Path) -> Result<usize, String> {
    let path = folder.join("race.schedule");
    fs::write(&path, schedule).map_err(|error| format!("{}: {error}", path.display()))?;
    let follows = || {
        let mut command = Command::new(release("foretell"));
        command.arg("replay").arg(&path).args(["--", built]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.code() == Some(1))
    };
    Ok((0..AGAIN).filter(|_| follows()).count())
}
