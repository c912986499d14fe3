//! Java class files: reading, changing and writing them.
//!
//! What is not changed is kept byte for byte: a class that is read and written is the same file. Code gets new
//! instructions between its own; types are not inferred for that, the frames of the verifier only move.
//!
//! * [`pool`]: the constant pool, which only grows
//! * [`class`]: a class with its fields, methods and attributes
//! * [`code`]: the code of a method; [`opcode`]: its instructions; [`frame`]: what the verifier knows of them
//! * [`edit`]: new code between the instructions of a method
//! * [`descriptor`]: the types of fields and methods
//! * [`assemble`]: code from nothing; [`method_reference`]: code for references to methods

pub mod assemble;
pub mod class;
pub mod code;
pub mod descriptor;
pub mod edit;
pub mod frame;
pub mod method_reference;
pub mod opcode;
pub mod pool;

mod bytes;
mod layout;
mod table;

/// Why a class file cannot be read or changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// It ends early, or holds what no class file holds.
    #[error("this is no class file, or a damaged one")]
    Malformed,
    /// More constants, code or handlers than a class file can have.
    #[error("{0} would be too large")]
    TooLarge(&'static str),
}
