//! A piece of a trace, and what a schedule of it has to keep to so that it reaches a goal.
//!
//! Events of a window are named by their place in it. What lies outside is treated in one of two ways:
//! * [`Border::Fixed`]: everything before the window has run as observed, nothing after it runs. A schedule of the
//!   window then is a schedule of the trace, but the trace may have others.
//! * [`Border::Open`]: whatever concerns events outside is left out. Every schedule of the trace that reaches the goal
//!   gives one of the window, but not the other way round: what is impossible here is impossible.
//!
//! For a window that is the whole trace the two are the same.

mod build;
pub(crate) mod meetings;

use std::ops::Range;

use foretell_trace::dependence::Reads;
use foretell_trace::{Event, EventId, LockMode, Model, Op, Values, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use self::build::Builder;
use self::meetings::Meetings;
use crate::causal::Causal;
use crate::flow::Flow;
use crate::goal::Goal;
use crate::index::{Index, NONE};
use crate::kept::Demand;

/// How the events outside of a window are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Border {
    Fixed,
    Open,
}

/// What a window is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowQuestion<'g> {
    /// What is to be reached.
    pub(crate) goal: &'g Goal,
    /// Which reads are pinned.
    pub(crate) model: Model,
    /// Whether a pinned read must see the same write, even where the trace shows values.
    pub(crate) same_write: bool,
    /// If all events have to run, not just a prefix that ends with a race: the two accesses in the order in which
    /// they then run, one right after the other.
    pub(crate) twins: Option<[u32; 2]>,
}

/// The end of a section that cannot run.
pub(crate) const NEVER: u32 = NONE;
/// The end of a section that lies outside of the window and may run.
pub(crate) const BEYOND: u32 = NONE - 1;
/// The beginning of a section that has run before the window.
pub(crate) const BEFORE: u32 = NONE - 2;

/// A piece of a trace with the constraints on its schedules.
#[derive(Debug)]
pub(crate) struct Window<'i> {
    pub(crate) index: &'i Index<'i>,
    /// What is ordered at a glance, if that is to be used.
    causal: Option<&'i Causal>,
    pub(crate) border: Border,
    pub(crate) model: Model,
    /// Whether a pinned read must see the same write, even where the trace shows values.
    pub(crate) same_write: bool,
    /// Which events of the trace these are.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// What people call what is to be reached.
    pub(crate) goal: &'static str,
    /// The events that come next in the end, and do not run.
    pub(crate) next: Box<[u32]>,
    /// Events that must have run by then.
    pub(crate) ran: Box<[u32]>,
    /// Events that must have run, the first before the second.
    pub(crate) ordered: Box<[(u32, u32)]>,
    /// The two accesses in the order in which they run, if all events have to run.
    pub(crate) twins: Option<[u32; 2]>,
    /// The thread of each event, numbered within the window.
    pub(crate) thread: Vec<u32>,
    /// Where each event stands among those of its thread.
    pub(crate) place: Vec<u32>,
    pub(crate) threads: Vec<Vec<u32>>,
    /// How many events of each thread may run.
    pub(crate) limit: Vec<u32>,
    /// For each event, where its part of `needs` ends.
    need_ends: Vec<u32>,
    /// The events of other threads that must run before an event of this window does.
    needs: Vec<u32>,
    /// For each thread, the places of the first events that its reads steer, each with the read; sorted. Empty unless
    /// reads are pinned because of this.
    steering: Vec<Vec<(u32, u32)>>,
    /// For each event, the number of its variable, or [`NONE`].
    pub(crate) var: Vec<u32>,
    pub(crate) vars: Vec<VariableAccesses>,
    /// What each event must see if it reads.
    domains: Vec<Domain>,
    /// The writes of the same value to the same variable.
    groups: Vec<Vec<u32>>,
    outsides: Vec<Outside>,
    pub(crate) sections: Vec<WindowSection>,
    /// The sections of each thread, in the order of their beginnings.
    pub(crate) sections_of: Vec<Vec<u32>>,
    /// The section that ends at an event.
    section_ending: FxHashMap<u32, u32>,
    pub(crate) locks: Vec<LockSections>,
    /// Attempts to lock that failed.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) semaphores: Vec<SemaphoreOperations>,
    /// For a return from a wait, the only notification that can wake it: it must come after the wait.
    pub(crate) notifications: FxHashMap<u32, u32>,
    /// Where others wait of whom it does not matter who they are.
    pub(crate) meetings: Meetings,
    /// The events that no recorded write explains.
    pub(crate) fences: Vec<u32>,
}

