//! `foretell predict --certify` and `foretell check`: a proof, in files, that nothing but the reported races exists.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use foretell_detect::Pair;
use foretell_engine::certify::{self, Certificates};
use foretell_engine::{Choice, Plan};
use foretell_report::Report;
use foretell_trace::{Model, Trace};
use foretell_witness::proof::{self, Examination, Extent, NothingElse, TraceFacts};

use crate::args::{CheckArgs, Following, PredictArgs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::stop::{TimeLimit, Watch};
use crate::{Outcome, output, stop};

/// The list of races, and the certificates one after the other.
const RACES: &str = "races";
const CERTIFICATES: &str = "certificates";
/// How many pairs without an answer are listed.
const LISTED: usize = 10;

/// Refuses what cannot be certified before any work is done.
pub(crate) fn check_wanted(args: &PredictArgs) -> Result<(), Failure> {
    let Some(folder) = &args.certify else { return Ok(()) };
    let wanted = &args.wanted;
    let ([path], [choice]) = (&args.traces[..], &wanted.technique[..]) else {
        return Err(Failure::Usage("--certify takes one trace and one technique".to_string()));
    };
    if *choice == Choice::Auto {
        // It is the default, and no model of its own.
        return Err(Failure::Usage("--certify needs a model: add -t rf, mcm, rv or rv-nre".to_string()));
    }
    certify::check_plan(&wanted.plan(*choice))?;
    if wanted.search.dependence != Following::Full {
        return Err(Failure::Usage("--certify uses the trace as it is: leave out --dependence".to_string()));
    }
    if path.as_path() == Path::new("-") {
        return Err(Failure::Usage("--certify reads the trace twice: give a file".to_string()));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "make", error))?;
    output::check(&folder.join(RACES))?;
    output::check(&folder.join(CERTIFICATES))
}

/// Writes the certificate of the trace with this report.
pub(crate) fn write(args: &PredictArgs, folder: &Path, report: &Report) -> Result<Outcome, Failure> {
    let (file, plan) =
        (TraceFile::new(&args.traces[0], &args.input), args.wanted.plan(args.wanted.technique[0]));
    let trace = file.load("reads")?;
    let limit = TimeLimit::start(plan.time_limit)?;
    let control = Watch::new(&file).within(&limit);
    let certificates = write_certificates(&trace, &plan, &reported(&trace, report), folder, &control)?;
    let Some(proven) = certificates.proven else {
        // What there is proves nothing as a whole; nor does what an earlier run has left.
        for file in [CERTIFICATES, RACES] {
            let _ = fs::remove_file(folder.join(file));
        }
        output::note(&open_text(&certificates));
        return Ok(Outcome::Undecided);
    };
    let races = certificates.races.iter().map(|pair| (pair.first, pair.second));
    let text = proof::races_text(&trace, certificates.model, certificates.extent, races);
    output::write(Some(&folder.join(RACES)), &text)?;
    output::note(&format!(
        "{} Check it with: foretell check {} {}",
        sentence(&file.name(), proven),
        file.name(),
        folder.display()
    ));
    Ok(Outcome::Clean)
}

/// The races of a report.
fn reported(trace: &Trace, report: &Report) -> Vec<Pair> {
    let pair = |(first, second)| Some(Pair { first: trace.id(first)?, second: trace.id(second)? });
    report.races.iter().filter_map(|race| pair((race.first.event, race.second.event))).collect()
}

fn write_certificates(
    trace: &Trace,
    plan: &Plan,
    reported: &[Pair],
    folder: &Path,
    control: &Watch<'_>,
) -> Result<Certificates, Failure> {
    let path = folder.join(CERTIFICATES);
    let mut made = None;
    output::write_while(Some(&path), &|| true, |sink| {
        let mut failed = None;
        let mut add = |text: &str| match sink.write_all(text.as_bytes()) {
            Ok(()) => true,
            Err(error) => {
                failed = Some(error);
                false
            }
        };
        made = Some(certify::certify(trace, plan, reported, control, &mut add));
        failed.map_or(Ok(()), Err)
    })?;
    let made = made.ok_or_else(|| Failure::Internal("no certificates were made".to_string()))?;
    Ok(made?)
}

