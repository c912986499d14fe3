//! Where results go, and what is said beside them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use foretell_report::visible::visible_lines;

use crate::error::Failure;

/// Says something beside the results. Names in it may come from anywhere.
pub(crate) fn note(text: &str) {
    eprintln!("{}", visible_lines(text));
}

/// Writes `text` to the file, or to standard output.
pub(crate) fn write(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path {
        Some(path) if path != Path::new("-") => {
            fs::write(path, text).map_err(|error| Failure::file(path, "write", error))
        }
        _ => {
            let mut output = io::stdout().lock();
            let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
            written.map_err(|error| Failure::file(Path::new("-"), "write", error))
        }
    }
}
