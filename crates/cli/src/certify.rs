//! `foretell predict --certify` and `foretell check`: a proof, in files, that nothing but the reported races exists.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::Path;

use foretell_detect::Pair;
use foretell_engine::certify::{self, Certificates};
use foretell_engine::{Choice, Plan};
use foretell_report::Report;
use foretell_trace::{Model, Trace};
use foretell_witness::proof::{
    self, Examination, Extent, Lrat, NothingElse, TraceFacts, Unchecked, Unproven,
};

use crate::args::{CheckArgs, Following, PredictArgs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::stop::{TimeLimit, Watch};
use crate::{Outcome, memory, output, stop};

/// The list of races, and the certificates one after the other.
const RACES: &str = "races";
const CERTIFICATES: &str = "certificates";
/// No list of races has more bytes.
const LONGEST_LIST: u64 = 1 << 28;
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
    let certificates = write_certificates(&trace, &plan, &reported(&trace, report), args, folder, &control)?;
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
    args: &PredictArgs,
    folder: &Path,
    control: &Watch<'_>,
) -> Result<Certificates, Failure> {
    let path = folder.join(CERTIFICATES);
    let (mut made, form) = (None, args.certify_form.form());
    output::write_while(Some(&path), &|| true, |sink| {
        sink.write_all(form.magic())?;
        let mut failed = None;
        let mut add = |certificate: &[u8]| match sink.write_all(certificate) {
            Ok(()) => true,
            Err(error) => {
                failed = Some(error);
                false
            }
        };
        made = Some(certify::certify(trace, plan, reported, control, form, &mut add));
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
    let limit = TimeLimit::start(args.time_limit.0)?;
    let file = TraceFile::new(&args.trace, &args.input);
    let races = args.folder.join(RACES);
    if let Some(folder) = &args.lrat {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "make", error))?;
    }
    let text = read_races(&races).map_err(|error| Failure::file(&races, "read", error))?;
    let trace = file.load("reads")?;
    let facts = TraceFacts::new(&trace);
    match examine(&facts, &text, args)? {
        Examined::Proven(proven) if !stop::is_requested() => {
            let sentence = sentence(&file.name(), proven);
            output::write_text(None, &format!("{}{}\n", sentence[..1].to_uppercase(), &sentence[1..]))?;
            Ok(Outcome::Clean)
        }
        Examined::Refused(why) if !stop::is_requested() => {
            output::write_text(None, &format!("Refused: {why}\n"))?;
            Ok(Outcome::Race)
        }
        // What was read may be only the beginning.
        _ => {
            let why = if limit.is_over() && !stop::is_interrupted() {
                "the time limit was reached; --time-limit gives more".to_string()
            } else {
                memory::note().unwrap_or_else(|| "interrupted".to_string())
            };
            output::note(&format!("nothing is proven: {why}"));
            Ok(Outcome::Undecided)
        }
    }
}

/// The list of races, as far as any list can be long: the rest is none.
fn read_races(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_LIST).read_to_string(&mut text)?;
    Ok(text)
}

enum Examined {
    Proven(NothingElse),
    Refused(String),
    Stopped,
}

/// Goes through the certificates in the file.
fn examine(facts: &TraceFacts<'_>, races: &str, args: &CheckArgs) -> Result<Examined, Failure> {
    let path = args.folder.join(CERTIFICATES);
    let failed = |error| Failure::file(&path, "read", error);
    let mut examination = match Examination::read(facts, races) {
        Ok(examination) => examination,
        Err(refusal) => return Ok(Examined::Refused(format!("{RACES}: {refusal}"))),
    };
    let input = BufReader::new(File::open(&path).map_err(failed)?);
    let mut certificates = proof::Certificates::new(facts, input, &stop::is_requested);
    for number in 1.. {
        let mut lrat = args.lrat.as_ref().map(|folder| (folder, Lrat::default()));
        match certificates.next_into(lrat.as_mut().map(|(_, lrat)| lrat)) {
            Ok(Some(refuted)) => examination.refute(&refuted),
            Ok(None) => break,
            Err(Unchecked::Refused(proof::Refusal { line, reason })) => {
                return Ok(Examined::Refused(format!("{CERTIFICATES}, line {line}: {reason}")));
            }
            Err(Unchecked::Unreadable(error)) => return Err(failed(error)),
            Err(Unchecked::Stopped) => return Ok(Examined::Stopped),
        }
        if let Some((folder, lrat)) = &lrat {
            write_lrat(folder, number, lrat)?;
        }
    }
    Ok(match examination.finish(&stop::is_requested) {
        Ok(proven) => Examined::Proven(proven),
        Err(Unproven::Open(first, second)) => Examined::Refused(format!(
            "nothing is said about the events {first} and {second}, which may race"
        )),
        Err(Unproven::Stopped) => Examined::Stopped,
    })
}

/// What a certificate leaves to other checkers.
fn write_lrat(folder: &Path, number: usize, lrat: &Lrat) -> Result<(), Failure> {
    output::write(Some(&folder.join(format!("{number}.cnf"))), &lrat.formula())?;
    output::write(Some(&folder.join(format!("{number}.lrat"))), &lrat.proof())
}
