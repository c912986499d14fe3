//! `foretell trace convert`: the same trace in another format.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use foretell_trace::format::{Compression, Format, writer};
use foretell_trace::{EventId, TraceError};

use crate::Outcome;
use crate::error::Failure;
use crate::input::Input;

pub(crate) fn run(input: &Input, path: &Path, to: Option<Format>, lossy: bool) -> Result<Outcome, Failure> {
    let Some(format) = to.or_else(|| Format::from_extension(path)) else {
        let path = path.display();
        return Err(Failure::Usage(format!("cannot tell the format from the name {path}; say it with --to")));
    };
    if input.is_same_file(path) {
        return Err(Failure::Usage(format!("{} cannot be converted into itself", path.display())));
    }
    let target = Target::new(path);
    let outcome = convert(input, path, format, lossy, &target);
    match outcome {
        Ok(outcome) => target.keep(path).map(|()| outcome),
        Err(failure) => {
            target.discard();
            Err(failure)
        }
    }
}

fn convert(
    input: &Input,
    path: &Path,
    format: Format,
    lossy: bool,
    target: &Target,
) -> Result<Outcome, Failure> {
    let mut reading = input.open("converts")?;
    let failed = |error| Failure::Trace { file: path.display().to_string(), error };
    let cannot_write = |error| Failure::file(path, "write", error);
    let output = target.open().map_err(cannot_write)?;
    let output = Compression::from_extension(path).writer(output).map_err(cannot_write)?;
    let mut writer = writer(format, output, lossy).map_err(failed)?;
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        for event in &batch.events {
            writer.write(event, names).map_err(failed)?;
        }
    }
    if reading.is_cut_short() && format != Format::Binary && !lossy {
        let event = EventId::from_index(reading.events().saturating_sub(1)).unwrap_or(EventId::FIRST);
        let what = "that the recording was cut short here (--lossy writes it all the same)".to_string();
        return Err(failed(TraceError::NotExpressible { event, format: format.name(), what }));
    }
    writer.finish(reading.ending()).map_err(failed)?;
    if reading.is_cut_short() {
        eprintln!("{}: the recording was cut short after event {}", input.name(), reading.events());
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Clean)
}

/// Where the output is written.
enum Target {
    Stdout,
    /// A device or a pipe.
    InPlace(PathBuf),
    /// A file of another name, which gets its own only once it is complete: what was there before survives a failure.
    Unfinished(PathBuf),
}

impl Target {
    fn new(path: &Path) -> Target {
        if path == Path::new("-") {
            Target::Stdout
        } else if path.metadata().is_ok_and(|data| !data.is_file()) {
            Target::InPlace(path.to_path_buf())
        } else {
            let mut name = OsString::from(path);
            name.push(format!(".{}.part", std::process::id()));
            Target::Unfinished(name.into())
        }
    }

    fn open(&self) -> io::Result<Box<dyn Write>> {
        match self {
            Target::Stdout => Ok(Box::new(io::stdout())),
            Target::InPlace(path) => Ok(Box::new(File::options().write(true).open(path)?)),
            Target::Unfinished(path) => Ok(Box::new(File::create(path)?)),
        }
    }

    fn keep(&self, path: &Path) -> Result<(), Failure> {
        match self {
            Target::Stdout | Target::InPlace(_) => Ok(()),
            Target::Unfinished(unfinished) => {
                fs::rename(unfinished, path).map_err(|error| Failure::file(path, "write", error))
            }
        }
    }

    fn discard(&self) {
        if let Target::Unfinished(path) = self {
            // It may not even have been created.
            let _ = fs::remove_file(path);
        }
    }
}
