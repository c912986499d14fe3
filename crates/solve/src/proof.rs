//! What a search did, step by step: from it a checker sees that there is no solution.
//!
//! Each step is a clause: one that the caller stated, a lemma of the theory, or one that follows from earlier steps by
//! unit propagation: if all its literals are false, the steps that it names become unit one after the other, and the
//! last one has no literal left. That is the LRAT format with lemmas added. The last step is the empty clause.

use crate::literal::{Lit, Var, narrow};

/// The number of a step.
pub type StepId = u32;

/// Where a step comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin<'p> {
    /// The caller stated it: the clause of this number, counted from 0.
    Stated(u32),
    /// The negations of its literals, in their order, close a cycle: the later node of each comes, by chains and facts,
    /// no later than the earlier node of the next, and so on back to the first.
    Cycle,
    /// It follows from these steps by unit propagation, in this order.
    Derived(&'p [StepId]),
}

/// One step of a proof.
#[derive(Clone, Copy, Debug)]
pub struct ProofStep<'p> {
    /// The clause.
    pub literals: &'p [Lit],
    /// Where it comes from.
    pub origin: Origin<'p>,
}

/// A proof, complete once the empty clause is in it.
#[derive(Debug, Default)]
pub struct ProofLog {
    steps: Vec<Step>,
    literals: Vec<Lit>,
    hints: Vec<StepId>,
    stated: u32,
    /// For each clause that the search holds, its step.
    of_clause: Vec<StepId>,
    /// For each variable that has a value for good, the step that says so.
    of_unit: Vec<Option<StepId>>,
    /// The step with the empty clause.
    empty: Option<StepId>,
    /// The step of the present conflict.
    pub(crate) conflict: StepId,
    /// The steps visited while a clause is learnt, the first one first.
    pub(crate) visited: Vec<StepId>,
}

/// Where the parts of a step are.
#[derive(Clone, Copy, Debug)]
struct Step {
    literals: usize,
    hints: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Stated(u32),
    Cycle,
    Derived,
}

impl ProofLog {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The step of this number.
    pub fn step(&self, id: StepId) -> ProofStep<'_> {
        let step = self.steps[id as usize];
        let next = self.steps.get(id as usize + 1);
        let (literals, hints) =
            next.map_or((self.literals.len(), self.hints.len()), |next| (next.literals, next.hints));
        ProofStep {
            literals: &self.literals[step.literals..literals],
            origin: match step.kind {
                Kind::Stated(number) => Origin::Stated(number),
                Kind::Cycle => Origin::Cycle,
                Kind::Derived => Origin::Derived(&self.hints[step.hints..hints]),
            },
        }
    }

    /// The step with the empty clause, if there is no solution.
    pub fn refutation(&self) -> Option<StepId> {
        self.empty
    }

    fn add(&mut self, kind: Kind, literals: &[Lit], hints: &[StepId]) -> StepId {
        let id = narrow(self.steps.len());
        self.steps.push(Step { literals: self.literals.len(), hints: self.hints.len(), kind });
        self.literals.extend_from_slice(literals);
        self.hints.extend_from_slice(hints);
        if literals.is_empty() {
            self.empty.get_or_insert(id);
        }
        id
    }

    /// The caller states a clause.
    pub(crate) fn state(&mut self, literals: &[Lit]) -> StepId {
        self.stated += 1;
        self.add(Kind::Stated(self.stated - 1), literals, &[])
    }

    /// The negations of the literals close a cycle, in their order.
    pub(crate) fn cycle(&mut self, literals: &[Lit]) -> StepId {
        self.add(Kind::Cycle, literals, &[])
    }

    /// A clause follows from these steps, and from what has a value for good.
    pub(crate) fn derive(&mut self, literals: &[Lit], from: &[StepId]) -> StepId {
        let mut hints: Vec<StepId> = Vec::with_capacity(from.len());
        for &step in from {
            hints.extend(self.step(step).literals.iter().filter_map(|literal| self.unit(literal.var())));
        }
        hints.sort_unstable();
        hints.dedup();
        hints.extend_from_slice(from);
        self.add(Kind::Derived, literals, &hints)
    }

    /// The step that gives the variable its value for good, if one does.
    fn unit(&self, var: Var) -> Option<StepId> {
        self.of_unit.get(var as usize).copied().flatten()
    }

    /// This step gives its only literal its value for good.
    pub(crate) fn set_unit(&mut self, literal: Lit, step: StepId) {
        let var = literal.var() as usize;
        if self.of_unit.len() <= var {
            self.of_unit.resize(var + 1, None);
        }
        self.of_unit[var] = Some(step);
    }

    /// The search holds the next clause, which is this step.
    pub(crate) fn hold(&mut self, step: StepId) {
        self.of_clause.push(step);
    }

    /// The step of a clause that the search holds.
    pub(crate) fn of_clause(&self, clause: u32) -> StepId {
        self.of_clause[clause as usize]
    }

    /// Clauses were dropped; these are the new numbers of the others.
    pub(crate) fn renumber(&mut self, renumbered: &[Option<u32>]) {
        let mut kept = renumbered.iter();
        self.of_clause.retain(|_| kept.next().is_some_and(Option::is_some));
    }
}
