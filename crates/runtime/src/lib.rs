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
//! * `primitives`: libraries that build their own locks on atomics and futexes
//! * `turn`: what a thread may do while it is its turn; `scheduler`: whose turn it is; `thread`: what is known of a
//!   thread
//! * `home`: the processor on which threads take turns
//! * `allocator`: allocators that the program brings along
//! * `shared`: memory that has other addresses or is seen by other processes
//! * `functions`: which functions are instrumented; `stack`: the calls that a thread is in
//! * `log`: the records of a thread on their way to the `file`; `modules`: what each log has to be told first;
//!   `statics`: what static memory holds before there are threads
//! * `detect`: races are looked for while the program runs, instead of recording; `arena`: memory for that
//! * `start`: the beginning and the end of the recording; `programs`: what the recorded program starts
//! * `system`: the kernel, without detours; `spin`: a lock for a few instructions
//!
//! Without the environment variable that says where to record, all functions do what the originals do.
//!
//! **What is safe here.** Hooks get addresses from the program and access them as the program would have: whatever is
//! wrong with them is wrong with the program. What belongs to a thread is touched by that thread; everything else
//! that belongs to the recording, by a thread that is alone (it has its turn, or holds the stripe for
//! synchronisation), or under the scheduler's lock.

mod affinity;
mod allocator;
mod arena;
mod containers;
mod detect;
mod file;
mod functions;
mod hooks;
mod interpose;
mod kept;
mod library;
mod log;
mod mode;
mod models;
mod modules;
mod primitives;
mod programs;
mod scheduler;
mod shared;
mod spin;
mod stack;
mod start;
mod statics;
mod stripes;
mod system;
mod thread;
mod turn;
