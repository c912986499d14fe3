//! Violations: what a thread must not come to, decided one by one, each proof through the referee. They are uses of
//! freed memory.

use std::collections::BTreeSet;

use foretell_predict::{FreedMemory, FreedUses, Limit};
use foretell_report::{PredictedViolation, RacingAccess};
use foretell_trace::{EventId, Trace};
use foretell_witness::ProvenViolation;

use crate::analysis::{Note, Reason, Room};
use crate::control::Control;
use crate::deadlocks::GoalCounts;
use crate::error::Error;
use crate::exact::Workers;
use crate::goals::{self, Group};
use crate::input::Input;
use crate::plan::Plan;
use crate::shards::of_locations;

/// A violation that the referee has accepted.
#[derive(Clone, Debug)]
pub struct FoundViolation {
    /// The referee's word. Its schedule is empty if the schedules of all that was found are too long to be kept.
    pub finding: ProvenViolation,
    /// How many events the schedule has.
    pub witness_length: usize,
    /// Who does what, as people know it.
    pub told: PredictedViolation,
}

/// What was found.
#[derive(Default)]
pub(crate) struct JudgedViolations {
    pub(crate) violations: Vec<FoundViolation>,
    pub(crate) counts: GoalCounts,
    pub(crate) notes: Vec<Note>,
}

/// Looks for uses of freed memory, but for those that are known as races by their locations.
pub(crate) fn find(
    input: &Input<'_>,
    plan: &Plan,
    known: &BTreeSet<(String, String)>,
    control: &dyn Control,
    workers: &mut Workers,
    room: &mut Room,
) -> Result<JudgedViolations, Error> {
    let mut judged = JudgedViolations::default();
    let trace = match input.load_within("freed memory: reads", plan.memory, control)? {
        Ok(trace) => trace,
        Err(room) => {
            judged.notes.push(Note::NoRoomForViolations(room));
            return Ok(judged);
        }
    };
    let FreedMemory { uses, are_more } = FreedMemory::of(trace, plan.pairs, || control.is_stopped());
    if are_more && !control.is_stopped() {
        judged.notes.push(Note::TooManyViolations);
    }
    let uses: Vec<FreedUses> = uses.into_iter().filter(|uses| !is_known(uses, trace, known)).collect();
    if uses.is_empty() || control.is_stopped() {
        judged.leave(uses.len(), Reason::Limit(Limit::Stopped));
        return Ok(judged);
    }
    let steps = room.left;
    let groups: Vec<Group<'_, _>> =
        uses.iter().map(|uses| Group { all: &uses.uses, left_out: uses.left_out }).collect();
    let found = |finding| FoundViolation::new(finding, trace, steps);
    let what = (control, "decides uses of freed memory");
    for worked in goals::decide(trace, &groups, (plan, None), what, workers, found)? {
        judged.counts.refuted += worked.refuted;
        if let Some(found) = worked.proven {
            judged.violations.push(room.limit_violation(found));
        } else if let Some(reason) = worked.open {
            judged.leave(1, reason);
        }
    }
    Ok(judged)
}

fn is_known(uses: &FreedUses, trace: &Trace, known: &BTreeSet<(String, String)>) -> bool {
    let access = |id: EventId| RacingAccess::new(id, trace.event(id), trace.names());
    let of_first = uses.uses.first().map(|pair| of_locations(&access(pair.freed), &access(pair.used)));
    !known.is_empty() && of_first.is_some_and(|locations| known.contains(&locations))
}

impl FoundViolation {
    fn new(finding: ProvenViolation, trace: &Trace, steps: usize) -> FoundViolation {
        let witness_length = finding.schedule().len();
        let told = PredictedViolation::new(&finding, trace);
        FoundViolation { finding, witness_length, told }.within(steps)
    }

    /// The same if its schedule has no more than so many events, otherwise without it.
    pub(crate) fn within(mut self, steps: usize) -> FoundViolation {
        if self.finding.schedule().len() > steps {
            self.finding = self.finding.without_schedule();
            self.told.witness = None;
        }
        self
    }
}

impl JudgedViolations {
    /// So many are not decided, for this reason.
    fn leave(&mut self, violations: usize, reason: Reason) {
        if violations > 0 {
            self.counts.undecided += violations as u64;
            let note = Note::OpenViolations(reason);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
