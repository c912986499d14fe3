//! Functions of Rust's libraries that synchronise, and what they mean.
//!
//! A lock of the standard library is a word that is changed by atomics; who has to wait calls a function that is part
//! of the compiled library. The atomics are found wherever the compiler has put them: what function they belong to in
//! the source is known from the debug information, even after that was inlined elsewhere.
//!
//! A function that is not named here is instrumented as any other, if it can be, and counts as unknown code
//! otherwise.

use std::collections::HashMap;

use foretell_wire::primitive::{Primitive, Role};

use crate::ir::{Module, Value};
use crate::rust_name;
use crate::rust_std;

/// What the atomics in a function mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtomicsMeaning {
    pub(crate) role: Role,
    pub(crate) held: u64,
    pub(crate) blocked: u64,
}

/// What a call of a function means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Called {
    pub(crate) primitive: Primitive,
    /// Which argument the object is.
    pub(crate) object: PrimitiveObject,
    /// The second number that the runtime gets.
    pub(crate) other: Other,
}

/// What a primitive is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrimitiveObject {
    /// What the first argument points to.
    First,
    /// Something that there is only one of.
    Number(u64),
}

/// What else the runtime has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Other {
    /// What the second argument points to.
    Second,
    /// Which function is called.
    Callee,
    /// A number.
    Number(u64),
}

const fn word(role: Role) -> AtomicsMeaning {
    AtomicsMeaning { role, held: 0, blocked: 0 }
}

