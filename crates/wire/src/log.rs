//! The log that a recorded program leaves: a file of which each thread has a chunk mapped.
//!
//! ```text
//! log    = magic (8 bytes), 1 once the program has ended in good order (u64),
//!          the clock from which on records are missing, or zero (u64), why it ends there, or zero (u64),
//!          why the run may not repeat, or zero (u64), and where (u64),
//!          the clock of its border, or zero (u64), how many bytes of records were dropped there (u64),
//!          zeros up to a page; chunk*
//! chunk  = magic (8 bytes, the last one is its kind), length with all of this (u64, whole pages),
//!          clock of its beginning (u64), thread (u32), length of the content unless it is records (u32); content
//! ```
//!
//! All numbers are little-endian. What is not written yet is zero. A chunk counts once its magic is there, which is
//! written last, after its length; so does a record once its kind is there. So whatever kills the program, and
//! whenever, the log has every record that was complete by then.
//!
//! A thread writes to the same chunk again and again, and appends a copy of it whenever it is full. If the log was
//! left between the two, there are two chunks of the same thread with the same clock, and the first one counts.
//!
//! A log of a program without end can be shortened while it is written: of what was recorded before a clock, the
//! *border*, only what still matters is left, in chunks of their own kind. Records of other chunks count from the
//! border on.

use crate::Malformed;

mod timing;

pub use timing::Timing;

/// How every log begins; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"ftrawlg\x06";

/// Chunks begin at multiples of this, the first one right here.
pub const PAGE: usize = 4096;

/// Where the log says that the program has ended.
pub const ENDED: usize = 8;

/// Where the log says from which clock on records are missing.
pub const CUT: usize = 16;

/// Where the log says why it is not complete, see [`IncompleteReason`].
pub const WHY: usize = 24;

/// Where the log says why the run may not repeat, see [`Timing`], and the site.
pub const TIMED: usize = 32;
/// See [`TIMED`].
pub const TIMED_SITE: usize = 40;

/// Where the log says from which clock on it has everything, if its beginning was dropped.
pub const BORDER: usize = 48;
/// Where the log says how many bytes of records were dropped.
pub const DROPPED: usize = 56;
/// Where a log is shortened, so many bytes after its first page are left free for what still matters. The file has a
/// hole there.
pub const FRONT_ROOM: usize = 64 << 20;

/// Why a log is not complete, as far as the recorder knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncompleteReason {
    /// All threads waited for each other, so the program was ended.
    Deadlock,
    /// The program was driven into a race, and ended there.
    Raced,
    /// The program did not follow the schedule that it was given, and was ended.
    Diverged,
    /// It could not be written; the number is that of the system's error.
    NotWritten(u32),
    /// The logs of all processes together have become as long as they may, so many bytes.
    Full(u64),
}

impl IncompleteReason {
    const DEADLOCK: u64 = 1;
    const RACED: u64 = 2;
    const DIVERGED: u64 = 3;
    const NOT_WRITTEN: u64 = 1 << 32;
    const FULL: u64 = 1 << 63;
    /// No limit is larger.
    const LARGEST: u64 = 1 << 62;

    /// The number for it, not zero.
    pub fn code(self) -> u64 {
        match self {
            IncompleteReason::Deadlock => IncompleteReason::DEADLOCK,
            IncompleteReason::Raced => IncompleteReason::RACED,
            IncompleteReason::Diverged => IncompleteReason::DIVERGED,
            IncompleteReason::NotWritten(error) => IncompleteReason::NOT_WRITTEN + u64::from(error),
            IncompleteReason::Full(limit) => IncompleteReason::FULL + limit.min(IncompleteReason::LARGEST),
        }
    }

