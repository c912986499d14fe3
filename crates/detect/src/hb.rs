//! Happens-before race detection (Lamport 1978; Djit+, Pozniansky and Schuster, PPoPP 2003).
//!
//! Two conflicting accesses that happens-before does not order are reported. Happens-before is that of the language,
//! with the memory order of atomics ([`crate::happens_before`]).
//!
//! **Changed:** all racing location pairs are reported, not only the race with the last access; two atomic accesses are
//! never reported.
//!
//! **Guarantee:** the first report (of all those with the earliest second event, any) is a race. A later one need not
//! be: after a race the values that threads read may come from it, and what they did next may have depended on them
//! (`w(y) w(x)` in one thread, `r(x) r(y)` in another: only the accesses to `x` race). [`crate::shb`] has no such gap.
//!
//! **May miss:** races that a lock hides by the accident of who came first.

use foretell_trace::{Event, EventId};

use crate::Detector;
use crate::happens_before::HappensBefore;
use crate::history::History;
use crate::report::Reports;

/// Reports accesses that happens-before does not order.
#[derive(Debug, Default)]
pub struct Hb {
    order: HappensBefore,
    history: History,
}

impl Detector for Hb {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let Hb { order, history } = self;
        order.step(event, |clocks, access| history.access(id, event, access, clocks, reports));
    }
}
