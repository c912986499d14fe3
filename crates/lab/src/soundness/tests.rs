//! The experiment with fixed seeds, with programs that once went wrong, and with recordings that lie.

use std::path::Path;
use std::{fs, thread};

use foretell_cimp::record::Run;
use foretell_cimp::scheduler::Schedule;
use foretell_predict::Technique;
use foretell_trace::{Batch, Dependence, Event, Names, Op, Reads, Source, Trace, TraceError};

use super::experiment::{examine_as_recorded, examine_given};
use super::*;

/// How many programs are examined: as many as a test run has time for.
const PROGRAMS: u64 = 3_000;

#[test]
fn every_predicted_race_is_real() {
    let next = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= PROGRAMS {
                return tally;
            }
            tally.add(&examine_seed(seed).unwrap_or_else(|failure| panic!("{}", failure.text())));
        }
    };
    let tally = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut all = Tally::default();
        workers.into_iter().for_each(|worker| all.add(&worker.join().expect("no program goes wrong")));
        all
    });
    println!("{tally}");
    assert!(tally.examined() > PROGRAMS * 9 / 10, "too many programs are too large");
    // What finds nothing cannot be wrong.
    for technique in [
        Technique::Shb,
        Technique::SyncP,
        Technique::Rf,
        Technique::Mcm,
        Technique::Rv,
        Technique::ReconP,
        Technique::RvNre,
        Technique::Recipe,
    ] {
        assert!(tally.proven(technique) > 10_000, "{}", technique.name());
    }
    assert!(tally.deadlocks[0] > 150 && tally.deadlocks[1] > 40, "{:?}", tally.deadlocks);
    assert!(tally.proven_with_detours() > tally.proven(Technique::Recipe));
    assert!(tally.proven(Technique::Recipe) > tally.proven(Technique::RvNre));
    assert!(tally.proven(Technique::RvNre) > tally.proven(Technique::Rv));
    assert!(tally.proven(Technique::ReconP) > tally.proven(Technique::SeqCheck));
    assert!(tally.proven(Technique::Rv) > tally.proven(Technique::Mcm));
    assert!(tally.proven(Technique::Mcm) > tally.proven(Technique::Rf));
    assert!(tally.proven(Technique::Rf) > tally.proven(Technique::SyncP));
    assert!(tally.proven(Technique::SyncP) > tally.proven(Technique::Shb));
}

/// A program of the folder, and the execution that was wrong.
fn kept(path: &Path) -> (String, Schedule) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schedule = text.lines().find_map(|line| line.strip_prefix("// schedule:"));
    let schedule = schedule.unwrap_or_else(|| panic!("{}: no schedule", path.display()));
    let schedule = schedule.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (text, schedule)
}

#[test]
fn what_once_went_wrong_stays_right() {
    let folder = root().join("corpus/programs");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "cimp") {
            continue;
        }
        count += 1;
        let (text, schedule) = kept(&path);
        let fine = |result: Result<Tally, Wrong>| {
            let tally = result.unwrap_or_else(|wrong| panic!("{}: {wrong:?}", path.display()));
            assert_eq!(tally.examined(), 1, "{}: too large", path.display());
        };
        fine(examine_given(&text, schedule));
        (0..10).for_each(|seed| fine(examine(&text, seed)));
    }
    assert!(count > 0);
}

/// Events that were changed.
struct Edited {
    events: Option<Vec<Event>>,
    names: Names,
}

impl Source for Edited {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        batch.events = self.events.take().unwrap_or_default();
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }
}

/// Does not tell of every other decision.
fn forget_decisions(mut run: Run) -> Run {
    let mut names = run.trace.names().clone();
    let nothing = Op::Dummy(names.labels.intern(b"nothing").expect("a name"));
    let mut events = run.trace.events().to_vec();
    let branches = events.iter_mut().filter(|event| event.op == Op::Branch);
    branches.skip(1).step_by(2).for_each(|branch| branch.op = nothing);
    if !events.is_empty() {
        run.trace = Trace::read(Box::new(Edited { events: Some(events), names })).expect("a trace");
    }
    run
}

/// Tells wrong values of what is written, but consistently: as if all numbers but 0 were the same.
fn blur_values(mut run: Run) -> Run {
    let names = run.trace.names().clone();
    let ones: Vec<_> = run.trace.events().iter().filter_map(|event| event.op.value_written()).collect();
    let Some(&one) = ones.iter().find(|value| names.value_text(**value) == "1") else { return run };
    let blur = |value: &mut Option<foretell_trace::Value>| {
        if value.is_some_and(|value| names.value_text(value) != "0") {
            *value = Some(one);
        }
    };
    let mut events = run.trace.events().to_vec();
    for event in &mut events {
        if let Op::Read { value, .. } | Op::Write { value, .. } = &mut event.op {
            blur(value);
        }
        if let Op::Load { value, .. } | Op::Store { value, .. } = &mut event.op {
            blur(value);
        }
    }
    run.trace =
        Trace::read(Box::new(Edited { events: Some(events), names: names.clone() })).expect("a trace");
    run
}

/// Tells that no read steers anything.
fn forget_what_steers(mut run: Run) -> Run {
    let nothing_steers = Dependence::new(run.trace.events().len());
    run.trace = run.trace.with_dependence(nothing_steers).expect("it fits every trace");
    run
}

/// Tells that no value depends on a read.
fn forget_values(mut run: Run) -> Run {
    let mut constants = run.trace.dependence().expect("recorded").clone();
    for (id, event) in run.trace.iter() {
        if event.op.access().is_some_and(|access| access.kind.writes()) {
            constants.set_value(id, Reads::NOTHING);
        }
    }
    run.trace = run.trace.with_dependence(constants).expect("it still fits");
    run
}

/// How many of some programs the experiment finds to be wrong if runs are changed after they were recorded.
fn found_out(change: fn(Run) -> Run) -> usize {
    let wrong = |seed: &u64| {
        let text = program(*seed, Shape::any(*seed)).to_string();
        let result = examine_as_recorded(&text, *seed, change);
        matches!(result, Err(wrong) if matches!(wrong.kind, Kind::FalseRace | Kind::FalseSchedule))
    };
    (0..200).filter(wrong).count()
}

#[test]
fn recordings_that_lie_are_found_out() {
    for lie in [forget_decisions, blur_values, forget_what_steers, forget_values] {
        let found = found_out(lie);
        assert!(found > 4, "{found}");
    }
    assert_eq!(found_out(|run| run), 0);
}
