//! What foretell found, as data; and one renderer per file, each a pure function from that data to text.
//!
//! * [`report`], [`decision`], [`counts`]: the data
//! * [`surroundings`], [`context`]: the stacks, locks and source lines of accesses
//! * [`story`]: a witness as something to read, with the values of [`replayed`]; [`observed`]: why the recorded run did not show the race
//! * [`closure`]: what was found among all runs that a trace implies; [`closure_text`]: for people
//! * [`executions`]: what was found among all executions of a program; [`executions_text`]: for people
//! * [`suppressions`]: what somebody does not want to hear of; [`repeats`]: what several processes have in common
//! * [`json`]: for programs
//! * [`text`]: for people at a terminal; with `race_text` for one race and `story_text` for how it comes about
//! * [`table`]: techniques side by side
//! * [`words`]: what a thread does, in words; [`visible`]: names that a terminal cannot take for commands

pub mod closure;
pub mod closure_text;
pub mod context;
pub mod counts;
pub mod decision;
pub mod executions;
pub mod executions_text;
pub mod json;
pub mod observed;
mod race_text;
pub mod repeats;
pub mod replayed;
pub mod report;
pub mod story;
mod story_text;
pub mod suppressions;
pub mod surroundings;
pub mod table;
pub mod text;
pub mod visible;
pub mod words;

pub use closure::{Amount, ClosureReport, ClosureStats, ExploredRace, PropertyReport, PropertyVerdict};
pub use context::{Frame, HeldLock, HeldMode, Origin, Place, add_places, add_surroundings};
pub use counts::Counts;
pub use decision::{Answer, Decision, DecisionStats};
pub use executions::{
    ProgramAccess, ProgramDeadlock, ProgramFailure, ProgramProperty, ProgramRace, ProgramReport, ProgramStats,
};
pub use observed::Observed;
pub use replayed::Recorded;
pub use report::{Access, Candidate, Proof, Race, Report, SliceInfo, Stats, TraceInfo};
pub use story::{Story, Telling};
pub use suppressions::{Suppressed, SuppressedPair, Suppressions};
pub use surroundings::{Surroundings, Walk};
