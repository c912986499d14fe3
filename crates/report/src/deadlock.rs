//! Threads that wait for each other for ever, as the end of a recorded run shows them.

use std::collections::BTreeMap;

use foretell_trace::{Event, LockId, Names, Op, ThreadId, Trace};
use serde::{Deserialize, Serialize};

use crate::context::{Frame, HeldLock, own_frame, stack};
use crate::surroundings::{Surroundings, Walk};

/// A way in which a program gets stuck.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deadlock {
    /// The first run of the hunt that has shown it.
    pub run: usize,
    /// What that run's choices were drawn from.
    pub seed: u64,
    /// Who waits. Threads that wait for each other in a circle come first, each for the next.
    pub waiting: Vec<WaitingThread>,
    /// How many of them form that circle; 0 if there is none.
    pub cycle: usize,
}

/// A thread that waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaitingThread {
    /// The number of the event that waits, if it is one of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u32>,
    /// Which one.
    pub thread: String,
    /// For what, in words.
    pub waits_for: String,
    /// The holder, if it is a held lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Where it waits.
    pub location: String,
    /// The functions that are being executed there, the innermost first. Empty if the trace shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The locks that it holds meanwhile.
    pub locks: Vec<HeldLock>,
}

impl Deadlock {
    /// How the trace of a run ends that has got stuck: every thread that has not ended waits.
    pub fn at_end_of(trace: &Trace, run: usize, seed: u64) -> Deadlock {
        let around = Walk::at_end(trace.events());
        let ends: Vec<End<'_>> = last_events(trace)
            .into_iter()
            .filter_map(|(thread, event)| Some(End { event, around: around.get(thread.index())? }))
            .collect();
        let waiting = ends.iter().map(|end| end.describe(&ends, trace.names())).collect();
        Deadlock::new(run, seed, waiting)
    }

    /// These threads wait, in whichever order.
    pub fn new(run: usize, seed: u64, waiting: Vec<WaitingThread>) -> Deadlock {
        let holder = |waiting_thread: &WaitingThread| {
            let by = waiting_thread.held_by.as_ref()?;
            waiting.iter().position(|other| other.thread == *by)
        };
        let next: Vec<Option<usize>> = waiting.iter().map(holder).collect();
        let circle = (0..next.len()).map(|start| circle_from(start, &next)).find(|circle| !circle.is_empty());
        let circle = circle.unwrap_or_default();
        let others = (0..waiting.len()).filter(|at| !circle.contains(at));
        let order = circle.iter().copied().chain(others);
        let ordered = order.filter_map(|at| waiting.get(at).cloned()).collect();
        Deadlock { run, seed, waiting: ordered, cycle: circle.len() }
    }

    /// Whether it is the same way to get stuck: the same places, by any threads.
    pub fn is_same(&self, other: &Deadlock) -> bool {
        let places = |deadlock: &Deadlock| {
            let mut places: Vec<String> =
                deadlock.waiting.iter().map(|waiting| waiting.location.clone()).collect();
            places.sort();
            places
        };
        places(self) == places(other)
    }

    /// What it is, and where it was seen.
    pub(crate) fn title(&self) -> String {
        let what = match self.cycle {
            0 => "blocked threads: no thread can release or signal what they wait for".to_string(),
            1 => "a thread waits for itself".to_string(),
            threads => format!("{threads} threads wait for each other"),
        };
        format!("{what} (run {}, seed {})", self.run, self.seed)
    }
}

impl WaitingThread {
    /// What it does.
    pub(crate) fn words(&self) -> String {
        let holder = self.held_by.as_ref().map(|by| format!(", held by {by}")).unwrap_or_default();
        format!("waits for {}{holder}", self.waits_for)
    }
}

/// The last event of each thread that has not ended.
fn last_events(trace: &Trace) -> BTreeMap<ThreadId, Event> {
    let mut last = BTreeMap::new();
    for &event in trace.events() {
        match event.op {
            Op::End => last.remove(&event.thread),
            _ => last.insert(event.thread, event),
        };
    }
    last
}

/// Where a thread has come to.
struct End<'a> {
    event: Event,
    around: &'a Surroundings,
}

