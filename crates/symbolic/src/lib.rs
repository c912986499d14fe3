//! A symbolic executor of LLVM IR, driven by the log of a recorded program.
//!
//! The log names the instruction of each access and the value that it saw. The executor follows the paths between these
//! instructions through the recorded code, and determines what values were computed from. It reads no log and writes no
//! trace: a converter feeds it with modules and records, and asks for what it found.
//!
//! * [`Follower`]: which reads later events depend on and, if asked, symbolic values; it also executes untaken branches
//!   symbolically, in surroundings that the caller describes ([`Environment`])
//! * [`Recomputation`]: recomputes what threads computed, and compares that with the log
//! * `code`, `shape`, `region`, `routine`: functions, prepared for that: blocks, silent paths between two records,
//!   slots for values
//! * `machine`: executes a path step by step; `evaluate` and `intrinsic` compute the `values` on it, `learn` infers
//!   them from records
//! * `shadow`: the shadow state beside concrete values; `symbolic` and `terms` build symbolic values there
//! * `known`: functions of libraries whose effects are known

mod code;
mod compare;
mod demangle;
mod evaluate;
mod follower;
mod intrinsic;
mod known;
mod learn;
mod machine;
mod part;
mod recompute;
mod region;
mod routine;
mod shadow;
mod shape;
mod symbolic;
mod terms;
mod values;

pub use demangle::demangle;
pub use follower::{
    Environment, Follower, Footprint, GivenUp, Kept, Limits, LockHolder, TouchedVar, UntakenEvent,
    UntakenPath, ValueCounts, WhyGivenUp, without_value,
};
pub use part::{Part, WORD, mask, parts};
pub use recompute::{Recomputation, Recomputed, Tally};
