//! What functions with a model synchronise, see [`foretell_wire::act`], and the functions that they call back.
//!
//! The original always runs. An acquisition is recorded after it, a release before it, so the log has them in an order
//! in which they are possible. Meanwhile the thread is in a known library: what the library does to bring that about
//! (its futexes, mutexes and condition variables) is not recorded, only scheduled.
//!
//! Messages go through words that no memory has. A thread that sends updates the word, and nothing that it does later
//! depends on that. A thread that receives depends on all that was sent before, and on its place among those that
//! receive. Functions that a library calls back receive from its channel, and send to it at their end.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use foretell_wire::act::{Act, MIGHT_NOT_HAVE, channel_of};
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::{Record, SyncOp};

use crate::interpose::blocking::world;
use crate::openmp;
use crate::primitives::{IMAGINED, log_wait};
use crate::thread::{AsNative, Thread, me};
use crate::turn::{Turn, content};

/// What each word holds.
static WORDS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// What a word about an object is for.
#[derive(Clone, Copy)]
enum ActWordUse {
    /// Messages are sent there.
    In = 1,
    /// Functions that a library has called back send there when they end.
    Out,
    /// Which messages were received.
    Taken,
    /// Calls keep their order.
    Ordered,
}

/// Where the word about an object would be.
fn address(kind: ActWordUse, object: u64) -> u64 {
    const OBJECT: u32 = 50;
    IMAGINED | (kind as u64) << 56 | (object & ((1 << OBJECT) - 1)) << 3
}

/// Updates a word that is not in memory.
fn update(turn: &Turn, addr: u64, order: MemoryOrder) {
    let site = turn.me.site.get();
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let word = words.entry(addr).or_insert(0);
    let read = *word;
    *word += 1;
    turn.log(&Record::Rmw { site, addr, size: 8, read, written: *word, order });
}

fn look_at(turn: &Turn, addr: u64) {
    let site = turn.me.site.get();
    let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(&value) = words.get(&addr) else { return };
    turn.log(&Record::AtomicLoad { site, addr, size: 8, value, order: MemoryOrder::Acquire });
    turn.log_branch(site, None);
}

/// The thread passes on what it has done so far. Nothing that it does later depends on who else has.
fn send(turn: &Turn, object: u64) {
    update(turn, address(ActWordUse::In, object), MemoryOrder::Release);
}

/// The thread depends on what was sent before, and on what others have received of that: it may have found out that
/// nothing is left, and then it knows that they came first.
fn receive(turn: &Turn, object: u64) {
    look_at(turn, address(ActWordUse::In, object));
    look_at(turn, address(ActWordUse::Out, object));
    update(turn, address(ActWordUse::Taken, object), MemoryOrder::AcqRel);
    turn.log_branch(turn.me.site.get(), None);
}

/// Calls that are about the object keep their order.
fn order(turn: &Turn, object: u64) {
    update(turn, address(ActWordUse::Ordered, object), MemoryOrder::AcqRel);
    turn.log_branch(turn.me.site.get(), None);
}

/// A library calls a function of the program, perhaps because another one has ended: a loop calls one at a time, and a
/// pool has so many threads.
pub(crate) fn called_back(turn: &Turn) {
    let (channel, does_io) = channel_of(turn.me.native().channel.get());
    if does_io {
        world(turn);
    }
    if channel != 0 {
        look_at(turn, address(ActWordUse::In, channel));
        look_at(turn, address(ActWordUse::Out, channel));
        update(turn, address(ActWordUse::Taken, channel), MemoryOrder::Relaxed);
        turn.log_branch(turn.me.site.get(), None);
    }
}

/// The function has returned to the library. The caller has entered our code.
pub(crate) fn back_in_library(me: &'static Thread) {
    let turn = Turn::of(me);
    let (channel, _) = channel_of(me.native().channel.get());
    if channel != 0 {
        update(&turn, address(ActWordUse::Out, channel), MemoryOrder::Release);
    }
}

