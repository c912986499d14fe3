//! Schedulable happens-before (Mathur, Kini and Viswanathan, OOPSLA 2018).
//!
//! Happens-before, and in addition a plain read comes after the write that it saw: what a thread did after a read may
//! have depended on the value. The pair of a read and the write that it saw is checked before that order is added.
//!
//! **Changed:** atomics count by their memory order, and what an atomic load saw orders nothing by itself: where only a
//! relaxed flag stands between two accesses they race, though no sequentially consistent schedule may bring them next to
//! each other (then the proof is that they are unordered, not that they can be adjacent). All racing location pairs are
//! reported.
//!
//! **Guarantee:** every report is a race. On traces without atomics the reports are exactly those happens-before races
//! that some correct reordering shows.
//!
//! **May miss:** races that a lock hides by the accident of who came first.

use foretell_trace::{Event, EventId, ThreadId, VarId};

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
    epochs: Vec<Option<(ThreadId, Time)>>,
    /// What the writer knew.
    clocks: ClockTable,
}

impl Detector for Shb {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let Shb { order, history, written } = self;
        order.step(event, |clocks, access| {
            history.access(id, event, access, clocks, reports);
            if !access.atomic && access.kind.reads() {
                written.learn(access.var, clocks.of(event.thread));
            }
            if access.kind.writes() {
                written.set(access.var, event.thread, clocks.of(event.thread));
                clocks.advance(event.thread);
            }
        });
    }
}

impl LastWrites {
    fn learn(&self, var: VarId, clock: &mut Clock) {
        if let Some(&Some((writer, time))) = self.epochs.get(var.index())
            && clock.get(writer) < time
        {
            self.clocks.join_into(var.index(), clock);
        }
    }

    fn set(&mut self, var: VarId, writer: ThreadId, clock: &Clock) {
        *at(&mut self.epochs, var.index()) = Some((writer, clock.get(writer)));
        self.clocks.copy_from(var.index(), clock);
    }
}
