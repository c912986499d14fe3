//! What can be said on the command line.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Parser, Subcommand, ValueEnum};
use foretell_detect::Pairs;
use foretell_native::Follow;
use foretell_predict::Technique;
use foretell_schedule::Name;
use foretell_trace::Trace;
use foretell_trace::format::Format;

use crate::analysis::Plan;
use crate::explore::property::Wanted;
use crate::slice::Purpose;

/// Predicts data races: from one recorded run of a multithreaded program it proves which accesses could race in
/// another schedule of the same program. Every race it reports comes with a proof that an independent referee has
/// checked.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// What we are asked to do. What follows `--` is not ours if we stand between the user and cargo.
    pub(crate) fn from_command_line() -> Args {
        let mut all: Vec<OsString> = std::env::args_os().collect();
        let separator = all.iter().position(|argument| argument == "--");
        let is_cargo = all.get(1).is_some_and(|argument| argument == "cargo");
        let given = match separator {
            Some(position) if is_cargo => all.split_off(position).split_off(1),
            _ => Vec::new(),
        };
        let mut args = Args::parse_from(all);
        if let Command::Cargo(cargo) = &mut args.command {
            cargo.given = given;
        }
        args
    }
}

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race is proven
  2  bad input or usage, or a recording that is cut short and shows no race
  3  no race proven, but pairs remain that are not decided";

const REPLAY_EXIT_CODES: &str = "\
Exit codes:
  1  the program was driven into the race
  2  bad input or usage
  3  the program was not driven into the race";

const EXPLORE_EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race is proven, a property is violated, or an execution fails or deadlocks
  2  bad input or usage, or a recording that is cut short and shows nothing
  3  nothing found, but not everything was explored";

const HUNT_EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race is proven, or a run ended in a deadlock
  2  bad input or usage
  3  nothing found, but pairs remain that are not decided";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find races in recorded traces
    #[command(after_help = EXIT_CODES)]
    Predict(PredictArgs),
    /// Explain one race of a JSON report at length, or why a pair is none
    #[command(
        after_help = "The exit code tells whether it could be explained (0) or not (2), not what was found."
    )]
    Explain(ExplainArgs),
    /// Run several techniques on the same traces and print one table
    #[command(
        after_help = "The exit code tells whether the comparison could be made (0) or not (2), not what was found."
    )]
    Compare(CompareArgs),
    /// Run a program once, record what it does, and find races in it
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Run a program many times in different ways, and find the races that all runs together show
    #[command(after_help = HUNT_EXIT_CODES)]
    Hunt(HuntArgs),
    /// Drive a program into a race of a report: hold both threads at their accesses, and tell what they do there
    #[command(after_help = REPLAY_EXIT_CODES)]
    Replay(ReplayArgs),
    /// Run a program that was built with `foretell cc` or `foretell c++`, and write down what it does
    Record(RecordArgs),
    /// Compile Rust as rustc does, for recording
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Rustc(CompilerArgs),
    /// Build a package in Rust, run it or its tests, and find races: as `cargo foretell`
    #[command(after_help = EXIT_CODES)]
    Cargo(CargoArgs),
    /// Compile C as clang does, for recording: CC="foretell cc" make
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Cc(CompilerArgs),
    /// Compile C++ as clang does, for recording: CXX="foretell c++" make
    #[command(name = "c++", disable_help_flag = true, disable_version_flag = true)]
    Cpp(CompilerArgs),
    /// Explore all runs that recorded ones imply: count them, find all races, check properties
    #[command(after_help = EXPLORE_EXIT_CODES)]
    Explore(ExploreArgs),
    /// Look at traces: check, count, convert, view
    Trace(TraceArgs),
    /// Print the JSON Schema of what `--format json` prints
    Schema(SchemaArgs),
}

