//! Who finds may not check. This crate decides whether a claimed race is one, and shares no code with any finder.
//!
//! * [`model`]: what a read must see for its thread to go on as observed
//! * [`observed`]: what the observed run says beyond its events: reads-from, which notification woke which wait, and so
//!   on
//! * [`machine`]: the operational semantics: which event can run next, and what it does
//! * `deviations`: the reads that saw something else than observed, and what they matter to
//! * `computed`: the values of a replay, where the trace has symbolic values
//! * `checkpoints`: states of the recorded run, from which replays that begin as recorded go on
//! * [`blocked`]: why an event cannot run, for people
//! * [`referee`]: replays a claimed schedule; the only place where a [`Finding`] comes into being
//! * [`stuck`]: the judgement on deadlocks, the only place where a [`Deadlock`] comes into being
//! * [`violation`]: the judgement on what a thread must not come to, the only place where a [`ProvenViolation`] comes
//!   into being
//! * [`unordered`]: the other proof: the language's happens-before leaves the two accesses of the observed run
//!   unordered
//! * [`oracle`]: every race, deadlock and violation of a tiny trace, by exhaustive search
//! * [`proof`]: checks certificates that no schedule makes two accesses adjacent
//!
//! A proof stands on [`machine`] or on [`unordered`] alone: read these two, and trust the rest of foretell as little
//! as you like.

pub mod blocked;
mod checkpoints;
mod computed;
mod deviations;
pub mod machine;
mod model;
pub mod observed;
pub mod oracle;
pub mod proof;
pub mod referee;
pub mod stuck;
pub mod unordered;
pub mod violation;

pub use blocked::Blocked;
pub use foretell_trace::Model;
pub use machine::Machine;
pub use referee::{Claim, Finding, NewValues, Proof, Reason, Referee, Rejection};
pub use stuck::{Deadlock, StuckClaim};
pub use unordered::UnorderedReferee;
pub use violation::{ProvenViolation, Violation, ViolationClaim};
