//! The figures of the RECIPE paper as C programs: races for which a read sees another value than it saw, be it the one
//! that memory held at first. And when that one is not to be trusted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::{build, foretell, is_ready, programs};

/// Who sleeps comes last, whatever else is picked.
const SEEDS: std::ops::Range<u32> = 1..4;

/// A compiled program, whose lines are known by the comments at their ends.
struct Figure {
    source: String,
    program: String,
}

impl Figure {
    fn new(name: &str) -> Figure {
        let name = format!("figures/recipe_{name}.c");
        let source = fs::read_to_string(programs().join(&name)).expect("a program");
        Figure { source, program: build(&name) }
    }

    /// What is said at the end of the line of an access.
    fn words<'a>(&'a self, access: &Value) -> &'a str {
        let place = access["location"].as_str().expect("a place");
        let line = place.rsplit(':').nth(1).and_then(|line| line.parse::<usize>().ok()).expect("a line");
        let text = self.source.lines().nth(line - 1).unwrap_or_default();
        text.rsplit_once("// ").map_or("", |(_, words)| words)
    }

    /// The races that a technique proves from a run on the way that it went, by what is said of their lines, the
    /// smaller text first.
    fn told(&self, technique: &str, seed: u32) -> Vec<((&str, &str), Value)> {
        self.told_with(&[technique, "--no-unexplored"], seed)
    }

    /// As [`Figure::told`], of a technique with options.
    fn told_with(&self, technique: &[&str], seed: u32) -> Vec<((&str, &str), Value)> {
        // The programs print something, too.
        let (seed, report) = (seed.to_string(), format!("{}.json", self.program));
        let command = ["run", "--no-progress", "-o", &report, "--seed", &seed, "-t"];
        foretell(&[&command[..], technique, &["--", &self.program]].concat());
        let report: Value = serde_json::from_slice(&fs::read(&report).expect("a file")).expect("a report");
        let races = report["races"].as_array().expect("a list").iter();
        let lines = |race: &Value| {
            let [one, other] = ["first", "second"].map(|access| self.words(&race[access]));
            (one.min(other), one.max(other))
        };
        races.map(|race| (lines(race), race.clone())).collect()
    }

    fn races(&self, technique: &str, seed: u32) -> BTreeSet<(&str, &str)> {
        self.told(technique, seed).into_iter().map(|(lines, _)| lines).collect()
    }

    /// In every run `recipe` proves this race, and those that see no other values than the run did not.
    fn only_recipe_finds(&self, lines: (&str, &str)) {
        for seed in SEEDS {
            for technique in ["rv", "reconp", "rv-nre"] {
                assert!(!self.races(technique, seed).contains(&lines), "{technique}, seed {seed}");
            }
            for technique in ["recipe", "auto"] {
                let found = self.races(technique, seed);
                assert!(found.contains(&lines), "{technique}, seed {seed}: {found:?}");
            }
        }
    }
}

/// The first value of `y` leads to the same decision as the second one.
#[test]
fn figure_1_has_a_race_on_the_way_that_was_gone() {
    if is_ready() {
        Figure::new("figure1").only_recipe_finds(("2", "5"));
    }
}

/// The sum is 13 instead of 12 then.
#[test]
fn figure_2_tells_the_values_that_lead_to_the_race() {
    if !is_ready() {
        return;
    }
    let figure = Figure::new("figure2");
    figure.only_recipe_finds(("e11", "e2"));
    let told = figure.told("recipe", 1);
    let (_, race) = told.iter().find(|(lines, _)| *lines == ("e11", "e2")).expect("the race");
    let values = race["values"].as_array().expect("values");
    assert!(values.iter().any(|new| new["read"] == "3"), "{values:?}");
    assert!(values.iter().any(|new| new["written"] == "13"), "{values:?}");
}

/// An access to another object is no access to this one, also if it is the one that the pointer led to at first.
#[test]
fn figure_3_has_no_race_across_objects() {
    if !is_ready() {
        return;
    }
    let figure = Figure::new("figure3");
    for seed in SEEDS {
        let found = figure.races("recipe", seed);
        assert_eq!(found, figure.races("rv", seed), "seed {seed}");
        assert!(found.contains(&("published", "read")) && !found.contains(&("read", "unpublished")));
    }
}

/// What the count was at first nobody reads in the run, but the read behind the decision races only with that one.
#[test]
fn figure_5_has_a_race_behind_the_decision() {
    if !is_ready() {
        return;
    }
    let figure = Figure::new("figure5");
    figure.only_recipe_finds(("294", "400"));
    assert!(figure.races("rv", 1).contains(&("291", "400")));
}

