//! Every race, deadlock and use after a free of a tiny trace by brute force, written from `docs/trace-format.md` and
//! nothing else.
//!
//! It reads the text itself, and wherever the document leaves a choice (whom a notification wakes) it goes all ways. It
//! shares no code with the referee, whose machine needs no choices, so the two check each other.

mod freed;
mod read;
mod stuck;

use std::collections::{BTreeSet, HashSet};

pub use freed::FreedUse;
use read::{Act, Event, Script, Seen};
pub use stuck::Stuck;

/// Which reads are pinned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Those of `rf`.
    SameWrite,
    /// Those of `mcm`, and of the exploration of traces.
    SameValue,
    /// Those of `rv`.
    ControlFlow,
}

/// Two events by number, from 1 on, the smaller one first.
pub type Races = BTreeSet<(u32, u32)>;

/// All races of the trace that `text` spells, or `None` if it has more than `most` states.
pub fn races(text: &str, rules: Rules, most: usize) -> Option<Races> {
    let mut races = Races::new();
    visit(text, rules, most, |world| world.note_races(&mut races))?;
    Some(races)
}

/// All deadlocks, or `None` in the same case.
pub fn deadlocks(text: &str, rules: Rules, most: usize) -> Option<BTreeSet<Stuck>> {
    let mut found = BTreeSet::new();
    visit(text, rules, most, |world| world.note_deadlocks(&mut found))?;
    Some(found)
}

/// All uses of freed memory, or `None` in the same case.
pub fn uses_after_free(text: &str, rules: Rules, most: usize) -> Option<BTreeSet<FreedUse>> {
    let mut found = BTreeSet::new();
    visit(text, rules, most, |world| world.note_freed_uses(&mut found))?;
    Some(found)
}

