//! Finding out what format an input has, without reading anything twice.

use std::io::{self, Cursor, Read};
use std::path::Path;

use memchr::memchr;

use crate::error::TraceError;
use crate::format::binary::{self, BinaryReader};
use crate::format::compress::Compression;
use crate::format::csv::CsvReader;
use crate::format::rr::RoadRunnerReader;
use crate::format::text::TextReader;
use crate::source::Source;

/// How far into the input its format may be looked for.
const LOOK_AHEAD: usize = 1 << 16;

/// How much of it is asked for at once.
const LINE_AHEAD: usize = 1 << 8;

/// How often one compressed stream may lie inside another: enough for every honest input.
const NESTING: usize = 3;

/// The formats of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One event a line, `thread|operation|location`: [`crate::format::text`].
    Text,
    /// RAPID's CSV, a column for each thread: [`crate::format::csv`].
    Csv,
    /// RoadRunner's text: [`crate::format::rr`].
    RoadRunner,
    /// The recording format: [`crate::format::binary`].
    Binary,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Text, Format::Csv, Format::RoadRunner, Format::Binary];

    /// The name that messages and the command line use.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Csv => "csv",
            Format::RoadRunner => "rr",
            Format::Binary => "binary",
        }
    }

    /// What the end of a file's name says, whether or not the file is compressed.
    pub fn from_extension(path: &Path) -> Option<Format> {
        let compressed = Compression::from_extension(path) != Compression::None;
        let path = if compressed { Path::new(path.file_stem()?) } else { path };
        match path.extension()?.to_str()? {
            "std" | "txt" | "trace" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "rr" => Some(Format::RoadRunner),
            "ftr" => Some(Format::Binary),
            _ => None,
        }
    }

    fn reader(self, input: Box<dyn Read>) -> Box<dyn Source> {
        match self {
            Format::Text => Box::new(TextReader::new(input)),
            Format::Csv => Box::new(CsvReader::new(input)),
            Format::RoadRunner => Box::new(RoadRunnerReader::new(input)),
            Format::Binary => Box::new(BinaryReader::new(input)),
        }
    }
}

/// Reads a trace of any format, compressed or not. Compression and recordings are recognised whatever `hint` says;
/// without a hint the first line that is not a comment decides between the other formats.
pub fn open(input: Box<dyn Read>, hint: Option<Format>) -> Result<Box<dyn Source>, TraceError> {
    let mut input = input;
    for _ in 0..NESTING {
        let (first, whole) = peek(input, binary::MAGIC.len())?;
        input = whole;
        if first == binary::MAGIC {
            return Ok(Format::Binary.reader(input));
        }
        match Compression::of(&first) {
            Compression::None => break,
            compression => input = compression.reader(input)?,
        }
    }
    let input = without_mark(input)?;
    match hint {
        Some(format) => Ok(format.reader(input)),
        None => guess(input),
    }
}

/// Some editors begin text files with a byte order mark. It is not part of the first thread's name.
fn without_mark(input: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let (first, mut whole) = peek(input, MARK.len())?;
    if first == MARK {
        whole.read_exact(&mut [0; MARK.len()])?;
    }
    Ok(whole)
}

/// The first `count` bytes (fewer if the input ends before), and the input with them still in front.
fn peek(mut input: Box<dyn Read>, count: usize) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut first = Vec::new();
    (&mut input).take(count as u64).read_to_end(&mut first)?;
    Ok((first.clone(), Box::new(Cursor::new(first).chain(input))))
}

/// Looks ahead no further than it must: more may be long in coming.
fn guess(mut input: Box<dyn Read>) -> Result<Box<dyn Source>, TraceError> {
    let mut first = Vec::new();
    let format = loop {
        let known = first.len();
        (&mut input).take(LINE_AHEAD as u64).read_to_end(&mut first)?;
        let finished = first.len() < known + LINE_AHEAD || first.len() >= LOOK_AHEAD;
        if let Some(format) = format_of(&first, finished) {
            break format;
        }
    };
    Ok(format.reader(Box::new(Cursor::new(first).chain(input))))
}

/// The format that the first event looks like, once all of its line is there or no more will come. Text if nothing
/// fits: its error tells most people most.
fn format_of(first_bytes: &[u8], finished: bool) -> Option<Format> {
    let mut rest = first_bytes;
    while !rest.is_empty() {
        let end = memchr(b'\n', rest);
        if end.is_none() && !finished {
            return None;
        }
        let (line, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        match line.trim_ascii() {
            [] | [b'#', ..] => rest = after,
            [b'@', ..] => return Some(Format::RoadRunner),
            line if line.contains(&b',') && !line.contains(&b'|') => return Some(Format::Csv),
            _ => return Some(Format::Text),
        }
    }
    finished.then_some(Format::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_tells_the_format() {
        for (text, format) in [
            ("# a,b\n\n@ Rd(1,x)\n", Format::RoadRunner),
            ("T0|r(x,1)|1\n", Format::Text),
            ("\r\n,r(x)\r\n", Format::Csv),
            ("hello\n", Format::Text),
        ] {
            assert_eq!(format_of(text.as_bytes(), false), Some(format), "{text}");
        }
        assert_eq!(format_of(b"# comment", false), None);
        assert_eq!(format_of(b",r(x)", false), None);
        assert_eq!(format_of(b",r(x)", true), Some(Format::Csv));
        assert_eq!(format_of(b"", true), Some(Format::Text));
    }

    #[test]
    fn names_of_files_tell_the_format() {
        for (path, format) in [
            ("a/b.std", Some(Format::Text)),
            ("b.txt.gz", Some(Format::Text)),
            ("b.trace.zst", Some(Format::Text)),
            ("b.csv", Some(Format::Csv)),
            ("b.rr.gz", Some(Format::RoadRunner)),
            ("b.ftr", Some(Format::Binary)),
            ("b.gz", None),
            ("std", None),
            ("b.std.gz.gz", None),
        ] {
            assert_eq!(Format::from_extension(Path::new(path)), format, "{path}");
        }
    }
}
