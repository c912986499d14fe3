//! Online detection: FastTrack (Flanagan and Freund, PLDI 2009) on the records of a program, in its own process.
//!
//! Threads run one at a time, so records arrive in the order of the execution. Each is processed once: the state grows
//! with the memory that the program accesses, not with the length of the run.
//!
//! * [`Detector`]: takes records, reports races
//! * `order`: happens-before; `clock`: vector clocks and epochs
//! * `blocks`: which memory was allocated when; `shadow`: the shadow memory; `parts`: words with more state than two
//!   epochs; `cell`: the conflict check
//! * `languages`: the source language of each site; `calls`: call stacks; `scene`: the current access; `reports`: the
//!   races found
//!
//! **Changed:** as in the offline technique of the same name, happens-before honours the memory order of atomics, and
//! atomic accesses have epochs of their own. Races are decided byte by byte. An access that repeats one of its thread
//! is skipped if no other thread has synchronised with it in between: of two places where a thread reads the same, the
//! first one is reported.
//!
//! **Guarantee:** the first race reported is a race of this run, in the sense of C11: two accesses that conflict, one
//! of them plain, and nothing orders them. Later ones are as well, as far as the program is still defined after the
//! first. Where a thread might have synchronised in a way that the records do not show, it is assumed that they have.
//!
//! **May miss:** what happens-before misses; and after a race on some bytes, races with accesses that the epochs no
//! longer hold.

mod blocks;
mod bytes;
mod calls;
mod cell;
mod clock;
mod detector;
mod languages;
mod order;
mod parts;
mod place;
mod reports;
mod scene;
mod shadow;

pub use detector::{Detector, ShortRecord};
