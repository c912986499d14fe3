//! Scopes, which end when all of their threads have, and the results of threads.
//!
//! A scope is a count of its threads that run. Recorded as such, a thread that ends early would be ordered before all
//! that are started after it, since who starts them has to find the count as it was. But how many threads run at a
//! time decides nothing; only the end of the scope does, when none is left. So a scope is recorded as a semaphore: each
//! thread gives a permit when it ends, and the end of the scope takes as many as there were threads. It is not in
//! memory, so no thread has to tell when that is given back.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretell_wire::record::SyncOp;

use super::IMAGINED;
use crate::functions;
use crate::interpose::memory::block_size;
use crate::mode;
use crate::thread::AsNative;
use crate::turn::Turn;

/// How many threads were started in each scope that has not ended, by the address of what the library knows of it.
static SCOPES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// A shared object of Rust begins with two counts.
const COUNTS: u64 = 16;
/// What the library knows of a scope has no more bytes, and the count of its threads is one of its words.
const SIZE: u64 = 24;
/// No result that the library drops itself has more words before the address of its scope.
const WORDS: u64 = 16;

fn scopes() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    SCOPES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn semaphore(scope: u64) -> usize {
    (scope | IMAGINED) as usize
}

/// A thread is about to be started in the scope.
pub(super) fn grow(turn: &Turn, scope: u64) {
    let is_new = {
        let mut scopes = scopes();
        let count = scopes.entry(scope).or_default();
        *count += 1;
        *count == 1
    };
    if is_new {
        turn.due();
        turn.log_sync(SyncOp::SemInit, semaphore(scope), 0);
    }
}

/// A thread of the scope has done all that it will do for it.
pub(super) fn shrink(turn: &Turn, scope: u64) {
    turn.due();
    turn.log_sync(SyncOp::SemPost, semaphore(scope), 0);
}

/// All threads have ended of the scope whose count of them is here.
pub(super) fn end(turn: &Turn, count: u64) {
    let found = {
        let mut scopes = scopes();
        let scope = scopes.range(count.saturating_sub(SIZE)..=count).next_back().map(|(&scope, _)| scope);
        scope.and_then(|scope| scopes.remove_entry(&scope))
    };
    let Some((scope, threads)) = found else { return };
    for _ in 0..threads {
        turn.due();
        turn.log_sync(SyncOp::SemWait, semaphore(scope), 0);
    }
}

/// A result is about to be dropped by this function. If that tells nothing itself, the result's scope is left when it
/// is dropped, or before, where others could find out at once.
pub(super) fn begin_to_drop(turn: &Turn, result: u64, function: u64) {
    if functions::is_instrumented(function) {
        return;
    }
    let Some(scope) = scope_of(result) else { return };
    if mode::is_parallel() {
        return shrink(turn, scope);
    }
    if let Some(outer) = turn.me.native().library.leaves.replace(Some(scope)) {
        // What a thread has panicked with drops the result of another.
        turn.fence(turn.me.site.get());
        shrink(turn, outer);
    }
}

/// The result was dropped.
pub(super) fn has_dropped(turn: &Turn) {
    if let Some(scope) = turn.me.native().library.leaves.take() {
        shrink(turn, scope);
    }
}

/// The scope that a result belongs to: its address is among the result's words.
fn scope_of(result: u64) -> Option<u64> {
    // SAFETY: where the result's address is, which the program has just put there.
    let block = unsafe { (result as *const u64).read() };
    let words = (block_size(block as usize) as u64 / 8).min(WORDS);
    let scopes = scopes();
    (0..words)
        // SAFETY: the words are within the block, whose size the C library knows.
        .map(|index| unsafe { ((block + 8 * index) as *const u64).read() }.wrapping_add(COUNTS))
        .find(|scope| scopes.contains_key(scope))
}
