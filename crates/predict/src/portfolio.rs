//! Searches side by side: the clause-learning one of [`crate::encode`] and the explicit-state ones of
//! [`crate::states`], depth first and by beams. Each is quick where others take exponential time, and nothing tells in
//! advance which is which. So they take turns, with more room each time, until one of them knows.

use foretell_arithmetic::Solver;
use foretell_solve::SearchLimits;

use crate::closure::Closure;
use crate::encode::{EncodedSearch, SearchOutcome};
use crate::replay::Subjects;
use crate::states::{Explored, States, TrialOrder};

/// How many states are looked at before the clause-learning search begins, in a window that a larger one follows,
const FEW_STATES: usize = 500;
/// and in the last one.
const FIRST_STATES: usize = 4_000;
/// How many conflicts the clause-learning search may have in its first turn, if it has no other limit.
const FIRST_CONFLICTS: u64 = 100;
/// Each turn is so many times as long as the one before.
const GROWTH: usize = 4;
/// Beams see so many times as many states in their turn: they keep few.
const BEAM_ROOM: usize = 100;
/// In a window of so many events even the first turn of the clause-learning search takes long.
const MANY_EVENTS: u32 = 20_000;
/// How many bytes the states of one search may take.
const MOST_BYTES: usize = 64 << 20;

/// Which searches take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Portfolio {
    /// All take turns.
    #[default]
    All,
    /// The clause-learning search alone.
    Clauses,
    /// The explicit-state search, depth first, as long as it has room.
    DepthFirst,
    /// The explicit-state search by beams, as long as it has room.
    Beams,
}

/// A search that takes turns with others.
#[derive(Clone, Copy, Debug)]
enum SearchTurn {
    DepthFirst(TrialOrder),
    Clauses,
    Beams,
}

impl Portfolio {
    /// All searches together, and each of them alone as far as it goes, to compare them.
    pub const EACH: [Portfolio; 4] =
        [Portfolio::All, Portfolio::Clauses, Portfolio::DepthFirst, Portfolio::Beams];

    /// The searches in their order.
    fn turns(self, is_last_window: bool, events: u32) -> &'static [SearchTurn] {
        match self {
            // Before a larger window is tried, a look at a few states is enough.
            Portfolio::All if !is_last_window => &[NEEDED_FIRST, AS_RECORDED, SearchTurn::Clauses],
            Portfolio::All if events < MANY_EVENTS => {
                &[NEEDED_FIRST, AS_RECORDED, SearchTurn::Clauses, SearchTurn::Beams]
            }
            Portfolio::All => &[NEEDED_FIRST, AS_RECORDED, SearchTurn::Beams, SearchTurn::Clauses],
            Portfolio::DepthFirst => &[NEEDED_FIRST, AS_RECORDED],
            Portfolio::Clauses => &[SearchTurn::Clauses],
            Portfolio::Beams => &[SearchTurn::Beams],
        }
    }
}

const NEEDED_FIRST: SearchTurn = SearchTurn::DepthFirst(TrialOrder::NeededFirst);
const AS_RECORDED: SearchTurn = SearchTurn::DepthFirst(TrialOrder::AsRecorded);

/// Searches for a schedule of the closure's window within the limits.
pub(crate) fn search(
    closure: &Closure<'_>,
    subjects: &Subjects,
    solver: &dyn Solver,
    limits: &SearchLimits<'_>,
    portfolio: Portfolio,
) -> SearchOutcome {
    let is_last_window = limits.conflicts.is_none();
    let events = closure.window.len();
    let mut turns = portfolio.turns(is_last_window, events);
    let searches_states = portfolio != Portfolio::Clauses;
    let mut states = searches_states.then(|| States::new(closure, subjects)).flatten();
    let mut clauses = None;
    let mut room = if is_last_window { FIRST_STATES } else { FEW_STATES };
    let mut conflicts = FIRST_CONFLICTS;
    loop {
        if states.is_none() {
            turns = Portfolio::Clauses.turns(is_last_window, events);
        }
        for &turn in turns {
            let outcome = match (turn, &mut states) {
                (SearchTurn::DepthFirst(order), Some(states)) => outcome(states.run(order, room)),
                (SearchTurn::Beams, Some(states)) => outcome(states.run_beams(room * BEAM_ROOM)),
                (_, states) => {
                    let is_last = states.is_none() || !is_last_window;
                    let most = if is_last { limits.conflicts } else { Some(conflicts) };
                    let clauses =
                        clauses.get_or_insert_with(|| EncodedSearch::new(closure, subjects, solver));
                    match clauses.run(&SearchLimits { conflicts: most, ..*limits }) {
                        SearchOutcome::GaveUp if is_last => return SearchOutcome::GaveUp,
                        outcome => outcome,
                    }
                }
            };
            match outcome {
                SearchOutcome::GaveUp if closure.is_out_of_time() => return SearchOutcome::GaveUp,
                SearchOutcome::GaveUp => {}
                known => return known,
            }
        }
        room *= GROWTH;
        conflicts *= GROWTH as u64;
        if states.as_ref().is_some_and(|states| states.bytes(room) > MOST_BYTES) {
            states = None;
        }
    }
}

fn outcome(explored: Explored) -> SearchOutcome {
    match explored {
        Explored::Schedule(schedule) => SearchOutcome::Schedule(schedule),
        Explored::Impossible => SearchOutcome::Impossible,
        Explored::TooMany => SearchOutcome::GaveUp,
    }
}
