//! What can go wrong, as it is shown to people.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use foretell_report::visible::{fit, visible, width};
use foretell_shard::ShardError;
use foretell_trace::{Position, TraceError};

use crate::output;

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A trace cannot be read.
    Trace { file: String, error: TraceError },
    /// A file cannot be opened or written.
    File { path: PathBuf, doing: &'static str, error: io::Error },
    /// A program has errors, or cannot be read; the text says all, line by line.
    Program(String),
    /// A plan or a shard cannot be made or used.
    Shard { path: PathBuf, error: ShardError },
    /// A trace is not the same any more when it is read again.
    Changed { file: String },
    /// The command line, or a file that it names, asks for something that cannot be done. Another command line helps.
    Usage(String),
    /// The system lacks something: a tool, a process, memory or room. Another system helps.
    Environment(String),
    /// A bug of foretell.
    Internal(String),
}

impl Failure {
    pub(crate) fn file(path: &Path, doing: &'static str, error: io::Error) -> Failure {
        Failure::File { path: path.to_path_buf(), doing, error }
    }

    /// A report cannot be written down.
    #[expect(clippy::needless_pass_by_value, reason = "made to be used with `map_err`")]
    pub(crate) fn rendering(error: io::Error) -> Failure {
        Failure::Environment(format!("cannot write the report: {error}"))
    }

    /// The reader of our output has closed the pipe: not an error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Failure::File { error, .. } | Failure::Trace { error: TraceError::Io(error), .. } => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

impl std::error::Error for Failure {}

impl From<foretell_engine::Error> for Failure {
    fn from(error: foretell_engine::Error) -> Failure {
        use foretell_engine::Error;
        match error {
            Error::Trace { file, error } => Failure::Trace { file, error },
            Error::Changed { file } => Failure::Changed { file },
            Error::Plan(why) => Failure::Usage(why),
            // What the engine was given to read is ours, and so is what it says if it cannot be read.
            Error::Input(error) => match error.downcast::<Failure>() {
                Ok(failure) => *failure,
                Err(error) => Failure::Usage(error.to_string()),
            },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program(text) => f.write_str(text),
            Failure::Usage(text) | Failure::Environment(text) => write!(f, "error: {text}"),
            Failure::Internal(text) => write!(f, "error: {text} (a bug of foretell: please report it)"),
            Failure::Changed { file } => write!(f, "error: {} was changed while it was read", visible(file)),
            Failure::File { path, doing, error } => {
                write!(f, "error: cannot {doing} {}: {error}", visible(&path.display().to_string()))
            }
            Failure::Shard { path, error } => {
                write!(f, "error: {}: {}", visible(&path.display().to_string()), visible(&error.to_string()))
            }
            Failure::Trace { file, error } => write_trace_error(f, file, error),
        }
    }
}

fn write_trace_error(f: &mut fmt::Formatter<'_>, file: &str, error: &TraceError) -> fmt::Result {
    let (file, error_text) = (visible(file), fit(&visible(&error.to_string()), TOLD));
    match error.position() {
        Some(at @ Position::Text { .. }) => write!(f, "error: {file}:{at}: {error_text}")?,
        Some(at) => write!(f, "error: {file}: {at}: {error_text}")?,
        None => write!(f, "error: {file}: {error_text}")?,
    }
    match (error.position(), error.line()) {
        (Some(Position::Text { line, column }), Some(text)) if column > 0 => {
            write_excerpt(f, line, column, text)
        }
        _ => Ok(()),
    }
}

/// So much of a bad line is shown, and of a message about it.
const SHOWN: usize = 160;
const TOLD: usize = 400;
/// With more characters that cannot be shown, it is no text.
const UNSHOWN: usize = 8;

/// The bad line with a mark below the spot; of a long line, what is around the spot.
fn write_excerpt(f: &mut fmt::Formatter<'_>, line: u32, column: u32, text: &str) -> fmt::Result {
    if text.chars().filter(|character| character.is_control()).count() > UNSHOWN {
        return Ok(());
    }
    let (text, column) = around(text, column);
    let text = text.as_str();
    let margin = line.to_string().len();
    write!(f, "\n{:margin$} |\n{line} | {}", "", visible(text))?;
    let before = column.saturating_sub(1) as usize;
    if before <= text.chars().count() {
        let before: String = text.chars().take(before).collect();
        write!(f, "\n{:margin$} | {}^", "", " ".repeat(width(&visible(&before))))?;
    }
    Ok(())
}

/// What is around this column, counted from 1, and the column in that.
fn around(text: &str, column: u32) -> (String, u32) {
    let length = text.chars().count();
    if length <= SHOWN {
        return (text.to_string(), column);
    }
    let from = (column as usize).saturating_sub(SHOWN / 2).min(length - SHOWN);
    let shown: String = text.chars().skip(from).take(SHOWN).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + SHOWN < length { "…" } else { "" });
    let at = column as usize - from + before.chars().count();
    (format!("{before}{shown}{after}"), u32::try_from(at).unwrap_or(1))
}

/// What went wrong with some of several traces. The others are still analysed, and their reports are kept.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    last: Option<Failure>,
}

impl Failures {
    /// The result, if there is one.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        let failure = match result {
            Ok(result) => return Some(result),
            Err(failure) => failure,
        };
        if let Some(earlier) = self.last.replace(failure) {
            output::note(&earlier.to_string());
        }
        None
    }

    /// Fails if anything did; what failed last is still to be reported.
    pub(crate) fn into_result(self) -> Result<(), Failure> {
        self.last.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_spot_is_shown() {
        assert_eq!(around("short", 3), ("short".to_string(), 3));
        let (text, column) = around(&format!("{}!{}", "a".repeat(500), "b".repeat(500)), 501);
        assert_eq!(text.chars().nth(column as usize - 1), Some('!'), "{text}");
        assert!(text.starts_with('…') && text.ends_with('…') && text.chars().count() == SHOWN + 2);
    }

    #[test]
    fn bugs_are_told_from_other_failures() {
        assert_eq!(Failure::Usage("which command?".to_string()).to_string(), "error: which command?");
        assert_eq!(Failure::Environment("no room".to_string()).to_string(), "error: no room");
        let bug = Failure::Internal("a run is lost".to_string()).to_string();
        assert!(bug.starts_with("error: a run is lost") && bug.contains("bug of foretell"), "{bug}");
    }
}
