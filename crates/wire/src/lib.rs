//! What the compiler pass, the runtime inside the recorded program, and the reader of its log agree on.
//!
//! * [`act`]: what calls of library functions do with objects that threads synchronise by
//! * [`hook`]: the names of the functions that instrumented code calls, and the codes that it passes to them
//! * [`mark`]: how an instrumented function is distinguished from others by its address
//! * [`layout`]: what debug information tells of types
//! * [`library`]: the functions of the C library whose calls become hooks
//! * [`site`]: the table that every instrumented module carries: where in the source each hook stands
//! * [`code`]: what follows in that table: every instruction of the instrumented functions
//! * [`primitive`]: hooks in libraries that synchronise, and what their functions mean
//! * [`record`]: what happened, one record each; [`pack`]: those that happen most, in few bytes and fewer
//!   instructions
//! * [`holders`]: who holds which lock, according to the records
//! * [`races`]: what a program leaves with online detection
//! * [`log`]: how records are put into a file such that it can be read after a crash
//! * [`schedule`]: in which order the threads of a program are to make their steps
//! * [`settings`]: environment variables, with their defaults
//! * [`threads`]: the functions of the C library that are about threads, and what is known of each; [`thread_name`]:
//!   what a program calls its threads
//! * [`varint`]: numbers in as few bytes as they need
//!
//! All of it depends on the standard library alone, because it is loaded into other people's programs.

pub mod act;
pub mod code;
pub mod format;
pub mod holders;
pub mod hook;
pub mod layout;
pub mod library;
pub mod log;
pub mod mark;
pub mod pack;
pub mod primitive;
pub mod races;
pub mod record;
pub mod schedule;
pub mod settings;
pub mod site;
pub mod started;
pub mod thread_name;
pub mod threads;
pub mod varint;

/// The bytes end before what they should hold, or hold something that no writer of this version writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bytes are not what the recorder of this version writes")
    }
}

impl std::error::Error for Malformed {}
