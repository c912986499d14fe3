//! Lines of source files that a report is about, as far as the files are here.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use foretell_report::Place;

/// No source file that somebody wrote is larger.
const LARGEST: u64 = 16 << 20;

/// What source files are called. A trace may come from anywhere and name any file: what is no program is not shown.
const ENDINGS: [&str; 13] =
    ["c", "h", "cc", "cpp", "cxx", "C", "hh", "hpp", "hxx", "inl", "rs", "java", "cimp"];

/// The files that were read so far, line by line; those that cannot be read are empty.
#[derive(Default)]
pub(crate) struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// The line that a location names, if it can be read.
    pub(crate) fn line(&mut self, location: &str) -> Option<String> {
        let place = Place::parse(location)?;
        if !self.files.contains_key(place.file) {
            let lines = read(Path::new(place.file)).unwrap_or_default();
            self.files.insert(place.file.to_string(), lines);
        }
        let index = usize::try_from(place.line).ok()?.checked_sub(1)?;
        self.files.get(place.file)?.get(index).cloned()
    }
}

fn read(path: &Path) -> Option<Vec<String>> {
    let ending = path.extension()?.to_str()?;
    let data = path.metadata().ok()?;
    if !ENDINGS.contains(&ending) || !data.is_file() || data.len() > LARGEST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().map(String::from).collect())
}