impl Command {
    /// How much memory may be used in all, if that is said.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self {
            Command::Predict(args) => args.wanted.search.memory,
            Command::Run(args) => args.wanted.search.memory,
            Command::Hunt(args) => args.wanted.search.memory,
            Command::Cargo(args) => args.wanted.search.memory,
            Command::Compare(args) => args.search.memory,
            Command::Explain(args) => args.memory,
            Command::Explore(args) => args.memory,
            Command::Record(args) => args.memory,
            _ => None,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Traces to look at; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Decide only the pair of these two events, by their numbers in the trace, and say why
    #[arg(long, value_parser = parse_pair, value_name = "A,B", conflicts_with = "baseline")]
    pub(crate) pair: Option<(u32, u32)>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A JSON report: what `-o report.json` has written; `-` is standard input
    #[arg(value_name = "REPORT.json")]
    pub(crate) file: PathBuf,
    /// Which of several reports in the file, counted from 1
    #[arg(long, value_parser = parse_event, value_name = "K")]
    pub(crate) report: Option<usize>,
    /// The proven race with this number; the first one unless given
    #[arg(long, value_parser = parse_event, value_name = "N", conflicts_with_all = ["candidate", "pair"])]
    pub(crate) race: Option<usize>,
    /// The undecided pair with this number
    #[arg(long, value_parser = parse_event, value_name = "N", conflicts_with = "pair")]
    pub(crate) candidate: Option<usize>,
    /// Any pair: two events of the trace by their numbers, or two lines such as bank.c:14,bank.c:31. It is decided now, and
    /// either shown to race, or why it does not
    #[arg(long, value_parser = Asked::parse, value_name = "A,B")]
    pub(crate) pair: Option<Asked>,
    /// The trace that the report is about, if it is not where the report says. With it, the proof is checked once more
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// How many steps of the schedule to tell: those that matter, or all
    #[arg(long, value_enum, default_value_t = Steps::Essence, value_name = "STEPS")]
    pub(crate) witness: Steps,
    /// How to decide a pair; as the report did unless given
    #[arg(short, long, value_parser = technique_parser())]
    pub(crate) technique: Option<Choice>,
    /// How many events a schedule for a pair may rearrange in one piece: a number from 2 on, or `all`
    #[arg(long, default_value = "all", value_parser = parse_window, value_name = "EVENTS")]
    pub(crate) window: Window,
    /// How long one pair may take, such as 60s or 2m
    #[arg(long, default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Duration,
    /// How much memory deciding a pair may use, such as 8G; what the system has unless given
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
    /// Where to write the text, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Whether text has colours; `auto` if a terminal shows them and the environment (NO_COLOR, CLICOLOR_FORCE) does not object
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// How much of a schedule is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Steps {
    /// What matters
    Essence,
    /// Every step
    All,
}

/// A pair that somebody asks about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Two events by their numbers, the smaller one first.
    Events(u32, u32),
    /// Two locations.
    Lines(String, String),
}

