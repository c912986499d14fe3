//! Mutexes, read-write locks and spin locks.

use std::ffi::{c_int, c_void};

use foretell_wire::record::SyncOp;
use libc::timespec;

use super::time::{deadline, is_refused, long_ago};
use super::upkeep::{ObjectKind, change, note_use};
use super::{original, pass_on};
use crate::scheduler::{WakeReason, note_external, note_lock, wake_any, wake_waiters};
use crate::system::{kernel, kernel_id};
use crate::turn::Turn;

type Lock = *mut c_void;

/// Takes a lock by trying until it works or the deadline has passed.
fn take(
    turn: &Turn,
    lock: Lock,
    attempt: impl Fn() -> c_int,
    taken: SyncOp,
    failed: SyncOp,
    deadline: Option<u64>,
) -> c_int {
    turn.meeting_at_lock(lock as usize);
    let mut out_of_time = false;
    loop {
        match attempt() {
            libc::EBUSY if out_of_time => {
                turn.log_sync(failed, lock as usize, 0);
                return libc::ETIMEDOUT;
            }
            libc::EBUSY => {
                out_of_time = turn.wait_for_lock(lock as usize, deadline, failed) == WakeReason::TimedOut;
            }
            result => {
                log_if_taken(turn, lock, result, taken.in_time(deadline.is_some()));
                return result;
            }
        }
    }
}

/// Tries once.
fn try_once(turn: &Turn, lock: Lock, result: c_int, taken: SyncOp, failed: SyncOp) -> c_int {
    if result == libc::EBUSY {
        turn.log_sync(failed, lock as usize, 0);
    }
    log_if_taken(turn, lock, result, taken.in_time(true));
    result
}

fn log_if_taken(turn: &Turn, lock: Lock, result: c_int, taken: SyncOp) {
    fence_if_owner_died(turn, result);
    if result == 0 || result == libc::EOWNERDEAD {
        turn.log_sync(taken, lock as usize, 0);
    }
}

/// That a thread has ended while it held the lock, or that the lock is of no use since, is reported to the thread that
/// comes next, and to none that comes before.
pub(super) fn fence_if_owner_died(turn: &Turn, result: c_int) {
    if result == libc::EOWNERDEAD || result == libc::ENOTRECOVERABLE {
        turn.fence(turn.me.site.get());
    }
}

/// The thread ends. The kernel will give up the locks that it holds if they are robust: those are in a list of its
/// own.
pub(super) fn abandon_locks(turn: &Turn) {
    for lock in robust_locks() {
        turn.fence(turn.me.site.get());
        turn.log_sync(SyncOp::Unlock, lock, 0);
        wake_waiters(lock, usize::MAX);
    }
}

/// The robust mutexes that the calling thread holds. The list is the kernel's: each entry is the address of the next,
/// and a mutex is so far from its entry.
fn robust_locks() -> Vec<usize> {
    /// As many as the kernel looks at.
    const MOST: usize = 2048;
    const IS_INHERITING: usize = 1;
    let (mut head, mut bytes) = (0_usize, 0_usize);
    let places = [&raw mut head as usize, &raw mut bytes as usize];
    let found = kernel(libc::SYS_get_robust_list, [0, places[0], places[1], 0, 0, 0]) == 0;
    if !found || head == 0 {
        return Vec::new();
    }
    // The C library has registered the head, and keeps the list.
    let list = head as *const usize;
    // SAFETY: the kernel has returned the head of the list of robust locks, which has three words.
    let distance = unsafe { list.add(1).read() };
    // SAFETY: the head of the list is there as long as its thread.
    let mut entry = unsafe { list.read() } & !IS_INHERITING;
    let mut locks = Vec::new();
    while entry != head && locks.len() < MOST {
        locks.push(entry.wrapping_add(distance));
        // SAFETY: the entries of the list are the locks that the thread holds, so they are there.
        entry = unsafe { (entry as *const usize).read() } & !IS_INHERITING;
    }
    locks
}

/// Gives a lock up and wakes those who may have it now.
fn give_up(turn: &Turn, lock: Lock, unlock: impl Fn() -> c_int, wake: impl Fn(usize)) -> c_int {
    turn.due();
    let result = unlock();
    if result == 0 {
        turn.log_sync(SyncOp::Unlock, lock as usize, 0);
        wake(lock as usize);
        turn.meeting();
    }
    result
}

/// An external thread gives something up.
pub(super) fn by_unrecorded(act: impl FnOnce() -> c_int) -> c_int {
    note_external();
    act()
}