/// Why the trace is not certified.
fn open_text(certificates: &Certificates) -> String {
    if certificates.stopped {
        return "not certified: it was stopped, or the time was over, before all pairs were decided"
            .to_string();
    }
    let count = certificates.open.len();
    let pairs = if count == 1 { "1 pair is".to_string() } else { format!("{count} pairs are") };
    let mut text = format!("not certified: {pairs} undecided");
    for (pair, why) in certificates.open.iter().take(LISTED) {
        text.push_str(&format!("\n  events {},{}: {why}", pair.first, pair.second));
    }
    if count > LISTED {
        text.push_str(&format!("\n  and {} more", count - LISTED));
    }
    text
}

/// What is proven.
fn sentence(name: &str, proven: NothingElse) -> String {
    let technique = match proven.model() {
        Model::SameWrite => "rf",
        Model::SameValue => "mcm",
        Model::ControlFlow => "rv",
        Model::Necessary => "rv-nre",
        Model::Values => "recipe",
    };
    let (reported, what) = match (proven.reported(), proven.extent()) {
        (0, _) => (String::new(), ""),
        (1, Extent::Events) => ("; the only exception is the race".to_string(), " that was reported"),
        (1, Extent::Locations) => {
            ("; the only exception is the pair of locations".to_string(), " that was reported")
        }
        (count, Extent::Events) => {
            (format!("; the only exceptions are the {count} races"), " that were reported")
        }
        (count, Extent::Locations) => {
            (format!("; the only exceptions are the {count} pairs of locations"), " that were reported")
        }
    };
    let certificates = match proven.certificates() {
        1 => "1 certificate".to_string(),
        count => format!("{count} certificates"),
    };
    format!(
        "proven: no schedule of the run in {name} brings two accesses into a race, by the rules of {technique}{reported}{what} ({certificates}; all other pairs are ordered, or exclude each other, in every schedule).",
    )
}

/// Checks the certificate of a trace.
pub(crate) fn check(args: &CheckArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let file = TraceFile::new(&args.trace, &args.input);
    let races = args.folder.join(RACES);
    let text = fs::read_to_string(&races).map_err(|error| Failure::file(&races, "read", error))?;
    let trace = file.load("reads")?;
    let facts = TraceFacts::new(&trace);
    match examine(&facts, &text, &args.folder.join(CERTIFICATES))? {
        Examined::Proven(proven) => {
            let sentence = sentence(&file.name(), proven);
            output::write_text(None, &format!("{}{}\n", sentence[..1].to_uppercase(), &sentence[1..]))?;
            Ok(Outcome::Clean)
        }
        Examined::Refused(why) => {
            output::write_text(None, &format!("Refused: {why}\n"))?;
            Ok(Outcome::Race)
        }
        Examined::Stopped => {
            output::note("stopped before the end: nothing is proven");
            Ok(Outcome::Undecided)
        }
    }
}

enum Examined {
    Proven(NothingElse),
    Refused(String),
    Stopped,
}

/// Goes through the certificates in the file, of which only one is in memory at a time.
fn examine(facts: &TraceFacts<'_>, races: &str, path: &PathBuf) -> Result<Examined, Failure> {
    let failed = |error| Failure::file(path, "read", error);
    let mut examination = match Examination::read(facts, races) {
        Ok(examination) => examination,
        Err(refusal) => return Ok(Examined::Refused(format!("{RACES}: {refusal}"))),
    };
    let mut lines = BufReader::new(File::open(path).map_err(failed)?).lines();
    let (mut text, mut begin, mut number) = (String::new(), 0, 0);
    loop {
        let line = lines.next().transpose().map_err(failed)?;
        if line.as_deref().is_none_or(|line| line == proof::FIRST_LINE) && !text.is_empty() {
            match proof::check(facts, &text) {
                Ok(refuted) => examination.refute(refuted),
                Err(refusal) => {
                    let place = begin + refusal.line;
                    return Ok(Examined::Refused(format!(
                        "{CERTIFICATES}, line {place}: {}",
                        refusal.reason
                    )));
                }
            }
            (begin, text) = (number, String::new());
        }
        if stop::is_requested() {
            return Ok(Examined::Stopped);
        }
        let Some(line) = line else { break };
        number += 1;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(match examination.finish() {
        Ok(proven) => Examined::Proven(proven),
        Err((first, second)) => Examined::Refused(format!(
            "nothing is said about the events {first} and {second}, which may race"
        )),
    })
}
