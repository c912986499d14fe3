//! All runs that an observed one implies, whatever the program was that produced it.
//!
//! From one observed run, the maximal causal model knows of others: each thread runs a beginning of what it was
//! observed to do; only the last event of a thread may be a read that sees another value than observed, for it is not
//! knows what the thread does then. All such runs that are consistent are the *feasibility closure* of the observed
//! one. This crate counts them, finds all races among them, and checks properties in every state that they reach.
//!
//! * [`program`], [`compile`]: a trace as data for a fast engine; [`run`]: that engine
//! * [`order`]: happens-before, to compare with
//! * [`system`]: what engine and order have in common; [`walk`]: run by run; [`layers`]: state by state, which is
//!   exponentially faster; [`explore`]: both together; [`table`], [`pack`]: states in memory
//! * [`property`], [`checks`], [`sights`]: what is looked for, and found; [`taken`]: the way there
//! * [`budget`]: how far to go; [`count`]: numbers that say when they are too large
//!
//! Nothing here is a proof: the schedule of a race is for the referee to judge.

mod budget;
mod checks;
mod compile;
mod count;
mod explore;
mod layers;
mod order;
mod pack;
mod program;
mod property;
mod run;
mod sights;
mod special;
mod system;
mod table;
mod taken;
mod walk;

use foretell_trace::{BarrierId, EventId, Trace};

pub use budget::{Limits, Progress};
pub use count::Count;
pub use explore::Totals;
pub use property::{BadProperty, Exclusive, Property, Race, State};
pub use taken::{Schedule, Taken};

use checks::Checks;
use order::{Order, Reordering};
use program::Program;
use run::Run;
use sights::{Path, Sights};
use system::{Blind, Sight};
use taken::Scheduler;

/// How many steps all schedules of races together may have.
const MOST_SCHEDULED_STEPS: usize = 1 << 26;

/// The feasibility closure of a trace, and what is to be checked in it.
pub struct Closure<'t> {
    trace: &'t Trace,
    program: Program,
    properties: Vec<Box<dyn Property + 't>>,
    /// Per thread, its events.
    events: Vec<Vec<EventId>>,
}

/// What was found in a closure.
#[derive(Clone, PartialEq, Debug)]
pub struct Exploration {
    /// How many runs there are.
    pub totals: Totals,
    /// All races, in the order of their events.
    pub races: Vec<RacingPair>,
    /// There are more, but no room for all their schedules.
    pub are_more_races: bool,
    /// Per property, the schedule after which it does not hold, if there is one.
    pub violations: Vec<Option<Schedule>>,
}

/// Two events that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RacingPair {
    /// The one that comes first in the trace.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// The shortest schedule after which both are next.
    pub schedule: Schedule,
}

impl<'t> Closure<'t> {
    /// `None` if the trace has too many events or variables.
    pub fn new(trace: &'t Trace, properties: Vec<Box<dyn Property + 't>>) -> Option<Closure<'t>> {
        let watched: Vec<_> = properties.iter().flat_map(|property| property.variables()).collect();
        let program = compile::compile(trace, &watched)?;
        let mut events = vec![Vec::new(); trace.thread_count()];
        for (id, event) in trace.iter() {
            events[event.thread.index()].push(id);
        }
        Some(Closure { trace, program, properties, events })
    }

    /// The barriers without a recorded number of threads: the threads that met in the trace are assumed to meet in all
    /// runs, so there may be more runs.
    pub fn barriers_as_recorded(&self) -> &[BarrierId] {
        &self.program.as_recorded
    }

    /// Explores the closure on the workers of the present thread pool. What is found does not depend on how many there
    /// are, nor on how much memory there is; if everything is explored, the totals do not either, but for the steps.
    pub fn explore(&self, limits: Limits<'_>, progress: &Progress) -> Exploration {
        let checks = Checks { trace: self.trace, properties: &self.properties };
        let sights = Sights::new(self.properties.len() + self.most_races());
        let totals = explore::explore(&Run::new(&self.program), &checks, limits, progress, &sights);
        let (sights, are_more_races) = sights.into_inner();
        let mut exploration = Exploration {
            totals,
            races: Vec::new(),
            are_more_races,
            violations: vec![None; self.properties.len()],
        };
        for (sight, path) in sights {
            let schedule = Scheduler::new(self).along(&path);
            match sight {
                Sight::Violation(property) => exploration.violations[property] = Some(schedule),
                Sight::Race(a, b) => exploration.races.extend(self.racing_pair(a, b, schedule)),
            }
        }
        exploration.races.sort_by_key(|race| (race.first, race.second));
        exploration
    }

    /// How many races are kept: as many as have room for their schedules.
    fn most_races(&self) -> usize {
        MOST_SCHEDULED_STEPS / self.trace.events().len().max(1)
    }

    fn racing_pair(&self, a: u32, b: u32, schedule: Schedule) -> Option<RacingPair> {
        let event =
            |position: u32| EventId::from_index(self.program.places[position as usize].event as usize);
        let (a, b) = (event(a)?, event(b)?);
        Some(RacingPair { first: a.min(b), second: a.max(b), schedule })
    }

    /// The run in which these events come in this order, with what runs together with them; `None` if there is none in
    /// the closure. Branches and the like are not to be named.
    pub fn schedule(&self, steps: &[EventId]) -> Option<Schedule> {
        Scheduler::new(self).of(steps)
    }
}

/// Counts the reorderings of the trace in which no two dependent events change places: the complete ones are
/// [`Totals::proper`]. `None` if the trace has too many events.
pub fn happens_before(trace: &Trace, limits: Limits<'_>, progress: &Progress) -> Option<Totals> {
    let order = Order::new(trace)?;
    Some(explore::explore(&Reordering::new(&order), &Blind, limits, progress, &Sights::new(0)))
}
