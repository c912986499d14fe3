//! Formats: one file each, reader and writer together.

mod lines;
pub mod text;
