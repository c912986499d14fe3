//! Programs in C, C++ and Rust: each run is a process, or several.
//!
//! Where only races of the runs themselves are wanted, online detection finds them, and nothing is recorded. That is
//! quick, but proves nothing: so a run that has shown something new is repeated with a recording, and the referee
//! checks its races.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{PoisonError, RwLock};

use foretell_native::Follow;
use foretell_report::{Confirmation, Deadlock, Race, Report, Shown, Steering};
use foretell_wire::schedule::ScheduleDraft;
use foretell_wire::settings;

use super::{DrivePlan, Examined, FrontEnd, Learnt, RunOutcome, RunPlan, cannot_run};
use crate::args::{HuntArgs, LibraryArgs, Order, RunArgs};
use crate::error::Failure;
use crate::native::processes::end_left;
use crate::native::record::{self, Ended, Folder, Hunting, Manner, Recording, Seen};
use crate::native::{self, Drive, Look, Recorded, build, watch};
use crate::stop;

/// Two places in the program, in order.
type Pair = [String; 2];

/// The file in which a run finds what an earlier one has learnt.
const EARLIER: &str = "earlier";

/// A program that is run for real.
pub(crate) struct Native<'a> {
    /// What the user calls the program.
    name: &'a Path,
    arguments: &'a [OsString],
    /// The file to run.
    program: PathBuf,
    /// Races that were seen in runs which were then recorded: whatever could be proven of them is.
    looked_at: RwLock<HashSet<Pair>>,
    /// Where the program is, if it was built.
    _built: Option<Folder>,
}

impl Native<'_> {
    /// The program, which is built first if this is a source file.
    pub(crate) fn new<'a>(
        name: &'a Path,
        arguments: &'a [OsString],
        libraries: &LibraryArgs,
    ) -> Result<Native<'a>, Failure> {
        let (program, built) = build(name, libraries)?;
        Ok(Native { name, arguments, program, looked_at: RwLock::default(), _built: built })
    }

    /// Runs the program as the plan says, with online detection or with a recording. Its output is discarded unless it
    /// is wanted.
    fn start(
        &self,
        plan: &RunPlan,
        args: &HuntArgs,
        folder: &Folder,
        detects: bool,
    ) -> Result<Ended, Failure> {
        let triggers = self.write_triggers(plan, folder)?;
        let hunting = Hunting {
            strategy: Some(plan.strategy),
            depth: Some(plan.depth),
            steps: Some(plan.steps),
            triggers: triggers.as_deref(),
        };
        let (name, stop_after) = (self.name, Some(args.stop_after));
        let log = args.log;
        let manner = Manner { name, seed: plan.seed, order: Order::Serial, stop_after, log, hunting };
        let mut command = record::command(&self.program, manner, folder);
        command.args(self.arguments).stdin(Stdio::null());
        if detects {
            command.env(settings::DETECT.text(), "1");
        }
        if !args.show_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let name = self.name.display();
        let failed = |error| Failure::Environment(format!("cannot wait for {name}: {error}"));
        let child = command.spawn().map_err(|error| cannot_run(self.name, &error))?;
        let process = child.id();
        let presses = || u32::from(stop::is_requested());
        let rotation = record::rotation(manner, folder)?;
        let waited = watch::wait_unless(child, manner.stop_after, folder.path(), presses);
        drop(rotation);
        end_left(folder.path());
        let (status, by) = waited.map_err(failed)?;
        Ok(Ended { process, status, by })
    }

    /// What an earlier run has taught, as a file.
    fn write_triggers(&self, plan: &RunPlan, folder: &Folder) -> Result<Option<PathBuf>, Failure> {
        let Some(text) = &plan.triggers else { return Ok(None) };
        let path = folder.path().join(EARLIER);
        fs::write(&path, text).map_err(|error| Failure::file(&path, "write", error))?;
        Ok(Some(path))
    }
}

/// What a run leaves behind.
pub(crate) struct Artifacts {
    /// The races that it has seen itself.
    seen: Vec<Pair>,
    /// It has stopped to look at some moment.
    is_blind: bool,
    /// It has not come to its end.
    is_cut: bool,
    /// What it did, if it was recorded.
    recordings: Vec<Recording>,
}

impl Native<'_> {
    /// A run that is not recorded.
    fn watch(&self, plan: &RunPlan, args: &HuntArgs) -> Result<(RunOutcome<Artifacts>, bool), Failure> {
        let folder = Folder::new()?;
        let ended = self.start(plan, args, &folder, true)?;
        let Seen { pairs: seen, is_blind, is_deadlock } = record::seen(self.name, &folder)?;
        let ending = record::ending(ended.status, ended.by);
        // For a recorded run, the recording says it.
        let is_cut = !is_deadlock && ended.is_cut();
        let artifacts = Artifacts { seen, is_blind, is_cut, recordings: Vec::new() };
        Ok((RunOutcome { artifacts, ending, learnt: learnt(&folder, ended.process)? }, is_deadlock))
    }

    /// A run that is recorded.
    fn record_run(&self, plan: &RunPlan, args: &HuntArgs) -> Result<RunOutcome<Artifacts>, Failure> {
        // What a run itself shows has nothing to do with which reads matter.
        let follow = if args.only_shows() { Follow::Nothing } else { args.wanted.follow() };
        let folder = Folder::new()?.following(follow).within(args.wanted.search.time_limit.0);
        let ended = self.start(plan, args, &folder, false)?;
        let recordings = record::collect(self.name, &folder, ended)?;
        let is_stuck = recordings.iter().any(|recording| recording.is_deadlock);
        let ending = record::ending(ended.status, ended.by).filter(|_| !is_stuck);
        let artifacts = Artifacts { seen: Vec::new(), is_blind: false, is_cut: false, recordings };
        Ok(RunOutcome { artifacts, ending, learnt: learnt(&folder, ended.process)? })
    }

    fn is_known(&self, pair: &Pair) -> bool {
        self.looked_at.read().unwrap_or_else(PoisonError::into_inner).contains(pair)
    }

    /// A note for each race that online detection has seen, and that the repetition does not show.
    fn unproven(&self, seen: &[Pair], reports: &[Report], plan: &RunPlan) -> Vec<String> {
        let proven: HashSet<Pair> = reports.iter().flat_map(|report| &report.races).map(pair_of).collect();
        let open = seen.iter().filter(|pair| !self.is_known(pair) && !proven.contains(*pair));
        let note = |[one, other]: &Pair| {
            let run = plan.run;
            format!(
                "run {run} saw {one} race with {other}, which its repetition with a recording does not show"
            )
        };
        open.map(note).collect()
    }

    /// What is to be found in the recording of a process.
    fn reports(
        &self,
        recording: Recording,
        process: usize,
        seed: u64,
        args: &HuntArgs,
    ) -> Result<Vec<Report>, Failure> {
        let (name, arguments) = (self.name, self.arguments);
        let look = Look { name, program: name, arguments, seed, wanted: &args.wanted, no_progress: true };
        look.at(recording, process, args.plans())
    }
}

