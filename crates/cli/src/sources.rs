//! Lines of source files that a report is about, as far as the files are here.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretell_engine::Excerpts;
use foretell_report::{Doubt, Excerpt, SourceLocation};

use crate::input::TraceFile;

/// Larger source files are not read.
const LARGEST: u64 = 16 << 20;
/// So many lines before and after a place are shown with it,
const AROUND: usize = 3;
/// and of each so many characters: longer lines are cut.
const LONGEST: usize = 400;

/// What source files are called. A trace may come from anywhere and name any file: what is no program is not shown.
const ENDINGS: [&str; 13] =
    ["c", "h", "cc", "cpp", "cxx", "C", "hh", "hpp", "hxx", "inl", "rs", "java", "cimp"];

/// Whether a file is called as programs are.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The files that were read so far.
pub(crate) struct Sources {
    /// When the run was recorded, where that is known.
    recorded: Option<SystemTime>,
    /// The file that places are in that name none.
    program: Option<String>,
    files: HashMap<String, Result<Source, Doubt>>,
}

/// A file, line by line.
struct Source {
    lines: Vec<String>,
    is_changed: bool,
}

impl Sources {
    /// Nothing is read yet. Files that were changed after the recording are marked.
    pub(crate) fn new(input: &TraceFile) -> Sources {
        Sources::since(input.written(), input.program())
    }

    /// The same for what was recorded at this time; `program` is the file of places that name none.
    pub(crate) fn since(recorded: Option<SystemTime>, program: Option<String>) -> Sources {
        Sources { recorded, program, files: HashMap::new() }
    }

    /// What is around the place that a location names, if it names one.
    fn look_up(&mut self, location: &str) -> Option<Excerpt> {
        let place = SourceLocation::parse(location)?;
        let file = if place.file.is_empty() { self.program.clone()? } else { place.file.to_string() };
        let recorded = self.recorded;
        let of_nothing = |doubt| Excerpt { first: place.line, lines: Vec::new(), doubt: Some(doubt) };
        let path = PathBuf::from(&file);
        match self.files.entry(file).or_insert_with(|| read(&path, recorded)) {
            Ok(source) => Some(source.around(place.line).unwrap_or_else(|| of_nothing(Doubt::Shorter))),
            Err(doubt) => Some(of_nothing(*doubt)),
        }
    }
}

impl Excerpts for Sources {
    fn excerpt(&mut self, location: &str) -> Option<Excerpt> {
        self.look_up(location)
    }
}

impl Source {
    /// The lines around this one, if there is such a line.
    fn around(&self, line: u32) -> Option<Excerpt> {
        let index = usize::try_from(line).ok()?.checked_sub(1).filter(|&index| index < self.lines.len())?;
        let (first, end) = (index.saturating_sub(AROUND), (index + AROUND + 1).min(self.lines.len()));
        let shown = |line: &String| line.chars().take(LONGEST).collect();
        Some(Excerpt {
            first: u32::try_from(first + 1).ok()?,
            lines: self.lines.get(first..end)?.iter().map(shown).collect(),
            doubt: self.is_changed.then_some(Doubt::Changed),
        })
    }
}

fn read(path: &Path, recorded: Option<SystemTime>) -> Result<Source, Doubt> {
    if !is_source(path) {
        return Err(Doubt::NoSource);
    }
    let data = path.metadata().map_err(|_| Doubt::Missing)?;
    if !data.is_file() {
        return Err(Doubt::NoSource);
    }
    if data.len() > LARGEST {
        return Err(Doubt::Huge);
    }
    let bytes = fs::read(path).map_err(|_| Doubt::Missing)?;
    if bytes.contains(&0) {
        return Err(Doubt::NoSource);
    }
    let modified = data.modified().ok();
    Ok(Source {
        lines: String::from_utf8_lossy(&bytes).lines().map(String::from).collect(),
        is_changed: recorded.zip(modified).is_some_and(|(recorded, modified)| modified > recorded),
    })
}
