//! Two searches side by side: the clause-learning one of [`crate::encode`] and the explicit-state one of
//! [`crate::states`]. Each is quick where the other takes exponential time, and nothing tells in advance which is
//! which. So they take turns, with more room each time, until one of them knows.

use foretell_arithmetic::Solver;
use foretell_solve::Limits;

use crate::closure::Closure;
use crate::encode::{Outcome, Search};
use crate::replay::Subjects;
use crate::states::{Explored, Order, States};

/// How many states are looked at before the clause-learning search begins, in a window that a larger one follows,
const FEW_STATES: usize = 500;
/// and in the last one. That takes about as long as the first turn of the clause-learning search.
const FIRST_STATES: usize = 100_000;
/// How many conflicts the clause-learning search may have in its first turn, if it has no other limit.
const FIRST_CONFLICTS: u64 = 2000;
/// Each turn is so many times as long as the one before.
const GROWTH: usize = 4;
/// How many bytes the states of one search may take.
const MOST_BYTES: usize = 64 << 20;

/// Which searches take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Portfolio {
    /// Both take turns.
    #[default]
    Both,
    /// The clause-learning search alone.
    Clauses,
}

/// Searches for a schedule of the closure's window within the limits.
pub(crate) fn search(
    closure: &Closure<'_>,
    subjects: &Subjects,
    solver: &dyn Solver,
    limits: &Limits<'_>,
    portfolio: Portfolio,
) -> Outcome {
    let mut states = match portfolio {
        Portfolio::Both => States::new(closure, subjects),
        Portfolio::Clauses => None,
    };
    let mut clauses = None;
    let few = if limits.conflicts.is_some() { FEW_STATES } else { FIRST_STATES };
    let (mut room, mut conflicts) = (few, FIRST_CONFLICTS);
    loop {
        if let Some(states) = &mut states {
            for order in [Order::NeededFirst, Order::AsRecorded] {
                match states.run(order, room) {
                    Explored::Schedule(schedule) => return Outcome::Schedule(schedule),
                    Explored::Impossible => return Outcome::Impossible,
                    Explored::TooMany if closure.is_out_of_time() => return Outcome::GaveUp,
                    Explored::TooMany => {}
                }
            }
        }
        let is_last = states.is_none() || limits.conflicts.is_some();
        let turn = if is_last { limits.conflicts } else { Some(conflicts) };
        let clauses = clauses.get_or_insert_with(|| Search::new(closure, subjects, solver));
        match clauses.run(&Limits { conflicts: turn, ..*limits }) {
            Outcome::GaveUp if is_last || closure.is_out_of_time() => return Outcome::GaveUp,
            Outcome::GaveUp => {}
            known => return known,
        }
        room *= GROWTH;
        conflicts *= GROWTH as u64;
        if states.as_ref().is_some_and(|states| states.bytes(room) > MOST_BYTES) {
            states = None;
        }
    }
}
