//! Checks certificates: proofs that *no* schedule makes two accesses adjacent.
//!
//! A certificate is a list of steps, each of them a clause over statements about one unknown schedule:
//! * an axiom, which holds in every schedule of the model that ends right before the two accesses; the certificate
//!   names
//!   the axiom and its events, and the checker makes the clause itself, after it has seen that the trace allows it;
//! * a cycle: not each of these events comes before the next, and the last before the first;
//! * what follows from earlier steps by unit propagation (LRAT).
//!
//! If the last step is the empty clause, there is no such schedule. `docs/proof-format.md` has every axiom with its
//! condition, and the text form. This is all there is to trust: nothing here is shared with what finds certificates.
//!
//! * `literal`: the statements
//! * `facts`: what the axioms look up in the trace
//! * `order`, `goal`, `reads`, `locks`, `memory`, `semaphores`, `conditions`, `barriers`: the axioms, by family
//! * `core`: cycles and unit propagation
//! * `text`: the lines of a certificate
//! * `coverage`, `whole`: whether all pairs of a trace are accounted for

mod barriers;
mod conditions;
mod core;
mod coverage;
mod facts;
mod goal;
mod literal;
mod locks;
mod memory;
mod order;
mod reads;
mod semaphores;
mod text;
mod whole;

use std::fmt;

use foretell_trace::{EventId, Model};

pub use facts::TraceFacts;
pub use whole::{Examination, Extent, NothingElse, races_text};

/// What a certificate proves: no schedule of the model makes the two accesses adjacent. Only the checker makes these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refuted {
    model: Model,
    first: EventId,
    second: EventId,
}

impl Refuted {
    /// How far schedules may deviate from what was observed.
    pub fn model(self) -> Model {
        self.model
    }

    /// The access that comes first in the trace.
    pub fn first(self) -> EventId {
        self.first
    }

    /// The access that comes second in the trace.
    pub fn second(self) -> EventId {
        self.second
    }
}

/// Why a certificate is not believed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The line at fault, counted from 1.
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

/// The first line of each certificate.
pub const FIRST_LINE: &str = text::FIRST;

/// Checks the text of a certificate against the trace.
pub fn check(facts: &TraceFacts<'_>, text: &str) -> Result<Refuted, Refusal> {
    let mut lines = text::Lines::new(text);
    let refuse = |line: usize, reason: String| Refusal { line, reason };
    let question = lines.header(facts).map_err(|reason| refuse(lines.number(), reason))?;
    let mut core = core::Core::default();
    while let Some(line) = lines.next_line() {
        text::step(line, facts, &question, &mut core).map_err(|reason| refuse(lines.number(), reason))?;
    }
    if core.is_refuted() {
        let goal::Question { model, first, second } = question;
        let id = |event: u32| EventId::from_index(event as usize);
        if let (Some(first), Some(second)) = (id(first), id(second)) {
            return Ok(Refuted { model, first, second });
        }
    }
    Err(refuse(lines.number(), "it ends without a contradiction".to_string()))
}
