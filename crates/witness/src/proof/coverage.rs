//! Which pairs of a whole trace are left when all is ruled out that one pass over it rules out.
//!
//! A pair cannot be adjacent if every schedule needs one before the other ([`super::order`]), if both threads would
//! hold one lock in modes that exclude each other, or if what one of them saw has no recorded reason. Pairs of one
//! thread do not race, nor do pairs that do not conflict.

use std::collections::{HashMap, HashSet};

use foretell_trace::{Access, EventId, Loc, LockId, LockMode, Op, ops};

use super::facts::TraceFacts;
use crate::observed::{NONE, id};

/// So many entries all clocks that are kept may have together; a clock that is not kept orders nothing.
const MOST_ENTRIES: usize = 1 << 26;

/// For each thread, how many of its events come before some point in every schedule.
type Clock = Box<[u32]>;

/// The locks that a thread holds, and how.
type Held = Vec<(LockId, LockMode)>;

/// Accesses of one thread to one variable under the same locks.
struct Group {
    thread: u32,
    access: Access,
    /// Which set of locks is held.
    held: usize,
    /// The last of them.
    last: u32,
    /// By their locations, each in the order of the trace.
    members: Vec<(Loc, Vec<u32>)>,
    of_loc: HashMap<Loc, usize>,
}

/// The pass over the trace.
struct Pass<'f> {
    facts: &'f TraceFacts<'f>,
    /// For each thread, what comes before its next event.
    clocks: Vec<Clock>,
    /// The same for what comes after single events that others need.
    after: HashMap<u32, Clock>,
    needed: HashSet<u32>,
    /// What comes before everything from here on.
    fence: Option<Clock>,
    /// For each thread, the locks that it holds.
    held: Vec<Held>,
    sets: Vec<Held>,
    set_of: HashMap<Held, usize>,
    /// For each variable.
    groups: Vec<Vec<Group>>,
    alloc: HashMap<usize, u32>,
}

/// Calls `visit` with each pair that is left, in the order of their later accesses, until it fails. Pairs of locations
/// that are `settled` are left out. Says whether it came to the end of the trace, and was not stopped before.
pub(super) fn for_each_open<E>(
    facts: &TraceFacts<'_>,
    settled: impl Fn(Loc, Loc) -> bool,
    is_stopped: &dyn Fn() -> bool,
    mut visit: impl FnMut(EventId, EventId) -> Result<(), E>,
) -> Result<bool, E> {
    let mut pass = Pass::new(facts);
    for (index, _) in (0u32..).zip(facts.trace().events()) {
        if is_stopped() {
            return Ok(false);
        }
        pass.enter(index);
        for earlier in pass.rivals(index, &settled) {
            visit(id(earlier), id(index))?;
        }
        pass.leave(index);
    }
    Ok(true)
}

