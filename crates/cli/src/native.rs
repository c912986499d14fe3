//! Programs in C, C++ and Rust, built with the compiler pass, and in Java: run with the recorder inside, and looked at
//! like any other trace.

mod cargo;
mod command_line;
pub(crate) mod compiler;
pub(crate) mod distribution;
mod evidence;
mod folder;
mod guard;
pub(crate) mod java;
pub(crate) mod mapped;
pub(crate) mod processes;
pub(crate) mod record;
mod replay;
pub(crate) mod rotate;
mod rust;
mod sysroot;
mod tests;
pub(crate) mod tools;
pub(crate) mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use foretell_engine::untaken::Branches;
use foretell_engine::witness_schedule::Origin;
use foretell_engine::{Description, Input, Plan, UntakenBranches};
use foretell_native::{DetourLimits, Follow};
use foretell_report::{Report, repeats};
use foretell_schedule::Name;

pub(crate) use cargo::run as cargo;
pub(crate) use compiler::Language;
pub(crate) use guard::become_guard;
pub(crate) use replay::{Drive, drive};
pub(crate) use rust::{become_compiler, is_rust};

use crate::analysis::Measured;
use crate::args::{CompilerArgs, InputArgs, LibraryArgs, RecordArgs, RunArgs, WantedArgs};
use crate::error::{Failure, Failures};
use crate::input::TraceFile;
use crate::stop::{TimeLimit, Watch};
use crate::trace::convert;
use crate::{Outcome, memory, output, stop};
use mapped::Mapped;
use record::{Folder, GONE, Hunting, Manner, Recording};
use tools::{Tools, models_of_user};

/// `foretell cc` and `foretell c++`: becomes the compiler.
pub(crate) fn compile(args: &CompilerArgs, language: Language) -> Result<Outcome, Failure> {
    Err(compiler::become_compiler(&Tools::find()?, language, &args.arguments))
}

/// `foretell rustc`: becomes the compiler.
pub(crate) fn compile_rust(args: &CompilerArgs) -> Result<Outcome, Failure> {
    Err(rust::become_rustc(&Tools::find_for_rust()?, &args.arguments))
}

/// `foretell record`: runs a command and keeps what its processes did.
pub(crate) fn record(args: &RecordArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::Usage("which command?".to_string()));
    };
    convert::check_target(&args.output)?;
    let folder = Folder::new()?.within(args.time_limit.0);
    let program = Path::new(program);
    let hunting = Hunting {
        strategy: args.strategy,
        depth: args.depth,
        steps: args.steps,
        triggers: args.triggers.as_deref(),
    };
    let (seed, order, stop_after) = (args.seed, args.order, args.stop_after);
    let manner = Manner { name: program, seed, order, stop_after, log: args.log, hunting };
    let mut outcome = Outcome::Clean;
    for (index, recording) in record::run(program, arguments, manner, &folder)?.iter().enumerate() {
        let (trace, path) = (&recording.trace, record::numbered(&args.output, index));
        convert::save(trace, &path)?;
        let (events, threads) = (trace.events().len(), trace.thread_count());
        let cut = recording.cut_because.as_ref().map(|why| format!(", cut short: {why}")).unwrap_or_default();
        output::note(&format!("{}: {events} events of {threads} threads{cut}", path.display()));
        if recording.unread.is_some() || recording.is_full {
            outcome = Outcome::Incomplete;
        }
    }
    Ok(outcome)
}

/// Refuses options of `foretell run` that only CIMP programs have, and schedules that only they can follow.
pub(crate) fn check_run(args: &RunArgs) -> Result<(), Failure> {
    args.wanted.refuse_slice()?;
    let given = [("--flow", args.flow.is_some()), ("--loops", args.loops.is_some())];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(format!("{option} is for .cimp programs only")));
    }
    manner(args).map(|_| ())
}

/// What the processes of one run did.
pub(crate) struct Recorded {
    recordings: Vec<Recording>,
    /// Where their logs are.
    logs: Folder,
}

/// Runs the program once and records it.
pub(crate) fn record_once(program: &Path, args: &RunArgs) -> Result<Recorded, Failure> {
    // A trace that is saved has everything.
    let follow = if args.trace.is_some() { Follow::Values } else { args.wanted.follow() };
    let logs = Folder::new()?.following(follow).within(args.wanted.search.time_limit.0);
    let recordings = record::run(program, &args.arguments, manner(args)?, &logs)?;
    Ok(Recorded { recordings, logs })
}

