//! Figure 2 of the DrFinder paper: two races that the usual order of locks hides, and the schedulers that look for
//! them.

use std::collections::BTreeSet;

use foretell_cimp::program::Program;
use foretell_cimp::record::{Ending, Limits, run};
use foretell_cimp::scheduler::{Contest, DrFinder, Scheduler, Serial};
use foretell_detect::fasttrack::FastTrack;
use foretell_detect::{Detector, Pairs, Reports};
use foretell_schedule::{Relation, Strategy, drfinder};
use foretell_trace::EventId;

fn figure() -> Program {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drfinder_figure2_work.cimp");
    foretell_cimp::compile(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The variables whose races FastTrack sees in a run under the scheduler.
fn races(program: &Program, scheduler: &mut dyn Scheduler) -> BTreeSet<String> {
    let run = run(program, scheduler, &Limits::default()).unwrap();
    assert_eq!(run.ending, Ending::Finished);
    let mut reports = Reports::new(Pairs::All);
    let mut detector = FastTrack::default();
    detector.batch(EventId::FIRST, run.trace.events(), &mut reports);
    detector.finish(&mut reports);
    let events = run.trace.events();
    let variable = |id: EventId| events[id.index()].op.access().unwrap().var;
    let names = run.trace.names();
    reports.pairs().iter().map(|pair| names.vars.name(variable(pair.first)).to_string()).collect()
}

/// The races that so many runs in a row show, each using what the one before has learnt.
fn hunted(program: &Program, first_seed: u64, runs: u64) -> (Vec<BTreeSet<String>>, Relation) {
    let mut relation = Relation::default();
    let found = (0..runs).map(|run| {
        let mut strategy = DrFinder::new(first_seed + run, drfinder::DEPTH, std::mem::take(&mut relation));
        let found = races(program, &mut strategy);
        relation = strategy.learnt().unwrap().relation.clone();
        found
    });
    (found.collect(), relation)
}

fn both() -> BTreeSet<String> {
    BTreeSet::from(["x".to_owned(), "y".to_owned()])
}

#[test]
fn the_usual_order_hides_both_races_and_noise_does_not_show_them() {
    let program = figure();
    assert_eq!(races(&program, &mut Serial::new()), BTreeSet::new());
    let noisy: BTreeSet<String> =
        (1..=100).flat_map(|seed| races(&program, &mut Contest::new(seed))).collect();
    assert_eq!(noisy, BTreeSet::new());
}

#[test]
fn reversed_locks_show_both_races_within_ten_runs() {
    let program = figure();
    for first_seed in (0..1_000).step_by(10) {
        let (found, _) = hunted(&program, first_seed, 10);
        assert_eq!(found.into_iter().flatten().collect::<BTreeSet<_>>(), both(), "{first_seed}");
    }
}

#[test]
fn the_relation_is_that_of_the_papers_first_table() {
    let program = figure();
    let mut strategy = DrFinder::new(1, drfinder::DEPTH, Relation::default());
    run(&program, &mut strategy, &Limits::default()).unwrap();
    let text = program.triggers_text(strategy.learnt().unwrap());
    // The paper leaves out the methods that the threads begin with.
    let mut table: Vec<&str> =
        text.lines().filter(|line| line.starts_with('f') && line.contains('\t')).collect();
    table.sort_unstable();
    let expected = [
        ("f1", "k n o1"),
        ("f2", "n o1"),
        ("f3", "n o2 o3"),
        ("f4", "n o2 o3"),
        ("f5", "n"),
        ("f6", "k o4 o5"),
        ("f7", "k o4 o5"),
        ("f8", "k"),
    ];
    let expected: Vec<String> = expected
        .iter()
        .flat_map(|(function, locks)| locks.split(' ').map(move |lock| format!("{function}\t{lock}")))
        .collect();
    assert_eq!(table, expected);
    assert_eq!(program.parse_triggers(&text).unwrap(), strategy.learnt().unwrap().relation);
}
