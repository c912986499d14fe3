//! Recomputes what a program has computed, from the reads in the log, and compares the results with the log.
//!
//! Stored values, addresses and branches must be what the code computes from earlier reads. A difference means that the
//! log, the recorded code, or this executor is wrong.

use std::fmt;
use std::rc::Rc;

use foretell_wire::log::module::Module;
use foretell_wire::record::{Record, SyncOp};
use rustc_hash::FxHashMap;

use crate::code::{FunctionId, Spot};
use crate::compare::Comparison;
use crate::evaluate::Given;
use crate::machine::{Arrival, Frame, Machine, ProgramPoint};
use crate::routine::{Goal, Routine, Routines};
use crate::shadow::NoShadow;
use crate::values::UNKNOWN;

/// How many of some kind there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All of them.
    pub all: u64,
    /// Those that could be recomputed.
    pub known: u64,
    /// Those whose recomputed value differs.
    pub differ: u64,
}

/// How far the recomputed values agree with the log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recomputed {
    /// Stored values.
    pub stores: Tally,
    /// Addresses, and lengths of copies.
    pub addresses: Tally,
    /// Branches between records.
    pub decisions: Tally,
    /// How often the path to a record is unknown.
    pub lost: u64,
    /// The first differences.
    pub differences: Vec<String>,
}

impl Recomputed {
    /// How many differences of all kinds there are.
    pub fn differ(&self) -> u64 {
        self.stores.differ + self.addresses.differ + self.decisions.differ
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} computed again, {} differ", self.known, self.all, self.differ)
    }
}

/// The possible callees of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Callee {
    /// The function of this name.
    Named(u32),
    /// One function, unknown which.
    #[default]
    Any,
    /// Functions that uninstrumented code calls back, any number of times.
    Others,
}

/// A record without a call stack: the calls may have changed since the last one.
#[derive(Clone, Copy, Debug)]
struct Hint {
    site: u64,
    /// The condition, if it is the record of one.
    by: Option<u64>,
}

/// A thread of the program.
#[derive(Debug, Default)]
struct Thread {
    /// The calls that it is in, the outermost first; there is always one.
    calls: Vec<Call>,
    /// Records since the last one with a call stack.
    hints: Vec<Hint>,
}

/// A call that a thread is in.
#[derive(Debug, Default)]
struct Call {
    callee: Callee,
    /// Its arguments.
    given: Vec<Given>,
    /// The function, once anything was recorded in it, and where in it the thread is.
    body: Option<(Rc<Routine>, Frame)>,
}

/// Follows all threads, record by record.
#[derive(Debug, Default)]
pub struct Recomputation {
    machine: Machine,
    threads: FxHashMap<u32, Thread>,
    found: Recomputed,
}

impl Recomputation {
    /// A module was loaded.
    pub fn add(&mut self, module: &Module<'_>) {
        self.machine.functions.add(module);
        self.machine.routines = Routines::default();
    }

    /// What was found.
    pub fn finish(mut self) -> Recomputed {
        self.found.decisions.all = self.machine.decisions.met;
        self.found.decisions.known = self.machine.decisions.known;
        self.found
    }

    /// A record of a thread.
    pub fn record(&mut self, number: u32, record: &Record<'_>) {
        let mut thread = self.threads.remove(&number).unwrap_or_default();
        self.machine.thread = number;
        if thread.calls.is_empty() {
            thread.calls.push(Call::default());
        }
        match *record {
            Record::Clock(_) | Record::Ahead(_) | Record::Fence { .. } | Record::Branch { by: None, .. } => {}
            Record::Sync { op: SyncOp::LocalEnd | SyncOp::Name, .. } => {}
            Record::Opaque { site } => thread.hints.push(Hint { site, by: None }),
            Record::Branch { site, by } => thread.hints.push(Hint { site, by }),
            _ => self.reliable(&mut thread, record),
        }
        self.threads.insert(number, thread);
    }

