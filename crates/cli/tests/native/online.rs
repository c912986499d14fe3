//! Programs that look for races in themselves while they run: what they find, and that they run as if they were
//! recorded.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use foretell_detect::{Pairs, Reports};
use foretell_native::{OnlineKind, OnlineRaces, convert_events, races};
use foretell_predict::Technique;
use foretell_testkit::process::limited;
use foretell_trace::{EventId, Trace};

use crate::{build, is_ready};

/// Two places in the source, in the order of their names.
type Locations = (String, String);

/// Runs the program; returns what it has printed, and the folder with what it has left.
fn run(program: &str, seed: u64, detect: &str) -> (Output, PathBuf) {
    // Of the same length whatever is asked for: the environment is in the memory of the program.
    let folder = PathBuf::from(format!("{program}-online{detect}"));
    // What is left of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let output = limited(program)
        .env("FORETELL_LOG", &folder)
        .env("FORETELL_SEED", seed.to_string())
        .env("FORETELL_DETECT", detect)
        .output()
        .expect("it runs");
    (output, folder)
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path());
    entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// What each process has found in itself.
fn found(folder: &Path) -> Vec<OnlineRaces> {
    let read = |path: &Path| {
        let log = fs::read(path.with_extension("ftraw")).expect("a log");
        races(&log, &fs::read(path).expect("races")).expect("they can be read")
    };
    files(folder, "races").iter().map(|path| read(path)).collect()
}

fn in_order(one: &str, other: &str) -> Locations {
    (one.min(other).to_string(), one.max(other).to_string())
}

fn found_online(folder: &Path) -> BTreeSet<Locations> {
    let all = found(folder).into_iter().flat_map(|found| found.races);
    all.map(|race| in_order(race.first.place.location(), race.second.place.location())).collect()
}

/// All that races by happens-before in the recorded run.
fn found_offline(folder: &Path) -> BTreeSet<Locations> {
    let mut found = BTreeSet::new();
    for path in files(folder, "ftraw") {
        let log = fs::read(path).expect("a log");
        let trace = Trace::check(convert_events(&log).expect("a trace")).expect("it is sound");
        let mut reports = Reports::new(Pairs::ByLocation);
        let mut detector = Technique::Hb.detector().expect("it is a detector");
        detector.batch(EventId::FIRST, trace.events(), &mut reports);
        detector.finish(&mut reports);
        let location = |event| trace.names().symbol_text(trace.event(event).loc.0).to_string();
        found.extend(
            reports.pairs().iter().map(|pair| in_order(&location(pair.first), &location(pair.second))),
        );
    }
    found
}

/// Whatever a program finds in itself races by happens-before in the same run, recorded; and everything that races
/// there is a side of a race that it finds.
pub(crate) fn agrees(program: &str, seed: u64) {
    let (_, detected) = run(program, seed, "1");
    let (_, recorded) = run(program, seed, "0");
    let (online, offline) = (found_online(&detected), found_offline(&recorded));
    let what = format!("{program} with seed {seed}: {online:?}, recorded: {offline:?}");
    assert!(online.is_subset(&offline), "{what}");
    let sides = |pairs: &BTreeSet<Locations>| -> BTreeSet<String> {
        pairs.iter().flat_map(|(one, other)| [one.clone(), other.clone()]).collect()
    };
    assert_eq!(sides(&online), sides(&offline), "{what}");
}

#[test]
fn a_run_is_the_same_whether_it_is_recorded_or_looked_at() {
    if !is_ready() {
        return;
    }
    let program = build("turns.c");
    let printed = |seed, detect| String::from_utf8(run(&program, seed, detect).0.stdout).expect("text");
    let runs: Vec<String> = (1..=6).map(|seed| printed(seed, "1")).collect();
    for (seed, looked_at) in (1..).zip(&runs) {
        assert_eq!(&printed(seed, "0"), looked_at, "seed {seed}");
    }
    let different: BTreeSet<&String> = runs.iter().collect();
    assert_eq!(different.len(), runs.len(), "seeds make a difference");
}

#[test]
fn what_is_found_has_names_and_nothing_is_recorded() {
    if !is_ready() {
        return;
    }
    let program = build("turns.c");
    let (_, folder) = run(&program, 3, "1");
    let found = found(&folder);
    let [found] = &found[..] else { panic!("one process: {found:?}") };
    assert!(!found.is_blind && !found.races.is_empty(), "{found:?}");
    for race in &found.races {
        assert_eq!(race.variable, "unguarded", "{race:?}");
        assert!(race.count > 1, "it was seen again: {race:?}");
        for side in [&race.first, &race.second] {
            assert!(side.place.location().contains("turns.c:20:"), "{race:?}");
            assert_eq!(side.place.stack[0].function, "work", "{race:?}");
            assert!(side.place.thread.starts_with('T') && side.bytes == 4, "{race:?}");
        }
    }
    let log = fs::read(&files(&folder, "ftraw")[0]).expect("a log");
    assert!(convert_events(&log).expect("it can be read").events().is_empty(), "there are no records");
}

#[test]
fn memory_of_the_heap_is_told_with_its_allocation() {
    if !is_ready() {
        return;
    }
    let program = build("free_race.c");
    let all: Vec<OnlineRaces> = (1..=4).flat_map(|seed| found(&run(&program, seed, "1").1)).collect();
    let mut races = all.iter().flat_map(|found| &found.races);
    let free = races.find(|race| [race.first.kind, race.second.kind].contains(&OnlineKind::Free));
    let free = free.expect("a block is given back while it is used");
    assert!(free.variable.contains("of a block of"), "{free:?}");
    assert!(
        free.allocated.as_ref().is_some_and(|place| place.location().contains("free_race.c:")),
        "{free:?}"
    );
}

#[test]
fn every_process_finds_its_own() {
    if !is_ready() {
        return;
    }
    let program = build("fork_norace.c");
    let (output, folder) = run(&program, 1, "1");
    assert!(output.status.success(), "{output:?}");
    let found = found(&folder);
    assert!(found.len() > 1, "each process has a file: {found:?}");
    assert!(found.iter().all(|found| found.races.is_empty()), "{found:?}");
}

#[test]
fn what_was_found_before_a_program_is_stuck_is_there() {
    if !is_ready() {
        return;
    }
    let program = build("deadlock.c");
    let (output, folder) = run(&program, 1, "1");
    assert!(String::from_utf8_lossy(&output.stderr).contains("deadlock"), "{output:?}");
    assert_eq!(found(&folder).len(), 1, "the file can be read");
}

#[test]
fn programs_that_make_it_hard_are_looked_at_as_well() {
    if !is_ready() {
        return;
    }
    for name in [
        "become_another",
        "endings",
        "fork_threads",
        "handlers_for_one",
        "jumping_handler",
        "many_threads",
        "signals",
    ] {
        let program = build(&format!("stress/{name}.c"));
        let (output, folder) = run(&program, 2, "1");
        assert!(output.status.success(), "{name}: {output:?}");
        let found = found(&folder);
        assert!(!found.is_empty() && found.iter().all(|found| found.races.is_empty()), "{name}: {found:?}");
    }
}
