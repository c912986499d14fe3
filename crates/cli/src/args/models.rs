//! `models`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models of library functions
    List {
        /// Add the models of this file, or replace existing ones
        #[arg(long = "models", value_name = "FILE")]
        files: Vec<PathBuf>,
        /// List only functions whose names contain this text
        name: Option<String>,
    },
    /// Check files with models
    Check {
        /// Files with models
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a file of models to fill in, for the functions that caused most fences
    Suggest {
        /// JSON report that `-o report.json` has written
        #[arg(value_name = "REPORT.json")]
        report: PathBuf,
    },
}
