//! A schedule of a window as it runs: which thread holds what, which wrote last, and which reads deviate from what was
//! observed.
//!
//! Tells what stands in the way of an event, in terms of other events, so that a search can learn from it. The order of
//! threads, forks, joins and the like is not looked at: all schedules are made to keep it.

mod meetings;

use foretell_trace::Op;
use foretell_trace::dependence::Reads;

use rustc_hash::FxHashSet;

use self::meetings::Gathered;
use crate::closure::{Closure, ENTRY, OUTSIDE};
use crate::flow::Searched;
use crate::index::{NONE, permits_after};
use crate::window::meetings::Role;
use crate::window::{Border, Domain, Window};

/// The state after some events of a window have run.
#[derive(Clone, Debug)]
pub(crate) struct Replay<'w> {
    window: &'w Window<'w>,
    /// For each variable, its last writer.
    writer: Vec<u32>,
    /// For each variable, a deviating read by which its last writer wrote something else, or [`NONE`].
    foreign: Vec<u32>,
    /// For each thread, the first read that saw something else than observed, or [`NONE`].
    deviated: Vec<u32>,
    /// All of them, where single reads matter, and what is known of sets in which they may be.
    deviating: FxHashSet<u32>,
    searched: Searched,
    /// For each lock, the sections that hold it.
    holders: Vec<Vec<u32>>,
    permits: Vec<Option<u64>>,
    /// Which threads wait at conditions and barriers, if any ever does.
    gathered: Option<Gathered<'w>>,
    /// For each event that begins a section or works on a semaphore, the section or the semaphore.
    subjects: &'w Subjects,
}

/// What the events of a window work on. Found once for all replays of the window.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    subject: Vec<Subject>,
    /// The reads that may see something from outside of an open window, and with that anything.
    free: FxHashSet<u32>,
}

/// What an event works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Subject {
    Nothing,
    WindowSection(u32),
    Semaphore(u32),
    Attempt(u32),
}

impl Subjects {
    /// What the event works on.
    pub(crate) fn of(&self, event: u32) -> Subject {
        self.subject[event as usize]
    }

    pub(crate) fn new(closure: &Closure<'_>) -> Subjects {
        let window = closure.window;
        let mut subject = vec![Subject::Nothing; window.len() as usize];
        for (number, section) in (0u32..).zip(&window.sections) {
            // In an open window a section that begins before it has no event to begin with.
            if let Some(begin) = subject.get_mut(section.begin as usize)
                && window.op(section.begin).section_begin().is_some()
                && *begin == Subject::Nothing
            {
                *begin = Subject::WindowSection(number);
            }
        }
        for (number, sem) in (0u32..).zip(&window.semaphores) {
            sem.ops.iter().for_each(|&op| subject[op as usize] = Subject::Semaphore(number));
        }
        for (number, attempt) in (0u32..).zip(&window.attempts) {
            subject[attempt.event as usize] = Subject::Attempt(number);
        }
        let is_free = |&read: &u32| {
            matches!(window.domain(read), Domain::Beyond { .. }) && closure.sources(read, 1) == [OUTSIDE]
        };
        let open = window.border == Border::Open;
        let free = (0..window.len()).filter(|_| open).filter(is_free).collect();
        Subjects { subject, free }
    }
}

/// What stands in the way of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// This section holds the lock of the section that would begin.
    Held { holder: u32, section: u32 },
    /// The lock is free, so the attempt to take it would not fail.
    NotHeld(u32),
    /// The semaphore has no permit.
    NoPermit(u32),
    /// What the event does at a condition or a barrier cannot be done yet.
    InVain(Role),
}