impl<'f> Pass<'f> {
    fn new(facts: &'f TraceFacts<'f>) -> Pass<'f> {
        let (threads, names) = (facts.trace().thread_count(), facts.trace().names());
        let mut pass = Pass {
            facts,
            clocks: vec![vec![0; threads].into(); threads],
            after: HashMap::new(),
            needed: HashSet::new(),
            fence: None,
            held: vec![Vec::new(); threads],
            sets: vec![Vec::new()],
            set_of: HashMap::from([(Vec::new(), 0)]),
            groups: (0..names.vars.len()).map(|_| Vec::new()).collect(),
            alloc: HashMap::new(),
        };
        for (index, event) in (0u32..).zip(facts.trace().events()) {
            if let Op::Alloc(var) = event.op {
                pass.alloc.insert(var.index(), index);
            }
            let needs = pass.needs(index);
            pass.needed.extend(needs);
        }
        pass
    }

    /// Events that every schedule needs before this one. [`super::order::is_needed`] holds for each.
    fn needs(&self, event: u32) -> Vec<u32> {
        let facts = self.facts;
        let mut needs = Vec::new();
        if facts.previous(event).is_none() {
            needs.push(facts.forks[facts.thread(event) as usize]);
        }
        match facts.op(event) {
            Op::Join(child) => {
                needs.push(facts.forks[child.index()]);
                needs.extend(facts.events_of(child.index()).last());
            }
            Op::SemWait(sem) | Op::SemPost(sem) => needs.extend(facts.semaphores[sem.index()].first()),
            Op::Woken { cond, .. } => needs.extend(facts.notifications[cond.index()].first()),
            Op::Arrive(barrier) | Op::Depart(barrier) => {
                needs.extend(facts.awaited(event, barrier.index()));
            }
            op @ (ops!(memory) | Op::Fork(_) | Op::Begin | Op::End | Op::Branch) => {
                let alloc = op.access().and_then(|access| self.alloc.get(&access.var.index()));
                needs.extend(alloc);
            }
            Op::SemInit { .. } | Op::Wait { .. } | Op::WaitTimeout { .. } => {}
            Op::Notify(_) | Op::NotifyAll(_) | ops!(locks | labels) => {}
        }
        needs.retain(|&need| need != NONE && super::order::is_needed(facts, need, event));
        needs
    }

    /// The event is about to run: its thread learns what it needs.
    fn enter(&mut self, event: u32) {
        let thread = self.facts.thread(event) as usize;
        for need in self.needs(event) {
            if let Some(clock) = self.after.get(&need) {
                join(&mut self.clocks[thread], clock);
            }
        }
        if let Some(fence) = &self.fence {
            join(&mut self.clocks[thread], fence);
        }
    }

    /// The event has run.
    fn leave(&mut self, event: u32) {
        let step = self.facts.event(event);
        let thread = step.thread.index();
        self.clocks[thread][thread] += 1;
        if let Some((lock, mode)) = step.op.section_end() {
            self.held[thread].retain(|held| *held != (lock, mode));
        }
        if let Some(begun) = step.op.section_begin() {
            self.held[thread].push(begun);
            self.held[thread].sort_unstable();
        }
        if step.unexplained {
            // Everything before it in the trace comes before it.
            self.fence = Some((0..self.clocks.len()).map(|of| self.clocks[of][of]).collect());
        }
        let is_room = (self.after.len() + 1).saturating_mul(self.clocks.len()) <= MOST_ENTRIES;
        if is_room && self.needed.contains(&event) {
            self.after.insert(event, self.clocks[thread].clone());
        }
        self.note_access(event);
    }

    fn note_access(&mut self, event: u32) {
        let step = self.facts.event(event);
        let Some(access) = step.op.access().filter(|_| !step.unexplained) else { return };
        let held = &self.held[step.thread.index()];
        let set = self.set_of.get(held).copied().unwrap_or_else(|| {
            self.sets.push(held.clone());
            self.set_of.insert(held.clone(), self.sets.len() - 1);
            self.sets.len() - 1
        });
        let thread = self.facts.thread(event);
        let groups = &mut self.groups[access.var.index()];
        let alike = |group: &Group| (group.thread, group.access, group.held) == (thread, access, set);
        let place = groups.iter().position(alike).unwrap_or_else(|| {
            let (members, of_loc) = (Vec::new(), HashMap::new());
            groups.push(Group { thread, access, held: set, last: event, members, of_loc });
            groups.len() - 1
        });
        groups[place].add(event, step.loc);
    }

    /// The earlier accesses with which the event may race, as far as this pass sees.
    fn rivals(&self, event: u32, settled: &impl Fn(Loc, Loc) -> bool) -> Vec<u32> {
        let step = self.facts.event(event);
        let Some(access) = step.op.access().filter(|_| !step.unexplained) else { return Vec::new() };
        let (thread, held) = (step.thread.index(), &self.held[step.thread.index()]);
        let excludes = |group: &Group| {
            let others = &self.sets[group.held];
            held.iter()
                .any(|(lock, mode)| others.iter().any(|(other, by)| other == lock && by.excludes(*mode)))
        };
        let mut rivals = Vec::new();
        for group in &self.groups[access.var.index()] {
            let of = group.thread as usize;
            if of == thread || !group.access.conflicts_with(access) {
                continue;
            }
            let known = self.clocks[thread][of];
            if self.facts.place(group.last) < known || excludes(group) {
                continue;
            }
            for (_, members) in group.members.iter().filter(|(loc, _)| !settled(*loc, step.loc)) {
                let ordered = members.partition_point(|&member| self.facts.place(member) < known);
                rivals.extend(&members[ordered..]);
            }
        }
        rivals.sort_unstable();
        rivals
    }
}

impl Group {
    fn add(&mut self, event: u32, loc: Loc) {
        self.last = event;
        let place = *self.of_loc.entry(loc).or_insert(self.members.len());
        match self.members.get_mut(place) {
            Some((_, members)) => members.push(event),
            None => self.members.push((loc, vec![event])),
        }
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}
