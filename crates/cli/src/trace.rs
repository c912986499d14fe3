//! `foretell trace`: look at traces.

#[cfg(feature = "browser")]
mod browse;
#[cfg(not(feature = "browser"))]
#[path = "trace/no_browser.rs"]
mod browse;
mod check;
mod code;
pub(crate) mod convert;
mod stats;
mod view;

use std::fs;
use std::path::Path;

use foretell_view::races::Reports;

use crate::Outcome;
use crate::args::{TraceArgs, TraceCommand};
use crate::error::Failure;
use crate::input::TraceFile;

/// How many events are printed by default.
const LISTED: usize = 1000;

pub(crate) fn run(args: &TraceArgs) -> Result<Outcome, Failure> {
    match &args.command {
        TraceCommand::Check { trace, input } => check::run(&TraceFile::new(trace, input)),
        TraceCommand::Stats { trace, format, input } => stats::run(&TraceFile::new(trace, input), *format),
        TraceCommand::Convert { trace, output, to, lossy, report, input } => {
            convert::run(&TraceFile::new(trace, input), output, *to, *lossy, report.as_deref())
        }
        TraceCommand::Code { log, check } => code::run(log, *check),
        TraceCommand::View { trace, report, list, from, count, input } => {
            let input = TraceFile::new(trace, input);
            let is_listing = *list || from.is_some() || count.is_some();
            match report {
                _ if !is_listing && browse::is_possible() => browse::run(&input, report.as_deref()),
                Some(_) => Err(Failure::Usage(browse::REPORT_NEEDS.to_string())),
                None => view::run(&input, from.unwrap_or(1), count.unwrap_or(LISTED)),
            }
        }
    }
}

/// The reports in this file.
fn reports(path: &Path) -> Result<Reports, Failure> {
    let json = fs::read_to_string(path).map_err(|error| Failure::file(path, "read", error))?;
    Reports::parse(&json).map_err(|wrong| Failure::Usage(format!("{}: {wrong}", path.display())))
}
