//! FastTrack (Flanagan and Freund, PLDI 2009) for the records of a program, while it runs and in its own process.
//!
//! Threads take turns, so the order in which records are fed is the order in which things happened. They are looked
//! at once and forgotten: what is remembered does not grow with the length of the run, but with the memory that the
//! program touches.
//!
//! * [`Detector`]: takes records, tells races
//! * `order`: happens-before; `clock`: vector clocks and moments
//! * `blocks`: which memory was allocated when; `shadow`: what is remembered of each word; `parts`: of those that are
//!   complicated; `cell`: what races with what
//! * `languages`: which language rules where; `calls`: the calls that threads are in; `scene`: an access that is
//!   being made; `reports`: what was found
//!
//! **Changed:** as in the offline technique of the same name, happens-before honours the memory order of atomics, and
//! atomic accesses have epochs of their own. Races are decided byte by byte. An access that only repeats what its
//! thread did before, with no thread having seen anything of it since, is not looked at: of two places where a thread
//! reads the same, unseen, the first one is told.
//!
//! **Guarantee:** the first race told is a race of this run, in the sense of C11: two accesses that conflict, one of
//! them plain, and nothing orders them. Later ones are as well, as far as the program is still defined after the
//! first. Where a thread might have synchronised in a way that the records do not show, it is assumed that they have.
//!
//! **May miss:** what happens-before misses; and after a race on some bytes, races with accesses that the epochs no
//! longer remember.

mod blocks;
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

pub use detector::{Detector, Step};
