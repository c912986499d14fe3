//! Libraries that build their own locks on atomics and futexes, see [`foretell_wire::primitive`].
//!
//! What they do is recorded by its meaning. The original always runs: an acquisition of a lock is recorded after it,
//! and a release before it. While a thread is in such a library, its futexes are part of what is recorded already.
//!
//! Safety of all hooks: the program would have made the same access at the same address.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a value is as wide as its access; what is above that is nothing"
)]

mod scopes;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretell_wire::hook::{MemoryOrder, Update};
use foretell_wire::primitive::{Primitive, Role};
use foretell_wire::record::{Record, SyncOp};

use crate::allocator;
use crate::library::CLOCK;
use crate::mode;
use crate::scheduler::{Helper, WakeReason, wake_waiters};
use crate::system::read_word;
use crate::thread::AsNative;
use crate::turn::{Turn, content};

/// What is not in memory, but recorded as if it was, has this bit in its address: no memory has.
pub(crate) const IMAGINED: u64 = 1 << 62;

/// Values of the word that holds the token of a thread.
const NO_TOKEN: u32 = 0;
const TOKEN: u32 = 1;

/// What has to be known of primitives across threads.
struct PrimitivesState {
    /// The words of tokens, and what was recorded last about each.
    tokens: BTreeMap<usize, u32>,
    /// Where a thread with an unknown token may find it: words that had one when it entered.
    candidates: BTreeMap<u32, Vec<usize>>,
    /// Who waits at each barrier.
    barriers: BTreeMap<u64, Vec<u32>>,
    /// Who is within each lock that a function takes itself, and how often.
    within: BTreeMap<u64, (u32, u32)>,
}

static KNOWN: Mutex<PrimitivesState> = Mutex::new(PrimitivesState {
    tokens: BTreeMap::new(),
    candidates: BTreeMap::new(),
    barriers: BTreeMap::new(),
    within: BTreeMap::new(),
});

fn known() -> MutexGuard<'static, PrimitivesState> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the thread is in a library that tells what it does. Not if it has called unknown code from there.
pub(crate) fn is_inside(turn: &Turn) -> bool {
    let library = &turn.me.native().library;
    library.is_closed.get() || turn.me.stack.is_in_known_library() || library.entered.get() == calls(turn)
}

/// The calls that the thread is in, as [`crate::thread::Library::entered`] has them.
fn calls(turn: &Turn) -> u64 {
    u64::from(turn.me.stack.calls()).wrapping_add(1)
}

/// The thread has come to a futex, and may wait there. Who parks does so at its token, which may come before the
/// thread waits.
pub(crate) fn comes_to_wait(turn: &Turn, word: usize) {
    if is_inside(turn) && turn.me.native().library.parks.get() {
        turn.me.native().library.token.set(word);
    }
    // Such a library has given its lock up by now, and others may take it before the thread waits.
    if turn.me.stack.is_in_known_library() {
        log_wait(turn);
    }
}

/// The thread is about to wait on a futex.
pub(crate) fn begins_to_wait(turn: &Turn) {
    if is_inside(turn) {
        log_wait(turn);
        turn.me.native().library.waited.set(true);
    }
}

/// The release of the lock is recorded at the last moment at which no other thread can have taken it: while it waits, a
/// thread cannot do anything, and the library may have to make room for it before.
pub(crate) fn log_wait(turn: &Turn) {
    if let Some((condition, lock)) = turn.me.native().library.waits_with.take() {
        turn.log_effect(SyncOp::Wait, condition, lock);
    }
}

/// The thread has waited on a futex.
pub(crate) fn has_waited(turn: &Turn, reason: WakeReason) {
    if is_inside(turn) && reason == WakeReason::TimedOut {
        turn.me.native().library.timed_out.set(true);
    }
}

/// Bits of what is remembered of an outer library that no number of calls has: the thread has waited there,
const WAITED: u64 = 1 << 63;
/// or it is still there, and nothing is to be recorded.
const CLOSED: u64 = 1 << 62;

