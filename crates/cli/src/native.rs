//! Programs in C, C++ and Rust: built with the compiler pass, run with the recorder inside, and looked at like any other trace.

mod cargo;
mod compiler;
mod processes;
mod record;
mod rust;
mod tests;
mod tools;
mod watch;

use std::path::Path;

use foretell_report::{Report, repeats};

pub(crate) use cargo::run as cargo;
pub(crate) use compiler::Language;
pub(crate) use rust::become_compiler;

use crate::analysis::held::Held;
use crate::analysis::{Plan, outcome};
use crate::args::{CompilerArgs, InputArgs, RecordArgs, RunArgs, WantedArgs};
use crate::error::Failure;
use crate::input::Input;
use crate::predict::predict_with;
use crate::render::tell;
use crate::suppress::Rules;
use crate::trace::convert;
use crate::{Outcome, output, stop};
use record::{Folder, Manner, Recording};
use tools::Tools;

/// `foretell cc` and `foretell c++`: becomes the compiler.
pub(crate) fn compile(args: &CompilerArgs, language: Language) -> Result<Outcome, Failure> {
    Err(compiler::become_compiler(&Tools::find()?, language, &args.arguments))
}

/// `foretell rustc`: becomes the compiler.
pub(crate) fn compile_rust(args: &CompilerArgs) -> Result<Outcome, Failure> {
    Err(rust::become_rustc(&Tools::find()?, &args.arguments))
}

/// `foretell record`: runs a command and keeps what its processes did.
pub(crate) fn record(args: &RecordArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::Usage("which command?".to_string()));
    };
    convert::check_target(&args.output)?;
    let folder = Folder::new()?;
    let program = Path::new(program);
    let manner = Manner { name: program, seed: args.seed, order: args.order, stop_after: args.stop_after };
    for (index, recording) in record::run(program, arguments, manner, &folder)?.iter().enumerate() {
        let (trace, path) = (&recording.trace, record::numbered(&args.output, index));
        convert::save(trace, &path)?;
        let (events, threads) = (trace.events().len(), trace.thread_count());
        let cut = recording.cut_because.as_ref().map(|why| format!(", cut short: {why}")).unwrap_or_default();
        output::note(&format!("{}: {events} events of {threads} threads{cut}", path.display()));
    }
    Ok(Outcome::Clean)
}

/// `foretell run`: builds the program if it is a source file, records it and finds races in what its processes did.
pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    args.trace.as_deref().map_or(Ok(()), convert::check_target)?;
    let rules = Rules::load(&args.wanted)?;
    let mut reports = Vec::new();
    for (index, recording) in recordings(args)?.into_iter().enumerate() {
        if let Some(path) = &args.trace {
            convert::save(&recording.trace, &record::numbered(path, index))?;
        }
        reports.extend(predict(args, recording, index)?);
    }
    repeats::mark(&mut reports);
    rules.apply(&mut reports);
    tell(&reports, &args.wanted)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// What the processes of a program or command did: one recording for each that is instrumented.
fn recordings(args: &RunArgs) -> Result<Vec<Recording>, Failure> {
    let (program, arguments) = (&args.program, &args.arguments);
    let (seed, order, stop_after) = (args.schedule.seed, args.order, args.stop_after);
    let manner = Manner { name: program, seed, order, stop_after };
    // A trace that is kept tells everything.
    let folder =
        Folder::new()?.following(args.trace.is_some() || args.wanted.search.dependence.is_asked_for());
    let built = folder.path().join("program");
    if rust::is_rust(program) {
        rust::build(&Tools::find()?, program, &built)?;
        return record::run(&built, arguments, manner, &folder);
    }
    match Language::of(program) {
        Some(language) => {
            compiler::build(&Tools::find()?, language, program, &built)?;
            record::run(&built, arguments, manner, &folder)
        }
        None => record::run(program, arguments, manner, &folder),
    }
}

/// The report of each technique on what one process did.
fn predict(args: &RunArgs, recording: Recording, process: usize) -> Result<Vec<Report>, Failure> {
    predict_as(&args.program, &args.wanted, args.no_progress, recording, process)
}

/// The report of each technique on what one process of the program with this name did.
fn predict_as(
    name: &Path,
    wanted: &WantedArgs,
    no_progress: bool,
    recording: Recording,
    process: usize,
) -> Result<Vec<Report>, Failure> {
    let trace = wanted.search.dependence.apply(recording.trace);
    let input = Input::new(name, &InputArgs { from_format: None, no_progress });
    let report = |plan: Plan| {
        let mut report = predict_with(&plan, &Held::new(&input, Some(&trace)), wanted)?;
        report.trace.cut_because.clone_from(&recording.cut_because);
        if process > 0 {
            report.trace.file = format!("{} (process {})", report.trace.file, process + 1);
        }
        Ok(report)
    };
    wanted.plans().map(report).collect()
}
