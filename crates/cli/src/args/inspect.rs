//! Commands that look at a report or a certificate: `explain`, `schema`, `check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use foretell_engine::Choice;

use super::analysis::{InputArgs, OutputFormat, technique_parser};
use super::texts::{self, heading};
use super::values::{
    TimeLimit, Window, parse_duration, parse_event, parse_pair, parse_size, parse_time_limit, parse_window,
};

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The trace, as it was given to `foretell predict --certify`
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// The folder with the certificate
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Also write to DIR what the certificates leave to prove once their axioms are believed
    ///
    /// Each certificate becomes two files, a formula (1.cnf, format DIMACS) and the proof that it has no solution
    /// (1.lrat, format LRAT), for any checker of such proofs.
    #[arg(long, value_name = "DIR", help_heading = heading::REPORT)]
    pub(crate) lrat: Option<PathBuf>,
    /// Limit the time, such as 90s, 10m or `none`
    #[arg(
        long, default_value = "none", value_parser = parse_time_limit, value_name = "DURATION",
        help_heading = heading::LIMITS
    )]
    pub(crate) time_limit: TimeLimit,
    #[arg(
        long, value_parser = parse_size, value_name = "SIZE", help = texts::MEMORY,
        long_help = texts::MEMORY_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// JSON report that `-o report.json` has written; `-` reads standard input
    #[arg(value_name = "REPORT.json")]
    pub(crate) file: PathBuf,
    #[arg(
        long, value_parser = parse_event, value_name = "K", help = texts::REPORT_NUMBER,
        help_heading = heading::INPUT
    )]
    pub(crate) report: Option<usize>,
    #[arg(
        long, value_parser = parse_event, value_name = "N", conflicts_with_all = ["candidate", "pair"],
        help = texts::RACE, help_heading = heading::INPUT
    )]
    pub(crate) race: Option<usize>,
    /// Select the undecided pair with this number
    #[arg(
        long, value_parser = parse_event, value_name = "N", conflicts_with = "pair",
        help_heading = heading::INPUT
    )]
    pub(crate) candidate: Option<usize>,
    /// Decide any pair: two events such as 3,10, or two lines such as bank.c:14,bank.c:31
    ///
    /// Prints a witness if the pair races, and the reason if it does not. Of two lines, the nearest accesses are tried
    /// first.
    #[arg(long, value_parser = Asked::parse, value_name = "A,B", help_heading = heading::INPUT)]
    pub(crate) pair: Option<Asked>,
    /// Read the trace of the report from here [default: the path in the report]
    ///
    /// With the trace at hand, the referee checks the proof again.
    #[arg(long, value_name = "TRACE", help_heading = heading::INPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Choose which steps of the schedule to show
    #[arg(
        long, value_enum, default_value_t = Steps::Essence, value_name = "STEPS",
        help_heading = heading::REPORT
    )]
    pub(crate) witness: Steps,
    /// Choose the technique that decides a pair [default: that of the report]
    #[arg(short, long, value_parser = technique_parser(), help_heading = heading::ANALYSIS)]
    pub(crate) technique: Option<Choice>,
    #[arg(
        long, default_value = "all", value_parser = parse_window, value_name = "EVENTS",
        help = texts::WINDOW, long_help = texts::WINDOW_LONG, help_heading = heading::ANALYSIS
    )]
    pub(crate) window: Window,
    #[arg(
        long, default_value = "60s", value_parser = parse_duration, value_name = "DURATION",
        help = texts::BUDGET, help_heading = heading::LIMITS
    )]
    pub(crate) budget: Duration,
    #[arg(
        long, value_parser = parse_size, value_name = "SIZE", help = texts::MEMORY,
        long_help = texts::MEMORY_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) memory: Option<u64>,
    #[arg(short, long, value_name = "FILE", help = texts::OUTPUT, help_heading = heading::REPORT)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// Which steps of a schedule are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Steps {
    /// The steps that matter to the race
    Essence,
    /// Every step
    All,
}

/// A pair that the user asks about.
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
pub(crate) struct CompletionsArgs {
    /// Shell to complete commands in
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Command to describe [default: foretell itself]
    pub(crate) command: Option<String>,
    /// Write the pages of all commands into this folder instead
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command", help_heading = heading::REPORT)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    #[arg(
        long, value_enum, default_value_t = OutputFormat::Text, help = texts::FORMAT,
        help_heading = heading::REPORT
    )]
    pub(crate) format: OutputFormat,
    /// Limit the time for each check, such as 20s
    #[arg(
        long, default_value = "20s", value_parser = parse_duration, value_name = "DURATION",
        help_heading = heading::LIMITS
    )]
    pub(crate) time_limit: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Print only the schema of this kind of output [default: all]
    ///
    /// report: predict, run, hunt and compare; decision: one pair; exploration: explore of a trace; program: explore
    /// of a program; statistics: trace stats.
    #[arg(value_parser = PossibleValuesParser::new(foretell_report::schema::KINDS))]
    pub(crate) kind: Option<String>,
}
