//! What all line-based formats share: cutting the input into lines, and telling where one of them is wrong.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use crate::error::{Position, TraceError};
use crate::event::Event;
use crate::name::{NameError, Names};
use crate::source::Batch;
use crate::symbol::{Loc, Symbol};

/// The longest line that is read. Names in real traces stay far below; a longer line means that this is no trace.
pub(crate) const LINE_LIMIT: usize = 1 << 20;

/// How much is asked for at once.
const CHUNK: usize = 1 << 18;

/// How much of a bad line is shown.
const SHOWN: usize = 200;

/// Cuts an input into lines without copying them.
pub(crate) struct Lines {
    input: Box<dyn Read>,
    buffer: Vec<u8>,
    /// The unread part of `buffer`.
    begin: usize,
    end: usize,
    /// No more input will come.
    finished: bool,
    /// Lines handed out so far.
    line: u32,
}

impl Lines {
    pub(crate) fn new(input: Box<dyn Read>) -> Lines {
        Lines { input, buffer: Vec::new(), begin: 0, end: 0, finished: false, line: 0 }
    }

    /// The number of the line that was handed out last, counted from 1.
    pub(crate) fn number(&self) -> u32 {
        self.line
    }

    /// What is in memory of the lines that were not handed out yet.
    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Counts the next line as handed out; `length` is that of the line with its end, within [`Lines::ahead`].
    #[inline]
    pub(crate) fn skip(&mut self, length: usize) -> Result<(), TraceError> {
        let Some(line) = self.line.checked_add(1) else { return Err(TraceError::TooManyEvents) };
        self.line = line;
        self.begin += length;
        Ok(())
    }

    /// The next line, without its end (`\n` or `\r\n`).
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = 0;
        let (length, step) = loop {
            let unread = &self.buffer[self.begin..self.end];
            if let Some(newline) = memchr(b'\n', &unread[searched..]) {
                break (searched + newline, searched + newline + 1);
            }
            searched = unread.len();
            if searched > LINE_LIMIT {
                let at = Position::Text { line: self.line + 1, column: 0 };
                return Err(TraceError::LineTooLong { at, limit: LINE_LIMIT });
            }
            if self.finished {
                if searched == 0 {
                    return Ok(None);
                }
                break (searched, searched);
            }
            self.refill()?;
        };
        let line = self.begin..self.begin + length;
        self.begin += step;
        let Some(number) = self.line.checked_add(1) else { return Err(TraceError::TooManyEvents) };
        self.line = number;
        let line = &self.buffer[line];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads the next line that is neither empty nor a comment and appends the event that `parse` makes of it and of
    /// its number; `false` at the end of the input.
    pub(crate) fn next_event(
        &mut self,
        batch: &mut Batch,
        parse: impl FnMut(&[u8], u32) -> Result<Event, Problem>,
    ) -> Result<bool, TraceError> {
        self.next_event_and_comments(batch, parse, |_, _| Ok(()))
    }

    /// The same, where comments may say something, too: those on the way to the event are handed to `comment`, with
    /// their numbers.
    pub(crate) fn next_event_and_comments(
        &mut self,
        batch: &mut Batch,
        mut parse: impl FnMut(&[u8], u32) -> Result<Event, Problem>,
        mut comment: impl FnMut(&[u8], u32) -> Result<(), Problem>,
    ) -> Result<bool, TraceError> {
        loop {
            let number = self.number() + 1;
            let Some(line) = self.next()? else { return Ok(false) };
            if line.first() == Some(&b'#') {
                comment(line, number).map_err(|problem| problem.locate(line, number))?;
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let event = parse(line, number).map_err(|problem| problem.locate(line, number))?;
            batch.events.push(event);
            batch.lines.push(number);
            return Ok(true);
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.finished = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            return Ok(());
        }
    }
}

/// The location of an event whose format has none: the number of its line.
pub(crate) fn line_loc(number: u32, names: &mut Names) -> Result<Loc, Problem> {
    match Symbol::number(number) {
        Some(symbol) => Ok(Loc(symbol)),
        None => names.loc(number.to_string().as_bytes()).map_err(|error| Problem::Name(0, error)),
    }
}

/// What is wrong with a line, without the line.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Something else should stand at this byte of the line.
    Expected(usize, String),
    /// The name that begins at this byte cannot be taken up.
    Name(usize, NameError),
}

