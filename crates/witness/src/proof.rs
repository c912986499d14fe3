//! Checks certificates: proofs that *no* schedule makes two accesses adjacent, or gets threads stuck.
//!
//! A certificate is a list of steps, each of them a clause over statements about one unknown schedule:
//! * an axiom, which holds in every schedule of the model that ends right before the two accesses (or the waits of the
//!   deadlock); the certificate names the axiom and its events, and the checker makes the clause itself, after it has
//!   seen that the trace allows it;
//! * a cycle: not each of these events comes before the next, and the last before the first;
//! * what follows from earlier steps by unit propagation (LRAT).
//!
//! If the last step is the empty clause, there is no such schedule. `docs/proof-format.md` has every axiom with its
//! condition, and both forms. This is all there is to trust: nothing here is shared with what finds certificates.
//!
//! * `literal`: the statements
//! * `facts`: what the axioms look up in the trace
//! * `order`, `goal`, `reads`, `locks`, `memory`, `semaphores`, `conditions`, `barriers`: the axioms, by family
//! * `core`: cycles and unit propagation
//! * `step`: what a step is made of; `text`, `binary`: how it is written down
//! * `stream`: certificates from a file, step by step
//! * `lrat`: the same for checkers that know no traces
//! * `coverage`, `whole`: whether all pairs of a trace are accounted for

mod barriers;
mod binary;
mod conditions;
mod core;
mod coverage;
mod facts;
mod goal;
mod literal;
mod locks;
mod lrat;
mod memory;
mod order;
mod reads;
mod semaphores;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod whole;

use std::fmt;
use std::io;

use foretell_trace::{EventId, Model};

pub use facts::TraceFacts;
pub use lrat::Lrat;
pub use stream::Certificates;
pub use whole::{Examination, Extent, NothingElse, Unproven, races_text};

/// What a certificate proves: no schedule of the model reaches this. Only the checker makes these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    model: Model,
    goal: RefutedGoal,
}

/// What no schedule reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefutedGoal {
    /// These two accesses, the first of the trace first, are next to each other.
    Race(EventId, EventId),
    /// Each of these events is the next one of its thread.
    Deadlock {
        /// What the threads wait for.
        waits: Vec<EventId>,
        /// The end of a thread, which has run.
        ended: Option<EventId>,
    },
}

impl Refuted {
    /// How far schedules may deviate from what was observed.
    pub fn model(&self) -> Model {
        self.model
    }

    /// What is not reached.
    pub fn goal(&self) -> &RefutedGoal {
        &self.goal
    }

    /// The two accesses, the first of the trace first, if it is about a race.
    pub fn pair(&self) -> Option<(EventId, EventId)> {
        match self.goal {
            RefutedGoal::Race(first, second) => Some((first, second)),
            RefutedGoal::Deadlock { .. } => None,
        }
    }
}

/// Why a certificate is not believed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The line at fault, or the record of the binary form, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Refusal {}

/// Why certificates were not checked to the end.
#[derive(Debug)]
pub enum Unchecked {
    /// One is not believed.
    Refused(Refusal),
    /// They could not be read.
    Unreadable(io::Error),
    /// The caller wanted no more.
    Stopped,
}

/// Checks one certificate against the trace.
pub fn check(facts: &TraceFacts<'_>, certificate: impl AsRef<[u8]>) -> Result<Refuted, Refusal> {
    checked(facts, certificate.as_ref(), None)
}

/// Checks one certificate against the trace, and gives what follows without the trace: clauses, and a proof that they
/// contradict each other.
pub fn lrat(facts: &TraceFacts<'_>, certificate: impl AsRef<[u8]>) -> Result<Lrat, Refusal> {
    let mut lrat = Lrat::default();
    checked(facts, certificate.as_ref(), Some(&mut lrat))?;
    Ok(lrat)
}

fn checked(facts: &TraceFacts<'_>, certificate: &[u8], lrat: Option<&mut Lrat>) -> Result<Refuted, Refusal> {
    let never = || false;
    let mut certificates = Certificates::new(facts, certificate, &never);
    let only = certificates.next_into(lrat).and_then(|first| match first {
        None => Err(certificates.refuse("there is no certificate")),
        Some(first) => match certificates.next_refuted()? {
            None => Ok(first),
            Some(_) => Err(certificates.refuse("there is more than one certificate")),
        },
    });
    only.map_err(|unchecked| match unchecked {
        Unchecked::Refused(refusal) => refusal,
        // It is in memory, and nothing stops it.
        Unchecked::Unreadable(_) | Unchecked::Stopped => {
            Refusal { line: 0, reason: "it is not readable".to_string() }
        }
    })
}
