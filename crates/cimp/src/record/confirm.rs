//! Whether a new order of a trace's events is an execution of the program.
//!
//! The strongest check of a predicted race: the program itself is run in the predicted order. Reads may see other
//! values than recorded; what counts is that every thread does what the trace shows, up to the accesses that race.

use foretell_trace::{Event, EventId, Op, Trace};

use crate::machine::{Action, Bounds, Machine, PendingStep, Turn};
use crate::program::Program;
use crate::value::ThreadRef;

/// Runs the program as the witness says, whose last two events are the ones that race: every event of the trace that is
/// a step must be the next step of its thread then, and the last two must be next steps at the same time that conflict.
/// An error says what the program does instead. The trace is that of a run, or of a [detour](super::detours).
pub fn confirm(program: &Program, trace: &Trace, witness: &[EventId]) -> Result<(), String> {
    let Some((before, &[first, second])) = witness.split_last_chunk::<2>() else {
        return Err("a witness has at least two events".to_owned());
    };
    Replay::after(program, trace, before)?.race(first, second)
}

/// Runs the program as the schedule of a deadlock says, up to the events that wait. Then each of these must be the next
/// step of its thread, and the lock that it takes be held by the thread of the next one, or the thread that it joins be
/// that thread; the last one is held up by the thread of the first, or by that of the `ended` event.
pub fn confirm_stuck(
    program: &Program,
    trace: &Trace,
    before: &[EventId],
    waits: &[EventId],
    ended: Option<EventId>,
) -> Result<(), String> {
    let replay = Replay::after(program, trace, before)?;
    let thread = |id: EventId| Ok(trace.names().threads.name(replay.event(id)?.thread));
    let next = waits.iter().skip(1).copied();
    for (&wait, holder) in waits.iter().zip(next.chain(ended.or(waits.first().copied()))) {
        let held_up_by = replay.machine.held_up_by(replay.next_is(wait)?);
        let holder: Result<&str, String> = thread(holder);
        let holder = holder?;
        if held_up_by.as_deref() != Some(holder) {
            let instead = held_up_by.as_deref().unwrap_or("no thread");
            return Err(format!("event {wait}: it waits for {instead}, not for {holder}"));
        }
    }
    Ok(())
}

struct Replay<'p> {
    machine: Machine<'p>,
    trace: &'p Trace,
}

impl<'p> Replay<'p> {
    /// The state after these events.
    fn after(program: &'p Program, trace: &'p Trace, before: &[EventId]) -> Result<Replay<'p>, String> {
        let steps = trace.steps().ok_or("the trace has no step counts")?;
        let is_step: Vec<bool> = steps.since().map(|steps| steps > 0).collect();
        let mut replay = Replay { machine: Machine::new(program, Bounds::default()), trace };
        for (index, &event) in before.iter().enumerate() {
            if is_step.get(event.index()) == Some(&true) {
                let thread = replay.next_is(event)?;
                let wake = replay.whom_to_wake(thread, &before[index + 1..]);
                replay.take(event, Turn { thread, wake })?;
            }
        }
        Ok(replay)
    }

    fn event(&self, event: EventId) -> Result<Event, String> {
        let events = self.trace.events();
        events.get(event.index()).copied().ok_or_else(|| format!("the trace has no event {event}"))
    }

    /// The thread of the event, if the event is what it does next.
    fn next_is(&self, id: EventId) -> Result<ThreadRef, String> {
        let event = self.event(id)?;
        let name = self.trace.names().threads.name(event.thread);
        let thread = self
            .machine
            .thread_named(name)
            .ok_or_else(|| format!("event {id}: {name} has not been started"))?;
        let next = self.machine.next(thread).ok_or_else(|| format!("event {id}: {name} has ended"))?;
        if self.is_step(event, thread, next) {
            Ok(thread)
        } else {
            let instead = self.machine.action_text(thread, next.action);
            Err(format!("event {id}: {name} does something else: it {instead} at {}", next.position))
        }
    }

    /// Whether the event is the step: kind, target and position are the same.
    fn is_step(&self, event: Event, thread: ThreadRef, step: PendingStep) -> bool {
        let (machine, names) = (&self.machine, self.trace.names());
        let program = machine.program();
        let same_target = match (event.op, step.action) {
            (Op::Read { var, .. } | Op::Load { var, .. }, Action::Read(place))
            | (Op::Write { var, .. } | Op::Store { var, .. }, Action::Write(place)) => {
                names.vars.name(var) == machine.place_name(place)
            }
            (Op::Acquire(id) | Op::AcquireAgain(id), Action::Acquire(lock))
            | (Op::Release(id) | Op::ReleaseAgain(id), Action::Release(lock)) => {
                names.locks.name(id) == program.lock_name(lock)
            }
            (Op::SemWait(sem), Action::SemWait(semaphore))
            | (Op::SemPost(sem), Action::SemPost(semaphore)) => {
                names.sems.name(sem) == program.semaphore_name(semaphore)
            }
            (Op::Wait { cond, lock: id }, Action::Wait { condition, lock })
            | (Op::Woken { cond, lock: id }, Action::Woken { condition, lock }) => {
                names.conds.name(cond) == program.condition_name(condition)
                    && names.locks.name(id) == program.lock_name(lock)
            }
            (Op::Notify(cond), Action::Notify(condition))
            | (Op::NotifyAll(cond), Action::NotifyAll(condition)) => {
                names.conds.name(cond) == program.condition_name(condition)
            }
            (Op::Fork(child), Action::Fork(_)) => {
                names.threads.name(child) == machine.next_child_name(thread)
            }
            (Op::Join(child), Action::Join(other)) => names.threads.name(child) == machine.thread_name(other),
            _ => false,
        };
        same_target && names.loc_text(event.loc) == step.position.to_string()
    }

    /// A notification wakes the waiting thread that returns first.
    fn whom_to_wake(&self, thread: ThreadRef, later: &[EventId]) -> Option<ThreadRef> {
        let choices: Vec<ThreadRef> = self.machine.choices(thread).into_iter().flatten().collect();
        let names = self.trace.names();
        let returns = later.iter().filter_map(|&id| {
            let event = self.event(id).ok()?;
            matches!(event.op, Op::Woken { .. }).then(|| names.threads.name(event.thread))
        });
        let mut returning = returns.filter_map(|name| self.machine.thread_named(name));
        returning.find(|thread| choices.contains(thread)).or(choices.first().copied())
    }

    fn take(&mut self, event: EventId, turn: Turn) -> Result<(), String> {
        if self.machine.step(turn).is_err() {
            let name = self.machine.thread_name(turn.thread);
            let reason = self.machine.blocked().into_iter().find(|blocked| blocked.thread == name);
            let reason =
                reason.map_or_else(|| format!("{name} cannot continue"), |blocked| blocked.to_string());
            return Err(format!("event {event}: {reason}"));
        }
        match self.machine.failure() {
            Some(failure) => Err(format!("event {event}: {failure}")),
            None => Ok(()),
        }
    }

    fn race(&self, first: EventId, second: EventId) -> Result<(), String> {
        let threads = (self.next_is(first)?, self.next_is(second)?);
        if self.machine.race(threads.0, threads.1).is_some() {
            Ok(())
        } else {
            Err(format!("events {first} and {second} do not conflict"))
        }
    }
}
