//! The trace that a report is about, if it is still there; and the referee's word on what the report says of it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use foretell_report::explain_text::Checked;
use foretell_report::{NOT_EXECUTED, Proof, Race, RacingAccess, Report};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Claim, Model, Proof as Proven, Referee};

use crate::args::ExplainArgs;
use crate::error::Failure;
use crate::input::TraceFile;
use crate::sources::is_source;

/// How programs begin that can be run.
const ELF: [u8; 4] = *b"\x7fELF";

/// Where the trace of a report should be.
pub(super) fn path(report: &Report, args: &ExplainArgs) -> PathBuf {
    args.trace.clone().unwrap_or_else(|| PathBuf::from(&report.trace.file))
}

/// The trace of a report, or why it cannot be had. One that is given on the command line must be there.
pub(super) fn load(
    input: &TraceFile,
    report: &Report,
    args: &ExplainArgs,
) -> Result<Result<Trace, String>, Failure> {
    if args.trace.is_some() {
        let trace = input.load("reads")?;
        return match foreign(&trace, report) {
            Some(why) => {
                Err(Failure::Usage(format!("{} is not the trace of the report: {why}", input.name())))
            }
            None => Ok(Ok(trace)),
        };
    }
    let name = &report.trace.file;
    if is_source(Path::new(name)) || is_executable(Path::new(name)) || name.contains(" (process ") {
        return Ok(Err(format!(
            "the trace of this run of {name} was not kept (`foretell run --trace FILE` keeps it, and --trace FILE \
             gives it here)"
        )));
    }
    if !Path::new(name).is_file() {
        return Ok(Err(format!("the trace {name} cannot be found; give its path with --trace FILE")));
    }
    Ok(match input.load("reads") {
        Err(failure) => {
            let why = failure.to_string();
            Err(format!("the trace cannot be read ({})", why.trim_start_matches("error: ")))
        }
        Ok(trace) => match foreign(&trace, report) {
            Some(why) => Err(format!("{name} is not the trace of the report any more: {why}")),
            None => Ok(trace),
        },
    })
}

/// Whether a file is a program that can be run: then the report is of such a run.
fn is_executable(path: &Path) -> bool {
    let mut begin = [0; ELF.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok_and(|()| begin == ELF)
}

/// Why this cannot be the trace that the report is about.
fn foreign(trace: &Trace, report: &Report) -> Option<String> {
    let events = report.trace.slice.as_ref().map_or(report.trace.events, |slice| slice.of);
    if trace.events().len() != events {
        return Some(format!("it has {} events, not {events}", trace.events().len()));
    }
    // What lies on a way that the run did not go is not in its trace.
    let races = report.races.iter().filter(|race| race.path.is_none());
    let races = races.flat_map(|race| [&race.first, &race.second]);
    let open = report.undecided.iter().filter(|open| !open.reason.contains(NOT_EXECUTED));
    let open = open.flat_map(|open| [&open.first, &open.second]);
    races.chain(open).find(|access| !is_in(trace, access)).map(|access| {
        format!("event {} is not what {} does at {}", access.event, access.thread, access.location)
    })
}

fn is_in(trace: &Trace, access: &RacingAccess) -> bool {
    let found = trace.id(access.event).map(|id| RacingAccess::new(id, trace.event(id), trace.names()));
    found.is_some_and(|found| {
        (&found.thread, &found.op, &found.target, &found.location)
            == (&access.thread, &access.op, &access.target, &access.location)
    })
}

/// Has the referee look once more at the proof of a race.
pub(super) fn check(trace: &Trace, name: String, report: &Report, race: &Race) -> Checked {
    if report.trace.slice.is_some() {
        return Checked::Not("the proof is about a slice of the trace".to_string());
    }
    if race.path.is_some() {
        return Checked::Not("the race lies on a way that the recorded run did not go".to_string());
    }
    let (Some(first), Some(second)) = (trace.id(race.first.event), trace.id(race.second.event)) else {
        return Checked::Rejected(name, "there are no such events".to_string());
    };
    let mut referee = Referee::new(trace);
    let proofs: Vec<Proven> = match (race.proof, &race.witness) {
        (Proof::Unordered, _) => vec![Proven::Unordered],
        (Proof::Adjacent, None) => {
            return Checked::Not("the schedule was too long to be kept in the report".to_string());
        }
        (Proof::Adjacent, Some(witness)) => {
            let schedule: Option<Vec<EventId>> = witness.iter().map(|&number| trace.id(number)).collect();
            let Some(schedule) = schedule else {
                return Checked::Rejected(name, "the schedule has steps that the trace has not".to_string());
            };
            let proof = |model| Proven::Adjacent { model, schedule: schedule.clone() };
            match race.model {
                Some(model) => vec![proof(model)],
                // Reports of earlier versions lack the model; a schedule of any of them proves a race.
                None => Model::ALL.map(proof).to_vec(),
            }
        }
    };
    let mut why = String::new();
    for proof in proofs {
        match referee.check(Claim { first, second, proof }) {
            Ok(_) => return Checked::Again(name),
            Err(rejection) => why = rejection.to_string(),
        }
    }
    if race.reads.is_some() && trace.dependence().is_none() {
        return Checked::Not("the trace in the file has no dependence information".to_string());
    }
    Checked::Rejected(name, why)
}
