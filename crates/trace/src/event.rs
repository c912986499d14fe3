//! What a thread can do, and what each operation means.
//!
//! The meaning given here is the one that every analysis and the referee keep to. "Runs" means: takes its place in a
//! schedule. An operation can run only if all earlier operations of its thread have run.

use crate::id::{BarrierId, CondId, LabelId, LockId, SemId, ThreadId, VarId};
use crate::symbol::{Loc, Value};

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who did it.
    pub thread: ThreadId,
    /// Where in the program.
    pub loc: Loc,
    /// What was done.
    pub op: Op,
    /// The event read a value that no recorded write explains: an external write came just before it.
    ///
    /// Set by [`crate::check::Checker`] only. Since the writer and its reasons are unknown, such an event is a fence
    /// for reordering: what the trace shows after it can run only once it and everything before it have run, and it can
    /// run itself only once everything before it has run and no thread has read anything else than observed (the
    /// unknown writer may have looked). Nor does it race with anything: that writer may have synchronised with its
    /// thread. Running, it counts as the write that it saw: later reads may see it.
    pub unexplained: bool,
}

impl Event {
    /// An event as a reader finds it, before any check.
    #[inline]
    pub fn new(thread: ThreadId, op: Op, loc: Loc) -> Event {
        Event { thread, loc, op, unexplained: false }
    }
}

/// The memory order of an atomic operation, as C11, C++20 and Rust define them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemOrder {
    /// Atomic, but orders nothing else.
    Relaxed,
    /// Sees what was published before the store that it reads from.
    Acquire,
    /// Publishes what came before it.
    Release,
    /// Both of the two above.
    AcqRel,
    /// Both, and part of one total order of all such operations.
    SeqCst,
    /// As [`MemOrder::Relaxed`], by the rules of C11 and C17: a store with it leaves the release sequences that its own
    /// thread heads as they are. By those of C++20 and Rust, any store that is no read-modify-write ends them.
    RelaxedC11,
}

impl MemOrder {
    /// Whether the reading side synchronises.
    #[inline]
    pub fn acquires(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Whether the writing side synchronises.
    #[inline]
    pub fn releases(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }
}

/// An operation with just the fields that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are what their types say")]
pub enum Op {
    /// Plain read; sees the last write to the variable.
    Read { var: VarId, value: Option<Value> },
    /// Plain write.
    Write { var: VarId, value: Option<Value> },
    /// Atomic read.
    Load { var: VarId, value: Option<Value>, order: MemOrder },
    /// Atomic write.
    Store { var: VarId, value: Option<Value>, order: MemOrder },
    /// Atomic read-modify-write: nothing can come between its read and its write. A compare-exchange that fails is a
    /// [`Op::Load`] followed by an [`Op::Branch`].
    Rmw { var: VarId, read: Option<Value>, written: Option<Value>, order: MemOrder },
    /// Memory fence. Orders atomics around it for happens-before; has no effect on what a schedule may do.
    Fence { order: MemOrder },

    /// Takes the lock for itself alone; can run only if no other thread holds it in any mode.
    Acquire(LockId),
    /// Takes the lock as [`Op::Acquire`] does, but would not have waited for it without end: an attempt that succeeded,
    /// or a wait with a time limit. That matters to deadlocks only.
    TryAcquire(LockId),
    /// Gives up exclusive ownership.
    Release(LockId),
    /// Takes the lock again while holding it exclusively: no effect.
    AcquireAgain(LockId),
    /// Undoes an [`Op::AcquireAgain`]: no effect.
    ReleaseAgain(LockId),
    /// Takes the lock together with other readers; can run only if no other thread holds it exclusively.
    AcquireShared(LockId),
    /// Takes the lock as [`Op::AcquireShared`] does, but would not have waited for it without end.
    TryAcquireShared(LockId),
    /// Gives up shared ownership.
    ReleaseShared(LockId),
    /// Takes the lock shared again while holding it shared: no effect.
    AcquireSharedAgain(LockId),
    /// Undoes an [`Op::AcquireSharedAgain`]: no effect.
    ReleaseSharedAgain(LockId),
    /// An attempt to take the lock exclusively that failed; can run only while some thread (be it the same one) holds
    /// it in any mode. Synchronises with nothing.
    TryAcquireFailed(LockId),
    /// An attempt to take the lock shared that failed; can run only while some thread holds it exclusively.
    TryAcquireSharedFailed(LockId),

    /// Starts the thread; its first event can run only afterwards. A thread that is never forked can start any time.
    Fork(ThreadId),
    /// Waits for the thread; can run only if all its events have run.
    Join(ThreadId),
    /// First event of a thread.
    Begin,
    /// Last event of a thread.
    End,
    /// A decision that depends on what its thread has read so far.
    Branch,

    /// Creates the semaphore with this many permits. Without it the least count that explains the trace is assumed.
    SemInit { sem: SemId, permits: u32 },
    /// Takes a permit (`P`); can run only if there is one. Which post gave it does not matter.
    SemWait(SemId),
    /// Gives a permit (`V`).
    SemPost(SemId),

