//! The referee: replays a claimed schedule step by step and believes nothing else.
//!
//! A [`Finding`] can be made only here and in [`crate::unordered`], after its proof was checked; code that holds one
//! need not ask.

use std::fmt;
use std::sync::Arc;

use foretell_trace::format::text::op_text;
use foretell_trace::values::{Values, number_text};
use foretell_trace::{Event, EventId, Model, ThreadId, Trace};

use crate::blocked::Blocked;
use crate::checkpoints::Checkpoints;
use crate::computed::{Known, RecomputedContent};
use crate::machine::Machine;
use crate::observed::Observed;
use crate::unordered::UnorderedReferee;

/// A finder claims that these two accesses race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The access that comes first in the trace.
    pub first: EventId,
    /// The access that comes second in the trace.
    pub second: EventId,
    /// Why.
    pub proof: Proof,
}

/// Why two accesses race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// A schedule in which they are next to each other.
    Adjacent {
        /// How far the schedule may deviate from what was observed.
        model: Model,
        /// The events in their new order. The last two are the racing ones, the first of the trace first.
        schedule: Vec<EventId>,
    },
    /// In the observed run itself the language's own happens-before does not order them.
    Unordered,
}

/// A race that the referee has checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    claim: Claim,
}

impl Finding {
    /// To be called with a claim whose proof holds.
    pub(crate) fn checked(claim: Claim) -> Finding {
        Finding { claim }
    }

    /// The access that comes first in the trace.
    pub fn first(&self) -> EventId {
        self.claim.first
    }

    /// The access that comes second in the trace.
    pub fn second(&self) -> EventId {
        self.claim.second
    }

    /// Why the two race.
    pub fn proof(&self) -> &Proof {
        &self.claim.proof
    }

    /// The same without the steps of its schedule: the schedules of many races of a long trace would not fit into
    /// memory. It can no longer be replayed, but it was.
    #[must_use]
    pub fn without_schedule(mut self) -> Finding {
        if let Proof::Adjacent { schedule, .. } = &mut self.claim.proof {
            *schedule = Vec::new();
        }
        self
    }
}

/// Why a claim is not believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The trace has no such event.
    NoSuchEvent,
    /// The first event of the claim does not come before the second one in the trace.
    NotInTraceOrder,
    /// Both events are of one thread.
    SameThread,
    /// The two do not access one variable such that at least one writes and not both are atomic.
    NoConflict,
    /// The schedule does not end with the two events of the claim.
    WrongEnding,
    /// The event is not the next one of its thread; that would be this one, if there is any.
    NotNext(Option<EventId>),
    /// The event cannot run.
    Blocked(Blocked),
    /// The language's happens-before orders the two in the observed run.
    Ordered,
    /// The referee was not shown all events up to this one.
    EventsMissing,
    /// A deadlock of no thread.
    NobodyWaits,
    /// In the end the thread is not held up by the one that is said to hold it up.
    NotHeldUp,
    /// In the end the thread has not ended that is said to have ended.
    NotEnded,
    /// The event does not give back the memory that is used, or has not run in the end.
    NotFreed,
}

/// A claim that is not believed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// Which step of the schedule, counted from 1, if a step is at fault.
    step: Option<usize>,
    event: EventId,
    reason: Reason,
    /// The whole in words.
    text: String,
}

impl Rejection {
    /// A rejection that is about the claim as a whole; `event` is one of its two.
    pub(crate) fn of_claim(event: EventId, reason: Reason) -> Rejection {
        let text = match reason {
            Reason::NoSuchEvent => format!("event {event} does not exist"),
            Reason::NotInTraceOrder => format!("event {event} must come after the first of the two"),
            Reason::SameThread => format!("event {event} is of the same thread as the first of the two"),
            Reason::NoConflict => format!("event {event} does not conflict with the first of the two"),
            Reason::WrongEnding => format!("the schedule does not end with the two events and {event} last"),
            Reason::Ordered => format!("happens-before orders event {event} after the first of the two"),
            Reason::EventsMissing => format!("not all events before event {event} were shown"),
            Reason::NobodyWaits => "no thread waits".to_string(),
            Reason::NotHeldUp => {
                format!("event {event} does not wait for the thread that is said to hold it up")
            }
            Reason::NotFreed => format!("event {event} has not given back what is used"),
            Reason::NotEnded => format!("event {event} is not the end of a thread that has run to its end"),
            Reason::NotNext(_) | Reason::Blocked(_) => format!("event {event} cannot run"),
        };
        Rejection { step: None, event, reason, text }
    }