    /// What the number stands for, if anything.
    pub fn from_code(code: u64) -> Option<IncompleteReason> {
        if let Some(limit) = code.checked_sub(IncompleteReason::FULL) {
            return (limit <= IncompleteReason::LARGEST).then_some(IncompleteReason::Full(limit));
        }
        match code.checked_sub(IncompleteReason::NOT_WRITTEN) {
            Some(error) => u32::try_from(error).ok().map(IncompleteReason::NotWritten),
            None => [IncompleteReason::Deadlock, IncompleteReason::Raced, IncompleteReason::Diverged]
                .into_iter()
                .find(|why| why.code() == code),
        }
    }
}

/// The length of what stands before a chunk's content.
pub const HEADER: usize = 32;

const RECORDS: [u8; 8] = *b"ftchunk\x01";
const MODULE: [u8; 8] = *b"ftchunk\x02";
const MEMORY: [u8; 8] = *b"ftchunk\x03";
const FRONT: [u8; 8] = *b"ftchunk\x04";

/// What a chunk holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkContent<'a> {
    /// Records, see [`crate::record`], up to the first byte that is zero.
    Records(&'a [u8]),
    /// A module was loaded, see [`module`].
    Module(&'a [u8]),
    /// What memory held right before the first thread was started, see [`memory`]. If there is more than one of
    /// these, the last one counts: the others come from attempts that failed.
    Memory(&'a [u8]),
    /// Records from before the border, as far as they matter after it; like [`ChunkContent::Records`].
    Front(&'a [u8]),
}

/// A part of the log that one thread has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'a> {
    /// Who has written it.
    pub thread: u32,
    /// The clock of its first record, or of the module.
    pub clock: u64,
    /// What it holds.
    pub content: ChunkContent<'a>,
}

impl Chunk<'_> {
    /// What stands before the content of a chunk of so many bytes, whole pages. The first eight bytes are written
    /// last.
    pub fn header(&self, length: usize) -> Result<[u8; HEADER], Malformed> {
        let length_of = |content: &[u8]| u32::try_from(content.len()).map_err(|_| Malformed);
        let (magic, used) = match self.content {
            ChunkContent::Records(_) => (RECORDS, 0),
            ChunkContent::Front(_) => (FRONT, 0),
            ChunkContent::Module(content) => (MODULE, length_of(content)?),
            ChunkContent::Memory(content) => (MEMORY, length_of(content)?),
        };
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&magic);
        header[8..16].copy_from_slice(&(length as u64).to_le_bytes());
        header[16..24].copy_from_slice(&self.clock.to_le_bytes());
        header[24..28].copy_from_slice(&self.thread.to_le_bytes());
        header[28..].copy_from_slice(&used.to_le_bytes());
        Ok(header)
    }
}

/// The chunks of a log, in the order in which they were begun.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    rest: &'a [u8],
    /// Whether the program has ended in good order.
    pub ended: bool,
    /// Records with this clock and larger ones are not to be trusted: some that they depend on could not be written.
    pub cut: Option<u64>,
    /// Why the log is not complete, if the recorder knows.
    pub why: Option<IncompleteReason>,
    /// Why the run may not repeat, the thread by its number, and its site.
    pub timed: Option<(Timing, u32, u64)>,
    /// The border, if the beginning of the log was dropped, and how many bytes of records that were.
    pub border: Option<(u64, u64)>,
}

/// Whether anything is in the log. A program may have been killed right after it had made the file.
pub fn is_begun(log: &[u8]) -> bool {
    log.len() >= PAGE && !log.starts_with(&[0; MAGIC.len()])
}

/// What stands before the content of a chunk, for who moves chunks as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkHead {
    /// How long the chunk is with its header, in bytes.
    pub length: u64,
    /// The clock of its first record.
    pub clock: u64,
    /// Who has written it.
    pub thread: u32,
    /// What it holds; none if it is not there, or not yet.
    pub kind: Option<ChunkKind>,
}

/// What a chunk holds, see [`ChunkContent`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "see there")]
pub enum ChunkKind {
    Records,
    Module,
    Memory,
    Front,
}

