//! What terms are in a state of a replay.

use std::collections::HashMap;

use foretell_trace::dependence::{Part, Reads};
use foretell_trace::values::{Term, TermId};
use foretell_trace::{EventId, ThreadId};

use super::arithmetic::{Known, binary, unary};
use super::{Computed, Content};

/// Something that can be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    Term(TermId),
    /// Is [`ALL_AS_OBSERVED`] if these reads saw what they saw, and otherwise nothing.
    Reads(Reads),
}

const ALL_AS_OBSERVED: Outcome = Outcome::Is(Known::Number(0));

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Is(Known),
    /// Unknown, for good.
    Nothing,
    /// A read that this depends on has not run.
    Pending,
}

impl Outcome {
    fn of(known: Option<Known>) -> Outcome {
        known.map_or(Outcome::Nothing, Outcome::Is)
    }

    pub(super) fn known(self) -> Option<Known> {
        match self {
            Outcome::Is(known) => Some(known),
            Outcome::Nothing | Outcome::Pending => None,
        }
    }

    fn and_then(self, operation: impl FnOnce(Known) -> Option<Known>) -> Outcome {
        match self {
            Outcome::Is(known) => Outcome::of(operation(known)),
            other => other,
        }
    }

    fn with(self, other: Outcome, operation: impl FnOnce(Known, Known) -> Option<Known>) -> Outcome {
        match (self, other) {
            (Outcome::Is(left), Outcome::Is(right)) => Outcome::of(operation(left, right)),
            (Outcome::Pending, _) | (_, Outcome::Pending) => Outcome::Pending,
            _ => Outcome::Nothing,
        }
    }
}

/// Whose turn it is, and what is evaluated for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) event: EventId,
    pub(crate) thread: ThreadId,
    /// Whether the thread has seen something else than observed before.
    pub(crate) has_deviated: bool,
    /// What the event sees, if it reads and that counts.
    pub(crate) sees: Option<Content>,
}

/// Evaluates without changing anything; what it has found out can be taken over afterwards.
pub(super) struct Evaluation<'c, 't> {
    computed: &'c Computed<'t>,
    turn: Turn,
    found: HashMap<Node, Outcome>,
}

impl<'c, 't> Evaluation<'c, 't> {
    pub(super) fn new(computed: &'c Computed<'t>, turn: Turn) -> Evaluation<'c, 't> {
        Evaluation { computed, turn, found: HashMap::new() }
    }

    /// What was found out, and stays so.
    pub(super) fn into_settled(self) -> Vec<(Node, Outcome)> {
        self.found.into_iter().filter(|&(_, outcome)| outcome != Outcome::Pending).collect()
    }

    /// The value of the term. Without recursion, as terms can be deep.
    pub(super) fn value(&mut self, term: TermId) -> Option<Known> {
        let root = Node::Term(term);
        let mut open = vec![root];
        while let Some(&node) = open.last() {
            match self.combined(node) {
                Ok(outcome) => {
                    self.found.insert(node, outcome);
                    open.pop();
                }
                Err(missing) => open.push(missing),
            }
        }
        self.known(root).ok().and_then(Outcome::known)
    }

    /// What came of the node, or the node itself if it was not evaluated yet.
    fn known(&self, node: Node) -> Result<Outcome, Node> {
        let found = self.found.get(&node).copied();
        found.or_else(|| self.computed.settled(self.turn.thread, node)).ok_or(node)
    }

    /// What comes of the node, or a part of it that has to be looked at first.
    fn combined(&self, node: Node) -> Result<Outcome, Node> {
        let term = match node {
            Node::Term(term) => self.computed.values.term(term),
            Node::Reads(reads) => return self.reads(reads),
        };
        let of = |part: TermId| self.known(Node::Term(part));
        Ok(match term {
            Term::Number(number) => Outcome::Is(Known::Number(number)),
            Term::Name(value) => Outcome::Is(self.computed.shown(value)),
            Term::Read(read) => {
                self.seen(read).map_or(Outcome::Pending, |content| Outcome::of(content.value))
            }
            Term::Frozen { value, reads } => {
                self.known(Node::Reads(reads))?.and_then(|_| Some(Known::Number(value)))
            }
            Term::Unary { op, width, of: operand } => {
                of(operand)?.and_then(|operand| unary(op, width, operand))
            }
            Term::Binary { op, width, left, right } => {
                of(left)?.with(of(right)?, |left, right| binary(op, width, left, right))
            }
            Term::Choice { condition, then, otherwise } => match of(condition)? {
                Outcome::Is(Known::Number(0)) => of(otherwise)?,
                Outcome::Is(_) => of(then)?,
                unknown => unknown,
            },
        })
    }

    fn reads(&self, reads: Reads) -> Result<Outcome, Node> {
        let all_if = |as_observed: bool| if as_observed { ALL_AS_OBSERVED } else { Outcome::Nothing };
        let Some(dependence) = self.computed.trace.dependence() else {
            return Ok(all_if(reads == Reads::NOTHING));
        };
        Ok(match dependence.part(reads) {
            Part::Nothing => ALL_AS_OBSERVED,
            Part::Everything => {
                let deviates_now = self.turn.sees.is_some_and(|content| !content.as_observed);
                all_if(!self.turn.has_deviated && !deviates_now)
            }
            Part::Read(read) => {
                self.seen(read).map_or(Outcome::Pending, |content| all_if(content.as_observed))
            }
            Part::Both(_, first, second) => {
                let of = |part| self.known(Node::Reads(part));
                of(first)?.with(of(second)?, |first, _| Some(first))
            }
        })
    }

    fn seen(&self, read: EventId) -> Option<Content> {
        if read == self.turn.event { self.turn.sees } else { self.computed.seen(read) }
    }
}
