//! Models of library functions: which memory of the program a call reads and writes.
//!
//! Uninstrumented code may access any memory, so a call of it is a fence: nothing is reordered across it. A model says
//! what the call really does; the compiler pass then inserts records of just that. Models are data, in TOML files:
//! those in `models/` are part of foretell, and users add their own. `docs/models.md` describes the format.
//!
//! A wrong model can cause a false race, so a model states effects exactly; in doubt a function has none and stays a
//! fence.

mod effect;
mod table;

pub use effect::{
    Channel, Effect, Extent, Formatted, Guard, MemoryRef, Object, Pointer, Size, Synchronisation, Term,
};
pub use foretell_wire::act::Act;
pub use table::{Error, Model, Table, shipped};