impl ChunkHead {
    /// What this header says; none if it cannot be one.
    pub fn parse(header: &[u8; HEADER]) -> Option<ChunkHead> {
        let number = |at| field(header, at).ok().map(|bytes| u64::from_le_bytes(*bytes));
        let kind = match *field(header, 0).ok()? {
            RECORDS => Some(ChunkKind::Records),
            MODULE => Some(ChunkKind::Module),
            MEMORY => Some(ChunkKind::Memory),
            FRONT => Some(ChunkKind::Front),
            magic if magic == [0; 8] => None,
            _ => return None,
        };
        let length = number(8)?.max(PAGE as u64);
        let is_whole = length.is_multiple_of(PAGE as u64);
        let thread = u32::from_le_bytes(*field(header, 24).ok()?);
        is_whole.then_some(ChunkHead { length, clock: number(16)?, thread, kind })
    }

    /// The header of a hole of so many bytes, whole pages.
    pub fn hole(length: u64) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[8..16].copy_from_slice(&length.to_le_bytes());
        header
    }
}

impl<'a> Chunks<'a> {
    /// The chunks of this log.
    pub fn new(log: &'a [u8]) -> Result<Chunks<'a>, Malformed> {
        let (first, rest) = log.split_at_checked(PAGE).ok_or(Malformed)?;
        let header = first.strip_prefix(&MAGIC).and(Some(first)).ok_or(Malformed)?;
        let number = |at| {
            let bytes = header.get(at..).and_then(<[u8]>::first_chunk).ok_or(Malformed)?;
            Ok(u64::from_le_bytes(*bytes))
        };
        let cut = Some(number(CUT)?).filter(|&cut| cut > 0);
        let site = number(TIMED_SITE)?;
        let timed = Timing::from_code(number(TIMED)?).map(|(timing, thread)| (timing, thread, site));
        Ok(Chunks {
            rest,
            ended: number(ENDED)? == 1,
            cut,
            why: IncompleteReason::from_code(number(WHY)?),
            timed,
            border: Some((number(BORDER)?, number(DROPPED)?)).filter(|border| border.0 > 0),
        })
    }

    /// The next chunk. What is not complete is passed over, and so are pages of which no thread has begun to make
    /// one.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'a>>, Malformed> {
        while let Some(header) = self.rest.first_chunk::<HEADER>() {
            let magic = *field(header, 0)?;
            let length = usize::try_from(u64::from_le_bytes(*field(header, 8)?)).map_err(|_| Malformed)?;
            if magic == [0; 8] {
                self.rest = self.rest.get(length.max(PAGE)..).unwrap_or_default();
                continue;
            }
            if length < PAGE || !length.is_multiple_of(PAGE) {
                return Err(Malformed);
            }
            let (chunk, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, &[]));
            self.rest = rest;
            let content = chunk.get(HEADER..).unwrap_or_default();
            let used = u32::from_le_bytes(*field(header, 28)?) as usize;
            let content = match magic {
                RECORDS => ChunkContent::Records(content),
                FRONT => ChunkContent::Front(content),
                MODULE => ChunkContent::Module(content.get(..used).ok_or(Malformed)?),
                MEMORY => ChunkContent::Memory(content.get(..used).ok_or(Malformed)?),
                _ => return Err(Malformed),
            };
            let clock = u64::from_le_bytes(*field(header, 16)?);
            return Ok(Some(Chunk { thread: u32::from_le_bytes(*field(header, 24)?), clock, content }));
        }
        Ok(None)
    }
}

fn field<const LENGTH: usize>(header: &[u8; HEADER], at: usize) -> Result<&[u8; LENGTH], Malformed> {
    header.get(at..).and_then(<[u8]>::first_chunk).ok_or(Malformed)
}

/// What a module tells when it is loaded.
pub mod module {
    use crate::Malformed;
    use crate::varint::{push, take};

