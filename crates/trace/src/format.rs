//! Formats: one file each, reader and writer together.

pub mod binary;
mod blocks;
mod compress;
pub mod csv;
mod dependence;
mod lines;
mod open;
pub mod rr;
mod steps;
mod swift;
pub mod text;
mod titles;
mod values;
mod write;

pub use compress::{Compressed, Compression};
pub use open::{Format, open};
pub use write::{EventWriter, writer};