#[unsafe(no_mangle)]
extern "C" fn __foretell_begin(site: u64, primitive: u32, object: u64, other: u64) -> u64 {
    let Some(turn) = Turn::alone() else { return 0 };
    let library = &turn.me.native().library;
    let Some(primitive) = Primitive::from_code(primitive).filter(|_| !library.is_closed.get()) else {
        return CLOSED;
    };
    turn.me.site.set(site);
    turn.me.native().allocates.set(false);
    let outer = library.entered.get() | if library.waited.get() { WAITED } else { 0 };
    begin(&turn, primitive, object, other);
    library.waited.set(false);
    library.timed_out.set(false);
    library.entered.set(calls(&turn));
    library.is_closed.set(!calls_back(primitive));
    outer
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_end(site: u64, primitive: u32, object: u64, other: u64, outer: u64, result: u64) {
    let Some(turn) = Turn::alone().filter(|_| outer & CLOSED == 0) else { return };
    let library = &turn.me.native().library;
    turn.me.site.set(site);
    library.is_closed.set(false);
    if let Some(primitive) = Primitive::from_code(primitive) {
        end(&turn, primitive, object, other, result & 1 != 0);
    }
    library.parks.set(false);
    library.entered.set(outer & !WAITED);
    library.waited.set(outer & WAITED != 0);
}

/// Whether the library may call functions of the program from there.
fn calls_back(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Once | Primitive::Within | Primitive::DropResult)
}

/// Whether memory of the program may be given back there.
fn gives_back(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Change | Primitive::DropResult | Primitive::Forget)
}

fn begin(turn: &Turn, primitive: Primitive, object: u64, other: u64) {
    if gives_back(primitive) && allocator::is_unseen() {
        turn.fence(turn.me.site.get());
    }
    match primitive {
        Primitive::Silent | Primitive::Clock => {}
        Primitive::Spawn => turn.me.native().library.spawns.set(true),
        Primitive::Lock => begin_lock(turn, object, SyncOp::TryFailed),
        Primitive::LockShared => begin_lock(turn, object, SyncOp::TrySharedFailed),
        Primitive::TryLock
        | Primitive::TryLockShared
        | Primitive::TryLockUpgradable
        | Primitive::TryUpgrade => {
            turn.meeting_at(object as usize);
        }
        Primitive::Unlock => {
            turn.due();
            turn.log_sync(SyncOp::Unlock, object as usize, 0);
        }
        Primitive::UnlockUpgradable => {
            turn.due();
            changed(turn, Role::UnlockUpgradable, object);
        }
        Primitive::Wait => {
            turn.due();
            turn.me.native().library.waits_with.set(Some((object as usize, other)));
            if mode::is_parallel() {
                log_wait(turn);
            }
        }
        Primitive::Notify => {
            turn.meeting();
            turn.log_sync(SyncOp::Notify, object as usize, 0);
        }
        Primitive::NotifyAll => {
            turn.meeting();
            turn.log_sync(SyncOp::NotifyAll, object as usize, 0);
        }
        Primitive::Once => {
            turn.meeting();
            turn.me.native().library.found.set(word_at(object));
        }
        Primitive::Barrier => begin_barrier(turn, object),
        Primitive::Park => {
            turn.meeting();
            turn.me.native().library.parks.set(true);
            look_for_token(turn);
        }
        Primitive::ScopeGrows => scopes::grow(turn, object),
        Primitive::ScopeShrinks => scopes::shrink(turn, object),
        Primitive::DropResult => {
            turn.me.native().library.forgets.set(true);
            scopes::begin_to_drop(turn, object, other);
        }
        Primitive::Forget => turn.me.native().library.forgets.set(true),
        Primitive::Within => begin_within(turn, object),
        Primitive::Change => {
            turn.due();
            log_change(turn, object, other, |site, addr, bytes| Record::ReadRange { site, addr, bytes });
        }
    }
}

/// If the thread waits there for ever, what it could not have is recorded.
fn begin_lock(turn: &Turn, object: u64, failed: SyncOp) {
    turn.meeting_at_lock(object as usize);
    turn.me.attempt.set(Some((failed, object as usize)));
}

