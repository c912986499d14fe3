//! Exploration against a walk through all states that is too simple to be wrong.

use std::collections::{BTreeSet, HashSet};

use foretell_cimp::explore::{Limits, Race, explore};
use foretell_cimp::machine::{Blocked, Bounds, Machine};
use foretell_cimp::program::Program;
use foretell_cimp::scheduler::replay;
use foretell_testkit::program::Shape;

use super::for_each;

/// What some state shows: a race or a failure, in words.
type Shown = BTreeSet<String>;

const STATES: usize = 20_000;

/// Everything that any state shows, unless there are too many states.
fn walk(program: &Program) -> Option<Shown> {
    let (mut shown, mut seen) = (Shown::new(), HashSet::new());
    let mut open = vec![Machine::new(program, Bounds::default())];
    let (mut key, mut turns) = (Vec::new(), Vec::new());
    while let Some(machine) = open.pop() {
        if let Some(failure) = machine.failure() {
            shown.insert(format!("{}: {}", failure.position, failure.fault));
            continue;
        }
        machine.key(&mut key);
        if !seen.insert(key.clone()) {
            continue;
        }
        if seen.len() > STATES {
            return None;
        }
        shown.extend(races(&machine));
        machine.turns(&mut turns);
        if turns.is_empty() && !machine.is_finished() {
            shown.insert(deadlock(machine.blocked()));
        }
        for &turn in &turns {
            let mut next = machine.clone();
            next.step(turn).expect("the turn is possible");
            open.push(next);
        }
    }
    Some(shown)
}

fn deadlock(blocked: Vec<Blocked>) -> String {
    let waiting: BTreeSet<String> = blocked.iter().map(Blocked::to_string).collect();
    format!("{waiting:?}")
}

fn races(machine: &Machine<'_>) -> Shown {
    let pairs = machine.threads().flat_map(|one| machine.threads().map(move |other| (one, other)));
    let race = |(one, other)| {
        let place = machine.race(one, other)?;
        let (one, other) = (machine.next(one)?.position, machine.next(other)?.position);
        Some(format!("{} at {} and {}", machine.place_name(place), one.min(other), one.max(other)))
    };
    pairs.filter_map(race).collect()
}

#[test]
fn exploration_finds_what_a_simple_walk_finds() {
    let mut compared = 0;
    for_each(500, Shape::any, |_, _, program| {
        let Some(shown) = walk(program) else { return };
        compared += 1;
        let found = explore(program, &Limits::default());
        assert!(found.is_complete());
        let text = |race: &Race| {
            let (one, other) = (race.first.position, race.second.position);
            format!("{} at {} and {}", race.variable, one.min(other), one.max(other))
        };
        let failures =
            found.failures.iter().map(|found| format!("{}: {}", found.failure.position, found.failure.fault));
        let deadlocks = found.deadlocks.iter().map(|found| deadlock(found.blocked.clone()));
        let all = found.races.iter().map(text).chain(failures).chain(deadlocks);
        assert_eq!(all.collect::<Shown>(), shown);
        for race in &found.races {
            let machine = replay(program, Bounds::default(), &race.schedule).expect("a schedule");
            assert!(races(&machine).contains(&text(race)), "{}", text(race));
        }
    });
    assert!(compared > 400, "{compared}");
}
