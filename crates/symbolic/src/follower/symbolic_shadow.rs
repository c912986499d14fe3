//! The shadow that builds symbolic values and path constraints beside the values of a path.

use foretell_trace::values::{Binary, Obstacle, Obstacles, TermId, Unary};
use foretell_wire::code::opcode;

use super::untaken::UntakenBranches;
use crate::evaluate::Given;
use crate::machine::Frame;
use crate::shadow::{Decision, Done, Shadow};
use crate::symbolic::Symbolic;
use crate::terms::{Origin, Origins, Sets};

/// The most cases of a switch for whose default there is a path constraint.
const MOST_CASES: usize = 16;

/// The shadow of a thread.
pub(super) struct SymbolicShadow<'a> {
    pub(super) symbolic: Symbolic<'a>,
    pub(super) waiting: &'a mut Vec<TermId>,
    /// The path could not be followed.
    pub(super) has_failed: bool,
    pub(super) mode: Mode<'a>,
}

/// How branches are treated, and values that steer without a term.
pub(super) enum Mode<'a> {
    /// The reads behind it are pinned. Branches with an untaken side are noted, if that is wanted.
    Recorded(Option<&'a mut UntakenBranches>),
    /// The path constraint is that the reads behind it see what they saw, as none of this was executed.
    Hypothetical,
}

impl SymbolicShadow<'_> {
    /// Undoes a path that began with so many pending path constraints.
    pub(super) fn take_back(&mut self, frame: &mut Frame, waiting: usize, obstacles: Obstacles) {
        frame.take_back();
        self.waiting.truncate(waiting);
        self.symbolic.terms.obstacles = obstacles;
    }

    fn hold_word(&mut self, origin: Origin) {
        match origin {
            Origin::Term(term) => self.waiting.push(term),
            Origin::Made(reads) if matches!(self.mode, Mode::Hypothetical) => {
                match self.symbolic.terms.frozen(0, reads) {
                    Some(term) => self.waiting.push(term),
                    None => self.has_failed = true,
                }
            }
            Origin::Made(reads) => {
                let Sets { tracker, thread } = &mut self.symbolic.sets;
                tracker.steer(*thread, reads);
            }
        }
    }

    /// The condition of a defined division; none if it has no term.
    fn possible(&mut self, opcode: u8, [dividend, divisor]: [&Given; 2]) -> Option<Vec<TermId>> {
        let of = dividend.scalar().or(divisor.scalar())?;
        let divisor = self.symbolic.term(divisor, 0, of)?;
        let mut found = vec![self.symbolic.terms.unary(Unary::IsZero, of.bits(), divisor)?];
        if matches!(opcode, opcode::SDIV | opcode::SREM) {
            let minus_one = self.symbolic.terms.number(of.fit(u64::MAX))?;
            let negates = self.symbolic.binary(Binary::Equal, of, [divisor, minus_one])?;
            found.push(negates);
            if self.symbolic.terms.observed(negates) == 1 {
                let dividend = self.symbolic.term(dividend, 0, of)?;
                let least = self.symbolic.terms.number(1 << (of.bits() - 1))?;
                found.push(self.symbolic.binary(Binary::Equal, of, [dividend, least])?);
            }
        }
        Some(found)
    }

    /// The condition that no case matched; none if it has no term.
    pub(super) fn none_of(&mut self, condition: &Given, cases: &[Given]) -> Option<Vec<TermId>> {
        let of = condition.scalar()?;
        let term = self.symbolic.term(condition, 0, of)?;
        let mut found = Vec::new();
        for case in cases.iter().take_while(|_| cases.len() <= MOST_CASES) {
            let case = self.symbolic.terms.number(of.fit(case.known[0]?))?;
            found.push(self.symbolic.binary(Binary::Equal, of, [term, case])?);
        }
        (cases.len() <= MOST_CASES).then_some(found)
    }
}

impl Shadow for SymbolicShadow<'_> {
    fn result(&mut self, done: &Done<'_>) -> Origins {
        self.symbolic.result(done)
    }

    fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin {
        self.symbolic.mix(given, why)
    }

    fn hold(&mut self, given: &[Given]) {
        for origin in given.iter().flat_map(|given| given.origins) {
            self.hold_word(origin);
        }
    }

    fn divide(&mut self, opcode: u8, given: &[Given]) {
        let [dividend, divisor] = given else { return self.hold(given) };
        if matches!(self.mode, Mode::Hypothetical) && !is_possible(opcode, dividend, divisor) {
            self.has_failed = true;
            return;
        }
        match self.possible(opcode, [dividend, divisor]) {
            Some(terms) => self.waiting.extend(terms),
            None => self.hold(given),
        }
    }

    fn decide(&mut self, decision: &Decision<'_>) {
        if let Mode::Recorded(Some(forks)) = &mut self.mode
            && let Origin::Term(term) = decision.condition.origins[0]
            && !self.symbolic.terms.is_settled(term)
        {
            forks.note(decision, self.waiting);
        }
        let Decision { condition, cases, way, .. } = *decision;
        let others = if way == 0 && !cases.is_empty() { self.none_of(&condition, cases) } else { None };
        match others {
            Some(terms) => self.waiting.extend(terms),
            None => self.hold(&[condition]),
        }
    }

    fn give_up(&mut self) {
        self.has_failed = true;
    }
}

/// Whether a division that was not executed is defined for the known values.
fn is_possible(code: u8, dividend: &Given, divisor: &Given) -> bool {
    let Some(of) = dividend.scalar().or(divisor.scalar()) else { return false };
    let known = |given: &Given| given.known[0].map(|known| of.fit(known));
    let is_signed = matches!(code, opcode::SDIV | opcode::SREM);
    match known(divisor) {
        None | Some(0) => false,
        Some(by) if is_signed && by == of.fit(u64::MAX) => {
            known(dividend).is_some_and(|dividend| dividend != 1 << (of.bits() - 1))
        }
        Some(_) => true,
    }
}
