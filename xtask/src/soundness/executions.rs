//! All executions of a program, one step at a time and without any shortcut.
//!
//! [`foretell_cimp::explore`] knows which steps need not be taken in every order. The judge of an experiment should be
//! too simple to be wrong; and so each checks the other.

use std::collections::{BTreeSet, HashSet};

use foretell_cimp::machine::{Bounds, Machine};
use foretell_cimp::program::Program;

use super::tally::Race;

/// What is known once all states were visited.
pub(crate) struct Executions {
    /// Two accesses that some state has as next steps of two threads.
    pub(crate) races: BTreeSet<Race>,
    pub(crate) states: usize,
}

/// Visits all states of the program, if there are no more than `limit`.
pub(crate) fn all(program: &Program, limit: usize) -> Option<Executions> {
    let mut races = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![Machine::new(program, Bounds::default())];
    let (mut key, mut turns) = (Vec::new(), Vec::new());
    while let Some(machine) = open.pop() {
        machine.key(&mut key);
        // Once something went wrong, nothing happens any more.
        if machine.failure().is_some() || !seen.insert(key.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        races.extend(races_now(&machine));
        machine.turns(&mut turns);
        for &turn in &turns {
            let mut next = machine.clone();
            if next.step(turn).is_ok() {
                open.push(next);
            }
        }
    }
    Some(Executions { races, states: seen.len() })
}

fn races_now<'m>(machine: &'m Machine<'_>) -> impl Iterator<Item = Race> + use<'m> {
    let pairs = machine.threads().flat_map(|one| machine.threads().map(move |other| (one, other)));
    pairs.filter(|(one, other)| one < other).filter_map(|(one, other)| {
        let place = machine.race(one, other)?;
        let position = |thread| machine.next(thread).map(|step| step.position.to_string());
        Some(Race::new(&machine.place_name(place), position(one)?, position(other)?))
    })
}
