//! The decision on one pair that the user asked about.

use serde::{Deserialize, Serialize};

use crate::reads::NeededReads;
use crate::report::{RacingAccess, TraceInfo};
use crate::story::Story;

/// What a technique says about one pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The name of the tool.
    pub tool: String,
    /// The technique, by its name on the command line.
    pub technique: String,
    /// What was looked at.
    pub trace: TraceInfo,
    /// How many events a schedule may rearrange in one piece, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// The access that stands first in the trace.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// The answer.
    pub verdict: Answer,
    /// For a race: the events of the prefix in their new order; the racing two are the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<u32>>,
    /// The witness as a story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// Which reads on the way to the race matter, where some see something else and the trace tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<NeededReads>,
    /// For a pair that is no race: what leads to the contradiction. Empty if the search was exhausted without a short
    /// argument.
    pub steps: Vec<String>,
    /// For a pair that is not decided: why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Figures.
    pub stats: DecisionStats,
}

/// Figures of one decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecisionStats {
    /// Time on the clock, reading included.
    pub seconds: f64,
}

/// Whether two accesses race.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes, and the referee has accepted the proof.
    Race,
    /// No schedule of the technique's model brings the two together.
    NoRace,
    /// No schedule does that leaves the trace as it is outside one window.
    NotInWindow,
    /// Unknown.
    Undecided,
}