impl<'w> Replay<'w> {
    pub(crate) fn new(window: &'w Window<'w>, subjects: &'w Subjects) -> Replay<'w> {
        Replay {
            window,
            writer: vec![ENTRY; window.vars.len()],
            foreign: vec![NONE; window.vars.len()],
            deviated: vec![NONE; window.threads.len()],
            deviating: FxHashSet::default(),
            searched: Searched::default(),
            holders: window.locks.iter().map(|lock| lock.held.clone()).collect(),
            permits: window.semaphores.iter().map(|sem| sem.permits).collect(),
            gathered: (!window.meetings.are_none()).then(|| Gathered::new(&window.meetings)),
            subjects,
        }
    }

    /// The last writer of the variable that the event accesses.
    pub(crate) fn writer(&self, event: u32) -> u32 {
        self.writer[self.window.var[event as usize] as usize]
    }

    /// A deviating read by which the last writer of the event's variable wrote something else, or [`NONE`].
    pub(crate) fn foreign(&self, event: u32) -> u32 {
        self.foreign[self.window.var[event as usize] as usize]
    }

    /// Whether a read would see what it saw.
    pub(crate) fn is_as_observed(&self, read: u32) -> bool {
        let (writer, own) = (self.writer(read), self.foreign(read) == NONE);
        match self.window.domain(read) {
            Domain::Free => true,
            Domain::Entry => writer == ENTRY,
            Domain::Write(write) => writer == write && own,
            Domain::Beyond { .. } if self.subjects.free.contains(&read) => true,
            Domain::Beyond { .. } if writer == ENTRY => false,
            Domain::Group { entry, .. } if writer == ENTRY => entry,
            Domain::Group { .. } | Domain::Beyond { .. } => {
                let index = self.window.index;
                let seen = self.window.op(read).value_read();
                own && seen.is_some() && index.value_after(self.window.begin + writer) == seen
            }
        }
    }

    /// What stands in the way of the event, besides what it reads.
    pub(crate) fn obstacle(&self, event: u32) -> Option<Obstacle> {
        let in_vain = || {
            let role = self.gathered.as_ref()?.in_vain(event, self.window.thread[event as usize])?;
            Some(Obstacle::InVain(role))
        };
        self.obstacle_at_object(event).or_else(in_vain)
    }

    fn obstacle_at_object(&self, event: u32) -> Option<Obstacle> {
        match self.subjects.subject[event as usize] {
            Subject::Nothing => None,
            Subject::WindowSection(number) => {
                let section = &self.window.sections[number as usize];
                let excludes = |&&holder: &&u32| self.window.sections[holder as usize].excludes(section);
                let holder = self.holders[section.lock as usize].iter().find(excludes);
                holder.map(|&holder| Obstacle::Held { holder, section: number })
            }
            Subject::Semaphore(number) => {
                let waits = matches!(self.window.op(event), Op::SemWait(_));
                (waits && self.permits[number as usize] == Some(0)).then_some(Obstacle::NoPermit(number))
            }
            Subject::Attempt(number) => {
                let attempt = &self.window.attempts[number as usize];
                let fails = |&holder: &u32| attempt.mode.excludes(self.window.sections[holder as usize].mode);
                let held = self.holders[attempt.lock as usize].iter().any(fails);
                (!held).then_some(Obstacle::NotHeld(number))
            }
        }
    }

    /// Runs the event, whatever stands in its way.
    pub(crate) fn step(&mut self, event: u32) {
        let (window, thread) = (self.window, self.window.thread[event as usize] as usize);
        if let Some(access) = window.op(event).access() {
            if access.kind.reads() {
                self.read(event, thread);
            }
            if window.changes_memory(event) {
                let var = window.var[event as usize] as usize;
                self.writer[var] = event;
                self.foreign[var] = self.deviation_behind(event, thread);
            }
            return;
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.step(event, window.thread[event as usize]);
        }
        match self.subjects.subject[event as usize] {
            Subject::WindowSection(number) => {
                self.holders[window.sections[number as usize].lock as usize].push(number);
            }
            Subject::Semaphore(number) => {
                let permits = &mut self.permits[number as usize];
                *permits = permits_after(window.op(event), *permits);
            }
            Subject::Nothing | Subject::Attempt(_) => {}
        }
        if let Some(section) = window.section_ending(event) {
            let lock = window.sections[section as usize].lock as usize;
            self.holders[lock].retain(|&holder| holder != section);
        }
    }

    /// Takes note of a read that sees something else than observed: of the first one of its thread, or of all where
    /// single ones matter.
    fn read(&mut self, event: u32, thread: usize) {
        let flow = self.window.flow();
        if (self.deviated[thread] == NONE || flow.is_some()) && !self.is_as_observed(event) {
            self.deviated[thread] = self.deviated[thread].min(event);
            if flow.is_some() {
                self.deviating.insert(event);
            }
        }
    }

    /// A deviating read of the thread by which the event writes something else, or [`NONE`].
    fn deviation_behind(&mut self, write: u32, thread: usize) -> u32 {
        let (begin, first) = (self.window.begin, self.deviated[thread]);
        if self.window.values().is_some() {
            // Reads that must see what they saw see writes of constants.
            return NONE;
        }
        let Some(flow) = self.window.flow().filter(|_| first != NONE) else { return first };
        match flow.value_of(begin + write) {
            Reads::EVERYTHING => first,
            value => {
                let has_deviated = |read: u32| self.deviating.contains(&(read - begin));
                match flow.deviation_in(value, begin, &mut self.searched, has_deviated) {
                    NONE => NONE,
                    deviation => deviation - begin,
                }
            }
        }
    }
}
