//! How far an exploration may go, and why it was not far enough.

use std::fmt;
use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashMap;

use super::StateView;
use crate::machine::{Bounds, Fault, Shadow};
use crate::program::Position;

/// In which order states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Those that take fewer steps first: schedules are as short as possible.
    #[default]
    BreadthFirst,
    /// Those found last first.
    DepthFirst,
}

/// How far to go.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// How many states may be found, about.
    pub states: usize,
    /// How much memory states may take, about.
    pub bytes: usize,
    /// Limits of the machine.
    pub bounds: Bounds,
    /// In which order states are visited.
    pub order: Order,
    /// Whether executions are counted. Takes memory for each step between two states.
    pub count_executions: bool,
    /// Called now and then with the number of states found.
    pub watch: Option<&'l dyn Fn(usize)>,
    /// Stops the exploration as soon as it is set.
    pub stop: Option<&'l AtomicBool>,
    /// What every state should satisfy.
    pub properties: &'l [Property<'l>],
}

/// Something that a state satisfies or not.
pub type Property<'p> = &'p dyn Fn(&StateView<'_>) -> bool;

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            states: 10_000_000,
            bytes: 2 << 30,
            bounds: Bounds::default(),
            order: Order::default(),
            count_executions: false,
            watch: None,
            stop: None,
            properties: &[],
        }
    }
}

/// Why an exploration does not know all executions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Incomplete {
    /// There are more states than allowed.
    States {
        /// How many were allowed.
        limit: usize,
        /// The loop that ran most often.
        busiest_loop: Option<Position>,
    },
    /// The states take more memory than allowed.
    Bytes {
        /// How much was allowed.
        limit: usize,
        /// The loop that ran most often.
        busiest_loop: Option<Position>,
    },
    /// It was stopped.
    Stopped {
        /// The loop that ran most often.
        busiest_loop: Option<Position>,
    },
    /// A limit of the machine was reached at some place of the program, in some execution.
    Bound(Fault, Position),
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busiest_loop = match self {
            Incomplete::States { limit, busiest_loop } => {
                write!(f, "there are more than {limit} states")?;
                busiest_loop
            }
            Incomplete::Bytes { limit, busiest_loop } => {
                write!(f, "the states need more than {limit} bytes")?;
                busiest_loop
            }
            Incomplete::Stopped { busiest_loop } => {
                write!(f, "it was stopped")?;
                busiest_loop
            }
            Incomplete::Bound(fault, position) => return write!(f, "{position}: {fault}"),
        };
        match busiest_loop {
            Some(position) => write!(f, "; the loop at {position} ran most often"),
            None => Ok(()),
        }
    }
}

/// Counts how often each loop runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops(FxHashMap<Position, u64>);

impl Loops {
    pub(super) fn busiest(&self) -> Option<Position> {
        let by_count = |(position, count): &(&Position, &u64)| (**count, std::cmp::Reverse(**position));
        self.0.iter().max_by_key(by_count).map(|(position, _)| *position)
    }
}

impl Shadow for Loops {
    type Tag = ();
    type Control = ();

    fn iterate(&mut self, position: Position) {
        *self.0.entry(position).or_default() += 1;
    }
}