impl Problem {
    pub(crate) fn expected(at: usize, what: impl Into<String>) -> Problem {
        Problem::Expected(at, what.into())
    }

    /// The problem together with where it is.
    #[cold]
    pub(crate) fn locate(self, line: &[u8], number: u32) -> TraceError {
        let position = |byte| Position::Text { line: number, column: column(line, byte) };
        match self {
            Problem::Name(byte, error) => TraceError::Name { at: position(byte), error },
            Problem::Expected(byte, expected) => TraceError::Syntax {
                at: position(byte),
                expected,
                found: found(line, byte),
                line: Some(shorten(&String::from_utf8_lossy(line), SHOWN)),
            },
        }
    }
}

/// The character of `line` in which `byte` lies, counted from 1.
fn column(line: &[u8], byte: usize) -> u32 {
    let before = String::from_utf8_lossy(&line[..byte.min(line.len())]);
    u32::try_from(before.chars().count()).unwrap_or(u32::MAX).saturating_add(1)
}

fn found(line: &[u8], byte: usize) -> String {
    let rest = line.get(byte..).unwrap_or_default();
    if rest.is_empty() {
        return "the end of the line".to_string();
    }
    format!("`{}`", shorten(&String::from_utf8_lossy(rest), 40))
}

/// `text` with control characters made visible, cut after `limit` characters.
fn shorten(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).flat_map(visible).collect();
    if text.chars().nth(limit).is_some() {
        short.push('…');
    }
    short
}

fn visible(character: char) -> impl Iterator<Item = char> {
    let escape = character.is_control() && character != '\t';
    let escaped = escape.then(|| character.escape_default());
    let plain = (!escape).then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn lines(input: impl Read + 'static) -> Result<Vec<String>, TraceError> {
        let mut lines = Lines::new(Box::new(input));
        let mut all = Vec::new();
        while let Some(line) = lines.next()? {
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(lines.number() as usize, all.len());
        Ok(all)
    }

    /// Hands out one byte at a time.
    struct Drip(&'static [u8]);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((&first, rest)) = self.0.split_first() else { return Ok(0) };
            self.0 = rest;
            buffer[0] = first;
            Ok(1)
        }
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_input() {
        for input in [&b"a\nbb\r\n\nc"[..], b"a\nbb\n\nc\n"] {
            assert_eq!(lines(input).unwrap(), ["a", "bb", "", "c"]);
            assert_eq!(lines(Drip(input)).unwrap(), ["a", "bb", "", "c"]);
        }
        assert!(lines(&b""[..]).unwrap().is_empty());
    }

    #[test]
    fn an_endless_line_is_refused_before_it_fills_the_memory() {
        let error = lines(io::repeat(b'x')).unwrap_err();
        assert!(
            matches!(error, TraceError::LineTooLong { at: Position::Text { line: 1, .. }, .. }),
            "{error}"
        );
    }

    #[test]
    fn problems_count_characters_and_show_the_rest() {
        let error = Problem::expected(4, "`|`").locate("äö\u{7}x".as_bytes(), 3);
        assert_eq!(error.position(), Some(Position::Text { line: 3, column: 3 }));
        assert_eq!(error.to_string(), "expected `|`, found `\\u{7}x`");
        let error = Problem::expected(2, "`)`").locate(b"r(", 1);
        assert_eq!(error.to_string(), "expected `)`, found the end of the line");
    }
}
