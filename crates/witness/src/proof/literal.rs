//! Statements about a schedule, and clauses of them.
//!
//! Events that do not run count as coming after all that do, in the order of the trace. So of two events always one
//! comes before the other, and the order of a thread holds for all its events.

use super::facts::TraceFacts;

/// What a read sees if no write came before: stands for an event.
pub(super) const INITIAL: u32 = u32::MAX;

/// A statement. Events are named by their indices in the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    /// The event runs.
    Runs(u32),
    /// The first event comes before the second, which has the larger index.
    Before(u32, u32),
    /// The read runs and is consistent: it sees what it saw, as far as the model asks for that.
    Consistent(u32),
    /// The read runs, is consistent, and sees this write, or [`INITIAL`].
    Sees(u32, u32),
    /// The failed attempt to lock runs inside the critical section that begins with this event.
    Finds(u32, u32),
    /// The notification runs between the wait that ends with this return, and the return.
    Wakes(u32, u32),
}

/// A statement or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Literal {
    pub(super) atom: Atom,
    pub(super) positive: bool,
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { positive: !self.positive, ..self }
    }
}

/// The statement itself.
pub(super) fn is(atom: Atom) -> Literal {
    Literal { atom, positive: true }
}

/// That the event runs.
pub(super) fn runs(event: u32) -> Literal {
    is(Atom::Runs(event))
}

/// That one event comes before another one.
pub(super) fn before(from: u32, to: u32) -> Literal {
    match from < to {
        true => is(Atom::Before(from, to)),
        false => !is(Atom::Before(to, from)),
    }
}

/// A clause as it is made: at least one of its literals holds.
pub(super) struct Clause<'f> {
    facts: &'f TraceFacts<'f>,
    literals: Vec<Literal>,
    /// Whether one of its literals holds in any case.
    is_void: bool,
}

impl<'f> Clause<'f> {
    pub(super) fn new(facts: &'f TraceFacts<'f>) -> Clause<'f> {
        Clause { facts, literals: Vec::new(), is_void: false }
    }

    /// With one more literal.
    pub(super) fn or(mut self, literal: Literal) -> Clause<'f> {
        self.add(literal);
        self
    }

    /// One more literal. Where the order of a thread decides, nothing or everything is said.
    pub(super) fn add(&mut self, literal: Literal) {
        if let Literal { atom: Atom::Before(a, b), positive } = literal
            && self.facts.thread(a) == self.facts.thread(b)
        {
            // The one with the smaller index comes first. Of an event and itself nothing is said.
            self.is_void |= positive || a == b;
            return;
        }
        self.literals.push(literal);
    }

    pub(super) fn into_literals(mut self) -> Result<Vec<Literal>, String> {
        self.literals.sort_unstable();
        self.literals.dedup();
        match self.is_void {
            true => Err("the order of a thread makes it say nothing".to_string()),
            false => Ok(self.literals),
        }
    }
}
