//! What collections and other objects of the library hold, as one variable each: its value is how often it was written.
//!
//! Iterators and other views of a collection are about the same variable. Collections that threads may share freely
//! are atomic variables.

use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;
use rustc_hash::FxHashMap;

use crate::library::{Content, Sharing};
use crate::monitors;
use crate::objects;

const LOG_SIZE: u32 = 3;
const SIZE: u8 = 1 << LOG_SIZE;

/// A collection that an object is, or is a view of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Collection {
    /// Where its content is in the log: where its object begins, for no field is there.
    pub(crate) content: u64,
    pub(crate) sharing: Sharing,
    /// The object whose monitor its methods take; 0 if they take none.
    pub(crate) monitor: u64,
}

static VIEWS: Mutex<Option<FxHashMap<u64, Collection>>> = Mutex::new(None);
/// How often the content was written, where it was.
static WRITTEN: Mutex<Option<FxHashMap<u64, u64>>> = Mutex::new(None);

/// The object at this address is a view of a collection, if it is of none yet.
pub(crate) fn add_view(address: u64, of: Collection) {
    VIEWS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().entry(address).or_insert(of);
}

/// The collection that the object at this address is a view of.
pub(crate) fn viewed(address: u64) -> Option<Collection> {
    VIEWS.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(&address).copied()
}

fn written(content: u64, change: u64) -> u64 {
    let mut all = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let value = all.get_or_insert_default().entry(content).or_default();
    *value += change;
    *value
}

/// Atomic variables of the library are read, written, or updated. That a value is written is told as an update, see
/// `access`.
pub(crate) fn load(turn: &Turn, addr: u64) {
    let site = turn.me.site.get();
    at(turn, addr, || {
        let (value, order) = (written(addr, 0), MemoryOrder::SeqCst);
        turn.log(&Record::AtomicLoad { site, addr, size: SIZE, value, order });
    });
    turn.log_branch(site, None);
}

pub(crate) fn store(turn: &Turn, addr: u64) {
    let site = turn.me.site.get();
    at(turn, addr, || {
        let (read, written, order) = (written(addr, 0), written(addr, 1), MemoryOrder::Release);
        turn.log(&Record::Rmw { site, addr, size: SIZE, read, written, order });
    });
}

pub(crate) fn update(turn: &Turn, addr: u64, order: MemoryOrder) {
    let site = turn.me.site.get();
    at(turn, addr, || {
        let (read, written) = (written(addr, 0), written(addr, 1));
        turn.log(&Record::Rmw { site, addr, size: SIZE, read, written, order });
    });
    turn.log_branch(site, None);
}

fn at(turn: &Turn, addr: u64, act: impl FnOnce()) {
    turn.access(usize::try_from(addr).unwrap_or(usize::MAX), SIZE.into(), act);
}

fn read(turn: &Turn, of: Collection) {
    let (site, addr) = (turn.me.site.get(), of.content);
    at(turn, addr, || {
        turn.tell_calls();
        turn.me.log().access(false, LOG_SIZE, site, addr, written(addr, 0));
    });
    // What the call does depends on what is there: that an index is too large, say.
    turn.log_branch(site, None);
}

fn write(turn: &Turn, of: Collection) {
    turn.due();
    turn.tell_calls();
    turn.me.log().access(true, LOG_SIZE, turn.me.site.get(), of.content, written(of.content, 1));
}

/// Variables for the parts of collections, where some were replaced or looked at: one for all parts of a collection.
/// They are atomic, and order nothing but themselves: threads may replace different parts at the same time.
static PARTS: Mutex<Option<FxHashMap<u64, u64>>> = Mutex::new(None);

fn look_at_parts(turn: &Turn, of: Collection) {
    let known = PARTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default()
        .get(&of.content)
        .copied();
    let Some(addr) = known else { return };
    let site = turn.me.site.get();
    at(turn, addr, || {
        let (value, order) = (written(addr, 0), MemoryOrder::Relaxed);
        turn.log(&Record::AtomicLoad { site, addr, size: SIZE, value, order });
    });
    turn.log_branch(site, None);
}

fn replace_parts(turn: &Turn, of: Collection) {
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let addr = *parts.get_or_insert_default().entry(of.content).or_insert_with(|| objects::take(SIZE.into()));
    drop(parts);
    update(turn, addr, MemoryOrder::Relaxed);
}

/// A method of the collection begins.
pub(crate) fn begin(turn: &Turn, of: Collection, content: Content) {
    let changes = matches!(content, Content::Writes | Content::Resizes | Content::Replaces);
    match of.sharing {
        Sharing::Constant => {}
        Sharing::Plain | Sharing::Guarded => {
            if of.monitor != 0 {
                monitors::lock_at(turn, of.monitor);
            }
            if content != Content::Looks {
                read(turn, of);
            }
            if content == Content::Replaces {
                replace_parts(turn, of);
            } else {
                look_at_parts(turn, of);
            }
        }
        Sharing::Free if !changes => load(turn, of.content),
        Sharing::Free | Sharing::Blocking => update(turn, of.content, MemoryOrder::AcqRel),
    }
}

/// A method of the collection calls the program back: what it does then depends on what is there by then.
pub(crate) fn call_back(turn: &Turn, of: Collection) {
    match of.sharing {
        Sharing::Constant => {}
        Sharing::Plain | Sharing::Guarded => {
            read(turn, of);
            look_at_parts(turn, of);
        }
        Sharing::Free | Sharing::Blocking => update(turn, of.content, MemoryOrder::AcqRel),
    }
}

/// How a method of a collection ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) has_called_back: bool,
    /// How much there is in the collection is not what it was.
    pub(crate) has_changed: bool,
}

/// A method of the collection ends.
pub(crate) fn end(turn: &Turn, of: Collection, content: Content, ended: Ended) {
    match of.sharing {
        Sharing::Plain | Sharing::Guarded => {
            if ended.has_called_back {
                read(turn, of);
                look_at_parts(turn, of);
            }
            if matches!(content, Content::Writes | Content::Resizes) && ended.has_changed {
                write(turn, of);
            } else if content == Content::Writes {
                replace_parts(turn, of);
            }
            if of.monitor != 0 {
                monitors::unlock_at(turn, of.monitor);
            }
        }
        Sharing::Free if ended.has_called_back => update(turn, of.content, MemoryOrder::AcqRel),
        Sharing::Blocking => update(turn, of.content, MemoryOrder::AcqRel),
        Sharing::Free | Sharing::Constant => {}
    }
}