impl Recorded {
    /// Saves a trace for each process, if they are wanted.
    pub(crate) fn save(&self, args: &RunArgs) -> Result<(), Failure> {
        let Some(path) = &args.trace else { return Ok(()) };
        let mut failures = Failures::default();
        for (index, recording) in self.recordings.iter().enumerate() {
            failures.keep(convert::save(&recording.trace, &record::numbered(path, index)));
        }
        failures.into_result()
    }

    /// The reports on all processes, whose traces are not kept.
    pub(crate) fn examine(&mut self, args: &RunArgs) -> Result<Vec<Report>, Failure> {
        let mut reports = Vec::new();
        for (index, recording) in std::mem::take(&mut self.recordings).into_iter().enumerate() {
            reports.extend(predict(args, recording, index)?);
        }
        repeats::mark(&mut reports);
        Ok(reports)
    }

    /// Packs the logs and reports, if that is wanted.
    pub(crate) fn pack_evidence(&self, args: &RunArgs, reports: &[Report]) -> Result<(), Failure> {
        args.evidence.as_ref().map_or(Ok(()), |target| evidence::pack(target, args, &self.logs, reports))
    }
}

/// How the program is recorded.
fn manner(args: &RunArgs) -> Result<Manner<'_>, Failure> {
    let schedule = &args.schedule;
    let (strategy, depth) = (strategy(&schedule.schedule)?, schedule.depth);
    let hunting = Hunting { strategy, depth, steps: None, triggers: schedule.triggers.as_deref() };
    let (seed, order, stop_after) = (schedule.seed, args.order, args.stop_after);
    Ok(Manner { name: &args.program, seed, order, stop_after, log: args.log, hunting })
}

/// The strategy of this name; none for the usual turns.
fn strategy(name: &str) -> Result<Option<Name>, Failure> {
    let names = Name::ALL.map(|(name, _)| name).join(", ");
    let unknown = |()| {
        let problem =
            format!("a native program cannot run under --schedule {name}; expected serial, {names}");
        Failure::Usage(problem)
    };
    if name == "serial" { Ok(None) } else { name.parse().map(Some).map_err(unknown) }
}

/// Whether a file is a program in C, C++, Rust or Java, by its name.
pub(crate) fn is_source(file: &Path) -> bool {
    is_rust(file) || java::is_java(file) || Language::of(file).is_some()
}

/// The program to run, and the folder that it was built in, if this is a source file.
pub(crate) fn build(program: &Path, libraries: &LibraryArgs) -> Result<(PathBuf, Option<Folder>), Failure> {
    // Java compiles its source files itself.
    if !is_source(program) || java::is_java(program) {
        if *libraries == LibraryArgs::default() {
            return Ok((program.to_path_buf(), None));
        }
        return Err(Failure::Usage(
            "models and the standard library are compiled into the program: name them when it is built, as in foretell cc --models FILE".to_string(),
        ));
    }
    let folder = Folder::new()?;
    let built = folder.path().join("program");
    match Language::of(program) {
        Some(language) => compiler::build(&Tools::find()?, language, program, &built, libraries)?,
        None => rust::build(&Tools::find_for_rust()?, program, &built, libraries)?,
    }
    Ok((built, Some(folder)))
}

/// The report of each technique on what one process did.
fn predict(args: &RunArgs, recording: Recording, process: usize) -> Result<Vec<Report>, Failure> {
    let RunArgs { program, arguments, wanted, no_progress, .. } = args;
    let (seed, no_progress) = (args.schedule.seed, *no_progress);
    let look = Look { name: program, program, arguments, seed, wanted, no_progress };
    look.at(recording, process, args.wanted.plans())
}

/// Drives the program into each race that is reported, if that is wanted.
pub(crate) fn confirm(args: &RunArgs, program: &Path, reports: &mut [Report]) -> Result<(), Failure> {
    if !args.confirm {
        return Ok(());
    }
    let limit = TimeLimit::rest()?;
    let drive = Drive {
        program,
        name: &args.program,
        arguments: &args.arguments,
        stop_after: args.stop_after,
        limit: Some(&limit),
        go_on: false,
        gdb: false,
        quietly: true,
    };
    for report in reports {
        if replay::confirm_all(drive, report)? && args.evidence.is_none() {
            report.evidence = Some(evidence::command(args));
        }
    }
    Ok(())
}

