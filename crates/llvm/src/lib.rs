//! The compiler pass: a plugin for LLVM 22 that makes a program tell what it does to shared memory.
//!
//! * `ir`: LLVM's C interface, as far as it is needed, behind safe functions
//! * `reads`: which values of a function depend on what it has read
//! * `private`: memory that no other thread can know of; `lifetimes`: local variables that others may know of
//! * `primitives`: functions of Rust's libraries that synchronise; `rust_name`: how they are called
//! * `rust_std`: the standard library, where it is compiled with the pass
//! * `effects`: what a called function may do to memory unseen
//! * `telling`: which functions record anything that one wants to know the calls of
//! * `sites`: the table of places in the source, with the code; `detail`: what is recorded of an instruction beside its
//!   operands
//! * `language`: what a module is written in
//! * `hooks`: calls of the functions that the runtime provides
//! * `instrument`: the walk over a module that puts them in; `needless`: those of them that would never record
//!   anything; `implied`: those that tell what the accesses around them tell, too; `fast_path`: accesses
//!   that are recorded without the runtime
//! * `plain`: bodies without hooks, for processes that are not recorded
//!
//! It runs at the beginning of the pipeline, right after SROA: the accesses are those of the
//! source. Later, the optimiser has made reads that the source never executes (both arms of an `if`, say), and those
//! would be false races.

#[cfg(has_llvm)]
mod detail;
#[cfg(has_llvm)]
mod effects;
#[cfg(has_llvm)]
mod fast_path;
#[cfg(has_llvm)]
mod hooks;
#[cfg(has_llvm)]
mod implied;
#[cfg(has_llvm)]
mod instrument;
#[cfg(has_llvm)]
mod ir;
#[cfg(has_llvm)]
mod language;
#[cfg(has_llvm)]
mod lifetimes;
#[cfg(has_llvm)]
mod needless;
#[cfg(has_llvm)]
mod plain;
#[cfg(has_llvm)]
mod plugin;
#[cfg(has_llvm)]
mod primitives;
#[cfg(has_llvm)]
mod private;
#[cfg(has_llvm)]
mod reads;
#[cfg(has_llvm)]
mod rust_name;
#[cfg(has_llvm)]
mod rust_std;
#[cfg(has_llvm)]
mod sites;
#[cfg(has_llvm)]
mod telling;
