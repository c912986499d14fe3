//! Uses after a free before the exhaustive oracle and before a brute force that knows nothing but the description of
//! the trace format: all of them and no others, and the referee accepts every schedule and no schedule that was
//! changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pairs;
use foretell_predict::{Budget, FreedMemory, FreedUse, Goal, Limit, Predictor, Technique, Verdict, Witness};
use foretell_testkit::brute::{self, Rules};
use foretell_testkit::depending;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, Referee, Violation, ViolationClaim, oracle};
use foretell_z3::Pool;

const STATES: usize = 200_000;

const EXACT: [(Technique, Model, Rules); 3] = [
    (Technique::Rf, Model::SameWrite, Rules::SameWrite),
    (Technique::Mcm, Model::SameValue, Rules::SameValue),
    (Technique::Rv, Model::ControlFlow, Rules::ControlFlow),
];

/// Memory that comes and goes, and what may stand between a use and a free.
fn shape(seed: u64) -> Shape {
    let memory = Features { heap: true, forks: seed % 4 != 1, ..Features::MUTEXES };
    let features = match seed % 4 {
        0 => Features { branches: true, values: seed.is_multiple_of(8), ..memory },
        1 => Features { failed_attempts: true, shared_locks: true, ..memory },
        2 => Features { values: true, branches: true, unexplained: seed.is_multiple_of(5), ..Features::ALL },
        _ => Features { waiting: true, semaphores: true, ..memory },
    };
    Shape {
        threads: 2 + usize::try_from(seed % 3).expect("small"),
        decisive: seed.is_multiple_of(5),
        locking: seed.is_multiple_of(3),
        locks: 1 + usize::try_from(seed % 2).expect("small"),
        vars: 2,
        ..Shape::new(features, 12 + usize::try_from(seed % 9).expect("small"))
    }
}

fn candidates(trace: &Trace) -> Vec<FreedUse> {
    let found = FreedMemory::of(trace, Pairs::All, || false);
    assert!(!found.are_more);
    found.uses.into_iter().flat_map(|uses| uses.uses).collect()
}

fn claim(found: FreedUse, witness: &Witness) -> ViolationClaim {
    let violation = Violation::UseAfterFree { used: found.used, freed: found.freed };
    ViolationClaim { violation, model: witness.model, schedule: witness.schedule.clone() }
}

/// The uses that the technique proves, each of which the referee accepts, with the schedules.
fn proven(technique: Technique, trace: &Trace, window: Option<usize>) -> Vec<(FreedUse, Witness)> {
    let predictor =
        Predictor::new(trace, technique, window, Arc::new(Pool::default())).expect("the technique is exact");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let mut found = Vec::new();
    for candidate in candidates(trace) {
        match predictor.decide_goal(&Goal::from(&candidate), &budget) {
            Verdict::Reached(witness) => {
                let thread = trace.event(candidate.used).thread;
                assert!(predictor.last_before(candidate.freed, thread) < Some(candidate.used));
                if let Err(rejection) = referee.check_violation(claim(candidate, &witness)) {
                    panic!("{technique:?} {candidate:?} {:?}: {rejection}", witness.schedule);
                }
                found.push((candidate, witness));
            }
            Verdict::Unreachable(_) | Verdict::Undecided(Limit::Meeting) => {}
            Verdict::NotInWindow if window.is_some() => {}
            other => panic!("{candidate:?}: {other:?}"),
        }
    }
    found
}

fn pairs(proven: &[(FreedUse, Witness)]) -> BTreeSet<(EventId, EventId)> {
    proven.iter().map(|(found, _)| (found.used, found.freed)).collect()
}

fn expected(trace: &Trace, model: Model) -> Option<BTreeSet<(EventId, EventId)>> {
    let all = oracle::violations(trace, model, STATES)?;
    Some(all.into_keys().map(|Violation::UseAfterFree { used, freed }| (used, freed)).collect())
}