/// Whether a mutex that checks for errors is held by the caller already: trying only tells that a thread has it.
fn is_own_checked_mutex(mutex: Lock) -> bool {
    const OWNER: usize = 2;
    const KIND: usize = 4;
    const KIND_MASK: i32 = 3;
    let words = mutex.cast::<i32>();
    // SAFETY: the layout of glibc's mutex on 64-bit machines.
    let (owner, kind) = unsafe { (words.add(OWNER).read(), words.add(KIND).read()) };
    kind & KIND_MASK == libc::PTHREAD_MUTEX_ERRORCHECK && owner == kernel_id()
}

/// Whether the caller has a read-write lock for writing: the original then refuses to wait for itself, where trying
/// only tells that a thread has it.
fn is_own_rwlock(lock: Lock) -> bool {
    const WRITER: usize = 6;
    // SAFETY: the layout of glibc's lock on 64-bit machines.
    unsafe { lock.cast::<i32>().add(WRITER).read() == kernel_id() }
}

/// Takes a read-write lock by trying until it works or the deadline has passed.
fn take_rwlock(turn: &Turn, lock: Lock, is_shared: bool, deadline: Option<u64>) -> c_int {
    if is_own_rwlock(lock) {
        return libc::EDEADLK;
    }
    note_use(turn, lock, ObjectKind::ReadWriteLock);
    if is_shared {
        take(turn, lock, || try_read(lock), SyncOp::LockShared, SyncOp::TrySharedFailed, deadline)
    } else {
        take(turn, lock, || try_write(lock), SyncOp::Lock, SyncOp::TryFailed, deadline)
    }
}

fn take_rwlock_until(turn: &Turn, lock: Lock, is_shared: bool, clock: c_int, time: *const timespec) -> c_int {
    if is_refused(clock, time) {
        return libc::EINVAL;
    }
    take_rwlock(turn, lock, is_shared, Some(deadline(clock, time)))
}

