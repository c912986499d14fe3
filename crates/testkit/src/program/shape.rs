//! What a program is made of.

use crate::random::Random;

/// What may appear in a program besides plain accesses of shared variables and locals.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// `if`, also with conditions on several variables.
    pub conditions: bool,
    /// Loops.
    pub loops: bool,
    /// Assertions, which may fail.
    pub asserts: bool,
    /// `sync`, `acquire` and `release`.
    pub locks: bool,
    /// An array of locks, with indices that were read.
    pub lock_arrays: bool,
    /// Semaphores.
    pub semaphores: bool,
    /// `wait` and `notify`. Needs locks.
    pub waiting: bool,
    /// Atomic variables.
    pub atomics: bool,
    /// Threads that are started and awaited by others.
    pub forks: bool,
    /// Functions.
    pub functions: bool,
    /// Functions that call themselves. Needs functions.
    pub recursion: bool,
    /// Arrays, with indices that may be out of bounds.
    pub arrays: bool,
    /// Heap cells, references to which may be null.
    pub cells: bool,
    /// Division, also by zero.
    pub division: bool,
    /// Now and then a reference where a number is wanted, and the other way round. Needs cells.
    pub confusion: bool,
    /// Reads of which nothing comes.
    pub unused: bool,
    /// Values that go from variable to variable.
    pub relays: bool,
}

impl Features {
    /// Everything.
    pub const ALL: Features = Features {
        conditions: true,
        loops: true,
        asserts: true,
        locks: true,
        lock_arrays: true,
        semaphores: true,
        waiting: true,
        atomics: true,
        forks: true,
        functions: true,
        recursion: true,
        arrays: true,
        cells: true,
        division: true,
        confusion: true,
        unused: true,
        relays: true,
    };
}

/// What a program may contain, and how large it may become.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What may appear.
    pub features: Features,
    /// How many threads at most, from 2 on.
    pub threads: usize,
    /// About how many steps of all threads together others can notice.
    pub steps: usize,
    /// Whether threads mostly keep to their locks, and look at atomic variables before they access others. Then few
    /// accesses race, and it takes some thought to know which.
    pub careful: bool,
    /// How many plain shared variables at most.
    pub vars: usize,
    /// How many locks at most.
    pub locks: usize,
}

impl Shape {
    /// Any shape whose programs are small enough for all their executions to be enumerated. Most have few features:
    /// what is interesting is how these few play together.
    pub fn any(seed: u64) -> Shape {
        let random = &mut Random::new(seed ^ 0x5EED_0F54_A9E5);
        let mut once_in = |times| random.once_in(times);
        let careful = once_in(2);
        let mut features = Features {
            conditions: !once_in(6),
            loops: once_in(4),
            asserts: once_in(4),
            locks: careful || once_in(2),
            lock_arrays: once_in(5),
            semaphores: once_in(4),
            waiting: once_in(3),
            atomics: once_in(if careful { 2 } else { 4 }),
            forks: once_in(2),
            functions: once_in(3),
            recursion: once_in(2),
            arrays: once_in(3),
            cells: once_in(3),
            division: once_in(4),
            confusion: once_in(3),
            unused: false,
            relays: false,
        };
        let threads = 2 + random.below(3);
        // More threads interleave in many more ways.
        let steps = [0, 0, 18, 17, 16][threads] + random.below(4);
        let (vars, locks) = (1 + random.below(3), 1 + random.below(2));
        features.unused = random.once_in(3);
        features.relays = random.once_in(3);
        // A relay needs several.
        let vars = if features.relays { vars + 2 } else { vars };
        Shape { features, threads, steps, careful, vars, locks }
    }
}
