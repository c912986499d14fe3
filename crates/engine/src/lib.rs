//! The analysis of a trace, from what was asked to a report.
//!
//! [`analyse`] takes an [`Input`] and a [`Plan`] and returns an [`Analysis`]: findings of the referee, candidates
//! that are not proven, and counts of the rest. [`report()`] makes a report of it, which the renderers of
//! `foretell-report` print.
//!
//! * [`plan`]: what was asked
//! * [`control`]: how the caller stops an analysis, and how it follows the progress
//! * [`input`]: the trace: a source that can be opened again, or a trace in memory
//! * [`stages`]: the techniques one after the other
//! * [`stream`](mod@stream): techniques that look at each event once
//! * [`exact`](mod@exact): techniques that decide pairs one by one, with `bucket` for the pairs of two locations and
//!   `ledger` for what is known across batches
//! * [`deadlocks`]: circles of threads that may wait for each other; [`violations`]: what a thread must not come to,
//!   such as memory that has been given back; `goals`: how both are decided
//! * [`untaken`]: the same for branches that the recorded run did not take
//! * `left`: whether two locations may race that are not known to
//! * [`pair`]: one pair alone
//! * [`certify`](mod@certify): a proof that nothing but the reported races exists in a model
//! * [`analysis`]: what comes out
//! * [`describe`], [`schedule`]: from an analysis to a report: stacks, locks, source lines, stories, schedules
//! * [`slice`](mod@slice): analyses of a part of a trace
//! * [`shards`]: the analysis of one shard of a trace that does not fit into memory; `in_shards`: of all of them
//!
//! Nothing here opens files, prints, starts processes or keeps state between two analyses.

pub mod analysis;
mod bucket;
pub mod certify;
pub mod control;
pub mod deadlocks;
pub mod describe;
pub mod error;
mod exact;
mod goals;
mod in_shards;
pub mod input;
mod ledger;
mod left;
pub mod pair;
pub mod plan;
pub mod shards;
pub mod slice;
mod stages;
mod stream;
pub mod untaken;
pub mod violations;
pub mod witness_schedule;

pub use analysis::{Analysis, Candidate, Counts, Found, InShards, Note, Reason};
pub use control::{Control, Progress, Unattended};
pub use deadlocks::{FoundDeadlock, GoalCounts};
pub use describe::{Description, Excerpts, NoExcerpts, report};
pub use error::Error;
pub use in_shards::ShardStore;
pub use input::{Input, Opened, Reading, TraceSource};
pub use plan::{Choice, Find, Plan};
pub use slice::Sliced;
pub use stages::analyse;
pub use untaken::UntakenBranches;
pub use violations::FoundViolation;
