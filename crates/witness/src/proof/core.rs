//! The steps so far, and what follows from them by unit propagation.

use std::collections::{HashMap, HashSet};

use super::literal::Literal;
use super::step::Step;

/// Why a step is not taken.
#[derive(Debug)]
pub(super) enum Fault {
    /// It does not follow.
    Wrong(String),
    /// The caller wanted no more.
    Stopped,
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault::Wrong(reason)
    }
}

/// The clauses that hold.
pub(super) struct Core<'s> {
    clauses: HashMap<u32, Box<[Literal]>>,
    /// The number of the last step.
    last: u32,
    refuted: bool,
    is_stopped: &'s dyn Fn() -> bool,
}

impl<'s> Core<'s> {
    pub(super) fn new(is_stopped: &'s dyn Fn() -> bool) -> Core<'s> {
        Core { clauses: HashMap::new(), last: 0, refuted: false, is_stopped }
    }

    /// Whether the empty clause holds.
    pub(super) fn is_refuted(&self) -> bool {
        self.refuted
    }

    /// The number that the next clause will have.
    pub(super) fn present(&self) -> u32 {
        self.last.saturating_add(1)
    }

    /// Takes the next step.
    pub(super) fn take(&mut self, step: Step) -> Result<(), Fault> {
        match step {
            Step::Holds(clause) => self.add(clause)?,
            Step::Follows(clause, hints) => {
                self.derive(&clause, &hints)?;
                self.add(clause)?;
            }
            Step::Dropped(steps) => {
                for step in steps {
                    self.clauses.remove(&step).ok_or_else(|| format!("there is no step {step}"))?;
                }
            }
        }
        Ok(())
    }

    /// A clause holds.
    fn add(&mut self, clause: Vec<Literal>) -> Result<(), String> {
        self.last = self.last.checked_add(1).ok_or("there are too many steps")?;
        self.refuted = clause.is_empty();
        self.clauses.insert(self.last, clause.into());
        Ok(())
    }

    /// Whether a clause follows: if all its literals are false, each of the steps in turn has one literal left, which
    /// is true then, and the last one has none.
    fn derive(&self, clause: &[Literal], hints: &[u32]) -> Result<(), Fault> {
        let mut holds: HashSet<Literal> = clause.iter().map(|&literal| !literal).collect();
        let (&last, units) =
            hints.split_last().ok_or_else(|| "no steps are named that it follows from".to_string())?;
        for &hint in units {
            if (self.is_stopped)() {
                return Err(Fault::Stopped);
            }
            let mut left = self.left(hint, &holds)?;
            match (left.next(), left.next()) {
                (Some(unit), None) if !holds.contains(&unit) => {
                    drop(left);
                    holds.insert(unit);
                }
                _ => return Err(Fault::Wrong(format!("step {hint} gives no new literal"))),
            }
        }
        if self.left(last, &holds)?.next().is_some() {
            return Err(Fault::Wrong(format!("step {last} is no contradiction")));
        }
        Ok(())
    }

    /// The literals of a step that are not false.
    fn left<'c>(
        &'c self,
        step: u32,
        holds: &'c HashSet<Literal>,
    ) -> Result<impl Iterator<Item = Literal> + use<'c>, String> {
        let clause = self.clauses.get(&step).ok_or_else(|| format!("there is no step {step}"))?;
        Ok(clause.iter().copied().filter(move |&literal| !holds.contains(&!literal)))
    }
}
