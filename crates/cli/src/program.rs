//! Programs of the small language CIMP, as they stand in files.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_cimp::program::{Position, Program};
use foretell_cimp::{Diagnostic, compile};

use crate::error::Failure;

/// A program with its text.
pub(crate) struct Source {
    path: PathBuf,
    text: String,
    pub(crate) program: Program,
}

impl Source {
    /// Reads and compiles the file. What is wrong with it is one failure, however many errors it has.
    pub(crate) fn load(path: &Path) -> Result<Source, Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::file(path, "read", error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::Program(format!("error: {}: not UTF-8 text", path.display())))?;
        let program = compile(&text).map_err(|errors| {
            let file = path.display().to_string();
            let rendered: Vec<String> = errors.iter().map(|error| error.render(&file, &text)).collect();
            Failure::Program(rendered.join("\n"))
        })?;
        Ok(Source { path: path.to_path_buf(), text, program })
    }

    /// The file's name as people know it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The line of the program that the position is in.
    pub(crate) fn line(&self, position: Position) -> String {
        let line = self.text.lines().nth((position.line as usize).saturating_sub(1));
        line.unwrap_or_default().trim().to_string()
    }

    /// A message about a place in the program, with the line and a mark below the spot, and what might help.
    pub(crate) fn point_at(&self, position: Position, message: &str, help: Option<&str>) -> String {
        let help = help.map(String::from);
        let message = Diagnostic { position, length: 1, message: message.to_string(), help };
        message.render(&self.name(), &self.text)
    }
}
