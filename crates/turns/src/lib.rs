//! Whose turn it is, and the log: what recorders of all machines share.
//!
//! Either one thread runs at a time and hands over where its recorder says so, by a seeded choice; so the order of the
//! records is the order in which things happened, values are exact, and the same program with the same seed does the
//! same again. Or threads run in parallel and hold stripes of memory while they access them; then clocks tell the
//! order (`mode`, `stripes`).
//!
//! * `machine`: what a recorder brings along
//! * `turn`: what a thread may do while it is its turn; `scheduler`: whose turn it is; `thread`: what is known of a
//!   thread; `affinity`: the processor on which threads take turns
//! * `begin`: what the environment says, and the files that are made
//! * `log`: the records of a thread on their way to the `file`, which stays open (`kept`), where there may have to be
//!   `rotation` first; `stack`: the calls that a thread is in
//! * `detect`: races are looked for while the program runs, instead of recording; `arena`: memory for that
//! * `shared`: memory that has other addresses or is seen by other processes
//! * `folder`: where the log goes, and words to and from the process that has started the program
//! * `system`: the kernel, without detours; `signals`: whether handlers may come; `spin`: a lock for a few instructions
//!
//! **What is safe here.** What belongs to a thread is touched by that thread; everything else that belongs to the
//! recording, by a thread that is alone (it has its turn, or holds the stripe for synchronisation), or under the
//! scheduler's lock.

pub mod affinity;
mod arena;
pub mod begin;
pub mod detect;
pub mod file;
pub mod folder;
pub mod kept;
pub mod log;
pub mod machine;
pub mod mode;
mod rotation;
pub mod scheduler;
pub mod shared;
pub mod signals;
pub mod spin;
pub mod stack;
pub mod stripes;
pub mod system;
pub mod thread;
pub mod turn;
