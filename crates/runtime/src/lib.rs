//! Records what a program does, from inside it: a shared library that instrumented programs are linked with.
//!
//! Either one thread runs at a time and hands over inside the functions below, by a seeded choice; so the order of
//! the records is the order in which things happened, values are exact, and the same program with the same seed does
//! the same again. Or threads run in parallel and hold stripes of memory while they access them; then clocks tell the
//! order (`mode`, `stripes`).
//!
//! * `hooks`: what the compiler pass has put into the program
//! * `library`: functions of the C library that touch memory where their arguments point
//! * `interpose`: the functions of the C library that the program meets instead of the originals
//! * `models`: functions with a model, and what they access; `acts`: what they synchronise
//! * `openmp`: what the threads of an OpenMP program do with each other
//! * `primitives`: libraries that build their own locks on atomics and futexes
//! * `thread`: what is known of a thread; `machine`: what the scheduler asks of this recorder
//! * `allocator`: allocators that the program brings along
//! * `functions`: which functions are instrumented
//! * `modules`: what each log begins with; `statics`: what static memory holds before there are threads
//! * `start`: the beginning and the end of the recording; `programs`: what the recorded program starts
//!
//! Whose turn it is, and the log, are in `foretell-turns`.
//!
//! Without the environment variable that says where to record, all functions do what the originals do.
//!
//! **What is safe here.** Hooks get addresses from the program and access them as the program would have: whatever is
//! wrong with them is wrong with the program. What belongs to a thread is touched by that thread; everything else
//! that belongs to the recording, by a thread that is alone (it has its turn, or holds the stripe for
//! synchronisation), or under the scheduler's lock.

mod acts;
mod allocator;
mod containers;
mod functions;
mod hooks;
mod interpose;
mod library;
mod machine;
mod models;
mod modules;
mod openmp;
mod primitives;
mod programs;
mod start;
mod statics;
mod thread;

use foretell_turns::{
    affinity, detect, file, folder, kept, log, mode, scheduler, shared, signals, spin, stack, stripes,
    system, turn,
};
