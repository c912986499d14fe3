//! Where results go, and what is said beside them.

mod ascii;
mod standard;
mod target;
mod unfinished;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use foretell_report::sink::{Sink, is_stopped};
use foretell_report::visible::visible_lines;

pub(crate) use target::{Target, check};

use crate::error::Failure;
use crate::screen;

/// Says something beside the results. Names in it may come from anywhere.
pub(crate) fn note(text: &str) {
    eprintln!("{}", on_screen(&visible_lines(text)));
}

/// The text as the user's terminal can show it.
pub(crate) fn on_screen(text: &str) -> Cow<'_, str> {
    if screen::is_ascii() { ascii::ascii(text) } else { Cow::Borrowed(text) }
}

/// Writes text for people to the file, or to standard output, where it has no characters that the terminal cannot show.
pub(crate) fn write_text(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let is_output = path.is_none_or(|path| path == Path::new("-"));
    write(path, &if is_output { on_screen(text) } else { Cow::Borrowed(text) })
}

/// Writes `text` to the file, or to standard output.
pub(crate) fn write(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    write_while(path, &|| true, |sink| sink.write_all(text.as_bytes())).map(drop)
}

/// Has something written to the file, or to standard output, as long as `may_continue` says so. If that is not to the
/// end, nothing is written: whether that is so is returned.
pub(crate) fn write_while(
    path: Option<&Path>,
    may_continue: &dyn Fn() -> bool,
    render: impl FnOnce(&mut Sink<'_>) -> io::Result<()>,
) -> Result<bool, Failure> {
    let path = path.unwrap_or(Path::new("-"));
    let target = Target::new(path);
    let written = match target {
        Target::Unfinished { .. } => target.fill(
            |error| error,
            |target| {
                let mut file = BufWriter::new(target.open()?);
                render(&mut Sink::new(&mut file, may_continue))?;
                file.flush()
            },
        ),
        // What others have seen cannot be taken back.
        Target::InPlace(_) => {
            render_whole(may_continue, render).and_then(|bytes| target.open()?.write_all(&bytes))
        }
        Target::Stdout => render_whole(may_continue, render).and_then(|bytes| standard::write(&bytes)),
    };
    match written {
        Ok(()) => Ok(true),
        Err(error) if is_stopped(&error) => Ok(false),
        Err(error) => Err(Failure::file(path, "write", error)),
    }
}

fn render_whole(
    may_continue: &dyn Fn() -> bool,
    render: impl FnOnce(&mut Sink<'_>) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    render(&mut Sink::new(&mut bytes, may_continue))?;
    Ok(bytes)
}
