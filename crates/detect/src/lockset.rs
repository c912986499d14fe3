//! The quick check: conflicting accesses under disjoint lock sets that no schedule is bound to order.
//!
//! Paper: the hybrid filter ("QC") that RVPredict runs before its solver (Huang, Meredith, Rosu: Maximal sound
//! predictive race detection with control flow abstraction, PLDI 2014), itself after O'Callahan and Choi (PPoPP 2003).
//!
//! **Changed:** the weak order is what every schedule keeps ([`MustOrder::certain`]), so allocation counts too;
//! a lock that both hold shared keeps nothing apart; lock sets are interned, and accesses are kept once for each
//! variable, lock set, thread and location, so that memory is bounded by the program and not by the length of the run.
//!
//! **Guarantee:** no race is missing, in any of the models. No report is proven: what threads read on their way is not
//! asked, and most of what is reported is no race.
//!
//! **May miss:** races that only show on the language's own terms, between accesses that no sequentially consistent
//! schedule brings together.

use foretell_trace::{Event, EventId};

use crate::Detector;
use crate::accesses::{Accesses, Now};
use crate::clock::Clocks;
use crate::lock_set::LockSets;
use crate::must::MustOrder;
use crate::report::Reports;

/// The quick check.
#[derive(Debug)]
pub struct LockSet {
    /// Thread order and [`MustOrder::certain`], nothing else.
    clocks: Clocks,
    must: MustOrder,
    sets: LockSets,
    /// Every access that can still be part of a pair.
    accesses: Accesses,
}

impl Default for LockSet {
    fn default() -> Self {
        LockSet {
            clocks: Clocks::default(),
            must: MustOrder::certain(),
            sets: LockSets::default(),
            accesses: Accesses::default(),
        }
    }
}

impl Detector for LockSet {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        self.must.enter(event, &mut self.clocks);
        if let Some(access) = event.op.access() {
            let thread = event.thread;
            let clock = self.clocks.of(thread);
            let locks = self.sets.held(thread);
            let now = Now { id, loc: event.loc, thread, access, time: clock.get(thread), locks };
            self.accesses.check(&now, clock, &self.sets, reports);
            self.accesses.record(&now, &self.sets, reports.wanted());
        } else {
            self.sets.event(event);
        }
        self.must.leave(event, &mut self.clocks);
    }
}