impl End<'_> {
    /// The lock that the thread waits for, if it is one.
    fn lock(&self) -> Option<LockId> {
        match self.event.op {
            Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => Some(lock),
            _ => None,
        }
    }

    fn holds(&self, lock: LockId) -> bool {
        self.around.locks.iter().any(|held| held.lock == lock)
    }

    /// Who of all holds what this one waits for.
    fn holder<'e>(&self, ends: &'e [End<'_>]) -> Option<&'e End<'e>> {
        let lock = self.lock()?;
        ends.iter().find(|end| end.holds(lock))
    }

    fn describe(&self, ends: &[End<'_>], names: &Names) -> WaitingThread {
        let thread = |end: &End<'_>| names.threads.name(end.event.thread).to_string();
        let place = names.loc_text(self.event.loc);
        let stack = stack(&place, &self.around.calls, names);
        WaitingThread {
            event: None,
            thread: thread(self),
            waits_for: self.waits_for(names),
            held_by: self.holder(ends).map(thread),
            location: own_frame(&stack).map_or_else(|| place.into_owned(), |frame| frame.location.clone()),
            stack,
            locks: self.around.locks.iter().map(|held| HeldLock::new(held, names)).collect(),
        }
    }

    fn waits_for(&self, names: &Names) -> String {
        match self.event.op {
            Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => {
                format!("lock {}", names.locks.name(lock))
            }
            Op::Wait { cond, .. } => format!("condition {}", names.conds.name(cond)),
            Op::Arrive(barrier) => format!("barrier {}", names.barriers.name(barrier)),
            _ => "something that no thread can release or signal".to_string(),
        }
    }
}

/// The way from a thread to whom it waits for, and on, if it comes back.
fn circle_from(start: usize, next: &[Option<usize>]) -> Vec<usize> {
    let mut way = vec![start];
    while let Some(&Some(at)) = way.last().and_then(|&last| next.get(last)) {
        if at == start {
            return way;
        }
        if way.contains(&at) {
            break;
        }
        way.push(at);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_whom_is_told_in_a_circle() {
        let trace = foretell_testkit::trace(
            "main|fork(a)|1\nmain|fork(b)|2\nmain|fork(c)|3\na|acq(l)|4\nb|acq(m)|5\nc|begin|6\nc|tryfail(l)|7\n\
             a|tryfail(m)|8\nb|tryfail(l)|9\n",
        );
        let deadlock = Deadlock::at_end_of(&trace, 3, 7);
        assert_eq!(deadlock.cycle, 2);
        let words: Vec<String> = deadlock
            .waiting
            .iter()
            .map(|waiting| format!("{} {}", waiting.thread, waiting.words()))
            .collect();
        let expected = [
            "a waits for lock m, held by b",
            "b waits for lock l, held by a",
            "main waits for something that no thread can release or signal",
            "c waits for lock l, held by a",
        ];
        assert_eq!(words, expected);
        let locks: Vec<_> =
            deadlock.waiting[0].locks.iter().map(|held| (&*held.lock, &*held.location)).collect();
        assert_eq!(locks, [("l", "4")]);
        assert_eq!(deadlock.waiting[0].location, "8");
        assert!(deadlock.is_same(&Deadlock { run: 9, ..deadlock.clone() }));
    }

    /// Who waits for a condition has given its lock up, and who has just taken one holds it.
    #[test]
    fn what_threads_did_last_counts() {
        let trace = foretell_testkit::trace(
            "main|fork(a)|1\nmain|fork(b)|2\na|acq(l)|3\nb|acq(m)|4\nmain|acq(n)|5\na|tryfail(m)|6\nb|tryfail(l)|7\n\
             main|wait(c,n)|8\n",
        );
        let deadlock = Deadlock::at_end_of(&trace, 1, 1);
        assert_eq!(deadlock.cycle, 2);
        let main = deadlock.waiting.iter().find(|waiting| waiting.thread == "main").unwrap();
        assert_eq!((main.waits_for.as_str(), main.locks.len()), ("condition c", 0));
        let trace = foretell_testkit::trace("main|fork(a)|1\na|begin|2\nmain|acq(l)|3\na|tryfail(l)|4\n");
        let deadlock = Deadlock::at_end_of(&trace, 1, 1);
        let held: Vec<_> = deadlock.waiting.iter().map(|waiting| waiting.held_by.as_deref()).collect();
        assert_eq!(held, [None, Some("main")]);
        assert_eq!(deadlock.waiting[0].locks.len(), 1, "it has just taken it");
    }
}
