//! `foretell run`: run a program once, record what it does, find races in it, and drive the program into each.

use crate::analysis::outcome;
use crate::args::RunArgs;
use crate::error::{Failure, Failures};
use crate::front_end::{Cimp, Examined, FrontEnd, Language, Native};
use crate::predict::write_decisions;
use crate::render::write_reports;
use crate::suppress::Rules;
use crate::trace::convert;
use crate::{Outcome, output, stop};

pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let language = Language::of(&args.program);
    language.check(&args.program, &args.arguments, args.separated)?;
    check_outputs(args)?;
    match language {
        Language::Cimp => run_once(args, || Cimp::new(&args.program)),
        Language::Native => run_once(args, || Native::new(&args.program, &args.arguments, &args.libraries)),
    }
}

/// Whether all files can be written, to be asked before the program runs.
fn check_outputs(args: &RunArgs) -> Result<(), Failure> {
    args.wanted.check_find()?;
    args.wanted.report.check_outputs()?;
    args.trace.as_deref().map_or(Ok(()), convert::check_target)?;
    let others = [&args.flow, &args.evidence, &args.schedule.triggers];
    others.into_iter().flatten().try_for_each(|path| output::check(path))
}

/// Runs the program and reports what is found. A file that cannot be written does not keep the others from being
/// written.
fn run_once<F: FrontEnd>(
    args: &RunArgs,
    open: impl FnOnce() -> Result<F, Failure>,
) -> Result<Outcome, Failure> {
    F::check_run(args)?;
    stop::listen()?;
    let rules = Rules::load(&args.wanted.report)?;
    let program = open()?;
    let mut failures = Failures::default();
    let mut recording = program.record_once(args)?;
    failures.keep(program.save(&recording, args));
    let found = match program.examine_once(&mut recording, args)? {
        Examined::Reports(mut reports) => {
            rules.apply(&mut reports);
            failures.keep(program.confirm(args, &mut reports));
            failures.keep(write_reports(&reports, &args.wanted.report));
            failures.into_result()?;
            program.pack_evidence(&recording, args, &reports)?;
            reports.iter().map(outcome).max().unwrap_or(Outcome::Clean)
        }
        Examined::Decisions(decisions) => {
            let found = failures.keep(write_decisions(&decisions, &args.wanted));
            failures.into_result()?;
            found.unwrap_or(Outcome::Clean)
        }
    };
    Ok(found.max(program.ending(&recording)))
}
