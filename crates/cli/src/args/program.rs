//! Commands that run a program: `run`, `hunt`, `record`, `replay`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::TypedValueParser as _;
use foretell_schedule::Name;
use foretell_wire::settings::{DEFAULT_SEED, FIRST_HUNTING_SEED};

use super::analysis::WantedArgs;
use super::texts::{self, heading};
use super::values::{
    Bound, TimeLimit, parse_bound, parse_duration, parse_event, parse_log_limit, parse_size, parse_strategy,
    parse_time_limit,
};

/// What is known of libraries when a program is built.
#[derive(Clone, PartialEq, Eq, Default, Debug, clap::Args)]
pub(crate) struct LibraryArgs {
    #[arg(long, value_name = "FILE", help = texts::MODELS, help_heading = heading::RECORDING)]
    pub(crate) models: Vec<PathBuf>,
    #[arg(
        long, help = texts::INSTRUMENT_STD, long_help = texts::INSTRUMENT_STD_LONG,
        help_heading = heading::RECORDING
    )]
    pub(crate) instrument_std: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[arg(
        value_name = "FILE.c|FILE.cpp|FILE.rs|FILE.java|FILE.cimp|COMMAND", help = texts::PROGRAM,
        long_help = texts::PROGRAM_LONG
    )]
    pub(crate) program: PathBuf,
    #[arg(value_name = "ARGUMENTS", help = texts::ARGUMENTS)]
    pub(crate) arguments: Vec<OsString>,
    #[command(flatten)]
    pub(crate) libraries: LibraryArgs,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    #[arg(
        long, default_value_t = 1_000_000, value_name = "N", help = texts::MAX_STEPS,
        help_heading = heading::LIMITS
    )]
    pub(crate) max_steps: usize,
    #[arg(
        long, value_parser = parse_bound, value_name = "N", help = texts::RUN_LOOPS,
        help_heading = heading::LIMITS
    )]
    pub(crate) loops: Option<Bound>,
    #[arg(
        long, value_parser = parse_duration, value_name = "DURATION", help = texts::STOP_AFTER,
        help_heading = heading::LIMITS
    )]
    pub(crate) stop_after: Option<Duration>,
    /// Also write the recorded trace to FILE; its extension sets the format
    #[arg(long, value_name = "FILE", help_heading = heading::RECORDING)]
    pub(crate) trace: Option<PathBuf>,
    /// Also write the data and control flow of a CIMP program to FILE
    ///
    /// For each event: the reads that its value comes from, and the branches that led to it.
    #[arg(long, value_name = "FILE", help_heading = heading::RECORDING)]
    pub(crate) flow: Option<PathBuf>,
    #[arg(
        long, value_enum, default_value_t = Order::Serial, help = texts::ORDER,
        help_heading = heading::RECORDING
    )]
    pub(crate) order: Order,
    /// Run a native program again for each race, and drive it into the race
    #[arg(long, help_heading = heading::ANALYSIS)]
    pub(crate) confirm: bool,
    /// Pack logs, report, schedules and versions of a native program for a bug report
    ///
    /// Logs contain all values that the program read and wrote, also secrets: check the archive before you send it.
    #[arg(long, value_name = "FILE.tar.gz", help_heading = heading::REPORT)]
    pub(crate) evidence: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    #[arg(long, help = texts::NO_PROGRESS, help_heading = heading::DISPLAY)]
    pub(crate) no_progress: bool,
    /// How many of the words came after `--`.
    #[arg(skip)]
    pub(crate) separated: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HuntArgs {
    #[arg(
        value_name = "FILE.c|FILE.cpp|FILE.rs|FILE.java|FILE.cimp|COMMAND", help = texts::PROGRAM,
        long_help = texts::PROGRAM_LONG
    )]
    pub(crate) program: PathBuf,
    #[arg(value_name = "ARGUMENTS", help = texts::ARGUMENTS)]
    pub(crate) arguments: Vec<OsString>,
    #[command(flatten)]
    pub(crate) libraries: LibraryArgs,
    /// Set the strategy of the runs (docs/hunting.md)
    #[arg(
        long, value_enum, default_value_t = Strategy::Predict, value_name = "STRATEGY",
        help_heading = heading::SCHEDULING
    )]
    pub(crate) strategy: Strategy,
    /// Make at most N runs
    #[arg(
        long, default_value_t = 20, value_name = "N", help_heading = heading::LIMITS,
        value_parser = clap::value_parser!(u32).range(1..).map(|runs| runs as usize)
    )]
    pub(crate) runs: usize,
    /// Stop after K runs in a row without a new race: a number, or `none` to make all runs
    #[arg(
        long, default_value = "10", value_parser = parse_bound, value_name = "K",
        help_heading = heading::LIMITS
    )]
    pub(crate) patience: Bound,
    #[arg(
        long, default_value_t = FIRST_HUNTING_SEED, value_name = "N", help = texts::SEED, help_heading = heading::SCHEDULING,
        long_help = "Set the seed of the first run; each following run has the next number"
    )]
    pub(crate) seed: u64,
    #[arg(
        long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N", help = texts::DEPTH,
        long_help = texts::DEPTH_LONG, help_heading = heading::SCHEDULING
    )]
    pub(crate) depth: Option<u32>,
    #[arg(
        long, default_value = "60s", value_parser = parse_duration, value_name = "DURATION",
        help = "Terminate each run after DURATION, such as 10s or 2m, and analyse it up to then",
        help_heading = heading::LIMITS
    )]
    pub(crate) stop_after: Duration,
    #[arg(
        long, default_value_t = 1_000_000, value_name = "N", help = texts::MAX_STEPS,
        help_heading = heading::LIMITS
    )]
    pub(crate) max_steps: usize,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Show the output of the program
    #[arg(long, help_heading = heading::DISPLAY)]
    pub(crate) show_output: bool,
    #[arg(long, help = texts::NO_PROGRESS, help_heading = heading::DISPLAY)]
    pub(crate) no_progress: bool,
    /// How many of the words came after `--`.
    #[arg(skip)]
    pub(crate) separated: usize,
}

