//! `foretell trace convert`: the same trace in another format.

use std::io;
use std::path::Path;

use foretell_trace::format::{Compressed, Compression, EventWriter, Format, writer};
use foretell_trace::{Ending, EventId, Trace, TraceError};

use foretell_view::Timeline;
use foretell_view::races::Reports;

use crate::args::Form;
use crate::error::Failure;
use crate::input::TraceFile;
use crate::output::Target;
use crate::{Outcome, memory, output, stop};

/// After so many events it is asked whether there is time left.
const LOOKS: usize = 1 << 16;

pub(crate) fn run(
    input: &TraceFile,
    path: &Path,
    to: Option<Form>,
    lossy: bool,
    report: Option<&Path>,
) -> Result<Outcome, Failure> {
    stop::listen()?;
    let form = form_of(path, to)?;
    if report.is_some() && form != Form::Timeline {
        return Err(Failure::Usage("only a timeline has races: --report goes with --to chrome".to_string()));
    }
    let reports = report.map_or(Ok(Reports::default()), super::reports)?;
    if input.is_same_file(path) {
        return Err(Failure::Usage(format!("{} cannot be converted into itself", path.display())));
    }
    Target::new(path).fill(cannot_write(path), |target| {
        let writer = match form {
            Form::Trace(format) => writer_to(path, format, lossy, target)?,
            Form::Timeline => Box::new(Timeline::new(output_to(path, target)?, &reports)),
        };
        convert(input, path, form, lossy, writer)
    })
}

/// A part of a trace would look like all of it in most formats, so none is kept.
fn stopped(events: usize) -> Failure {
    let why = memory::note().filter(|_| !stop::is_interrupted()).unwrap_or_else(|| "interrupted".to_string());
    Failure::Usage(format!("{why}; nothing is written, although {events} events were read"))
}

/// Writes a trace that is in memory to a file; its name's ending tells the format.
pub(crate) fn save(trace: &Trace, path: &Path) -> Result<(), Failure> {
    let format = format_of(path)?;
    Target::new(path).fill(cannot_write(path), |target| {
        let mut writer = writer_to(path, format, false, target)?;
        let failed = |error| Failure::Trace { file: path.display().to_string(), error };
        for (number, event) in trace.events().iter().enumerate() {
            if number % LOOKS == LOOKS - 1 && stop::is_urgent() {
                output::note(&format!(
                    "{}: there was no time to write more than {number} events",
                    path.display()
                ));
                return writer.finish(Ending::CutShort).map_err(failed);
            }
            writer.write(event, trace.names()).map_err(failed)?;
        }
        if let Some(dependence) = trace.dependence() {
            writer.write_dependence(dependence).map_err(failed)?;
        }
        if let Some(values) = trace.values() {
            writer.write_values(values, trace.dependence(), trace.names()).map_err(failed)?;
        }
        if let Some(steps) = trace.steps() {
            writer.write_steps(steps).map_err(failed)?;
        }
        writer.write_titles(trace.names()).map_err(failed)?;
        writer.finish(trace.ending()).map_err(failed)
    })
}

/// Whether a trace could be written to this file, to be asked before there is one.
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    format_of(path)?;
    output::check(path)
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::file(path, "write", error)
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    Format::from_extension(path).ok_or_else(|| unknown(path, ".std, .csv, .rr or .ftr"))
}

fn form_of(path: &Path, told: Option<Form>) -> Result<Form, Failure> {
    let by_name = || Format::from_extension(path).map(Form::Trace);
    let timeline = || is_json(path).then_some(Form::Timeline);
    told.or_else(by_name)
        .or_else(timeline)
        .ok_or_else(|| unknown(path, ".std, .csv, .rr, .ftr or .json, or say it with --to"))
}

/// What the end of a file's name says, whether or not the file is compressed.
fn is_json(path: &Path) -> bool {
    let compressed = Compression::from_extension(path) != Compression::None;
    let name = if compressed { path.file_stem().map(Path::new) } else { Some(path) };
    name.and_then(Path::extension).is_some_and(|ending| ending == "json")
}

fn unknown(path: &Path, endings: &str) -> Failure {
    let name = path.display();
    Failure::Usage(format!("unknown format: the name {name} does not end in {endings}"))
}

fn writer_to(
    path: &Path,
    format: Format,
    lossy: bool,
    target: &Target,
) -> Result<Box<dyn EventWriter>, Failure> {
    writer(format, output_to(path, target)?, lossy)
        .map_err(|error| Failure::Trace { file: path.display().to_string(), error })
}

fn output_to(path: &Path, target: &Target) -> Result<Compressed, Failure> {
    let output = target.open().map_err(cannot_write(path))?;
    Compression::from_extension(path).writer(output).map_err(cannot_write(path))
}

fn convert(
    input: &TraceFile,
    path: &Path,
    form: Form,
    lossy: bool,
    mut writer: Box<dyn EventWriter>,
) -> Result<Outcome, Failure> {
    let mut reading = input.open("converts")?;
    let failed = |error| Failure::Trace { file: path.display().to_string(), error };
    while reading.next()?.is_some() {
        if stop::is_requested() {
            return Err(stopped(reading.events()));
        }
        let (batch, names) = reading.batch();
        for event in &batch.events {
            writer.write(event, names).map_err(failed)?;
        }
    }
    if reading.is_cut_short() && matches!(form, Form::Trace(format) if format != Format::Binary) && !lossy {
        let event = EventId::from_index(reading.events().saturating_sub(1)).unwrap_or(EventId::FIRST);
        let what = "that the recording was cut short here (--lossy writes it all the same)".to_string();
        return Err(failed(TraceError::NotExpressible { event, format: form.name(), what }));
    }
    let dependence = reading.dependence().map_err(failed)?;
    if let Some(dependence) = &dependence {
        writer.write_dependence(dependence).map_err(failed)?;
    }
    if let Some(values) = reading.values().map_err(failed)? {
        writer.write_values(&values, dependence.as_ref(), reading.batch().1).map_err(failed)?;
    }
    if let Some(steps) = reading.steps() {
        writer.write_steps(&steps).map_err(failed)?;
    }
    writer.write_titles(reading.batch().1).map_err(failed)?;
    writer.finish(reading.ending()).map_err(failed)?;
    if reading.is_cut_short() {
        output::note(&format!(
            "{}: the recording was cut short after event {}",
            input.name(),
            reading.events()
        ));
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Clean)
}