impl Asked {
    fn parse(text: &str) -> Result<Asked, String> {
        if let Ok((a, b)) = parse_pair(text) {
            return Ok(Asked::Events(a, b));
        }
        let is_name = |name: &str| !name.is_empty() && name.parse::<u64>().is_err();
        match text.split_once(',').map(|(a, b)| (a.trim(), b.trim())) {
            Some((a, b)) if is_name(a) && is_name(b) => Ok(Asked::Lines(a.to_string(), b.to_string())),
            _ => {
                Err("expected two events such as 3,10, or two lines such as bank.c:14,bank.c:31".to_string())
            }
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// A source file in C, C++, Rust or CIMP (docs/cimp.md); or, after `--`, a command that runs programs which were built with
    /// `foretell cc` or `foretell c++`
    #[arg(value_name = "FILE.c|FILE.cpp|FILE.rs|FILE.cimp|COMMAND")]
    pub(crate) program: PathBuf,
    /// What the program is given
    #[arg(value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    /// How many steps the run may take
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub(crate) max_steps: usize,
    /// How often a loop may go round each time it is entered: a number, or `none` for no bound
    #[arg(long, value_parser = parse_bound, value_name = "N")]
    pub(crate) loops: Option<Bound>,
    /// End a native program after so long, such as 10s or 2m, and look at what was recorded by then
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) stop_after: Option<Duration>,
    /// Also write the recorded trace here; the name's ending tells the format
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Also write here where each value comes from, and which decisions led to each event
    #[arg(long, value_name = "FILE")]
    pub(crate) flow: Option<PathBuf>,
    /// How the threads of a native program are recorded
    #[arg(long, value_enum, default_value_t = Order::Serial)]
    pub(crate) order: Order,
    /// Run a native program once more for each race, and drive it there (`foretell replay` does so for one)
    #[arg(long)]
    pub(crate) confirm: bool,
    /// Pack the logs of a native program, the report, schedules and versions, to go with a bug report; logs have what the
    /// program read and wrote, also secrets
    #[arg(long, value_name = "FILE.tar.gz")]
    pub(crate) evidence: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Never draw progress bars
    #[arg(long)]
    pub(crate) no_progress: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HuntArgs {
    /// A source file in C, C++, Rust or CIMP (docs/cimp.md); or, after `--`, a command that runs programs which were built with
    /// `foretell cc` or `foretell c++`
    #[arg(value_name = "FILE.c|FILE.cpp|FILE.rs|FILE.cimp|COMMAND")]
    pub(crate) program: PathBuf,
    /// What the program is given
    #[arg(value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
    /// How runs are steered (docs/hunting.md)
    #[arg(long, value_enum, default_value_t = Strategy::Predict, value_name = "STRATEGY")]
    pub(crate) strategy: Strategy,
    /// How many runs to make at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..).map(|runs| runs as usize), value_name = "N")]
    pub(crate) runs: usize,
    /// Stop once so many runs in a row have shown nothing new: a number, or `none` to make all runs
    #[arg(long, default_value = "10", value_parser = parse_bound, value_name = "K")]
    pub(crate) patience: Bound,
    /// What the choices of the first run are drawn from; the next run has the next number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many ordering decisions a bug needs that `pct` looks for (3 unless given), or how many calls `drfinder` looks ahead (12)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// End a native program after so long, such as 10s or 2m, and look at what it did by then
    #[arg(long, default_value = "60s", value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) stop_after: Duration,
    /// How many steps a run of a CIMP program may take
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub(crate) max_steps: usize,
    /// Let the program print what it prints
    #[arg(long)]
    pub(crate) show_output: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Never draw progress bars
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// How the runs of a hunt are steered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Strategy {
    /// Runs in different ways, and predictions from each: what any of them implies
    Predict,
    /// Takes locks in another order than the runs before
    Drfinder,
    /// Priorities that change in few places, with a known probability to find a bug
    Pct,
    /// A random order of what conflicts
    Pos,
    /// Noise at synchronisation
    Contest,
    /// Any thread, each as likely as the others
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
pub(crate) struct ReplayArgs {
    /// A JSON report of `foretell run`, or a schedule that was saved (docs/schedule.md)
    #[arg(value_name = "REPORT.json|FILE.schedule")]
    pub(crate) file: PathBuf,
    /// Which of several reports in the file, counted from 1
    #[arg(long, value_parser = parse_event, value_name = "K")]
    pub(crate) report: Option<usize>,
    /// The proven race with this number; the first one unless given
    #[arg(long, value_parser = parse_event, value_name = "N")]
    pub(crate) race: Option<usize>,
    /// Where to save the schedule; beside the report unless given
    #[arg(long, value_name = "FILE.schedule")]
    pub(crate) save: Option<PathBuf>,
    /// Let the program go on after the race, and see what comes of it
    #[arg(long)]
    pub(crate) go_on: bool,
    /// Attach gdb while both threads are held at their accesses
    #[arg(long)]
    pub(crate) gdb: bool,
    /// End the program if it takes longer to come to the race, such as 10s or 2m; a minute unless given
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) stop_after: Option<Duration>,
    /// Whether text has colours; `auto` if a terminal shows them and the environment (NO_COLOR, CLICOLOR_FORCE) does not object
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// The command to run, if it is not the one that was recorded
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Where to write the trace; the name's ending tells the format. Further processes get numbers
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What all choices of the schedule are drawn from: the same seed gives the same run
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How threads are recorded
    #[arg(long, value_enum, default_value_t = Order::Serial)]
    pub(crate) order: Order,
    /// Who says whose turn it is, see docs/hunting.md; at random unless given
    #[arg(long, value_parser = parse_strategy, value_name = "NAME")]
    pub(crate) strategy: Option<Name>,
    /// How many ordering decisions a bug needs that `pct` looks for; how many calls up `drfinder` looks from where a lock is taken
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// About how many picks of a thread there will be, for `pct`
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// What `drfinder` has learnt: read from this file, if it is there, and written to it after the run
    #[arg(long, value_name = "FILE")]
    pub(crate) triggers: Option<PathBuf>,
    /// End the program after so long, such as 10s or 2m, and keep what was recorded by then
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) stop_after: Option<Duration>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// How long making the trace of what was recorded may take, such as 90s or 10m, or `none`: in half of it what is read is written down,
    /// and the rest of the log is left out
    #[arg(long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION")]
    pub(crate) time_limit: TimeLimit,
    /// How much memory that may use, such as 8G; what the system has unless given
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
    /// The command
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// How much is recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// How long the logs of all processes of a native program may become together, such as 500M or 8G. Then recording ends, and the program
    /// goes on
    #[arg(long, default_value = "2G", value_parser = parse_log_limit, value_name = "SIZE")]
    pub(crate) log_limit: u64,
}

/// How it is known in which order the threads of a native program did things. Both are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Order {
    /// One thread runs at a time: the same seed gives the same run
    Serial,
    /// Threads run in parallel: quicker with several processors, and another run each time
    Striped,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CargoArgs {
    /// What to do with the package
    #[arg(value_enum)]
    pub(crate) action: CargoAction,
    /// What all choices of the schedule are drawn from: the same seed gives the same run
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How threads are recorded
    #[arg(long, value_enum, default_value_t = Order::Serial)]
    pub(crate) order: Order,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// End the program, or each test, after so long, such as 10s or 2m, and look at what was recorded by then; tests end
    /// after a minute unless told otherwise
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) stop_after: Option<Duration>,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Never draw progress bars
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// What cargo is given. Options of foretell come before
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS OF CARGO")]
    pub(crate) options: Vec<OsString>,
    /// What follows `--`: what the program, or each test, is given
    #[arg(skip)]
    pub(crate) given: Vec<OsString>,
}

