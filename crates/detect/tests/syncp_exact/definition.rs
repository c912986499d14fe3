//! Sync-preserving races by their definition: the least set, as bits over the events, by brute force.
//!
//! Shares no code with the detector, not even the order that every schedule keeps, so that a mistake in that shows too.

use foretell_detect::Pair;
use foretell_trace::{Event, EventId, LockId, Op, ThreadId, Trace};

/// A set of events of a trace with at most 64 of them.
type Set = u64;

/// What the events of a small trace need.
pub(crate) struct Definition<'a> {
    events: &'a [Event],
    /// For each event, what must have run for it to run.
    enable: Vec<Set>,
    /// For each event, the write that it reads from.
    reads_from: Vec<Set>,
    /// For each event that begins a section, the event that ends it.
    section_end: Vec<Option<usize>>,
}

fn bit(index: usize) -> Set {
    1 << index
}

impl<'a> Definition<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Definition<'a> {
        let events = trace.events();
        assert!(events.len() <= 64);
        let indices = || 0..events.len();
        Definition {
            events,
            enable: indices().map(|index| enable(events, index)).collect(),
            reads_from: indices().map(|index| reads_from(events, index)).collect(),
            section_end: indices().map(|index| section_end(events, index)).collect(),
        }
    }

    pub(crate) fn races(&self) -> Vec<Pair> {
        let mut races = Vec::new();
        for first in 0..self.events.len() {
            for second in first + 1..self.events.len() {
                if self.is_race(first, second) {
                    let id = |index| EventId::from_index(index).unwrap();
                    races.push(Pair { first: id(first), second: id(second) });
                }
            }
        }
        races
    }

    fn is_race(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.events[first], self.events[second]);
        let (Some(x), Some(y)) = (a.op.access(), b.op.access()) else { return false };
        if a.thread == b.thread || !x.conflicts_with(y) {
            return false;
        }
        self.ideal(first, second).is_some_and(|ideal| ideal & (bit(first) | bit(second)) == 0)
    }

    /// `None` if two sections would have to be open at once.
    fn ideal(&self, first: usize, second: usize) -> Option<Set> {
        let mut ideal = self.enable[first] | self.enable[second];
        loop {
            let mut larger = ideal;
            for index in (0..self.events.len()).filter(|&index| ideal & bit(index) != 0) {
                larger |= self.enable[index] | self.reads_from[index];
                for later in (index + 1..self.events.len()).filter(|&later| ideal & bit(later) != 0) {
                    if self.exclude_each_other(index, later) {
                        larger |= bit(self.section_end[index]?);
                    }
                }
            }
            if larger == ideal {
                return Some(ideal);
            }
            ideal = larger;
        }
    }

    fn exclude_each_other(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.events[first], self.events[second]);
        match (a.op.section_begin(), b.op.section_begin()) {
            (Some((lock, mode)), Some((other, other_mode))) => {
                a.thread != b.thread && lock == other && mode.excludes(other_mode)
            }
            _ => false,
        }
    }
}

fn matching(events: &[Event], range: std::ops::Range<usize>, wanted: impl Fn(&Event) -> bool) -> Set {
    range.filter(|&index| wanted(&events[index])).map(bit).sum()
}

fn last(set: Set) -> Set {
    set.checked_ilog2().map_or(0, |index| bit(index as usize))
}

/// What must have run for the event to run, apart from what its thread read.
fn enable(events: &[Event], index: usize) -> Set {
    let event = events[index];
    let earlier = |wanted: &dyn Fn(&Event) -> bool| matching(events, 0..index, wanted);
    let fence = last(earlier(&|other| other.unexplained));
    let fenced = if fence == 0 { 0 } else { fence | (fence - 1) };
    let fenced = if event.unexplained { bit(index) - 1 } else { fenced };
    let thread = earlier(&|other| other.thread == event.thread || other.op == Op::Fork(event.thread));
    let special = match event.op {
        Op::Join(child) => earlier(&|other| other.thread == child || other.op == Op::Fork(child)),
        Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => earlier(&|other| match other.op {
            Op::SemInit { sem: other, .. } | Op::SemWait(other) | Op::SemPost(other) => other == sem,
            _ => false,
        }),
        Op::Notify(cond) | Op::NotifyAll(cond) | Op::Woken { cond, .. } => {
            earlier(&|other| other.op == Op::Notify(cond) || other.op == Op::NotifyAll(cond))
        }
        Op::Arrive(_) => earlier(&|other| other.op == event.op),
        Op::Depart(_) => complete_arrivals(events, index),
        Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => {
            let owners = owners(events, index, lock);
            earlier(&|other| owners.contains(&other.thread))
        }
        op => match op.access() {
            Some(access) => earlier(&|other| other.op == Op::Alloc(access.var)),
            None => 0,
        },
    };
    fenced | thread | special
}

/// The arrivals of the barrier's generations that are complete once the departure at `index` runs.
fn complete_arrivals(events: &[Event], index: usize) -> Set {
    let Op::Depart(barrier) = events[index].op else { return 0 };
    let (mut all, mut complete) = (0, 0);
    for (position, event) in events[..=index].iter().enumerate() {
        if event.op == Op::Arrive(barrier) {
            all |= bit(position);
        } else if event.op == Op::Depart(barrier) {
            let own_arrival = last(all & matching(events, 0..position, |other| other.thread == event.thread));
            // The first departure of a generation completes it.
            if complete & own_arrival == 0 {
                complete = all;
            }
        }
    }
    complete
}

/// Who holds the lock just before the event at `index`.
fn owners(events: &[Event], index: usize, lock: LockId) -> Vec<ThreadId> {
    (0..index)
        .filter(|&begin| events[begin].op.section_begin().is_some_and(|section| section.0 == lock))
        .filter(|&begin| section_end(events, begin).is_none_or(|end| end > index))
        .map(|begin| events[begin].thread)
        .collect()
}

fn reads_from(events: &[Event], index: usize) -> Set {
    match events[index].op.access() {
        Some(access) if access.kind.reads() => last(matching(events, 0..index, |event| {
            event.op.access().is_some_and(|other| other.var == access.var && other.kind.writes())
        })),
        _ => 0,
    }
}

fn section_end(events: &[Event], index: usize) -> Option<usize> {
    let section = events[index].op.section_begin()?;
    let thread = events[index].thread;
    (index + 1..events.len())
        .find(|&other| events[other].thread == thread && events[other].op.section_end() == Some(section))
}
