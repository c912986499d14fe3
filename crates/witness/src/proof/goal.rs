//! Axioms of the question: the schedule ends right before two accesses, which both could run then; or where each of
//! some threads is about to wait.

use foretell_trace::{Model, Op, ops};

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, runs};
use super::order::{begins, is_needed};
use crate::model::supported;
use crate::referee::conflict;

/// What a schedule would end with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// Two accesses that conflict are next to each other.
    Race,
    /// Threads are about to wait.
    Deadlock,
}

/// Does a schedule end like this?
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) model: Model,
    pub(super) goal: Goal,
    /// Each is the next one of its thread.
    pub(super) next: Vec<u32>,
    /// The end of a thread, which has run.
    pub(super) ended: Option<u32>,
}

impl Question {
    /// The question, if it is one that certificates answer.
    pub(super) fn new(
        facts: &TraceFacts<'_>,
        model: Model,
        goal: Goal,
        next: Vec<u32>,
        ended: Option<u32>,
    ) -> Result<Question, String> {
        match goal {
            Goal::Race => check_race(facts, &next, ended)?,
            Goal::Deadlock => check_deadlock(facts, &next, ended)?,
        }
        match supported(model, facts.trace()) {
            Model::Values => Err("for this model there are no certificates".to_string()),
            model => Ok(Question { model, goal, next, ended }),
        }
    }
}

fn check_race(facts: &TraceFacts<'_>, next: &[u32], ended: Option<u32>) -> Result<(), String> {
    let is_race = |first: u32, second: u32| {
        let (one, other) = (facts.event(first), facts.event(second));
        first < second && one.thread != other.thread && conflict(one, other)
    };
    match *next {
        [first, second] if ended.is_none() && is_race(first, second) => Ok(()),
        _ => Err("these two are no conflicting accesses of two threads, the earlier one first".to_string()),
    }
}

fn check_deadlock(facts: &TraceFacts<'_>, next: &[u32], ended: Option<u32>) -> Result<(), String> {
    let waits = |&event: &u32| match facts.op(event) {
        Op::Acquire(_) | Op::AcquireShared(_) | Op::Woken { .. } | Op::WaitTimeout { .. } | Op::Join(_) => {
            true
        }
        Op::TryAcquire(_) | Op::TryAcquireShared(_) | Op::Release(_) | Op::ReleaseShared(_) => false,
        Op::Fork(_)
        | Op::Begin
        | Op::End
        | Op::Branch
        | Op::Wait { .. }
        | Op::Notify(_)
        | Op::NotifyAll(_) => false,
        ops!(memory | semaphores | barriers | labels | reentries | attempts) => false,
    };
    if next.is_empty() || !next.iter().all(waits) {
        return Err("these are no events that threads wait at".to_string());
    }
    let mut threads: Vec<u32> = next.iter().map(|&event| facts.thread(event)).collect();
    threads.sort_unstable();
    if threads.is_sorted_by(|one, other| one < other) && ended.is_none_or(|end| facts.op(end) == Op::End) {
        return Ok(());
    }
    Err("these are not events of different threads, and the end of one".to_string())
}

/// The event does not run.
///
/// Condition: it is one that comes next in the end; or it frees the memory that the two accesses need.
pub(super) fn absent(
    facts: &TraceFacts<'_>,
    question: &Question,
    event: u32,
) -> Result<Vec<Literal>, String> {
    let accessed = |next: &u32| facts.op(*next).access().map(|access| access.var);
    let frees = matches!(facts.op(event), Op::Free(var) if question.next.iter().any(|next| accessed(next) == Some(var)));
    if !question.next.contains(&event) && !frees {
        return Err("this event may run".to_string());
    }
    Clause::new(facts).or(!runs(event)).into_literals()
}

/// The event runs.
///
/// Condition: it comes right before one of those that come next, in its thread; or it is needed for that: by an access
/// in every schedule; by a wait to be reached, whatever it waits for; or it is the end that is said to have run.
pub(super) fn reached(
    facts: &TraceFacts<'_>,
    question: &Question,
    event: u32,
) -> Result<Vec<Literal>, String> {
    let is_awaited = |next: u32| match question.goal {
        Goal::Race => is_needed(facts, event, next),
        Goal::Deadlock => event < next && begins(facts, event, next),
    };
    let leads_to = |&next: &u32| facts.previous(next) == Some(event) || is_awaited(next);
    if !question.next.iter().any(leads_to) && question.ended != Some(event) {
        return Err("this event need not run".to_string());
    }
    Clause::new(facts).or(runs(event)).into_literals()
}

/// There is no such schedule.
///
/// Condition: one of two accesses has no recorded reason for what it saw; such an access races with nothing.
pub(super) fn unexplained(facts: &TraceFacts<'_>, question: &Question) -> Result<Vec<Literal>, String> {
    let is_unexplained = |&event: &u32| facts.event(event).unexplained;
    if question.goal != Goal::Race || !question.next.iter().any(is_unexplained) {
        return Err("what both saw has a recorded reason".to_string());
    }
    Ok(Vec::new())
}