fn end(turn: &Turn, primitive: Primitive, object: u64, other: u64, result: bool) {
    turn.me.attempt.set(None);
    match primitive {
        Primitive::Silent
        | Primitive::Unlock
        | Primitive::UnlockUpgradable
        | Primitive::Notify
        | Primitive::NotifyAll
        | Primitive::ScopeShrinks => turn.meeting(),
        Primitive::ScopeGrows => {}
        Primitive::DropResult => {
            turn.me.native().library.forgets.set(false);
            scopes::has_dropped(turn);
        }
        Primitive::Forget => turn.me.native().library.forgets.set(false),
        Primitive::Spawn => turn.me.native().library.spawns.set(false),
        Primitive::Clock => turn.in_order(&CLOCK, MemoryOrder::Relaxed),
        Primitive::Lock => turn.log_sync(SyncOp::Lock, object as usize, 0),
        Primitive::LockShared => turn.log_sync(SyncOp::LockShared, object as usize, 0),
        Primitive::TryLock if result => turn.log_sync(SyncOp::TryLock, object as usize, 0),
        Primitive::TryLockShared if result => turn.log_sync(SyncOp::TryLockShared, object as usize, 0),
        Primitive::TryLockUpgradable if result => changed(turn, Role::LockUpgradableInTime, object),
        Primitive::TryUpgrade if result => changed(turn, Role::UpgradeInTime, object),
        // The thread that had the lock when the time was over may have given it up since.
        Primitive::TryLock
        | Primitive::TryLockShared
        | Primitive::TryLockUpgradable
        | Primitive::TryUpgrade => {
            turn.fence(turn.me.site.get());
        }
        Primitive::Wait => {
            log_wait(turn);
            let timed_out = turn.me.native().library.timed_out.get();
            turn.log_sync(if timed_out { SyncOp::TimedOut } else { SyncOp::Woken }, object as usize, other);
        }
        Primitive::Once => end_once(turn, object, other),
        Primitive::Barrier => end_barrier(turn, object),
        Primitive::Park => end_park(turn),
        Primitive::Within => end_within(turn, object),
        Primitive::Change => {
            log_change(turn, object, other, |site, addr, bytes| Record::WriteRange { site, addr, bytes });
        }
    }
}

/// An update of a word that is not in memory, on which the thread depends from now on.
fn log_imagined(turn: &Turn, object: u64, (read, written): (u64, u64), order: MemoryOrder) {
    let (site, addr) = (turn.me.site.get(), object | IMAGINED);
    turn.at(addr as usize, 8, || turn.log(&Record::Rmw { site, addr, size: 8, read, written, order }));
    turn.log_branch(site, None);
}

/// The bytes of an object as they are now.
fn log_change(turn: &Turn, object: u64, length: u64, record: impl Fn(u64, u64, &[u8]) -> Record<'_>) {
    let site = turn.me.site.get();
    turn.at(object as usize, length as usize, || {
        turn.log_range(content(object as *const c_void, length as usize), |offset, bytes| {
            record(site, object + offset, bytes)
        });
    });
}

/// The thread that changed the word without having waited has done the work. What it was before, no other thread has
/// changed.
fn end_once(turn: &Turn, object: u64, before: u64) {
    let site = turn.me.site.get();
    turn.at(object as usize, 4, || {
        let found = word_at(object);
        let (now, did_it) = (
            u64::from(found),
            !turn.me.native().library.waited.get() && turn.me.native().library.found.get() != found,
        );
        turn.log(&if did_it {
            Record::Rmw {
                site,
                addr: object,
                size: 4,
                read: before,
                written: now,
                order: MemoryOrder::AcqRel,
            }
        } else {
            Record::AtomicLoad { site, addr: object, size: 4, value: now, order: MemoryOrder::Acquire }
        });
    });
    turn.log_branch(site, None);
}

/// Threads that come and threads that leave at the same time cannot be distinguished where threads do not take turns.
fn begin_barrier(turn: &Turn, object: u64) {
    if mode::is_parallel() {
        return turn.fence(turn.me.site.get());
    }
    turn.meeting();
    // The thread that comes last learns that it leads.
    turn.log_sync(SyncOp::Arrive, object as usize, 1);
    known().barriers.entry(object).or_default().push(turn.me.id);
}

/// The first one to leave has opened the barrier, and all leave in one step.
fn end_barrier(turn: &Turn, object: u64) {
    if mode::is_parallel() {
        return turn.fence(turn.me.site.get());
    }
    let mut known = known();
    let Some(waiting) = known.barriers.get_mut(&object).filter(|waiting| waiting.contains(&turn.me.id))
    else {
        return;
    };
    for thread in std::mem::take(waiting) {
        turn.log_sync(SyncOp::Depart, object as usize, thread.into());
    }
}

