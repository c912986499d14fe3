//! Checks proofs by unit propagation, and cycles by what the solver says of facts alone.

use std::collections::BTreeSet;

use foretell_solve::{Lit, OrderSolver, Origin, ProofLog};

/// The proof of a solver that found no solution of these clauses, which are all that were stated.
pub(crate) fn refutation(solver: &OrderSolver, clauses: &[Vec<Lit>]) {
    let proof = solver.proof().expect("there is no solution");
    let empty = proof.refutation().expect("a complete proof");
    for id in 0..=empty {
        let step = proof.step(id);
        match step.origin {
            Origin::Stated(number) => assert_eq!(step.literals, clauses[number as usize]),
            Origin::Cycle => assert_cycle(solver, step.literals),
            Origin::Derived(hints) => {
                assert!(hints.iter().all(|&hint| hint < id), "step {id}");
                assert!(follows(proof, step.literals, hints), "step {id}: {step:?}");
            }
        }
    }
    assert!(proof.step(empty).literals.is_empty());
}

/// The negations of the literals lead from node to node and back.
fn assert_cycle(solver: &OrderSolver, literals: &[Lit]) {
    let edges: Vec<_> = literals.iter().map(|&literal| solver.ordered(!literal).expect("an order")).collect();
    for (&(_, end), &(begin, _)) in edges.iter().zip(edges.iter().cycle().skip(1)) {
        assert!(end == begin || solver.is_fact(end, begin), "{end} {begin}");
    }
}

/// Whether the clause follows by unit propagation: each hint gives exactly one new literal, and the last one none.
fn follows(proof: &ProofLog, clause: &[Lit], hints: &[u32]) -> bool {
    let mut holds: BTreeSet<Lit> = clause.iter().map(|&literal| !literal).collect();
    holds.insert(Lit::TRUE);
    let Some((&last, hints)) = hints.split_last() else { return false };
    let open = |hint: u32, holds: &BTreeSet<Lit>| -> BTreeSet<Lit> {
        proof.step(hint).literals.iter().copied().filter(|&literal| !holds.contains(&!literal)).collect()
    };
    for &hint in hints {
        let open = open(hint, &holds);
        let Some(&unit) = open.first().filter(|unit| open.len() == 1 && !holds.contains(*unit)) else {
            return false;
        };
        holds.insert(unit);
    }
    open(last, &holds).is_empty()
}