    /// Gives up the lock entirely and begins to wait for a notification.
    Wait { cond: CondId, lock: LockId },
    /// Returns from the wait because of a notification, holding the lock again. Can run only if the lock is free and
    /// the thread was woken since the wait, by whichever notification.
    ///
    /// A return that no notification of the trace explains counts as [`Op::WaitTimeout`]. Which these are: each
    /// [`Op::Notify`] of the trace is taken to explain the return that comes first in the trace among those whose
    /// thread waits there and which nothing explains yet, each [`Op::NotifyAll`] all returns whose thread waits there.
    Woken { cond: CondId, lock: LockId },
    /// Returns from the wait without a notification (timeout or spurious); can run if the lock is free, whether the
    /// thread was woken or not.
    WaitTimeout { cond: CondId, lock: LockId },
    /// Wakes one of those that wait and were not woken yet, any of them, if there is any.
    Notify(CondId),
    /// Wakes all that wait.
    NotifyAll(CondId),

    /// Comes to the barrier. Arrivals up to the first departure of one of them form a generation of the trace, so a
    /// recorder must show a departure before the first arrival of the next one.
    ///
    /// If all generations of the trace that some thread departs from have the same size, and the arrivals after them
    /// are no more than that, this is the size of the barrier, and the arrivals of a schedule form generations of that
    /// size in the order in which they run, whichever threads they are. Otherwise the size is unknown, and threads meet
    /// as in the trace: then an arrival can run only if all arrivals of the generation before have run.
    Arrive(BarrierId),
    /// Leaves the barrier; can run only if all arrivals of the generation that its thread arrived with have run.
    Depart(BarrierId),

    /// The variable's memory becomes usable; each of its accesses can run only afterwards. What it holds then is
    /// unknown, unless a read before any write shows it.
    Alloc(VarId),
    /// The variable's memory is given back: conflicts like a plain write, and nothing can access it afterwards.
    Free(VarId),

    /// A method is entered.
    Enter(LabelId),
    /// A method is left.
    Exit(LabelId),
    /// An event without any meaning here, kept so that numbering stays that of the input.
    Dummy(LabelId),
}

/// A pattern for whole families of operations, for a `match` in which they have no part: `ops!(barriers | labels)`.
///
/// A `match` that gives operations a meaning has no wildcard arm, so that the compiler names it to the author of a new
/// operation. Add the operation to a family here only after all these places have been visited; until then, list it by
/// itself or in a family of its own.
///
/// `memory` includes `accesses` and `atomics`; `locks` includes `sections`, `reentries`, `shared` and `attempts`.
#[macro_export]
macro_rules! ops {
    (accesses) => {
        $crate::Op::Read { .. }
            | $crate::Op::Write { .. }
            | $crate::Op::Load { .. }
            | $crate::Op::Store { .. }
            | $crate::Op::Rmw { .. }
    };
    (atomics) => {
        $crate::Op::Load { .. }
            | $crate::Op::Store { .. }
            | $crate::Op::Rmw { .. }
            | $crate::Op::Fence { .. }
    };
    (memory) => {
        $crate::ops!(accesses) | $crate::Op::Fence { .. } | $crate::Op::Alloc(_) | $crate::Op::Free(_)
    };
    (sections) => {
        $crate::Op::Acquire(_)
            | $crate::Op::TryAcquire(_)
            | $crate::Op::Release(_)
            | $crate::Op::AcquireShared(_)
            | $crate::Op::TryAcquireShared(_)
            | $crate::Op::ReleaseShared(_)
    };
    (reentries) => {
        $crate::Op::AcquireAgain(_)
            | $crate::Op::ReleaseAgain(_)
            | $crate::Op::AcquireSharedAgain(_)
            | $crate::Op::ReleaseSharedAgain(_)
    };
    (shared) => {
        $crate::Op::AcquireShared(_)
            | $crate::Op::TryAcquireShared(_)
            | $crate::Op::ReleaseShared(_)
            | $crate::Op::AcquireSharedAgain(_)
            | $crate::Op::ReleaseSharedAgain(_)
    };
    (attempts) => {
        $crate::Op::TryAcquireFailed(_) | $crate::Op::TryAcquireSharedFailed(_)
    };
    (locks) => {
        $crate::ops!(sections | reentries | attempts)
    };
    (control) => {
        $crate::Op::Fork(_)
            | $crate::Op::Join(_)
            | $crate::Op::Begin
            | $crate::Op::End
            | $crate::Op::Branch
    };
    (semaphores) => {
        $crate::Op::SemInit { .. } | $crate::Op::SemWait(_) | $crate::Op::SemPost(_)
    };
    (conditions) => {
        $crate::Op::Wait { .. }
            | $crate::Op::Woken { .. }
            | $crate::Op::WaitTimeout { .. }
            | $crate::Op::Notify(_)
            | $crate::Op::NotifyAll(_)
    };
    (barriers) => {
        $crate::Op::Arrive(_) | $crate::Op::Depart(_)
    };
    (labels) => {
        $crate::Op::Enter(_) | $crate::Op::Exit(_) | $crate::Op::Dummy(_)
    };
    ($first:ident | $($rest:ident)|+) => {
        $crate::ops!($first) | $crate::ops!($($rest)|+)
    };
}

/// How an operation touches a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes in one step.
    Update,
}

