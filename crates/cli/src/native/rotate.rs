//! Recording without end: while a program runs, the beginnings of its logs are dropped, and what still matters of them
//! takes their place (see [`foretell_native::front`]).
//!
//! The program only appends, so what is complete can be taken out of the middle: its pages go back to the file system,
//! and the log has a hole there. Only logs of threads that take turns can be shortened: whatever is written later has
//! a larger clock than all that was written before.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use foretell_native::{Front, front};
use foretell_wire::log::{BORDER, CUT, ChunkHead, ChunkKind, DROPPED, FRONT_ROOM, HEADER, PAGE};
use rustix::fs::{FallocateFlags, fallocate};

use super::mapped::Shared;
use super::record::LOG_ENDING;
use crate::output;

/// How often to look how long the logs are.
const TICK: Duration = Duration::from_millis(10);
/// Where processes count how long their logs are.
const USED: &str = "used";
/// So many bytes of a log are dropped at once: they are in memory meanwhile.
const AT_ONCE: u64 = 32 << 20;

/// Shortens the logs in a folder until it is dropped.
pub(crate) struct Rotation {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Rotation {
    pub(super) fn start(folder: &Path, limit: u64) -> io::Result<Rotation> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut logs = Logs { folder: folder.to_path_buf(), limit, holes: BTreeMap::new() };
        let flag = Arc::clone(&is_over);
        let work = move || {
            while !flag.load(Ordering::Relaxed) {
                if let Err(error) = logs.shorten(&flag) {
                    output::note(&format!("the recording cannot be shortened any more: {error}"));
                    return;
                }
                thread::sleep(TICK);
            }
        };
        let thread = Some(thread::Builder::new().name("shortens logs".to_string()).spawn(work)?);
        Ok(Rotation { is_over, thread })
    }
}

impl Drop for Rotation {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It has said itself what went wrong.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The logs of a run.
struct Logs {
    folder: PathBuf,
    /// How long they may be together.
    limit: u64,
    /// What was taken out of each.
    holes: BTreeMap<PathBuf, Holes>,
}

impl Logs {
    /// Drops the beginnings of logs if they are about to become too long.
    fn shorten(&mut self, is_over: &AtomicBool) -> io::Result<()> {
        let used = self.folder.join(USED);
        if !used.exists() {
            return Ok(());
        }
        let used = Shared::open(&used)?;
        let is_long = || used.number().load(Ordering::Relaxed) > self.limit / 2;
        while is_long() && !is_over.load(Ordering::Relaxed) {
            let mut freed = 0;
            for path in logs(&self.folder)? {
                let holes = self.holes.entry(path.clone()).or_default();
                let least = (self.limit / 8).min(AT_ONCE);
                holes.piece = holes.piece.clamp(least, self.limit / 4);
                let bytes = Log::open(&path)?.shorten(holes)?;
                used.number().fetch_sub(bytes, Ordering::Relaxed);
                freed += bytes;
            }
            if freed == 0 {
                // More will be complete soon.
                return Ok(());
            }
        }
        Ok(())
    }
}

fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == LOG_ENDING) {
            found.push(path);
        }
    }
    Ok(found)
}

/// What was taken out of a log, and how much to take next.
#[derive(Debug)]
struct Holes {
    /// Where the front may have its place.
    free: Runs,
    /// Where threads have written that have ended. They may still do so while they end: nothing else has its place
    /// there.
    retired: Runs,
    /// How many bytes are dropped at once.
    piece: u64,
}

impl Default for Holes {
    fn default() -> Holes {
        let free = Runs(BTreeMap::from([(PAGE as u64, FRONT_ROOM as u64)]));
        Holes { free, retired: Runs::default(), piece: 0 }
    }
}

impl Holes {
    /// All of them: side by side they are one.
    fn all(&self) -> Runs {
        let mut all = self.free.clone();
        self.retired.0.iter().for_each(|(&start, &length)| all.add(start, length));
        all
    }
}

/// Pieces of a file that are free, by where they begin: none begins where another ends.
#[derive(Clone, Debug, Default)]
struct Runs(BTreeMap<u64, u64>);

impl Runs {
    fn add(&mut self, mut start: u64, mut length: u64) {
        if let Some((&before, &bytes)) = self.0.range(..start).next_back()
            && before + bytes == start
        {
            self.0.remove(&before);
            (start, length) = (before, length + bytes);
        }
        if let Some(bytes) = self.0.remove(&(start + length)) {
            length += bytes;
        }
        self.0.insert(start, length);
    }

    /// Takes so many bytes out of the first piece that has room for them; says where.
    fn take(&mut self, wanted: u64) -> Option<u64> {
        let (&start, &length) = self.0.iter().find(|&(_, &length)| length >= wanted)?;
        self.0.remove(&start);
        if length > wanted {
            self.0.insert(start + wanted, length - wanted);
        }
        Some(start)
    }
}

