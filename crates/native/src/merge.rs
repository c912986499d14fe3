//! The records of all threads, merged by their clocks.
//!
//! Whatever two threads did to the same memory or object, the later one has the larger clock; equal clocks belong to
//! things that do not touch each other, and which of these comes first does not matter, as long as it is always the
//! same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks};
use foretell_wire::record::{Context, Record, SyncOp, tells_clock};

use crate::LogError;
use crate::records::Entry;

/// A log with more threads than this is malformed.
const MOST_THREADS: u32 = 1 << 22;

/// The chunks of one thread, or a module, and how far they have been read.
struct Stream<'a> {
    thread: u32,
    /// The chunks that follow, the next one last.
    chunks: Vec<(u64, ChunkContent<'a>)>,
    records: &'a [u8],
    context: Context,
    /// The clock of the next record, if it has none of its own.
    clock: u64,
    /// The module that comes next.
    module: Option<&'a [u8]>,
    /// Records that are older than this do not count, but for those at the front.
    border: u64,
}

impl<'a> Stream<'a> {
    fn new(thread: u32, mut chunks: Vec<(u64, ChunkContent<'a>)>, border: u64) -> Stream<'a> {
        chunks.reverse();
        Stream { thread, chunks, records: &[], context: Context::NEW, clock: 0, module: None, border }
    }

    /// How many bytes of records are still to be read.
    fn left(&self) -> u64 {
        let of = |content: &ChunkContent<'_>| match content {
            ChunkContent::Records(records) | ChunkContent::Front(records) => records.len() as u64,
            ChunkContent::Module(_) | ChunkContent::Memory(_) => 0,
        };
        self.records.len() as u64 + self.chunks.iter().map(|(_, content)| of(content)).sum::<u64>()
    }

    /// The clock of what [`Stream::take`] gives next.
    #[inline]
    fn advance(&mut self) -> Result<Option<u64>, LogError> {
        match self.records.first() {
            Some(&kind) if kind != 0 && !tells_clock(kind) => Ok(Some(self.clock)),
            _ => self.advance_far(),
        }
    }

    /// The same, where something else comes first than a record.
    fn advance_far(&mut self) -> Result<Option<u64>, LogError> {
        loop {
            while let Some(&kind) = self.records.first().filter(|&&kind| kind != 0) {
                if !tells_clock(kind) {
                    return Ok(Some(self.clock));
                }
                match self.context.decode(&mut self.records)? {
                    Record::Clock(clock) => self.clock = clock,
                    Record::Ahead(steps) => self.clock = self.clock.saturating_add(steps),
                    _ => return Err(LogError::Malformed),
                }
            }
            let Some((clock, content)) = self.chunks.pop() else { return Ok(None) };
            match content {
                ChunkContent::Records(records) => {
                    (self.records, self.context, self.clock) = (records, Context::NEW, clock);
                    self.skip_to_border()?;
                }
                ChunkContent::Front(records) => {
                    (self.records, self.context, self.clock) = (records, Context::NEW, clock);
                }
                ChunkContent::Module(content) => {
                    (self.records, self.module) = (&[], Some(content));
                    return Ok(Some(clock));
                }
                // It belongs to the first fork, whatever the clock, and is asked for there.
                ChunkContent::Memory(_) => {}
            }
        }
    }

    /// Passes over the records of a chunk that are older than the border.
    fn skip_to_border(&mut self) -> Result<(), LogError> {
        while let Some(&kind) = self.records.first().filter(|&&kind| kind != 0)
            && (self.clock < self.border || tells_clock(kind))
        {
            match self.context.decode(&mut self.records)? {
                Record::Clock(clock) => self.clock = clock,
                Record::Ahead(steps) => self.clock = self.clock.saturating_add(steps),
                _ => self.clock = self.clock.saturating_add(1),
            }
        }
        Ok(())
    }

    /// What comes next, after [`Stream::advance`] has told its clock.
    #[inline]
    fn take(&mut self) -> Result<Entry<'a>, LogError> {
        if let Some(content) = self.module.take() {
            return Ok(Entry::Module(Module::decode(content)?));
        }
        let record = self.context.decode(&mut self.records)?;
        self.clock = self.clock.saturating_add(1);
        Ok(Entry::Record(done_by(self.thread, &record), record))
    }
}

/// The record of the last thread at a barrier counts for all that leave it.
fn done_by(thread: u32, record: &Record<'_>) -> u32 {
    match *record {
        Record::Sync { op: SyncOp::Depart, other, .. } => {
            u32::try_from(other).ok().filter(|&other| other < MOST_THREADS).unwrap_or(thread)
        }
        _ => thread,
    }
}

