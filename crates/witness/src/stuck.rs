//! The referee's judgement on deadlocks: threads none of which can ever continue.
//!
//! After the schedule each of some threads attempts its next event, an acquire, a return from a wait that takes the
//! lock again, or a join; and each is kept from it by one of them (it holds the lock, or has not ended), or by a thread
//! that has ended and still holds the lock. None of these lets go before it continues, so none ever continues, whatever
//! other threads do.

use foretell_trace::{EventId, Model, Op, ThreadId};

use crate::referee::{Reason, Referee, Rejection};

/// A finder claims that a schedule gets these threads stuck.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckClaim {
    /// What each of them waits for, in the order of the circle: each is held up by the thread of the next, and the last
    /// one by that of the first.
    pub waits: Vec<EventId>,
    /// The end of the thread that holds up the last one instead, if it has ended with the lock.
    pub ended: Option<EventId>,
    /// How far the schedule may deviate from what was observed.
    pub model: Model,
    /// The events in their new order, followed by those that wait, which do not run.
    pub schedule: Vec<EventId>,
}

/// A deadlock that the referee has checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    claim: StuckClaim,
}

impl Deadlock {
    /// What each of the threads waits for, in the order of the circle.
    pub fn waits(&self) -> &[EventId] {
        &self.claim.waits
    }

    /// The end of the thread that took the last one's lock with it, if there is one.
    pub fn ended(&self) -> Option<EventId> {
        self.claim.ended
    }

    /// How far the schedule may deviate from what was observed.
    pub fn model(&self) -> Model {
        self.claim.model
    }

    /// The schedule, followed by the events that wait.
    pub fn schedule(&self) -> &[EventId] {
        &self.claim.schedule
    }

    /// The same without the steps of its schedule, which may not fit into memory together with many others.
    #[must_use]
    pub fn without_schedule(mut self) -> Deadlock {
        self.claim.schedule = Vec::new();
        self
    }
}

impl Referee<'_> {
    /// Makes a deadlock of the claim if its schedule gets the threads stuck.
    pub fn check_stuck(&mut self, claim: StuckClaim) -> Result<Deadlock, Rejection> {
        let Some(&last) = claim.waits.last() else {
            return Err(Rejection::of_claim(EventId::FIRST, Reason::NobodyWaits));
        };
        for (place, &wait) in claim.waits.iter().enumerate() {
            let thread = self.existing(wait)?.thread;
            let earlier = claim.waits.get(..place).unwrap_or_default();
            if earlier.iter().any(|&other| self.existing(other).is_ok_and(|event| event.thread == thread)) {
                return Err(Rejection::of_claim(wait, Reason::SameThread));
            }
        }
        let prefix = claim.schedule.len().saturating_sub(claim.waits.len());
        let (prefix, ending) = claim.schedule.split_at(prefix);
        if ending != claim.waits {
            return Err(Rejection::of_claim(last, Reason::WrongEnding));
        }
        self.replayed(claim.model, prefix, |referee| referee.check_circle(&claim, prefix.len()))?;
        Ok(Deadlock { claim })
    }

    /// Whether, in the present state, each of the threads is held up by the next.
    fn check_circle(&self, claim: &StuckClaim, ran: usize) -> Result<(), Rejection> {
        let threads: Vec<ThreadId> = claim
            .waits
            .iter()
            .enumerate()
            .map(|(place, &wait)| self.attempting(ran + place + 1, wait))
            .collect::<Result<_, _>>()?;
        let after_last = match claim.ended {
            Some(end) => Some(self.ended_by(end)?),
            None => threads.first().copied(),
        };
        let next = threads.iter().skip(1).copied().map(Some).chain([after_last]);
        for ((&thread, &wait), next) in threads.iter().zip(&claim.waits).zip(next) {
            let held_up_by = self.machine.held_up_by(thread);
            if !next.is_some_and(|next| held_up_by.contains(&next)) {
                return Err(Rejection::of_claim(wait, Reason::NotHeldUp));
            }
        }
        Ok(())
    }

    /// The thread of an event that is attempted now.
    fn attempting(&self, step: usize, wait: EventId) -> Result<ThreadId, Rejection> {
        let thread = self.thread_whose_turn_it_is(step, wait)?;
        let attempt = self.machine.could_wait(thread);
        attempt.map_err(|blocked| self.rejection(step, wait, Reason::Blocked(blocked)))?;
        Ok(thread)
    }

    /// The thread that has ended with this event.
    fn ended_by(&self, end: EventId) -> Result<ThreadId, Rejection> {
        let event = self.existing(end)?;
        let has_ended = event.op == Op::End && self.machine.has_run(end);
        if has_ended { Ok(event.thread) } else { Err(Rejection::of_claim(end, Reason::NotEnded)) }
    }
}
