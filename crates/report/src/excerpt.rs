//! The lines of a source file around a place.

use serde::{Deserialize, Serialize};

use crate::context::SourceLocation;

/// What a source file shows around a place, or why it shows nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the first line.
    pub first: u32,
    /// The lines; none if the file could not be shown.
    pub lines: Vec<String>,
    /// What keeps the lines from being shown, or from being those that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

/// Why what a file shows may not be what ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The file is not here, or may not be read.
    Missing,
    /// The file is no text, or is not called as programs are.
    NoSource,
    /// The file is too large to be hand-written.
    Huge,
    /// The file has fewer lines.
    Shorter,
    /// The file was changed after the run was recorded.
    Changed,
}

impl Excerpt {
    /// The line that a location names, if it is shown here.
    pub fn line_of(&self, location: &str) -> Option<String> {
        let index = SourceLocation::parse(location)?.line.checked_sub(self.first)?;
        self.lines.get(usize::try_from(index).ok()?).cloned()
    }
}

impl Doubt {
    /// The doubt in words, to follow the name of the file.
    pub fn words(self) -> &'static str {
        match self {
            Doubt::Missing => "cannot be read here",
            Doubt::NoSource => "is not a source file",
            Doubt::Huge => "is too large to be shown",
            Doubt::Shorter => "has no such line",
            Doubt::Changed => "was changed after the recording; this may be another line",
        }
    }
}
