//! Functions of Rust's libraries that synchronise, and what they mean.
//!
//! A lock of the standard library is a word that is changed by atomics; who has to wait calls a function that is part of
//! the compiled library. The atomics are found wherever the compiler has put them: what function they belong to in the
//! source is told by the debug information, even after that was inlined elsewhere.
//!
//! A function that is not named here is instrumented as any other, if it can be, and counts as unknown code otherwise.

use std::collections::HashMap;

use foretell_wire::primitive::{Primitive, Role};

use crate::ir::{Module, Value};
use crate::rust_name;

/// What the atomics in a function mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) role: Role,
    pub(crate) held: u64,
    pub(crate) blocked: u64,
}

/// What a call of a function means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Called {
    pub(crate) primitive: Primitive,
    /// Which argument the object is.
    pub(crate) object: Object,
    /// The second number that the runtime is told.
    pub(crate) other: Other,
}

/// What a primitive is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Object {
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
    /// A number.
    Number(u64),
}

const fn word(role: Role) -> Word {
    Word { role, held: 0, blocked: 0 }
}

/// The atomics in these functions. The bits are those of Rust 1.95.
const WORDS: &[(&str, Word)] = &[
    ("std::sys::sync::mutex::futex::Mutex::lock", word(Role::Lock)),
    (
        "std::sys::sync::mutex::futex::Mutex::try_lock",
        Word { role: Role::TryLock, held: u64::MAX, blocked: 0 },
    ),
    ("std::sys::sync::mutex::futex::Mutex::unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::read", word(Role::LockShared)),
    ("std::sys::sync::rwlock::futex::RwLock::write", word(Role::Lock)),
    (
        "std::sys::sync::rwlock::futex::RwLock::try_read",
        Word { role: Role::TryLockShared, held: READERS, blocked: WAITERS },
    ),
    (
        "std::sys::sync::rwlock::futex::RwLock::try_write",
        Word { role: Role::TryLock, held: READERS, blocked: 0 },
    ),
    ("std::sys::sync::rwlock::futex::RwLock::read_unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::write_unlock", word(Role::Unlock)),
    ("std::sys::sync::rwlock::futex::RwLock::downgrade", word(Role::Downgrade)),
    // Nobody decides by these but the library itself: whether anybody panics, and how often a thread is known.
    ("std::panicking::panic_count::count_is_zero", word(Role::Silent)),
    ("std::sync::poison::Flag::borrow", word(Role::Poison)),
    ("std::sync::poison::Flag::guard", word(Role::Poison)),
    ("std::sync::poison::Flag::done", word(Role::Poison)),
    ("std::sync::poison::Flag::get", word(Role::Poison)),
    ("std::sync::poison::Flag::clear", word(Role::Poison)),
    ("std::sys::sync::once::futex::Once::is_completed", Word { role: Role::Done, held: 3, blocked: 3 }),
    ("std::sys::sync::thread_parking::futex::Parker::unpark", word(Role::Unpark)),
    ("parking_lot::raw_mutex::RawMutex::lock", word(Role::Lock)),
    ("parking_lot::raw_mutex::RawMutex::try_lock", Word { role: Role::TryLock, held: 1, blocked: 0 }),
    ("parking_lot::raw_mutex::RawMutex::try_lock_for", word(Role::Lock)),
    ("parking_lot::raw_mutex::RawMutex::try_lock_until", word(Role::Lock)),
    ("parking_lot::raw_mutex::RawMutex::unlock", word(Role::Unlock)),
    ("parking_lot::raw_mutex::RawMutex::unlock_fair", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_exclusive", word(Role::Lock)),
    (
        "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive",
        Word { role: Role::TryLock, held: !3, blocked: 0 },
    ),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::lock_shared", word(Role::LockShared)),
    (
        "parking_lot::raw_rwlock::RawRwLock::try_lock_shared",
        Word { role: Role::TryLockShared, held: 8, blocked: 0 },
    ),
    ("parking_lot::raw_rwlock::RawRwLock::unlock_shared", word(Role::Unlock)),
    ("parking_lot::raw_rwlock::RawRwLock::downgrade", word(Role::Downgrade)),
    ("parking_lot::condvar::Condvar::notify_one", word(Role::Silent)),
    ("parking_lot::condvar::Condvar::notify_all", word(Role::Silent)),
];

/// The bits of the read-write lock's word that count its readers; all are set if somebody writes.
const READERS: u64 = (1 << 30) - 1;
/// Its other bits: somebody waits.
const WAITERS: u64 = 3 << 30;

/// How often a thread is known is counted partly by code that is not instrumented, and decides only when its description
/// is freed.
const HANDLES: &str = "<alloc::sync::Arc<std::thread::thread::Inner";

const fn called(primitive: Primitive) -> Called {
    Called { primitive, object: Object::First, other: Other::Number(0) }
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
        Called { primitive: Primitive::Wait, object: Object::First, other: Other::Second },
    ),
    (
        "std::sys::sync::condvar::futex::Condvar::wait_timeout",
        Called { primitive: Primitive::Wait, object: Object::First, other: Other::Second },
    ),
    ("std::sync::poison::condvar::Condvar::notify_one", called(Primitive::Notify)),
    ("std::sync::poison::condvar::Condvar::notify_all", called(Primitive::NotifyAll)),
    (
        "std::sys::sync::once::futex::Once::call",
        Called { primitive: Primitive::Once, object: Object::First, other: Other::Number(3) },
    ),
    ("std::sync::barrier::Barrier::wait", called(Primitive::Barrier)),
    ("std::thread::functions::park", called(Primitive::Park)),
    ("std::thread::functions::park_timeout", called(Primitive::Park)),
    ("std::thread::thread::Thread::park", called(Primitive::Park)),
    ("std::thread::thread::Thread::park_timeout", called(Primitive::Park)),
    ("std::sys::thread::unix::Thread::new", called(Primitive::Spawn)),
    ("std::thread::scoped::ScopeData::increment_num_running_threads", called(Primitive::Count)),
    ("std::thread::scoped::ScopeData::decrement_num_running_threads", called(Primitive::Count)),
    (
        "std::io::stdio::_print",
        Called { primitive: Primitive::Within, object: Object::Number(OUTPUT), other: Other::Number(0) },
    ),
    (
        "std::io::stdio::_eprint",
        Called { primitive: Primitive::Within, object: Object::Number(ERRORS), other: Other::Number(0) },
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
    (
        "parking_lot::condvar::Condvar::wait_until_internal",
        Called { primitive: Primitive::Wait, object: Object::First, other: Other::Second },
    ),
    ("parking_lot::condvar::Condvar::notify_one_slow", called(Primitive::Notify)),
    ("parking_lot::condvar::Condvar::notify_all_slow", called(Primitive::NotifyAll)),
];

/// A vector's length in memory and where that is: 16 bytes.
const VECTOR: Called =
    Called { primitive: Primitive::Change, object: Object::First, other: Other::Number(16) };

/// Functions that are part of a primitive, as are those within them.
const UNSEEN: &[&str] = &["parking_lot_core::"];

/// What is known of functions by their names, as far as it was asked.
#[derive(Default)]
pub(crate) struct Primitives {
    words: HashMap<String, Option<Word>>,
}

impl Primitives {
    /// What an atomic access or a branch belongs to, if it is part of a primitive.
    pub(crate) fn word(&mut self, instruction: Value, function: &str) -> Option<Word> {
        let places = instruction.places();
        let mut scopes = places.into_iter().map(|place| place.function).chain([function.to_string()]);
        scopes.find_map(|scope| {
            let known = self.words.get(&scope).copied();
            known.unwrap_or_else(|| {
                let found = word_of(&scope);
                self.words.insert(scope, found);
                found
            })
        })
    }
}

fn word_of(scope: &str) -> Option<Word> {
    let text = rust_name::text(scope)?;
    if text.starts_with(HANDLES) {
        return Some(word(Role::Silent));
    }
    let path = rust_name::path(scope)?;
    WORDS.iter().find(|(known, _)| *known == path).map(|&(_, word)| word)
}

/// What a call of the function with this name means, if it is a primitive.
pub(crate) fn called_function(name: &str) -> Option<Called> {
    let path = rust_name::path(name)?;
    CALLS.iter().find(|(known, _)| *known == path).map(|&(_, called)| called)
}

/// Rust's atomics are functions that are told by an argument in which order they act. They become what they stand for in
/// those who call them, so that it can be seen what they belong to. Says whether there are any.
pub(crate) fn inline_atomics(module: Module) -> bool {
    let is_atomic = |function: &Value| {
        rust_name::path(&function.name()).is_some_and(|path| path.starts_with("core::sync::atomic::"))
    };
    let atomics: Vec<Value> = module.defined_functions().into_iter().filter(is_atomic).collect();
    for function in &atomics {
        function.remove_attribute("noinline");
        function.add_attribute("alwaysinline");
    }
    !atomics.is_empty()
}

/// Whether the function with this name is part of a primitive that is told of where it is called.
pub(crate) fn is_unseen(name: &str) -> bool {
    let Some(path) = rust_name::path(name) else { return false };
    let within =
        |known: &str| path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    UNSEEN.iter().any(|start| path.starts_with(start)) || CALLS.iter().any(|(known, _)| within(known))
}
