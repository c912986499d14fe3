//! Streaming detectors: one technique per file, one small trait.
//!
//! | file | technique | guarantee |
//! |---|---|---|
//! | [`fasttrack`] | FastTrack: happens-before with epochs | its first report is a race |
//! | [`hb`] | happens-before, every racing location pair | its first report is a race |
//! | [`shb`] | schedulable happens-before | every report is a race |
//! | [`cp`] | causally-precedes | none: candidates |
//! | [`wcp`] | weak causally-precedes | none: candidates |
//! | [`dco`] | datarace causal order | none: candidates |
//! | [`lockset`] | disjoint lock sets, not ordered by must-happen-before | none: candidates; misses nothing |
//! | [`syncp`] | sync-preserving races | every report is a race |
//!
//! Shared by several: [`clock`], [`must`], [`happens_before`], [`lock_set`], [`history`], [`report`];
//! by those that keep every pair of a weak order, `accesses` and `hard`.
//!
//! Detectors see a trace that has passed the checks of `foretell-trace`. They do no I/O, and they report pairs of event
//! ids only: whether a pair is proven is for the referee to say.

mod accesses;
pub mod clock;
pub mod cp;
pub mod dco;
pub mod fasttrack;
pub mod happens_before;
mod hard;
pub mod hb;
pub mod history;
pub mod lock_set;
pub mod lockset;
pub mod must;
pub mod report;
pub mod shb;
pub mod syncp;
mod table;
pub mod wcp;

use foretell_trace::check::Checker;
use foretell_trace::{Batch, Event, EventId, Names, TraceError};

pub use report::{Pair, Pairs, Reports};

/// A technique that looks at each event once, in the order of the trace.
pub trait Detector {
    /// Looks at the next event.
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports);

    /// Looks at the next events, of which the first has the id `first`.
    fn batch(&mut self, first: EventId, events: &[Event], reports: &mut Reports) {
        let mut id = Some(first);
        for event in events {
            let Some(now) = id else { return };
            self.event(now, event, reports);
            id = now.next();
        }
    }

    /// Checks the next events and looks at each as soon as it is checked, without a virtual call for each.
    fn checked_batch(
        &mut self,
        checker: &mut Checker,
        batch: &mut Batch,
        names: &Names,
        reports: &mut Reports,
    ) -> Result<(), TraceError> {
        checker.check_each(batch, names, |id, event| self.event(id, event, reports))
    }

    /// No more events will come.
    fn finish(&mut self, _reports: &mut Reports) {}
}
