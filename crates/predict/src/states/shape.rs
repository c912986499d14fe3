//! What is fixed about all states of a window: which events nothing can interfere with, and what a state is known by.

use foretell_trace::{LockMode, Model, Op};

use crate::closure::{Closure, ENTRY};
use crate::index::NONE;
use crate::replay::{Subject, Subjects};
use crate::window::{BEFORE, Border, Domain, VariableAccesses, Window};

use super::{FOREIGN, pins_as_a_whole};

/// Stands for "nothing to restore" and "in no group".
pub(super) const NOTHING: u32 = NONE;
/// A state of more numbers than this is not small.
const WIDEST: usize = 96;

/// What is fixed about all states of a window.
#[derive(Debug)]
pub(super) struct WindowConstants {
    /// For each event, whether nothing that other threads do can interfere with it.
    alone: Vec<bool>,
    /// For each event that writes, the writes of the same value.
    group: Vec<u32>,
    /// Whether the threads have to do with the goal at all.
    matters: Vec<bool>,
    /// For each section, whether its beginning is one that takes a lock; spin locks are variables.
    held: Vec<bool>,
    /// The variables whose content is part of a state.
    tracked: Vec<Tracked>,
    /// For each event, whether the goal or an event of another thread needs it to have run, whatever it sees.
    needed: Vec<bool>,
    threads: usize,
    model: Model,
}

/// A variable whose content is part of a state as long as it is read.
#[derive(Debug)]
struct Tracked {
    var: usize,
    /// For each thread that reads it, the place after its last read.
    readers: Vec<(usize, u32)>,
    /// Whether it matters who wrote, not just what.
    by_write: bool,
    /// What is there before the window, as a group.
    entry: u32,
}

impl WindowConstants {
    /// The shape of the states of a window, if they are small and of a kind that can be searched.
    pub(super) fn new(closure: &Closure<'_>, subjects: &Subjects) -> Option<WindowConstants> {
        let window = closure.window;
        let is_of_kind = window.border == Border::Fixed
            && window.twins.is_none()
            && window.meetings.are_none()
            && window.notifications.is_empty()
            && window.fences.is_empty()
            && pins_as_a_whole(window.model);
        if !is_of_kind {
            return None;
        }
        let group = groups(window);
        let tracked = tracked(window);
        let threads = window.threads.len();
        if threads + threads.div_ceil(32) + tracked.len() > WIDEST {
            return None;
        }
        let alone = Interference::new(window, subjects).alone();
        let held = window.sections.iter().map(|section| takes_lock(window, section.begin)).collect();
        let matters = connected(window, subjects, &alone);
        let needed = needed(window);
        let model = window.model;
        Some(WindowConstants { alone, group, matters, held, tracked, needed, threads, model })
    }

    /// How many numbers a state is known by.
    pub(super) fn width(&self) -> usize {
        self.threads + self.threads.div_ceil(32) + self.tracked.len()
    }

    /// The variables whose content is part of a state.
    pub(super) fn tracked_vars(&self) -> impl Iterator<Item = usize> {
        self.tracked.iter().map(|tracked| tracked.var)
    }

    pub(super) fn is_alone(&self, event: u32) -> bool {
        self.alone[event as usize]
    }

    pub(super) fn matters(&self, thread: usize) -> bool {
        self.matters[thread]
    }

    pub(super) fn is_held(&self, section: u32) -> bool {
        self.held[section as usize]
    }

    pub(super) fn group_of(&self, write: u32) -> u32 {
        self.group[write as usize]
    }

    /// Whether the read has to see what it saw, or else may as well not run.
    pub(super) fn is_pinned(&self, read: u32, closure: &Closure<'_>) -> bool {
        let is_kept = closure.kept.contains(read, closure.window);
        match self.model {
            Model::ControlFlow => is_kept,
            // Its thread would stop there, which is of use only if another one waits for just that.
            Model::SameValue => is_kept || !self.needed[read as usize],
            Model::SameWrite | Model::Necessary | Model::Values => true,
        }
    }

    /// Whether a thread that has read something else than observed stops at this operation.
    pub(super) fn stops_deviated(&self, op: Op) -> bool {
        self.model != Model::ControlFlow || op == Op::Branch
    }

    /// Writes down what the state is known by.
    pub(super) fn key(&self, next: &[u32], deviated: &[bool], content: &[u32], key: &mut [u32]) {
        key[..self.threads].copy_from_slice(next);
        let flags = &mut key[self.threads..];
        for (flags, deviated) in flags.iter_mut().zip(deviated.chunks(32)) {
            *flags = deviated.iter().rev().fold(0, |bits, &one| bits << 1 | u32::from(one));
        }
        for (part, tracked) in flags[self.threads.div_ceil(32)..].iter_mut().zip(&self.tracked) {
            let is_read = tracked.readers.iter().any(|&(thread, end)| next[thread] < end);
            *part = if is_read { self.class(tracked, content[tracked.var]) } else { NOTHING };
        }
    }

