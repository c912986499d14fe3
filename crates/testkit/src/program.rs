//! Random programs of the small language CIMP that always end: small enough for all their executions to be enumerated,
//! varied enough to find what a person would not think of.
//!
//! Threads mostly access the same few variables, write the same few values, and look at other variables before they do,
//! so that much depends on who comes first. A program may deadlock, fail an assertion, follow a null reference, leave
//! the bounds of an array or divide by zero; but it cannot run for ever.
//!
//! * [`tree`]: programs as trees, and their text
//! * `cpp`: the same programs in C++, `rust`: in Rust
//! * [`shape`]: what a program is made of
//! * [`make`]: statements and expressions at random
//! * [`shrink`]: the smallest program for which something still holds

mod cpp;
mod make;
mod print;
mod rust;
pub mod shape;
mod shrink;
pub mod tree;

pub use cpp::PROGRAM_FILE;
pub use rust::{RUST_PRELUDE, RUST_TEST};
pub use shape::{Features, Shape};
pub use shrink::shrink;
pub use tree::Program;

/// A random program; the same seed gives the same program.
pub fn program(seed: u64, shape: Shape) -> Program {
    make::Maker::new(seed, shape).program()
}
