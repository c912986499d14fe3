//! Cuts a trace into shards: pieces that fit into memory and can be analysed one by one, on any machine, in any order.
//!
//! A shard is a short trace. Its first events, the *border events*, bring everything that the piece touches into the
//! state in which the recorded run had it: they are the last writes of its variables, the acquires of the locks that
//! are held, the waits that have begun, and so on. After them come the events of the piece as they were recorded. So
//! whatever analyses a trace can analyse a shard, the referee included, as long as it leaves the border events where
//! they are, and remembers that the trace goes on before and after the piece.
//!
//! * [`planner`]: one pass over the trace that gives the shards
//! * [`survey`]: one pass over the trace that gives the [`Whole`], and what lies in no common shard
//! * `border`: the state of the recorded run, and the events that bring it about
//! * `memory`: the same for variables
//! * [`apart`]: which locations have accesses that may race and lie in no common shard
//! * `renumber`: a shard has its own names
//! * [`mod@shard`]: a shard, as a file and as a trace
//! * [`whole`]: what only the whole trace tells
//! * [`plan`]: the list of all shards, as a file
//!
//! Nothing here opens files.

pub mod apart;
mod border;
mod memory;
pub mod plan;
pub mod planner;
mod renumber;
pub mod shard;
pub mod survey;
pub mod whole;

pub use apart::ApartLocations;
pub use plan::{PlanFile, ShardEntry};
pub use planner::Planner;
pub use shard::{BorderSemaphore, Shard, ShardTrace};
pub use survey::Survey;
pub use whole::{Meeting, Whole};

/// Why a shard or a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// It is something else.
    #[error("this is not a {0} of foretell")]
    NotOne(&'static str),
    /// It was written by another version.
    #[error("this {what} has version {found}, and this foretell reads version {wanted}: make the plan again")]
    Version {
        /// A plan or a shard.
        what: &'static str,
        /// Its version.
        found: u32,
        /// The version that can be read.
        wanted: u32,
    },
    /// It is damaged.
    #[error("the {0} is damaged: its content does not fit its checksum")]
    Damaged(&'static str),
    /// It is intact, but no shard of this plan.
    #[error("the shard is not one of this plan")]
    Foreign,
    /// Its events cannot be read.
    #[error(transparent)]
    Trace(#[from] foretell_trace::TraceError),
    /// The names of a shard, or its events, are too many to be counted.
    #[error("the shard is too large")]
    TooLarge,
}