/// Modules come first: they are there before what has the same clock.
fn streams<'a>(
    chunks: &mut Chunks<'a>,
    may_continue: &dyn Fn() -> bool,
) -> Result<Vec<Stream<'a>>, LogError> {
    let (mut streams, mut by_thread) = (Vec::new(), BTreeMap::<u32, Vec<_>>::new());
    let mut passing = Passing::new(may_continue);
    let border = chunks.border.map_or(0, |(border, _)| border);
    while let Some(chunk) = chunks.next_chunk()? {
        passing.chunk();
        if chunk.thread >= MOST_THREADS {
            return Err(LogError::Malformed);
        }
        let part = (chunk.clock, chunk.content);
        match chunk.content {
            ChunkContent::Module(_) => streams.push(Stream::new(chunk.thread, vec![part], border)),
            ChunkContent::Records(_) | ChunkContent::Front(_) => {
                by_thread.entry(chunk.thread).or_default().push(part);
            }
            ChunkContent::Memory(_) => {}
        }
    }
    for (thread, mut chunks) in by_thread {
        // A thread writes to the same place again and again, and appends what it wrote: what stands first may be the
        // last.
        let place =
            |&(clock, content): &(u64, ChunkContent<'_>)| (!matches!(content, ChunkContent::Front(_)), clock);
        chunks.sort_by_key(place);
        // A copy does not count as long as the original is there, which stands before it.
        chunks.dedup_by_key(|part| place(part));
        streams.push(Stream::new(thread, chunks, border));
    }
    Ok(streams)
}

/// The caller is asked after so many entries whether to continue.
const LOOKS: u64 = 1 << 12;
/// And after so many chunks.
const CHUNK_LOOKS: u64 = 8;

/// Looks at the beginnings of chunks alone. That is quick, and a part of them would be worth nothing: so the caller is
/// notified, but cannot stop it.
pub(crate) struct Passing<'a> {
    may_continue: &'a dyn Fn() -> bool,
    chunks: u64,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(may_continue: &'a dyn Fn() -> bool) -> Passing<'a> {
        Passing { may_continue, chunks: 0 }
    }

    pub(crate) fn chunk(&mut self) {
        self.chunks += 1;
        if self.chunks.is_multiple_of(CHUNK_LOOKS) {
            (self.may_continue)();
        }
    }
}

/// How far to go through a log.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    /// How many entries are looked at, at most.
    pub(crate) entries: u64,
    /// Whether to continue.
    pub(crate) may_continue: &'a dyn Fn() -> bool,
}

impl Until<'_> {
    /// To its end.
    pub(crate) const END: Until<'static> = Until { entries: u64::MAX, may_continue: &|| true };
}

/// How far a log was gone through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// It is complete, and so is what was looked at.
    pub(crate) is_complete: bool,
    /// How many entries were looked at.
    pub(crate) entries: u64,
    /// What was not, if anything.
    pub(crate) unread: Option<Unread>,
}

/// How much of a log was not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unread {
    /// How many bytes of records were read,
    pub read: u64,
    /// of how many.
    pub of: u64,
}

/// Goes through the whole log; says whether it is complete.
pub(crate) fn for_each<'a>(
    log: &'a [u8],
    look: impl FnMut(Entry<'a>) -> Result<(), LogError>,
) -> Result<bool, LogError> {
    for_each_until(log, Until::END, look).map(|passed| passed.is_complete)
}

/// Goes through the log, as far as that is wanted.
pub(crate) fn for_each_until<'a>(
    log: &'a [u8],
    until: Until<'_>,
    mut look: impl FnMut(Entry<'a>) -> Result<(), LogError>,
) -> Result<Passed, LogError> {
    for_each_at(log, until, |_, entry| look(entry))
}

/// The same with the clock of each entry.
pub(crate) fn for_each_at<'a>(
    log: &'a [u8],
    until: Until<'_>,
    mut look: impl FnMut(u64, Entry<'a>) -> Result<(), LogError>,
) -> Result<Passed, LogError> {
    let mut chunks = Chunks::new(log)?;
    let mut streams = streams(&mut chunks, until.may_continue)?;
    let all: u64 = streams.iter().map(Stream::left).sum();
    let mut entries = 0_u64;
    let cut = chunks.cut.unwrap_or(u64::MAX);
    let mut heads = BinaryHeap::new();
    for (index, stream) in streams.iter_mut().enumerate() {
        heads.extend(stream.advance()?.map(|clock| Reverse((clock, index))));
    }
    while let Some(Reverse((clock, index))) = heads.pop()
        && clock < cut
    {
        let Some(stream) = streams.get_mut(index) else { break };
        let others = heads.peek().map(|&Reverse(key)| key);
        let mut clock = clock;
        loop {
            if entries >= until.entries || (entries % LOOKS == LOOKS - 1 && !(until.may_continue)()) {
                let left: u64 = streams.iter().map(Stream::left).sum();
                let unread = Some(Unread { read: all.saturating_sub(left), of: all });
                return Ok(Passed { is_complete: false, entries, unread });
            }
            entries += 1;
            look(clock, stream.take()?)?;
            let Some(next) = stream.advance()? else { break };
            clock = next;
            if clock >= cut || others.is_some_and(|other| other < (clock, index)) {
                heads.push(Reverse((clock, index)));
                break;
            }
        }
    }
    Ok(Passed { is_complete: chunks.ended && chunks.cut.is_none(), entries, unread: None })
}

