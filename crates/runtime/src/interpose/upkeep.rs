//! Mutexes, read-write locks and semaphores are memory, too: who initialises or destroys one writes it, and who uses it
//! reads it. So one that is made while another thread has it already is a race.
//!
//! Of each kind, one word stays as it is from the beginning to the end; the others are the C library's, and are not
//! recorded. Only objects are followed that the program itself has made or destroyed beside other threads: before
//! there are any, and in static memory, objects are there for all.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

use foretell_wire::record::Record;

use crate::spin::Spin;
use crate::thread::has_unjoined;
use crate::turn::{Turn, content};

/// A kind of object, by where its constant word is in glibc on 64-bit machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(super) enum ObjectKind {
    /// Its type and protocol.
    Mutex = 16,
    /// Whether it prefers writers.
    ReadWriteLock = 48,
    /// Whether it is shared.
    Semaphore = 8,
}

const WORD: usize = size_of::<u32>();

/// The objects that are followed. Only a thread that is alone touches them, so the lock is always free.
static FOLLOWED: Spin<BTreeMap<usize, ObjectKind>> = Spin::new(BTreeMap::new());

/// Lets the original make or destroy an object.
pub(super) fn change(object: *mut c_void, kind: ObjectKind, original: impl FnOnce() -> c_int) -> c_int {
    let Some(turn) = Turn::alone().filter(|turn| has_unjoined() && is_called_by_program(turn)) else {
        return original();
    };
    turn.meeting();
    let result = original();
    if result == 0 {
        FOLLOWED.with(|all| all.insert(object as usize, kind));
        log_word(&turn, object, kind, |site, addr, bytes| Record::WriteRange { site, addr, bytes });
    }
    result
}

/// The calling thread is about to use an object.
pub(super) fn note_use(turn: &Turn, object: *mut c_void, kind: ObjectKind) {
    let is_followed = FOLLOWED.with(|all| all.get(&(object as usize)) == Some(&kind));
    if !is_followed || !is_called_by_program(turn) {
        return;
    }
    log_word(turn, object, kind, |site, addr, bytes| Record::ReadRange { site, addr, bytes });
}

/// Adds the constant word of an object to the log.
fn log_word(
    turn: &Turn,
    object: *mut c_void,
    kind: ObjectKind,
    record: impl Fn(u64, u64, &[u8]) -> Record<'_>,
) {
    let (site, addr) = (turn.me.site.get(), object as usize + kind as usize);
    turn.at(addr, WORD, || turn.log(&record(site, addr as u64, content(addr as *const c_void, WORD))));
}

/// Libraries may order what they do with their objects by means that are not recorded.
fn is_called_by_program(turn: &Turn) -> bool {
    !turn.me.stack.is_outside() && !turn.me.stack.is_in_known_library()
}
