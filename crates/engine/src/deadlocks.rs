//! Deadlocks: circles of threads that may wait for each other, decided one by one, each proof through the referee.

use std::time::Instant;

use foretell_predict::{Deadlocks, Limit, Waits};
use foretell_report::PredictedDeadlock;
use foretell_trace::source::BATCH;
use foretell_trace::{EventId, Trace};
use foretell_witness::Deadlock;

use crate::analysis::{Note, Reason, Room};
use crate::control::Control;
use crate::error::Error;
use crate::exact::Workers;
use crate::goals::{self, Group};
use crate::input::Input;
use crate::plan::Plan;

/// A deadlock that the referee has accepted.
#[derive(Clone, Debug)]
pub struct FoundDeadlock {
    /// The referee's word. Its schedule is empty if the schedules of all that was found are too long to be kept.
    pub finding: Deadlock,
    /// How many events the schedule has.
    pub witness_length: usize,
    /// Who waits for what, as people know it.
    pub told: PredictedDeadlock,
}

/// What became of the candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GoalCounts {
    /// Candidates that no schedule leads to.
    pub refuted: u64,
    /// Candidates that are not decided; those of the same places count as one.
    pub undecided: u64,
}

/// What was found.
#[derive(Default)]
pub(crate) struct JudgedDeadlocks {
    pub(crate) deadlocks: Vec<FoundDeadlock>,
    pub(crate) counts: GoalCounts,
    pub(crate) notes: Vec<Note>,
}

/// Looks for deadlocks; none is begun after a time. The trace is read into memory only if something in it may be one.
pub(crate) fn find(
    input: &Input<'_>,
    plan: &Plan,
    until: Option<Instant>,
    control: &dyn Control,
    workers: &mut Workers,
    room: &mut Room,
) -> Result<JudgedDeadlocks, Error> {
    let mut judged = JudgedDeadlocks::default();
    let waits = collect(input, control)?;
    let Deadlocks { circles, are_more } = waits.deadlocks(plan.pairs, || control.is_stopped());
    if are_more && plan.find.patiently {
        judged.notes.push(Note::TooManyCircles);
    }
    judged.counts.undecided += u64::from(are_more && !plan.find.patiently);
    if circles.is_empty() || control.is_stopped() {
        judged.leave(circles.len(), Reason::Limit(Limit::Stopped));
        return Ok(judged);
    }
    let trace = match input.load_within("deadlocks: reads", plan.memory, control)? {
        Ok(trace) => trace,
        Err(room) => {
            judged.counts.undecided = circles.len() as u64;
            judged.notes.push(Note::NoRoomForDeadlocks(room));
            return Ok(judged);
        }
    };
    let steps = room.left;
    let groups: Vec<Group<'_, _>> =
        circles.iter().map(|circles| Group { all: &circles.circles, left_out: circles.left_out }).collect();
    let found = |finding| FoundDeadlock::new(finding, trace, steps);
    let what = (control, "decides deadlocks");
    let worked = goals::decide(trace, &groups, (plan, until), what, workers, found)?;
    for worked in worked {
        judged.counts.refuted += worked.refuted;
        if let Some(found) = worked.proven {
            judged.deadlocks.push(room.limit_deadlock(found));
        } else if let Some(reason) = worked.open {
            match (plan.find.patiently, &reason) {
                // More time was not asked for.
                (false, Reason::Limit(Limit::Budget | Limit::Solver) | Reason::NotTried) => {
                    judged.counts.undecided += 1;
                }
                _ => judged.leave(1, reason),
            }
        }
    }
    Ok(judged)
}

/// The waits of the trace, which need not be in memory.
fn collect(input: &Input<'_>, control: &dyn Control) -> Result<Waits, Error> {
    let mut waits = Waits::default();
    if let Some(trace) = input.trace() {
        for (number, events) in trace.events().chunks(BATCH).enumerate() {
            if control.is_stopped() {
                break;
            }
            if let Some(first) = EventId::from_index(number * BATCH) {
                waits.batch(first, events);
            }
        }
        return Ok(waits);
    }
    let mut reading = input.open("looks for deadlocks")?;
    while let Some((first, events)) = reading.next()? {
        waits.batch(first, events);
        if control.is_stopped() {
            break;
        }
    }
    Ok(waits)
}

impl FoundDeadlock {
    fn new(finding: Deadlock, trace: &Trace, steps: usize) -> FoundDeadlock {
        let witness_length = finding.schedule().len();
        let told = PredictedDeadlock::new(&finding, trace);
        FoundDeadlock { finding, witness_length, told }.within(steps)
    }

    /// The same if its schedule has no more than so many events, otherwise without it.
    pub(crate) fn within(mut self, steps: usize) -> FoundDeadlock {
        if self.finding.schedule().len() > steps {
            self.finding = self.finding.without_schedule();
            self.told.witness = None;
        }
        self
    }
}

impl JudgedDeadlocks {
    /// So many are not decided, for this reason.
    fn leave(&mut self, circles: usize, reason: Reason) {
        if circles > 0 {
            self.counts.undecided += circles as u64;
            let note = Note::OpenDeadlocks(reason);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