/// The atomics in these functions. The bits are those of Rust 1.95.
const WORDS: &[(&str, AtomicsMeaning)] = &[
    ("std::sys::sync::mutex::futex::Mutex::lock", word(Role::Lock)),
    (
        "std::sys::sync::mutex::futex::Mutex::try_lock",
        AtomicsMeaning { role: Role::TryLock, held: u64::MAX, blocked: 0 },
    ),
    ("std::sys::sync::mutex::futex::Mutex::unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::read", word(Role::LockShared)),
    ("std::sys::sync::rwlock::futex::RwLock::write", word(Role::Lock)),
    (
        "std::sys::sync::rwlock::futex::RwLock::try_read",
        AtomicsMeaning { role: Role::TryLockShared, held: READERS, blocked: WAITERS },
    ),
    (
        "std::sys::sync::rwlock::futex::RwLock::try_write",
        AtomicsMeaning { role: Role::TryLock, held: READERS, blocked: 0 },
    ),
    ("std::sys::sync::rwlock::futex::RwLock::read_unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::write_unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::downgrade", word(Role::Downgrade)),
    // Only the library itself decides by these: whether a thread panics, and how often a thread is known.
    ("std::panicking::panic_count::count_is_zero", word(Role::Silent)),
    ("std::sync::poison::Flag::borrow", word(Role::Poison)),
    ("std::sync::poison::Flag::guard", word(Role::Poison)),
    ("std::sync::poison::Flag::done", word(Role::Poison)),
    ("std::sync::poison::Flag::get", word(Role::Poison)),
    ("std::sync::poison::Flag::clear", word(Role::Poison)),
    (
        "std::sys::sync::once::futex::Once::is_completed",
        AtomicsMeaning { role: Role::Done, held: 3, blocked: 3 },
    ),
    ("std::sys::sync::thread_parking::futex::Parker::unpark", word(Role::Unpark)),
    ("std::thread::scoped::scope", word(Role::Scope)),
    // How large stacks are is asked from the environment once, and remembered.
    ("std::thread::lifecycle::spawn_unchecked::{closure#0}", word(Role::Silent)),
    ("parking_lot::raw_mutex::RawMutex::lock", word(Role::Lock)),
    (
        "parking_lot::raw_mutex::RawMutex::try_lock",
        AtomicsMeaning { role: Role::TryLock, held: 1, blocked: 0 },
    ),
    ("parking_lot::raw_mutex::RawMutex::try_lock_for", word(Role::LockInTime)),
    ("parking_lot::raw_mutex::RawMutex::try_lock_until", word(Role::LockInTime)),
    ("parking_lot::raw_mutex::RawMutex::unlock", word(Role::Unlock)),
    ("parking_lot::raw_mutex::RawMutex::unlock_fair", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_exclusive", word(Role::Lock)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_for", word(Role::LockInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_until", word(Role::LockInTime)),
    (
        "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive",
        AtomicsMeaning { role: Role::TryLock, held: !3, blocked: 0 },
    ),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_fair", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_shared", word(Role::Unlock)),
    // Who only tries goes on to a function that tells whether it failed.
    ("parking_lot::raw_rwlock::RawRwLock::lock_shared", word(Role::LockShared)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_for", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_until", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_shared_recursive", word(Role::LockShared)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive_for", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive_until", word(Role::LockSharedInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade", word(Role::Downgrade)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_upgradable", word(Role::LockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable", word(Role::LockUpgradableInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_for", word(Role::LockUpgradableInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_until", word(Role::LockUpgradableInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable", word(Role::UnlockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable_fair", word(Role::UnlockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::upgrade", word(Role::Upgrade)),
    ("parking_lot::raw_rwlock::RawRwLock::try_upgrade", word(Role::UpgradeInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_upgrade_for", word(Role::UpgradeInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::try_upgrade_until", word(Role::UpgradeInTime)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade_upgradable", word(Role::StayShared)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade_to_upgradable", word(Role::DowngradeToUpgradable)),
    ("parking_lot::condvar::Condvar::notify_one", word(Role::Silent)),
    ("parking_lot::condvar::Condvar::notify_all", word(Role::Silent)),
];

/// The bits of the read-write lock's word that count its readers; all are set if a thread writes.
const READERS: u64 = (1 << 30) - 1;
/// Its other bits: a thread waits.
const WAITERS: u64 = 3 << 30;

/// How often a thread or a scope is known is counted partly by code that is not instrumented, and decides only when
/// its description is freed, which is not recorded.
const HANDLES: [&str; 2] =
    ["<alloc::sync::Arc<std::thread::thread::Inner", "<alloc::sync::Arc<std::thread::scoped::ScopeData"];

/// A lock that its owner may take again has a word that says who that is. Each thread only asks whether it is the
/// one, and that depends on nothing but what it has done itself.
const OWNERS: [&str; 2] =
    ["lock_api::remutex::RawReentrantMutex::", "std::sync::reentrant_lock::ReentrantLock"];

/// The words of locks are in the hands of these alone. What they do that is not named above is a fence: a word that
/// is half a lock and half an atomic would order less than it does.
const LOCKS: &[&str] =
    &["std::sys::sync::", "parking_lot::raw_mutex::", "parking_lot::raw_rwlock::", "parking_lot::condvar::"];

/// Who knows of a thread's result is counted: that are the thread and who has started it.
const RESULT: &str = "<alloc::sync::Arc<std::thread::lifecycle::Packet<";
/// The last of them calls this.
const DROP_SLOW: &str = ">::drop_slow";
/// What a thread runs first calls the function that it was started for, and then gives up its result.
const START: &str = "std::thread::lifecycle::spawn_unchecked::{closure#1}";

const fn called(primitive: Primitive) -> Called {
    Called { primitive, object: PrimitiveObject::First, other: Other::Number(0) }
}

/// Standard output and standard error, as objects.
const OUTPUT: u64 = 1;
const ERRORS: u64 = 2;

/// Calls of these functions.
const CALLS: &[(&str, Called)] = &[
    ("std::sys::sync::mutex::futex::Mutex::lock_contended", called(Primitive::Lock)),
    ("std::sys::sync::mutex::futex::Mutex::wake", called(Primitive::Silent)),
    ("std::sys::sync::rwlock::futex::RwLock::read_contended", called(Primitive::LockShared)),
    ("std::sys::sync::rwlock::futex::RwLock::write_contended", called(Primitive::Lock)),
    ("std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers", called(Primitive::Silent)),
    ("std::sys::pal::unix::futex::futex_wake", called(Primitive::Silent)),
    (
        "std::sys::sync::condvar::futex::Condvar::wait",
        Called { primitive: Primitive::Wait, object: PrimitiveObject::First, other: Other::Second },
    ),
    (
        "std::sys::sync::condvar::futex::Condvar::wait_timeout",
        Called { primitive: Primitive::Wait, object: PrimitiveObject::First, other: Other::Second },
    ),
    ("std::sync::poison::condvar::Condvar::notify_one", called(Primitive::Notify)),
    ("std::sync::poison::condvar::Condvar::notify_all", called(Primitive::NotifyAll)),
    (
        "std::sys::sync::once::futex::Once::call",
        Called { primitive: Primitive::Once, object: PrimitiveObject::First, other: Other::Number(3) },
    ),
    ("std::sync::barrier::Barrier::wait", called(Primitive::Barrier)),
    ("std::thread::functions::park", called(Primitive::Park)),
    ("std::thread::functions::park_timeout", called(Primitive::Park)),
    ("std::thread::thread::Thread::park", called(Primitive::Park)),
    ("std::thread::thread::Thread::park_timeout", called(Primitive::Park)),
    ("std::sys::thread::unix::Thread::new", called(Primitive::Spawn)),
    ("std::thread::scoped::ScopeData::increment_num_running_threads", called(Primitive::ScopeGrows)),
    ("std::thread::scoped::ScopeData::decrement_num_running_threads", called(Primitive::ScopeShrinks)),
    (
        "std::io::stdio::_print",
        Called {
            primitive: Primitive::Within,
            object: PrimitiveObject::Number(OUTPUT),
            other: Other::Number(0),
        },
    ),
    (
        "std::io::stdio::_eprint",
        Called {
            primitive: Primitive::Within,
            object: PrimitiveObject::Number(ERRORS),
            other: Other::Number(0),
        },
    ),
    ("std::time::Instant::now", called(Primitive::Clock)),
    ("std::time::SystemTime::now", called(Primitive::Clock)),
    ("alloc::raw_vec::RawVecInner::grow_amortized", VECTOR),
    ("alloc::raw_vec::RawVecInner::grow_exact", VECTOR),
    ("alloc::raw_vec::RawVecInner::deallocate", VECTOR),
    ("alloc::raw_vec::RawVec::drop", VECTOR),
    ("alloc::raw_vec::RawVecInner::shrink", VECTOR),
    ("alloc::raw_vec::RawVecInner::shrink_unchecked", VECTOR),
    ("alloc::raw_vec::RawVecInner::reserve::do_reserve_and_handle", VECTOR),
    ("parking_lot::raw_mutex::RawMutex::lock_slow", called(Primitive::TryLock)),
    ("parking_lot::raw_mutex::RawMutex::unlock_slow", called(Primitive::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow", called(Primitive::TryLock)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_shared_slow", called(Primitive::TryLockShared)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_slow", called(Primitive::TryLockShared)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_slow", called(Primitive::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_shared_slow", called(Primitive::Silent)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade_slow", called(Primitive::Silent)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade_to_upgradable_slow", called(Primitive::Silent)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_upgradable_slow", called(Primitive::TryLockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_slow", called(Primitive::TryLockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable_slow", called(Primitive::UnlockUpgradable)),
    ("parking_lot::raw_rwlock::RawRwLock::upgrade_slow", called(Primitive::TryUpgrade)),
    ("parking_lot::raw_rwlock::RawRwLock::try_upgrade_slow", called(Primitive::TryUpgrade)),
    (
        "parking_lot::condvar::Condvar::wait_until_internal",
        Called { primitive: Primitive::Wait, object: PrimitiveObject::First, other: Other::Second },
    ),
    ("parking_lot::condvar::Condvar::notify_one_slow", called(Primitive::Notify)),
    ("parking_lot::condvar::Condvar::notify_all_slow", called(Primitive::NotifyAll)),
];

/// A vector's length in memory and where that is: 16 bytes.
const VECTOR: Called =
    Called { primitive: Primitive::Change, object: PrimitiveObject::First, other: Other::Number(16) };

/// Functions that are part of a primitive, as are those within them.
const UNSEEN: &[&str] = &["parking_lot_core::"];

/// What is known of functions by their names, as far as it was asked.
#[derive(Default)]
pub(crate) struct Primitives {
    scopes: HashMap<String, PrimitiveScope>,
}

/// What it means to be within a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrimitiveScope {
    /// The atomics there are known.
    Word(AtomicsMeaning),
    /// They are the words of locks, and not known.
    Lock,
    /// They count who knows of a thread's result.
    Result,
    /// It is the first function of a thread.
    Start,
    /// It is one of those that atomics are made of.
    Core,
    /// Nothing.
    Other,
}

impl Primitives {
    /// What an atomic access or a branch belongs to, if it is part of a primitive.
    pub(crate) fn word(&mut self, instruction: Value, function: &str) -> Option<AtomicsMeaning> {
        let places = instruction.places().into_iter().map(|place| place.function);
        let scopes: Vec<PrimitiveScope> =
            places.chain([function.to_string()]).map(|name| self.scope(name)).collect();
        let known = scopes.iter().find_map(|scope| match scope {
            PrimitiveScope::Word(word) => Some(*word),
            _ => None,
        });
        let is_within = |wanted: PrimitiveScope| scopes.contains(&wanted);
        // What a lock's function is given to call may have atomics of its own.
        let innermost = scopes.iter().find(|&&scope| scope != PrimitiveScope::Core);
        known
            .or_else(|| {
                (is_within(PrimitiveScope::Result) && is_within(PrimitiveScope::Start))
                    .then_some(word(Role::Retire))
            })
            .or_else(|| (innermost == Some(&PrimitiveScope::Lock)).then_some(word(Role::Fence)))
    }

    fn scope(&mut self, name: String) -> PrimitiveScope {
        if let Some(&known) = self.scopes.get(&name) {
            return known;
        }
        let found = scope_of(&name).unwrap_or(PrimitiveScope::Other);
        self.scopes.insert(name, found);
        found
    }
}

fn scope_of(name: &str) -> Option<PrimitiveScope> {
    let text = rust_name::text(name)?;
    if HANDLES.iter().any(|handle| text.starts_with(handle)) {
        return Some(PrimitiveScope::Word(word(Role::Silent)));
    }
    if text.starts_with(RESULT) {
        return Some(PrimitiveScope::Result);
    }
    let path = rust_name::path(name)?;
    let known = WORDS.iter().find(|(known, _)| *known == path).map(|&(_, word)| word);
    let is_owner = OWNERS.iter().any(|owner| path.starts_with(owner));
    match known.or_else(|| is_owner.then_some(word(Role::Silent))) {
        Some(word) => Some(PrimitiveScope::Word(word)),
        None if path == START => Some(PrimitiveScope::Start),
        None if path.starts_with("core::") => Some(PrimitiveScope::Core),
        None => LOCKS.iter().any(|start| path.starts_with(start)).then_some(PrimitiveScope::Lock),
    }
}

/// What a call of this function means, if it is a primitive.
pub(crate) fn called_function(function: Value) -> Option<Called> {
    if !function.is_function() {
        return None;
    }
    let name = function.name();
    // Results that the library itself has use for, too, are dropped by its own code.
    if let Some(text) =
        rust_name::text(&name).filter(|text| text.ends_with(DROP_SLOW) && !function.is_defined())
    {
        if text.starts_with(RESULT) {
            return Some(DROP_RESULT);
        }
        if HANDLES.iter().any(|handle| text.starts_with(handle)) {
            return Some(called(Primitive::Forget));
        }
    }
    let path = rust_name::path(&name)?;
    calls().find(|(known, _)| *known == path).map(|&(_, called)| called)
}

/// An instrumented library records itself what it does to print.
fn calls() -> impl Iterator<Item = &'static (&'static str, Called)> {
    let is_recorded = |called: Called| called.primitive == Primitive::Within && rust_std::is_instrumented();
    CALLS.iter().filter(move |(_, called)| !is_recorded(*called))
}

/// Whether the atomics in the function with this path are known.
pub(crate) fn is_word(path: &str) -> bool {
    WORDS.iter().any(|(known, _)| *known == path)
}

const DROP_RESULT: Called =
    Called { primitive: Primitive::DropResult, object: PrimitiveObject::First, other: Other::Callee };

/// Rust's atomics are functions with an argument for the memory order. They become what they stand for
/// in those who call them, so that it can be seen what they belong to, and so does what gives up a thread's result.
/// Says whether there are any.
pub(crate) fn inline_atomics(module: Module) -> bool {
    let is_atomic = |function: &Value| {
        let name = function.name();
        let gives_up = || rust_name::text(&name).is_some_and(|text| gives_up_result(&text));
        rust_name::path(&name).is_some_and(|path| path.starts_with("core::sync::atomic::")) || gives_up()
    };
    let atomics: Vec<Value> = module.defined_functions().into_iter().filter(is_atomic).collect();
    for function in &atomics {
        function.remove_attribute("noinline");
        function.add_attribute("alwaysinline");
    }
    !atomics.is_empty()
}

fn gives_up_result(text: &str) -> bool {
    let glue = text.strip_prefix("core::ptr::drop_in_place::");
    let is_drop = text.starts_with(RESULT) && text.ends_with(" as core::ops::drop::Drop>::drop");
    is_drop || glue.is_some_and(|glued| glued.starts_with(RESULT))
}

/// Whether the function with this name is part of a primitive that is recorded where it is called.
pub(crate) fn is_unseen(name: &str) -> bool {
    let Some(path) = rust_name::path(name) else { return false };
    let within =
        |known: &str| path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    UNSEEN.iter().any(|start| path.starts_with(start)) || calls().any(|(known, _)| within(known))
}
