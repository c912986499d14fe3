//! The front of a log whose beginning is dropped: the records from before a border that still matter after it.
//!
//! These are the records that bring about the state in which the program was at the border: who lives and who started
//! whom, the calls that every thread is in, the locks that are held, who waits, who is at a barrier, the permits of
//! semaphores, what memory is allocated, what threads are called. What memory holds is not among it: the front ends
//! with a record of something that is not understood ([`Record::Opaque`]). So everything before the border happens
//! before everything after it, in all that is predicted, and what memory holds there is in doubt.
//!
//! Records keep their clocks, so a front and what is dropped next make another front.

mod state;

use std::collections::BTreeMap;

use foretell_wire::log::{Chunk, ChunkContent, HEADER, PAGE};
use foretell_wire::record::{Context, LONGEST_RECORD, Record, SyncOp};

use self::state::{Kept, State};
use crate::LogError;
use crate::merge::{Until, for_each_at};
use crate::records::Entry;

/// What takes the place of the beginning of a log.
#[derive(Debug)]
pub struct Front {
    /// All that is older is dropped.
    pub border: u64,
    /// The chunks with what still matters, whole pages each.
    pub chunks: Vec<Vec<u8>>,
    /// Threads that have ended before the border.
    pub ended: Vec<u32>,
}

/// The front of a log that consists of its old front, if it has one, and all that threads have done before the clock
/// where it is cut (see [`foretell_wire::log::CUT`]). None if there is no moment for a border.
pub fn front(log: &[u8]) -> Result<Option<Front>, LogError> {
    let Some((last, running)) = last_moment(log)? else { return Ok(None) };
    let mut state = State::default();
    for_each_at(log, Until::END, |clock, entry| {
        if let Entry::Record(thread, record) = entry
            && clock <= last
        {
            state.record(clock, thread, &record);
        }
        Ok(())
    })?;
    let border = last.saturating_add(1);
    let ended = state.ended();
    let mut by_thread: BTreeMap<u32, Vec<Kept>> = BTreeMap::new();
    let fence = Kept { clock: border, thread: running, record: Record::Opaque { site: 0 } };
    for kept in state.into_records().into_iter().chain([fence]) {
        by_thread.entry(kept.thread).or_default().push(kept);
    }
    let chunks = by_thread.into_values().map(chunk).collect::<Result<_, _>>()?;
    Ok(Some(Front { border, chunks, ended }))
}

/// The last clock that all later records exceed and at which a thread was running, and which one that was. A fence of a
/// thread that waits, or is about to end, would have to wait for it.
fn last_moment(log: &[u8]) -> Result<Option<(u64, u32)>, LogError> {
    let (mut moment, mut before) = (None, None);
    for_each_at(log, Until::END, |clock, entry| {
        let Entry::Record(thread, record) = entry else { return Ok(()) };
        moment = before.filter(|&(earlier, _)| earlier < clock).or(moment);
        let stops = matches!(
            record,
            Record::Sync { op: SyncOp::Wait | SyncOp::Arrive | SyncOp::Depart | SyncOp::End, .. }
        );
        before = (!stops).then_some((clock, thread));
        Ok(())
    })?;
    Ok(moment)
}

/// A chunk with the records of one thread.
fn chunk(mut records: Vec<Kept>) -> Result<Vec<u8>, LogError> {
    records.sort_by_key(|kept| kept.clock);
    let (clock, thread) = records.first().map_or((0, 0), |first| (first.clock, first.thread));
    let (mut content, mut context) = (Vec::new(), Context::NEW);
    let mut room = [0; 2 * LONGEST_RECORD];
    for kept in &records {
        for record in [Record::Clock(kept.clock), kept.record] {
            let length = context.encode(&record, &mut room);
            content.extend_from_slice(room.get(..length).unwrap_or_default());
        }
    }
    // A zero says where the records end.
    let bytes = (HEADER + content.len() + 1).next_multiple_of(PAGE);
    let header = Chunk { thread, clock, content: ChunkContent::Front(&[]) }.header(bytes)?;
    let mut whole = [&header, &content[..]].concat();
    whole.resize(bytes, 0);
    Ok(whole)
}

#[cfg(test)]
mod tests;