    /// What the content means to those who read it.
    fn class(&self, tracked: &Tracked, content: u32) -> u32 {
        match content {
            _ if tracked.by_write => content,
            ENTRY => tracked.entry,
            FOREIGN => FOREIGN,
            write => self.group[write as usize],
        }
    }
}

/// For each event, the group of its value.
fn groups(window: &Window<'_>) -> Vec<u32> {
    let mut group_of = vec![NOTHING; window.len() as usize];
    for number in 0..window.group_count() {
        for &write in window.group(number) {
            group_of[write as usize] = number;
        }
    }
    group_of
}

fn may_run(window: &Window<'_>, event: u32) -> bool {
    window.place[event as usize] < window.limit[window.thread[event as usize] as usize]
}

fn reads(window: &Window<'_>, event: u32) -> bool {
    window.op(event).access().is_some_and(|access| access.kind.reads())
}

/// Whether the event takes a lock, as far as the recorder knows.
fn takes_lock(window: &Window<'_>, event: u32) -> bool {
    event == BEFORE || ((event as usize) < window.place.len() && window.op(event).section_begin().is_some())
}

fn tracked(window: &Window<'_>) -> Vec<Tracked> {
    let tracked = window.vars.iter().enumerate().filter_map(|(var, variable)| {
        let reading =
            || variable.accesses.iter().copied().filter(|&at| may_run(window, at) && reads(window, at));
        let mut readers: Vec<(usize, u32)> = Vec::new();
        for read in reading() {
            let (thread, end) = (window.thread[read as usize] as usize, window.place[read as usize] + 1);
            match readers.iter_mut().find(|reader| reader.0 == thread) {
                Some(reader) => reader.1 = end,
                None => readers.push((thread, end)),
            }
        }
        let by_write = reading().any(|read| matches!(window.domain(read), Domain::Write(_) | Domain::Entry));
        let entry = reading().find_map(|read| match window.domain(read) {
            Domain::Group { group, entry: true } => Some(group),
            _ => None,
        });
        let is_used = !variable.writes.is_empty() && !readers.is_empty();
        is_used.then(|| Tracked { var, readers, by_write, entry: entry.unwrap_or(ENTRY) })
    });
    tracked.collect()
}

/// Finds the events that nothing can interfere with.
struct Interference<'w> {
    window: &'w Window<'w>,
    subjects: &'w Subjects,
    /// For each variable, whether its accesses cannot interfere with each other.
    quiet: Vec<bool>,
    /// For each lock, whether any attempt to take it fails, and how many threads use it.
    attempted: Vec<bool>,
    shared: Vec<bool>,
}

impl<'w> Interference<'w> {
    fn new(window: &'w Window<'w>, subjects: &'w Subjects) -> Interference<'w> {
        let mut attempted = vec![false; window.locks.len()];
        window.attempts.iter().for_each(|attempt| attempted[attempt.lock as usize] = true);
        let shared = window.locks.iter().map(|lock| {
            let first = lock.sections.first().map(|of| of.0);
            lock.sections.iter().any(|of| Some(of.0) != first)
        });
        let shared = shared.collect();
        let quiet = vec![false; window.vars.len()];
        let mut interference = Interference { window, subjects, quiet, attempted, shared };
        let guards = interference.guards();
        interference.quiet = window
            .vars
            .iter()
            .zip(&guards)
            .map(|(variable, guards)| is_quiet(window, variable, guards))
            .collect();
        interference
    }

    fn alone(&self) -> Vec<bool> {
        (0..self.window.len()).map(|event| self.is_alone(event)).collect()
    }

    fn is_alone(&self, event: u32) -> bool {
        let window = self.window;
        if window.op(event).access().is_some() {
            return self.quiet[window.var[event as usize] as usize];
        }
        let ended = window.section_ending(event).map(|number| window.sections[number as usize].lock);
        match self.subjects.of(event) {
            _ if ended.is_some_and(|lock| self.attempted[lock as usize]) => false,
            Subject::Nothing => true,
            Subject::WindowSection(number) => {
                let lock = window.sections[number as usize].lock as usize;
                !self.attempted[lock] && !self.shared[lock]
            }
            // A post takes no permit.
            Subject::Semaphore(_) => !matches!(window.op(event), Op::SemWait(_)),
            Subject::Attempt(_) => false,
        }
    }

    /// For each variable, the locks that all its accesses hold exclusively; nothing if it has no accesses.
    fn guards(&self) -> Vec<Option<Vec<u32>>> {
        let window = self.window;
        let mut guards: Vec<Option<Vec<u32>>> = vec![None; window.vars.len()];
        for (thread, events) in window.threads.iter().enumerate() {
            let mut held = HeldLocks { window, to_begin: &window.sections_of[thread], open: Vec::new() };
            for &event in &events[..window.limit[thread] as usize] {
                let locks = held.at(window.place[event as usize]);
                match guards.get_mut(window.var[event as usize] as usize) {
                    Some(Some(guards)) => guards.retain(|lock| locks.clone().any(|held| held == *lock)),
                    Some(guards) => *guards = Some(locks.collect()),
                    None => {}
                }
            }
        }
        guards
    }
}

/// The locks that a thread holds, as it goes on.
struct HeldLocks<'w> {
    window: &'w Window<'w>,
    /// The sections that have not begun, in the order of their beginnings.
    to_begin: &'w [u32],
    open: Vec<u32>,
}