/// A chunk of a log, and where it is.
#[derive(Clone, Copy, Debug)]
struct Placed {
    at: u64,
    head: ChunkHead,
    /// Its records are older than this, if no more will be written there.
    end: Option<u64>,
}

/// A log that is being written.
struct Log {
    file: File,
}

impl Log {
    fn open(path: &Path) -> io::Result<Log> {
        Ok(Log { file: File::options().read(true).write(true).open(path)? })
    }

    /// Drops a piece of the beginning, if that is possible now; says how many bytes that were.
    fn shorten(&self, holes: &mut Holes) -> io::Result<u64> {
        let chunks = self.chunks(holes)?;
        let Some(cut) = cut(&chunks, holes.piece) else { return Ok(0) };
        let Some(copy) = self.copy(&chunks, cut)? else { return Ok(0) };
        let Some(front) = front(&copy).map_err(io::Error::other)? else { return Ok(0) };
        self.replace(&chunks, &front, holes)
    }

    /// The chunks in the order of the file. A chunk that is not quite there yet may be missing, and those after it.
    fn chunks(&self, holes: &Holes) -> io::Result<Vec<Placed>> {
        let end = self.file.metadata()?.len();
        let (mut at, mut found, holes) = (PAGE as u64, Vec::new(), holes.all());
        while at < end {
            if let Some(length) = holes.0.get(&at) {
                at += length;
                continue;
            }
            let Some(head) = self.head(at)? else { break };
            if head.kind.is_some() {
                found.push(Placed { at, head, end: None });
            }
            at += head.length;
        }
        know_ends(&mut found);
        Ok(found)
    }

