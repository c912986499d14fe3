//! Looking at a trace.
//!
//! * [`threads`]: what each thread is in the midst of (calls and locks), step by step
//! * [`races`]: the races of a report, found again in the trace
//! * [`timeline`]: the trace for viewers of timelines
//! * `browser`: what the terminal browser knows, and what each key does to it; `draw`: how that looks (feature
//!   `browser`)
//!
//! What the browser rests upon, each made so that only what is seen costs time: `order` (which events, in which
//! order), `checkpoints` (what threads hold anywhere in the trace), `query` (which events are looked for), `seek`
//! (walks that can be interrupted), `details` (all about one event). Nothing here touches a file or a terminal.

#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "browser")]
pub mod checkpoints;
#[cfg(feature = "browser")]
pub mod details;
#[cfg(feature = "browser")]
pub mod draw;
#[cfg(feature = "browser")]
pub mod order;
#[cfg(feature = "browser")]
pub mod query;
pub mod races;
#[cfg(feature = "browser")]
pub mod seek;
pub mod threads;
pub mod timeline;

#[cfg(feature = "browser")]
pub use browser::{Browser, Flow, Key};
pub use races::Race;
pub use timeline::Timeline;
