//! How far threads can get in schedules that end with a race.

use foretell_trace::{EventId, Op, ThreadId, Trace, ops};

use super::{Property, Rule};

/// Which events a schedule of interest may come to.
#[derive(Debug)]
pub(super) struct Horizon {
    /// Per thread, the number of the last such event: 0 if it never starts, the largest number if there is no limit.
    last: Vec<u32>,
}

impl Horizon {
    /// Everything, unless the property's events are the last ones of their threads. As published, a slice does not look
    /// at that.
    pub(super) fn new(trace: &Trace, property: &Property, rule: Rule) -> Horizon {
        let mut horizon = Horizon { last: vec![u32::MAX; trace.thread_count()] };
        if property.is_last && rule == Rule::Sound {
            horizon.stop_at(trace, property);
            horizon.stop_those_who_need_others(trace);
        }
        horizon
    }

    /// Whether the event of this thread may be come to.
    pub(super) fn contains(&self, thread: ThreadId, event: EventId) -> bool {
        event.number() <= self.last[thread.index()]
    }

    fn stop_at(&mut self, trace: &Trace, property: &Property) {
        let mut last = vec![None; self.last.len()];
        for event in property.known(trace) {
            let last = &mut last[trace.event(event).thread.index()];
            *last = (*last).max(Some(event.number()));
        }
        for (horizon, last) in self.last.iter_mut().zip(last) {
            *horizon = last.unwrap_or(*horizon);
        }
    }

    /// A thread that is started beyond the horizon does nothing; a thread that joins one that cannot end gets no
    /// further.
    fn stop_those_who_need_others(&mut self, trace: &Trace) {
        // Per thread, the number of its last event so far.
        let mut latest = vec![0; self.last.len()];
        for (id, event) in trace.iter() {
            match event.op {
                Op::Fork(child) if !self.contains(event.thread, id) => self.last[child.index()] = 0,
                Op::Join(child) if latest[child.index()] >= self.last[child.index()] => {
                    let last = &mut self.last[event.thread.index()];
                    *last = (*last).min(id.number() - 1);
                }
                ops!(memory | locks | control | semaphores | conditions | barriers | labels) => {}
            }
            latest[event.thread.index()] = id.number();
        }
    }
}
