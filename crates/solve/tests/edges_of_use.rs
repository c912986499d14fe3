//! Limits, contradictions, and problems of unusual shape.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

mod checked;

use foretell_solve::{Lit, Node, OrderSolver, SearchAnswer, SearchLimits};

/// More pigeons than holes, where a pigeon is in the hole of the milestone that it comes right before.
fn pigeons(holes: Node) -> OrderSolver {
    let mut solver = OrderSolver::new(&(0..(holes + 1) * (holes + 1)).collect::<Vec<_>>());
    for clause in pigeon_clauses(&mut solver, holes) {
        solver.clause(&clause);
    }
    solver
}

fn pigeon_clauses(solver: &mut OrderSolver, holes: Node) -> Vec<Vec<Lit>> {
    let pigeons = holes + 1;
    let mut clauses = Vec::new();
    let door = |pigeon: Node, hole: Node| pigeons + hole * pigeons + pigeon;
    for pigeon in 0..pigeons {
        let somewhere: Vec<Lit> = (0..holes).map(|hole| solver.before(door(pigeon, hole), pigeon)).collect();
        clauses.push(somewhere);
    }
    for hole in 0..holes {
        for first in 0..pigeons {
            for second in first + 1..pigeons {
                let pair = [first, second].map(|pigeon| solver.before(pigeon, door(pigeon, hole)));
                clauses.push(pair.to_vec());
            }
        }
    }
    clauses
}

#[test]
fn few_pigeons_do_not_fit() {
    let mut solver = OrderSolver::new(&(0..9 * 9).collect::<Vec<_>>());
    solver.log_proof();
    let clauses = pigeon_clauses(&mut solver, 8);
    clauses.iter().for_each(|clause| solver.clause(clause));
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Unsat);
    checked::refutation(&solver, &clauses);
    // Hard enough that learnt clauses had to be dropped on the way.
    assert!(solver.statistics().conflicts > 5000, "{:?}", solver.statistics());
}

#[test]
fn a_hard_problem_is_given_up_in_time() {
    let mut solver = pigeons(20);
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(100));
    assert_eq!(solver.solve(&SearchLimits { deadline, ..SearchLimits::default() }), SearchAnswer::GaveUp);
    assert_eq!(solver.solve(&SearchLimits { deadline, ..SearchLimits::default() }), SearchAnswer::GaveUp);
    let stop = AtomicBool::new(true);
    assert_eq!(
        solver.solve(&SearchLimits { stop: Some(&stop), ..SearchLimits::default() }),
        SearchAnswer::GaveUp
    );
    assert_eq!(
        solver.solve(&SearchLimits { conflicts: Some(1), ..SearchLimits::default() }),
        SearchAnswer::GaveUp
    );
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(solver.statistics().conflicts > 1);
}

#[test]
fn another_thread_can_stop_the_search() {
    let mut solver = pigeons(20);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let search =
            scope.spawn(|| solver.solve(&SearchLimits { stop: Some(&stop), ..SearchLimits::default() }));
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(search.join().expect("the search does not panic"), SearchAnswer::GaveUp);
    });
}

#[test]
fn contradictory_facts_leave_no_solution() {
    for facts in [vec![(0, 1), (1, 0)], vec![(2, 0)], vec![(1, 1)], vec![(2, 1), (3, 0)]] {
        let mut solver = OrderSolver::new(&[0, 1, 0, 1]);
        facts.iter().for_each(|&(a, b)| solver.fact(a, b));
        let _ = solver.before(0, 3);
        assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Unsat, "{facts:?}");
    }
}

#[test]
fn the_empty_clause_leaves_no_solution() {
    let mut solver = OrderSolver::new(&[0, 1]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
    solver.clause(&[]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Unsat);
    let mut solver = OrderSolver::new(&[0, 1]);
    solver.clause(&[Lit::FALSE]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Unsat);
}

#[test]
fn no_nodes_at_all() {
    let mut solver = OrderSolver::new(&[]);
    let boolean = solver.boolean(true);
    solver.clause(&[!boolean, Lit::FALSE]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
    assert!(!solver.value(boolean) && solver.value(Lit::TRUE) && !solver.value(Lit::FALSE));
    assert_eq!(solver.edges().count(), 0);
}

#[test]
fn one_chain_is_ordered_already() {
    let mut solver = OrderSolver::new(&[0; 5]);
    assert_eq!(solver.before(1, 3), Lit::TRUE);
    assert_eq!(solver.before(3, 1), Lit::FALSE);
    assert_eq!(solver.before(2, 2), Lit::FALSE);
    assert_eq!(solver.statistics().atoms, 0);
}

#[test]
fn one_variable_per_pair() {
    let mut solver = OrderSolver::new(&[0, 1]);
    let before = solver.before(1, 0);
    assert_eq!(solver.before(0, 1), !before);
    assert_eq!(solver.statistics().atoms, 1);
}

#[test]
fn preferences_hold_where_they_can() {
    let mut solver = OrderSolver::new(&[0, 1, 2, 3]);
    let (yes, no) = (solver.boolean(true), solver.boolean(false));
    let pairs = [(0, 1), (2, 1), (3, 2)].map(|(a, b)| solver.before(a, b));
    solver.clause(&[pairs[1], pairs[0]]);
    solver.clause(&[pairs[1], no, !yes]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
    assert!(
        solver.value(pairs[0]) && solver.value(pairs[1]) && !solver.value(pairs[2]) || !solver.value(yes)
    );
    solver.clause(&[pairs[1]]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
    assert!(solver.value(yes) && !solver.value(no));
    assert_eq!(pairs.map(|pair| solver.value(pair)), [true, true, false]);
}

/// Five hundred chains that pass a token on, in the reverse order.
#[test]
fn many_chains() {
    const CHAINS: Node = 500;
    let chain_of: Vec<u32> = (0..4 * CHAINS).map(|node| node % CHAINS).collect();
    let mut solver = OrderSolver::new(&chain_of);
    solver.fact(CHAINS - 1, 0);
    for chain in 0..CHAINS - 1 {
        let earlier = solver.before(CHAINS + chain + 1, chain);
        solver.clause(&[earlier]);
    }
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
    assert_eq!(solver.edges().filter(|(a, b)| a > b).count(), 499);
    let back = solver.before(3 * CHAINS, 2 * CHAINS - 1);
    solver.clause(&[back]);
    assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Unsat);
}
