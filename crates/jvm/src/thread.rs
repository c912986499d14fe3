//! What is known of a thread of a Java program beyond what every recorder knows of one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use foretell_turns::stack::CallStack;
use foretell_turns::thread::{Thread, me};
use rustc_hash::FxHashSet;

use crate::channels::Task;
use crate::content::Collection;
use crate::library::Act;
use crate::receivers::{Argument, Measured, Receiver};

/// Among what a call keeps its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Nothing.
    None,
    /// All calls into the library.
    Library,
    /// Everything.
    Everything,
    /// What is known of the call.
    Known(Deed),
}

/// What a call does of which more is known than where it leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deed {
    pub(crate) act: Act,
    /// The object that it is about.
    pub(crate) object: u64,
    /// The collection that it accesses,
    pub(crate) collection: Option<Collection>,
    /// and another one that it reads.
    pub(crate) argument: Option<Collection>,
    /// How much there was in the collection before.
    pub(crate) measured: Option<Measured>,
    /// It has called the program back.
    pub(crate) has_called_back: bool,
    /// How often the thread held the lock that it gives up for a while.
    pub(crate) times: u32,
}

/// A call that code with hooks has made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// The calls before.
    pub(crate) before: CallStack,
    pub(crate) site: u32,
    /// What comes after it, as before it.
    pub(crate) order: Order,
}

/// A thread of a Java program; lives as long as the process.
pub(crate) struct Java {
    /// What every recorder knows of it.
    common: Thread,
    /// The calls that it is in.
    pub(crate) calls: RefCell<Vec<Call>>,
    /// What is known of the object whose method it is about to call,
    pub(crate) receiver: Cell<Option<Receiver>>,
    /// and of the objects that it passes.
    pub(crate) arguments: RefCell<Vec<Argument>>,
    /// Among them is what may be a task for a pool of threads.
    pub(crate) passes_task: Cell<bool>,
    /// The tasks of pools that it is in.
    pub(crate) tasks: RefCell<Vec<Task>>,
    /// It is about to enter code with hooks, from such code.
    pub(crate) is_expected: Cell<bool>,
    /// It has entered no code with hooks so far.
    pub(crate) is_fresh: Cell<bool>,
    /// The library runs it, and hands it what it has to do.
    pub(crate) is_pooled: Cell<bool>,
    /// How often it was to keep its turn: in static initialisers, and where the library may hold monitors.
    pub(crate) keeps_turn: Cell<u32>,
    /// The classes that it has found initialised,
    pub(crate) initialised: RefCell<FxHashSet<Box<[u8]>>>,
    /// and the sites at which there is nothing more to find out about that.
    pub(crate) initialised_at: RefCell<FxHashSet<u32>>,
    /// It has started a thread: a good moment for others, once it is out of the library.
    pub(crate) meets: Cell<bool>,
    /// It has a permit to go on, see `LockSupport`.
    pub(crate) permit: Cell<bool>,
    /// It was notified, or interrupted, while it waited.
    pub(crate) is_notified: Cell<bool>,
    pub(crate) is_interrupted: Cell<bool>,
    /// It waits where an interruption ends that.
    pub(crate) is_interruptible: Cell<bool>,
    /// The program ends without waiting for it.
    pub(crate) is_daemon: AtomicBool,
    /// It has ended, or will do nothing more.
    pub(crate) has_ended: AtomicBool,
}

impl Deref for Java {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        &self.common
    }
}

impl Java {
    /// The thread with this number.
    pub(crate) fn new(id: u32) -> &'static Java {
        let java = Box::leak(Box::new(Java {
            common: Thread::new(id),
            calls: RefCell::default(),
            receiver: Cell::new(None),
            arguments: RefCell::default(),
            passes_task: Cell::new(false),
            tasks: RefCell::default(),
            is_expected: Cell::new(false),
            is_fresh: Cell::new(true),
            is_pooled: Cell::new(false),
            keeps_turn: Cell::new(0),
            initialised: RefCell::default(),
            initialised_at: RefCell::default(),
            meets: Cell::new(false),
            permit: Cell::new(false),
            is_notified: Cell::new(false),
            is_interrupted: Cell::new(false),
            is_interruptible: Cell::new(false),
            is_daemon: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        }));
        let whole = std::ptr::from_mut(java);
        java.common.own.store(whole.cast(), Ordering::Relaxed);
        java
    }

    /// It keeps its turn from now on, but where it waits.
    pub(crate) fn keep_turn(&self) {
        self.keeps_turn.set(self.keeps_turn.get() + 1);
    }

    /// One of the reasons for that is over.
    pub(crate) fn may_lose_turn(&self) {
        self.keeps_turn.set(self.keeps_turn.get().saturating_sub(1));
    }

    /// What it waits on.
    pub(crate) fn place(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// What those wait on who wait for its end.
    pub(crate) fn end_place(&self) -> usize {
        self.place() + 1
    }
}

/// From what every recorder knows of a thread to the rest.
pub(crate) trait AsJava {
    /// The thread as a whole.
    fn java(&self) -> &'static Java;
}

impl AsJava for Thread {
    #[inline]
    fn java(&self) -> &'static Java {
        // SAFETY: all threads of a Java program are made by `Java::new`, which sets this, and stay.
        unsafe { &*self.own.load(Ordering::Relaxed).cast() }
    }
}

/// The calling thread, if it is recorded.
#[inline]
pub(crate) fn this() -> Option<&'static Java> {
    me().map(AsJava::java)
}

// SAFETY: cells are touched by the thread itself, or by the one that has its turn while no other thread runs.
unsafe impl Sync for Java {}

/// The threads by the addresses of their objects.
static THREADS: Mutex<Option<HashMap<u64, &'static Java>>> = Mutex::new(None);

fn with<R>(act: impl FnOnce(&mut HashMap<u64, &'static Java>) -> R) -> R {
    act(THREADS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// The thread with this object, from now on.
pub(crate) fn add(object: u64, thread: &'static Java) {
    with(|threads| threads.insert(object, thread));
}

/// It could not be started.
pub(crate) fn remove(object: u64) {
    with(|threads| threads.remove(&object));
}

/// The thread with this object, if it is recorded.
pub(crate) fn by_object(object: u64) -> Option<&'static Java> {
    with(|threads| threads.get(&object).copied())
}

/// Does something with each thread.
pub(crate) fn each(act: impl Fn(&'static Java)) {
    let all: Vec<&'static Java> = with(|threads| threads.values().copied().collect());
    all.into_iter().for_each(act);
}

/// Whether the program ends once its main thread has: no other thread that it waits for is left.
pub(crate) fn only_daemons_are_left() -> bool {
    let is_done = |thread: &&'static Java| {
        thread.id == 0 || thread.is_daemon.load(Ordering::Relaxed) || thread.has_ended.load(Ordering::Relaxed)
    };
    with(|threads| threads.values().all(is_done))
}