    /// A module in the memory of the program.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Module<'a> {
        /// Where its site table begins.
        pub address: u64,
        /// The site table, see [`crate::site`].
        pub table: &'a [u8],
        /// The addresses of its variables, in the order of the table.
        pub globals: Vec<u64>,
    }

    impl<'a> Module<'a> {
        /// The content of the chunk.
        pub fn encode(&self) -> Vec<u8> {
            let mut out = Vec::new();
            push(self.address, &mut out);
            push(self.globals.len() as u64, &mut out);
            for &global in &self.globals {
                push(global, &mut out);
            }
            out.extend_from_slice(self.table);
            out
        }

        /// Where the site table of the module behind the content begins. Allocates nothing.
        pub fn table_address(mut content: &[u8]) -> Result<u64, Malformed> {
            take(&mut content)
        }

        /// The module behind the content.
        pub fn decode(mut content: &'a [u8]) -> Result<Module<'a>, Malformed> {
            let address = take(&mut content)?;
            let count = take(&mut content)?;
            let globals = (0..count).map(|_| take(&mut content)).collect::<Result<_, _>>()?;
            Ok(Module { address, table: content, globals })
        }
    }
}

/// What memory held at some moment: runs, one after the other.
///
/// ```text
/// run = address, length (numbers, see [`crate::varint`]), 0 if all of it was zero, or 1 and then its bytes
/// ```
pub mod memory {
    use crate::Malformed;
    use crate::varint::{LONGEST, put, take};