    /// Which step of the schedule is at fault, counted from 1; `None` if the claim as a whole is.
    pub fn step(&self) -> Option<usize> {
        self.step
    }

    /// The event at fault.
    pub fn event(&self) -> EventId {
        self.event
    }

    /// What is wrong.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Rejection {}

/// A step of a schedule that reads or writes something else than it did in the trace. `?` stands for an unknown value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewValues {
    /// The step.
    pub event: EventId,
    /// What it reads, if that is new.
    pub read: Option<String>,
    /// What it writes, if that is new.
    pub written: Option<String>,
}

/// Checks claims about one trace.
///
/// The set-up goes through the trace once; afterwards a claim costs as much as its schedule is long after it has left
/// the recorded run (but for [`Proof::Unordered`], which looks at the whole trace: use [`UnorderedReferee`] for many of
/// these). A clone shares the set-up.
#[derive(Clone, Debug)]
pub struct Referee<'t> {
    trace: &'t Trace,
    /// Always rewound between two claims.
    pub(crate) machine: Machine<'t>,
    pub(crate) checkpoints: Checkpoints<'t>,
}

impl<'t> Referee<'t> {
    /// A referee for this trace.
    pub fn new(trace: &'t Trace) -> Referee<'t> {
        let machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameWrite);
        let checkpoints = Checkpoints::new(&machine);
        Referee { trace, machine, checkpoints }
    }

    /// Makes a finding of the claim if its proof holds.
    pub fn check(&mut self, claim: Claim) -> Result<Finding, Rejection> {
        match &claim.proof {
            Proof::Adjacent { model, schedule } => {
                self.check_pair(claim.first, claim.second)?;
                self.check_schedule(*model, schedule, claim.first, claim.second)?;
                Ok(Finding::checked(claim))
            }
            Proof::Unordered => self.check_unordered(claim.first, claim.second),
        }
    }

    /// What the steps of a schedule that holds read and write, as far as that is something else than in the trace, and
    /// computed from symbolic values. The two that race take place one after the other.
    pub fn new_values(&mut self, proof: &Proof) -> Vec<NewValues> {
        let Proof::Adjacent { model, schedule } = proof else { return Vec::new() };
        self.machine.rewind(&[], *model);
        let (mut ran, mut new) = (Vec::new(), Vec::new());
        for &id in schedule {
            let Some(event) = self.trace.events().get(id.index()) else { break };
            if self.machine.next(event.thread) != Some(id) {
                break;
            }
            let read = self.machine.sees(id).and_then(|content| self.new_text(content));
            let has_run = self.machine.step(event.thread).is_ok();
            ran.extend(has_run.then_some(id));
            let var =
                event.op.access().filter(|access| access.kind.writes() && has_run).map(|access| access.var);
            let written = var.and_then(|var| self.new_text(self.machine.held(var)));
            if read.is_some() || written.is_some() {
                new.push(NewValues { event: id, read, written });
            }
        }
        self.machine.rewind(&ran, *model);
        new
    }

    /// What is not as observed, for people.
    fn new_text(&self, content: RecomputedContent) -> Option<String> {
        if content.as_observed {
            return None;
        }
        Some(match content.value {
            None => "?".to_string(),
            Some(Known::Name(value)) => self.trace.names().value_text(value).into_owned(),
            Some(Known::Number(number)) => {
                number_text(number, self.trace.values().is_some_and(Values::is_signed))
            }
        })
    }

    fn check_pair(&self, first: EventId, second: EventId) -> Result<(), Rejection> {
        let (a, b) = (self.existing(first)?, self.existing(second)?);
        let reject = |reason| Err(Rejection::of_claim(second, reason));
        if first >= second {
            reject(Reason::NotInTraceOrder)
        } else if a.thread == b.thread {
            reject(Reason::SameThread)
        } else if !conflict(a, b) {
            reject(Reason::NoConflict)
        } else {
            Ok(())
        }
    }