/// How it is looked at what a process did.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    /// What the program is called.
    pub(crate) name: &'a Path,
    /// What was run, to be run again.
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [OsString],
    pub(crate) seed: u64,
    pub(crate) wanted: &'a WantedArgs,
    pub(crate) no_progress: bool,
}

impl Look<'_> {
    /// The report of each technique.
    pub(crate) fn at(
        self,
        mut recording: Recording,
        process: usize,
        plans: impl Iterator<Item = Plan>,
    ) -> Result<Vec<Report>, Failure> {
        recording.trace = self.wanted.search.dependence.apply(recording.trace);
        plans.map(|plan| self.report(&recording, process, &plan)).collect()
    }

    fn report(self, recording: &Recording, process: usize, plan: &Plan) -> Result<Report, Failure> {
        let args = InputArgs { from_format: None, no_progress: self.no_progress };
        let file = TraceFile::new(self.name, &args);
        let limit = TimeLimit::start_after(plan.time_limit, recording.spent)?;
        let control = Watch::new(&file).within(&limit);
        let name = file.name();
        let branches = LogBranches { log: &recording.log, program: &name };
        // Who keeps recordings for later has no log any more.
        let is_known = self.wanted.follow() == Follow::Values && recording.log.exists();
        let untaken = is_known.then_some(&branches as &dyn UntakenBranches);
        let input = Input::of_trace(&name, &recording.trace).with_untaken(untaken);
        let text = |argument: &OsString| argument.to_string_lossy().into_owned();
        let arguments: Vec<String> = self.arguments.iter().map(text).collect();
        let program = self.program.display().to_string();
        let origin = Origin { program: &program, arguments: &arguments, seed: self.seed };
        // Only the first process can follow a schedule.
        let how = Description { origin: (process == 0).then_some(origin), ..self.wanted.description() };
        let mut report = Measured::new(&input, plan, &control)?.report(&input, &how, &file, &control)?;
        if recording.cut_because.is_none() {
            report.notes.extend(recording.unread.clone());
            report.complete &= recording.unread.is_none();
        }
        report.trace.cut_because.clone_from(&recording.cut_because);
        report.notes.extend(rests_on(&models_of_user(self.program)));
        if recording.is_survived {
            tell_that_it_is_survived(&mut report);
        }
        if let Some(coverage) = &mut report.trace.coverage {
            recording.unrecorded.programs.iter().for_each(|program| coverage.add_program(program));
            coverage.unrecorded_threads = recording.unrecorded.threads;
        }
        report.trace.shared_accesses = recording.shared_accesses;
        if process > 0 {
            report.trace.file = format!("{} (process {})", report.trace.file, process + 1);
        }
        Ok(report)
    }
}

/// What is found in a program that was built with models of its user holds only if these do.
fn rests_on(models: &[String]) -> Option<String> {
    const NAMED: usize = 5;
    let more = models.len().checked_sub(NAMED).filter(|&more| more > 0);
    let named = models.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let note = format!(
        "all findings rest on your models of {named}{more}: if one of them is wrong, a finding may be false"
    );
    (!models.is_empty()).then_some(note)
}

/// A process of the program was killed, which the program has coped with: what it did up to then is all there is.
fn tell_that_it_is_survived(report: &mut Report) {
    report.trace.cut_short = false;
    report.complete = !report.is_open();
    report.trace.cut_because =
        Some(format!("{GONE}; the program ended with exit code 0, so the recording counts as complete"));
}

/// The untaken branches of a native program, by the log of what it did.
struct LogBranches<'a> {
    log: &'a Path,
    program: &'a str,
}

impl UntakenBranches for LogBranches<'_> {
    fn branches(
        &self,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<Option<Branches<'_>>, Box<dyn std::error::Error + Send + Sync>> {
        let bytes = Mapped::open(self.log).map_err(|error| Failure::file(self.log, "read", error))?;
        let may_continue = || {
            bytes.pass_by();
            !memory::is_taken(2) && may_continue()
        };
        let found = foretell_native::detours(&bytes, &DetourLimits::default(), &may_continue)
            .map_err(|error| Failure::Usage(format!("the recording of {}: {error}", self.program)))?;
        Ok(found.map(|found| Box::new(found) as Branches<'_>))
    }
}
