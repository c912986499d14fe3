//! Where a report is written, piece by piece. A report can be very large, so a renderer can be stopped between two
//! pieces.

use std::fmt;
use std::io::{self, Write};

/// After so many bytes it is asked whether to go on.
const LOOK: usize = 1 << 16;

/// Takes what a renderer writes, and says when to stop.
pub struct Sink<'a> {
    to: &'a mut dyn Write,
    may_continue: &'a dyn Fn() -> bool,
    /// How many bytes were written since it was asked.
    unasked: usize,
}

/// Rendering was stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped before the report was complete")
    }
}

impl std::error::Error for Stopped {}

/// Whether a renderer was stopped, and has not failed.
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Stopped>)
}

impl<'a> Sink<'a> {
    /// Writes there as long as `may_continue` says so.
    pub fn new(to: &'a mut dyn Write, may_continue: &'a dyn Fn() -> bool) -> Sink<'a> {
        Sink { to, may_continue, unasked: 0 }
    }

    /// Fails if rendering is to stop; to be asked before each piece that takes a while.
    pub(crate) fn look(&self) -> io::Result<()> {
        if (self.may_continue)() { Ok(()) } else { Err(io::Error::other(Stopped)) }
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unasked += bytes.len();
        if self.unasked >= LOOK {
            self.unasked = 0;
            self.look()?;
        }
        // A long piece is not written at once.
        self.to.write(bytes.get(..LOOK).unwrap_or(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// All that is written, in memory and to its end.
pub(crate) fn whole(write: impl FnOnce(&mut Sink<'_>) -> io::Result<()>) -> io::Result<String> {
    let mut bytes = Vec::new();
    write(&mut Sink::new(&mut bytes, &|| true))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_stopped_is_told_from_what_fails() {
        let (mut bytes, looks) = (Vec::new(), Cell::new(0));
        let may_continue = || {
            looks.set(looks.get() + 1);
            looks.get() < 3
        };
        let mut sink = Sink::new(&mut bytes, &may_continue);
        let stopped = sink.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
        assert!(is_stopped(&stopped) && !is_stopped(&io::Error::other("no room")));
        assert_eq!(bytes.len(), 2 * LOOK);
    }
}
