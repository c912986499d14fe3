//! `foretell trace convert`: the same trace in another format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use foretell_trace::format::{Compression, Format, writer};

use crate::Outcome;
use crate::error::Failure;
use crate::input::Input;

pub(crate) fn run(input: &Input, path: &Path, to: Option<Format>, lossy: bool) -> Result<Outcome, Failure> {
    let Some(format) = to.or_else(|| Format::from_extension(path)) else {
        return Err(Failure::Usage(format!(
            "cannot tell the format from the name {}; say it with --to",
            path.display()
        )));
    };
    let mut reading = input.open("converts")?;
    let output: Box<dyn Write> = if path == Path::new("-") {
        Box::new(BufWriter::new(io::stdout()))
    } else {
        let file = File::create(path).map_err(|error| Failure::file(path, "write", error))?;
        Box::new(BufWriter::new(file))
    };
    let failed = |error| Failure::Trace { file: path.display().to_string(), error };
    let output = Compression::from_extension(path)
        .writer(output)
        .map_err(|error| Failure::file(path, "write", error))?;
    let mut writer = writer(format, output, lossy).map_err(failed)?;
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        for event in &batch.events {
            writer.write(event, names).map_err(failed)?;
        }
    }
    writer.finish().map_err(failed)?;
    Ok(if reading.is_cut_short() { Outcome::Incomplete } else { Outcome::Clean })
}
