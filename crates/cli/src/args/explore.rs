//! `explore`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::analysis::{InputArgs, OutputFormat};
use super::program::ScheduleArgs;
use super::texts::{self, heading};
use super::values::{Bound, TimeLimit, parse_bound, parse_size, parse_time_limit};
use crate::explore::property::Wanted;
use crate::slice::Purpose;

#[derive(Debug, clap::Args)]
pub(crate) struct ExploreArgs {
    /// Traces and CIMP programs to explore; `-` reads a trace from standard input
    ///
    /// Of a trace, all runs that it implies (its maximal causal model) are explored; of a program, all executions.
    #[arg(required = true, value_name = "TRACE|FILE.cimp")]
    pub(crate) files: Vec<PathBuf>,
    /// Run each program once, and explore what that run implies instead of all executions
    #[arg(long, help_heading = heading::ANALYSIS)]
    pub(crate) closure: bool,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    #[arg(
        long, value_parser = parse_bound, value_name = "N", help = texts::EXPLORE_LOOPS,
        help_heading = heading::LIMITS
    )]
    pub(crate) loops: Option<Bound>,
    /// Stop after visiting N states of a program
    #[arg(long, value_name = "N", default_value_t = 10_000_000, help_heading = heading::LIMITS)]
    pub(crate) max_states: usize,
    /// Check that PROPERTY holds in every state; repeatable
    #[arg(
        long, value_parser = Wanted::parse, value_name = "PROPERTY", long_help = Wanted::HELP,
        help_heading = heading::ANALYSIS
    )]
    pub(crate) property: Vec<Wanted>,
    #[arg(
        long, value_parser = Purpose::parse, value_name = "PROPERTY", help = texts::SLICE,
        long_help = Purpose::HELP, help_heading = heading::ANALYSIS
    )]
    pub(crate) slice: Option<Purpose>,
    /// Set what --slice keeps
    #[arg(
        long, value_enum, default_value_t = RuleArg::Sound, requires = "slice", value_name = "RULE",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) slice_rule: RuleArg,
    /// Look for races and check properties, but do not count runs
    #[arg(long, help_heading = heading::ANALYSIS)]
    pub(crate) races_only: bool,
    /// Limit the memory for states, such as 4G [default: a quarter of the system's memory]
    ///
    /// With 0, no state of a trace is kept, and every run is walked on its own.
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = heading::LIMITS)]
    pub(crate) memory: Option<u64>,
    /// Limit the time for one trace or program, such as 90s, 10m or `none`
    ///
    /// At the limit foretell reports what it knows so far; counts are then lower bounds.
    #[arg(
        long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION",
        help_heading = heading::LIMITS
    )]
    pub(crate) time_limit: TimeLimit,
    /// Stop after N steps in one trace (for programs: --max-states)
    #[arg(long, value_name = "N", help_heading = heading::LIMITS)]
    pub(crate) max_steps: Option<u64>,
    #[arg(
        long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N", help = texts::JOBS,
        help_heading = heading::LIMITS
    )]
    pub(crate) jobs: Option<u16>,
    #[arg(
        long, value_enum, default_value_t = OutputFormat::Text, help = texts::FORMAT,
        help_heading = heading::REPORT
    )]
    pub(crate) format: OutputFormat,
    #[arg(short, long, value_name = "FILE", help = texts::OUTPUT, help_heading = heading::REPORT)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RuleArg {
    /// Everything that makes the runs of the slice runs of the program
    Sound,
    /// What the paper on sliced causality keeps, for comparison: its races prove nothing
    Published,
}