/// What to do with a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum CargoAction {
    /// Build it for recording
    Build,
    /// Run its program
    Run,
    /// Run each of its tests in a process of its own
    Test,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompilerArgs {
    /// What the compiler is given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

/// How a program is run.
#[derive(Debug, clap::Args)]
pub(crate) struct ScheduleArgs {
    /// Which thread runs when: `serial`, `round-robin`, `random`, `contest`, `pct`, `pos`, `drfinder` (docs/hunting.md), or a
    /// list such as `t1*7,t2,t1`, after which the run goes on serially
    #[arg(long, default_value = "serial")]
    pub(crate) schedule: String,
    /// What all choices are drawn from, also those of a native program: the same seed gives the same run
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many ordering decisions a bug needs that `pct` looks for, 3 unless given; how many calls up `drfinder` looks from
    /// where a lock is taken, 12 unless given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// What `drfinder` has learnt: read from this file, if it is there, and written to it after the run
    #[arg(long, value_name = "FILE")]
    pub(crate) triggers: Option<PathBuf>,
}

impl ScheduleArgs {
    /// The depth for this strategy.
    pub(crate) fn depth(&self, strategy: Name) -> u32 {
        self.depth.unwrap_or(strategy.usual_depth())
    }
}

/// A number that something may not exceed, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(pub(crate) Option<u32>);

/// What to look for, and how to tell it.
#[derive(Debug, clap::Args)]
pub(crate) struct WantedArgs {
    /// How to look for races; several may be given, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "auto", value_parser = technique_parser(), long_help = technique_help())]
    pub(crate) technique: Vec<Choice>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Only look at what the events of a property depend on
    #[arg(long, value_parser = Purpose::parse, value_name = "PROPERTY", long_help = Purpose::HELP)]
    pub(crate) slice: Option<Purpose>,
    /// How to tell what was found; as text, or as the name of the output says, unless given
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Where to write the report, instead of standard output; the name's ending tells the format (.txt .json .html .sarif .xml).
    /// May be given several times
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// How many steps of witnesses to print in all: a number, `all` or `none`. All witnesses are checked anyway. As text, the
    /// steps that matter are printed, or every one with `all`
    #[arg(long, default_value = "1000000", value_parser = parse_limit, value_name = "STEPS")]
    pub(crate) witness: usize,
    /// How many races, and how many undecided pairs, one report may hold: a number from 1 on, or `all`
    #[arg(long, default_value_t = MaxRaces::DEFAULT, value_parser = parse_max_races, value_name = "N")]
    pub(crate) max_races: MaxRaces,
    /// A file with races not to tell of, in the form of ThreadSanitizer's: race:PATTERN, line by line. The file that the
    /// environment variable FORETELL_SUPPRESSIONS names unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,
    /// A report of an earlier run, as JSON: what it has told is counted, but neither told again nor part of the exit code.
    /// May be given several times
    #[arg(long, value_name = "OLD.json")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Whether text has colours; `auto` if a terminal shows them and the environment (NO_COLOR, CLICOLOR_FORCE) does not object
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// Whether text has colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// Where they can be seen
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl WantedArgs {
    /// What is to be done, technique by technique.
    pub(crate) fn plans(&self) -> impl Iterator<Item = Plan> {
        self.technique.iter().map(|&choice| self.plan(choice))
    }

    /// How far the threads of a native program have to be followed for that.
    pub(crate) fn follow(&self) -> Follow {
        let computes = self.technique.iter().any(|choice| choice.stages().contains(&Technique::Recipe));
        match self.search.dependence {
            Following::None => Follow::Nothing,
            Following::Full if computes => Follow::Values,
            Following::Full | Following::Partial => Follow::Reads,
        }
    }

    /// What is to be done with one technique.
    pub(crate) fn plan(&self, choice: Choice) -> Plan {
        self.search.plan(choice, self.witness, self.max_races)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Traces to look at; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The techniques to compare, separated by commas; unless given, those of RVPredict's paper: rv, said, cp and hb
    #[arg(short, long, value_delimiter = ',', value_parser = technique_parser(), long_help = technique_help())]
    pub(crate) technique: Vec<Choice>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// A table to read, or the same figures as JSON
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Where to write the table, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExploreArgs {
    /// Traces, of which all runs that they imply are explored, and programs (docs/cimp.md), of which all executions are;
    /// `-` is a trace on standard input
    #[arg(required = true, value_name = "TRACE|FILE.cimp")]
    pub(crate) files: Vec<PathBuf>,
    /// Run each program once, and explore what that run implies instead of all executions
    #[arg(long)]
    pub(crate) closure: bool,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    /// How often a loop of a program may go round each time it is entered: a number, or `none` for no bound
    #[arg(long, value_parser = parse_bound, value_name = "N")]
    pub(crate) loops: Option<Bound>,
    /// How many states of a program may be visited
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(crate) max_states: usize,
    /// What should hold in every state; may be given several times
    #[arg(long, value_parser = Wanted::parse, value_name = "PROPERTY", long_help = Wanted::HELP)]
    pub(crate) property: Vec<Wanted>,
    /// Only look at what the events of a property depend on
    #[arg(long, value_parser = Purpose::parse, value_name = "PROPERTY", long_help = Purpose::HELP)]
    pub(crate) slice: Option<Purpose>,
    /// What a slice keeps
    #[arg(long, value_enum, default_value_t = RuleArg::Sound, requires = "slice")]
    pub(crate) slice_rule: RuleArg,
    /// Only look for races and check properties; do not count runs
    #[arg(long)]
    pub(crate) races_only: bool,
    /// How much memory states may take, such as 4G; a quarter of what the system has unless given. With 0 no state of a trace
    /// is kept, and every run is walked on its own
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
    /// How long one trace may take, such as 90s or 10m, or `none`. What is known by then is told
    #[arg(long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION")]
    pub(crate) time_limit: TimeLimit,
    /// How many steps may be taken in one trace; --max-states is for programs
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// How many workers to explore with; as many as there are processors unless given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) format: OutputFormat,
    /// Where to write the report, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Whether text has colours; `auto` if a terminal shows them and the environment (NO_COLOR, CLICOLOR_FORCE) does not object
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// How hard to look.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// One race per pair of program locations, or every pair of events
    #[arg(long, value_enum, default_value_t = PairsArg::Location)]
    pub(crate) pairs: PairsArg,
    /// How many events a schedule may rearrange in one piece: a number from 2 on, or `all`. For techniques that decide
    /// pairs one by one; the others always look at the whole trace
    #[arg(long, default_value = "all", value_parser = parse_window, value_name = "EVENTS")]
    pub(crate) window: Window,
    /// What to use of what is known about which reads matter, for reconp, rv-nre and auto
    #[arg(long, value_enum, default_value_t = Following::Full, value_name = "HOW")]
    pub(crate) dependence: Following,
    /// Stay on the way that the recorded run went: recipe and auto do not follow branches that it did not take
    #[arg(long)]
    pub(crate) no_unexplored: bool,
    /// How long one pair may take, such as 60s or 2m; with `--pairs location`, also all pairs of two locations together
    #[arg(long, default_value = "60s", value_parser = parse_duration)]
    pub(crate) budget: Duration,
    /// How long one technique may take for one trace in all, such as 90s or 10m, or `none`: reading it (or making it of what was recorded,
    /// in half of the time at most), deciding, and making the report readable. What is proven by then is told
    #[arg(long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION")]
    pub(crate) time_limit: TimeLimit,
    /// How many pairs to work on at the same time; as many as there are processors unless given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// How much memory may be used in all, such as 8G; what the system has unless given. Near that, what is proven is told
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
}

impl SearchArgs {
    /// The plan for one technique.
    pub(crate) fn plan(&self, choice: Choice, witness_steps: usize, max_races: MaxRaces) -> Plan {
        Plan {
            choice,
            pairs: self.pairs.into(),
            witness_steps,
            max_races: max_races.0,
            window: self.window.0,
            budget: self.budget,
            time_limit: self.time_limit.0,
            unexplored: !self.no_unexplored,
            jobs: jobs(self.jobs),
            memory: self.memory,
        }
    }
}

/// How far values are followed to find out which reads matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Following {
    /// All that the recorder knows
    Full,
    /// As ReconP's paper does it: only what other threads wrote is followed, and reads of what the own thread wrote are all kept
    Partial,
    /// Nothing: every read before a branch matters
    None,
}

impl Following {
    /// The trace with what is to be used.
    pub(crate) fn apply(self, trace: Trace) -> Trace {
        match self {
            Following::Full => trace,
            Following::None => trace.without_dependence(),
            // Whoever computes values knows more than that.
            Following::Partial => foretell_depend::to_partial(trace).without_values(),
        }
    }
}

/// So many workers, or as many as there are processors.
pub(crate) fn jobs(given: Option<u16>) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(processors, usize::from)
}

/// How many events a schedule may rearrange in one piece, if not all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window(pub(crate) Option<usize>);

/// How long one technique may take for one trace, if there is a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimit(pub(crate) Option<Duration>);

/// How many races a report may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxRaces(usize);

impl MaxRaces {
    /// Nobody reads more, and each takes a kilobyte.
    pub(crate) const DEFAULT: MaxRaces = MaxRaces(100_000);
}

impl fmt::Display for MaxRaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Only of this kind: what `predict`, `run` and `compare` print, the word on one pair, what `explore` prints of traces or of
    /// programs, or what `trace stats` prints
    #[arg(value_parser = PossibleValuesParser::new(foretell_report::schema::KINDS))]
    pub(crate) kind: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Could a program have produced this? Reports everything that is wrong, and reads that no write explains
    Check {
        /// The trace; `-` is standard input
        trace: PathBuf,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Count threads, variables, locks and operations
    Stats {
        /// The trace; `-` is standard input
        trace: PathBuf,
        /// How to print the figures
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Write the trace in another format
    Convert {
        /// The trace; `-` is standard input
        trace: PathBuf,
        /// Where to write; its ending tells format and compression (.std .csv .rr .ftr .json, then .gz or .zst); `-` is
        /// standard output
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// The format to write, if the name of the output does not tell; `chrome` is a timeline for ui.perfetto.dev and
        /// chrome://tracing
        #[arg(long, value_parser = form_parser())]
        to: Option<Form>,
        /// Leave out values, locations and thread names that the format cannot express, instead of refusing
        #[arg(long)]
        lossy: bool,
        /// Mark the races of this report in a timeline: JSON, as `foretell predict --format json -o FILE` writes it
        #[arg(long, value_name = "REPORT")]
        report: Option<PathBuf>,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Print the code of a recorded program, as it was instrumented, from its raw log
    Code {
        /// The raw log: a `.ftraw` file in the folder that FORETELL_LOG names
        log: PathBuf,
        /// Instead, compute again what the program has computed from what it has read, and compare that with the log
        #[arg(long)]
        check: bool,
    },
    /// Browse the events in the terminal, a lane for each thread; where there is no terminal, print them
    View {
        /// The trace; `-` is standard input
        trace: PathBuf,
        /// Browse the races of this report, too: JSON, as `foretell predict --format json -o FILE` writes it
        #[arg(long, value_name = "REPORT", conflicts_with_all = ["list", "from", "count"])]
        report: Option<PathBuf>,
        /// Print the events, also in a terminal
        #[arg(long)]
        list: bool,
        /// Print from this event on
        #[arg(long, value_parser = parse_event, value_name = "EVENT")]
        from: Option<usize>,
        /// Print so many events: a number or `all`; 1000 unless given
        #[arg(long, value_parser = parse_limit, value_name = "EVENTS")]
        count: Option<usize>,
        #[command(flatten)]
        input: InputArgs,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The format of the input, if neither its name nor its content tells
    #[arg(long, value_parser = format_parser(), value_name = "FORMAT")]
    pub(crate) from_format: Option<Format>,
    /// Never draw progress bars
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// What was asked for as a technique.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// The sound techniques together.
    Auto,
    One(Technique),
}

impl Choice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::One(technique) => technique.name(),
        }
    }

    /// The techniques to run, one after the other.
    pub(crate) fn stages(self) -> Vec<Technique> {
        match self {
            Choice::Auto => Technique::AUTO.to_vec(),
            Choice::One(technique) => vec![technique],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PairsArg {
    /// One race per pair of program locations
    Location,
    /// Every pair of events
    All,
}

impl From<PairsArg> for Pairs {
    fn from(pairs: PairsArg) -> Pairs {
        match pairs {
            PairsArg::Location => Pairs::ByLocation,
            PairsArg::All => Pairs::All,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RuleArg {
    /// All that makes the runs of the slice runs of the program
    Sound,
    /// What the paper on sliced causality keeps, to compare with: its races prove nothing
    Published,
}

/// How a report about races is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people at a terminal
    Text,
    /// For programs, and for `foretell explain`
    Json,
    /// For people with a browser: one file
    Html,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test dashboards: JUnit's XML
    Junit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

fn technique_parser() -> impl clap::builder::TypedValueParser<Value = Choice> {
    let names = Technique::ALL.iter().map(|technique| technique.name());
    PossibleValuesParser::new(names.chain(["auto"]))
        .map(|name| Technique::from_name(&name).map_or(Choice::Auto, Choice::One))
}

fn technique_help() -> String {
    let mut help = String::from("How to look for races; several may be given, separated by commas:\n");
    for technique in Technique::ALL {
        help.push_str(&format!("  {:<10} {}\n", technique.name(), technique.summary()));
    }
    let stages = Technique::AUTO.map(Technique::name).join(", then ");
    help.push_str(&format!("  {:<10} {stages}, each on what is not proven yet", "auto"));
    help
}

/// What a trace can be converted into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Something that can be read again.
    Trace(Format),
    /// A timeline for other viewers.
    Timeline,
}

impl Form {
    /// All of them.
    fn all() -> impl Iterator<Item = Form> {
        Format::ALL.into_iter().map(Form::Trace).chain([Form::Timeline])
    }

    /// The name that messages and the command line use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Trace(format) => format.name(),
            Form::Timeline => "chrome",
        }
    }
}

fn form_parser() -> impl clap::builder::TypedValueParser<Value = Form> {
    PossibleValuesParser::new(Form::all().map(Form::name))
        .map(|name| Form::all().find(|form| form.name() == name).unwrap_or(Form::Timeline))
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Text))
}

/// A number of seconds or minutes: `90`, `90s`, `1.5m`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or("expected a time such as 60s or 2m".to_string())
}

fn parse_time_limit(text: &str) -> Result<TimeLimit, String> {
    if text == "none" {
        return Ok(TimeLimit(None));
    }
    let limit = parse_duration(text).map_err(|_| "expected a time such as 90s or 10m, or `none`".to_string());
    Ok(TimeLimit(Some(limit?)))
}

fn parse_max_races(text: &str) -> Result<MaxRaces, String> {
    if text == "all" {
        return Ok(MaxRaces(usize::MAX));
    }
    let number = text.parse().ok().filter(|&number| number > 0);
    number.map(MaxRaces).ok_or("expected a number from 1 on, or `all`".to_string())
}

fn parse_bound(text: &str) -> Result<Bound, String> {
    match text {
        "none" => Ok(Bound(None)),
        number => number
            .parse()
            .map(|number| Bound(Some(number)))
            .map_err(|_| "expected a number or `none`".to_string()),
    }
}

fn parse_window(text: &str) -> Result<Window, String> {
    if text == "all" {
        return Ok(Window(None));
    }
    let events = text.parse().ok().filter(|&events| events >= 2);
    events
        .map(|events| Window(Some(events)))
        .ok_or("expected a number of events from 2 on, or `all`".to_string())
}

/// A number of bytes: `2000000`, `500M`, `8G`.
fn parse_size(text: &str) -> Result<u64, String> {
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];
    let (number, unit) = units
        .iter()
        .find_map(|&(letter, unit)| Some((text.strip_suffix(letter)?, unit)))
        .unwrap_or((text, 1_u64));
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.ok_or("expected a size such as 500M or 8G".to_string())
}

/// A size that has room for something.
fn parse_log_limit(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    parse_size(text)
        .ok()
        .filter(|&bytes| bytes >= LEAST)
        .ok_or("expected a size from 1M on, such as 500M or 8G".to_string())
}

fn parse_strategy(text: &str) -> Result<Name, String> {
    let names = Name::ALL.map(|(name, _)| name).join(", ");
    text.parse().map_err(|()| format!("expected one of {names}"))
}

/// Two different events, the smaller number first.
fn parse_pair(text: &str) -> Result<(u32, u32), String> {
    let event = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
    let pair = text.split_once(',').and_then(|(a, b)| Some((event(a)?, event(b)?)));
    match pair {
        Some((a, b)) if a == b => Err("expected two different events".to_string()),
        Some((a, b)) => Ok((a.min(b), a.max(b))),
        None => Err("expected the numbers of two events, such as 3,10".to_string()),
    }
}

fn parse_event(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or("expected the number of an event, from 1 on".to_string())
}

fn parse_limit(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        "none" => Ok(0),
        number => number.parse().map_err(|_| "expected a number, `all` or `none`".to_string()),
    }
}
