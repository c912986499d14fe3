//! What foretell found, as data; and one renderer per file, each a pure function from that data to text.
//!
//! * [`report`], [`decision`], [`counts`]: the data
//! * [`closure`]: what was found among all runs that a trace implies; [`closure_text`]: for people
//! * [`executions`]: what was found among all executions of a program; [`executions_text`]: for people
//! * [`json`]: for programs
//! * [`text`]: for people at a terminal
//! * [`table`]: techniques side by side

pub mod closure;
pub mod closure_text;
pub mod counts;
pub mod decision;
pub mod executions;
pub mod executions_text;
pub mod json;
pub mod report;
pub mod table;
pub mod text;
mod visible;

pub use closure::{Amount, ClosureReport, ClosureStats, ExploredRace, PropertyReport, PropertyVerdict};
pub use counts::Counts;
pub use decision::{Answer, Decision, DecisionStats};
pub use executions::{
    ProgramAccess, ProgramDeadlock, ProgramFailure, ProgramProperty, ProgramRace, ProgramReport, ProgramStats,
};
pub use report::{Access, Candidate, Proof, Race, Report, SliceInfo, Stats, TraceInfo};
