//! Dependence: which events and values depend on which reads.
//!
//! * [`course`]: which events of a run remain possible when some are missing; [`detour`]: a run with an untaken branch
//! * [`flow`]: where each value of a recorded run comes from, and which decisions led to each event
//! * [`mod@listing`]: the same for people to read
//! * [`mod@necessary`]: necessary reads
//! * [`mod@partial`]: dependence as ReconP's partial simulation finds it
//! * [`mod@slice`]: which events of a trace matter to a property
//! * [`track`]: reads followed through registers and memory, for recorders that see both
//!
//! Recorders fill a [`Flow`] beside the trace; analyses that know dependences ask it.

pub mod course;
pub mod detour;
pub mod flow;
pub mod listing;
pub mod necessary;
pub mod partial;
pub mod slice;
pub mod track;

pub use course::Course;
pub use detour::Detour;
pub use flow::{Binary, Flow, Node, NodeId, Scope, ScopeId, Unary, Use};
pub use listing::listing;
pub use necessary::{necessary, necessary_reads};
pub use partial::to_partial;
pub use slice::{Property, Rule, Slice, Slicer, slice};
pub use track::Tracker;