#[test]
fn uses_after_free_are_those_of_oracle_and_description() {
    let (mut compared, mut yes, mut no, mut described, mut apart) = (0, 0, 0, 0, 0);
    for seed in 0..20_000 {
        let text = tiny::trace(seed, shape(seed));
        let trace = foretell_testkit::trace(&text);
        let candidates = candidates(&trace).len();
        for (technique, model, rules) in EXACT {
            // What is not even a candidate must not be one for the oracle either: asked of each trace once.
            if candidates == 0 && seed % 3 != technique as u64 % 3 {
                continue;
            }
            let Some(expected) = expected(&trace, model) else { continue };
            let proven = proven(technique, &trace, None);
            let found = pairs(&proven);
            assert_eq!(found, expected, "{technique:?}, seed {seed}\n{text}");
            for (use_after, witness) in &proven {
                assert_changes_are_rejected(&trace, *use_after, witness);
            }
            let inside = pairs(&self::proven(technique, &trace, Some(trace.events().len() / 2 + 2)));
            assert!(inside.is_subset(&expected), "{technique:?}, seed {seed}\n{text}");
            compared += 1;
            (yes, no) = (yes + found.len(), no + candidates - found.len());
            if !found.is_empty() {
                let races = oracle::races(&trace, model, STATES).unwrap_or_default();
                let is_race = |&&(used, freed): &&(EventId, EventId)| races.contains(&(used, freed));
                apart += found.iter().filter(|pair| !is_race(pair)).count();
            }
            if seed.is_multiple_of(4)
                && let Some(by_force) = brute::uses_after_free(&text, rules, STATES)
            {
                let found: BTreeSet<_> =
                    found.iter().map(|(used, freed)| (used.number(), freed.number())).collect();
                assert_eq!(found, by_force, "{technique:?}, seed {seed}\n{text}");
                described += by_force.len();
            }
        }
    }
    assert!(
        compared > 10_000 && yes > 1000 && no > 1000 && described > 200 && apart > 15,
        "{compared} {yes} {no} {described} {apart}"
    );
}

/// The same where the trace tells which reads matter.
#[test]
fn uses_after_free_that_depend_on_few_reads_are_those_of_the_oracle() {
    let (mut yes, mut more) = (0, 0);
    for seed in 0..6000 {
        let shape = Shape { decisive: false, ..shape(seed) };
        let features = Features { values: true, branches: seed.is_multiple_of(8), ..shape.features };
        let text = tiny::trace(seed, Shape { features, ..shape });
        let trace = depending::at_random(seed, foretell_testkit::trace(&text));
        if candidates(&trace).is_empty() {
            continue;
        }
        let Some(expected) = expected(&trace, Model::Necessary) else { continue };
        let found = pairs(&proven(Technique::RvNre, &trace, None));
        assert_eq!(found, expected, "seed {seed}\n{text}{:?}", trace.dependence());
        yes += found.len();
        more += usize::from(found.len() > proven(Technique::Mcm, &trace, None).len());
    }
    assert!(yes > 100 && more > 0, "{yes} {more}");
}

/// A schedule without the free or a step of the user's, one that goes on, and another free.
fn assert_changes_are_rejected(trace: &Trace, found: FreedUse, witness: &Witness) {
    let mut referee = Referee::new(trace);
    let right = claim(found, witness);
    let thread = trace.event(found.used).thread;
    let of_thread = |event: &EventId| trace.event(*event).thread == thread && *event != found.used;
    let last = right.schedule.iter().rposition(of_thread);
    let freed = right.schedule.iter().position(|&event| event == found.freed);
    for place in last.into_iter().chain(freed) {
        let mut wrong = right.clone();
        wrong.schedule.remove(place);
        assert!(referee.check_violation(wrong).is_err(), "{right:?} without step {place}");
    }
    let twice = right.schedule.iter().copied().chain([found.used]).collect();
    assert!(referee.check_violation(ViolationClaim { schedule: twice, ..right.clone() }).is_err());
    for (other, event) in trace.iter().filter(|&(other, _)| other != found.freed) {
        let violation = Violation::UseAfterFree { used: found.used, freed: other };
        let wrong = ViolationClaim { violation, ..right.clone() };
        assert!(referee.check_violation(wrong).is_err(), "{right:?} with {event:?}");
    }
    assert_eq!(referee.check_violation(right.clone()).map(|it| it.violation()), Ok(right.violation));
}