/// A thread that has never waited for its token does not know where it is: it is one of those that are there now.
fn look_for_token(turn: &Turn) {
    if turn.me.native().library.token.get() == 0 {
        let mut known = known();
        let there = |&word: &usize| read_word(word) == Some(TOKEN);
        let found: Vec<usize> = known.tokens.keys().copied().filter(there).collect();
        known.candidates.insert(turn.me.id, found);
    }
}

/// A token that was there is gone. Else the thread came back without one that was recorded, which it may at any time:
/// the thread that parks has to look for what it waits for.
fn end_park(turn: &Turn) {
    let library = &turn.me.native().library;
    let mut known = known();
    let candidates = known.candidates.remove(&turn.me.id).unwrap_or_default();
    if library.token.get() == 0 && mode::is_parallel() {
        // Others may have taken theirs meanwhile.
        return turn.fence(turn.me.site.get());
    }
    if library.token.get() == 0 {
        let is_gone = |&word: &usize| read_word(word) != Some(TOKEN);
        let gone: Vec<usize> = candidates.into_iter().filter(is_gone).collect();
        match gone[..] {
            [] => return,
            [word] => library.token.set(word),
            _ => return turn.fence(turn.me.site.get()),
        }
    }
    let word = library.token.get();
    if known.tokens.insert(word, NO_TOKEN) == Some(TOKEN) {
        drop(known);
        log_imagined(turn, word as u64, (TOKEN.into(), NO_TOKEN.into()), MemoryOrder::Acquire);
    }
}

/// The lock that a function takes itself cannot be seen; so there is one more around it, which is.
fn begin_within(turn: &Turn, object: u64) {
    loop {
        turn.meeting();
        let mut known = known();
        let (owner, count) = known.within.entry(object).or_insert((turn.me.id, 0));
        if *count == 0 || *owner == turn.me.id {
            *owner = turn.me.id;
            *count += 1;
            if *count == 1 {
                turn.log_sync(SyncOp::Lock, (object | IMAGINED) as usize, 0);
            }
            return;
        }
        drop(known);
        turn.wait((object | IMAGINED) as usize, None, Helper::Threads);
    }
}

fn end_within(turn: &Turn, object: u64) {
    turn.due();
    let mut known = known();
    let Some((_, count)) = known.within.get_mut(&object) else { return };
    *count = count.saturating_sub(1);
    if *count == 0 {
        turn.log_sync(SyncOp::Unlock, (object | IMAGINED) as usize, 0);
        drop(known);
        wake_waiters((object | IMAGINED) as usize, usize::MAX);
        turn.meeting();
    }
}

fn word_at(object: u64) -> u32 {
    // SAFETY: the object is a word that the library waits on, so it is there and aligned.
    unsafe { AtomicU32::from_ptr(object as *mut u32) }.load(Ordering::SeqCst)
}

/// What it means that the word could not be, or is not to be, changed.
fn judge(turn: &Turn, role: Role, lock: u64, value: u64, held: u64, blocked: u64) -> bool {
    match role {
        Role::TryLock if value & held != 0 => turn.log_sync(SyncOp::TryFailed, lock as usize, 0),
        Role::TryLockShared if value & held == held => {
            turn.log_sync(SyncOp::TrySharedFailed, lock as usize, 0);
        }
        Role::TryLockShared if value & blocked != 0 => turn.fence(turn.me.site.get()),
        Role::Fence => turn.fence(turn.me.site.get()),
        _ => return false,
    }
    true
}

/// That a thread may take the lock alone later, and no other thread may, is a lock of its own: beside the word, where
/// there is nothing.
fn upgradable(lock: usize) -> usize {
    lock + 1
}

