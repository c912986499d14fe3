//! The part of a certificate that comes from the search.

use std::collections::BTreeSet;

use foretell_solve::{Lit, Origin, ProofLog, StepId};
use rustc_hash::FxHashMap;

use super::assemble::{Assembler, CertificateStep, Hint, facts};
use super::axiom::{Axiom, Literal};
use crate::encode::EncodedSearch;

/// Why a clause was stated to the solver.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Axiom(Axiom),
    /// The closure has found it.
    Known(Literal),
}

/// What the literals of a solver mean, and why its clauses hold.
#[derive(Debug, Default)]
pub(crate) struct Meanings {
    booleans: FxHashMap<Lit, Literal>,
    stated: Vec<Statement>,
}

impl Meanings {
    /// The boolean means this.
    pub(crate) fn name(&mut self, boolean: Lit, meaning: impl Into<Literal>) {
        let meaning = meaning.into();
        self.booleans.insert(boolean, meaning);
        self.booleans.insert(!boolean, !meaning);
    }

    /// The next clause holds because of this.
    pub(crate) fn state(&mut self, statement: Statement) {
        self.stated.push(statement);
    }
}

/// A search without a solution, as steps of a certificate.
struct Search<'s> {
    proof: &'s ProofLog,
    meanings: &'s Meanings,
    search: &'s EncodedSearch<'s>,
    /// For each step of the search that is needed, what is used together with it.
    hints: FxHashMap<StepId, Vec<Hint>>,
}

/// The certificate of a search that found no solution.
pub(crate) fn certificate(
    search: &EncodedSearch<'_>,
    mut assembler: Assembler<'_>,
) -> Option<Vec<CertificateStep>> {
    let (proof, meanings) = search.proof()?;
    let mut steps = Search { proof, meanings, search, hints: FxHashMap::default() };
    let needed = steps.collect(&mut assembler)?;
    assembler.emit_facts()?;
    let mut emitted: FxHashMap<StepId, u32> = FxHashMap::default();
    for id in needed {
        let step = steps.emit(id, &emitted, &mut assembler)?;
        emitted.insert(id, step);
    }
    Some(assembler.into_steps())
}

impl Search<'_> {
    /// The steps that are needed; what they need of the closure will be there.
    fn collect(&mut self, assembler: &mut Assembler<'_>) -> Option<BTreeSet<StepId>> {
        let mut open = BTreeSet::from([self.proof.refutation()?]);
        let mut needed = BTreeSet::new();
        while let Some(id) = open.pop_last() {
            if assembler.is_out_of_time() {
                return None;
            }
            needed.insert(id);
            let step = self.proof.step(id);
            let hints = match step.origin {
                Origin::Derived(hints) => {
                    open.extend(hints);
                    continue;
                }
                Origin::Stated(number) => {
                    self.stated(self.meanings.stated.get(number as usize)?, step.literals, assembler)?
                }
                Origin::Cycle => self.cycle(step.literals, assembler)?,
            };
            assembler.need(&hints);
            self.hints.insert(id, hints);
        }
        Some(needed)
    }

    /// What the literal means; `None` for what never holds.
    fn meaning(&self, literal: Lit) -> Option<Option<Literal>> {
        if literal == Lit::FALSE {
            return Some(None);
        }
        let order = self.search.ordered(literal).map(|(from, to)| Literal::before(from, to));
        order.or_else(|| self.meanings.booleans.get(&literal).copied()).map(Some)
    }

    fn clause(&self, literals: &[Lit]) -> Option<Vec<Literal>> {
        let meanings: Option<Vec<Option<Literal>>> =
            literals.iter().map(|&literal| self.meaning(literal)).collect();
        let mut clause: Vec<Literal> = meanings?.into_iter().flatten().collect();
        clause.sort_unstable();
        clause.dedup();
        Some(clause)
    }

    /// Why a stated clause holds: what it leaves out of its axiom does not.
    fn stated(
        &self,
        statement: &Statement,
        literals: &[Lit],
        assembler: &Assembler<'_>,
    ) -> Option<Vec<Hint>> {
        let clause = self.clause(literals)?;
        match statement {
            Statement::Known(literal) => Some(vec![Hint::Fact(assembler.known(*literal, assembler.end())?)]),
            Statement::Axiom(axiom) => {
                let mut hints = Vec::new();
                for literal in axiom.clause(assembler.window()) {
                    if !clause.contains(&literal) {
                        hints.extend(assembler.refuted(literal, None, assembler.end())?);
                    }
                }
                hints.push(Hint::Axiom(axiom.clone()));
                Some(hints)
            }
        }
    }

    /// Why a cycle is one: what leads from each pair to the next.
    fn cycle(&self, literals: &[Lit], assembler: &Assembler<'_>) -> Option<Vec<Hint>> {
        let order = |&literal: &Lit| self.search.ordered(!literal);
        let pairs: Vec<(u32, u32)> = literals.iter().map(order).collect::<Option<_>>()?;
        let (mut hints, mut cycle) = (Vec::new(), Vec::new());
        for (&pair, &(next, _)) in pairs.iter().zip(pairs.iter().cycle().skip(1)) {
            let path = assembler.path(pair.1, next, assembler.end())?;
            hints.extend(facts(&path));
            cycle.push(pair);
            cycle.extend(path.iter().map(|step| (step.from, step.to)));
        }
        hints.push(Hint::Cycle(cycle));
        Some(hints)
    }

    /// Adds the step, and gives the step of the certificate that it is.
    fn emit(
        &self,
        id: StepId,
        emitted: &FxHashMap<StepId, u32>,
        assembler: &mut Assembler<'_>,
    ) -> Option<u32> {
        let step = self.proof.step(id);
        let literals = self.clause(step.literals)?;
        match (step.origin, self.hints.get(&id).map(Vec::as_slice)) {
            (Origin::Derived(hints), _) => {
                let steps: Option<Vec<u32>> = hints.iter().map(|hint| emitted.get(hint).copied()).collect();
                Some(assembler.push_clause(literals, steps?))
            }
            (_, Some([only])) => assembler.step(only),
            (_, hints) => assembler.emit_clause(literals, hints?),
        }
    }
}
