//! What is said to matter to what, against what happens if a read sees something else.
//!
//! Random programs are run by a small machine that writes a log. Then they are run again, each time with one read that
//! sees something else, while all others see what they saw. Where that run is not as the first one, the read must have
//! been said to matter.

mod computed;
mod machine;
mod program;

use std::collections::BTreeSet;

use foretell_native::{convert, recompute};
use foretell_trace::{EventId, Op};

use machine::{Machine, Telling, log};
use program::{Program, Random};

/// What is looked at in a trace: the accesses of the thread that was followed.
fn accesses(events: &[foretell_trace::Event]) -> Vec<EventId> {
    let last = events.iter().rev().find(|event| event.op == Op::End).expect("the thread ends");
    let of = |(index, event): (usize, &foretell_trace::Event)| {
        let is_access = event.thread == last.thread && matches!(event.op, Op::Read { .. } | Op::Write { .. });
        is_access.then(|| EventId::from_index(index).expect("a small trace"))
    };
    events.iter().enumerate().filter_map(of).collect()
}

/// How much was seen, so that no one is content with programs that do nothing.
#[derive(Default, Debug)]
struct Seen {
    reads: usize,
    strayed: usize,
    changed: usize,
    free: usize,
}

fn check(seed: u64, seen: &mut Seen) {
    let mut random = Random::new(seed);
    let program = Program::random(&mut random);
    let telling = if random.below(2) == 0 { Telling::AtOnce } else { Telling::Late };
    let inputs: Vec<i64> = (0..400).map(|_| i64::from(random.below(4))).collect();
    let run = Machine::new(&program, telling, &inputs).run();
    if !run.ended {
        return;
    }
    let converted = convert(&log(&program, &run.records)).expect("a whole log");
    let dependence = converted.known_dependence().expect("threads are followed");
    let events = accesses(converted.events());
    let context = || format!("seed {seed}, {telling:?}\n{}", program.listing());
    assert_eq!(events.len(), run.accesses.len(), "{}", context());
    let reads: Vec<usize> = (0..run.accesses.len()).filter(|&index| !run.accesses[index].writes).collect();
    for (ordinal, &index) in reads.iter().enumerate().take(40) {
        let steered = dependence.steered_by(events[index]);
        seen.reads += 1;
        seen.free += usize::from(steered.is_none());
        for other in [0, 1, 2, 3, 7, 100].into_iter().filter(|&other| other != inputs[ordinal]) {
            let mut inputs = inputs.clone();
            inputs[ordinal] = other;
            let again = Machine::new(&program, telling, &inputs).run();
            let pairs = run.accesses.iter().zip(&again.accesses);
            let same = pairs.take_while(|(one, other)| one.is_same(other)).count();
            if let Some(&first) = events.get(same) {
                seen.strayed += 1;
                assert!(
                    steered.is_some_and(|steered| steered <= first),
                    "read {index} sees {other}: access {same} differs, event {first}, steered {steered:?}\n{}",
                    context()
                );
            }
            for write in (0..same).filter(|&write| run.accesses[write].value != again.accesses[write].value) {
                if write == index {
                    continue;
                }
                let is_steered = steered.is_some_and(|steered| steered <= events[write]);
                let value = dependence.reads(dependence.value_of(events[write]));
                let value: Option<BTreeSet<EventId>> = value.map(|reads| reads.into_iter().collect());
                seen.changed += 1;
                assert!(
                    is_steered || value.is_none_or(|reads| reads.contains(&events[index])),
                    "read {index} sees {other}: access {write} writes something else\n{}",
                    context()
                );
            }
        }
    }
}

#[test]
fn whatever_makes_a_difference_is_said_to_matter() {
    let mut seen = Seen::default();
    let seeds = std::env::var("FORETELL_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1500);
    for seed in 0..seeds {
        check(seed, &mut seen);
    }
    assert!(seen.strayed > 500 && seen.changed > 1000 && seen.free > seen.reads / 10, "{seen:?}");
}

/// The machine has computed what the code says, so whoever computes it again must come to the same.
#[test]
fn what_the_machine_has_computed_is_computed_again() {
    let mut known = [0; 3];
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random);
        let telling = if random.below(2) == 0 { Telling::AtOnce } else { Telling::Late };
        let inputs: Vec<i64> = (0..400).map(|_| i64::from(random.below(4))).collect();
        let run = Machine::new(&program, telling, &inputs).run();
        let found = recompute(&log(&program, &run.records)).expect("a whole log");
        assert_eq!(found.differ(), 0, "seed {seed}, {telling:?}: {found:?}\n{}", program.listing());
        for (sum, tally) in known.iter_mut().zip([found.stores, found.addresses, found.decisions]) {
            *sum += tally.known;
        }
    }
    assert!(known.iter().all(|&known| known > 1000), "{known:?}");
}

/// What was computed in the run is what the terms say, and so is what is computed if a read sees something else, as far
/// as the thread then does what it did.
#[test]
fn terms_tell_what_happens_if_a_read_sees_something_else() {
    let mut seen = computed::Seen::default();
    let seeds = std::env::var("FORETELL_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1500);
    for seed in 0..seeds {
        computed::check(seed, &mut seen);
    }
    assert!(seen.strayed > 500 && seen.foreseen > 1000 && seen.unmoved > seen.strayed, "{seen:?}");
}
