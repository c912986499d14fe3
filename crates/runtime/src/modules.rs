//! What the modules of the program have registered about themselves.

use std::cell::UnsafeCell;

use foretell_wire::log::module::Module;

use crate::turn::Turn;

/// As the log has them, to be touched by a thread that is alone.
struct Modules(UnsafeCell<Vec<Vec<u8>>>);

// SAFETY: only one thread at a time is alone: it has its turn, or holds the stripe for synchronisation.
unsafe impl Sync for Modules {}

static MODULES: Modules = Modules(UnsafeCell::new(Vec::new()));

/// A module was loaded.
pub(crate) fn add(turn: &Turn, content: Vec<u8>) {
    turn.me.log().module(&content);
    // SAFETY: we are alone, and the borrow ends here.
    unsafe { &mut *MODULES.0.get() }.push(content);
}

/// Whether the table of one of the modules is at an address of this kind. There is one thread.
pub(crate) fn any(mut is_it: impl FnMut(usize) -> bool) -> bool {
    // SAFETY: there is one thread.
    let modules = unsafe { &*MODULES.0.get() };
    modules.iter().any(|content| {
        Module::table_address(content).is_ok_and(|address| usize::try_from(address).is_ok_and(&mut is_it))
    })
}

/// Tells a new log of all modules that were loaded before it.
pub(crate) fn tell_all(turn: &Turn) {
    // SAFETY: there is one thread.
    for content in unsafe { &*MODULES.0.get() } {
        turn.me.log().module(content);
    }
}
