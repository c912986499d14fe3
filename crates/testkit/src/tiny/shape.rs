//! What a trace is made of.

/// What may appear in a trace besides plain accesses and mutexes.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Values on all accesses.
    pub values: bool,
    /// Now and then a read of a value that no write of the trace wrote. Without `values` some accesses show theirs.
    pub unexplained: bool,
    /// Branches.
    pub branches: bool,
    /// Threads that are forked, end and are joined, instead of being there all the time.
    pub forks: bool,
    /// Read-write locks.
    pub shared_locks: bool,
    /// Read-write locks that one thread holds in both modes.
    pub upgrades: bool,
    /// Attempts to lock that failed, or succeeded.
    pub failed_attempts: bool,
    /// Semaphores.
    pub semaphores: bool,
    /// Conditions and barriers.
    pub waiting: bool,
    /// Much of that: several waiters and notifications, a barrier that a fixed number of threads cross again and again,
    /// many operations on the semaphore.
    pub crowds: bool,
    /// Memory that is allocated and freed, also at an address that was used before.
    pub heap: bool,
    /// Atomic accesses and fences in all memory orders.
    pub atomics: bool,
}

impl Features {
    /// Plain accesses and mutexes.
    pub const MUTEXES: Features = Features {
        values: false,
        unexplained: false,
        branches: false,
        forks: false,
        shared_locks: false,
        upgrades: false,
        failed_attempts: false,
        semaphores: false,
        waiting: false,
        crowds: false,
        heap: false,
        atomics: false,
    };

    /// Plain accesses, mutexes, forks and joins.
    pub const BASIC: Features = Features { forks: true, ..Features::MUTEXES };

    /// Everything but atomics, values and branches.
    pub const SEQUENTIAL: Features = Features {
        shared_locks: true,
        upgrades: true,
        failed_attempts: true,
        semaphores: true,
        waiting: true,
        heap: true,
        ..Features::BASIC
    };

    /// Everything but values and branches.
    pub const ALL: Features = Features { atomics: true, ..Features::SEQUENTIAL };
}

/// What a trace may contain, and how large it may become.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What may appear.
    pub features: Features,
    /// How many threads at most, from 2 on.
    pub threads: usize,
    /// Whether there are many branches, so that most reads decide something; otherwise there are few, if any.
    pub decisive: bool,
    /// Whether threads mostly take locks, also while they hold others, instead of accessing memory.
    pub locking: bool,
    /// How many events; fewer only if no thread can run any more.
    pub events: usize,
    /// How many locks at most. A thread may hold as many at once, and a few in any case.
    pub locks: usize,
    /// How many variables at most.
    pub vars: usize,
    /// How many locations there are, as in loops; otherwise each event has its own.
    pub locations: Option<usize>,
}

impl Shape {
    /// A few locks and variables, and a location for each event.
    pub const fn new(features: Features, events: usize) -> Shape {
        Shape {
            features,
            threads: 4,
            decisive: false,
            locking: false,
            events,
            locks: 3,
            vars: 3,
            locations: None,
        }
    }
}

/// What a thread may do next.
#[derive(Clone, Copy, Debug)]
pub(super) enum OpKind {
    Access,
    Atomic,
    Fence,
    Heap,
    Branch,
    Acquire,
    AcquireShared,
    Release,
    Attempt,
    Semaphore,
    Wait,
    Notify,
    Arrive,
    End,
    Join,
}

/// The steps to draw from; the more often a step is in it, the more often it is taken.
pub(super) fn steps(features: Features, decisive: bool, locking: bool) -> Vec<OpKind> {
    let crowd = |few, many| if features.crowds { many } else { few };
    let weights = [
        (true, OpKind::Access, if locking { 3 } else { 8 }),
        (true, OpKind::Acquire, if locking { 10 } else { crowd(5, 2) }),
        (true, OpKind::Release, crowd(5, 8)),
        (features.atomics, OpKind::Atomic, 4),
        (features.atomics, OpKind::Fence, 1),
        (features.heap, OpKind::Heap, 1),
        (features.branches, OpKind::Branch, if decisive { 6 } else { 1 }),
        (features.shared_locks, OpKind::AcquireShared, 3),
        (features.failed_attempts, OpKind::Attempt, 2),
        (features.semaphores, OpKind::Semaphore, crowd(2, 6)),
        (features.waiting, OpKind::Wait, crowd(2, 8)),
        (features.waiting, OpKind::Notify, crowd(3, 6)),
        (features.waiting, OpKind::Arrive, crowd(1, 8)),
        (features.forks, OpKind::End, 1),
        (features.forks, OpKind::Join, 1),
    ];
    weights
        .into_iter()
        .filter(|(wanted, ..)| *wanted)
        .flat_map(|(_, step, weight)| std::iter::repeat_n(step, weight))
        .collect()
}
