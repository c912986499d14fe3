//! Makes a certificate of what the closure has found and the search has learnt.
//!
//! It is made backwards: from the contradiction to what it follows from, and so on. So nothing gets into a certificate
//! that it does not need, and only for that it is found out from which earlier facts an axiom gives what it gave.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::axiom::{Atom, Axiom, Literal, is_absent, is_thread_order};
use super::derivation::{Clash, Derivation, FactId};
use super::paths::{Paths, Step};
use crate::closure::Closure;
use crate::index::NONE;
use crate::window::Window;

/// A step of a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CertificateStep {
    Axiom(Axiom),
    /// Not all of these pairs are in order.
    Cycle(Vec<(u32, u32)>),
    /// This follows from these steps.
    Clause(Vec<Literal>, Vec<u32>),
}

/// What a clause is used together with.
#[derive(Clone, Debug)]
pub(super) enum Hint {
    Fact(FactId),
    /// Every schedule keeps this order.
    Need(u32, u32),
    /// The event does not run.
    Absent(u32),
    Cycle(Vec<(u32, u32)>),
    Axiom(Axiom),
}

/// A certificate as it grows. Steps are numbered from 0.
pub(crate) struct Assembler<'c> {
    window: &'c Window<'c>,
    derivation: &'c Derivation,
    paths: Paths<'c>,
    steps: Vec<CertificateStep>,
    /// The facts that are needed and were not looked at, and for those that were, what they follow from.
    open: BTreeSet<FactId>,
    reasons: FxHashMap<FactId, Vec<Hint>>,
    /// Which steps these are.
    of_fact: FxHashMap<FactId, u32>,
    of_need: FxHashMap<(u32, u32), u32>,
    of_absent: FxHashMap<u32, u32>,
    of_cycle: FxHashMap<Vec<(u32, u32)>, u32>,
    of_axiom: FxHashMap<Axiom, u32>,
}