/// Visits all states, unless there are too many.
fn visit(text: &str, rules: Rules, most: usize, mut note: impl FnMut(&World<'_>)) -> Option<()> {
    let script = Script::new(text);
    let rules = if rules == Rules::ControlFlow && !script.has_branches { Rules::SameValue } else { rules };
    let start = State::new(&script);
    let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
    while let Some(state) = open.pop() {
        if seen.len() > most {
            return None;
        }
        let world = World { script: &script, rules, state: &state };
        note(&world);
        for thread in 0..script.threads.len() {
            for next in world.steps(thread) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    Some(())
}

/// All that the document speaks of.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// How many events each thread has run.
    ran: Vec<usize>,
    /// The threads that deviated.
    deviated: Vec<bool>,
    /// The last write of each variable, or what was there at first; and whether it equals nothing.
    memory: Vec<(Option<usize>, bool)>,
    usable: Vec<bool>,
    /// How often each lock is held by each thread, exclusively and shared.
    locks: Vec<Vec<(u32, u32)>>,
    permits: Vec<Option<u32>>,
    /// Who waits: on which condition, how often it held the lock, and whether it is woken.
    waiting: Vec<Option<(usize, u32, bool)>>,
    /// How many have arrived at each barrier, and how many had when each thread did.
    arrived: Vec<usize>,
    place: Vec<Vec<usize>>,
}

impl State {
    fn new(script: &Script) -> State {
        let threads = script.threads.len();
        State {
            ran: vec![0; threads],
            deviated: vec![false; threads],
            memory: vec![(None, false); script.vars.len()],
            usable: script.vars.iter().map(|var| !var.is_allocated).collect(),
            locks: vec![vec![(0, 0); threads]; script.lock_count],
            permits: script.permits.clone(),
            waiting: vec![None; threads],
            arrived: vec![0; script.barriers.len()],
            place: vec![vec![0; threads]; script.barriers.len()],
        }
    }
}

struct World<'s> {
    script: &'s Script,
    rules: Rules,
    state: &'s State,
}

impl World<'_> {
    /// The next event of the thread, with its index, if it has begun and an unexplained read does not stand before it.
    fn next(&self, thread: usize) -> Option<(usize, &Event)> {
        let index = *self.script.threads[thread].get(self.state.ran[thread])?;
        let begun = self.script.forks[thread].is_none_or(|fork| self.has_run(fork));
        let free = self.script.unexplained().all(|fence| fence >= index || self.has_run(fence));
        (begun && free).then(|| (index, &self.script.events[index]))
    }

    fn has_run(&self, event: usize) -> bool {
        let Event { thread, place, .. } = self.script.events[event];
        place < self.state.ran[thread]
    }

    fn is_stopped(&self, event: &Event) -> bool {
        self.state.deviated[event.thread]
            && match self.rules {
                Rules::SameWrite => false,
                Rules::SameValue => true,
                Rules::ControlFlow => event.act == Act::Branch,
            }
    }

    fn note_races(&self, races: &mut Races) {
        let could_take_place = |thread: usize| {
            let (index, event) = self.next(thread)?;
            let access = event.act.access()?;
            let possible = !event.is_unexplained && !self.is_stopped(event) && self.state.usable[access.var];
            possible.then_some((index, access))
        };
        let ready: Vec<_> = (0..self.script.threads.len()).filter_map(could_take_place).collect();
        for (count, (a, one)) in ready.iter().enumerate() {
            for (b, other) in &ready[count + 1..] {
                if one.var == other.var && (one.writes || other.writes) && !(one.is_atomic && other.is_atomic)
                {
                    let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
                    races.insert((number(*a.min(b)), number(*a.max(b))));
                }
            }
        }
    }

    /// The states that the thread's next event leads to: none if it cannot run, several if it has a choice.
    fn steps(&self, thread: usize) -> Vec<State> {
        let Some((index, event)) = self.next(thread) else { return Vec::new() };
        if self.is_stopped(event) || !self.can_run(index, event) {
            return Vec::new();
        }
        let mut after = self.state.clone();
        after.ran[thread] += 1;
        self.act(index, event, after)
    }

    fn can_run(&self, index: usize, event: &Event) -> bool {
        let (state, thread) = (self.state, event.thread);
        let others = |lock: usize, exclusively: bool| {
            let holds = |&(other, held): &(usize, &(u32, u32))| {
                other != thread && (held.0 > 0 || (!exclusively && held.1 > 0))
            };
            state.locks[lock].iter().enumerate().any(|held| holds(&held))
        };
        if event.is_unexplained {
            let before = state.ran.iter().sum::<usize>() == index;
            return before && !state.deviated.contains(&true);
        }
        match event.act {
            Act::Access(access) => {
                let readable =
                    !access.reads || self.rules != Rules::SameWrite || self.is_as_observed(event, access.var);
                state.usable[access.var] && readable
            }
            Act::Free(var) => state.usable[var],
            Act::Acquire { lock, shared, .. } => !others(lock, shared),
            Act::Attempt { lock, shared } => {
                state.locks[lock].iter().any(|held| held.0 > 0 || (!shared && held.1 > 0))
            }
            Act::Join(child) => {
                self.script.forks[child].is_none_or(|fork| self.has_run(fork))
                    && state.ran[child] == self.script.threads[child].len()
            }
            Act::Take(sem) => state.permits[sem].is_some_and(|permits| permits > 0),
            Act::Give(sem) => state.permits[sem].is_some(),
            Act::Woken { lock, .. } => {
                let woken = state.waiting[thread].is_some_and(|waiting| waiting.2);
                (woken || !event.is_explained) && !others(lock, false)
            }
            Act::Timeout { lock, .. } => !others(lock, false),
            Act::Arrive(barrier) => match &self.script.barriers[barrier].size {
                Some(_) => true,
                None => event.crossing == 0 || self.all_came(barrier, event.crossing - 1),
            },
            Act::Depart(barrier) => match self.script.barriers[barrier].size {
                Some(size) => state.arrived[barrier] >= (state.place[barrier][thread] / size + 1) * size,
                None => self.all_came(barrier, event.crossing),
            },
            Act::Release { .. }
            | Act::Fork
            | Act::End
            | Act::Branch
            | Act::Create { .. }
            | Act::Wait { .. }
            | Act::Notify(_)
            | Act::NotifyAll(_)
            | Act::Alloc(_)
            | Act::Nothing => true,
        }
    }

    /// Whether all arrivals of a crossing of the trace have run.
    fn all_came(&self, barrier: usize, crossing: usize) -> bool {
        self.script.barriers[barrier].crossings[crossing].iter().all(|&arrival| self.has_run(arrival))
    }

    fn is_as_observed(&self, event: &Event, var: usize) -> bool {
        let (writer, is_nothing) = self.state.memory[var];
        match (&event.seen, self.rules) {
            (Seen::Write(write), Rules::SameWrite) => writer == *write,
            (Seen::Value(_, write), Rules::SameWrite) => writer == *write,
            (Seen::Write(write), _) => writer == *write && !is_nothing,
            (Seen::Value(value, _), _) => {
                let shown = match writer {
                    Some(write) => self.script.events[write].left.as_ref(),
                    None => self.script.vars[var].initial.as_ref(),
                };
                !is_nothing && shown == Some(value)
            }
        }
    }

    fn act(&self, index: usize, event: &Event, mut after: State) -> Vec<State> {
        let thread = event.thread;
        match event.act {
            Act::Access(access) => {
                if access.reads && !event.is_unexplained && !self.is_as_observed(event, access.var) {
                    after.deviated[thread] = true;
                }
                if access.writes || event.is_unexplained {
                    after.memory[access.var] = (Some(index), after.deviated[thread]);
                }
            }
            Act::Alloc(var) => after.usable[var] = true,
            Act::Free(var) => after.usable[var] = false,
            Act::Acquire { lock, shared, .. } => {
                let held = &mut after.locks[lock][thread];
                *(if shared { &mut held.1 } else { &mut held.0 }) += 1;
            }
            Act::Release { lock, shared } => {
                let held = &mut after.locks[lock][thread];
                *(if shared { &mut held.1 } else { &mut held.0 }) -= 1;
            }
            Act::Create { sem, permits } => after.permits[sem] = Some(permits),
            Act::Take(sem) => after.permits[sem] = after.permits[sem].map(|permits| permits - 1),
            Act::Give(sem) => after.permits[sem] = after.permits[sem].map(|permits| permits + 1),
            Act::Wait { cond, lock } => {
                let depth = std::mem::take(&mut after.locks[lock][thread].0);
                after.waiting[thread] = Some((cond, depth, false));
            }
            Act::Woken { lock, .. } | Act::Timeout { lock, .. } => {
                let depth = after.waiting[thread].take().map_or(1, |waiting| waiting.1);
                after.locks[lock][thread].0 = depth;
            }
            Act::Notify(cond) => return wake_one(&after, cond),
            Act::NotifyAll(cond) => {
                for waiting in after.waiting.iter_mut().flatten().filter(|waiting| waiting.0 == cond) {
                    waiting.2 = true;
                }
            }
            Act::Arrive(barrier) => {
                after.place[barrier][thread] = after.arrived[barrier];
                after.arrived[barrier] += 1;
            }
            Act::Depart(barrier) => after.place[barrier][thread] = 0,
            Act::Attempt { .. } | Act::Fork | Act::Join(_) | Act::End | Act::Branch | Act::Nothing => {}
        }
        vec![after]
    }
}

/// All ways to wake one of those that wait on the condition.
fn wake_one(state: &State, cond: usize) -> Vec<State> {
    let sleeps = |&thread: &usize| matches!(state.waiting[thread], Some((on, _, false)) if on == cond);
    let wake = |thread: usize| {
        let mut after = state.clone();
        after.waiting[thread] = after.waiting[thread].map(|(on, depth, _)| (on, depth, true));
        after
    };
    let all: Vec<State> = (0..state.waiting.len()).filter(sleeps).map(wake).collect();
    if all.is_empty() { vec![state.clone()] } else { all }
}
