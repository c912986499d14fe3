//! How races are reported: options of all commands that find some, or put together what others have found.

use std::path::PathBuf;

use clap::ValueEnum;

use super::texts::heading;
use super::values::parse_limit;

/// How a report is written, and what of it.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Set the output format [default: text, or as the name of --output says]
    #[arg(long, value_enum, help_heading = heading::REPORT)]
    pub(crate) format: Option<ReportFormat>,
    /// Write the report to FILE instead of standard output; repeatable
    ///
    /// The file name extension sets the format: .txt .json .html .sarif .xml (JUnit). Each file is checked before any
    /// work begins, and has its name only once it is complete.
    #[arg(short, long, value_name = "FILE", help_heading = heading::REPORT)]
    pub(crate) output: Vec<PathBuf>,
    /// Limit how many witness steps all races together print: a number, `all` or `none`
    ///
    /// The referee checks every witness in any case. Text shows the steps that matter; with `all` it shows every step.
    #[arg(
        long, default_value = "1000000", value_parser = parse_limit, value_name = "STEPS",
        help_heading = heading::REPORT
    )]
    pub(crate) witness: usize,
    /// Suppress the races that FILE lists, one `race:PATTERN` per line [env: FORETELL_SUPPRESSIONS]
    ///
    /// The format is that of ThreadSanitizer's suppressions (docs/native.md). Suppressed races are counted, but do not
    /// change the exit code.
    #[arg(long, value_name = "FILE", help_heading = heading::REPORT)]
    pub(crate) suppressions: Option<PathBuf>,
    /// Report only races that this earlier JSON report does not contain; repeatable
    ///
    /// Known races are counted, but neither listed nor part of the exit code (docs/ci.md).
    #[arg(long, value_name = "OLD.json", help_heading = heading::REPORT)]
    pub(crate) baseline: Vec<PathBuf>,
}

/// The format of a report about races.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for a terminal
    Text,
    /// JSON, also the input of `explain` and `replay` (docs/json-report.md)
    Json,
    /// One HTML file for a browser (docs/report-html.md)
    Html,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// JUnit XML for test dashboards
    Junit,
}