/// Where a lock was initialised tells what it is for.
fn note_place(lock: Lock) {
    if let Some(turn) = Turn::take() {
        note_lock(turn.me, lock as usize);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_mutex_init(mutex: Lock, how: *const c_void) -> c_int {
    note_place(mutex);
    let original = original!(c"pthread_mutex_init": fn(Lock, *const c_void) -> c_int);
    change(mutex, ObjectKind::Mutex, || pass_on!(original(mutex, how)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_mutex_destroy(mutex: Lock) -> c_int {
    let original = original!(c"pthread_mutex_destroy": fn(Lock) -> c_int);
    change(mutex, ObjectKind::Mutex, || pass_on!(original(mutex)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_init(lock: Lock, how: *const c_void) -> c_int {
    note_place(lock);
    let original = original!(c"pthread_rwlock_init": fn(Lock, *const c_void) -> c_int);
    change(lock, ObjectKind::ReadWriteLock, || pass_on!(original(lock, how)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_destroy(lock: Lock) -> c_int {
    let original = original!(c"pthread_rwlock_destroy": fn(Lock) -> c_int);
    change(lock, ObjectKind::ReadWriteLock, || pass_on!(original(lock)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_init(lock: Lock, shared: c_int) -> c_int {
    note_place(lock);
    pass_on!(original!(c"pthread_spin_init": fn(Lock, c_int) -> c_int)(lock, shared))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_lock(mutex: Lock) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"pthread_mutex_lock": fn(Lock) -> c_int)(mutex));
    };
    if is_own_checked_mutex(mutex) {
        return libc::EDEADLK;
    }
    note_use(&turn, mutex, ObjectKind::Mutex);
    take(&turn, mutex, || try_mutex(mutex), SyncOp::Lock, SyncOp::TryFailed, None)
}

/// Takes a mutex by trying with a time that has passed: only the original knows which times and clocks a mutex
/// refuses, and some do so only if it is not free.
fn lock_mutex_until(
    turn: &Turn,
    mutex: Lock,
    clock: c_int,
    time: *const timespec,
    lock: impl Fn(&timespec) -> c_int,
) -> c_int {
    note_use(turn, mutex, ObjectKind::Mutex);
    let passed = long_ago(time);
    let attempt = || match lock(&passed) {
        libc::ETIMEDOUT => libc::EBUSY,
        result => result,
    };
    take(turn, mutex, attempt, SyncOp::Lock, SyncOp::TryFailed, Some(deadline(clock, time)))
}

/// Tries the original.
pub(super) fn try_mutex(mutex: Lock) -> c_int {
    pass_on!(original!(c"pthread_mutex_trylock": fn(Lock) -> c_int)(mutex))
}

/// Unlocks the original.
pub(super) fn unlock_mutex(mutex: Lock) -> c_int {
    pass_on!(original!(c"pthread_mutex_unlock": fn(Lock) -> c_int)(mutex))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_trylock(mutex: Lock) -> c_int {
    let Some(turn) = Turn::alone() else { return try_mutex(mutex) };
    note_use(&turn, mutex, ObjectKind::Mutex);
    turn.meeting_at(mutex as usize);
    try_once(&turn, mutex, try_mutex(mutex), SyncOp::Lock, SyncOp::TryFailed)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_timedlock(mutex: Lock, time: *const timespec) -> c_int {
    let original = original!(c"pthread_mutex_timedlock": fn(Lock, *const timespec) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(mutex, time)) };
    lock_mutex_until(&turn, mutex, libc::CLOCK_REALTIME, time, |passed| pass_on!(original(mutex, passed)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_mutex_clocklock(
    mutex: Lock,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    let original = original!(c"pthread_mutex_clocklock": fn(Lock, c_int, *const timespec) -> c_int);
    let Some(turn) = Turn::alone() else { return pass_on!(original(mutex, clock, time)) };
    lock_mutex_until(&turn, mutex, clock, time, |passed| pass_on!(original(mutex, clock, passed)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_unlock(mutex: Lock) -> c_int {
    let Some(turn) = Turn::alone() else { return by_unrecorded(|| unlock_mutex(mutex)) };
    give_up(&turn, mutex, || unlock_mutex(mutex), wake_any)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_lock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"pthread_spin_lock": fn(Lock) -> c_int)(lock));
    };
    take(&turn, lock, || try_spin(lock), SyncOp::Lock, SyncOp::TryFailed, None)
}

fn try_spin(lock: Lock) -> c_int {
    pass_on!(original!(c"pthread_spin_trylock": fn(Lock) -> c_int)(lock))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_trylock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else { return try_spin(lock) };
    turn.meeting_at(lock as usize);
    try_once(&turn, lock, try_spin(lock), SyncOp::Lock, SyncOp::TryFailed)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_unlock(lock: Lock) -> c_int {
    let unlock = || pass_on!(original!(c"pthread_spin_unlock": fn(Lock) -> c_int)(lock));
    let Some(turn) = Turn::alone() else { return by_unrecorded(unlock) };
    give_up(&turn, lock, unlock, wake_any)
}

fn try_write(lock: Lock) -> c_int {
    pass_on!(original!(c"pthread_rwlock_trywrlock": fn(Lock) -> c_int)(lock))
}

fn try_read(lock: Lock) -> c_int {
    pass_on!(original!(c"pthread_rwlock_tryrdlock": fn(Lock) -> c_int)(lock))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_wrlock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"pthread_rwlock_wrlock": fn(Lock) -> c_int)(lock));
    };
    take_rwlock(&turn, lock, false, None)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_rdlock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"pthread_rwlock_rdlock": fn(Lock) -> c_int)(lock));
    };
    take_rwlock(&turn, lock, true, None)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_timedwrlock(lock: Lock, time: *const timespec) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_rwlock_timedwrlock": fn(Lock, *const timespec) -> c_int);
        return pass_on!(original(lock, time));
    };
    take_rwlock_until(&turn, lock, false, libc::CLOCK_REALTIME, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_timedrdlock(lock: Lock, time: *const timespec) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_rwlock_timedrdlock": fn(Lock, *const timespec) -> c_int);
        return pass_on!(original(lock, time));
    };
    take_rwlock_until(&turn, lock, true, libc::CLOCK_REALTIME, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_clockwrlock(
    lock: Lock,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_rwlock_clockwrlock": fn(Lock, c_int, *const timespec) -> c_int);
        return pass_on!(original(lock, clock, time));
    };
    take_rwlock_until(&turn, lock, false, clock, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_clockrdlock(
    lock: Lock,
    clock: c_int,
    time: *const timespec,
) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"pthread_rwlock_clockrdlock": fn(Lock, c_int, *const timespec) -> c_int);
        return pass_on!(original(lock, clock, time));
    };
    take_rwlock_until(&turn, lock, true, clock, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_trywrlock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else { return try_write(lock) };
    note_use(&turn, lock, ObjectKind::ReadWriteLock);
    turn.meeting_at(lock as usize);
    try_once(&turn, lock, try_write(lock), SyncOp::Lock, SyncOp::TryFailed)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_tryrdlock(lock: Lock) -> c_int {
    let Some(turn) = Turn::alone() else { return try_read(lock) };
    note_use(&turn, lock, ObjectKind::ReadWriteLock);
    turn.meeting_at(lock as usize);
    try_once(&turn, lock, try_read(lock), SyncOp::LockShared, SyncOp::TrySharedFailed)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_unlock(lock: Lock) -> c_int {
    let unlock = || pass_on!(original!(c"pthread_rwlock_unlock": fn(Lock) -> c_int)(lock));
    let Some(turn) = Turn::alone() else { return by_unrecorded(unlock) };
    // Several readers can have it together.
    give_up(&turn, lock, unlock, |lock| drop(wake_waiters(lock, usize::MAX)))
}
