//! Locks of `java.util.concurrent` and their conditions. The virtual machine's threads wait for them in the library,
//! which parks them; here is written down who holds what. That a thread takes a lock is told once it has it, that it
//! gives it up right before.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::record::SyncOp;

/// A lock lies here in its object, which may also be used as a monitor.
const WITHIN: u64 = 8;

/// Who holds a lock.
#[derive(Default)]
struct Holders {
    /// Alone, and how often.
    alone: Option<(u32, u32)>,
    /// Together with others, and how often.
    shared: HashMap<u32, u32>,
}

/// A lock.
pub(crate) type Lock = u64;

/// The locks that objects are parts of.
static PARTS: Mutex<Option<HashMap<u64, Lock>>> = Mutex::new(None);

/// This object is a part of a lock.
pub(crate) fn add_part(part: u64, of: u64) {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(part, of);
}

/// Whether an object is known to be a part of a lock.
pub(crate) fn is_part(object: u64) -> bool {
    PARTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .is_some_and(|parts| parts.contains_key(&object))
}

/// The lock that an object is, or is a part of.
pub(crate) fn lock(object: u64) -> Lock {
    let parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    parts.as_ref().and_then(|parts| parts.get(&object).copied()).unwrap_or(object)
}

static HOLDERS: Mutex<Option<HashMap<u64, Holders>>> = Mutex::new(None);
/// The locks of conditions.
static CONDITIONS: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

fn with<R>(lock: u64, act: impl FnOnce(&mut Holders) -> R) -> R {
    let mut all = HOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    act(all.get_or_insert_default().entry(lock).or_default())
}

fn place(lock: u64) -> usize {
    usize::try_from(lock + WITHIN).unwrap_or(usize::MAX)
}

/// How often the thread holds a lock alone.
fn depth(turn: &Turn, lock: u64) -> u32 {
    with(lock, |holders| {
        holders.alone.filter(|&(holder, _)| holder == turn.me.id).map_or(0, |(_, times)| times)
    })
}

/// A thread is about to take a lock.
pub(crate) fn try_to_lock(turn: &Turn, lock: u64, is_shared: bool) {
    turn.meeting_at_lock(place(lock));
    let failed = if is_shared { SyncOp::TrySharedFailed } else { SyncOp::TryFailed };
    turn.me.attempt.set(Some((failed, place(lock))));
}

/// It has the lock now.
pub(crate) fn has_locked(turn: &Turn, lock: u64, is_shared: bool, may_fail: bool) {
    turn.me.attempt.set(None);
    let me = turn.me.id;
    let times = with(lock, |holders| {
        if is_shared {
            let times = holders.shared.entry(me).or_default();
            *times += 1;
            // Who holds it alone may share it, too.
            return if holders.alone.is_some() { 2 } else { *times };
        }
        let times = holders.alone.filter(|&(holder, _)| holder == me).map_or(1, |(_, times)| times + 1);
        holders.alone = Some((me, times));
        times
    });
    if times == 1 {
        let op = if is_shared { SyncOp::LockShared } else { SyncOp::Lock };
        turn.log_sync(op.in_time(may_fail), place(lock), 0);
    }
}

/// It could not have the lock.
pub(crate) fn could_not(turn: &Turn, lock: u64, is_shared: bool) {
    turn.me.attempt.set(None);
    let failed = if is_shared { SyncOp::TrySharedFailed } else { SyncOp::TryFailed };
    turn.log_sync(failed, place(lock), 0);
    turn.log_branch(turn.me.site.get(), None);
}

/// What is left of a lock when it is given up once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The thread did not hold it, or holds it still.
    Same,
    Nothing,
    /// The thread shares it still.
    Shared,
}

/// A thread gives up a lock that it shares, or holds alone.
pub(crate) fn unlock(turn: &Turn, lock: u64, is_shared: bool) {
    let me = turn.me.id;
    let left = with(lock, |holders| {
        let count = |times: u32| times.saturating_sub(1);
        if is_shared {
            let Some(times) = holders.shared.get_mut(&me) else { return Left::Same };
            *times = count(*times);
            let is_last = *times == 0;
            if is_last {
                holders.shared.remove(&me);
            }
            let is_alone = holders.alone.is_some_and(|(holder, _)| holder == me);
            return if is_last && !is_alone { Left::Nothing } else { Left::Same };
        }
        let Some((holder, times)) = holders.alone.filter(|&(holder, _)| holder == me) else {
            return Left::Same;
        };
        holders.alone = (times > 1).then_some((holder, count(times)));
        match times {
            2.. => Left::Same,
            _ if holders.shared.contains_key(&me) => Left::Shared,
            _ => Left::Nothing,
        }
    });
    if left == Left::Same {
        return;
    }
    turn.due();
    turn.log_sync(SyncOp::Unlock, place(lock), 0);
    if left == Left::Shared {
        // No other thread can come in between, which the log cannot say.
        turn.log_sync(SyncOp::LockShared, place(lock), 0);
        turn.fence(turn.me.site.get());
    }
}

/// This object is a condition of a lock.
pub(crate) fn add_condition(condition: u64, lock: u64) {
    let mut all = CONDITIONS.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().insert(condition, lock);
}

/// The lock of a condition.
pub(crate) fn lock_of(condition: u64) -> Option<u64> {
    CONDITIONS.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(&condition).copied()
}

/// The thread is about to wait for a condition, and gives up the lock; says how often it held that.
pub(crate) fn wait(turn: &Turn, condition: u64, lock: u64) -> u32 {
    let times = depth(turn, lock);
    if times > 0 {
        turn.meeting_at(place(condition));
        turn.log_sync(SyncOp::Wait, place(condition), place(lock) as u64);
        with(lock, |holders| holders.alone = None);
    }
    times
}

/// It has waited, and has the lock again.
pub(crate) fn has_waited(turn: &Turn, (condition, lock): (u64, u64), times: u32, was_notified: bool) {
    if times == 0 {
        return;
    }
    with(lock, |holders| holders.alone = Some((turn.me.id, times)));
    let op = if was_notified { SyncOp::Woken } else { SyncOp::TimedOut };
    turn.log_sync(op, place(condition), place(lock) as u64);
}

/// The thread, which holds the lock, notifies one of those who wait for the condition, or all.
pub(crate) fn signal(turn: &Turn, condition: u64, lock: u64, is_all: bool) {
    if depth(turn, lock) == 0 {
        return;
    }
    turn.meeting_at(place(condition));
    let op = if is_all { SyncOp::NotifyAll } else { SyncOp::Notify };
    turn.log_sync(op, place(condition), 0);
}
