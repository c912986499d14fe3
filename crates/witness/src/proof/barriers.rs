//! Axioms of barriers that any threads may cross together.

use std::collections::HashSet;

use foretell_trace::Op;

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, before, runs};

/// A thread departs only once its crossing is complete: its own arrival comes before one of the `earlier` arrivals, or
/// an arrival that is not among those that `came` precedes the departure.
///
/// Condition: if all `earlier` ones come before its own arrival, the crossing that it belongs to is complete only after
/// more arrivals than `came`. The barrier always takes the same number.
pub(super) fn arrivals(
    facts: &TraceFacts<'_>,
    depart: u32,
    earlier: &[u32],
    came: &[u32],
) -> Result<Vec<Literal>, String> {
    let Op::Depart(barrier) = facts.op(depart) else { return Err("this is no departure".to_string()) };
    let arrives = |event: u32| facts.op(event) == Op::Arrive(barrier);
    let own = facts.events_of(facts.thread(depart) as usize).iter().rev().copied();
    let own = own.skip_while(|&event| event >= depart).find(|&event| arrives(event));
    let own = own.ok_or("its thread has not arrived")?;
    let size = facts.observed.sizes[barrier.index()].filter(|&size| size > 0);
    let size = size.ok_or("how many threads the barrier takes is unknown")? as usize;
    let (before_own, all): (HashSet<u32>, HashSet<u32>) =
        (earlier.iter().copied().collect(), came.iter().copied().collect());
    if !before_own.iter().all(|&event| event != own && arrives(event))
        || !all.iter().all(|&event| arrives(event))
    {
        return Err("these are not other arrivals at the barrier".to_string());
    }
    if all.len() >= (before_own.len() / size + 1).saturating_mul(size) {
        return Err("enough threads have come".to_string());
    }
    let mut clause = Clause::new(facts).or(!runs(depart));
    earlier.iter().for_each(|&other| clause.add(before(own, other)));
    for &other in facts.arrivals[barrier.index()].iter().filter(|other| !all.contains(other)) {
        clause.add(before(other, depart));
    }
    clause.into_literals()
}
