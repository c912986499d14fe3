//! Who depends on which read.
//!
//! * [`flow`]: where each value of a recorded run comes from, and which decisions led to each event
//! * [`listing`]: the same for people to read
//!
//! Recorders fill a [`Flow`] beside the trace; analyses that know dependences ask it.

pub mod flow;
pub mod listing;

pub use flow::{Binary, Flow, Node, NodeId, Scope, ScopeId, Unary, Use};
pub use listing::listing;
