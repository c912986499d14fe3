//! Programs in C, C++ and Rust: each run is a process, or several.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use foretell_report::{Deadlock, Steering};

use super::{Aim, Learnt, Quarry, Seen, Shot};
use crate::args::{HuntArgs, Order, WantedArgs};
use crate::error::Failure;
use crate::native::record::{self, Ended, Folder, Hunting, Manner, Recording};
use crate::native::{build, name_schedules, predict_as, watch};
use crate::stop;

/// The file that tells a run what an earlier one has taught.
const EARLIER: &str = "earlier";

/// A program that is run for real.
pub(super) struct Native<'a> {
    args: &'a HuntArgs,
    program: PathBuf,
    /// Where the program is, if it was built for the hunt.
    _built: Folder,
}

impl Native<'_> {
    pub(super) fn new(args: &HuntArgs) -> Result<Native<'_>, Failure> {
        let folder = Folder::new()?;
        let program = build(&args.program, &folder)?;
        Ok(Native { args, program, _built: folder })
    }

    /// Runs the program as the aim says; what it prints goes nowhere unless somebody wants to see it.
    fn start(&self, aim: &Aim, folder: &Folder) -> Result<Ended, Failure> {
        let triggers = self.write_triggers(aim, folder)?;
        let hunting = Hunting {
            strategy: Some(aim.strategy),
            depth: Some(aim.depth),
            steps: Some(aim.steps),
            triggers: triggers.as_deref(),
        };
        let (name, stop_after) = (self.args.program.as_path(), Some(self.args.stop_after));
        let manner = Manner { name, seed: aim.seed, order: Order::Serial, stop_after, hunting };
        let mut command = record::command(&self.program, manner, folder);
        command.args(&self.args.arguments).stdin(Stdio::null());
        if !self.args.show_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let name = self.args.program.display();
        let failed = |error| Failure::Usage(format!("cannot run {name}: {error}"));
        let child = command.spawn().map_err(failed)?;
        let process = child.id();
        let presses = || u32::from(stop::is_requested());
        let (status, by) = watch::wait_unless(child, manner.stop_after, presses).map_err(failed)?;
        Ok(Ended { process, status, by })
    }

    /// What an earlier run has taught, as a file.
    fn write_triggers(&self, aim: &Aim, folder: &Folder) -> Result<Option<PathBuf>, Failure> {
        let Some(text) = &aim.triggers else { return Ok(None) };
        let path = folder.path().join(EARLIER);
        fs::write(&path, text).map_err(|error| Failure::file(&path, "write", error))?;
        Ok(Some(path))
    }
}

impl Quarry for Native<'_> {
    type Track = Vec<Recording>;

    fn run(&self, aim: &Aim) -> Result<Shot<Vec<Recording>>, Failure> {
        let folder = Folder::new()?;
        let ended = self.start(aim, &folder)?;
        let recordings = record::collect(&self.args.program, &folder, ended)?;
        let is_stuck = recordings.iter().any(|recording| recording.is_deadlock);
        let ending = record::ending(ended.status, ended.by).filter(|_| !is_stuck);
        Ok(Shot { track: recordings, ending, learnt: learnt(&folder, ended.process)? })
    }

    fn look(&self, recordings: Vec<Recording>, aim: &Aim, wanted: &WantedArgs) -> Result<Seen, Failure> {
        let stuck = recordings.iter().find(|recording| recording.is_deadlock);
        let deadlock = stuck.map(|recording| Deadlock::at_end_of(&recording.trace, aim.run, aim.seed));
        let mut reports = Vec::new();
        for (process, mut recording) in recordings.into_iter().enumerate() {
            // How a run has ended is told once, for the run.
            recording.cut_because = None;
            let (name, plans) = (&self.args.program, self.args.plans());
            let mut found = predict_as(name, wanted, plans, true, recording, process)?;
            name_schedules(&mut found, process, name, &self.args.arguments, aim.seed);
            reports.extend(found);
        }
        Ok(Seen { reports, deadlock })
    }
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
