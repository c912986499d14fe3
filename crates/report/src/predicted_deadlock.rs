//! Deadlocks that are predicted: a schedule leads to them, though the recorded run got through.

use std::collections::HashMap;

use foretell_trace::{EventId, LockMode, Model, Names, Op, Trace};
use foretell_witness::Deadlock;
use serde::{Deserialize, Serialize};

use crate::confirmation::Confirmation;
use crate::confirmation_text;
use crate::context::{HeldLock, own_frame, stack};
use crate::deadlock::WaitingThread;
use crate::hunt_text;
use crate::page::{Ink, Page, Text};
use crate::surroundings::Surroundings;
use crate::text::count;

/// What threads wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeadlockKind {
    /// Locks, and threads to be joined.
    #[default]
    Locks,
}

/// A deadlock that the referee has accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PredictedDeadlock {
    /// What the threads wait for.
    #[serde(default)]
    pub kind: DeadlockKind,
    /// Who waits, each for the next, and the last one for the first.
    pub waiting: Vec<WaitingThread>,
    /// The thread that holds up the last one instead, if it has ended and taken its locks with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedThread>,
    /// How far the witness may deviate from the recorded run.
    #[serde(default, with = "crate::model_name", skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The events of the prefix in their new order, and then those that wait. Absent where the witnesses of all that
    /// was found together would be too long to print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<u32>>,
    /// How many events the witness has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_length: Option<usize>,
    /// The witness as a schedule that the program itself can follow, see docs/schedule.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Whether the program itself was driven into it, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// What it is known by from run to run; see [`crate::fingerprint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// A thread that has ended and still holds a lock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EndedThread {
    /// Which one.
    pub thread: String,
    /// The number of its last event.
    pub event: u32,
    /// The locks that it holds.
    pub locks: Vec<HeldLock>,
}

impl PredictedDeadlock {
    /// The deadlock of the trace, without what is around its events.
    pub fn new(finding: &Deadlock, trace: &Trace) -> PredictedDeadlock {
        let thread = |id: EventId| trace.names().threads.name(trace.event(id).thread).to_string();
        let next = finding.waits().iter().skip(1).copied();
        let holders = next.chain(finding.ended().or(finding.waits().first().copied()));
        let waiting = finding.waits().iter().zip(holders).map(|(&wait, holder)| {
            let event = trace.event(wait);
            WaitingThread {
                event: Some(wait.number()),
                thread: thread(wait),
                waits_for: wanted(event.op, trace.names()),
                held_by: Some(thread(holder)),
                location: trace.names().loc_text(event.loc).into_owned(),
                stack: Vec::new(),
                locks: Vec::new(),
            }
        });
        let ended =
            |end: EventId| EndedThread { thread: thread(end), event: end.number(), locks: Vec::new() };
        let witness: Vec<u32> = finding.schedule().iter().map(|id| id.number()).collect();
        PredictedDeadlock {
            kind: DeadlockKind::Locks,
            waiting: waiting.collect(),
            ended: finding.ended().map(ended),
            model: Some(finding.model()),
            witness_length: Some(witness.len()),
            witness: Some(witness),
            schedule: None,
            confirmation: None,
            fingerprint: None,
        }
    }

    /// The numbers of the events whose surroundings are told.
    pub fn events(&self) -> impl Iterator<Item = u32> {
        let waits = self.waiting.iter().filter_map(|waiting| waiting.event);
        waits.chain(self.ended.as_ref().map(|ended| ended.event))
    }

    /// Adds stacks and held locks.
    pub fn add_surroundings(&mut self, around: &HashMap<EventId, Surroundings>, names: &Names) {
        let look = |event: u32| around.get(&EventId::from_number(event)?);
        let locks =
            |around: &Surroundings| around.locks.iter().map(|held| HeldLock::new(held, names)).collect();
        for waiting in &mut self.waiting {
            if let Some(around) = waiting.event.and_then(look) {
                waiting.stack = stack(&waiting.location, &around.calls, names);
                waiting.locks = locks(around);
                if let Some(frame) = own_frame(&waiting.stack) {
                    waiting.location.clone_from(&frame.location);
                }
            }
        }
        if let Some(ended) = &mut self.ended
            && let Some(around) = look(ended.event)
        {
            ended.locks = locks(around);
        }
    }

    /// What it is, in a few words.
    pub(crate) fn title(&self) -> String {
        match (&self.ended, self.waiting.len()) {
            (Some(ended), _) => {
                format!("a thread waits for a lock that {} has taken to its end", ended.thread)
            }
            (None, threads) => format!("{threads} threads wait for each other"),
        }
    }

    /// Who waits for whom, in a line.
    pub(crate) fn words(&self) -> String {
        let each = self
            .waiting
            .iter()
            .map(|waiting| format!("{} {} at {}", waiting.thread, waiting.words(), waiting.location));
        format!("{}: {}", self.title(), each.collect::<Vec<_>>().join("; "))
    }

    /// What makes it the same deadlock as in another run.
    pub(crate) fn lasting(&self) -> Vec<String> {
        let mut parts: Vec<String> = self
            .waiting
            .iter()
            .map(|waiting| {
                let function = waiting.stack.first().map_or("", |frame| frame.function.as_str());
                let place = if function.is_empty() { waiting.location.as_str() } else { function };
                format!("{place} {}", crate::fingerprint::without_numbers(&waiting.waits_for))
            })
            .collect();
        parts.sort();
        parts
    }
}

/// What an operation waits for, in words.
fn wanted(op: Op, names: &Names) -> String {
    let lock = match op {
        Op::Join(child) => return format!("the end of {}", names.threads.name(child)),
        Op::AcquireShared(lock) => Some((lock, LockMode::Shared)),
        op => op.section_begin(),
    };
    match lock {
        Some((lock, LockMode::Exclusive)) => format!("lock {}", names.locks.name(lock)),
        Some((lock, LockMode::Shared)) => format!("lock {}, to share it", names.locks.name(lock)),
        None => "something".to_string(),
    }
}

/// Writes the deadlock with its number.
pub(crate) fn write(page: &mut Page, number: usize, deadlock: &PredictedDeadlock) {
    page.blank();
    let title = Text::new()
        .ink(Ink::Race, format!("deadlock {number}"))
        .add(" · ")
        .ink(Ink::Sure, "proven")
        .add(format!(" · {}", deadlock.title()));
    page.wrapped(0, 2, title);
    for waiting in &deadlock.waiting {
        hunt_text::write_waiting(page, waiting);
    }
    if let Some(ended) = &deadlock.ended {
        page.wrapped(2, 4, Text::new().ink(Ink::Heading, ended.thread.as_str()).add(" has ended"));
        hunt_text::write_held(page, &ended.locks);
    }
    if let Some(length) = deadlock.witness_length {
        let steps = count(length.saturating_sub(deadlock.waiting.len()), "step");
        page.wrapped(2, 4, format!("a schedule of {steps} leads there (--format json has it)"));
    }
    if let Some(confirmation) = &deadlock.confirmation {
        page.wrapped(2, 4, confirmation_text::words(confirmation));
    }
}
