//! Runs of random programs: the program does what its slices show.

use std::sync::Arc;

use foretell_cimp::program::Program;
use foretell_cimp::record::Run;
use foretell_cimp::scheduler::{Pct, Random, RoundRobin, Serial};
use foretell_depend::{Property, Rule, slice};
use foretell_testkit::program::{Shape, program};
use foretell_testkit::random;
use foretell_trace::{EventId, ThreadId, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::{Machine, Model};

use crate::recording::{conflicts, needed, predicted, recorded};
use crate::replay::{replay, replay_race};

/// A random program and one of its runs: with few switches between threads, with many, or between. `None` if the
/// program has a mistake that shows before it runs.
fn random_run(seed: u64) -> Option<(String, Program, Run)> {
    let source = program(seed, Shape::any(seed)).to_string();
    let program = foretell_cimp::compile(&source).ok()?;
    let run = match seed % 4 {
        0 => recorded(&program, Serial::new()),
        1 => recorded(&program, RoundRobin::default()),
        2 => recorded(&program, Random::new(seed)),
        _ => recorded(&program, Pct::new(seed, 3, 30)),
    };
    Some((source, program, run))
}

#[test]
fn races_on_slices_are_races_of_the_program() {
    let mut races = 0;
    for (seed, (source, program, run)) in (0..1500).filter_map(|seed| Some((seed, random_run(seed)?))) {
        for pair in conflicts(&run) {
            let Some(schedule) = predicted(&run, pair, Rule::Sound) else { continue };
            races += 1;
            if let Err(why) = replay_race(&program, &run, &schedule) {
                panic!("seed {seed}, {pair:?} by {schedule:?}: {why}\n{source}\n{}", run.schedule);
            }
        }
    }
    assert!(races > 10_000, "{races}");
}

#[test]
fn schedules_of_slices_are_runs_of_the_program() {
    let mut steps = 0;
    for (seed, (source, program, run)) in (0..3000).filter_map(|seed| Some((seed, random_run(seed)?))) {
        let accesses: Vec<EventId> =
            run.trace.iter().map(|(id, _)| id).filter(|&id| run.is_step(id)).collect();
        if accesses.is_empty() {
            continue;
        }
        let random = &mut random::Random::new(seed);
        let property = Property::events((0..3).map(|_| accesses[random.below(accesses.len())]));
        let slice = slice(&run.trace, Some(&run.flow), &property, Rule::Sound);
        let sliced = slice.trace(&run.trace).unwrap();
        for _ in 0..5 {
            let schedule = needed(&slice, &sliced, &random_schedule(&sliced, random));
            steps += schedule.len();
            if let Err(why) = replay(&program, &run, &schedule) {
                panic!("seed {seed}, {property:?} by {schedule:?}: {why}\n{source}\n{}", run.schedule);
            }
        }
    }
    assert!(steps > 100_000, "{steps}");
}

/// A schedule that keeps values and cannot be continued.
fn random_schedule(trace: &Trace, random: &mut random::Random) -> Vec<EventId> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameValue);
    let mut schedule = Vec::new();
    loop {
        let enabled: Vec<ThreadId> =
            trace.threads().filter(|&thread| machine.enabled(thread).is_ok()).collect();
        if enabled.is_empty() {
            return schedule;
        }
        let thread = enabled[random.below(enabled.len())];
        schedule.extend(machine.next(thread));
        machine.step(thread).unwrap();
    }
}
