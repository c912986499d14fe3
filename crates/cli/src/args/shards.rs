//! Commands for traces that do not fit into memory, and for more machines than one: `plan`, `merge`.

use std::path::PathBuf;

use super::analysis::InputArgs;
use super::report::ReportArgs;
use super::texts::{self, heading};
use super::values::{Share, parse_shard_events};

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    #[arg(value_name = "TRACE", help = texts::TRACE)]
    pub(crate) trace: PathBuf,
    /// Write the plan and its shards to this folder, which must be new or empty
    #[arg(short, long, value_name = "DIR", help_heading = heading::REPORT)]
    pub(crate) output: PathBuf,
    /// Set how many events a shard has; neighbours overlap by half
    ///
    /// Only accesses that lie less than half as many events apart are sure to be in a common shard. To decide a shard
    /// takes about 150 bytes of memory for each of its events.
    #[arg(
        long, default_value = "1000000", value_parser = parse_shard_events, value_name = "N",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) shard_events: usize,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Reports of all shards of one plan, as `foretell predict --plan` writes them; in any order
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Which shards of which plan are analysed.
#[derive(Debug, clap::Args)]
pub(crate) struct ShardArgs {
    /// Analyse shards of this plan instead of a trace, and write a report for `foretell merge`
    ///
    /// `foretell plan TRACE -o DIR` makes the plan (docs/large-traces.md).
    #[arg(
        long, value_name = "DIR", conflicts_with_all = ["traces", "pair", "find", "slice", "baseline", "suppressions"],
        help_heading = heading::INPUT
    )]
    pub(crate) plan: Option<PathBuf>,
    /// Keep what was found so far in this folder, and go on with it after an interruption or a crash
    ///
    /// For a trace that does not fit into memory: it is analysed in shards (docs/large-traces.md). The report is the
    /// same as without an interruption.
    #[arg(
        long, value_name = "DIR", conflicts_with_all = ["plan", "pair", "slice"], help_heading = heading::LIMITS
    )]
    pub(crate) state: Option<PathBuf>,
    /// Analyse the K-th of N shares of the shards [default: 1/1]
    #[arg(
        long, value_parser = Share::parse, value_name = "K/N", requires = "plan", help_heading = heading::INPUT
    )]
    pub(crate) shard: Option<Share>,
}
