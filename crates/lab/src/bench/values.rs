//! What it brings, and what it costs, to compute values: the table of the RECIPE paper.
//!
//! Each program runs once, or under several seeds where the seed decides the schedule, and all techniques look at the
//! same runs. A race is a pair of places in the source, and counts once for a program and a seed. The programs of the
//! first two sets are made for it: what their threads decide by is computed from what others have written, and seldom
//! is the value itself what matters. The others are the programs that are there anyway.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::asked::{ready_for_programs, report};
use super::cpu::CpuTime;
use super::programs::{build_all, sources};
use super::record::{Record, Row, Target};
use xtask::process::release;

/// Under how many seeds native programs run.
const SEEDS: u32 = 5;
/// The ways of looking: `auto` without `recipe` ends with `rv-nre`.
const WAYS: [&[&str]; 4] = [&["rv"], &["rv-nre"], &["recipe", "--no-unexplored"], &["recipe"]];
const RV: usize = 0;
const RV_NRE: usize = 1;
const RECIPE_S: usize = 2;
const RECIPE: usize = 3;

/// What one way of looking has found, in how many CPU seconds.
#[derive(Clone, Default)]
struct Found {
    races: BTreeSet<(u32, String, String)>,
    count: usize,
    seconds: f64,
}

/// What all ways have found in a program, or in a set of them.
type Compared = [Found; WAYS.len()];

/// The table, set by set.
pub(crate) fn computing(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-values");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let made = Some([1.5, 2.0, 10.0]);
    let cimp = |from: &str| sources(from, "cimp");
    let native = |from: &str| build_all(from, &folder, &release("foretell"), &["cc"]);
    set(record, "programs made for it", &cimp("bench/cimp/values")?, 1, made, &folder)?;
    set(record, "native programs made for it", &native("bench/native/values")?, SEEDS, made, &folder)?;
    set(record, "examples", &cimp("examples")?, 1, None, &folder)?;
    set(record, "mixed programs", &native("bench/native/mixed")?, SEEDS, None, &folder)?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// One row for each program, then those that compare the sums; `targets` are those of races without untaken branches
/// and with them, each over `rv`'s, and of the time over that of `rv-nre`.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn set(
    record: &mut Record,
    name: &str,
    programs: &[PathBuf],
    seeds: u32,
    targets: Option<[f64; 3]>,
    folder: &Path,
) -> Result<(), String> {
    let mut sums = Compared::default();
    for program in programs {
        let compared = compare(program, seeds, folder)?;
        record.add(row(program, &compared));
        for (sum, found) in sums.iter_mut().zip(&compared) {
            sum.count += found.races.len();
            sum.seconds += found.seconds;
        }
    }
    let races = |way: usize| sums[way].count as f64;
    let least = |which: usize| targets.map(|targets| Target::AtLeast(targets[which]));
    let over = |what: &str| format!("{} {name}, races of {what} over rv", programs.len());
    record.add(Row::counts(over("rv-nre"), races(RV_NRE), races(RV), None));
    record.add(Row::counts(over("recipe --no-unexplored"), races(RECIPE_S), races(RV), least(0)));
    record.add(Row::counts(over("recipe"), races(RECIPE), races(RV), least(1)));
    let time = format!("{} {name}, CPU time of recipe over rv-nre", programs.len());
    let most = targets.map(|targets| Target::AtMost(targets[2]));
    record.add(Row::times(time, 1e3 * sums[RECIPE].seconds, 1e3 * sums[RV_NRE].seconds, most));
    Ok(())
}

/// The paper's columns: what the ways find, what `recipe` finds that `rv` does not and the other way round, and how
/// long they take.
fn row(program: &Path, compared: &Compared) -> Row {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let [rv, _, recipe_s, recipe] = compared;
    let note = format!(
        "recipe-s {}, rv {}; +{} −{}; {:.2} s, rv {:.2} s",
        recipe_s.races.len(),
        rv.races.len(),
        recipe.races.difference(&rv.races).count(),
        rv.races.difference(&recipe.races).count(),
        recipe.seconds,
        rv.seconds,
    );
    Row::races(format!("recipe, {name}"), recipe.races.len(), note)
}

fn compare(program: &Path, seeds: u32, folder: &Path) -> Result<Compared, String> {
    let mut compared = Compared::default();
    for (way, found) in WAYS.iter().zip(&mut compared) {
        let begin = CpuTime::of_children();
        for seed in 0..seeds {
            let options = ["run", "--seed", &seed.to_string(), "--technique"];
            let answer = report(&[&options, *way].concat(), &named(program), folder)?;
            found.races.extend(places(&answer).map(|[one, other]| (seed, one, other)));
        }
        found.seconds = begin.elapsed();
    }
    Ok(compared)
}

/// How a program is given to `foretell run`: as a source file, or as a command.
fn named(program: &Path) -> Vec<&OsStr> {
    let command = program.extension().is_none().then_some(OsStr::new("--"));
    command.into_iter().chain([program.as_os_str()]).collect()
}

/// The two places of each race, in an order that does not depend on the run.
fn places(report: &Value) -> impl Iterator<Item = [String; 2]> {
    report["races"].as_array().into_iter().flatten().map(|race| {
        let place = |side: &str| race[side]["location"].as_str().unwrap_or_default().to_string();
        let mut places = [place("first"), place("second")];
        places.sort();
        places
    })
}
