//! A trace as a program for the fast engine.
//!
//! A state is a row of numbers, the *cells*: where each thread is, what each variable holds, how each lock is held, how
//! many permits a semaphore has, and so on. A step is data, not code: it can be taken if some cell lies in some range;
//! it leads on if some cell lies in some range, and to a deviation otherwise; and it changes one cell. So taking a
//! step, and taking it back, costs a few look-ups, and nothing is there for the processor to guess.
//!
//! What waits for another thread stands at a *wall*, a position of its own that cannot be left by a step of the thread:
//! before its first step (until its fork), before what comes after a read that no recorded write explains (until that
//! read). The event in question lifts all who stand there. So where a thread is tells all about it. A read that sees
//! another value than observed leads to a place from which no step leads on.
//!
//! Conditions and barriers look at several cells, see [`crate::special`].
//!
//! Operations that do nothing to others by themselves (branches, the begin and end of threads and methods, fences,
//! repeated acquires) are no steps. They run together with the step before them, those at the beginning of a thread as
//! soon as it can start; a thread that has deviated does not run them.

use foretell_trace::{BarrierId, Value, VarId};

use crate::pack::Layout;
use crate::special::Special;

/// Stands for "no event".
pub(crate) const NONE: u32 = u32::MAX;

/// A cell that always holds 0.
pub(crate) const ZERO: u32 = 0;

/// A cell that counts the steps that were taken as observed. Only kept where some step asks for it.
pub(crate) const PROGRESS: u32 = 1;

/// The cell that holds the position of the first thread; those of the others follow.
pub(crate) const FIRST_THREAD: u32 = 2;

/// The values from `least` on, `more` after it, of one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) cell: u32,
    pub(crate) least: u32,
    pub(crate) more: u32,
}

impl Range {
    /// Holds in every state.
    pub(crate) const ALWAYS: Range = Range { cell: ZERO, least: 0, more: 0 };
    /// Holds in no state.
    pub(crate) const NEVER: Range = Range { cell: ZERO, least: 1, more: 0 };

    /// The values from `least` on.
    pub(crate) fn at_least(cell: u32, least: u32) -> Range {
        Range { cell, least, more: u32::MAX - least }
    }

    /// One value alone.
    pub(crate) fn exactly(cell: u32, value: u32) -> Range {
        Range { cell, least: value, more: 0 }
    }

    #[inline]
    pub(crate) fn holds(self, cells: &[u32]) -> bool {
        cells[self.cell as usize].wrapping_sub(self.least) <= self.more
    }
}

/// What the thread at some position does next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    /// When it can be taken.
    pub(crate) guard: Range,
    /// When it leads on to the next position.
    pub(crate) look: Range,
    /// The cell that it changes: keeps these bits of it, and adds a number.
    pub(crate) put: u32,
    pub(crate) keep: u32,
    pub(crate) add: u32,
    /// Where it leads otherwise, and what the cell holds then.
    pub(crate) deviation: u32,
    pub(crate) deviation_put: u32,
    /// The walls that it lifts: so many of the program's, from this one on.
    pub(crate) lifts: u32,
    pub(crate) lift_count: u32,
    /// The variable that it accesses and how, for races.
    pub(crate) access: PackedAccess,
    /// What else it does: the number of one of the program's specials, or [`NONE`].
    pub(crate) special: u32,
}

impl Transition {
    /// A step that cannot be taken.
    pub(crate) const WALL: Transition = Transition { guard: Range::NEVER, ..Transition::IDLE };

    /// A step that changes nothing.
    pub(crate) const IDLE: Transition = Transition {
        guard: Range::ALWAYS,
        look: Range::ALWAYS,
        put: ZERO,
        keep: 0,
        add: 0,
        deviation: NONE,
        deviation_put: 0,
        lifts: 0,
        lift_count: 0,
        access: PackedAccess::NONE,
        special: NONE,
    };

    /// A step that adds to a cell.
    pub(crate) fn adding(guard: Range, put: u32, add: u32) -> Transition {
        Transition { guard, put, keep: u32::MAX, add, ..Transition::IDLE }
    }
}

/// An access in one number: variable, whether it writes, whether it is atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PackedAccess(u32);

impl PackedAccess {
    /// No access, or one that cannot race.
    pub(crate) const NONE: PackedAccess = PackedAccess(0);
    /// A step after which others may race that could not before, although they have not moved.
    pub(crate) const CHANGES_OTHERS: PackedAccess = PackedAccess(1);

    const ATOMIC: u32 = 1;
    const WRITES: u32 = 2;
    const VAR: u32 = 4;

    /// `None` where there are too many variables.
    pub(crate) fn new(access: foretell_trace::Access) -> Option<PackedAccess> {
        let var = u32::try_from(access.var.index()).ok()?.checked_add(1)?.checked_mul(PackedAccess::VAR)?;
        let writes = if access.kind.writes() { PackedAccess::WRITES } else { 0 };
        let atomic = if access.atomic { PackedAccess::ATOMIC } else { 0 };
        Some(PackedAccess(var | writes | atomic))
    }

    #[inline]
    pub(crate) fn is_access(self) -> bool {
        self.0 >= PackedAccess::VAR
    }

    #[inline]
    pub(crate) fn conflicts_with(self, other: PackedAccess) -> bool {
        self.0 / PackedAccess::VAR == other.0 / PackedAccess::VAR
            && (self.0 | other.0) & PackedAccess::WRITES != 0
            && self.0 & other.0 & PackedAccess::ATOMIC == 0
    }
}

/// A wall that is lifted: who stands at `position` goes on to the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lift {
    /// The cell with the position of the thread.
    pub(crate) cell: u32,
    pub(crate) position: u32,
}

/// What a position means in the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracePoint {
    /// The index of the event that comes next, or [`NONE`].
    pub(crate) event: u32,
    /// The events of the thread with a smaller index than this have run.
    pub(crate) frontier: u32,
    /// The thread has read something else than observed.
    pub(crate) deviated: bool,
}

/// All steps of a trace.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// By position. Positions of one thread are next to each other.
    pub(crate) steps: Vec<Transition>,
    /// What each position means.
    pub(crate) places: Vec<TracePoint>,
    /// The walls that steps lift.
    pub(crate) lifts: Vec<Lift>,
    /// What some steps do besides.
    pub(crate) specials: Vec<Special>,
    /// The cells before anything has run.
    pub(crate) initial: Vec<u32>,
    /// How many threads there are.
    pub(crate) threads: usize,
    /// Whether some step asks for [`PROGRESS`].
    pub(crate) counts_progress: bool,
    /// Per variable, what its contents stand for.
    pub(crate) contents: Vec<Contents>,
    /// How to write down a state.
    pub(crate) layout: Layout,
    /// The barriers at which those meet who met.
    pub(crate) as_recorded: Vec<BarrierId>,
}

/// What the contents of one variable stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// The cell of the variable.
    pub(crate) cell: u32,
    /// Per number, the value, where it is known. Numbers past the end stand for what equals nothing observed.
    pub(crate) values: Vec<Option<Value>>,
}

impl Program {
    /// What the variable holds, if that is known.
    pub(crate) fn value(&self, cells: &[u32], var: VarId) -> Option<Value> {
        let contents = self.contents.get(var.index())?;
        *contents.values.get(*cells.get(contents.cell as usize)? as usize)?
    }
}
