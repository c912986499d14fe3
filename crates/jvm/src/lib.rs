//! Records what a Java program does, from inside its virtual machine: an agent, which the virtual machine loads before
//! the program.
//!
//! Every class of the program gets hooks as it is loaded. One thread runs at a time and hands over inside the hooks,
//! by a seeded choice; while it waits for its turn, it is in a native method, so that the virtual machine can collect
//! garbage meanwhile. The classes of Java's own library have no hooks: what calls into it may mean to other threads
//! is a matter of `jdk`.
//!
//! * `agent`: the beginning and the end, and what the virtual machine tells in between
//! * `rewrite`: hooks in the code of a class; `decisions`: where a thread may have decided; `receiver`: which
//!   objects instructions are about; `lines`: the lines of instructions; `registry`: classes with hooks
//! * `helper`: the class whose methods are the hooks; `hooks`: what these do; `sites`: where they stand
//! * `access`: fields and elements; `copy`: `System.arraycopy`; `types`: where fields lie; `objects`: which object is
//!   which
//! * `monitors`: who holds them, and who waits in them; `initialise`: static initialisers
//! * `boundary`: where threads leave the code with hooks and come back; `receivers`: of which objects calls are;
//!   `library`: what is known of the library's classes; `acts`: what calls of these do, to `content`, `locks` and
//!   `channels`
//! * `natives`: what threads do with each other; `thread`: what is known of a thread
//! * `jni`: the functions of the virtual machine
//!
//! Without the environment variable that says where to record, the agent does nothing.
//!
//! **What is safe here.** References that the virtual machine passes are good until a native method returns. What
//! belongs to a thread is touched by that thread; everything else that belongs to the recording, by the thread that has
//! its turn, or under a lock.

mod access;
mod acts;
mod agent;
mod boundary;
mod channels;
mod content;
mod copy;
mod decisions;
mod helper;
mod hooks;
mod initialise;
mod jdk;
mod jni;
mod library;
mod lines;
mod locks;
mod monitors;
mod natives;
mod objects;
mod receiver;
mod receivers;
mod registry;
mod rewrite;
mod sites;
mod thread;
mod types;
