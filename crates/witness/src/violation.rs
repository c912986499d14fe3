//! The referee's judgement on violations: what a thread must never come to do, told by the event that it comes to.
//!
//! A use after a free is believed if, after the schedule, the use is the next event of its thread, the thread comes
//! to it under the rules of the model, as it comes to an access that races, and the memory is freed.

use foretell_trace::{EventId, Model, Op};

use crate::referee::{Reason, Referee, Rejection};

/// What must not be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Violation {
    /// Memory is accessed that has been given back.
    UseAfterFree {
        /// The access.
        used: EventId,
        /// What gave the memory back.
        freed: EventId,
    },
}

/// A finder claims that a schedule leads to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViolationClaim {
    /// To which.
    pub violation: Violation,
    /// How far the schedule may deviate from what was observed.
    pub model: Model,
    /// The events in their new order, followed by the one that the thread then comes to and that does not run.
    pub schedule: Vec<EventId>,
}

/// A violation that the referee has checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProvenViolation {
    claim: ViolationClaim,
}

impl ProvenViolation {
    /// What it is.
    pub fn violation(&self) -> Violation {
        self.claim.violation
    }

    /// How far the schedule may deviate from what was observed.
    pub fn model(&self) -> Model {
        self.claim.model
    }

    /// The schedule, followed by the event that the thread comes to.
    pub fn schedule(&self) -> &[EventId] {
        &self.claim.schedule
    }

    /// The same without the steps of its schedule, which may not fit into memory together with many others.
    #[must_use]
    pub fn without_schedule(mut self) -> ProvenViolation {
        self.claim.schedule = Vec::new();
        self
    }
}

impl Referee<'_> {
    /// Makes a proven violation of the claim if its schedule leads there.
    pub fn check_violation(&mut self, claim: ViolationClaim) -> Result<ProvenViolation, Rejection> {
        let Violation::UseAfterFree { used, freed } = claim.violation;
        let (&last, prefix) =
            claim.schedule.split_last().ok_or_else(|| Rejection::of_claim(used, Reason::WrongEnding))?;
        if last != used {
            return Err(Rejection::of_claim(used, Reason::WrongEnding));
        }
        self.replayed(claim.model, prefix, |referee| {
            referee.check_use_after_free(prefix.len() + 1, used, freed)
        })?;
        Ok(ProvenViolation { claim })
    }

    /// Whether, in the present state, the thread comes to use what has been freed.
    fn check_use_after_free(&self, step: usize, used: EventId, freed: EventId) -> Result<(), Rejection> {
        let (access, free) = (self.existing(used)?, self.existing(freed)?);
        let is_of_memory = match (access.op, free.op) {
            (Op::Free(_), _) => false,
            (op, Op::Free(var)) => op.access().is_some_and(|access| access.var == var),
            _ => false,
        };
        if !is_of_memory || access.thread == free.thread {
            return Err(Rejection::of_claim(freed, Reason::NotFreed));
        }
        let thread = self.thread_whose_turn_it_is(step, used)?;
        let comes = self.machine.could_use_freed(thread);
        let is_freed = comes.map_err(|blocked| self.rejection(step, used, Reason::Blocked(blocked)))?;
        if is_freed && self.machine.has_run(freed) {
            Ok(())
        } else {
            Err(Rejection::of_claim(freed, Reason::NotFreed))
        }
    }
}
