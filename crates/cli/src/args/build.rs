//! Commands that build: `cargo`, and the compiler wrappers.

use std::ffi::OsString;
use std::time::Duration;

use foretell_wire::settings::DEFAULT_SEED;

use super::analysis::WantedArgs;
use super::program::{LibraryArgs, LogArgs, Order};
use super::texts::{self, heading};
use super::values::parse_duration;

#[derive(Debug, clap::Args)]
pub(crate) struct CargoArgs {
    /// What to do with the package
    #[arg(value_enum)]
    pub(crate) action: CargoAction,
    #[arg(long, default_value_t = DEFAULT_SEED, value_name = "N", help = texts::SEED, help_heading = heading::SCHEDULING)]
    pub(crate) seed: u64,
    #[arg(
        long, value_enum, default_value_t = Order::Serial, help = texts::ORDER,
        help_heading = heading::RECORDING
    )]
    pub(crate) order: Order,
    #[command(flatten)]
    pub(crate) libraries: LibraryArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Terminate the program, or each test, after DURATION, such as 10s or 2m [default: 60s for tests]
    ///
    /// The recording up to then is analysed.
    #[arg(
        long, value_parser = parse_duration, value_name = "DURATION", help_heading = heading::LIMITS
    )]
    pub(crate) stop_after: Option<Duration>,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    #[arg(long, help = texts::NO_PROGRESS, help_heading = heading::DISPLAY)]
    pub(crate) no_progress: bool,
    /// Options to pass to cargo; options of foretell come before them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO OPTIONS")]
    pub(crate) options: Vec<OsString>,
    /// Arguments after `--`, for the program or for each test.
    #[arg(skip)]
    pub(crate) given: Vec<OsString>,
}

/// What to do with a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum CargoAction {
    /// Build it with instrumentation
    Build,
    /// Build, run and analyse its program
    Run,
    /// Build, run and analyse each of its tests in a process of its own
    Test,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompilerArgs {
    /// Arguments to pass to the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}