/// The race lies on a way that the run did not go, behind a lock that is taken there: nobody finds it who stays on the
/// way that was gone.
#[test]
fn figure_6_has_a_race_on_the_way_that_was_not_gone() {
    if !is_ready() {
        return;
    }
    let figure = Figure::new("figure6");
    for seed in SEEDS {
        let found = figure.races("recipe", seed);
        assert!(!found.iter().any(|lines| lines.0 == "5" || lines.1 == "5"), "{found:?}");
        assert!(found.contains(&("1", "11")), "seed {seed}: {found:?}");
        for technique in ["recipe", "auto"] {
            let found = figure.told_with(&[technique, "--confirm"], seed);
            let race = found.iter().find(|(lines, _)| *lines == ("1", "5"));
            let Some((_, race)) = race else { panic!("{technique}, seed {seed}: {found:?}") };
            assert_eq!(race["path"], "not executed in the recorded run");
            assert_eq!(race["confirmation"]["confirmed"], true, "the program was driven there: {race}");
            let values = race["values"].as_array().expect("the values that lead there");
            assert!(values.iter().any(|new| new["target"] == "alive" && new["read"] == "4"), "{values:?}");
        }
    }
}

/// The same pattern where all ways were gone.
#[test]
fn a_pool_may_be_full_or_not_and_is_counted_all_the_same() {
    if is_ready() {
        Figure::new("pool").only_recipe_finds(("looked", "raised by the first"));
    }
}

/// Whether `recipe` proves the race of `data` in a run of the program that is compiled with these options, one part of
/// it without hooks.
fn data_races(options: &[&str]) -> bool {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    let folder = programs().join("statics");
    let built = |name: &str| -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("statics{number}_{name}"))
    };
    let (unseen, program) = (built("unseen.o"), built("program").display().to_string());
    let compiled =
        Command::new("clang-22").arg("-c").arg(folder.join("unseen.c")).arg("-o").arg(&unseen).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let (unseen, source) = (unseen.display().to_string(), folder.join("program.c").display().to_string());
    let linked = foretell(&[&["cc", "-O1"], options, &[&source, &unseen, "-o", &program]].concat());
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let found = ["serial", "striped"].map(|order| {
        let command =
            ["run", "--no-progress", "--format", "json", "-t", "recipe", "--order", order, "--", &program];
        let report: Value = serde_json::from_slice(&foretell(&command).stdout).expect("a report");
        let races = report["races"].as_array().expect("a list").clone();
        let of = |name: &str| races.iter().any(|race| race["first"]["target"] == name);
        assert!(of("flag"), "{options:?}: {races:?}");
        of("data")
    });
    assert_eq!(found[0], found[1], "{options:?}");
    found[0]
}

/// The worker may find the flag as it was before the first thread wrote it, and then comes to the data at the same
/// time.
#[test]
fn what_memory_holds_at_first_is_what_it_held_when_threads_began() {
    if !is_ready() {
        return;
    }
    assert!(data_races(&["-DFIRST=0"]), "zeros that no file holds");
    assert!(data_races(&["-DFIRST=3"]));
    assert!(!data_races(&["-DFIRST=7"]), "then it decides otherwise");
    assert!(data_races(&["-DFIRST=7", "-DBEFORE_THREADS=3"]), "whoever has written it");
    assert!(!data_races(&["-DFIRST=3", "-DBEFORE_THREADS=7"]));
    assert!(data_races(&["-DIN_A_CONSTRUCTOR"]));
}

/// Code without hooks has written the flag, so what it held before helps nobody. (That it could be found out by how the
/// run would go on is not looked at.)
#[test]
fn what_may_have_been_overwritten_unseen_is_unknown() {
    if !is_ready() {
        return;
    }
    assert!(!data_races(&["-DFIRST=3", "-DAMONG_THREADS=7"]), "that would be a false race");
    assert!(!data_races(&["-DFIRST=7", "-DAMONG_THREADS=3"]));
}

/// What is not computed of a run of the program that has this in it, by reason; in a trace file just as of the run
/// itself.
fn not_computed(what: &str) -> Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("obstacles-{what}")).display().to_string();
    let source = programs().join("values/obstacles.c").display().to_string();
    let built = foretell(&["cc", "-O1", &format!("-D{what}"), &source, "-o", &program]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let trace = format!("{program}.ftr");
    let options = ["--no-progress", "--format", "json", "-t", "recipe"];
    let told = |command: &[&str]| -> Value {
        let report: Value = serde_json::from_slice(&foretell(command).stdout).expect("a report");
        report["stats"]["not_computed"].clone()
    };
    let of_run = told(&[&["run"], &options[..], &["--trace", &trace, "--", &program]].concat());
    let of_file = told(&[&["predict"], &options[..], &[&trace]].concat());
    assert_eq!(of_run, of_file, "{what}");
    of_run
}

#[test]
fn what_is_not_computed_is_counted_by_reason() {
    if !is_ready() {
        return;
    }
    let times = |what: &str, reason: &str| not_computed(what)[reason].as_u64().unwrap_or(0);
    assert_eq!(not_computed("NOTHING"), Value::Null, "all of it is computed");
    assert!(times("FLOATING_POINT", "floating-point") >= 2, "{}", not_computed("FLOATING_POINT"));
    assert!(times("WIDE", "wide") >= 1, "{}", not_computed("WIDE"));
    assert!(times("OPERATION", "operation") >= 1, "{}", not_computed("OPERATION"));
}
