//! Axioms of locks: critical sections that exclude each other, and failed attempts.

use foretell_trace::{LockId, LockMode, Op, ops};

use super::facts::TraceFacts;
use super::literal::{Atom, Clause, Literal, before, is, runs};

/// Of two critical sections that exclude each other and begin, one has ended before the other begins.
///
/// Condition: both events begin sections of one lock, of different threads, and not both are shared.
pub(super) fn exclusion(facts: &TraceFacts<'_>, one: u32, other: u32) -> Result<Vec<Literal>, String> {
    let excludes = match (facts.op(one).section_begin(), facts.op(other).section_begin()) {
        (Some((lock, mode)), Some((same, by))) => lock == same && mode.excludes(by),
        _ => false,
    };
    if !excludes || facts.thread(one) == facts.thread(other) {
        return Err("these two do not begin sections that exclude each other".to_string());
    }
    let mut clause = Clause::new(facts).or(!runs(one)).or(!runs(other));
    for (first, second) in [(one, other), (other, one)] {
        if let Some(end) = facts.section_end(first) {
            clause.add(before(end, second));
        }
    }
    clause.into_literals()
}

/// The lock that an attempt did not get, and the mode that it wanted.
fn attempted(op: Op) -> Option<(LockId, LockMode)> {
    match op {
        Op::TryAcquireFailed(lock) => Some((lock, LockMode::Exclusive)),
        Op::TryAcquireSharedFailed(lock) => Some((lock, LockMode::Shared)),
        ops!(memory | control | semaphores | conditions | barriers | labels | sections | reentries) => None,
    }
}

/// Whether the attempt fails inside of the section.
fn fails_in(facts: &TraceFacts<'_>, attempt: u32, begin: u32) -> bool {
    match (attempted(facts.op(attempt)), facts.op(begin).section_begin()) {
        (Some((lock, wanted)), Some((same, held))) => lock == same && wanted.excludes(held),
        _ => false,
    }
}

/// An attempt to lock that fails runs inside some section of the lock, of any thread, that keeps it from succeeding.
pub(super) fn attempt(facts: &TraceFacts<'_>, attempt: u32) -> Result<Vec<Literal>, String> {
    let (lock, _) = attempted(facts.op(attempt)).ok_or("this is no failed attempt to lock")?;
    let mut clause = Clause::new(facts).or(!runs(attempt));
    for &begin in facts.sections[lock.index()].iter().filter(|&&begin| fails_in(facts, attempt, begin)) {
        clause.add(is(Atom::Finds(attempt, begin)));
    }
    clause.into_literals()
}

/// A section inside which an attempt fails has begun before it.
pub(super) fn has_begun(facts: &TraceFacts<'_>, attempt: u32, begin: u32) -> Result<Vec<Literal>, String> {
    if !fails_in(facts, attempt, begin) {
        return Err("the attempt does not fail because of this section".to_string());
    }
    Clause::new(facts).or(!is(Atom::Finds(attempt, begin))).or(before(begin, attempt)).into_literals()
}

/// A section inside which an attempt fails has not ended before it.
pub(super) fn is_open(facts: &TraceFacts<'_>, attempt: u32, begin: u32) -> Result<Vec<Literal>, String> {
    match facts.section_end(begin).filter(|_| fails_in(facts, attempt, begin)) {
        Some(end) => {
            Clause::new(facts).or(!is(Atom::Finds(attempt, begin))).or(before(attempt, end)).into_literals()
        }
        None => {
            Err("the attempt does not fail because of this section, or the section does not end".to_string())
        }
    }
}
