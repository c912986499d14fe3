//! What an exploration finds.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::{Incomplete, Loops};
use crate::machine::{Blocked, Failure, Fault, Machine, MemoryLocation};
use crate::program::Position;
use crate::scheduler::Schedule;
use crate::value::{ThreadRef, Value};

/// One side of a race.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaceSide {
    /// Where in the program.
    pub position: Position,
    /// The name of the thread.
    pub thread: String,
    /// Whether it writes.
    pub writes: bool,
}

/// Two accesses that can happen at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// What is accessed.
    pub variable: String,
    /// The access that comes first in the program's text.
    pub first: RaceSide,
    /// The other one.
    pub second: RaceSide,
    /// Leads to a state in which both are next.
    pub schedule: Schedule,
}

/// Something that goes wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFailure {
    /// The operation, its location, and its thread.
    pub failure: Failure,
    /// Leads there.
    pub schedule: Schedule,
}

/// A deadlock: no thread can run although not all have ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// The blocked threads.
    pub blocked: Vec<Blocked>,
    /// Leads there.
    pub schedule: Schedule,
}

/// All that was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exploration {
    /// Races, one for any two places and a variable.
    pub races: Vec<Race>,
    /// What goes wrong, once for any place.
    pub failures: Vec<FoundFailure>,
    /// Deadlocks, one for any set of threads and what they wait for.
    pub deadlocks: Vec<Deadlock>,
    /// For each property what leads to a state that does not satisfy it, if there is any.
    pub violations: Vec<Option<Schedule>>,
    /// How many states there are.
    pub states: usize,
    /// In how many of them all threads have ended.
    pub final_states: usize,
    /// How many executions there are, if they were to be counted; `None` also if there are infinitely many.
    pub executions: Option<u128>,
    /// Why there may be more to find.
    pub incomplete: Vec<Incomplete>,
}

impl Exploration {
    /// Whether all executions are known.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }
}

/// What a property can look at.
pub struct StateView<'m>(&'m Machine<'m, Loops>);

impl<'m> StateView<'m> {
    pub(super) fn of<'p: 'm>(machine: &'m Machine<'p, Loops>) -> Self {
        StateView(machine)
    }

    /// The number that the shared variable or element of this name holds; `None` if it holds no number, or there is no
    /// such variable.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.0.value_of(name)? {
            Value::Number(number) => Some(number),
            Value::Cell(_) | Value::Thread(_) => None,
        }
    }

    /// Whether all threads have ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// A race as it is reported once.
type Pair = (Position, Position, String);
/// A race as the machine sees it.
type Meeting = (MemoryLocation, [(Position, ThreadRef); 2]);

/// Collects what is found, each thing once.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: Exploration,
    /// Races as the machine sees them, so that most are known without looking up any name.
    known_meetings: FxHashSet<Meeting>,
    known_races: FxHashSet<Pair>,
    known_failures: FxHashMap<Position, Vec<Fault>>,
    known_deadlocks: FxHashSet<Vec<Blocked>>,
    /// The accesses of the state that is looked at.
    accesses: Vec<(MemoryLocation, bool, ThreadRef)>,
}

impl Findings {
    /// Nothing is found yet, nor that any of so many properties is violated.
    pub(super) fn new(properties: usize) -> Findings {
        let found = Exploration { violations: vec![None; properties], ..Exploration::default() };
        Findings { found, ..Findings::default() }
    }

    pub(super) fn incomplete(&mut self, why: Incomplete) {
        if !self.found.incomplete.contains(&why) {
            self.found.incomplete.push(why);
        }
    }

    pub(super) fn final_state(&mut self) {
        self.found.final_states += 1;
    }

    pub(super) fn is_new_failure(&self, failure: &Failure) -> bool {
        self.known_failures.get(&failure.position).is_none_or(|known| !known.contains(&failure.fault))
    }

    pub(super) fn failure(&mut self, failure: Failure, schedule: Schedule) {
        self.known_failures.entry(failure.position).or_default().push(failure.fault.clone());
        if failure.fault.is_limit() {
            self.incomplete(Incomplete::Bound(failure.fault.clone(), failure.position));
        }
        // That a loop runs longer than one cares for is nothing that the program does wrong.
        if !matches!(failure.fault, Fault::LoopBound(_)) {
            self.found.failures.push(FoundFailure { failure, schedule });
        }
    }

    pub(super) fn is_new_deadlock(&self, blocked: &[Blocked]) -> bool {
        !self.known_deadlocks.contains(blocked)
    }

    pub(super) fn deadlock(&mut self, blocked: Vec<Blocked>, schedule: Schedule) {
        self.known_deadlocks.insert(blocked.clone());
        self.found.deadlocks.push(Deadlock { blocked, schedule });
    }

    pub(super) fn is_violated(&self, property: usize) -> bool {
        self.found.violations[property].is_some()
    }

    pub(super) fn violation(&mut self, property: usize, schedule: Schedule) {
        self.found.violations[property] = Some(schedule);
    }

    /// Pairs of threads whose next steps race in a way not seen before.
    pub(super) fn new_races(&mut self, machine: &Machine<'_, Loops>) -> Vec<(ThreadRef, ThreadRef)> {
        self.accesses.clear();
        for thread in machine.threads() {
            if let Some((place, writes)) = machine.next(thread).and_then(|step| step.action.access())
                && !machine.is_atomic(place)
            {
                self.accesses.push((place, writes, thread));
            }
        }
        let mut races = Vec::new();
        for (index, &(place, writes, first)) in self.accesses.iter().enumerate() {
            for &(other, also, second) in &self.accesses[index + 1..] {
                if place == other && (writes || also) {
                    let position = |thread| machine.next(thread).map_or(Position::default(), |s| s.position);
                    let meeting = (place, [(position(first), first), (position(second), second)]);
                    if self.known_meetings.insert(meeting)
                        && self.known_races.insert(pair(machine, place, position(first), position(second)))
                    {
                        races.push((first, second));
                    }
                }
            }
        }
        races
    }

    pub(super) fn race(
        &mut self,
        machine: &Machine<'_, Loops>,
        first: ThreadRef,
        second: ThreadRef,
        schedule: Schedule,
    ) {
        let (Some(place), Some(first), Some(second)) =
            (machine.race(first, second), access(machine, first), access(machine, second))
        else {
            return;
        };
        let (first, second) = if first <= second { (first, second) } else { (second, first) };
        self.found.races.push(Race { variable: machine.place_name(place), first, second, schedule });
    }

    pub(super) fn finish(mut self, states: usize, executions: Option<u128>) -> Exploration {
        self.found.states = states;
        self.found.executions = executions.filter(|_| self.found.is_complete());
        self.found
    }
}

fn pair(machine: &Machine<'_, Loops>, place: MemoryLocation, first: Position, second: Position) -> Pair {
    (first.min(second), first.max(second), machine.place_name(place))
}

fn access(machine: &Machine<'_, Loops>, thread: ThreadRef) -> Option<RaceSide> {
    let step = machine.next(thread)?;
    let (_, writes) = step.action.access()?;
    Some(RaceSide { position: step.position, thread: machine.thread_name(thread), writes })
}
