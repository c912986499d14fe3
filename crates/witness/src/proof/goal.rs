//! Axioms of the question: the schedule ends right before two accesses, which both could run then.

use foretell_trace::{Model, Op};

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, runs};
use super::order::is_needed;
use crate::model::supported;
use crate::referee::conflict;

/// Can these two be adjacent?
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) model: Model,
    pub(super) first: u32,
    pub(super) second: u32,
}

impl Question {
    /// The question, if it is one that certificates answer.
    pub(super) fn new(
        facts: &TraceFacts<'_>,
        model: Model,
        first: u32,
        second: u32,
    ) -> Result<Question, String> {
        let (one, other) = (facts.event(first), facts.event(second));
        if first >= second || one.thread == other.thread || !conflict(one, other) {
            return Err(
                "these two are no conflicting accesses of two threads, the earlier one first".to_string()
            );
        }
        match supported(model, facts.trace()) {
            Model::Values => Err("for this model there are no certificates".to_string()),
            model => Ok(Question { model, first, second }),
        }
    }

    pub(super) fn events(self) -> [u32; 2] {
        [self.first, self.second]
    }

    fn is_next(self, event: u32) -> bool {
        self.events().contains(&event)
    }
}

/// The event does not run.
///
/// Condition: it is one of the two accesses, or frees the memory that they access.
pub(super) fn absent(facts: &TraceFacts<'_>, question: Question, event: u32) -> Result<Vec<Literal>, String> {
    let accessed = facts.op(question.first).access().map(|access| access.var);
    let frees = matches!(facts.op(event), Op::Free(var) if Some(var) == accessed);
    if !question.is_next(event) && !frees {
        return Err("this event may run".to_string());
    }
    Clause::new(facts).or(!runs(event)).into_literals()
}

/// The event runs.
///
/// Condition: it comes right before one of the two accesses in its thread, or every schedule needs it before one.
pub(super) fn reached(
    facts: &TraceFacts<'_>,
    question: Question,
    event: u32,
) -> Result<Vec<Literal>, String> {
    let leads_to = |next: u32| facts.previous(next) == Some(event) || is_needed(facts, event, next);
    if !question.events().into_iter().any(leads_to) {
        return Err("this event need not run".to_string());
    }
    Clause::new(facts).or(runs(event)).into_literals()
}

/// There is no such schedule.
///
/// Condition: one of the two has no recorded reason for what it saw; such an access races with nothing.
pub(super) fn unexplained(facts: &TraceFacts<'_>, question: Question) -> Result<Vec<Literal>, String> {
    if !question.events().into_iter().any(|event| facts.event(event).unexplained) {
        return Err("what both saw has a recorded reason".to_string());
    }
    Ok(Vec::new())
}
