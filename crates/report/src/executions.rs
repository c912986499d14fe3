//! What was found among all executions of a program.

use serde::Serialize;

use crate::closure::PropertyVerdict;

/// The exploration of one program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramReport {
    /// The name of the tool.
    pub tool: &'static str,
    /// The file that the program is in.
    pub program: String,
    /// Whether all executions are known; otherwise `notes` tell why not.
    pub complete: bool,
    /// Ctrl-C: what is not listed is not known.
    pub interrupted: bool,
    /// What else is to be known: what keeps the answer from being complete, or that no execution ends.
    pub notes: Vec<String>,
    /// Accesses that can happen at the same time, one entry for any two places and a variable.
    pub races: Vec<ProgramRace>,
    /// What goes wrong in some execution, once for any place.
    pub failures: Vec<ProgramFailure>,
    /// States in which no thread can continue although not all have ended.
    pub deadlocks: Vec<ProgramDeadlock>,
    /// What was asked, in the order of the command line.
    pub properties: Vec<ProgramProperty>,
    /// Figures.
    pub stats: ProgramStats,
}

/// Two accesses that can happen at the same time.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramRace {
    /// The variable.
    pub target: String,
    /// The access that comes first in the program's text.
    pub first: ProgramAccess,
    /// The other one.
    pub second: ProgramAccess,
    /// Who takes which step, until both accesses are next.
    pub schedule: String,
}

/// One side of a race.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramAccess {
    /// The thread.
    pub thread: String,
    /// `r` or `w`.
    pub op: &'static str,
    /// Line and column.
    pub location: String,
}

/// Something that goes wrong.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramFailure {
    /// What goes wrong.
    pub message: String,
    /// The thread.
    pub thread: String,
    /// Line and column.
    pub location: String,
    /// That line of the program.
    pub source: String,
    /// Who takes which step, until it goes wrong.
    pub schedule: String,
}

/// Threads that wait for ever.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramDeadlock {
    /// Who waits where for what, one thread each.
    pub waiting: Vec<String>,
    /// The schedule until no thread can continue.
    pub schedule: String,
}

/// The word on one property.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramProperty {
    /// As it was asked.
    pub property: String,
    /// Whether it holds.
    pub verdict: PropertyVerdict,
    /// If it is violated: who takes which step, until it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

/// Figures of one exploration.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProgramStats {
    /// How many states were visited.
    pub states: usize,
    /// In how many of them all threads have ended.
    pub final_states: usize,
    /// How many executions there are from the beginning to an end; absent if there is no end to some, or not all are
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<u128>,
    /// Time on the clock.
    pub seconds: f64,
    /// The most memory that the process had in use meanwhile, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

impl ProgramReport {
    /// Whether something remains that might be found.
    pub fn is_open(&self) -> bool {
        let unknown = |property: &ProgramProperty| property.verdict == PropertyVerdict::Unknown;
        !self.complete || self.properties.iter().any(unknown)
    }

    /// Whether something was found: a race, a failure, a deadlock, or a property that does not hold.
    pub fn has_findings(&self) -> bool {
        let violated = |property: &ProgramProperty| property.verdict == PropertyVerdict::Violated;
        !(self.races.is_empty() && self.failures.is_empty() && self.deadlocks.is_empty())
            || self.properties.iter().any(violated)
    }
}