/// The strategy of a hunt's runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Strategy {
    /// Alternate drfinder and pct, and predict from each recorded run
    Predict,
    /// Take locks in another order than in the runs before (DrFinder)
    Drfinder,
    /// Random priorities that change at few steps; finds a bug with a known probability (PCT)
    Pct,
    /// A random priority for each operation (POS)
    Pos,
    /// Random, with noise at synchronisation (ConTest)
    Contest,
    /// Any thread that can run, each equally likely
    Random,
}

impl Strategy {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Strategy::Predict => "predict",
            Strategy::Drfinder => "drfinder",
            Strategy::Pct => "pct",
            Strategy::Pos => "pos",
            Strategy::Contest => "contest",
            Strategy::Random => "random",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Write the trace to FILE; its extension sets the format. Further processes get numbered files
    #[arg(short, long, value_name = "FILE", help_heading = heading::RECORDING)]
    pub(crate) output: PathBuf,
    #[arg(long, default_value_t = DEFAULT_SEED, value_name = "N", help = texts::SEED, help_heading = heading::SCHEDULING)]
    pub(crate) seed: u64,
    #[arg(
        long, value_enum, default_value_t = Order::Serial, help = texts::ORDER,
        help_heading = heading::RECORDING
    )]
    pub(crate) order: Order,
    #[arg(
        long, value_parser = parse_strategy, value_name = "STRATEGY", help = texts::STRATEGY,
        help_heading = heading::SCHEDULING
    )]
    pub(crate) strategy: Option<Name>,
    #[arg(
        long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N", help = texts::DEPTH,
        long_help = texts::DEPTH_LONG, help_heading = heading::SCHEDULING
    )]
    pub(crate) depth: Option<u32>,
    /// pct: expected number of scheduling steps [default: 1000]
    #[arg(long, value_name = "N", help_heading = heading::SCHEDULING)]
    pub(crate) steps: Option<u64>,
    #[arg(long, value_name = "FILE", help = texts::TRIGGERS, help_heading = heading::SCHEDULING)]
    pub(crate) triggers: Option<PathBuf>,
    /// Terminate the program after DURATION, such as 10s or 2m, and keep the recording
    #[arg(
        long, value_parser = parse_duration, value_name = "DURATION", help_heading = heading::LIMITS
    )]
    pub(crate) stop_after: Option<Duration>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Limit the time for building the trace from the log, such as 90s, 10m or `none`
    ///
    /// Reading the log takes at most half of it. The part of the log that was not read by then is left out.
    #[arg(
        long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION",
        help_heading = heading::LIMITS
    )]
    pub(crate) time_limit: TimeLimit,
    #[arg(
        long, value_parser = parse_size, value_name = "SIZE", help = texts::MEMORY,
        long_help = texts::MEMORY_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) memory: Option<u64>,
    /// Command to run
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// JSON report of `foretell run`, or a saved schedule (docs/schedule.md)
    #[arg(value_name = "REPORT.json|FILE.schedule")]
    pub(crate) file: PathBuf,
    #[arg(
        long, value_parser = parse_event, value_name = "K", help = texts::REPORT_NUMBER,
        help_heading = heading::INPUT
    )]
    pub(crate) report: Option<usize>,
    #[arg(
        long, value_parser = parse_event, value_name = "N", help = texts::RACE, help_heading = heading::INPUT
    )]
    pub(crate) race: Option<usize>,
    /// Select the proven deadlock with this number, instead of a race
    #[arg(long, value_parser = parse_event, value_name = "N", conflicts_with = "race", help_heading = heading::INPUT)]
    pub(crate) deadlock: Option<usize>,
    /// Select the proven violation with this number, such as a use after free, instead of a race
    #[arg(
        long, value_parser = parse_event, value_name = "N", conflicts_with_all = ["race", "deadlock"],
        help_heading = heading::INPUT
    )]
    pub(crate) violation: Option<usize>,
    /// Save the schedule to FILE [default: beside the report]
    #[arg(long, value_name = "FILE.schedule", help_heading = heading::REPORT)]
    pub(crate) save: Option<PathBuf>,
    /// Let the program continue after the race, and other threads after a deadlock
    #[arg(long, help_heading = heading::SCHEDULING)]
    pub(crate) go_on: bool,
    /// Attach gdb while both threads are held at their accesses, or all wait for each other
    #[arg(long, help_heading = heading::SCHEDULING)]
    pub(crate) gdb: bool,
    /// Terminate the program if it does not get there within DURATION, such as 10s or 2m [default: 60s]
    #[arg(
        long, value_parser = parse_duration, value_name = "DURATION", help_heading = heading::LIMITS
    )]
    pub(crate) stop_after: Option<Duration>,
    /// Command to run [default: the recorded one]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// How much is recorded.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LogArgs {
    #[arg(
        long, default_value = "2G", value_parser = parse_log_limit, value_name = "SIZE",
        help = texts::LOG_LIMIT, long_help = texts::LOG_LIMIT_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) log_limit: u64,
    /// Set which part of a recording is kept that does not fit into --log-limit
    #[arg(
        long, value_enum, default_value_t = LogPart::First, value_name = "PART", help_heading = heading::LIMITS
    )]
    pub(crate) log_keep: LogPart,
}

