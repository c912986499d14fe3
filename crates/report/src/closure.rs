//! What was found among all runs that a trace implies.

use serde::Serialize;

use crate::report::{Race, TraceInfo};

/// The exploration of one trace.
#[derive(Clone, Debug, Serialize)]
pub struct ClosureReport {
    /// The name of the tool.
    pub tool: &'static str,
    /// What was explored.
    pub trace: TraceInfo,
    /// How many variables are accessed by more than one thread.
    pub shared_variables: usize,
    /// How many reorderings keep the order of dependent events. Absent if they were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub happens_before: Option<Amount>,
    /// How many runs are not the beginning of another one. Absent if only races were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximal: Option<Amount>,
    /// How many runs there are, but for the empty one. Absent if only races were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<Amount>,
    /// Whether all runs were explored, of a recording that is whole.
    pub complete: bool,
    /// Ctrl-C: what is not listed is not known.
    pub interrupted: bool,
    /// An estimate of the part of all runs that was explored; 1 if it is all.
    pub explored: f64,
    /// What else keeps the answer from being complete.
    pub notes: Vec<String>,
    /// Races that the referee has accepted.
    pub races: Vec<ExploredRace>,
    /// What was asked, in the order of the command line.
    pub properties: Vec<PropertyReport>,
    /// Figures.
    pub stats: ClosureStats,
}

/// So many, or at least so many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Amount {
    /// The number.
    pub count: u128,
    /// Whether there are exactly so many; otherwise there are at least so many.
    pub exact: bool,
}

/// A race, and how it comes about.
#[derive(Clone, Debug, Serialize)]
pub struct ExploredRace {
    /// The race.
    #[serde(flatten)]
    pub race: Race,
    /// The events of the witness that read something else than observed.
    pub strays: Vec<u32>,
}

/// The word on one property.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyReport {
    /// As it was asked.
    pub property: String,
    /// Whether it holds.
    pub verdict: PropertyVerdict,
    /// If it is violated: the events after which it does not hold, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Vec<u32>>,
    /// The events of the schedule that read something else than observed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<u32>,
}

/// Whether a property holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PropertyVerdict {
    /// In all states of all runs.
    Holds,
    /// Not after some run, which was replayed.
    Violated,
    /// Not all runs were explored, or it cannot be computed in some state.
    Unknown,
}

/// Figures of one exploration.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClosureStats {
    /// How many steps were taken to explore all runs; far fewer than there are runs where states are kept.
    pub steps: u64,
    /// How many steps were taken to count the reorderings of happens-before.
    pub happens_before_steps: u64,
    /// Time on the clock, reading included.
    pub seconds: f64,
    /// The most memory that the process had in use meanwhile, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

impl ClosureReport {
    /// Whether something was found: a race, or a property that does not hold.
    pub fn has_findings(&self) -> bool {
        if !self.is_sound() {
            return false;
        }
        let violated = |property: &PropertyReport| property.verdict == PropertyVerdict::Violated;
        !self.races.is_empty() || self.properties.iter().any(violated)
    }

    /// Whether what was found is proven: not in a slice whose runs may be none of the program.
    pub fn is_sound(&self) -> bool {
        self.trace.slice.as_ref().is_none_or(|slice| slice.sound)
    }

    /// Whether something remains that might be found.
    pub fn is_open(&self) -> bool {
        let unknown = |property: &PropertyReport| property.verdict == PropertyVerdict::Unknown;
        self.properties.iter().any(unknown)
            || !self.is_sound()
            || self.interrupted
            || !self.notes.is_empty()
            || self.explored < 1.0
    }
}
