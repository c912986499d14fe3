//! Deadlocks as the document describes them: circles of threads of which each waits for the next.

use std::collections::BTreeSet;

use super::World;
use super::read::Act;

/// The events that wait, sorted; and the end of the thread that the lock of the only one went away with, if it did.
pub type Stuck = (Vec<u32>, Option<u32>);

impl World<'_> {
    pub(super) fn note_deadlocks(&self, found: &mut BTreeSet<Stuck>) {
        let threads = self.script.threads.len();
        // All sequences of different threads, in which the smallest comes first.
        let mut open: Vec<Vec<usize>> = (0..threads).map(|thread| vec![thread]).collect();
        while let Some(way) = open.pop() {
            let (first, last) = (way[0], way[way.len() - 1]);
            let Some(waits) = self.waits(last) else { continue };
            if way.len() > 1 && self.is_kept_by(last, first) {
                let mut events: Vec<u32> = way.iter().filter_map(|&thread| self.waits(thread)).collect();
                events.sort_unstable();
                found.insert((events, None));
            }
            for other in 0..threads {
                if way.len() == 1 && self.is_kept_by(last, other) {
                    found.extend(self.end_of(other).map(|end| (vec![waits], Some(end))));
                }
                if other > first && !way.contains(&other) && self.is_kept_by(last, other) {
                    open.push(way.iter().copied().chain([other]).collect());
                }
            }
        }
    }

    /// The number of the thread's next event, if it comes to it and may have to wait there.
    fn waits(&self, thread: usize) -> Option<u32> {
        let (index, event) = self.next(thread)?;
        let may_wait = matches!(
            event.act,
            Act::Acquire { tries: false, .. } | Act::Woken { .. } | Act::Timeout { .. } | Act::Join(_)
        );
        (may_wait && !self.is_stopped(event)).then(|| number(index))
    }

    /// Whether the other thread has what the thread wants next.
    fn is_kept_by(&self, thread: usize, other: usize) -> bool {
        let Some((_, event)) = self.next(thread) else { return false };
        let holds = |lock: usize, wants_shared: bool| {
            let (alone, shared) = self.state.locks[lock][other];
            other != thread && (alone > 0 || (shared > 0 && !wants_shared))
        };
        match event.act {
            Act::Acquire { lock, shared, .. } => holds(lock, shared),
            Act::Woken { lock, .. } | Act::Timeout { lock, .. } => holds(lock, false),
            Act::Join(child) => other == child && self.state.ran[child] < self.script.threads[child].len(),
            _ => false,
        }
    }

    /// The number of the thread's `end`, if that has run.
    fn end_of(&self, thread: usize) -> Option<u32> {
        let last = *self.script.threads[thread].get(self.state.ran[thread].checked_sub(1)?)?;
        (self.script.events[last].act == Act::End).then(|| number(last))
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}
