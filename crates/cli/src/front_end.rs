//! Front ends: how the programs of a language are recorded, examined, and driven along a schedule.
//!
//! [`Cimp`] and [`Native`] implement [`FrontEnd`], and [`Language::of`] decides which of them a program needs.
//! docs/design/front-ends.md describes what a third one would need.

mod cimp;
mod drive_cimp;
mod native;
pub(crate) mod run_cimp;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use foretell_report::{Confirmation, Decision, Report, Shown, Steering};
use foretell_schedule::Name;
use foretell_wire::schedule::ScheduleDraft;

pub(crate) use self::cimp::Cimp;
pub(crate) use self::native::Native;
use crate::Outcome;
use crate::args::{HuntArgs, RunArgs};
use crate::error::Failure;
use crate::native::distribution::System;
use crate::native::java::is_java;
use crate::native::{is_rust, is_source};
use crate::shell::quoted;

/// What a program is written in, as far as that decides how it is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// CIMP: the virtual machine runs it.
    Cimp,
    /// C, C++ or Rust: it runs as processes.
    Native,
}

impl Language {
    /// The language of this program.
    pub(crate) fn of(program: &Path) -> Language {
        let is_cimp = program.extension().is_some_and(|extension| extension == "cimp");
        if is_cimp { Language::Cimp } else { Language::Native }
    }

    /// Whether the name says that the file holds a program that the virtual machine runs, not a trace.
    pub(crate) fn is_cimp(file: &Path) -> bool {
        Language::of(file) == Language::Cimp
    }

    /// Refuses what cannot be run, before anything else is done. Of the arguments, so many came after `--`.
    pub(crate) fn check(
        self,
        program: &Path,
        arguments: &[OsString],
        separated: usize,
    ) -> Result<(), Failure> {
        let name = program.display();
        if program.is_dir() {
            return Err(Failure::Usage(format!(
                "{name} is a folder; name a source file, or a program after `--` (for a Rust package: cd {}; cargo \
                 foretell run)",
                quoted(program.as_os_str())
            )));
        }
        let is_source = self == Language::Cimp || is_source(program);
        let is_path = is_source || program.parent().is_some_and(|folder| !folder.as_os_str().is_empty());
        if is_path && let Err(error) = program.metadata() {
            return Err(Failure::file(program, "run", error));
        }
        match (self, arguments.first()) {
            (Language::Cimp, Some(argument)) => Err(Failure::Usage(format!(
                "`{}` is one too many: a .cimp program takes no arguments",
                argument.to_string_lossy()
            ))),
            (Language::Native, Some(_)) if is_source => refuse_sources(program, arguments, separated),
            _ => Ok(()),
        }
    }
}

/// A second source file is not taken for an argument of the program, except after `--`.
fn refuse_sources(program: &Path, arguments: &[OsString], separated: usize) -> Result<(), Failure> {
    let unmarked = arguments.iter().take(arguments.len().saturating_sub(separated));
    let is_existing_source =
        |argument: &&OsString| is_source(Path::new(argument)) && Path::new(argument).is_file();
    let Some(other) = unmarked.clone().find(is_existing_source) else { return Ok(()) };
    if is_java(program) {
        return Ok(());
    }
    let (first, other) = (quoted(program.as_os_str()), quoted(other));
    let compiler = if is_rust(program) { "rustc" } else { "c++" };
    let build = if is_rust(program) {
        format!("foretell {compiler} {first} -o program")
    } else {
        format!("foretell {compiler} -O1 {first} {other} -o program")
    };
    Err(Failure::Usage(format!(
        "one source file is built and run, not several: build them first ({build}), then foretell run -- ./program; if \
         {other} is an argument of the program: foretell run {first} -- {other}"
    )))
}

/// Why a program could not be started, and what to do about it.
pub(crate) fn cannot_run(program: &Path, error: &io::Error) -> Failure {
    let name = program.display();
    let here = Path::new(".").join(program);
    Failure::Usage(match error.kind() {
        io::ErrorKind::NotFound if is_java(program) => {
            format!("cannot run {name}: java is missing; {}", System::this().install_java())
        }
        io::ErrorKind::NotFound if program.components().count() == 1 && here.is_file() => {
            format!("there is no command {name}; the program in this folder is {}", quoted(here.as_os_str()))
        }
        io::ErrorKind::NotFound if program.is_file() => {
            format!("cannot run {name}: the interpreter or loader that it names is missing")
        }
        io::ErrorKind::NotFound => format!("cannot run {name}: there is no such program"),
        io::ErrorKind::PermissionDenied => {
            format!(
                "cannot run {name}: it is not executable; a program is a file that ends in .cimp, .c, .cpp, .rs or .java, or a command"
            )
        }
        _ => format!("cannot run {name}: {error}"),
    })
}

