//! From the log of a recorded program to a trace.
//!
//! The log has bytes at addresses; a trace has variables. There are two passes over the log: the first divides memory
//! into cells and finds the threads that access them ([`cells`]), the second writes the events ([`events`]).
//!
//! * [`merge`]: the records of all threads in one order; [`records`]: their meaning
//! * [`mod@front`]: what is left of the beginning of a log that was dropped
//! * [`contents`]: what static memory held at the first fork; [`initial_locks`]: which locks the first thread holds
//!   from the beginning
//! * [`memory`]: which allocation an address belongs to at each moment
//! * [`words`]: what is known of each word; [`remembered`]: what was looked up last
//! * [`objects`]: which objects of which types memory holds
//! * [`places`]: sites and addresses as people know them
//! * [`Program`]: the code behind the log, to follow values through it
//! * [`calls`]: which calls a thread is in; [`counter`]: how many steps it has made
//! * [`races`]: what online detection has found
//! * [`mod@detours`]: untaken branches
//!
//! [`foretell_symbolic`] finds what values are computed from; the second pass feeds it.
//!
//! **What is left out, and why that is sound.** A cell that only one thread ever touches: whatever the schedule, its
//! reads see what this thread wrote, which is determined by what it read before; and the decisions that depend on it
//! are branches of the same thread, which pin those earlier reads. A cell that is never written once there is a
//! second thread: all its reads see the same in every schedule, and the thread that reads it was forked after the
//! last write. Branches before which their thread read nothing that is kept.

mod calls;
mod cells;
mod contents;
mod counter;
mod detours;
mod events;
mod front;
mod handover;
mod initial_locks;
mod memory;
mod merge;
mod objects;
mod places;
mod program;
mod races;
mod records;
mod remembered;
mod words;

pub use detours::{Detours, detours};
pub use events::Follow;
use foretell_trace::{Listed, Values};
use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks};
pub use front::{Front, front};

pub use foretell_symbolic::{GivenUp, Limits as DetourLimits, Recomputed, Tally, ValueCounts, WhyGivenUp};
pub use foretell_wire::log::{IncompleteReason, Timing};
pub use foretell_wire::races::RacingAccessKind as OnlineKind;
pub use merge::Unread;
use merge::Until;
pub use program::{Definition, Program, Source};
pub use races::{OnlineAccess, OnlineFrame, OnlinePlace, OnlineRace, OnlineRaces, races};

/// Why a log is no trace.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The program has ended before it recorded anything.
    #[error("nothing was recorded")]
    Empty,
    /// It was not written by a recorder of this version, or it is damaged.
    #[error("the log of the recorded program is damaged, or from another version")]
    Malformed,
    /// It describes a run that no trace can be made of.
    #[error(transparent)]
    NoTrace(#[from] foretell_trace::TraceError),
    /// The beginning is needed, and was dropped.
    #[error("the beginning of the recording was dropped, as --log-keep last says")]
    NoBeginning,
    /// More of something than can be counted.
    #[error("the recording is too large: {0}")]
    TooLarge(#[from] foretell_trace::name::NameError),
}

impl From<foretell_wire::Malformed> for LogError {
    fn from(_: foretell_wire::Malformed) -> LogError {
        LogError::Malformed
    }
}

/// The trace behind the log of a program, with dependence information.
pub fn convert(log: &[u8]) -> Result<Listed, LogError> {
    write(log, Follow::Reads, &|_| true).map(|written| written.events)
}

/// The trace alone: quicker, but less can be predicted.
pub fn convert_events(log: &[u8]) -> Result<Listed, LogError> {
    write(log, Follow::Nothing, &|_| true).map(|written| written.events)
}

/// A trace, how its values are computed, and how far that is known.
#[derive(Debug)]
pub struct Valued {
    /// The events, with which reads matter to what.
    pub events: Listed,
    /// Symbolic values; none if there are too many.
    pub values: Option<(Values, ValueCounts)>,
    /// What was not read of the log, if anything.
    pub unread: Option<Unread>,
    /// How many accesses to memory that other processes may see, or that has a second address, are fences and
    /// nothing else.
    pub shared: u64,
}

/// The current phase of the conversion, for the caller that decides whether to continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// The first pass: into which pieces does memory fall?
    Survey,
    /// The second one, much longer: the events.
    Events,
}

