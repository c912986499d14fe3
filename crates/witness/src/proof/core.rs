//! The steps so far, and what follows from them by unit propagation.

use std::collections::{HashMap, HashSet};

use super::literal::Literal;

/// The clauses that hold.
#[derive(Debug, Default)]
pub(super) struct Core {
    clauses: HashMap<u32, Box<[Literal]>>,
    /// The number of the last step.
    last: u32,
    refuted: bool,
}

impl Core {
    /// Whether the empty clause holds.
    pub(super) fn is_refuted(&self) -> bool {
        self.refuted
    }

    /// A clause holds, as the next step.
    pub(super) fn add(&mut self, clause: Vec<Literal>) -> Result<(), String> {
        if self.refuted {
            return Err("there is more after the contradiction".to_string());
        }
        self.last = self.last.checked_add(1).ok_or("there are too many steps")?;
        self.refuted = clause.is_empty();
        self.clauses.insert(self.last, clause.into());
        Ok(())
    }

    /// A step is not needed any more.
    pub(super) fn drop_step(&mut self, step: u32) -> Result<(), String> {
        self.clauses.remove(&step).map(|_| ()).ok_or_else(|| format!("there is no step {step}"))
    }

    /// A clause follows: if all its literals are false, each of the steps in turn has one literal left, which is true
    /// then, and the last one has none.
    pub(super) fn derive(&mut self, clause: Vec<Literal>, hints: &[u32]) -> Result<(), String> {
        let mut holds: HashSet<Literal> = clause.iter().map(|&literal| !literal).collect();
        let (&last, units) = hints.split_last().ok_or("no steps are named that it follows from")?;
        for &hint in units {
            let mut left = self.left(hint, &holds)?;
            match (left.next(), left.next()) {
                (Some(unit), None) if !holds.contains(&unit) => {
                    drop(left);
                    holds.insert(unit);
                }
                _ => return Err(format!("step {hint} gives no new literal")),
            }
        }
        if self.left(last, &holds)?.next().is_some() {
            return Err(format!("step {last} is no contradiction"));
        }
        self.add(clause)
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
