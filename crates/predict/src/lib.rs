//! From a trace and a technique to pairs of accesses, and to schedules that bring them next to each other.
//!
//! * [`technique`]: the techniques by name, what each promises, and its detector
//! * [`ideal`]: the part of the observed run that a happens-before race needs
//! * [`proof`]: which schedule a technique has to show for a pair
//! * [`candidates`]: which pairs are worth a question, the nearest first
//! * [`deadlocks`]: which threads might wait for each other, the closest first
//! * [`freed`]: which memory might be used after it has been given back
//! * [`certify`]: the same questions, with a certificate for each "no"
//! * [`goal`], [`predictor`], [`verdict`]: the question itself, and what can be said about it
//! * [`part`]: what of a trace is a part of a longer one
//!
//! What comes out of here is a claim. Whether it holds is for the referee to say, who shares none of this code.

pub mod candidates;
mod causal;
pub mod certify;
mod closure;
pub mod deadlocks;
mod encode;
mod explain;
mod flow;
pub mod freed;
pub mod goal;
mod greedy;
pub mod ideal;
mod index;
mod kept;
mod m2;
pub mod part;
mod portfolio;
pub mod predictor;
pub mod proof;
mod replay;
mod settled;
mod spin_locks;
mod states;
pub mod technique;
mod values;
pub mod verdict;
mod window;

pub use foretell_arithmetic::{NoSolver, Solver};

pub use candidates::{Bucket, Candidates, Count, Key, conflicting_pairs, quick_check};
pub use certify::{Certificate, Certified, Certifier};
pub use deadlocks::{Circle, CircleKey, Circles, Deadlocks, Waits};
pub use freed::{FreedMemory, FreedUse, FreedUses};
pub use goal::Goal;
pub use part::Part;
pub use portfolio::Portfolio;
pub use predictor::Predictor;
pub use proof::ProofScheduler;
pub use technique::{Guarantee, Technique};
pub use verdict::{Budget, Limit, Refutation, Verdict, Witness};
