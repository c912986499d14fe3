//! What the door for developers and the experiments behind it share: other programs, and what must be installed.

pub mod process;
pub mod setup;
