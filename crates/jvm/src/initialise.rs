//! Static initialisers. What they do happens before whatever another thread does with the class: the virtual machine
//! sees to that. So the end of an initialiser is an atomic store, and the first use of the class by another thread a
//! load of that.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use crate::objects;
use crate::registry;
use crate::thread::AsJava;

const SIZE: u8 = 8;

/// Where it is stored that a class was initialised, of those that were.
static DONE: Mutex<Option<HashMap<Box<[u8]>, u64>>> = Mutex::new(None);

fn with<R>(act: impl FnOnce(&mut HashMap<Box<[u8]>, u64>) -> R) -> R {
    act(DONE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// An initialiser begins. Until it ends the thread keeps its turn: others that want the class could only wait.
pub(crate) fn begin(turn: &Turn) {
    turn.me.java().keep_turn();
}

/// The initialiser of this class ends, be it by an exception.
pub(crate) fn end(turn: &Turn, class: &[u8]) {
    let java = turn.me.java();
    java.may_lose_turn();
    let addr = objects::take(SIZE.into());
    let site = turn.me.site.get();
    turn.log(&Record::AtomicStore { site, addr, size: SIZE, value: 1, order: MemoryOrder::SeqCst });
    // What constants hold from now on was decided by what was read meanwhile.
    turn.log_branch(site, None);
    with(|done| done.insert(class.into(), addr));
    java.initialised.borrow_mut().insert(class.into());
}

/// The thread uses this class, which is initialised, or being initialised by the thread itself. Says whether it need
/// not be asked again.
pub(crate) fn used(turn: &Turn, class: &[u8]) -> bool {
    let java = turn.me.java();
    if java.initialised.borrow().contains(class) {
        return true;
    }
    let mut is_known = true;
    for class in registry::initialised_with(class) {
        let Some(addr) = with(|done| done.get(&class).copied()) else {
            is_known = false;
            continue;
        };
        if java.initialised.borrow_mut().insert(class) {
            let site = turn.me.site.get();
            let order = MemoryOrder::SeqCst;
            turn.log(&Record::AtomicLoad { site, addr, size: SIZE, value: 1, order });
            turn.log_branch(site, None);
        }
    }
    if is_known {
        java.initialised.borrow_mut().insert(class.into());
    }
    is_known
}

/// The same for what is used at a site.
pub(crate) fn used_at(turn: &Turn, site: u32, classes: [&[u8]; 2]) {
    let java = turn.me.java();
    if !java.initialised_at.borrow().contains(&site) && classes.map(|class| used(turn, class)) == [true; 2] {
        java.initialised_at.borrow_mut().insert(site);
    }
}
