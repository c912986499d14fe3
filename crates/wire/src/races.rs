//! The races that a program has found in itself while it ran, see the detector of the runtime.
//!
//! ```text
//! races  = magic (8 bytes), entry*
//! entry  = length of the rest (number), kind (number), content
//! race   = kind 1: address of the first byte that both touch, access, access, memory
//! counts = kind 2: how often each of the races so far was seen (their number, then a number each)
//! blind  = kind 3: nothing was looked at from here on, because there were too many threads or they met too often
//! access = thread, kind, bytes, site, calls
//! memory = 0, or 1, start, bytes, thread, site, calls of its allocation, or 2 and the thread whose stack it is
//! calls  = how many, the sites of the calls that have not ended, the outermost first
//! ```
//!
//! All are numbers as in [`crate::varint`], but for the magic. A race is written as soon as it is found, the counts
//! when the program ends. What is at the end of the file and not complete was being written when the program was
//! killed.

use crate::Malformed;
use crate::varint::{push, take};

/// How the races of a program begin; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"ftraces\x01";

const RACE: u64 = 1;
const COUNTS: u64 = 2;
const BLIND: u64 = 3;

/// How memory was touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum RacingAccessKind {
    /// A plain load.
    Read = 0,
    /// A plain store.
    Write = 1,
    /// An atomic load.
    AtomicLoad = 2,
    /// An atomic store.
    AtomicStore = 3,
    /// An atomic read-modify-write.
    Update = 4,
    /// The memory was given back.
    Free = 5,
}

impl RacingAccessKind {
    const ALL: [RacingAccessKind; 6] = [
        RacingAccessKind::Read,
        RacingAccessKind::Write,
        RacingAccessKind::AtomicLoad,
        RacingAccessKind::AtomicStore,
        RacingAccessKind::Update,
        RacingAccessKind::Free,
    ];
}

/// One side of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedAccess {
    /// Who made it.
    pub thread: u32,
    /// How.
    pub kind: RacingAccessKind,
    /// How many bytes it touched at once.
    pub bytes: u64,
    /// Where in the code.
    pub site: u64,
    /// The sites of the calls that it was made in, the outermost first.
    pub calls: Vec<u64>,
}

/// The memory that a race is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RaceMemory {
    /// A variable of the program, or memory whose allocation was not recorded.
    Static,
    /// A block of the heap.
    Heap {
        /// Where it begins.
        start: u64,
        /// How long it is.
        bytes: u64,
        /// Who has allocated it.
        thread: u32,
        /// Where in the code.
        site: u64,
        /// In which calls, the outermost first.
        calls: Vec<u64>,
    },
    /// The stack of a thread.
    Stack(u32),
}

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedRace {
    /// The first byte that both touch.
    pub address: u64,
    /// What came first in this run.
    pub first: LoggedAccess,
    /// What came second.
    pub second: LoggedAccess,
    /// The memory there.
    pub memory: RaceMemory,
}

/// What there is to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RacesEntry {
    /// A race was found.
    Race(LoggedRace),
    /// How often each of the races so far was seen.
    Counts(Vec<u64>),
    /// Nothing was looked at from here on.
    Blind,
}

impl RacesEntry {
    /// The bytes of the entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut content = Vec::new();
        match self {
            RacesEntry::Race(race) => {
                push(RACE, &mut content);
                push_race(race, &mut content);
            }
            RacesEntry::Counts(counts) => {
                push(COUNTS, &mut content);
                push_all(counts, &mut content);
            }
            RacesEntry::Blind => push(BLIND, &mut content),
        }
        let mut out = Vec::new();
        push(content.len() as u64, &mut out);
        out.extend_from_slice(&content);
        out
    }

    fn decode(mut content: &[u8]) -> Result<RacesEntry, Malformed> {
        match take(&mut content)? {
            RACE => Ok(RacesEntry::Race(take_race(&mut content)?)),
            COUNTS => Ok(RacesEntry::Counts(take_all(&mut content)?)),
            BLIND => Ok(RacesEntry::Blind),
            _ => Err(Malformed),
        }
    }
}