    /// A record of a thread whose calls are known.
    fn reliable(&mut self, thread: &mut Thread, record: &Record<'_>) {
        let Thread { calls, hints } = thread;
        let last = hints.last().map(|hint| hint.site);
        let has_ended = matches!(record, Record::Exit { .. });
        hints.drain(..).for_each(|hint| self.take(calls, hint, has_ended));
        match *record {
            // Uninstrumented code may call back any function, and several times.
            Record::Enter { site } => self.enter(calls, site, last == Some(site)),
            // After a long jump, the whole call stack is recorded again.
            Record::Exit { calls: count } if count as usize >= calls.len() => *calls = vec![Call::default()],
            Record::Exit { calls: count } => (0..count).for_each(|_| self.leave(calls)),
            Record::Sync { op: SyncOp::Begin, .. } => *calls = vec![Call::default()],
            // Only the last thread at a barrier has a record of leaving it.
            Record::Sync { op: SyncOp::End | SyncOp::Depart, .. } => {}
            Record::Sync { site, .. } => self.stand(calls, site),
            Record::Read { site, .. }
            | Record::Write { site, .. }
            | Record::AtomicLoad { site, .. }
            | Record::AtomicStore { site, .. }
            | Record::Rmw { site, .. }
            | Record::ReadRange { site, .. }
            | Record::Scan { site, .. }
            | Record::WriteRange { site, .. }
            | Record::Copy { site, .. }
            | Record::Fill { site, .. } => self.access(calls, site, record),
            Record::Opaque { .. }
            | Record::Branch { .. }
            | Record::Clock(_)
            | Record::Ahead(_)
            | Record::Fence { .. } => {}
        }
    }

    /// A hint belongs to the innermost call, if that is one of the same function and has not ended since. If the
    /// function may have been called again without a record, it does not.
    fn take(&mut self, calls: &mut [Call], hint: Hint, has_ended: bool) {
        let Some(spot) = self.machine.functions.spot(hint.site) else { return };
        let Some(call) = calls.last_mut() else { return };
        let name = self.machine.functions.get(spot.function).map(|function| function.name);
        let may_recur = self.machine.may_recur(spot.function);
        match &mut call.body {
            Some((routine, _)) if routine.id != spot.function => {}
            Some((_, frame)) if has_ended || may_recur => frame.begin_anew(),
            None if may_recur || name.map(Callee::Named) != Some(call.callee) => {}
            _ => match hint.by {
                Some(by) => self.decide(calls, spot, by),
                None => self.stand(calls, hint.site),
            },
        }
    }

    /// Brings a thread to an instruction of its innermost call.
    fn come(&mut self, calls: &mut [Call], spot: Spot) {
        let Some(call) = calls.last_mut() else { return };
        let Some((routine, mut frame)) = self.body(call, spot.function) else { return };
        let goal = Goal::At(spot.instruction);
        let decisions = self.machine.decisions;
        let arrival = match frame.place {
            ProgramPoint::Unknown => None,
            _ if call.callee == Callee::Others || routine.shape.is_returned_to => None,
            ProgramPoint::At(index) if index == spot.instruction => Some(Arrival::Exact),
            _ => Some(self.machine.walk(&routine, &mut frame, goal, &mut NoShadow)),
        };
        match arrival {
            Some(Arrival::Exact | Arrival::Vague) => {}
            Some(Arrival::Astray(decision)) => {
                self.found.decisions.differ += 1;
                self.at(&routine, &mut frame, decision).note("it goes another way than computed");
                frame.begin_anew();
            }
            Some(Arrival::Lost) => {
                self.found.lost += 1;
                self.machine.decisions = decisions;
                frame.begin_anew();
            }
            None => frame.begin_anew(),
        }
        if frame.place == ProgramPoint::At(spot.instruction) || !routine.is_recorded(spot.instruction) {
            self.machine.come_around(&routine, &mut frame, spot.instruction);
        }
        frame.place = ProgramPoint::At(spot.instruction);
        call.body = Some((routine, frame));
    }

    /// The innermost call, now known to be one of this function.
    fn body(&mut self, call: &mut Call, function: FunctionId) -> Option<(Rc<Routine>, Frame)> {
        let routine = self.machine.routine(function)?;
        let given = std::mem::take(&mut call.given);
        let name = self.machine.functions.get(function)?.name;
        match call.body.take() {
            Some((before, frame)) if before.id == function => return Some((before, frame)),
            None if call.callee == Callee::Any || call.callee == Callee::Named(name) => {
                let frame = Frame::of(&routine, &given);
                return Some((routine, frame));
            }
            _ => {}
        }
        call.callee = Callee::Others;
        let mut frame = Frame::of(&routine, &[]);
        frame.place = ProgramPoint::Unknown;
        Some((routine, frame))
    }

