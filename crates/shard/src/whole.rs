//! What only the whole trace tells, and every shard needs.

use std::collections::BTreeMap;

use foretell_trace::{BarrierId, Names, SemId};
use serde::{Deserialize, Serialize};

/// What is known once the last event has been seen.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Whole {
    /// How many events the trace has.
    pub events: u64,
    /// How many threads it names.
    pub threads: u64,
    /// Whether it shows branches.
    pub has_branches: bool,
    /// Whether the recording ended in the middle.
    pub cut_short: bool,
    /// How many reads no recorded write explains.
    pub unexplained_reads: u64,
    /// The permits that semaphores have at first, where the trace does not show their creation: the least count that
    /// explains it.
    pub semaphores: BTreeMap<String, u64>,
    /// How many threads meet at barriers, where some have met.
    pub barriers: BTreeMap<String, Meeting>,
    /// What the program calls its threads.
    pub titles: BTreeMap<String, String>,
}

/// How many threads meet at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meeting {
    /// Always so many.
    Size(u32),
    /// Not always as many.
    Unknown,
}

/// Counts what [`Whole`] says of semaphores and barriers.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    semaphores: BTreeMap<SemId, Semaphore>,
    barriers: BTreeMap<BarrierId, Generations>,
}

/// A semaphore so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Semaphore {
    /// The permits that its creation gave it, if the trace shows that.
    pub(crate) created: Option<u64>,
    /// How many more permits were taken than given.
    pub(crate) used: i64,
    /// How many permits it needs at first, so that none is taken that is not there.
    least: u64,
}

/// The sizes of the generations of a barrier so far.
#[derive(Clone, Copy, Debug, Default)]
struct Generations {
    /// The size of those that some thread has departed from, if there are any.
    size: Option<u32>,
    differ: bool,
    /// How many have arrived for the one that gathers.
    arrived: u32,
}

impl Counting {
    pub(crate) fn create(&mut self, sem: SemId, permits: u32) {
        self.semaphores.entry(sem).or_default().created = Some(u64::from(permits));
    }

    pub(crate) fn post(&mut self, sem: SemId) {
        self.semaphores.entry(sem).or_default().used -= 1;
    }

    pub(crate) fn take(&mut self, sem: SemId) {
        let semaphore = self.semaphores.entry(sem).or_default();
        semaphore.used += 1;
        semaphore.least = semaphore.least.max(u64::try_from(semaphore.used).unwrap_or(0));
    }

    /// All semaphores as they are now.
    pub(crate) fn semaphores(&self) -> &BTreeMap<SemId, Semaphore> {
        &self.semaphores
    }

    pub(crate) fn arrive(&mut self, barrier: BarrierId) {
        self.barriers.entry(barrier).or_default().arrived += 1;
    }

    /// The generation that gathered is complete.
    pub(crate) fn complete(&mut self, barrier: BarrierId) {
        let generations = self.barriers.entry(barrier).or_default();
        let arrived = std::mem::take(&mut generations.arrived);
        generations.differ |= *generations.size.get_or_insert(arrived) != arrived;
    }

    /// Writes down what is known at the end.
    pub(crate) fn enter(&self, whole: &mut Whole, names: &Names) {
        for (&sem, semaphore) in &self.semaphores {
            if semaphore.created.is_none() {
                whole.semaphores.insert(names.sems.name(sem).to_string(), semaphore.least);
            }
        }
        for (&barrier, generations) in &self.barriers {
            let Some(size) = generations.size else { continue };
            let is_known = !generations.differ && generations.arrived <= size;
            let meeting = if is_known { Meeting::Size(size) } else { Meeting::Unknown };
            whole.barriers.insert(names.barriers.name(barrier).to_string(), meeting);
        }
    }
}