/// The word was changed.
fn changed(turn: &Turn, role: Role, word: u64) {
    let (object, site) = (word as usize, turn.me.site.get());
    match role {
        Role::Silent | Role::Done | Role::Scope | Role::Retire => {}
        Role::Lock => turn.log_sync(SyncOp::Lock, object, 0),
        Role::LockShared => turn.log_sync(SyncOp::LockShared, object, 0),
        Role::TryLock | Role::LockInTime => turn.log_sync(SyncOp::TryLock, object, 0),
        Role::TryLockShared | Role::LockSharedInTime => turn.log_sync(SyncOp::TryLockShared, object, 0),
        Role::LockUpgradable | Role::LockUpgradableInTime => {
            let has_deadline = role == Role::LockUpgradableInTime;
            turn.log_sync(SyncOp::Lock.in_time(has_deadline), upgradable(object), 0);
            turn.log_sync(SyncOp::LockShared.in_time(has_deadline), object, 0);
        }
        Role::Unlock => {
            turn.log_sync(SyncOp::Unlock, object, 0);
            turn.meeting();
        }
        Role::UnlockUpgradable => {
            turn.log_sync(SyncOp::Unlock, object, 0);
            turn.log_sync(SyncOp::Unlock, upgradable(object), 0);
            turn.meeting();
        }
        Role::StayShared => {
            turn.log_sync(SyncOp::Unlock, upgradable(object), 0);
            turn.meeting();
        }
        // No thread can come between the two, so none waits there.
        Role::Downgrade => in_one(turn, &[(SyncOp::Unlock, object), (SyncOp::TryLockShared, object)]),
        Role::Upgrade | Role::UpgradeInTime => {
            let taken = SyncOp::Lock.in_time(role == Role::UpgradeInTime);
            in_one(turn, &[(SyncOp::Unlock, object), (taken, object), (SyncOp::Unlock, upgradable(object))]);
        }
        Role::DowngradeToUpgradable => {
            let taken = [(SyncOp::TryLock, upgradable(object)), (SyncOp::TryLockShared, object)];
            in_one(turn, &[(SyncOp::Unlock, object), taken[0], taken[1]]);
        }
        Role::Poison | Role::Fence => turn.fence(site),
        Role::Unpark => {
            let told = known().tokens.insert(object, TOKEN).unwrap_or(NO_TOKEN);
            log_imagined(turn, word, (told.into(), TOKEN.into()), MemoryOrder::Release);
        }
    }
}

/// Several changes that are one.
fn in_one(turn: &Turn, changes: &[(SyncOp, usize)]) {
    turn.fence(turn.me.site.get());
    for &(op, object) in changes {
        turn.log_sync(op, object, 0);
    }
    turn.fence(turn.me.site.get());
}

/// Whether a change makes its role's difference: who wants to have a lock alone must find no other reader.
fn makes_a_difference(role: Role, found: u64) -> bool {
    const READERS: u32 = 4;
    !matches!(role, Role::Upgrade | Role::UpgradeInTime) || found >> READERS == 1
}

/// Whether others may go on before a thread tries.
fn is_attempt(role: Role) -> bool {
    matches!(
        role,
        Role::Lock
            | Role::LockShared
            | Role::LockUpgradable
            | Role::TryLock
            | Role::TryLockShared
            | Role::Upgrade
            | Role::LockInTime
            | Role::LockSharedInTime
            | Role::LockUpgradableInTime
            | Role::UpgradeInTime
            | Role::Unpark
    )
}

/// Whether a change of the word is recorded as a step for which no thread is let go first.
fn is_told(role: Role) -> bool {
    matches!(
        role,
        Role::Unlock
            | Role::UnlockUpgradable
            | Role::Downgrade
            | Role::DowngradeToUpgradable
            | Role::StayShared
    )
}

/// The turn for an access to a word.
fn begin_access(site: u64, role: u32, attempts: bool) -> (Option<Turn>, Role) {
    let role = Role::from_code(role).unwrap_or(Role::Silent);
    let is_closed = |turn: &Turn| turn.me.native().library.is_closed.get();
    let turn = if role == Role::Done { Turn::take() } else { Turn::alone() };
    let turn = turn.filter(|turn| !is_closed(turn));
    if let Some(turn) = &turn {
        turn.me.site.set(site);
        if role == Role::Fence {
            turn.fence(site);
        } else if attempts && is_attempt(role) {
            turn.meeting();
        } else if attempts && is_told(role) {
            turn.due();
        }
    }
    (turn, role)
}

/// The count of a scope's threads has so many bytes. Whether one of them has panicked is one byte, and no news.
const SCOPE_COUNT: usize = 8;

