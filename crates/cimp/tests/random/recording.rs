//! Recorded executions are well-formed traces, and the same schedule gives the same trace.

use foretell_cimp::record::{self, Ending, confirm};
use foretell_cimp::scheduler::Given;
use foretell_testkit::program::Shape;
use foretell_trace::Access;

use super::{for_each, run};

#[test]
fn every_read_is_explained() {
    let (mut finished, mut failed, mut stuck) = (0, 0, 0);
    for_each(3000, Shape::any, |seed, _, program| {
        let run = run(program, seed);
        assert!(run.trace.events().iter().all(|event| !event.unexplained));
        assert_eq!(run.flow.len(), run.trace.events().len());
        match run.ending {
            Ending::Finished => finished += 1,
            Ending::Failed(_) => failed += 1,
            Ending::Deadlock(_) => stuck += 1,
            Ending::StepLimit => panic!("the program does not end"),
        }
    });
    assert!(finished > 1000 && failed > 200 && stuck > 100, "{finished} {failed} {stuck}");
}

#[test]
fn the_same_schedule_gives_the_same_trace() {
    for_each(2000, Shape::any, |seed, _, program| {
        let first = run(program, seed);
        let schedule = first.schedule.to_string().parse().expect("a schedule");
        let mut given = Given::new(schedule);
        let second = record::run(program, &mut given, &record::Limits::default()).expect("a trace");
        assert_eq!((given.problem(), given.left()), (None, 0));
        assert_eq!(first.trace.events(), second.trace.events());
        assert_eq!((first.ending, first.schedule), (second.ending, second.schedule));
    });
}

/// Two conflicting accesses that were next to each other could as well have been the other way round.
#[test]
fn neighbours_that_conflict_are_confirmed() {
    let mut confirmed = 0;
    for_each(2000, Shape::any, |seed, _, program| {
        let run = run(program, seed);
        let ids: Vec<_> = run.trace.iter().map(|(id, _)| id).collect();
        for (place, pair) in ids.windows(2).enumerate() {
            let (first, second) = (run.trace.event(pair[0]), run.trace.event(pair[1]));
            let conflict = |one: Option<Access>, other: Option<Access>| {
                one.zip(other).is_some_and(|(one, other)| one.conflicts_with(other))
            };
            if first.thread != second.thread
                && run.is_step(pair[0])
                && run.is_step(pair[1])
                && conflict(first.op.access(), second.op.access())
            {
                assert_eq!(confirm(program, &run.trace, &ids[..place + 2]), Ok(()));
                confirmed += 1;
            }
        }
    });
    assert!(confirmed > 500, "{confirmed}");
}
