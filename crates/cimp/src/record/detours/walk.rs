//! The other way of a decision, as far as the thread gets alone.

use rustc_hash::FxHashMap;

use super::Limits;
use crate::machine::{Action, Machine, MemoryLocation, Turn};
use crate::record::recorder::{Happening, Lead, Recorder, What};
use crate::value::ThreadRef;

/// How many instructions the thread may run between two steps: here they are not what the program is about.
const SILENT_STEPS: usize = 100_000;

/// A walk. What happened is in the recorder.
pub(super) struct Walk<'p> {
    /// The state at its end.
    pub(super) machine: Machine<'p, Recorder>,
    /// How many happenings the recorder has of it, and of what was before.
    pub(super) end: usize,
    /// The thread has nothing left to do.
    pub(super) is_over: bool,
    lead: Lead,
}

impl<'p> Walk<'p> {
    /// Takes a turn from the state `before`, and goes on with the thread; from the decision with this number on,
    /// decisions go as given. None if it does not get to that decision.
    pub(super) fn take(
        before: &Machine<'p, Recorder>,
        recorder: &mut Recorder,
        turn: Turn,
        (decision, prescribed): (usize, Vec<bool>),
        limits: &Limits,
    ) -> Option<Walk<'p>> {
        let mut machine = before.clone();
        machine.be_silent_for(SILENT_STEPS.min(limits.bounds.silent_steps));
        recorder.lead = Some(Lead::new(decision, prescribed));
        let mut next = Some(turn);
        let mut met_at = None;
        while let Some(turn) = next
            && machine.step_with(turn, recorder).is_ok()
        {
            let so_far = recorder.happenings.len();
            let has_met =
                recorder.lead.as_ref().is_some_and(|lead| lead.has_met(machine.control(turn.thread)));
            met_at = met_at.or(has_met.then_some(so_far));
            let is_far = so_far > decision + limits.events;
            let is_behind =
                met_at.is_some_and(|met| so_far >= met + limits.behind) && !machine.holds_a_lock(turn.thread);
            next = next_turn(&machine, turn.thread).filter(|_| !is_far && !is_behind);
        }
        let lead = recorder.lead.take()?;
        let so_far = recorder.happenings.len();
        let end = so_far.min(decision + 1 + limits.events);
        let is_over = machine.has_ended(turn.thread) && end == so_far;
        (so_far > decision).then_some(Walk { machine, end, is_over, lead })
    }

    /// Other ways that part from this one.
    pub(super) fn others(&self) -> impl Iterator<Item = Vec<bool>> {
        self.lead.others()
    }

    /// What the thread does after the decision.
    pub(super) fn added<'r>(&self, recorder: &'r Recorder, decision: usize) -> &'r [Happening] {
        &recorder.happenings[decision + 1..self.end]
    }
}

/// The next step of the thread, if it can go on, and goes on alone: another thread would have to act after a fork, and
/// before the end of a wait.
fn next_turn(machine: &Machine<'_, Recorder>, thread: ThreadRef) -> Option<Turn> {
    let step = machine.next(thread)?;
    if matches!(step.action, Action::Fork(_) | Action::Wait { .. } | Action::Woken { .. } | Action::Fail) {
        return None;
    }
    machine.choices(thread).first().map(|&wake| Turn { thread, wake })
}

/// The threads that access each variable in the run.
pub(super) struct Others(FxHashMap<MemoryLocation, Users>);

#[derive(Clone, Copy)]
struct Users {
    first: ThreadRef,
    /// The writing thread, if there is one.
    writer: Option<ThreadRef>,
    several: bool,
    several_write: bool,
}

impl Others {
    pub(super) fn of(happenings: &[Happening]) -> Others {
        let mut places: FxHashMap<MemoryLocation, Users> = FxHashMap::default();
        for happening in happenings {
            let What::Step { action, .. } = happening.what else { continue };
            let (Some((place, writes)), thread) = (action.access(), happening.at.thread) else { continue };
            let users = places.entry(place).or_insert(Users {
                first: thread,
                writer: None,
                several: false,
                several_write: false,
            });
            users.several |= users.first != thread;
            if writes {
                users.several_write |= users.writer.is_some_and(|writer| writer != thread);
                users.writer = Some(thread);
            }
        }
        Others(places)
    }

    /// Whether the operation is visible to other threads: it conflicts with an access of theirs, or wakes them.
    pub(super) fn notice(&self, thread: ThreadRef, added: &[Happening]) -> bool {
        added.iter().any(|happening| {
            let What::Step { action, .. } = happening.what else { return false };
            match action {
                Action::Write(place) => {
                    self.0.get(&place).is_some_and(|users| users.several || users.first != thread)
                }
                Action::Read(place) => self.0.get(&place).is_some_and(|users| {
                    users.several_write || users.writer.is_some_and(|writer| writer != thread)
                }),
                Action::Release(_) | Action::SemPost(_) | Action::Notify(_) | Action::NotifyAll(_) => true,
                _ => false,
            }
        })
    }
}