/// The trace behind the log of a program, with what is wanted beside the events: the more, the slower, but the more
/// can be predicted. Values are to be given to the trace that is made of the events, by
/// [`foretell_trace::Trace::with_values`].
pub fn convert_with(log: &[u8], follow: Follow) -> Result<Valued, LogError> {
    convert_while(log, follow, &|_| true)
}

/// The same, as far as there is time: once `may_continue` says no, the rest of the log is left unread, as if the
/// program had been killed there.
pub fn convert_while(
    log: &[u8],
    follow: Follow,
    may_continue: &dyn Fn(Pass) -> bool,
) -> Result<Valued, LogError> {
    let written = write(log, follow, may_continue)?;
    let events::Written { events, values, unread, shared, .. } = written;
    Ok(Valued { events, values, unread, shared })
}

/// Where threads could not be followed, so that everything that they had read was taken to matter; the most frequent
/// place first.
pub fn given_up(log: &[u8]) -> Result<Vec<GivenUp>, LogError> {
    write(log, Follow::Reads, &|_| true).map(|written| written.given_up)
}

fn write(
    log: &[u8],
    follow: Follow,
    may_continue: &dyn Fn(Pass) -> bool,
) -> Result<events::Written, LogError> {
    if !foretell_wire::log::is_begun(log) {
        return Err(LogError::Empty);
    }
    let until = Until { may_continue: &|| may_continue(Pass::Survey), ..Until::END };
    let (mut survey, passed) = cells::survey(log, until)?;
    // Where nothing is shared there is nothing to follow.
    let needed = if survey.is_anything_kept() { follow } else { follow.min(Follow::Reads) };
    // Where there is no code to follow, or not from the beginning, branches alone tell what matters.
    let is_blind = survey.places.is_managed() || dropped(log).is_some();
    let needed = if is_blind { Follow::Nothing } else { needed };
    // What was not surveyed is not known.
    let until = Until { entries: passed.entries, may_continue: &|| may_continue(Pass::Events) };
    if let Some(written) = events::write(log, &survey, needed, until)? {
        return Ok(written);
    }
    survey.has_opaque = true;
    // Fences begin with the first thread, and there is always one.
    let follow = if is_blind { Follow::Nothing } else { follow };
    events::write(log, &survey, follow, until)?.ok_or(LogError::Malformed)
}

/// Computes again what a program has computed, from what it has read, and compares that with its log.
pub fn recompute(log: &[u8]) -> Result<Recomputed, LogError> {
    if !foretell_wire::log::is_begun(log) {
        return Err(LogError::Empty);
    }
    if dropped(log).is_some() {
        return Err(LogError::NoBeginning);
    }
    let mut recomputation = foretell_symbolic::Recomputation::default();
    merge::for_each(log, |entry| {
        match entry {
            records::Entry::Module(module) => recomputation.add(&module),
            records::Entry::Record(thread, record) => recomputation.record(thread, &record),
        }
        Ok(())
    })?;
    Ok(recomputation.finish())
}

/// What made a run depend on real time first, so that the same seed may give another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timed {
    /// What it was.
    pub timing: Timing,
    /// What the thread is called.
    pub thread: String,
    /// Where it last called out of instrumented code; `?` if that is not known.
    pub location: String,
}

/// What made the run depend on real time, if anything did.
pub fn timed(log: &[u8]) -> Option<Timed> {
    let mut chunks = Chunks::new(log).ok()?;
    let (timing, thread, site) = chunks.timed?;
    let mut places = places::Places::default();
    while let Ok(Some(chunk)) = chunks.next_chunk() {
        if let ChunkContent::Module(content) = chunk.content
            && let Ok(module) = Module::decode(content)
        {
            places.add(&module).ok()?;
        }
    }
    Some(Timed { timing, thread: events::name_of(thread), location: places.site(site).location })
}

/// How many bytes of records were dropped from the beginning of the log, if any.
pub fn dropped(log: &[u8]) -> Option<u64> {
    Chunks::new(log).ok()?.border.map(|(_, bytes)| bytes)
}

/// Why the log of a program is not complete, as far as the program itself knew.
pub fn why_cut(log: &[u8]) -> Option<IncompleteReason> {
    Chunks::new(log).ok()?.why
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_was_never_begun_is_empty_and_not_damaged() {
        assert!(matches!(convert(&[]), Err(LogError::Empty)));
        assert!(matches!(convert(&[0; 8192]), Err(LogError::Empty)));
        assert!(matches!(convert(&[7; 8192]), Err(LogError::Malformed)));
    }
}
