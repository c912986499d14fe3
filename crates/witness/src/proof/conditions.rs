//! Axioms of condition variables.

use std::collections::HashSet;

use foretell_trace::{CondId, Op};

use super::facts::TraceFacts;
use super::literal::{Atom, Clause, Literal, before, is, runs};

/// The condition, and the wait that the return ends, if only a notification can have ended it.
fn returns(facts: &TraceFacts<'_>, event: u32) -> Result<(CondId, u32), String> {
    let wait = facts.previous(event).filter(|_| facts.observed.is_notified(event));
    match (facts.op(event), wait) {
        (Op::Woken { cond, .. }, Some(wait)) if matches!(facts.op(wait), Op::Wait { cond: of, .. } if of == cond) => {
            Ok((cond, wait))
        }
        _ => Err("this is no return from a wait that a notification explains".to_string()),
    }
}

/// Whether the event notifies those who wait on the condition.
fn notifies(facts: &TraceFacts<'_>, event: u32, cond: CondId) -> bool {
    [Op::Notify(cond), Op::NotifyAll(cond)].contains(&facts.op(event))
}

/// The only notification of a condition comes after each wait that it ends.
pub(super) fn notified(facts: &TraceFacts<'_>, woken: u32) -> Result<Vec<Literal>, String> {
    let (cond, wait) = returns(facts, woken)?;
    let &[only] = &facts.notifications[cond.index()][..] else {
        return Err("the condition has several notifications".to_string());
    };
    Clause::new(facts).or(!runs(woken)).or(before(wait, only)).into_literals()
}

/// Not all of these returns run, or one of them is woken by a notification that is not among those to be shared.
///
/// Condition: those to be shared wake one thread each, and are fewer than the returns. A thread does not wake itself.
pub(super) fn wakeups(facts: &TraceFacts<'_>, back: &[u32], shared: &[u32]) -> Result<Vec<Literal>, String> {
    let (crowd, few): (HashSet<u32>, HashSet<u32>) =
        (back.iter().copied().collect(), shared.iter().copied().collect());
    let &first = back.first().ok_or("no returns are named")?;
    let (cond, _) = returns(facts, first)?;
    if few.len() >= crowd.len() || !few.iter().all(|&one| facts.op(one) == Op::Notify(cond)) {
        return Err("there are notifications enough for these returns".to_string());
    }
    let mut clause = Clause::new(facts);
    for &event in &crowd {
        if returns(facts, event)?.0 != cond {
            return Err("these returns are not of one condition".to_string());
        }
        clause.add(!runs(event));
        for &notification in &facts.notifications[cond.index()] {
            if !few.contains(&notification) && facts.thread(notification) != facts.thread(event) {
                clause.add(is(Atom::Wakes(notification, event)));
            }
        }
    }
    clause.into_literals()
}

/// What wakes a thread comes after its wait, comes before its return, and runs: the clause of this `which`.
pub(super) fn wakes(
    facts: &TraceFacts<'_>,
    notification: u32,
    woken: u32,
    which: Waking,
) -> Result<Vec<Literal>, String> {
    let (cond, wait) = returns(facts, woken)?;
    if !notifies(facts, notification, cond) {
        return Err("this is no notification of the condition".to_string());
    }
    let follows = match which {
        Waking::AfterWait => before(wait, notification),
        Waking::BeforeReturn => before(notification, woken),
        Waking::Runs => runs(notification),
    };
    Clause::new(facts).or(!is(Atom::Wakes(notification, woken))).or(follows).into_literals()
}

/// What follows if a notification wakes a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waking {
    AfterWait,
    BeforeReturn,
    Runs,
}