    /// A record without values. The return from uninstrumented code is one of these.
    fn stand(&mut self, calls: &mut [Call], site: u64) {
        let Some(spot) = self.machine.functions.spot(site) else { return };
        match calls.last_mut().and_then(|call| call.body.as_mut()) {
            Some((routine, _)) if routine.id != spot.function => {}
            Some((routine, frame)) if frame.place == ProgramPoint::After(spot.instruction) => {
                self.machine.come_around(routine, frame, spot.instruction);
            }
            _ => self.come(calls, spot),
        }
    }

    /// A call, perhaps of uninstrumented code.
    fn enter(&mut self, calls: &mut Vec<Call>, site: u64, is_outside: bool) {
        let spot = self.machine.functions.spot(site);
        let Some(spot) = spot else {
            lose(calls);
            return calls.push(Call { callee: Callee::Others, ..Call::default() });
        };
        self.come(calls, spot);
        let body = calls.last().and_then(|call| call.body.as_ref());
        let mut next = Call { callee: Callee::Others, ..Call::default() };
        if let Some((routine, frame)) = body
            && let Some(call) = routine.shape.step(spot.instruction).and_then(|step| step.call.as_deref())
        {
            next.callee = match call.name {
                _ if is_outside => Callee::Others,
                Some(name) => Callee::Named(name),
                None if call.is_direct => Callee::Others,
                None => Callee::Any,
            };
            next.given = self.machine.arguments(routine, frame, spot.instruction);
        }
        calls.push(next);
    }

    /// The innermost call has ended.
    fn leave(&mut self, calls: &mut Vec<Call>) {
        let ended = calls.pop();
        let Some(call) = calls.last_mut() else { return };
        let Some((routine, frame)) = &mut call.body else { return };
        let ProgramPoint::At(index) = frame.place else { return };
        let decisions = self.machine.decisions;
        let returned = match ended {
            Some(Call { callee: Callee::Others, .. }) | None => UNKNOWN,
            Some(Call { body: Some((callee, _)), .. }) if callee.shape.is_returned_to => UNKNOWN,
            Some(Call { body: Some((callee, mut frame)), .. }) => {
                self.machine.returned(&callee, &mut frame, &mut NoShadow).0
            }
            Some(Call { body: None, .. }) => self.machine.call(routine, frame, index, &mut NoShadow).0,
        };
        if returned == UNKNOWN {
            // It may have ended by an exception.
            self.machine.decisions = decisions;
        }
        frame.set(index as usize, routine.type_at(index as usize).fit(returned));
        frame.place = ProgramPoint::After(index);
    }

    /// The record of a condition.
    fn decide(&mut self, calls: &mut [Call], spot: Spot, by: u64) {
        self.come(calls, spot);
        if let Some(mut comparison) = self.comparison(calls, spot) {
            comparison.decision(by);
        }
    }

    /// The record of an access.
    fn access(&mut self, calls: &mut [Call], site: u64, record: &Record<'_>) {
        let Some(spot) = self.machine.functions.spot(site) else { return lose(calls) };
        self.come(calls, spot);
        if let Some(mut comparison) = self.comparison(calls, spot)
            && comparison.access(record)
        {
            comparison.frame.place = ProgramPoint::After(spot.instruction);
        }
    }

    /// The record that a thread has made where it is now.
    fn comparison<'a>(&'a mut self, calls: &'a mut [Call], spot: Spot) -> Option<Comparison<'a>> {
        let (routine, frame) = calls.last_mut()?.body.as_mut()?;
        Some(self.at(routine, frame, spot.instruction))
    }

    fn at<'a>(&'a mut self, routine: &'a Routine, frame: &'a mut Frame, index: u32) -> Comparison<'a> {
        Comparison { machine: &mut self.machine, found: &mut self.found, routine, frame, index }
    }
}

/// The position of a thread is unknown.
fn lose(calls: &mut [Call]) {
    if let Some((_, frame)) = calls.last_mut().and_then(|call| call.body.as_mut()) {
        frame.begin_anew();
    }
}

#[cfg(test)]
mod tests;
