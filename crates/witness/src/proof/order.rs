//! Axioms of order: what every schedule keeps.

use foretell_trace::{Op, ops};

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, before, runs};

/// The first event comes before the second in every schedule.
///
/// Condition: see [`is_needed`].
pub(super) fn need(facts: &TraceFacts<'_>, first: u32, second: u32) -> Result<Vec<Literal>, String> {
    if !is_needed(facts, first, second) {
        return Err("nothing puts these two in order in every schedule".to_string());
    }
    Clause::new(facts).or(before(first, second)).into_literals()
}

/// What comes before an event that runs, runs.
pub(super) fn prefix(facts: &TraceFacts<'_>, first: u32, second: u32) -> Result<Vec<Literal>, String> {
    if first == second {
        return Err("an event does not come before itself".to_string());
    }
    let clause = Clause::new(facts).or(!before(first, second)).or(!runs(second));
    clause.or(runs(first)).into_literals()
}

/// Events in a ring: each of these pairs is in order, then its thread comes to the next pair. Not all of that holds.
///
/// Condition: the later event of each pair is the earlier one of the next, or comes before it in their thread.
pub(super) fn cycle(facts: &TraceFacts<'_>, pairs: &[(u32, u32)]) -> Result<Vec<Literal>, String> {
    if pairs.is_empty() {
        return Err("a cycle of nothing".to_string());
    }
    let next = pairs.iter().cycle().skip(1);
    let mut clause = Clause::new(facts);
    for (&(from, to), &(begin, _)) in pairs.iter().zip(next) {
        if !facts.is_up_to(to, begin) {
            return Err("the cycle is not closed".to_string());
        }
        clause.add(!before(from, to));
    }
    clause.into_literals()
}

/// Whether the second event can run only after the first, in every schedule: a thread's fork comes before its events; a
/// join after the fork and the events of the thread that it waits for; memory is allocated before it is used; a
/// semaphore is created before it is used, if the trace has one creation; a return that only one notification can cause
/// comes after it; a departure comes after all arrivals of its crossing, and an arrival after those of the crossing
/// before, if only as many threads ever come as the barrier takes; what has no recorded reason comes after all before
/// it in the trace, and before all after it.
///
/// The first is the earlier one in the trace, so this holds for events that do not run as well.
pub(super) fn is_needed(facts: &TraceFacts<'_>, first: u32, second: u32) -> bool {
    if first >= second {
        return false;
    }
    begins(facts, first, second)
        || match (facts.op(first), facts.op(second)) {
            (_, Op::Join(child)) => {
                facts.forks[child.index()] == first || facts.thread(first) as usize == child.index()
            }
            (Op::Alloc(var), op) => op.access().is_some_and(|access| access.var == var),
            (Op::SemInit { sem, .. }, Op::SemWait(of) | Op::SemPost(of)) => {
                let ops = &facts.semaphores[sem.index()];
                let creations = ops.iter().filter(|&&op| matches!(facts.op(op), Op::SemInit { .. })).count();
                sem == of && creations == 1
            }
            (Op::Notify(_) | Op::NotifyAll(_), Op::Woken { cond, .. }) => {
                facts.observed.is_notified(second) && facts.notifications[cond.index()] == [first]
            }
            (Op::Arrive(one), Op::Arrive(other) | Op::Depart(other)) => {
                one == other && is_met(facts, first, second, one.index())
            }
            (_, ops!(memory | locks | semaphores | conditions | barriers | labels))
            | (_, Op::Fork(_) | Op::Begin | Op::End | Op::Branch) => false,
        }
}

/// Whether without the first event the second, which comes later in the trace, is not even attempted: it is the fork of
/// the thread, or what has no recorded reason keeps them in order.
pub(super) fn begins(facts: &TraceFacts<'_>, first: u32, second: u32) -> bool {
    facts.forks[facts.thread(second) as usize] == first || is_fenced(facts, first, second)
}

/// Whether the arrival is one that an arrival or departure at the same barrier waits for.
fn is_met(facts: &TraceFacts<'_>, arrival: u32, event: u32, barrier: usize) -> bool {
    facts.regular[barrier] && facts.awaited(event, barrier).binary_search(&arrival).is_ok()
}

/// Whether an event that has no recorded reason is one of the two or between them.
fn is_fenced(facts: &TraceFacts<'_>, first: u32, second: u32) -> bool {
    let fences = &facts.observed.unexplained;
    let next = fences.partition_point(|&fence| fence < first);
    fences.get(next).is_some_and(|&fence| fence <= second)
}
