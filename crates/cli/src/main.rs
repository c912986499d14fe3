//! `foretell`: the command line. Opens files, draws progress, sets exit codes; all else is in the libraries.

mod allocator;
mod analysis;
mod args;
mod baseline;
mod certify;
mod compare;
mod doctor;
mod error;
mod explain;
mod explore;
mod front_end;
mod hunt;
mod input;
mod manual;
mod memory;
mod models;
mod native;
mod output;
mod predict;
mod program;
mod progress;
mod render;
mod replay;
mod run;
mod screen;
mod shards;
mod shell;
mod slice;
mod sources;
mod stop;
mod suppress;
mod trace;

use std::process::ExitCode;

use args::{Args, Command};
use error::Failure;

/// What a run of the program comes to. The numbers are part of the interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// Nothing was found.
    Clean,
    /// Nothing was proven, but not everything was decided or explored.
    Undecided,
    /// Nothing was proven, and part of the input could not be read.
    Incomplete,
    /// A race is proven, or that a property does not hold.
    Race,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Race => 1,
            Outcome::Incomplete => 2,
            Outcome::Undecided => 3,
        })
    }
}

fn main() -> ExitCode {
    if let Some(code) = native::become_guard() {
        return code;
    }
    if let Some(failure) = native::become_compiler() {
        output::note(&failure.to_string());
        return ExitCode::from(2);
    }
    match Args::parse_words(std::env::args_os().collect()).and_then(run) {
        Ok(outcome) => outcome.into(),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            output::note(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> Result<Outcome, Failure> {
    screen::set_color(args.color);
    memory::bound(args.command.memory());
    match args.command {
        Command::Predict(args) => predict::run(&args),
        Command::Plan(args) => shards::plan(&args),
        Command::Merge(args) => shards::merge(&args),
        Command::Check(args) => certify::check(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Hunt(args) => hunt::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Record(args) => native::record(&args),
        Command::Cc(args) => native::compile(&args, native::Language::C),
        Command::Cpp(args) => native::compile(&args, native::Language::Cpp),
        Command::Rustc(args) => native::compile_rust(&args),
        Command::Java(args) => run(args.run_java()?),
        Command::Cargo(args) => native::cargo(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Schema(args) => render::print_schema(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::pages(&args),
    }
}