    /// Bytes that lie side by side.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ByteRun<'a> {
        /// Where they begin.
        pub address: u64,
        /// How many there are.
        pub length: u64,
        /// What they were; none if all were zero.
        pub bytes: Option<&'a [u8]>,
    }

    impl<'a> ByteRun<'a> {
        /// Writes it at the beginning of `out`, and says how long that is; none if there is no room. Allocates
        /// nothing, as it is called in the program that is recorded.
        pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
            let bytes = self.bytes.unwrap_or_default();
            if out.len() < 2 * LONGEST + 1 + bytes.len() {
                return None;
            }
            let mut at = put(self.address, out);
            at += put(self.length, out.get_mut(at..)?);
            *out.get_mut(at)? = u8::from(self.bytes.is_some());
            at += 1;
            out.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
            Some(at + bytes.len())
        }

        /// Takes the first one of a content; none at its end.
        pub fn take(content: &mut &'a [u8]) -> Result<Option<ByteRun<'a>>, Malformed> {
            if content.is_empty() {
                return Ok(None);
            }
            let (address, length) = (take(content)?, take(content)?);
            let (&kind, rest) = content.split_first().ok_or(Malformed)?;
            *content = rest;
            let bytes = match kind {
                0 => None,
                1 => {
                    let length = usize::try_from(length).map_err(|_| Malformed)?;
                    let (bytes, rest) = content.split_at_checked(length).ok_or(Malformed)?;
                    *content = rest;
                    Some(bytes)
                }
                _ => return Err(Malformed),
            };
            Ok(Some(ByteRun { address, length, bytes }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::memory::ByteRun;
    use super::module::Module;
    use super::*;

    fn log(ended: u8, chunks: &[Option<Chunk<'_>>]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[ended, 0, 0, 0, 0, 0, 0, 0, 9]);
        out.resize(PAGE, 0);
        for chunk in chunks {
            let start = out.len();
            if let Some(chunk) = chunk {
                out.extend_from_slice(&chunk.header(2 * PAGE).unwrap());
                let (ChunkContent::Records(content)
                | ChunkContent::Module(content)
                | ChunkContent::Memory(content)
                | ChunkContent::Front(content)) = chunk.content;
                out.extend_from_slice(content);
            }
            out.resize(start + 2 * PAGE, 0);
        }
        out
    }

    #[test]
    fn chunks_come_back_and_those_not_begun_are_passed_over() {
        let records = [7; 2 * PAGE - HEADER];
        let written = [
            Chunk { thread: 0, clock: 1, content: ChunkContent::Module(b"m") },
            Chunk { thread: 3, clock: 1 << 40, content: ChunkContent::Records(&records) },
            Chunk { thread: 0, clock: 7, content: ChunkContent::Memory(b"held") },
            Chunk { thread: 2, clock: 5, content: ChunkContent::Front(&records) },
        ];
        let parts = [
            Some(written[0]),
            None,
            Some(written[1]),
            Some(written[2]),
            Some(written[3]),
            Some(written[1]),
            None,
        ];
        let mut bytes = log(1, &parts);
        let incomplete = bytes.len() - 4 * PAGE;
        bytes[incomplete..incomplete + 8].fill(0);
        let mut chunks = Chunks::new(&bytes).unwrap();
        assert_eq!((chunks.ended, chunks.cut), (true, Some(9)));
        assert_eq!(chunks.next_chunk(), Ok(Some(written[0])));
        assert_eq!(chunks.next_chunk(), Ok(Some(written[1])));
        assert_eq!(chunks.next_chunk(), Ok(Some(written[2])));
        assert_eq!(chunks.next_chunk(), Ok(Some(written[3])));
        assert_eq!(chunks.next_chunk(), Ok(None));
        assert!(!Chunks::new(&log(0, &[])).unwrap().ended);
        assert!(Chunks::new(b"something else").is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let chunk = Chunk { thread: 1, clock: 5, content: ChunkContent::Module(b"content") };
        let bytes = log(0, &[Some(chunk)]);
        for at in 0..HEADER {
            let mut bytes = bytes.clone();
            bytes[PAGE + at] ^= 0xFF;
            let mut chunks = Chunks::new(&bytes).unwrap();
            while let Ok(Some(_)) = chunks.next_chunk() {}
        }
    }

    #[test]
    fn reasons_come_back() {
        let written = [
            IncompleteReason::NotWritten(0),
            IncompleteReason::NotWritten(28),
            IncompleteReason::NotWritten(u32::MAX),
            IncompleteReason::Full(2 << 30),
        ];
        for why in [IncompleteReason::Deadlock, IncompleteReason::Raced, IncompleteReason::Diverged]
            .into_iter()
            .chain(written)
        {
            assert_eq!(IncompleteReason::from_code(why.code()), Some(why));
        }
        assert_eq!([0, 4, u64::MAX].map(IncompleteReason::from_code), [None; 3]);
    }

    #[test]
    fn what_memory_held_comes_back() {
        let written = [
            ByteRun { address: 0x5555_5555_8000, length: 1 << 40, bytes: None },
            ByteRun { address: 16, length: 3, bytes: Some(b"abc") },
            ByteRun { address: 0, length: 0, bytes: Some(b"") },
        ];
        let (mut content, mut used) = ([0xEE; 200], 0);
        for run in &written {
            used += run.encode(&mut content[used..]).unwrap();
        }
        let mut rest = &content[..used];
        for run in &written {
            assert_eq!(ByteRun::take(&mut rest), Ok(Some(*run)));
        }
        assert_eq!(ByteRun::take(&mut rest), Ok(None));
        for cut in 1..used {
            let mut rest = &content[..cut];
            // Whatever is left of it is read or refused.
            while let Ok(Some(_)) = ByteRun::take(&mut rest) {}
        }
        assert_eq!(written[1].encode(&mut [0; 8]), None, "there is no room");
        assert_eq!(ByteRun::take(&mut [1, 1, 2].as_slice()), Err(Malformed), "there is no such kind");
    }

    #[test]
    fn modules_come_back() {
        let module = Module { address: 0x5555_5555_0000, table: b"table", globals: vec![1, 1 << 40] };
        assert_eq!(Module::table_address(&module.encode()), Ok(module.address));
        assert_eq!(Module::decode(&module.encode()), Ok(module));
    }
}
