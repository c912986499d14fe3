//! The one test run: what passes here may be merged.

use std::process::ExitCode;

use xtask::process::must;
use xtask::setup;

use crate::tidy;

/// Formatting, lints, house rules, then all tests.
pub(crate) fn run() -> Result<ExitCode, String> {
    setup::run()?;
    must("cargo", &["fmt", "--all", "--check"])?;
    must("cargo", &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    tidy::run()?;
    must("cargo", &["test", "--workspace", "--no-fail-fast"])?;
    Ok(ExitCode::SUCCESS)
}