/// The accesses to one variable.
#[derive(Debug, Default)]
pub(crate) struct VariableAccesses {
    /// All of them, in the order of the trace.
    pub(crate) accesses: Vec<u32>,
    /// The writes, by thread.
    pub(crate) writes: Vec<(u32, Vec<u32>)>,
    /// The end of its memory, or [`NONE`].
    pub(crate) free: u32,
}

/// What a read must see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    /// Anything will do, as far as this window tells.
    Free,
    /// This write.
    Write(u32),
    /// What was there before the window.
    Entry,
    /// One of a group of writes, or what was there before the window.
    Group { group: u32, entry: bool },
    /// One of a group of writes, or something outside of the window.
    Beyond { group: u32, outside: u32 },
}

/// Who outside of the window writes what a read must see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outside {
    /// Threads that do so before the window.
    pub(crate) before: Vec<u32>,
    /// Threads that do so after the window.
    pub(crate) after: Vec<u32>,
    /// No write is needed: it is there at first.
    pub(crate) initial: bool,
    /// A thread of which this window shows nothing.
    pub(crate) absent: bool,
}

/// A time during which a thread holds a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowSection {
    pub(crate) lock: u32,
    pub(crate) mode: LockMode,
    pub(crate) thread: u32,
    /// The event that takes the lock, or [`BEFORE`].
    pub(crate) acquire: u32,
    /// Its first event, or [`BEFORE`]. Of a spin lock, the first one that runs only if the acquire succeeded.
    pub(crate) begin: u32,
    /// Its last event, [`NEVER`] or [`BEYOND`].
    pub(crate) end: u32,
}

impl WindowSection {
    pub(crate) fn excludes(&self, other: &WindowSection) -> bool {
        self.thread != other.thread && self.mode.excludes(other.mode)
    }

    /// Whether its end is an event of the window that may run.
    pub(crate) fn ends(&self) -> bool {
        self.end < BEFORE
    }
}

/// The sections of one lock.
#[derive(Debug, Default)]
pub(crate) struct LockSections {
    /// By thread and mode, in the order of their beginnings.
    pub(crate) sections: Vec<(u32, LockMode, Vec<u32>)>,
    /// Those that have begun before the window.
    pub(crate) held: Vec<u32>,
    /// The variable that it is made of, if it is a spin lock.
    pub(crate) word: Option<VarId>,
}

/// An attempt to lock that failed because the lock was held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) event: u32,
    pub(crate) lock: u32,
    /// What the attempt wanted.
    pub(crate) mode: LockMode,
}

/// The operations on one semaphore.
#[derive(Debug)]
pub(crate) struct SemaphoreOperations {
    /// The permits before the window; `None` if it is created in the window.
    pub(crate) permits: Option<u64>,
    pub(crate) ops: Vec<u32>,
}

