//! The axioms of a certificate without those that it can do without.
//!
//! A search meets more than it needs. So each axiom that is a reason for people is left out on trial: if the others
//! still have no solution, it stays out.

use foretell_solve::{Lit, OrderSolver, SearchAnswer, SearchLimits};
use rustc_hash::FxHashMap;

use super::assemble::CertificateStep;
use super::axiom::{Atom, Axiom, Literal};
use crate::window::Window;

/// With more of them not one is left out: that would take long.
const MOST_TRIALS: usize = 400;
/// A trial that takes more conflicts than this has failed.
const CONFLICTS: u64 = 2_000;

/// The axioms that are needed, in the order of the steps. Only those that `is_reason` are left out.
pub(super) fn needed<'s>(
    window: &Window<'_>,
    steps: &'s [CertificateStep],
    is_reason: impl Fn(&Axiom) -> bool,
    limits: &SearchLimits<'_>,
) -> Vec<&'s Axiom> {
    let mut axioms: Vec<&Axiom> = Vec::new();
    for step in steps {
        if let CertificateStep::Axiom(axiom) = step {
            axioms.push(axiom);
        }
    }
    let reasons = axioms.iter().filter(|axiom| is_reason(axiom)).count();
    if !(2..=MOST_TRIALS).contains(&reasons) {
        return axioms;
    }
    let limits = SearchLimits { conflicts: Some(CONFLICTS), ..*limits };
    // The last ones were needed first.
    for place in (0..axioms.len()).rev() {
        if !is_reason(axioms[place]) {
            continue;
        }
        let axiom = axioms.remove(place);
        if !are_contradictory(window, &axioms, &limits) {
            axioms.insert(place, axiom);
        }
    }
    axioms
}

/// Whether no schedule satisfies all of these, as far as the limits allow to find out.
fn are_contradictory(window: &Window<'_>, axioms: &[&Axiom], limits: &SearchLimits<'_>) -> bool {
    let clauses: Vec<Vec<Literal>> = axioms.iter().map(|axiom| axiom.clause(window)).collect();
    let mut events: Vec<u32> =
        clauses.iter().flatten().flat_map(|literal| ordered_events(*literal)).collect();
    events.sort_unstable();
    events.dedup();
    let chains: Vec<u32> = events.iter().map(|&event| window.thread[event as usize]).collect();
    let mut solver = OrderSolver::new(&chains);
    let mut booleans: FxHashMap<Atom, Lit> = FxHashMap::default();
    for clause in &clauses {
        let mut stated = Vec::with_capacity(clause.len());
        for &literal in clause {
            stated.push(match literal.ordered() {
                Some((from, to)) => {
                    // All events of the clauses are among them.
                    let node = |event: u32| {
                        let place = events.binary_search(&event).unwrap_or_default();
                        u32::try_from(place).unwrap_or_default()
                    };
                    solver.before(node(from), node(to))
                }
                None => {
                    let boolean = *booleans.entry(literal.atom).or_insert_with(|| solver.boolean(false));
                    if literal.positive { boolean } else { !boolean }
                }
            });
        }
        solver.clause(&stated);
    }
    solver.solve(limits) == SearchAnswer::Unsat
}

/// The events that the literal puts in order.
fn ordered_events(literal: Literal) -> impl Iterator<Item = u32> {
    literal.ordered().into_iter().flat_map(|(from, to)| [from, to])
}