/// The entries of a file, but for what is not complete at its end.
pub fn read(file: &[u8]) -> Result<Vec<RacesEntry>, Malformed> {
    let mut rest = file.strip_prefix(&MAGIC).ok_or(Malformed)?;
    let mut entries = Vec::new();
    while let Ok(length) = take(&mut rest) {
        let Some((content, after)) = usize::try_from(length).ok().and_then(|at| rest.split_at_checked(at))
        else {
            break;
        };
        entries.push(RacesEntry::decode(content)?);
        rest = after;
    }
    Ok(entries)
}

fn push_race(race: &LoggedRace, out: &mut Vec<u8>) {
    push(race.address, out);
    for access in [&race.first, &race.second] {
        push(access.thread.into(), out);
        push(access.kind as u64, out);
        push(access.bytes, out);
        push(access.site, out);
        push_all(&access.calls, out);
    }
    match &race.memory {
        RaceMemory::Static => push(0, out),
        RaceMemory::Heap { start, bytes, thread, site, calls } => {
            [1, *start, *bytes, u64::from(*thread), *site].iter().for_each(|&number| push(number, out));
            push_all(calls, out);
        }
        RaceMemory::Stack(thread) => [2, u64::from(*thread)].iter().for_each(|&number| push(number, out)),
    }
}

fn take_race(bytes: &mut &[u8]) -> Result<LoggedRace, Malformed> {
    let address = take(bytes)?;
    let (first, second) = (take_access(bytes)?, take_access(bytes)?);
    let memory = match take(bytes)? {
        0 => RaceMemory::Static,
        1 => RaceMemory::Heap {
            start: take(bytes)?,
            bytes: take(bytes)?,
            thread: small(bytes)?,
            site: take(bytes)?,
            calls: take_all(bytes)?,
        },
        2 => RaceMemory::Stack(small(bytes)?),
        _ => return Err(Malformed),
    };
    Ok(LoggedRace { address, first, second, memory })
}

fn take_access(bytes: &mut &[u8]) -> Result<LoggedAccess, Malformed> {
    let thread = small(bytes)?;
    let kind = usize::try_from(take(bytes)?).ok().and_then(|code| RacingAccessKind::ALL.get(code).copied());
    let kind = kind.ok_or(Malformed)?;
    Ok(LoggedAccess { thread, kind, bytes: take(bytes)?, site: take(bytes)?, calls: take_all(bytes)? })
}

fn push_all(numbers: &[u64], out: &mut Vec<u8>) {
    push(numbers.len() as u64, out);
    numbers.iter().for_each(|&number| push(number, out));
}

fn take_all(bytes: &mut &[u8]) -> Result<Vec<u64>, Malformed> {
    let count = take(bytes)?;
    (0..count).map(|_| take(bytes)).collect()
}

fn small(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take(bytes)?).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(memory: RaceMemory) -> RacesEntry {
        let access = |thread, kind| LoggedAccess {
            thread,
            kind,
            bytes: 4,
            site: 0x5555_0010,
            calls: vec![1, 1 << 40],
        };
        let (first, second) = (access(0, RacingAccessKind::Write), access(7, RacingAccessKind::Free));
        RacesEntry::Race(LoggedRace { address: 0x7fff_0000_1000, first, second, memory })
    }

    #[test]
    fn entries_come_back_and_what_is_cut_is_left_out() {
        let heap = RaceMemory::Heap { start: 16, bytes: 32, thread: 3, site: 9, calls: vec![] };
        let entries = [
            race(RaceMemory::Static),
            race(heap),
            race(RaceMemory::Stack(2)),
            RacesEntry::Blind,
            RacesEntry::Counts(vec![1, 300, 2]),
        ];
        let mut file = MAGIC.to_vec();
        entries.iter().for_each(|entry| file.extend(entry.encode()));
        assert_eq!(read(&file), Ok(entries.to_vec()));
        for length in MAGIC.len()..file.len() {
            let found = read(&file[..length]).unwrap();
            assert!(found.len() < entries.len() && entries.starts_with(&found));
        }
        assert_eq!(read(b"something else"), Err(Malformed));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut file = MAGIC.to_vec();
        file.extend(race(RaceMemory::Static).encode());
        for at in MAGIC.len()..file.len() {
            let mut file = file.clone();
            file[at] ^= 0xFF;
            let _ = read(&file);
        }
    }
}
