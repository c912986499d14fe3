//! The schedules by which techniques prove the pairs that their detectors report.

use foretell_detect::Pair;
use foretell_detect::syncp::SyncPreserving;
use foretell_trace::{EventId, Trace};

use crate::ideal::HappensBeforeIdeals;
use crate::technique::{ProofKind, Technique};

/// Builds schedules for the reports of one technique on one trace.
#[derive(Debug)]
pub enum ProofScheduler<'t> {
    /// What happens-before needs, in the observed order.
    HappensBefore(HappensBeforeIdeals<'t>),
    /// What a sync-preserving reordering needs, in the observed order.
    SyncPreserving(SyncPreserving<'t>),
}

impl<'t> ProofScheduler<'t> {
    /// The scheduler of `technique`, if the technique proves anything.
    pub fn new(technique: Technique, trace: &'t Trace) -> Option<ProofScheduler<'t>> {
        Some(match technique.proof()? {
            ProofKind::HappensBefore => ProofScheduler::HappensBefore(HappensBeforeIdeals::new(trace)),
            ProofKind::SyncPreserving => ProofScheduler::SyncPreserving(SyncPreserving::new(trace)),
        })
    }

    /// The events of a prefix that ends with the two accesses of `pair` next to each other, in their new order.
    pub fn schedule(&self, pair: Pair) -> Option<Vec<EventId>> {
        match self {
            ProofScheduler::HappensBefore(ideals) => ideals.schedule(pair),
            ProofScheduler::SyncPreserving(ideals) => ideals.witness(pair),
        }
    }
}
