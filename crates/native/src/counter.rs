//! How many steps the threads have made at each event, so that a run can be led there again.

use foretell_trace::{Op, Steps};
use foretell_wire::record::Record;

/// Counts the steps of all threads, see [`Record::is_step`].
#[derive(Default)]
pub(crate) struct Counter {
    threads: Vec<Thread>,
    steps: Steps,
}

#[derive(Clone, Copy, Default)]
struct Thread {
    /// Steps that were made since its last event.
    since: u64,
    /// The current record is a step, and none of its events was written yet except branches and calls before it: these
    /// belong to the step before, as a schedule can run them without this step.
    begins: bool,
}

impl Counter {
    fn thread(&mut self, thread: u32) -> &mut Thread {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Thread::default());
        }
        &mut self.threads[index]
    }

    /// How many steps the thread has made since its last event, without the current one.
    pub(crate) fn since(&self, thread: u32) -> u64 {
        self.threads.get(thread as usize).map_or(0, |thread| thread.since)
    }

    /// The events of this record are written next.
    pub(crate) fn record(&mut self, thread: u32, record: &Record<'_>) {
        let thread = self.thread(thread);
        // A step without an event is over when the next record comes.
        thread.since += u64::from(std::mem::take(&mut thread.begins));
        thread.begins = record.is_step();
    }

    /// An event of the thread was written.
    pub(crate) fn event(&mut self, thread: u32, op: Op) {
        let thread = self.thread(thread);
        if !matches!(op, Op::Branch | Op::Enter(_) | Op::Exit(_)) {
            thread.since += u64::from(std::mem::take(&mut thread.begins));
        }
        let since = std::mem::take(&mut thread.since);
        self.steps.push(since);
    }

    /// What was counted.
    pub(crate) fn finish(self) -> Steps {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_trace::VarId;

    #[test]
    fn decisions_on_the_way_to_a_step_belong_to_the_one_before() {
        let write = Record::Write { site: 1, addr: 8, size: 8, value: 0 };
        let event = Op::Write { var: VarId::from_index(0).unwrap(), value: None };
        let mut counter = Counter::default();
        counter.record(0, &write);
        counter.record(1, &write);
        counter.record(0, &Record::Branch { site: 1, by: None });
        counter.record(0, &write);
        counter.event(0, Op::Branch);
        counter.event(0, event);
        counter.event(0, Op::Branch);
        counter.event(1, event);
        let found: Vec<u64> = counter.finish().since().collect();
        assert_eq!(found, [1, 1, 0, 1]);
    }
}
