//! Driving a CIMP program into a race or a deadlock: its virtual machine follows the schedule.

use std::collections::BTreeMap;

use foretell_cimp::machine::{Bounds, Machine, Turn};
use foretell_cimp::program::Program;
use foretell_cimp::value::ThreadRef;
use foretell_report::Confirmation;
use foretell_wire::schedule::{AccessDraft, CircleDraft, EndingDraft, ScheduleDraft};

use crate::stop;

/// Drives the program to where this schedule leads.
pub(super) fn drive(program: &Program, draft: &ScheduleDraft) -> Confirmation {
    let machine = Machine::new(program, Bounds::default());
    let mut path = Path { machine, draft, made: BTreeMap::new() };
    match path.follow() {
        Ok(()) => Confirmation::of_machine(),
        Err(why) => Confirmation::not(format!("the program goes another way: {why}")),
    }
}

/// How far the machine has come.
struct Path<'a> {
    machine: Machine<'a>,
    draft: &'a ScheduleDraft,
    /// How many steps each thread has made.
    made: BTreeMap<String, u64>,
}

impl Path<'_> {
    fn follow(&mut self) -> Result<(), String> {
        let draft = self.draft;
        for (index, (thread, steps, place)) in draft.turns.iter().enumerate() {
            while self.made.get(thread).copied().unwrap_or(0) < *steps {
                self.step(thread, index).map_err(|why| {
                    format!("{thread} was to come to its step {steps} at {place}, but {why}")
                })?;
            }
        }
        match &draft.ending {
            EndingDraft::Race(accesses) => self.race(accesses),
            EndingDraft::Stuck(circle) => self.wait(circle),
            EndingDraft::Used(_) => Err("no program in CIMP gives memory back".to_string()),
        }
    }

    fn race(&mut self, accesses: &[AccessDraft; 2]) -> Result<(), String> {
        for (thread, held, ..) in accesses {
            while self.made.get(thread).copied().unwrap_or(0) < *held {
                self.step(thread, self.draft.turns.len())?;
            }
        }
        let [first, second] = accesses.each_ref().map(|access| self.thread(&access.0));
        match self.machine.race(first?, second?) {
            Some(_) => Ok(()),
            None => Err("the two threads came to their accesses, but these do not conflict".to_string()),
        }
    }

    fn wait(&self, circle: &CircleDraft) -> Result<(), String> {
        let first = circle.waits.first().map(|wait| &wait.thread);
        let next = circle.waits.iter().skip(1).map(|wait| &wait.thread);
        let after_last = circle.ended.as_ref().map(|ended| &ended.0).or(first);
        for (wait, holder) in circle.waits.iter().zip(next.chain(after_last)) {
            let held_up_by = self.machine.held_up_by(self.thread(&wait.thread)?);
            if held_up_by.as_ref() != Some(holder) {
                let instead = held_up_by.as_deref().unwrap_or("no thread");
                return Err(format!("{} waits for {instead}, not for {holder}", wait.thread));
            }
        }
        Ok(())
    }

    fn thread(&self, name: &str) -> Result<ThreadRef, String> {
        self.machine.thread_named(name).ok_or_else(|| format!("{name} has not been started"))
    }

    /// The thread makes its next step, in the turn with this number.
    fn step(&mut self, name: &str, turn: usize) -> Result<(), String> {
        if stop::is_requested() {
            return Err("interrupted".to_string());
        }
        let thread = self.thread(name)?;
        if self.machine.next(thread).is_none() {
            return Err(format!("{name} has ended"));
        }
        let wake = self.whom_to_wake(thread, turn);
        if self.machine.step(Turn { thread, wake }).is_err() {
            let blocked = self.machine.blocked().into_iter().find(|blocked| blocked.thread == name);
            return Err(
                blocked.map_or_else(|| format!("{name} cannot continue"), |blocked| blocked.to_string())
            );
        }
        *self.made.entry(name.to_string()).or_default() += 1;
        self.machine.failure().map_or(Ok(()), |failure| Err(failure.to_string()))
    }

    /// A notification wakes the waiting thread that the schedule runs first.
    fn whom_to_wake(&self, thread: ThreadRef, turn: usize) -> Option<ThreadRef> {
        let choices: Vec<ThreadRef> = self.machine.choices(thread).into_iter().flatten().collect();
        let later = self.draft.turns.iter().skip(turn).map(|turn| &turn.0);
        let coming = later.map(String::as_str).chain(self.draft.ending.threads());
        let mut coming = coming.filter_map(|name| self.thread(name).ok());
        coming.find(|thread| choices.contains(thread)).or(choices.first().copied())
    }
}