/// That a model holds, in what [`__foretell_model_leave`] returns; above it is the channel of the library before.
const HOLDS: u64 = 1;
const CHANNEL: u32 = 1;

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_leave(site: u64, channel: u64) -> u64 {
    let Some(me) = me().filter(|me| me.native().is_modelled.take()) else { return 0 };
    let Some(turn) = Turn::take() else { return 0 };
    turn.me.call_known_library(site);
    HOLDS | me.native().channel.replace(channel) << CHANNEL
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_back(left: u64) {
    let Some(me) = me() else { return };
    me.native().is_modelled.set(left & HOLDS != 0);
    if left & HOLDS == 0 {
        return;
    }
    me.native().channel.set(left >> CHANNEL);
    me.native().meets.set(true);
}

/// The calling thread, if the model of the function that it calls holds.
fn modelled(site: u64) -> Option<Turn> {
    let turn = me().filter(|me| me.native().is_modelled.get()).and_then(|_| Turn::alone())?;
    turn.me.site.set(site);
    Some(turn)
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_try(site: u64, act: u64, object: usize, lock: u64) {
    let Some((turn, act)) = modelled(site).zip(Act::from_code(act)) else { return };
    match act {
        Act::Lock | Act::LockShared => {
            turn.meeting_at_lock(object);
            // If the thread waits there for ever, what it could not have is recorded.
            turn.me.attempt.set(Some((failed(act), object)));
        }
        Act::Wait => {
            turn.due();
            turn.me.native().library.waits_with.set(Some((object, lock)));
            turn.me.native().library.timed_out.set(false);
        }
        Act::Once => {
            turn.meeting_at(object);
            turn.me.native().library.found.set(u32::try_from(content_of(object, lock)).unwrap_or(u32::MAX));
        }
        Act::Load | Act::Store => {}
        _ => turn.meeting_at(object),
    }
}

fn failed(act: Act) -> SyncOp {
    if act == Act::LockShared { SyncOp::TrySharedFailed } else { SyncOp::TryFailed }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_act(site: u64, act: u64, object: usize, lock: u64, did: u64) {
    let Some((turn, act)) = modelled(site).zip(Act::from_code(act)) else { return };
    turn.me.attempt.set(None);
    if did != 0 {
        acts(&turn, act, object, lock, did == MIGHT_NOT_HAVE);
    } else {
        could_not(&turn, act, object, lock);
    }
}

fn acts(turn: &Turn, act: Act, object: usize, lock: u64, has_tried: bool) {
    let early = |op| {
        turn.due();
        turn.log_effect(op, object, 0);
    };
    match act {
        Act::Lock => turn.log_effect(SyncOp::Lock.in_time(has_tried), object, 0),
        Act::LockShared => turn.log_effect(SyncOp::LockShared.in_time(has_tried), object, 0),
        Act::Unlock => early(SyncOp::Unlock),
        Act::Wake => early(SyncOp::Notify),
        Act::WakeAll => early(SyncOp::NotifyAll),
        Act::Post => early(SyncOp::SemPost),
        Act::Take => turn.log_effect(SyncOp::SemWait, object, 0),
        Act::Wait => {
            log_wait(turn);
            let timed_out = turn.me.native().library.timed_out.get();
            turn.log_effect(if timed_out { SyncOp::TimedOut } else { SyncOp::Woken }, object, lock);
        }
        Act::Send => {
            turn.due();
            send(turn, object as u64);
        }
        Act::Receive => receive(turn, object as u64),
        Act::Order => order(turn, object as u64),
        Act::Once => word(turn, object, lock, turn.me.native().library.found.get() == 0),
        Act::Load => word(turn, object, lock, false),
        Act::Store => word(turn, object, lock, true),
    }
}

/// What a word of the program holds.
fn content_of(object: usize, bytes: u64) -> u64 {
    let content = content(object as *const c_void, usize::try_from(bytes).unwrap_or(0));
    let mut number = [0; 8];
    number.iter_mut().zip(content).for_each(|(to, &from)| *to = from);
    u64::from_le_bytes(number)
}

/// The library has written a word of the program, or has read it.
fn word(turn: &Turn, object: usize, bytes: u64, writes: bool) {
    let (site, addr, value) = (turn.me.site.get(), object as u64, content_of(object, bytes));
    let size = u8::try_from(bytes).unwrap_or(8);
    if writes {
        return turn.log(&Record::AtomicStore { site, addr, size, value, order: MemoryOrder::Release });
    }
    turn.log(&Record::AtomicLoad { site, addr, size, value, order: MemoryOrder::Acquire });
    turn.log_branch(site, None);
}

/// The function says that it could not.
fn could_not(turn: &Turn, act: Act, object: usize, lock: u64) {
    match act {
        Act::Lock | Act::LockShared => turn.log_effect(failed(act), object, 0),
        Act::Wait => {
            log_wait(turn);
            turn.log_effect(SyncOp::TimedOut, object, lock);
        }
        // That nothing was there depends on those who have sent nothing, too.
        Act::Receive | Act::Order => receive(turn, object as u64),
        Act::Load | Act::Store => {}
        _ => turn.fence(turn.me.site.get()),
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_alloc(site: u64, at: usize, bytes: usize) {
    if let Some(turn) = modelled(site).filter(|_| at != 0 && bytes != 0) {
        turn.log_memory(SyncOp::Part, at, bytes);
        openmp::note_block(at);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_free(site: u64, at: usize) {
    if let Some(turn) = modelled(site).filter(|_| at != 0) {
        turn.log_memory(SyncOp::Free, at, 0);
    }
}
