//! What foretell found, as data; and one renderer per file, each a pure function from that data to text.
//!
//! * [`report`], [`decision`], [`counts`]: the data
//! * [`surroundings`], [`context`], [`excerpt`]: the stacks, locks and source lines of accesses
//! * [`story`]: a witness as something to read, with the values of [`replayed`]; [`observed`]: why the recorded run
//!   did not show the race; [`reads`]: which reads matter to it
//! * [`confirmation`]: whether the program itself was driven into a race; [`confirmation_text`]: for people
//! * [`coverage`]: how much of a run could be reordered at all; `coverage_text`: for people
//! * [`closure`]: what was found among all runs that a trace implies; [`closure_text`]: for people
//! * [`executions`]: what was found among all executions of a program; [`executions_text`]: for people
//! * [`hunt`]: what came of many runs together, with [`deadlock`] for those that got stuck; `hunt_text`: for people
//! * [`predicted_deadlock`]: ways to get stuck that a schedule leads to; [`predicted_violation`]: what else must not be
//! * [`suppressions`]: suppressed races; [`repeats`]: what several processes have in common
//! * [`part`]: what was found in some shards of a trace, and the report of the whole that it makes
//! * [`fingerprint`]: what a race is known by from run to run; [`baseline`]: earlier reports
//! * [`json`]: for programs, in the form that [`schema`] describes; [`sarif`]: for code scanning; [`junit`]: for test
//!   dashboards
//! * [`html`]: for people with a browser; with [`picture`] for what a race looks like, and [`moved`] for what the
//!   witness reorders; [`asked_page`]: for pairs that the user asked about
//! * [`text`]: for people at a terminal; with `race_text` for one race, `source_text` for the program, `story_text`
//!   for how it comes about, `reads_text` for the reads on the way, and `page` for lines and colours;
//!   [`explain_text`]: one race or pair at length
//! * [`mod@brief`]: a report in little, where there is no time for all of it; [`sink`]: where renderers write, and
//!   when they stop
//! * [`visible`]: nothing that a terminal would act upon
//! * [`table`]: techniques side by side

pub mod asked_page;
pub mod baseline;
pub mod brief;
pub mod cause;
mod cause_text;
pub mod closure;
pub mod closure_text;
pub mod confirmation;
pub mod confirmation_text;
pub mod context;
pub mod counts;
pub mod coverage;
pub mod coverage_text;
pub mod deadlock;
pub mod decision;
pub mod excerpt;
pub mod executions;
pub mod executions_text;
pub mod explain_text;
pub mod fingerprint;
mod function_name;
pub mod html;
pub mod hunt;
mod hunt_text;
pub mod json;
pub mod junit;
mod model_name;
pub mod moved;
mod notes;
pub mod observed;
mod page;
pub mod part;
pub mod picture;
pub mod predicted_deadlock;
pub mod predicted_violation;
mod race_text;
pub mod reads;
mod reads_text;
pub mod repeats;
pub mod replayed;
pub mod report;
#[cfg(test)]
mod sample;
pub mod sarif;
pub mod schema;
pub mod sink;
mod source_text;
pub mod story;
mod story_text;
pub mod suppressions;
pub mod surroundings;
pub mod table;
pub mod text;
pub mod visible;

pub use foretell_trace::words;

pub use baseline::{Baseline, Known, KnownPair};
pub use brief::brief;
pub use cause::{Cause, causes};
pub use closure::{Amount, ClosureReport, ClosureStats, ExploredRace, PropertyReport, PropertyVerdict};
pub use confirmation::Confirmation;
pub use context::{Frame, HeldLock, HeldMode, Origin, SourceLocation, add_places, add_surroundings};
pub use counts::Counts;
pub use coverage::{Coverage, FenceCause};
pub use deadlock::{Deadlock, WaitingThread};
pub use decision::{Answer, Decision, DecisionStats};
pub use excerpt::{Doubt, Excerpt};
pub use executions::{
    ProgramAccess, ProgramDeadlock, ProgramFailure, ProgramProperty, ProgramRace, ProgramReport, ProgramStats,
};
pub use hunt::{Hunt, HuntRun, Hunted, Shown, Steering, Stopped, Union};
pub use observed::Observed;
pub use part::{ApartPairs, Mismatch, PartReport, ShardResult, Unsettled, merge};
pub use picture::{Picture, Room};
pub use predicted_deadlock::{DeadlockKind, EndedThread, PredictedDeadlock};
pub use predicted_violation::{PredictedViolation, ViolationKind};
pub use reads::{Need, NeededRead, NeededReads};
pub use replayed::Recorded;
pub use report::{
    Candidate, NOT_EXECUTED, NewValue, Proof, Race, RacingAccess, Report, SliceInfo, Stats, TestEnding,
    TestRun, TraceInfo, WitnessTail,
};
pub use story::{Story, StoryDetail};
pub use suppressions::{Suppressed, SuppressedDeadlock, SuppressedPair, SuppressedViolation, Suppressions};
pub use surroundings::{Surroundings, Walk};