/// The part of a recording that is kept if not all of it can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum LogPart {
    /// Recording stops when the log is full, and the program continues
    First,
    /// The beginning is dropped again and again, as in a flight recorder: for programs that do not end
    Last,
}

/// How the order of the threads' operations becomes known. Both ways are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Order {
    /// One thread runs at a time: the same seed gives the same run
    Serial,
    /// Threads run in parallel: faster on several CPUs, and every run differs
    Striped,
}

/// How a program is scheduled.
#[derive(Debug, clap::Args)]
pub(crate) struct ScheduleArgs {
    #[arg(
        long, default_value = "serial", value_name = "STRATEGY|SCHEDULE", help = texts::SCHEDULE,
        long_help = texts::SCHEDULE_LONG, help_heading = heading::SCHEDULING
    )]
    pub(crate) schedule: String,
    #[arg(long, default_value_t = DEFAULT_SEED, value_name = "N", help = texts::SEED, help_heading = heading::SCHEDULING)]
    pub(crate) seed: u64,
    #[arg(
        long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N", help = texts::DEPTH,
        long_help = texts::DEPTH_LONG, help_heading = heading::SCHEDULING
    )]
    pub(crate) depth: Option<u32>,
    #[arg(long, value_name = "FILE", help = texts::TRIGGERS, help_heading = heading::SCHEDULING)]
    pub(crate) triggers: Option<PathBuf>,
}

impl ScheduleArgs {
    /// The depth for this strategy.
    pub(crate) fn depth(&self, strategy: Name) -> u32 {
        self.depth.unwrap_or(strategy.usual_depth())
    }
}
