//! Front ends: how the programs of a language are recorded, examined, and driven along a schedule.
//!
//! There are two, for CIMP programs and for native ones. [`Language::of`] is the one place that tells them apart. What a
//! front end knows beside that, it hands to the engine: untaken branches (`UntakenBranches`), the lines of the program
//! (`Excerpts`), and what schedules are for (`Origin`). docs/design/front-ends.md says what a third one would need.

use std::ffi::OsString;
use std::path::Path;

use foretell_report::{Confirmation, Shown, Steering};
use foretell_schedule::Name;
use foretell_wire::schedule::Draft;

use crate::error::Failure;
use crate::program::is_program;

/// What a program is written in, as far as that decides how it is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// CIMP: the virtual machine runs it.
    Cimp,
    /// C, C++ or Rust: it runs as processes.
    Native,
}

impl Language {
    /// The language of this program.
    pub(crate) fn of(program: &Path) -> Language {
        if is_program(program) { Language::Cimp } else { Language::Native }
    }

    /// Refuses arguments that a program of this language cannot have.
    pub(crate) fn check_arguments(self, arguments: &[OsString]) -> Result<(), Failure> {
        match (self, arguments.first()) {
            (Language::Cimp, Some(argument)) => Err(Failure::Usage(format!(
                "`{}` is one too many: a .cimp program takes no arguments",
                argument.to_string_lossy()
            ))),
            _ => Ok(()),
        }
    }
}

/// A program that can be run again and again.
pub(crate) trait FrontEnd: Sync {
    /// What a run leaves behind.
    type Artifacts: Send;

    /// Runs the program once under the strategy and seed of the plan. Several runs may go on at the same time.
    fn record(&self, plan: &RunPlan) -> Result<RunOutcome<Self::Artifacts>, Failure>;

    /// Finds races in what a run has left behind.
    fn examine(&self, artifacts: Self::Artifacts, plan: &RunPlan) -> Result<Shown, Failure>;
}

/// A program that can be driven along a schedule.
pub(crate) trait Driver {
    /// Drives the program into the race of this schedule, which is made better if it turns out where a thread has to be
    /// held.
    fn drive(&self, draft: &mut Draft) -> Result<Confirmation, Failure>;
}

/// How one run is to go.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    /// The number of the run, counted from 1.
    pub(crate) run: usize,
    /// What all choices are drawn from.
    pub(crate) seed: u64,
    /// The scheduling strategy.
    pub(crate) strategy: Name,
    /// How deep it looks.
    pub(crate) depth: u32,
    /// About how many choices there will be.
    pub(crate) steps: u64,
    /// What an earlier run has taught about which functions take which locks.
    pub(crate) triggers: Option<String>,
}

/// What has become of a run.
pub(crate) struct RunOutcome<T> {
    pub(crate) artifacts: T,
    /// How it has ended, if not well.
    pub(crate) ending: Option<String>,
    /// What it has taught the next one.
    pub(crate) learnt: Learnt,
}

/// What a run has taught.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    /// About how many choices there were.
    pub(crate) steps: Option<u64>,
    /// Which functions take which locks.
    pub(crate) triggers: Option<String>,
    /// What the strategy did.
    pub(crate) steering: Option<Steering>,
}
