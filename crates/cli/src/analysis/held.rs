//! The trace in memory: read when it is first needed, and then shared by all stages of one analysis.

use std::cell::OnceCell;

use foretell_trace::Trace;

use crate::error::Failure;
use crate::input::Input;
use crate::memory;

/// What an event costs while pairs are decided: itself, the indexes over the trace, and the clocks.
const BYTES_PER_EVENT: u64 = 150;

/// A trace that is, or may come to be, in memory.
pub(crate) struct Held<'a> {
    input: &'a Input,
    /// The trace, if it was in memory before.
    given: Option<&'a Trace>,
    loaded: OnceCell<Trace>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(input: &'a Input, given: Option<&'a Trace>) -> Held<'a> {
        Held { input, given, loaded: OnceCell::new() }
    }

    pub(crate) fn input(&self) -> &'a Input {
        self.input
    }

    /// The trace, if it is in memory.
    pub(crate) fn get(&self) -> Option<&Trace> {
        self.given.or_else(|| self.loaded.get())
    }

    /// The trace, however large it is.
    pub(crate) fn load(&self, doing: &str) -> Result<&Trace, Failure> {
        match self.get() {
            Some(trace) => Ok(trace),
            None => {
                let trace = self.input.load(doing)?;
                Ok(self.loaded.get_or_init(|| trace))
            }
        }
    }

    /// The trace, if working on it needs no more than `limit` bytes, or than the system has to give; otherwise for how
    /// many events there is room.
    pub(crate) fn load_within(
        &self,
        doing: &str,
        limit: Option<u64>,
    ) -> Result<Result<&Trace, usize>, Failure> {
        let room = limit.or_else(memory::available).map_or(u64::MAX, |bytes| bytes / BYTES_PER_EVENT);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if self.get().is_none() {
            let Some(trace) = self.input.load_up_to(doing, room)? else { return Ok(Err(room)) };
            self.loaded.get_or_init(|| trace);
        }
        Ok(self.get().filter(|trace| trace.events().len() <= room).ok_or(room))
    }
}
