//! The trace of a multithreaded run: who did what, in which order, and where.
//!
//! * [`event`]: what threads can do, and what each operation means
//! * [`id`], [`symbol`], [`name`]: narrow ids, and what they stand for
//! * [`model`]: how far a schedule may deviate from the observed run
//! * [`dependence`]: which reads matter to what comes after them, where a recorder knows
//! * [`values`]: what values are computed from, where a recorder knows
//! * [`steps`]: how far threads have come at each event, where a recorder counts
//! * [`source`], [`trace`]: a trace as a stream of batches, and as a whole in memory
//! * [`check`]: could any program have produced this? Flags what the recording does not explain
//! * [`format`]: text, RAPID's CSV, RoadRunner's `rr`, and the binary recording format
//! * [`fence`]: why nothing is reordered across an event
//! * [`words`]: what a thread does, for people
//! * [`error`]: what can be wrong, and where
//!
//! Nothing here opens files or analyses anything.

pub mod check;
pub mod dependence;
pub mod error;
pub mod event;
pub mod fence;
pub mod format;
pub mod id;
pub mod model;
pub mod name;
pub mod source;
pub mod steps;
pub mod symbol;
pub mod trace;
pub mod values;
pub mod words;

pub use dependence::{Dependence, Reads};
pub use error::{Position, TraceError};
pub use event::{Access, AccessKind, Event, LockMode, MemOrder, Op};
pub use id::{BarrierId, CondId, EventId, LabelId, LockId, SemId, ThreadId, VarId};
pub use model::Model;
pub use name::Names;
pub use source::{Batch, Ending, Listed, Source};
pub use steps::Steps;
pub use symbol::{Loc, Symbol, Value};
pub use trace::Trace;
pub use values::Values;