impl HeldLocks<'_> {
    /// The locks that the thread holds exclusively at this place, which is after the last one that was asked for.
    fn at(&mut self, place: u32) -> impl Iterator<Item = u32> + Clone {
        let window = self.window;
        let place_of = |event: u32| window.place.get(event as usize).copied();
        while let Some((&first, rest)) = self.to_begin.split_first()
            && place_of(window.sections[first as usize].begin).is_none_or(|begin| begin <= place)
        {
            self.to_begin = rest;
            self.open.push(first);
        }
        self.open.retain(|&open| place_of(window.sections[open as usize].end).is_none_or(|end| place <= end));
        let sections = self.open.iter().map(move |&open| &window.sections[open as usize]);
        sections.filter(|section| section.mode == LockMode::Exclusive).map(|section| section.lock)
    }
}

/// For each event, whether the goal or one of another thread needs it to have run.
fn needed(window: &Window<'_>) -> Vec<bool> {
    let mut needed = vec![false; window.len() as usize];
    let needs = (0..window.len()).flat_map(|event| window.needs(event));
    needs.for_each(|&need| needed[need as usize] = true);
    window.goal_ran().for_each(|event| needed[event as usize] = true);
    needed
}

/// Whether accesses to a variable cannot interfere with those of other threads: one thread makes all of them, all are
/// made under one lock, or nothing reads what is written.
fn is_quiet(window: &Window<'_>, variable: &VariableAccesses, guards: &Option<Vec<u32>>) -> bool {
    let running = || variable.accesses.iter().copied().filter(|&access| may_run(window, access));
    let mut threads = running().map(|access| window.thread[access as usize]);
    let first = threads.next();
    let is_local = threads.all(|thread| Some(thread) == first);
    let is_guarded = guards.as_ref().is_some_and(|guards| !guards.is_empty());
    let is_unread = variable.free == NONE && !running().any(|access| reads(window, access));
    let is_never_written = variable.free == NONE && !running().any(|access| window.changes_memory(access));
    is_local || is_guarded || is_unread || is_never_written
}

/// The threads that have to do with the goal: those of its events, and those that share something with such a thread
/// which is not quiet, directly or through others.
fn connected(window: &Window<'_>, subjects: &Subjects, alone: &[bool]) -> Vec<bool> {
    let threads = window.threads.len();
    let objects = threads + window.vars.len() + window.locks.len() + window.semaphores.len();
    let mut groups = Groups::new(objects);
    for event in (0..window.len()).filter(|&event| may_run(window, event) || window.next.contains(&event)) {
        let thread = window.thread[event as usize] as usize;
        for &need in window.needs(event) {
            groups.join(thread, window.thread[need as usize] as usize);
        }
        let var = window.var[event as usize] as usize;
        if window.op(event).access().is_some() && !alone[event as usize] {
            groups.join(thread, threads + var);
        }
        let locks = threads + window.vars.len();
        match subjects.of(event) {
            Subject::WindowSection(number) => {
                groups.join(thread, locks + window.sections[number as usize].lock as usize);
            }
            Subject::Attempt(number) => {
                groups.join(thread, locks + window.attempts[number as usize].lock as usize);
            }
            Subject::Semaphore(number) => {
                groups.join(thread, locks + window.locks.len() + number as usize);
            }
            Subject::Nothing => {}
        }
    }
    // A thread that holds a lock from before the window is in the way of others.
    for section in window.sections.iter().filter(|section| section.begin == BEFORE) {
        groups.join(section.thread as usize, threads + window.vars.len() + section.lock as usize);
    }
    let goal = window.next.iter().copied().chain(window.goal_ran());
    let roots: Vec<usize> = goal.map(|event| groups.root(window.thread[event as usize] as usize)).collect();
    (0..threads).map(|thread| roots.contains(&groups.root(thread))).collect()
}

/// Things that belong together.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups { parent: (0..count).collect() }
    }

    fn root(&mut self, of: usize) -> usize {
        let mut at = of;
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one] = other;
    }
}
