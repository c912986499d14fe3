//! What terms are in a state of a replay.

use std::collections::HashMap;

use foretell_trace::dependence::{Part, Reads};
use foretell_trace::values::{Term, TermId};
use foretell_trace::{EventId, ThreadId};

use super::arithmetic::{Known, binary, unary};
use super::{Computed, RecomputedContent};

/// Something that can be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum EvaluationNode {
    Term(TermId),
    /// Is [`ALL_AS_OBSERVED`] if these reads saw what they saw, and otherwise nothing.
    Reads(Reads),
}

const ALL_AS_OBSERVED: EvaluationOutcome = EvaluationOutcome::Is(Known::Number(0));

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EvaluationOutcome {
    Is(Known),
    /// Unknown, for good.
    Nothing,
    /// A read that this depends on has not run.
    Pending,
}

impl EvaluationOutcome {
    fn of(known: Option<Known>) -> EvaluationOutcome {
        known.map_or(EvaluationOutcome::Nothing, EvaluationOutcome::Is)
    }

    pub(super) fn known(self) -> Option<Known> {
        match self {
            EvaluationOutcome::Is(known) => Some(known),
            EvaluationOutcome::Nothing | EvaluationOutcome::Pending => None,
        }
    }

    fn and_then(self, operation: impl FnOnce(Known) -> Option<Known>) -> EvaluationOutcome {
        match self {
            EvaluationOutcome::Is(known) => EvaluationOutcome::of(operation(known)),
            other => other,
        }
    }

    fn with(
        self,
        other: EvaluationOutcome,
        operation: impl FnOnce(Known, Known) -> Option<Known>,
    ) -> EvaluationOutcome {
        match (self, other) {
            (EvaluationOutcome::Is(left), EvaluationOutcome::Is(right)) => {
                EvaluationOutcome::of(operation(left, right))
            }
            (EvaluationOutcome::Pending, _) | (_, EvaluationOutcome::Pending) => EvaluationOutcome::Pending,
            _ => EvaluationOutcome::Nothing,
        }
    }
}

/// Whose turn it is, and what is evaluated for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvaluationTurn {
    pub(crate) event: EventId,
    pub(crate) thread: ThreadId,
    /// Whether the thread has seen something else than observed before.
    pub(crate) has_deviated: bool,
    /// What the event sees, if it reads and that counts.
    pub(crate) sees: Option<RecomputedContent>,
}

/// Evaluates without changing anything; what it has found out can be taken over afterwards.
pub(super) struct Evaluation<'c, 't> {
    computed: &'c Computed<'t>,
    turn: EvaluationTurn,
    found: HashMap<EvaluationNode, EvaluationOutcome>,
}

impl<'c, 't> Evaluation<'c, 't> {
    pub(super) fn new(computed: &'c Computed<'t>, turn: EvaluationTurn) -> Evaluation<'c, 't> {
        Evaluation { computed, turn, found: HashMap::new() }
    }

    /// What was found out, and stays so.
    pub(super) fn into_settled(self) -> Vec<(EvaluationNode, EvaluationOutcome)> {
        self.found.into_iter().filter(|&(_, outcome)| outcome != EvaluationOutcome::Pending).collect()
    }

    /// The value of the term. Without recursion, as terms can be deep.
    pub(super) fn value(&mut self, term: TermId) -> Option<Known> {
        let root = EvaluationNode::Term(term);
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
        self.known(root).ok().and_then(EvaluationOutcome::known)
    }

    /// What came of the node, or the node itself if it was not evaluated yet.
    fn known(&self, node: EvaluationNode) -> Result<EvaluationOutcome, EvaluationNode> {
        let found = self.found.get(&node).copied();
        found.or_else(|| self.computed.settled(self.turn.thread, node)).ok_or(node)
    }

    /// What comes of the node, or a part of it that has to be looked at first.
    fn combined(&self, node: EvaluationNode) -> Result<EvaluationOutcome, EvaluationNode> {
        let term = match node {
            EvaluationNode::Term(term) => self.computed.values.term(term),
            EvaluationNode::Reads(reads) => return self.reads(reads),
        };
        let of = |part: TermId| self.known(EvaluationNode::Term(part));
        Ok(match term {
            Term::Number(number) => EvaluationOutcome::Is(Known::Number(number)),
            Term::Name(value) => EvaluationOutcome::Is(self.computed.shown(value)),
            Term::Read(read) => self
                .seen(read)
                .map_or(EvaluationOutcome::Pending, |content| EvaluationOutcome::of(content.value)),
            Term::Frozen { value, reads } => {
                self.known(EvaluationNode::Reads(reads))?.and_then(|_| Some(Known::Number(value)))
            }
            Term::Unary { op, width, of: operand } => {
                of(operand)?.and_then(|operand| unary(op, width, operand))
            }
            Term::Binary { op, width, left, right } => {
                of(left)?.with(of(right)?, |left, right| binary(op, width, left, right))
            }
            Term::Choice { condition, then, otherwise } => match of(condition)? {
                EvaluationOutcome::Is(Known::Number(0)) => of(otherwise)?,
                EvaluationOutcome::Is(_) => of(then)?,
                unknown => unknown,
            },
        })
    }

    fn reads(&self, reads: Reads) -> Result<EvaluationOutcome, EvaluationNode> {
        let all_if =
            |as_observed: bool| if as_observed { ALL_AS_OBSERVED } else { EvaluationOutcome::Nothing };
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
                self.seen(read).map_or(EvaluationOutcome::Pending, |content| all_if(content.as_observed))
            }
            Part::Both(_, first, second) => {
                let of = |part| self.known(EvaluationNode::Reads(part));
                of(first)?.with(of(second)?, |first, _| Some(first))
            }
        })
    }

    fn seen(&self, read: EventId) -> Option<RecomputedContent> {
        if read == self.turn.event { self.turn.sees } else { self.computed.seen(read) }
    }
}
