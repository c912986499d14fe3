//! Programs in C, C++ and Rust: built with the compiler pass, run with the recorder inside, and looked at like any other trace.

mod cargo;
mod compiler;
mod record;
mod rust;
mod tests;
mod tools;

use std::ffi::OsString;
use std::path::Path;

use foretell_report::Report;
use foretell_trace::Trace;

pub(crate) use cargo::run as cargo;
pub(crate) use compiler::Language;
pub(crate) use rust::become_compiler;

use crate::analysis::{analyse, outcome};
use crate::args::{CompilerArgs, InputArgs, RecordArgs, RunArgs, WantedArgs};
use crate::error::Failure;
use crate::input::Input;
use crate::predict::tell;
use crate::trace::convert;
use crate::{Outcome, stop};
use record::Folder;
use tools::Tools;

/// `foretell cc` and `foretell c++`: becomes the compiler.
pub(crate) fn compile(args: &CompilerArgs, language: Language) -> Result<Outcome, Failure> {
    Err(compiler::become_compiler(&Tools::find()?, language, &args.arguments))
}

/// `foretell record`: runs a command and keeps what its processes did.
pub(crate) fn record(args: &RecordArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::Usage("which command?".to_string()));
    };
    let folder = Folder::new()?;
    let traces = record::run(Path::new(program), arguments, args.seed, &folder)?;
    for (index, trace) in traces.iter().enumerate() {
        convert::save(trace, &record::numbered(&args.output, index))?;
    }
    Ok(Outcome::Clean)
}

/// `foretell run`: builds the program if it is a source file, records it and finds races in what its processes did.
pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let mut reports = Vec::new();
    for (index, trace) in traces(&args.program, &args.arguments, args.schedule.seed)?.iter().enumerate() {
        if let Some(path) = &args.trace {
            convert::save(trace, &record::numbered(path, index))?;
        }
        reports.extend(predict(args, trace)?);
    }
    tell(&reports, &args.wanted)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// What the processes of a program or command did: one trace for each that is instrumented.
fn traces(program: &Path, arguments: &[OsString], seed: u64) -> Result<Vec<Trace>, Failure> {
    let folder = Folder::new()?;
    let built = folder.path().join("program");
    if rust::is_rust(program) {
        rust::build(&Tools::find()?, program, &built)?;
        return record::run(&built, arguments, seed, &folder);
    }
    match Language::of(program) {
        Some(language) => {
            compiler::build(&Tools::find()?, language, program, &built)?;
            record::run(&built, arguments, seed, &folder)
        }
        None => record::run(program, arguments, seed, &folder),
    }
}

fn predict(args: &RunArgs, trace: &Trace) -> Result<Vec<Report>, Failure> {
    predict_as(&args.program, &args.wanted, args.no_progress, trace)
}

/// The races of a trace that the report calls by this name.
fn predict_as(
    name: &Path,
    wanted: &WantedArgs,
    no_progress: bool,
    trace: &Trace,
) -> Result<Vec<Report>, Failure> {
    let input = Input::new(name, &InputArgs { from_format: None, no_progress });
    wanted.plans().map(|plan| analyse(&input, Some(trace), &plan)).collect()
}