impl AccessKind {
    /// Whether the access observes the variable.
    #[inline]
    pub fn reads(self) -> bool {
        self != AccessKind::Write
    }

    /// Whether the access changes the variable.
    #[inline]
    pub fn writes(self) -> bool {
        self != AccessKind::Read
    }
}

/// A touch of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// What is touched.
    pub var: VarId,
    /// Read, write or both.
    pub kind: AccessKind,
    /// Whether the language guarantees atomicity.
    pub atomic: bool,
}

impl Access {
    /// Whether two accesses of different threads would be a data race if nothing ordered them: the same variable, at
    /// least one of them writes, and not both are atomic.
    #[inline]
    pub fn conflicts_with(self, other: Access) -> bool {
        self.var == other.var && (self.kind.writes() || other.kind.writes()) && !(self.atomic && other.atomic)
    }
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// Together with other readers.
    Shared,
    /// Alone.
    Exclusive,
}

impl LockMode {
    /// Whether two threads cannot hold one lock in these modes at the same time.
    #[inline]
    pub fn excludes(self, other: LockMode) -> bool {
        self == LockMode::Exclusive || other == LockMode::Exclusive
    }
}

impl Op {
    /// The variable that the operation touches, and how. [`Op::Free`] counts as a plain write, [`Op::Alloc`] does not
    /// count.
    #[inline]
    pub fn access(self) -> Option<Access> {
        let (var, kind, atomic) = match self {
            Op::Read { var, .. } => (var, AccessKind::Read, false),
            Op::Write { var, .. } | Op::Free(var) => (var, AccessKind::Write, false),
            Op::Load { var, .. } => (var, AccessKind::Read, true),
            Op::Store { var, .. } => (var, AccessKind::Write, true),
            Op::Rmw { var, .. } => (var, AccessKind::Update, true),
            Op::Fence { .. }
            | Op::Alloc(_)
            | ops!(locks | control | semaphores | conditions | barriers | labels) => return None,
        };
        Some(Access { var, kind, atomic })
    }

    /// The value that the operation observed, if it reads and the trace shows it.
    #[inline]
    pub fn value_read(self) -> Option<Value> {
        match self {
            Op::Read { value, .. } | Op::Load { value, .. } => value,
            Op::Rmw { read, .. } => read,
            Op::Write { .. }
            | Op::Store { .. }
            | Op::Fence { .. }
            | Op::Alloc(_)
            | Op::Free(_)
            | ops!(locks | control | semaphores | conditions | barriers | labels) => None,
        }
    }

    /// The value that the operation stored, if it writes and the trace shows it.
    #[inline]
    pub fn value_written(self) -> Option<Value> {
        match self {
            Op::Write { value, .. } | Op::Store { value, .. } => value,
            Op::Rmw { written, .. } => written,
            Op::Read { .. }
            | Op::Load { .. }
            | Op::Fence { .. }
            | Op::Alloc(_)
            | Op::Free(_)
            | ops!(locks | control | semaphores | conditions | barriers | labels) => None,
        }
    }

    /// The lock that the thread holds from here on, and how: a section begins. Repeated acquires do not count.
    #[inline]
    pub fn section_begin(self) -> Option<(LockId, LockMode)> {
        match self {
            Op::Acquire(lock)
            | Op::TryAcquire(lock)
            | Op::Woken { lock, .. }
            | Op::WaitTimeout { lock, .. } => Some((lock, LockMode::Exclusive)),
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => Some((lock, LockMode::Shared)),
            Op::Release(_)
            | Op::ReleaseShared(_)
            | Op::Wait { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | control | semaphores | barriers | labels | reentries | attempts) => None,
        }
    }

    /// The lock that the thread no longer holds from here on: a section ends.
    #[inline]
    pub fn section_end(self) -> Option<(LockId, LockMode)> {
        match self {
            Op::Release(lock) | Op::Wait { lock, .. } => Some((lock, LockMode::Exclusive)),
            Op::ReleaseShared(lock) => Some((lock, LockMode::Shared)),
            Op::Acquire(_)
            | Op::TryAcquire(_)
            | Op::AcquireShared(_)
            | Op::TryAcquireShared(_)
            | Op::Woken { .. }
            | Op::WaitTimeout { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | control | semaphores | barriers | labels | reentries | attempts) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(kind: AccessKind, atomic: bool) -> Access {
        Access { var: VarId::from_index(0).unwrap(), kind, atomic }
    }

    #[test]
    fn two_reads_and_two_atomics_do_not_conflict() {
        use AccessKind::{Read, Update, Write};
        assert!(!access(Read, false).conflicts_with(access(Read, false)));
        assert!(access(Read, false).conflicts_with(access(Write, false)));
        assert!(!access(Update, true).conflicts_with(access(Write, true)));
        assert!(access(Update, true).conflicts_with(access(Read, false)));
    }

    #[test]
    fn events_stay_small() {
        assert!(size_of::<Event>() <= 28, "{}", size_of::<Event>());
    }
}
