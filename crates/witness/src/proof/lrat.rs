//! What a certificate says once its axioms are believed: clauses in the format DIMACS that contradict each other, and
//! the proof of that in the format LRAT. Any checker of such proofs can judge that; it need not know what a trace is.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::literal::{Atom, Literal};
use super::step::Step;

/// Clauses, and a proof that they contradict each other.
#[derive(Debug, Default)]
pub struct Lrat {
    /// For each statement its variable, from 1.
    variables: HashMap<Atom, usize>,
    /// For each step whether it is an axiom, and its place among its like.
    steps: Vec<(bool, usize)>,
    axioms: Vec<Vec<Literal>>,
    /// How many steps are none.
    derived: usize,
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Follows(Vec<Literal>, Vec<u32>),
    Dropped(Vec<u32>),
}

impl Lrat {
    pub(super) fn add(&mut self, step: &Step) {
        match step {
            Step::Holds(clause) => {
                self.number(clause);
                self.steps.push((true, self.axioms.len()));
                self.axioms.push(clause.clone());
            }
            Step::Follows(clause, hints) => {
                self.number(clause);
                self.steps.push((false, self.derived));
                self.derived += 1;
                self.lines.push(Line::Follows(clause.clone(), hints.clone()));
            }
            Step::Dropped(steps) => self.lines.push(Line::Dropped(steps.clone())),
        }
    }

    fn number(&mut self, clause: &[Literal]) {
        for literal in clause {
            let next = self.variables.len() + 1;
            self.variables.entry(literal.atom).or_insert(next);
        }
    }

    /// The axioms, as a formula in the format DIMACS.
    pub fn formula(&self) -> String {
        let mut text = format!("p cnf {} {}\n", self.variables.len(), self.axioms.len());
        for clause in &self.axioms {
            self.clause(&mut text, clause);
            text.push('\n');
        }
        text
    }

    /// The proof that the formula has no solution, in the format LRAT.
    pub fn proof(&self) -> String {
        let (mut text, mut last) = (String::new(), self.axioms.len());
        for line in &self.lines {
            // Writing into a string cannot fail.
            let hints = match line {
                Line::Follows(clause, hints) => {
                    last += 1;
                    let _ = write!(text, "{last} ");
                    self.clause(&mut text, clause);
                    hints
                }
                Line::Dropped(steps) => {
                    let _ = write!(text, "{last} d");
                    steps
                }
            };
            for &hint in hints {
                let _ = write!(text, " {}", self.clause_number(hint));
            }
            text.push_str(" 0\n");
        }
        // If the empty clause is an axiom, the formula has it.
        text
    }

    fn clause(&self, text: &mut String, clause: &[Literal]) {
        for literal in clause {
            let sign = if literal.positive { "" } else { "-" };
            let _ = write!(text, "{sign}{} ", self.variables.get(&literal.atom).copied().unwrap_or(0));
        }
        text.push('0');
    }

    /// What the proof calls a step: axioms come first.
    fn clause_number(&self, step: u32) -> usize {
        let of = (step as usize).checked_sub(1).and_then(|place| self.steps.get(place));
        of.map_or(0, |&(is_axiom, place)| if is_axiom { place + 1 } else { self.axioms.len() + place + 1 })
    }
}
