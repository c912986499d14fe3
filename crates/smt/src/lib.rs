//! Races as formulas for an SMT solver, to compare with. Never shipped.
//!
//! * [`window`]: a trace with what the formulas ask of it: must-order, sections, who reads and writes what
//! * [`published`]: the formula of RVPredict, as its paper gives it
//! * [`exact`]: a formula that is satisfiable exactly for the races, in prefixes instead of whole traces
//! * [`reads`]: when a read sees the value that it saw in the trace; both formulas need it
//! * [`text`]: SMT-LIB, as far as we write it
//! * [`z3`]: the solver, as a process that answers one question after another
//!
//! Plain reads and writes that show their values, mutexes, forks, joins and branches can be put into formulas; a trace
//! with anything else is [`window::Unsupported`].

pub mod exact;
pub mod published;
pub mod reads;
pub mod text;
pub mod window;
pub mod z3;

use foretell_trace::EventId;

use window::Window;

/// Which formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// As published; see [`published`] for where it differs from the races.
    Published,
    /// Satisfiable exactly for the races of the control-flow model.
    Exact,
}

impl Formula {
    /// The formula that these two accesses of different threads race, as SMT-LIB text.
    pub fn text(self, window: &Window, pair: (EventId, EventId)) -> String {
        let pair = (pair.0.index(), pair.1.index());
        match self {
            Formula::Published => published::text(window, pair),
            Formula::Exact => exact::text(window, pair),
        }
    }
}