    fn head(&self, at: u64) -> io::Result<Option<ChunkHead>> {
        let mut header = [0; HEADER];
        match self.file.read_exact_at(&mut header, at) {
            Ok(()) => Ok(ChunkHead::parse(&header)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A log of all that was done before this clock. None if the program has changed something meanwhile.
    fn copy(&self, chunks: &[Placed], cut: u64) -> io::Result<Option<Vec<u8>>> {
        let mut copy = vec![0; PAGE];
        self.file.read_exact_at(&mut copy, 0)?;
        if number(&copy, CUT) != 0 {
            // It has ended already.
            return Ok(None);
        }
        copy[CUT..CUT + 8].copy_from_slice(&cut.to_le_bytes());
        let is_wanted = |head: &ChunkHead| match head.kind {
            Some(ChunkKind::Records) => head.clock < cut,
            Some(ChunkKind::Front) => true,
            _ => false,
        };
        for placed in chunks.iter().filter(|placed| is_wanted(&placed.head)) {
            let (start, length) =
                (copy.len(), usize::try_from(placed.head.length).map_err(io::Error::other)?);
            copy.resize(start + length, 0);
            self.file.read_exact_at(&mut copy[start..], placed.at)?;
            // The place that a thread writes to may be written anew: what was there is further back by now.
            if self.head(placed.at)? != Some(placed.head) {
                return Ok(None);
            }
        }
        Ok(Some(copy))
    }

    /// Puts the front in the place of what is older than its border; says how many bytes are free now.
    fn replace(&self, chunks: &[Placed], front: &Front, holes: &mut Holes) -> io::Result<u64> {
        let is_dropped = |placed: &&Placed| match placed.head.kind {
            Some(ChunkKind::Records) => placed.end.is_some_and(|end| end <= front.border),
            Some(ChunkKind::Front | ChunkKind::Memory) => true,
            Some(ChunkKind::Module) | None => false,
        };
        let dropped: Vec<&Placed> = chunks.iter().filter(is_dropped).collect();
        let bytes: u64 = dropped.iter().map(|placed| placed.head.length).sum();
        let retired: Vec<&Placed> = chunks.iter().filter(|placed| is_retired(placed, front)).collect();
        let freed = bytes + retired.iter().map(|placed| placed.head.length).sum::<u64>();
        let needed: u64 = front.chunks.iter().map(|chunk| chunk.len() as u64).sum();
        if needed > freed / 2 {
            // The larger the piece, the less of it still matters.
            holes.piece = holes.piece.saturating_mul(2);
        }
        if needed >= freed {
            return Ok(0);
        }
        let mut free = holes.free.clone();
        dropped.iter().for_each(|placed| free.add(placed.at, placed.head.length));
        let mut places = Vec::new();
        for chunk in &front.chunks {
            // The largest piece is as large as all that was dropped side by side.
            let Some(at) = free.take(chunk.len() as u64) else { break };
            places.push((at, chunk));
        }
        if places.len() < front.chunks.len() {
            holes.piece = holes.piece.saturating_mul(2);
            return Ok(0);
        }
        let of_records = |placed: &&&Placed| placed.head.kind == Some(ChunkKind::Records);
        let records: u64 = dropped.iter().filter(of_records).map(|placed| placed.head.length).sum();
        self.tell(front.border, records)?;
        for (at, chunk) in places {
            self.file.write_all_at(chunk, at)?;
        }
        holes.free = free;
        retired.iter().for_each(|placed| holes.retired.add(placed.at, placed.head.length));
        holes.all().0.iter().try_for_each(|(&start, &length)| self.punch(start, length))?;
        Ok(freed - needed)
    }

    /// Gives a piece of the file back, but for a page that says how long it was.
    fn punch(&self, start: u64, length: u64) -> io::Result<()> {
        self.file.write_all_at(&ChunkHead::hole(length), start)?;
        if length > PAGE as u64 {
            let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&self.file, how, start + PAGE as u64, length - PAGE as u64)?;
        }
        Ok(())
    }

    /// Writes down where the border is.
    fn tell(&self, border: u64, records: u64) -> io::Result<()> {
        let mut told = [0; 8];
        self.file.read_exact_at(&mut told, DROPPED as u64)?;
        let dropped = u64::from_le_bytes(told).saturating_add(records);
        self.file.write_all_at(&border.to_le_bytes(), BORDER as u64)?;
        self.file.write_all_at(&dropped.to_le_bytes(), DROPPED as u64)
    }
}

/// Whether a thread has written there that had ended before the border.
fn is_retired(placed: &Placed, front: &Front) -> bool {
    let Placed { head, end, .. } = placed;
    let is_old = head.kind == Some(ChunkKind::Records) && head.clock < front.border;
    is_old && end.is_none() && front.ended.binary_search(&head.thread).is_ok()
}

/// Finds out which chunks are complete: those that their thread has written another one after. The first place in the
/// file is where it writes, so that one is never complete.
fn know_ends(chunks: &mut [Placed]) {
    let mut by_thread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, placed) in chunks.iter().enumerate() {
        if placed.head.kind == Some(ChunkKind::Records) {
            by_thread.entry(placed.head.thread).or_default().push(index);
        }
    }
    for mut own in by_thread.into_values() {
        let writing = own.first().copied();
        own.sort_by_key(|&index| chunks[index].head.clock);
        for (place, &index) in own.iter().enumerate() {
            let clock = chunks[index].head.clock;
            let next =
                own[place..].iter().map(|&later| chunks[later].head.clock).find(|&later| later > clock);
            chunks[index].end = next.filter(|_| Some(index) != writing);
        }
    }
}

/// The clock up to which complete chunks have so many bytes. If there are not so many, most are of threads that have
/// written little: then half of all.
fn cut(chunks: &[Placed], wanted: u64) -> Option<u64> {
    let mut complete: Vec<(u64, u64)> =
        chunks.iter().filter_map(|placed| Some((placed.end?, placed.head.length))).collect();
    complete.sort_unstable();
    let mut bytes = 0;
    let enough = complete.iter().find(|&&(_, length)| {
        bytes += length;
        bytes >= wanted
    });
    let of_records = chunks.iter().filter(|placed| placed.head.kind == Some(ChunkKind::Records));
    let mut clocks: Vec<u64> = of_records.map(|placed| placed.head.clock).collect();
    clocks.sort_unstable();
    let middle = clocks.get(clocks.len() / 2).copied();
    enough.map(|&(end, _)| end).or(middle)
}

fn number(page: &[u8], at: usize) -> u64 {
    page.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_touch_are_one_and_the_first_with_room_is_used() {
        let mut free = Runs::default();
        free.add(0, 4);
        free.add(8, 4);
        free.add(20, 10);
        free.add(4, 4);
        assert_eq!(free.0, BTreeMap::from([(0, 12), (20, 10)]));
        assert_eq!([free.take(11), free.take(5), free.take(6)], [Some(0), Some(20), None]);
        assert_eq!(free.0, BTreeMap::from([(11, 1), (25, 5)]));
    }

    fn placed(at: u64, thread: u32, clock: u64) -> Placed {
        let head = ChunkHead { length: 100, clock, thread, kind: Some(ChunkKind::Records) };
        Placed { at, head, end: None }
    }

    #[test]
    fn what_a_thread_writes_to_is_never_complete() {
        // The first place of each thread is written anew; a copy of it may just have been appended.
        let mut chunks = [
            placed(0, 1, 50),
            placed(100, 2, 30),
            placed(200, 1, 10),
            placed(300, 1, 40),
            placed(400, 2, 30),
            placed(500, 1, 50),
            placed(600, 1, 60),
        ];
        know_ends(&mut chunks);
        let ends = chunks.map(|placed| placed.end);
        assert_eq!(ends, [None, None, Some(40), Some(50), None, Some(60), None]);
        assert_eq!([cut(&chunks, 150), cut(&chunks, 301)], [Some(50), Some(40)]);
    }
}