#[cfg(test)]
mod tests {
    use foretell_wire::log::{CUT, Chunk, MAGIC, PAGE};
    use foretell_wire::record::LONGEST_RECORD;

    use super::*;

    /// A log whose chunks hold these records.
    fn log(chunks: &[(u32, u64, Vec<Record<'_>>)]) -> Vec<u8> {
        log_with_cut(0, chunks)
    }

    fn log_with_cut(cut: u64, chunks: &[(u32, u64, Vec<Record<'_>>)]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.resize(CUT, 0);
        out.extend_from_slice(&cut.to_le_bytes());
        out.resize(PAGE, 0);
        for (thread, clock, records) in chunks {
            let (start, mut context) = (out.len(), Context::NEW);
            let chunk = Chunk { thread: *thread, clock: *clock, content: ChunkContent::Records(&[]) };
            out.extend_from_slice(&chunk.header(PAGE).unwrap());
            for record in records {
                let mut room = [0; LONGEST_RECORD];
                let length = context.encode(record, &mut room);
                out.extend_from_slice(&room[..length]);
            }
            out.resize(start + PAGE, 0);
        }
        out
    }

    fn write(value: u64) -> Record<'static> {
        Record::Write { site: 1, addr: 8, size: 8, value }
    }

    fn order(log: &[u8]) -> Vec<(u32, u64)> {
        let mut found = Vec::new();
        let complete = for_each(log, |entry| {
            if let Entry::Record(thread, Record::Write { value, .. }) = entry {
                found.push((thread, value));
            }
            Ok(())
        });
        assert_eq!(complete.ok(), Some(false));
        found
    }

    #[test]
    fn clocks_tell_the_order() {
        let log = log(&[
            (0, 1, vec![write(1), write(2), Record::Clock(7), write(7)]),
            (1, 3, vec![write(3), Record::Ahead(1), write(5), write(6)]),
            (0, 8, vec![write(8)]),
        ]);
        assert_eq!(order(&log), [(0, 1), (0, 2), (1, 3), (1, 5), (1, 6), (0, 7), (0, 8)]);
    }

    #[test]
    fn the_place_that_is_written_to_again_comes_last_and_before_its_copy() {
        let whole = vec![write(4), write(5)];
        let log = log(&[(0, 4, whole), (0, 1, vec![write(1)]), (0, 4, vec![write(4)])]);
        assert_eq!(order(&log), [(0, 1), (0, 4), (0, 5)]);
    }

    #[test]
    fn nothing_counts_from_the_cut_on() {
        let log =
            log_with_cut(4, &[(0, 1, vec![write(1)]), (1, 2, vec![write(2), write(3), write(4), write(5)])]);
        assert_eq!(order(&log), [(0, 1), (1, 2), (1, 3)]);
    }

    #[test]
    fn whoever_stops_has_read_the_beginning_and_knows_how_much_is_left() {
        let many: Vec<_> = (0..600).map(write).collect();
        let log = log(&[(0, 1, many)]);
        let (mut found, until) = (0, Until { entries: 200, ..Until::END });
        let passed = for_each_until(&log, until, |_| {
            found += 1;
            Ok(())
        });
        let passed = passed.unwrap();
        assert_eq!((found, passed.entries, passed.is_complete), (200, 200, false));
        let unread = passed.unread.unwrap();
        assert!(unread.read > 0 && unread.read < unread.of, "{unread:?}");
    }

    #[test]
    fn who_leaves_a_barrier_is_told_by_the_last_one() {
        let depart = |thread| Record::Sync { site: 1, op: SyncOp::Depart, object: 64, other: thread };
        let log = log(&[(0, 1, vec![depart(3), depart(0)])]);
        let mut found = Vec::new();
        for_each(&log, |entry| {
            if let Entry::Record(thread, _) = entry {
                found.push(thread);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [3, 0]);
    }

    #[test]
    fn damaged_logs_are_refused_or_read_and_nothing_else() {
        let bytes = log(&[(0, 1, vec![write(1), write(2)]), (1, 3, vec![write(3)])]);
        for at in (0..bytes.len()).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x5A;
            let _ = for_each(&bytes, |_| Ok(()));
        }
    }
}
