//! Axioms of semaphores.

use std::collections::HashSet;

use foretell_trace::Op;

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, before, runs};

/// A wait that runs finds a permit: it comes before one of these waits, or after one of these posts.
///
/// Condition: the permits at first and all posts but these are no more than these waits, which therefore leave none.
pub(super) fn permits(
    facts: &TraceFacts<'_>,
    wait: u32,
    waits: &[u32],
    posts: &[u32],
) -> Result<Vec<Literal>, String> {
    let Op::SemWait(sem) = facts.op(wait) else { return Err("this is no wait for a permit".to_string()) };
    let all = &facts.semaphores[sem.index()];
    let (taken, given): (HashSet<u32>, HashSet<u32>) =
        (waits.iter().copied().collect(), posts.iter().copied().collect());
    let takes = |event: &u32| *event != wait && facts.op(*event) == Op::SemWait(sem);
    if !taken.iter().all(takes) || !given.iter().all(|&post| facts.op(post) == Op::SemPost(sem)) {
        return Err("these are not other waits and posts of one semaphore".to_string());
    }
    let mut available = facts.observed.permits[sem.index()].unwrap_or(0);
    for &op in all {
        match facts.op(op) {
            Op::SemInit { permits, .. } => available += u64::from(permits),
            Op::SemPost(_) if !given.contains(&op) => available += 1,
            _ => {}
        }
    }
    if available > taken.len() as u64 {
        return Err("a permit is left for the wait".to_string());
    }
    let mut clause = Clause::new(facts).or(!runs(wait));
    waits.iter().for_each(|&other| clause.add(before(wait, other)));
    posts.iter().for_each(|&post| clause.add(before(post, wait)));
    clause.into_literals()
}
