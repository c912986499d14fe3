//! The races that were found: one for each pair of places in the code.

use foretell_wire::races::LoggedRace;
use rustc_hash::FxHashMap;

/// The most pairs that are reported.
const MOST: usize = 1000;

/// Races, and how often they were seen.
#[derive(Debug, Default)]
pub(crate) struct RaceReports {
    /// The number of each pair of sites, the smaller one first.
    known: FxHashMap<(u64, u64), usize>,
    /// How often each was seen.
    counts: Vec<u64>,
    /// Those that were not asked for yet.
    news: Vec<LoggedRace>,
}

impl RaceReports {
    /// Two accesses at these sites have raced; `tell` gives the details for the first time.
    pub(crate) fn add(&mut self, one: u64, other: u64, tell: impl FnOnce() -> LoggedRace) {
        let pair = (one.min(other), one.max(other));
        if let Some(count) = self.known.get(&pair).and_then(|&number| self.counts.get_mut(number)) {
            *count = count.saturating_add(1);
        } else if self.counts.len() < MOST {
            self.known.insert(pair, self.counts.len());
            self.counts.push(1);
            self.news.push(tell());
        }
    }

    /// Whether something was found that was not asked for yet.
    #[inline(always)]
    pub(crate) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// What was found since this was last asked.
    pub(crate) fn take_news(&mut self) -> Vec<LoggedRace> {
        std::mem::take(&mut self.news)
    }

    /// How often each race was seen, in the order in which they were found.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }
}
