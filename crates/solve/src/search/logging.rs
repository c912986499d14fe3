//! What the search tells of itself, if a proof is wanted; see [`crate::proof`]. Without one each of these is one
//! comparison.

use super::{Reason, Search};
use crate::clauses::ClauseId;
use crate::literal::Lit;
use crate::proof::{ProofLog, StepId};
use crate::theory::Theory;

impl<T: Theory> Search<T> {
    pub(crate) fn log_proof(&mut self) {
        self.proof.get_or_insert_default();
    }

    pub(crate) fn proof(&self) -> Option<&ProofLog> {
        self.proof.as_deref()
    }

    /// The step of a clause from which literals were left out that are false for good.
    pub(super) fn log_shortened(&mut self, literals: &[Lit], step: Option<StepId>) -> Option<StepId> {
        let (proof, step) = (self.proof.as_mut()?, step?);
        let is_same = proof.step(step).literals.len() == literals.len();
        Some(if is_same { step } else { proof.derive(literals, &[step]) })
    }

    /// The literal is true for good, by this step.
    pub(super) fn log_unit(&mut self, literal: Lit, step: Option<StepId>) {
        if let Some((proof, step)) = self.proof.as_mut().zip(step) {
            proof.set_unit(literal, step);
        }
    }

    /// The clause that was just added is this step.
    pub(super) fn log_held(&mut self, step: Option<StepId>) {
        if let Some((proof, step)) = self.proof.as_mut().zip(step) {
            proof.hold(step);
        }
    }

    /// A contradiction was found: with a clause, or with the theory.
    pub(super) fn log_conflict(&mut self, clause: Option<ClauseId>) {
        let Some(proof) = &mut self.proof else { return };
        proof.conflict = match clause {
            Some(clause) => proof.of_clause(clause),
            None => proof.cycle(&self.conflict),
        };
        proof.visited.clear();
        proof.visited.push(proof.conflict);
    }

    /// The present conflict holds at the bottom level.
    pub(super) fn log_refutation(&mut self) {
        if let Some(proof) = &mut self.proof {
            proof.derive(&[], &[proof.conflict]);
        }
    }

    /// A literal became true at the bottom level, because of what has a value there.
    pub(super) fn log_assignment(&mut self, literal: Lit) {
        let source = self.sources[literal.var() as usize];
        let step = match source.reason {
            Reason::None => return,
            Reason::Clause(clause) => self.proof.as_ref().map(|proof| proof.of_clause(clause)),
            Reason::Theory => {
                let mut reason = Vec::new();
                self.theory.explain(literal, source.place, &mut reason);
                reason.iter_mut().for_each(|literal| *literal = !*literal);
                reason.push(literal);
                self.proof.as_mut().map(|proof| proof.cycle(&reason))
            }
        };
        if let Some((proof, step)) = self.proof.as_mut().zip(step) {
            let unit = proof.derive(&[literal], &[step]);
            proof.set_unit(literal, unit);
        }
    }

    /// The analysis of a conflict went through a clause.
    pub(super) fn log_reason(&mut self, clause: ClauseId) {
        if let Some(proof) = &mut self.proof {
            let step = proof.of_clause(clause);
            proof.visited.push(step);
        }
    }

    /// The analysis of a conflict went through what the theory says: because these are false, the literal is true.
    pub(super) fn log_lemma(&mut self, literal: Lit, others: &[Lit]) {
        if let Some(proof) = &mut self.proof {
            let lemma: Vec<Lit> = others.iter().copied().chain([literal]).collect();
            let step = proof.cycle(&lemma);
            proof.visited.push(step);
        }
    }

    /// Of the literals of a learnt clause only some were kept: the others follow, each by the reason for its negation.
    pub(super) fn log_dropped(&mut self, all: &[Lit], kept: &[Lit]) {
        let Some(proof) = &mut self.proof else { return };
        let mut dropped: Vec<Lit> = all.iter().copied().filter(|literal| !kept.contains(literal)).collect();
        // They follow in the order in which they became false; what is visited is used backwards.
        dropped.sort_by_key(|literal| std::cmp::Reverse(self.sources[literal.var() as usize].place));
        for literal in dropped {
            if let Reason::Clause(clause) = self.sources[literal.var() as usize].reason {
                let step = proof.of_clause(clause);
                proof.visited.push(step);
            }
        }
    }

    /// A clause was learnt from what was visited.
    pub(super) fn log_learnt(&mut self, learnt: &[Lit]) -> Option<StepId> {
        let proof = self.proof.as_mut()?;
        let mut visited = std::mem::take(&mut proof.visited);
        visited.reverse();
        let step = proof.derive(learnt, &visited);
        proof.visited = visited;
        Some(step)
    }
}
