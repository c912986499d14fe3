//! Threads as lists of what they do, run under the strategy.

use std::collections::BTreeMap;

use super::*;
use crate::innermost;

/// What a thread does, each in a function.
type Script = Vec<(u32, Operation)>;

fn take(function: u32, lock: u64) -> (u32, Operation) {
    (function, Operation::Acquire { lock, kind: u32::try_from(lock).unwrap() })
}

fn give(function: u32, lock: u64) -> (u32, Operation) {
    (function, Operation::Release { lock })
}

fn work(function: u32, steps: usize) -> Script {
    vec![(function, Operation::Other); steps]
}

/// Who took which lock, in which order. Fails if no thread can go on before all have ended.
fn run(strategy: &mut DrFinder, scripts: &[Script]) -> Vec<(u32, u64)> {
    let mut places = vec![0; scripts.len()];
    let mut owners: BTreeMap<u64, u32> = BTreeMap::new();
    let mut taken = Vec::new();
    loop {
        let next = |thread: usize| scripts[thread].get(places[thread]).copied();
        let left = (0..scripts.len()).filter(|&thread| next(thread).is_some()).count();
        let ready: Vec<Ready> = (0..scripts.len())
            .filter_map(|thread| {
                let (function, next) = next(thread)?;
                let is_blocked =
                    matches!(next, Operation::Acquire { lock, .. } if owners.contains_key(&lock));
                let thread = u32::try_from(thread).unwrap();
                (!is_blocked).then_some(Ready { thread, next, functions: innermost([function]) })
            })
            .collect();
        if ready.is_empty() {
            assert_eq!(left, 0, "a deadlock that is none of the program's");
            return taken;
        }
        let thread = strategy.pick(&ready);
        let picked = ready.iter().find(|ready| ready.thread == thread).unwrap();
        strategy.happens(thread, picked.next, &mut picked.functions.into_iter().flatten());
        match picked.next {
            Operation::Acquire { lock, .. } => {
                owners.insert(lock, thread);
                taken.push((thread, lock));
            }
            Operation::Release { lock } => drop(owners.remove(&lock)),
            _ => {}
        }
        places[thread as usize] += 1;
        if places[thread as usize] == scripts[thread as usize].len() {
            strategy.ended(thread);
        }
    }
}

/// A thread takes a lock at once, another one after a while.
fn early_and_late() -> [Script; 2] {
    let early = [vec![take(1, 7), give(1, 7)], work(1, 50)].concat();
    let late = [work(2, 50), vec![take(2, 7), give(2, 7)]].concat();
    [early, late]
}

#[test]
fn a_lock_is_taken_in_the_other_order_once_the_relation_is_known() {
    let mut first = DrFinder::new(1, DEPTH, Relation::default());
    assert_eq!(run(&mut first, &early_and_late()), [(0, 7), (1, 7)]);
    let learnt = first.learnt().unwrap();
    assert_eq!(learnt.relation.pairs().collect::<Vec<_>>(), [(1, 7), (2, 7)]);
    assert_eq!(learnt.statistics, Statistics { acquisitions: 2, ..Statistics::default() });
    for seed in 0..100 {
        let mut second = DrFinder::new(seed, DEPTH, learnt.relation.clone());
        assert_eq!(run(&mut second, &early_and_late()), [(1, 7), (0, 7)]);
        assert_eq!(second.learnt().unwrap().relation, learnt.relation);
        let statistics = second.learnt().unwrap().statistics;
        assert_eq!((statistics.suspensions, statistics.reversals, statistics.thrashings), (1, 1, 0));
    }
}

fn believing(pairs: &[(u32, u32)]) -> Relation {
    let mut relation = Relation::default();
    for &(function, kind) in pairs {
        relation.add(function, kind);
    }
    relation
}

#[test]
fn an_escort_ends_with_its_thread() {
    let scripts = [vec![take(1, 7), give(1, 7)], work(2, 50), [work(3, 500), vec![take(3, 7)]].concat()];
    let mut strategy = DrFinder::new(1, DEPTH, believing(&[(2, 7)]));
    assert_eq!(run(&mut strategy, &scripts), [(0, 7), (2, 7)]);
    let statistics = strategy.learnt().unwrap().statistics;
    assert_eq!((statistics.reversals, statistics.thrashings), (0, 0));
}

#[test]
fn who_never_takes_the_lock_is_not_believed_again() {
    let again = [vec![take(1, 7), give(1, 7)]].concat().repeat(20);
    let endless = work(2, 100_000);
    let mut strategy = DrFinder::new(1, DEPTH, believing(&[(2, 7)]));
    assert_eq!(run(&mut strategy, &[again, endless]).len(), 20);
    let statistics = strategy.learnt().unwrap().statistics;
    assert_eq!((statistics.suspensions, statistics.reversals), (1, 0));
}

#[test]
fn who_holds_what_the_other_one_needs_is_let_go() {
    let holds = [vec![take(1, 5)], work(1, 3), vec![take(1, 7), give(1, 7), give(1, 5)]].concat();
    let needs = [work(2, 20), vec![take(2, 5), give(2, 5), take(2, 7), give(2, 7)]].concat();
    let mut thrashings = 0;
    for seed in 0..100 {
        let mut strategy = DrFinder::new(seed, DEPTH, believing(&[(2, 7)]));
        run(&mut strategy, &[holds.clone(), needs.clone()]);
        let statistics = strategy.learnt().unwrap().statistics;
        assert!(statistics.thrashings + statistics.reversals <= statistics.suspensions);
        assert!((0.0..=1.0).contains(&statistics.thrashing_rate()));
        thrashings += statistics.thrashings;
    }
    assert!(thrashings > 0);
}

#[test]
fn the_relation_goes_so_many_calls_up() {
    let mut strategy = DrFinder::new(1, 2, Relation::default());
    strategy.happens(0, Operation::Acquire { lock: 1, kind: 9 }, &mut [3, 4, 5].into_iter());
    assert_eq!(strategy.learnt().unwrap().relation, believing(&[(3, 9), (4, 9)]));
}