impl<'c> Assembler<'c> {
    pub(crate) fn new(closure: &'c Closure<'c>) -> Option<Assembler<'c>> {
        let derivation = closure.derivation()?;
        Some(Assembler {
            window: closure.window,
            derivation,
            paths: Paths::new(closure, derivation),
            steps: Vec::new(),
            open: BTreeSet::new(),
            reasons: FxHashMap::default(),
            of_fact: FxHashMap::default(),
            of_need: FxHashMap::default(),
            of_absent: FxHashMap::default(),
            of_cycle: FxHashMap::default(),
            of_axiom: FxHashMap::default(),
        })
    }

    pub(super) fn window(&self) -> &'c Window<'c> {
        self.window
    }

    /// Whether it is time to leave it unfinished.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.paths.is_out_of_time()
    }

    /// After the last fact.
    pub(super) fn end(&self) -> FactId {
        self.derivation.len()
    }

    /// The certificate of a closure that ended in a contradiction.
    pub(crate) fn of_clash(mut self) -> Option<Vec<CertificateStep>> {
        let end = self.end();
        let hints = match self.derivation.clash.clone()? {
            Clash::Cycle(from, to) => {
                let order = Literal::before(from, to);
                let fact = self.known(order, end)?;
                if is_thread_order(self.window, to, from) {
                    // What it gives is false by itself.
                    let derivation = self.derivation;
                    self.reasons(&derivation.facts[fact as usize].axiom, Some(order), fact)?
                } else {
                    let mut hints = self.refuted_order(from, to, fact)?;
                    hints.insert(0, Hint::Fact(fact));
                    hints
                }
            }
            Clash::TooLate(event) => {
                vec![Hint::Absent(event), Hint::Fact(self.known(Literal::runs(event), end)?)]
            }
            Clash::Broken(axiom) => self.reasons(&axiom, None, end)?,
        };
        self.need(&hints);
        self.emit_facts()?;
        self.emit_clause(Vec::new(), &hints)?;
        Some(self.steps)
    }

    pub(super) fn into_steps(self) -> Vec<CertificateStep> {
        self.steps
    }

    /// The fact that says so, among the first `until`.
    pub(super) fn known(&self, literal: Literal, until: FactId) -> Option<FactId> {
        self.derivation.known(literal, until)
    }

    /// Facts among these will be in the certificate.
    pub(super) fn need(&mut self, hints: &[Hint]) {
        for hint in hints {
            if let &Hint::Fact(fact) = hint
                && !self.reasons.contains_key(&fact)
            {
                self.open.insert(fact);
            }
        }
    }

    /// Why the axiom leaves only this literal, by the first `until` facts; the axiom itself comes last.
    pub(super) fn reasons(&self, axiom: &Axiom, gives: Option<Literal>, until: FactId) -> Option<Vec<Hint>> {
        let clause = axiom.clause(self.window);
        let mut hints = Vec::new();
        for literal in clause.into_iter().filter(|&literal| Some(literal) != gives) {
            hints.extend(self.refuted(literal, gives, until)?);
        }
        hints.push(Hint::Axiom(axiom.clone()));
        Some(hints)
    }

    /// Why the literal does not hold.
    pub(super) fn refuted(
        &self,
        literal: Literal,
        gives: Option<Literal>,
        until: FactId,
    ) -> Option<Vec<Hint>> {
        if let Some(fact) = self.known(!literal, until) {
            return Some(vec![Hint::Fact(fact)]);
        }
        match (literal.atom, literal.ordered()) {
            (_, Some((from, to))) => self.refuted_order(from, to, until),
            (Atom::Runs(event), None) if literal.positive => Some(vec![Hint::Absent(event)]),
            (Atom::Sees(read, write), None) if literal.positive => {
                // Whatever comes before all that the read may see comes before the read.
                let (from, to) = gives?.ordered()?;
                let path = self.path(from, write, until).filter(|_| to == read)?;
                let mut hints = facts(&path);
                if from != write {
                    let steps = path.iter().map(|step| (step.from, step.to));
                    hints.push(Hint::Cycle(steps.chain([(write, read), (read, from)]).collect()));
                }
                hints.push(Hint::Axiom(Axiom::Sees { read, write }));
                Some(hints)
            }
            _ => None,
        }
    }

    /// Why `from` does not come before `to`.
    fn refuted_order(&self, from: u32, to: u32, until: FactId) -> Option<Vec<Hint>> {
        if let Some(path) = self.paths.find(to, from, until) {
            let mut hints = facts(&path);
            let is_itself = matches!(path[..], [step] if (step.from, step.to) == (to, from));
            if !is_itself {
                let steps = path.iter().map(|step| (step.from, step.to));
                hints.push(Hint::Cycle(std::iter::once((from, to)).chain(steps).collect()));
            }
            return Some(hints);
        }
        // What does not run comes before nothing that does.
        self.is_absent(from).then(|| vec![Hint::Absent(from), Hint::Axiom(Axiom::Prefix(from, to))])
    }

    /// Whether the event cannot run.
    fn is_absent(&self, event: u32) -> bool {
        let thread = self.window.thread[event as usize];
        self.window.place[event as usize] >= self.window.limit[thread as usize]
    }

    /// Adds what is needed of the facts, each after what it follows from.
    pub(super) fn emit_facts(&mut self) -> Option<()> {
        let mut needed = BTreeSet::new();
        while let Some(fact) = self.open.pop_last() {
            if self.is_out_of_time() {
                return None;
            }
            let derivation = self.derivation;
            let found = &derivation.facts[fact as usize];
            let hints = self.reasons(&found.axiom, Some(found.gives), fact)?;
            self.need(&hints);
            self.reasons.insert(fact, hints);
            needed.insert(fact);
        }
        for fact in needed {
            let hints = self.reasons.remove(&fact)?;
            let gives = self.derivation.facts[fact as usize].gives;
            let step = match &hints[..] {
                // It is the axiom itself.
                [Hint::Axiom(axiom)] => self.axiom(axiom.clone()),
                _ => self.emit_clause(vec![gives], &hints)?,
            };
            self.reasons.insert(fact, hints);
            self.of_fact.insert(fact, step);
        }
        Some(())
    }

    /// Adds a clause that follows from these, and gives its step.
    pub(super) fn emit_clause(&mut self, literals: Vec<Literal>, hints: &[Hint]) -> Option<u32> {
        let mut steps = Vec::with_capacity(hints.len());
        for hint in hints {
            let step = self.step(hint)?;
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        Some(self.push(CertificateStep::Clause(literals, steps)))
    }

    /// Adds a clause that follows from these steps.
    pub(super) fn push_clause(&mut self, literals: Vec<Literal>, steps: Vec<u32>) -> u32 {
        self.push(CertificateStep::Clause(literals, steps))
    }

    /// The step of a hint, which is added if it is not there.
    pub(super) fn step(&mut self, hint: &Hint) -> Option<u32> {
        match hint {
            Hint::Fact(fact) => self.of_fact.get(fact).copied(),
            &Hint::Need(from, to) => Some(self.need_step(from, to)),
            &Hint::Absent(event) => self.absent(event),
            Hint::Cycle(pairs) => Some(self.cycle(pairs)),
            Hint::Axiom(axiom) => Some(self.axiom(axiom.clone())),
        }
    }

    fn push(&mut self, step: CertificateStep) -> u32 {
        self.steps.push(step);
        // There are fewer steps than memory has room for.
        u32::try_from(self.steps.len() - 1).unwrap_or(NONE)
    }

    fn axiom(&mut self, axiom: Axiom) -> u32 {
        if let Some(&known) = self.of_axiom.get(&axiom) {
            return known;
        }
        let step = self.push(CertificateStep::Axiom(axiom.clone()));
        self.of_axiom.insert(axiom, step);
        step
    }

    fn cycle(&mut self, pairs: &[(u32, u32)]) -> u32 {
        if let Some(&known) = self.of_cycle.get(pairs) {
            return known;
        }
        let step = self.push(CertificateStep::Cycle(pairs.to_vec()));
        self.of_cycle.insert(pairs.to_vec(), step);
        step
    }

    fn need_step(&mut self, from: u32, to: u32) -> u32 {
        if let Some(&known) = self.of_need.get(&(from, to)) {
            return known;
        }
        let step = self.axiom(Axiom::Need(from, to));
        self.of_need.insert((from, to), step);
        step
    }

    /// The step that says that the event does not run.
    fn absent(&mut self, event: u32) -> Option<u32> {
        if let Some(&known) = self.of_absent.get(&event) {
            return Some(known);
        }
        let window = self.window;
        let thread = window.thread[event as usize];
        let first = *window.threads[thread as usize].get(window.limit[thread as usize] as usize)?;
        let none_runs = vec![!Literal::runs(event)];
        let step = if event != first {
            // A thread does not continue beyond the first of its events that does not run.
            let cut = self.absent(first).filter(|_| first < event)?;
            let prefix = self.axiom(Axiom::Prefix(first, event));
            self.push_clause(none_runs, vec![cut, prefix])
        } else if is_absent(window, event) {
            self.axiom(Axiom::Absent(event))
        } else {
            let need = window.needs(event).iter().copied().find(|&need| self.is_absent(need))?;
            let cut = self.absent(need)?;
            let order = self.need_step(need, event);
            let prefix = self.axiom(Axiom::Prefix(need, event));
            self.push_clause(none_runs, vec![cut, order, prefix])
        };
        self.of_absent.insert(event, step);
        Some(step)
    }

    /// The steps from one event to another, or to itself, by the first `until` facts.
    pub(super) fn path(&self, from: u32, to: u32, until: FactId) -> Option<Vec<Step>> {
        if from == to { Some(Vec::new()) } else { self.paths.find(from, to, until) }
    }
}

/// What says that these steps are in order.
pub(super) fn facts(path: &[Step]) -> Vec<Hint> {
    path.iter()
        .map(|step| if step.fact == NONE { Hint::Need(step.from, step.to) } else { Hint::Fact(step.fact) })
        .collect()
}