    pub(crate) fn existing(&self, id: EventId) -> Result<&'t Event, Rejection> {
        self.trace.events().get(id.index()).ok_or_else(|| Rejection::of_claim(id, Reason::NoSuchEvent))
    }

    fn check_schedule(
        &mut self,
        model: Model,
        schedule: &[EventId],
        first: EventId,
        second: EventId,
    ) -> Result<(), Rejection> {
        let Some((prefix, &[a, b])) = schedule.split_last_chunk() else {
            return Err(Rejection::of_claim(second, Reason::WrongEnding));
        };
        if (a, b) != (first, second) {
            return Err(Rejection::of_claim(second, Reason::WrongEnding));
        }
        self.replayed(model, prefix, |referee| {
            referee.racing(prefix.len() + 1, first)?;
            referee.racing(prefix.len() + 2, second)
        })
    }

    /// Replays a schedule and judges the state after it.
    pub(crate) fn replayed(
        &mut self,
        model: Model,
        prefix: &[EventId],
        judge: impl FnOnce(&Referee<'t>) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        self.machine.rewind(&[], Model::SameWrite);
        let checkpoint = self.checkpoints.before_leaving(prefix, model, &self.machine);
        let rewound = checkpoint.map(|machine| std::mem::replace(&mut self.machine, machine));
        if rewound.is_none() {
            self.machine.rewind(&[], model);
        }
        let verdict = self.run(prefix).and_then(|()| judge(self));
        match rewound {
            Some(machine) => self.machine = machine,
            None => self.machine.rewind(&prefix[..self.machine.ran()], model),
        }
        verdict
    }

    /// Runs what has not run of the schedule.
    fn run(&mut self, prefix: &[EventId]) -> Result<(), Rejection> {
        for (step, &id) in prefix.iter().enumerate().skip(self.machine.ran()) {
            let thread = self.thread_whose_turn_it_is(step + 1, id)?;
            if let Err(blocked) = self.machine.step(thread) {
                return Err(self.rejection(step + 1, id, Reason::Blocked(blocked)));
            }
        }
        Ok(())
    }

    fn racing(&self, step: usize, id: EventId) -> Result<(), Rejection> {
        let thread = self.thread_whose_turn_it_is(step, id)?;
        self.machine.could_race(thread).map_err(|blocked| self.rejection(step, id, Reason::Blocked(blocked)))
    }

    pub(crate) fn thread_whose_turn_it_is(&self, step: usize, id: EventId) -> Result<ThreadId, Rejection> {
        let Some(event) = self.trace.events().get(id.index()) else {
            return Err(self.rejection(step, id, Reason::NoSuchEvent));
        };
        let next = self.machine.next(event.thread);
        if next == Some(id) { Ok(event.thread) } else { Err(self.rejection(step, id, Reason::NotNext(next))) }
    }

    fn check_unordered(&self, first: EventId, second: EventId) -> Result<Finding, Rejection> {
        let mut referee = UnorderedReferee::new(vec![(first, second)]);
        referee.batch(EventId::FIRST, self.trace.events());
        referee.verdicts().pop().unwrap_or_else(|| Err(Rejection::of_claim(second, Reason::NoSuchEvent)))
    }

    #[cold]
    pub(crate) fn rejection(&self, step: usize, event: EventId, reason: Reason) -> Rejection {
        let text = match reason {
            Reason::NoSuchEvent => format!("step {step}: event {event} does not exist"),
            Reason::NotNext(None) => format!("{}: its thread is at its end", self.place(step, event)),
            Reason::NotNext(Some(next)) => {
                format!("{} is not the next of its thread: that is event {next}", self.place(step, event))
            }
            Reason::Blocked(blocked) => {
                format!("{} cannot run: {}", self.place(step, event), blocked.text(self.trace.names()))
            }
            _ => Rejection::of_claim(event, reason).text,
        };
        Rejection { step: Some(step), event, reason, text }
    }

    /// A step of a schedule in words. The event must exist.
    fn place(&self, step: usize, id: EventId) -> String {
        let (event, names) = (self.trace.event(id), self.trace.names());
        let thread = names.threads.name(event.thread);
        format!("step {step} (event {id}, {thread}: {})", op_text(event.op, names))
    }
}

/// Whether the two would race if nothing ordered them.
pub(crate) fn conflict(a: &Event, b: &Event) -> bool {
    match (a.op.access(), b.op.access()) {
        (Some(a), Some(b)) => a.conflicts_with(b),
        _ => false,
    }
}