impl<'i> Window<'i> {
    /// The window that holds the events of the trace from `begin` up to `end`, those of the goal among them.
    pub(crate) fn new(
        index: &'i Index<'i>,
        causal: Option<&'i Causal>,
        border: Border,
        question: WindowQuestion<'_>,
        begin: u32,
        end: u32,
    ) -> Window<'i> {
        let size = (end - begin) as usize;
        let local = |event: EventId| event.number() - 1 - begin;
        let &Goal { name: goal, ref next, ref ran, ref order } = question.goal;
        let mut window = Window {
            index,
            causal,
            border,
            model: question.model,
            same_write: question.same_write,
            begin,
            end,
            goal,
            next: next.iter().map(|&event| local(event)).collect(),
            ran: ran.iter().map(|&event| local(event)).collect(),
            ordered: order.iter().map(|&(before, after)| (local(before), local(after))).collect(),
            twins: question.twins.map(|twins| twins.map(|event| event - begin)),
            thread: Vec::with_capacity(size),
            place: Vec::with_capacity(size),
            threads: Vec::new(),
            limit: Vec::new(),
            need_ends: Vec::with_capacity(size),
            needs: Vec::new(),
            steering: Vec::new(),
            var: vec![NONE; size],
            vars: Vec::new(),
            domains: vec![Domain::Free; size],
            groups: Vec::new(),
            outsides: Vec::new(),
            sections: Vec::new(),
            sections_of: Vec::new(),
            section_ending: FxHashMap::default(),
            locks: Vec::new(),
            attempts: Vec::new(),
            semaphores: Vec::new(),
            notifications: FxHashMap::default(),
            meetings: Meetings::default(),
            fences: index
                .fences
                .iter()
                .filter(|fence| (begin..end).contains(fence))
                .map(|f| f - begin)
                .collect(),
        };
        Builder::new(&mut window).build();
        window
    }

    pub(crate) fn len(&self) -> u32 {
        self.end - self.begin
    }

    pub(crate) fn event(&self, event: u32) -> &'i Event {
        self.index.event(self.begin + event)
    }

    pub(crate) fn op(&self, event: u32) -> Op {
        self.event(event).op
    }

    /// The events of other threads that must run before this one.
    pub(crate) fn needs(&self, event: u32) -> &[u32] {
        let begin = event.checked_sub(1).map_or(0, |before| self.need_ends[before as usize]);
        &self.needs[begin as usize..self.need_ends[event as usize] as usize]
    }

    /// What a pinned read must see.
    pub(crate) fn domain(&self, read: u32) -> Domain {
        self.domains[read as usize]
    }

    pub(crate) fn group(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    pub(crate) fn group_count(&self) -> u32 {
        // There are no more groups than events.
        u32::try_from(self.groups.len()).unwrap_or(NONE)
    }

    pub(crate) fn outside(&self, outside: u32) -> &Outside {
        &self.outsides[outside as usize]
    }

    /// Whether the event is one that changes what its variable holds.
    pub(crate) fn changes_memory(&self, event: u32) -> bool {
        self.index.changes_memory(self.begin + event).is_some()
    }

    /// The section that ends at the event.
    pub(crate) fn section_ending(&self, event: u32) -> Option<u32> {
        self.section_ending.get(&event).copied()
    }

    /// The variable that the event accesses.
    pub(crate) fn variable(&self, event: u32) -> Option<&VariableAccesses> {
        self.vars.get(self.var[event as usize] as usize)
    }

    /// The event at a place of a thread.
    pub(crate) fn at(&self, thread: u32, place: u32) -> u32 {
        self.threads[thread as usize][place as usize]
    }

    /// The event before this one in its thread.
    pub(crate) fn before(&self, event: u32) -> Option<u32> {
        let place = self.place[event as usize].checked_sub(1)?;
        Some(self.at(self.thread[event as usize], place))
    }

    /// How values are computed, if that is what matters.
    pub(crate) fn values(&self) -> Option<&'i Values> {
        self.index.trace.values().filter(|_| self.model == Model::Values)
    }

    /// Which reads matter to what, if reads are pinned because of this.
    pub(crate) fn flow(&self) -> Option<&'i Flow<'i>> {
        self.index.flow.as_ref().filter(|_| self.model == Model::Necessary)
    }

    /// The reads that steer the events of a thread at these places, unless they steer something earlier; each after the
    /// place that it steers.
    pub(crate) fn steering(&self, thread: u32, places: Range<u32>) -> &[(u32, u32)] {
        let steering = &self.steering[thread as usize];
        let begin = steering.partition_point(|&(place, _)| place < places.start);
        let count = steering[begin..].partition_point(|&(place, _)| place < places.end);
        &steering[begin..begin + count]
    }

    /// The first event that the read steers, if that is in the window.
    pub(crate) fn steered_by(&self, read: u32) -> Option<u32> {
        let steered = match self.model {
            Model::Values => self.index.pinned.get((self.begin + read) as usize).copied()?,
            _ => self.flow()?.steered_by(self.begin + read),
        };
        (steered < self.end).then(|| steered - self.begin)
    }

    /// Which reads are pinned for the event to run.
    pub(crate) fn to_run(&self, event: u32, mut demand: impl FnMut(Demand)) {
        let (thread, place) = (self.thread[event as usize], self.place[event as usize]);
        let until = match self.model {
            _ if self.twins.is_some() => place + 1,
            Model::SameWrite => place + 1,
            Model::SameValue => place,
            Model::ControlFlow if self.op(event) == Op::Branch => place,
            Model::ControlFlow | Model::Necessary | Model::Values => 0,
        };
        demand(Demand::Until { thread, until });
        for &(_, read) in self.steering(thread, place..place + 1) {
            demand(Demand::Read { read, because: event });
        }
        if self.event(event).unexplained {
            self.to_be_as_observed(event, demand);
        }
    }

    /// Which reads are pinned for an event to run that no recorded write explains.
    pub(crate) fn to_be_as_observed(&self, fence: u32, mut demand: impl FnMut(Demand)) {
        for (thread, events) in (0u32..).zip(&self.threads) {
            let until = events.partition_point(|&event| event < fence);
            demand(Demand::Until { thread, until: u32::try_from(until).unwrap_or(NONE) });
        }
    }

    /// Which reads are pinned for the event, one of the goal, to come next.
    pub(crate) fn to_come_next(&self, event: u32, mut demand: impl FnMut(Demand)) {
        let (thread, place) = (self.thread[event as usize], self.place[event as usize]);
        if self.model == Model::SameValue {
            demand(Demand::Until { thread, until: place });
        }
        // What the event itself sees does not matter.
        let steering = self.steering(thread, place..place + 1).iter().map(|&(_, read)| read);
        for read in steering.filter(|&read| read != event) {
            demand(Demand::Read { read, because: event });
        }
    }

    /// Which reads are pinned for the event to write what it wrote. Sets of two that are in `known` are left out,
    /// and those that are come by are added.
    pub(crate) fn to_be_seen(
        &self,
        write: u32,
        known: &mut FxHashSet<usize>,
        mut demand: impl FnMut(Demand),
    ) {
        if self.model == Model::Values {
            // Who must see what was seen sees writes of constants.
            return;
        }
        match self.flow().map(|flow| (flow, flow.value_of(self.begin + write))) {
            None | Some((_, Reads::EVERYTHING)) => {
                // A thread that has seen something else writes something else; an update writes what it has seen.
                let updates = self.op(write).access().is_some_and(|access| access.kind.reads());
                let until = self.place[write as usize] + u32::from(updates);
                demand(Demand::Until { thread: self.thread[write as usize], until });
            }
            Some((flow, value)) => flow.for_each_read(value, self.begin, known, |read| {
                demand(Demand::Read { read: read - self.begin, because: write });
            }),
        }
    }

    /// The events that must have run in the end because the goal says so.
    pub(crate) fn goal_ran(&self) -> impl Iterator<Item = u32> {
        let ordered = self.ordered.iter().flat_map(|&(before, after)| [before, after]);
        self.ran.iter().copied().chain(ordered)
    }

    /// Whether an event of the thread is to come next in the end.
    pub(crate) fn has_next(&self, thread: u32) -> bool {
        self.next.iter().any(|&event| self.thread[event as usize] == thread)
    }

    /// If `count` events of the thread run, and then one is to come next if the goal says so: among how many of them
    /// all have to see what they saw.
    pub(crate) fn pinned_until(&self, thread: u32, count: u32) -> u32 {
        let Some(last) = count.checked_sub(1) else { return 0 };
        match self.model {
            _ if self.twins.is_some() => count,
            Model::SameWrite => count,
            Model::SameValue if self.has_next(thread) => count,
            Model::SameValue => last,
            Model::Necessary | Model::Values => 0,
            Model::ControlFlow => {
                let events = &self.threads[thread as usize][..count as usize];
                let branch = events.iter().rposition(|&event| self.op(event) == Op::Branch);
                // A thread has fewer than 2^32 events.
                branch.map_or(0, |place| u32::try_from(place).unwrap_or(last))
            }
        }
    }
}

impl Window<'_> {
    /// Lets no more events run than these.
    pub(crate) fn restrict(&mut self, limit: Vec<u32>) {
        self.limit = limit;
        for section in &mut self.sections {
            if section.ends() && self.place[section.end as usize] >= self.limit[section.thread as usize] {
                self.section_ending.remove(&section.end);
                section.end = NEVER;
            }
        }
    }

    /// Two accesses that run one right after the other are one for all others: what comes before the second comes
    /// before the first, and what comes after the first comes after the second.
    pub(crate) fn as_twins(&self, from: u32, to: u32) -> (u32, u32) {
        match self.twins {
            Some([first, second]) if to == second && from != first => (from, first),
            Some([first, second]) if from == first && to != second => (second, to),
            _ => (from, to),
        }
    }
}
