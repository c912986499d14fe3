//! Schedulable happens-before (Mathur, Kini and Viswanathan, OOPSLA 2018).
//!
//! Happens-before, and in addition a read comes after the write that it saw: what a thread did after a read may have
//! depended on the value. The pair of a read and the write that it saw is checked before that order is added.
//!
//! **Changed:** atomics count by their memory order, and what an atomic load saw of an atomic store orders nothing by
//! itself: where only a relaxed flag stands between two accesses they race, though no sequentially consistent schedule
//! may bring them next to each other (then the proof is that they are unordered, not that they can be adjacent). All
//! racing location pairs are reported.
//!
//! **Guarantee:** every report is a race. On traces without atomics the reports are exactly those happens-before races
//! that some correct reordering shows.
//!
//! **May miss:** races that a lock hides by the accident of who came first.

use foretell_trace::{Access, Event, EventId, ThreadId};

use crate::Detector;
use crate::clock::{Clock, ClockTable, Time};
use crate::happens_before::HappensBefore;
use crate::history::History;
use crate::report::Reports;
use crate::table::at;

/// Reports accesses that neither happens-before nor what was read orders.
#[derive(Debug, Default)]
pub struct Shb {
    order: HappensBefore,
    history: History,
    written: LastWrites,
}

/// The last write to each variable.
#[derive(Debug, Default)]
struct LastWrites {
    /// Who wrote, and when. A thread that knows this much of the writer knows all that the writer knew.
    writers: Vec<Option<LastWriter>>,
    /// What the writer knew.
    clocks: ClockTable,
}

#[derive(Clone, Copy, Debug)]
struct LastWriter {
    thread: ThreadId,
    time: Time,
    atomic: bool,
}

impl Detector for Shb {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let Shb { order, history, written } = self;
        order.step(event, |clocks, access| {
            history.access(id, event, access, clocks, reports);
            let clock = clocks.of(event.thread);
            written.learn(access, clock);
            if access.kind.writes() {
                written.set(access, event.thread, clock);
                clock.advance(event.thread);
            }
        });
    }
}

impl LastWrites {
    /// What an access learns from the write that it saw, if it reads: nothing by itself if both are atomic.
    // Whether it is news is asked first: that nearly always has the same answer, unlike whether it reads.
    fn learn(&self, access: Access, clock: &mut Clock) {
        if let Some(&Some(writer)) = self.writers.get(access.var.index())
            && clock.get(writer.thread) < writer.time
            && access.kind.reads()
            && !(access.atomic && writer.atomic)
        {
            self.clocks.join_into(access.var.index(), clock);
        }
    }

    fn set(&mut self, write: Access, thread: ThreadId, clock: &Clock) {
        let writer = LastWriter { thread, time: clock.get(thread), atomic: write.atomic };
        *at(&mut self.writers, write.var.index()) = Some(writer);
        self.clocks.copy_from(write.var.index(), clock);
    }
}