impl FrontEnd for Native<'_> {
    type Artifacts = Artifacts;
    type Recording = Recorded;

    fn check_run(args: &RunArgs) -> Result<(), Failure> {
        native::check_run(args)
    }

    fn record_once(&self, args: &RunArgs) -> Result<Recorded, Failure> {
        native::record_once(&self.program, args)
    }

    fn save(&self, recorded: &Recorded, args: &RunArgs) -> Result<(), Failure> {
        recorded.save(args)
    }

    fn examine_once(&self, recorded: &mut Recorded, args: &RunArgs) -> Result<Examined, Failure> {
        recorded.examine(args).map(Examined::Reports)
    }

    fn confirm(&self, args: &RunArgs, reports: &mut [Report]) -> Result<(), Failure> {
        native::confirm(args, &self.program, reports)
    }

    fn pack_evidence(&self, recorded: &Recorded, args: &RunArgs, reports: &[Report]) -> Result<(), Failure> {
        recorded.pack_evidence(args, reports)
    }

    fn record(&self, plan: &RunPlan, args: &HuntArgs) -> Result<RunOutcome<Artifacts>, Failure> {
        if !args.only_shows() {
            return self.record_run(plan, args);
        }
        let (watched, is_deadlock) = self.watch(plan, args)?;
        if !is_deadlock && watched.artifacts.seen.iter().all(|pair| self.is_known(pair)) {
            return Ok(watched);
        }
        let mut recorded = self.record_run(plan, args)?;
        (recorded.artifacts.seen, recorded.artifacts.is_blind) =
            (watched.artifacts.seen, watched.artifacts.is_blind);
        Ok(recorded)
    }

    fn examine(&self, artifacts: Artifacts, plan: &RunPlan, args: &HuntArgs) -> Result<Shown, Failure> {
        let Artifacts { seen, is_blind, is_cut, recordings } = artifacts;
        let stuck = recordings.iter().find(|recording| recording.is_deadlock);
        let deadlock = stuck.map(|recording| Deadlock::at_end_of(&recording.trace, plan.run, plan.seed));
        let (mut reports, mut full) = (Vec::new(), Vec::new());
        for (process, mut recording) in recordings.into_iter().enumerate() {
            if let (true, Some(why)) = (recording.is_full, &recording.cut_because) {
                full.push(format!("run {} was recorded only in part: {why}", plan.run));
            }
            // How a run has ended is reported once, for the run.
            recording.cut_because = None;
            reports.extend(self.reports(recording, process, plan.seed, args)?);
        }
        let mut notes = self.unproven(&seen, &reports, plan);
        notes.extend(full);
        notes.extend(
            is_blind.then(|| format!("run {} has stopped to look for races at some moment", plan.run)),
        );
        self.looked_at.write().unwrap_or_else(PoisonError::into_inner).extend(seen.iter().cloned());
        Ok(Shown { reports, again: seen, deadlock, notes, is_incomplete: is_cut })
    }

    fn drive(&self, draft: &mut ScheduleDraft, how: DrivePlan) -> Result<Confirmation, Failure> {
        let DrivePlan { stop_after, go_on, gdb } = how;
        let (program, name, arguments) = (&self.program, self.name, self.arguments);
        let drive = Drive { program, name, arguments, stop_after, limit: None, go_on, gdb, quietly: false };
        native::drive(drive, draft)
    }
}

/// The two places of a race.
fn pair_of(race: &Race) -> Pair {
    let mut pair = [race.first.location.clone(), race.second.location.clone()];
    pair.sort();
    pair
}

/// What the processes of a run have left for the next one.
fn learnt(folder: &Folder, process: u32) -> Result<Learnt, Failure> {
    let Some(path) = record::lessons(folder, process)? else { return Ok(Learnt::default()) };
    let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", error))?;
    let number = |what: &str| {
        let mut notes = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(' '));
        notes.find(|(name, _)| *name == what).and_then(|(_, number)| number.parse().ok())
    };
    let steering = number("acquisitions").map(|acquisitions| Steering {
        acquisitions,
        suspensions: number("suspensions").unwrap_or(0),
        reversals: number("reversals").unwrap_or(0),
        thrashings: number("thrashings").unwrap_or(0),
    });
    Ok(Learnt { steps: number("picks"), triggers: Some(text), steering })
}
