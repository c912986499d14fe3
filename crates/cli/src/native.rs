//! Programs in C and C++: built with the compiler pass, run with the recorder inside, and looked at like any other trace.

mod compiler;
mod record;
mod tools;

use std::ffi::OsString;
use std::path::Path;

use foretell_report::Report;
use foretell_trace::Trace;

pub(crate) use compiler::Language;

use crate::analysis::{analyse, outcome};
use crate::args::{CompilerArgs, InputArgs, RecordArgs, RunArgs};
use crate::error::Failure;
use crate::input::Input;
use crate::predict::tell;
use crate::trace::convert;
use crate::{Outcome, stop};
use record::{Folder, How};
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
    let traces =
        record::run(Path::new(program), arguments, How { seed: args.seed, order: args.order }, &folder)?;
    for (index, trace) in traces.iter().enumerate() {
        convert::save(trace, &record::numbered(&args.output, index))?;
    }
    Ok(Outcome::Clean)
}

/// `foretell run`: builds the program if it is a source file, records it and finds races in what its processes did.
pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let how = How { seed: args.schedule.seed, order: args.order };
    let mut reports = Vec::new();
    for (index, trace) in traces(&args.program, &args.arguments, how)?.iter().enumerate() {
        if let Some(path) = &args.trace {
            convert::save(trace, &record::numbered(path, index))?;
        }
        reports.extend(predict(args, trace)?);
    }
    tell(&reports, &args.wanted)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// What the processes of a program or command did: one trace for each that is instrumented.
fn traces(program: &Path, arguments: &[OsString], how: How) -> Result<Vec<Trace>, Failure> {
    let folder = Folder::new()?;
    match Language::of(program) {
        Some(language) => {
            let built = folder.path().join("program");
            compiler::build(&Tools::find()?, language, program, &built)?;
            record::run(&built, arguments, how, &folder)
        }
        None => record::run(program, arguments, how, &folder),
    }
}

fn predict(args: &RunArgs, trace: &Trace) -> Result<Vec<Report>, Failure> {
    let input = Input::new(&args.program, &InputArgs { from_format: None, no_progress: args.no_progress });
    args.wanted.plans().map(|plan| analyse(&input, Some(trace), &plan)).collect()
}
