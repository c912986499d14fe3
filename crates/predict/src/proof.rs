//! The schedules by which techniques prove the pairs that their detectors report.

use foretell_detect::Pair;
use foretell_detect::syncp::SyncPreserving;
use foretell_trace::{EventId, Trace};

use crate::ideal::HappensBeforeIdeals;
use crate::technique::{Proof, Technique};

/// Builds schedules for the reports of one technique on one trace.
#[derive(Debug)]
pub enum Scheduler<'t> {
    /// What happens-before needs, in the observed order.
    HappensBefore(HappensBeforeIdeals<'t>),
    /// What a sync-preserving reordering needs, in the observed order.
    SyncPreserving(SyncPreserving<'t>),
}

impl<'t> Scheduler<'t> {
    /// The scheduler of `technique`, if the technique proves anything.
    pub fn new(technique: Technique, trace: &'t Trace) -> Option<Scheduler<'t>> {
        Some(match technique.proof()? {
            Proof::HappensBefore => Scheduler::HappensBefore(HappensBeforeIdeals::new(trace)),
            Proof::SyncPreserving => Scheduler::SyncPreserving(SyncPreserving::new(trace)),
        })
    }

    /// The events of a prefix that ends with the two accesses of `pair` next to each other, in their new order.
    pub fn schedule(&self, pair: Pair) -> Option<Vec<EventId>> {
        match self {
            Scheduler::HappensBefore(ideals) => ideals.schedule(pair),
            Scheduler::SyncPreserving(ideals) => ideals.witness(pair),
        }
    }
}