/// A program, and what can be done with it.
///
/// What a front end knows of a recorded run it hands to the engine when it examines the run: untaken branches
/// (`UntakenBranches`), the lines of the program (`Excerpts`), and how to run it again (`Origin`).
pub(crate) trait FrontEnd: Sync {
    /// What a run of a hunt leaves behind.
    type Artifacts: Send;
    /// What the run of `foretell run` leaves behind.
    type Recording;

    /// Refuses options of `foretell run` that mean nothing here, before anything is built or run.
    fn check_run(args: &RunArgs) -> Result<(), Failure>;

    /// Runs the program once, as the arguments of `foretell run` say.
    fn record_once(&self, args: &RunArgs) -> Result<Self::Recording, Failure>;

    /// Saves what is wanted of the recording.
    fn save(&self, recording: &Self::Recording, args: &RunArgs) -> Result<(), Failure>;

    /// Finds races in the recording. It is in use no longer, except for its logs and its ending.
    fn examine_once(&self, recording: &mut Self::Recording, args: &RunArgs) -> Result<Examined, Failure>;

    /// Drives the program into each race that is reported, if that is wanted and was not done before.
    fn confirm(&self, _args: &RunArgs, _reports: &mut [Report]) -> Result<(), Failure> {
        Ok(())
    }

    /// Packs what others need to examine the run again, if that is wanted.
    fn pack_evidence(
        &self,
        _recording: &Self::Recording,
        _args: &RunArgs,
        _reports: &[Report],
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// Reports how the run itself has ended, if not well and if nothing else has reported it.
    fn ending(&self, _recording: &Self::Recording) -> Outcome {
        Outcome::Clean
    }

    /// Runs the program once under the strategy and seed of the plan. Several runs may take place at the same time.
    fn record(&self, plan: &RunPlan, args: &HuntArgs) -> Result<RunOutcome<Self::Artifacts>, Failure>;

    /// Finds races in what a run has left behind.
    fn examine(&self, artifacts: Self::Artifacts, plan: &RunPlan, args: &HuntArgs) -> Result<Shown, Failure>;

    /// Drives the program along this schedule into its race. The schedule is improved if it turns out where a thread
    /// has to be held.
    fn drive(&self, draft: &mut ScheduleDraft, how: DrivePlan) -> Result<Confirmation, Failure>;
}

/// What was found in a recording.
pub(crate) enum Examined {
    /// The report of each technique.
    Reports(Vec<Report>),
    /// What each technique says about the one pair that was asked about.
    Decisions(Vec<Decision>),
}

/// How a program is driven along a schedule. The virtual machine, which runs in this process, needs none of this.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DrivePlan {
    /// How long the program may run.
    pub(crate) stop_after: Option<Duration>,
    /// It continues after the race.
    pub(crate) go_on: bool,
    /// A debugger is attached at the race.
    pub(crate) gdb: bool,
}

/// How one run is to go.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    /// The number of the run, counted from 1.
    pub(crate) run: usize,
    /// What all choices are drawn from.
    pub(crate) seed: u64,
    /// The scheduling strategy.
    pub(crate) strategy: Name,
    /// How deep it looks.
    pub(crate) depth: u32,
    /// About how many choices there will be.
    pub(crate) steps: u64,
    /// What an earlier run has taught about which functions take which locks.
    pub(crate) triggers: Option<String>,
}

/// What has become of a run.
pub(crate) struct RunOutcome<T> {
    pub(crate) artifacts: T,
    /// How it has ended, if not well.
    pub(crate) ending: Option<String>,
    /// What it has taught the next one.
    pub(crate) learnt: Learnt,
}

/// What a run has taught.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    /// About how many choices there were.
    pub(crate) steps: Option<u64>,
    /// Which functions take which locks.
    pub(crate) triggers: Option<String>,
    /// What the strategy did.
    pub(crate) steering: Option<Steering>,
}