/// A thread gives up its result. The thread that drops a result last is after the other who knew of it: if that is
/// who started the thread, all that it does from then on seems to follow from what the thread did, though it is an
/// accident that the thread came first. So it is if the next thread gets the stack of this one. So all others may go
/// on before.
fn retire(
    turn: &Turn,
    addr: u64,
    size: u8,
    give_up: impl FnOnce() -> u64,
    after: impl FnOnce(u64) -> u64,
) -> u64 {
    turn.let_all_go_first();
    turn.me.native().library.retires.set(true);
    let site = turn.me.site.get();
    turn.access(addr as usize, size.into(), || {
        let read = give_up();
        turn.log(&Record::Rmw { site, addr, size, read, written: after(read), order: MemoryOrder::Release });
        read
    })
}

macro_rules! words {
    ($($size:literal $word:ty, $atomic:ty: $load:ident $store:ident $rmw:ident $cmpxchg:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(site: u64, addr: *mut $word, role: u32, held: u64, blocked: u64) -> u64 {
            let (turn, role) = begin_access(site, role, false);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let load = || u64::from(unsafe { <$atomic>::from_ptr(addr) }.load(Ordering::SeqCst));
            let Some(turn) = turn else { return load() };
            if role != Role::Done {
                let value = load();
                if role == Role::Scope && $size == SCOPE_COUNT && value == 0 {
                    scopes::end(&turn, addr as u64);
                }
                judge(&turn, role, addr as u64, value, held, blocked);
                return value;
            }
            turn.access(addr as usize, $size, || {
                let found = load();
                let is_done = found & held == !blocked & held;
                let (addr, value, order) = (addr as u64, if is_done { found } else { blocked }, MemoryOrder::Acquire);
                turn.log(&Record::AtomicLoad { site, addr, size: $size, value, order });
                found
            })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(site: u64, addr: *mut $word, value: u64, role: u32) {
            let (turn, role) = begin_access(site, role, true);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            unsafe { <$atomic>::from_ptr(addr) }.store(value as $word, Ordering::SeqCst);
            if let Some(turn) = turn {
                changed(&turn, role, addr as u64);
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $rmw(site: u64, addr: *mut $word, operand: u64, update: u32, role: u32) -> u64 {
            let (turn, role) = begin_access(site, role, true);
            let update = Update::from_code(update).unwrap_or(Update::Xchg);
            let apply = |old: $word| Some(update.apply(old.into(), operand, $size) as $word);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let run = || {
                let found = atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, apply);
                u64::from(found.unwrap_or_else(|found| found))
            };
            let Some(turn) = turn else { return run() };
            if role == Role::Retire {
                return retire(&turn, addr as u64, $size, run, |read| update.apply(read, operand, $size));
            }
            // A release is recorded before others can acquire, all else after it was done.
            if role == Role::Unlock {
                changed(&turn, role, addr as u64);
                return run();
            }
            let found = run();
            if makes_a_difference(role, found) {
                changed(&turn, role, addr as u64);
            }
            found
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $cmpxchg(
            site: u64, addr: *mut $word, expected: u64, desired: u64, role: u32, held: u64,
        ) -> u64 {
            let (turn, role) = begin_access(site, role, true);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let found = atomic.compare_exchange(
                expected as $word, desired as $word, Ordering::SeqCst, Ordering::SeqCst);
            if let Some(turn) = turn {
                match found {
                    Ok(_) => changed(&turn, role, addr as u64),
                    Err(value) => {
                        let told = judge(&turn, role, addr as u64, value.into(), held, 0);
                        if !told && role == Role::TryLock {
                            turn.fence(site);
                        }
                    }
                }
            }
            found.unwrap_or_else(|found| found).into()
        }
    )*};
}

words! {
    1 u8, AtomicU8: __foretell_word_load1 __foretell_word_store1 __foretell_word_rmw1 __foretell_word_cmpxchg1;
    2 u16, AtomicU16: __foretell_word_load2 __foretell_word_store2 __foretell_word_rmw2 __foretell_word_cmpxchg2;
    4 u32, AtomicU32: __foretell_word_load4 __foretell_word_store4 __foretell_word_rmw4 __foretell_word_cmpxchg4;
    8 u64, AtomicU64: __foretell_word_load8 __foretell_word_store8 __foretell_word_rmw8 __foretell_word_cmpxchg8;
}
