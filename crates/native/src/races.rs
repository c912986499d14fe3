//! The races that a program has found in itself while it ran, as people know them: with functions, places in the
//! source and variables.

use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks, is_begun};
use foretell_wire::races::{LoggedAccess, LoggedRace, RaceMemory, RacesEntry, RacingAccessKind, read};

use crate::LogError;
use crate::events::name_of;
use crate::memory::{About, Purpose};
use crate::places::Places;

/// What a program has found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OnlineRaces {
    /// One for each pair of places in the code, in the order in which they were found.
    pub races: Vec<OnlineRace>,
    /// From some moment on nothing was looked at any more: the program had too many threads, or they met too often.
    pub is_blind: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnlineRace {
    /// The memory that both touch: a variable, or what else is known of it.
    pub variable: String,
    /// The first byte that both touch.
    pub address: u64,
    /// Where the memory was allocated, if it is a block of the heap.
    pub allocated: Option<OnlinePlace>,
    /// What came first in that run.
    pub first: OnlineAccess,
    /// What came second.
    pub second: OnlineAccess,
    /// How often accesses at these two places raced; 1 if the program ended before it could count.
    pub count: u64,
}

/// One side of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnlineAccess {
    /// How it touched the memory.
    pub kind: RacingAccessKind,
    /// How many bytes at once.
    pub bytes: u64,
    /// The thread, and its location.
    pub place: OnlinePlace,
}

/// Where a thread was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnlinePlace {
    /// `main`, or `T` and its number.
    pub thread: String,
    /// The calls that it was in, the innermost first; there is at least one.
    pub stack: Vec<OnlineFrame>,
}

impl OnlinePlace {
    /// Where it was: `file:line:column`, or as much of it as is known.
    pub fn location(&self) -> &str {
        self.stack.first().map_or("?", |frame| &frame.location)
    }
}

/// A function that a thread was in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnlineFrame {
    /// Its name.
    pub function: String,
    /// Where in it: `file:line:column`, or as much of it as is known.
    pub location: String,
}

/// The findings of online detection, from the log of the process (`PID.ftraw`), which has its modules, and the file of
/// its races (`PID.races`).
pub fn races(log: &[u8], races: &[u8]) -> Result<OnlineRaces, LogError> {
    if !is_begun(log) || races.is_empty() {
        return Err(LogError::Empty);
    }
    let (places, mut found) = (places(log)?, OnlineRaces::default());
    for entry in read(races)? {
        match entry {
            RacesEntry::Race(race) => found.races.push(told(&places, &race)),
            RacesEntry::Counts(counts) => {
                for (race, count) in found.races.iter_mut().zip(counts) {
                    race.count = count;
                }
            }
            RacesEntry::Blind => found.is_blind = true,
        }
    }
    Ok(found)
}

fn places(log: &[u8]) -> Result<Places, LogError> {
    let (mut places, mut chunks) = (Places::default(), Chunks::new(log)?);
    while let Some(chunk) = chunks.next_chunk()? {
        if let ChunkContent::Module(content) = chunk.content {
            places.add(&Module::decode(content)?)?;
        }
    }
    Ok(places)
}

fn told(places: &Places, race: &LoggedRace) -> OnlineRace {
    let access = |access: &LoggedAccess| OnlineAccess {
        kind: access.kind,
        bytes: access.bytes,
        place: place(places, access.thread, access.site, &access.calls),
    };
    OnlineRace {
        variable: variable(places, race),
        address: race.address,
        allocated: match &race.memory {
            RaceMemory::Heap { thread, site, calls, .. } => Some(place(places, *thread, *site, calls)),
            RaceMemory::Static | RaceMemory::Stack(_) => None,
        },
        first: access(&race.first),
        second: access(&race.second),
        count: 1,
    }
}

fn variable(places: &Places, race: &LoggedRace) -> String {
    match &race.memory {
        RaceMemory::Static => {
            let about = About { start: 0, purpose: Purpose::Static, given_back: false };
            places.address(race.address, 0, about)
        }
        RaceMemory::Heap { start, bytes, .. } => {
            format!("byte {} of a block of {bytes} bytes", race.address.saturating_sub(*start))
        }
        RaceMemory::Stack(thread) => format!("{:#x} on the stack of {}", race.address, name_of(*thread)),
    }
}

fn place(places: &Places, thread: u32, site: u64, calls: &[u64]) -> OnlinePlace {
    // What happens at the site of the innermost call is that call itself.
    let calls = calls.strip_suffix(&[site]).unwrap_or(calls);
    let sites = std::iter::once(site).chain(calls.iter().rev().copied());
    OnlinePlace { thread: name_of(thread), stack: sites.flat_map(|site| frames(places, site)).collect() }
}

/// The function of the site, and those that it had been inlined into.
fn frames(places: &Places, site: u64) -> Vec<OnlineFrame> {
    /// No compiler inlines deeper: a table that says so is damaged.
    const DEEPEST: usize = 1 << 10;
    let (mut frames, mut next) = (Vec::new(), Some(site));
    while let Some(site) = next.filter(|_| frames.len() < DEEPEST) {
        let place = places.site(site);
        frames.push(OnlineFrame { function: place.function, location: place.location });
        next = place.caller;
    }
    frames
}

#[cfg(test)]
mod tests {
    use foretell_wire::log::{Chunk, HEADER, MAGIC, PAGE};
    use foretell_wire::races;
    use foretell_wire::site::{Global, Site, SiteTable};

    use super::*;

    /// A log with one module: sites 1 and 2 are in `reader` and `writer`, site 3 in `main`, into which 4 was inlined.
    fn log() -> Vec<u8> {
        let texts = ["a.c", "reader", "writer", "main", "total"].map(str::to_string).to_vec();
        let site =
            |function, line, caller| Site { file: 0, function, line, column: 1, caller, ..Site::default() };
        let sites = vec![
            Site::default(),
            site(1, 11, None),
            site(2, 22, None),
            site(3, 33, None),
            site(1, 12, Some(3)),
        ];
        let table =
            SiteTable { texts, sites, globals: vec![Global { name: 4, size: 8 }], ..SiteTable::default() }
                .encode();
        let content = Module { address: 0x1000, table: &table, globals: vec![0x9000] }.encode();
        let length = (HEADER + content.len()).next_multiple_of(PAGE);
        let chunk = Chunk { thread: 0, clock: 1, content: ChunkContent::Module(&content) };
        let mut log = MAGIC.to_vec();
        log.resize(PAGE, 0);
        log.extend(chunk.header(length).unwrap());
        log.extend(content);
        log.resize(PAGE + length, 0);
        log
    }

    fn access(thread: u32, site: u64, calls: &[u64]) -> LoggedAccess {
        let calls = calls.iter().map(|call| 0x1000 + call).collect();
        LoggedAccess { thread, kind: RacingAccessKind::Write, bytes: 4, site: 0x1000 + site, calls }
    }

    fn file(entries: &[RacesEntry]) -> Vec<u8> {
        let mut file = races::MAGIC.to_vec();
        entries.iter().for_each(|entry| file.extend(entry.encode()));
        file
    }

    fn functions(place: &OnlinePlace) -> Vec<&str> {
        place.stack.iter().map(|frame| frame.function.as_str()).collect()
    }

    #[test]
    fn races_have_names() {
        let race =
            |address, memory, first, second| RacesEntry::Race(LoggedRace { address, first, second, memory });
        let heap =
            RaceMemory::Heap { start: 0x7000, bytes: 32, thread: 0, site: 0x1003, calls: vec![0x1003] };
        let entries = [
            race(0x9004, RaceMemory::Static, access(0, 1, &[3]), access(2, 4, &[])),
            race(0x7008, heap, access(1, 2, &[]), access(2, 2, &[])),
            RacesEntry::Counts(vec![5, 7]),
            RacesEntry::Blind,
        ];
        let found = super::races(&log(), &file(&entries)).unwrap();
        assert!(found.is_blind);
        let [global, block] = &found.races[..] else { panic!("{found:?}") };
        assert_eq!((global.variable.as_str(), global.count), ("total+4", 5));
        assert_eq!((global.first.place.thread.as_str(), global.first.place.location()), ("main", "a.c:11:1"));
        assert_eq!(functions(&global.first.place), ["reader", "main"]);
        assert_eq!(global.second.place.thread, "T2");
        assert_eq!(functions(&global.second.place), ["reader", "main"], "it was inlined");
        assert_eq!((block.variable.as_str(), block.count), ("byte 8 of a block of 32 bytes", 7));
        assert_eq!(block.allocated.as_ref().map(functions), Some(vec!["main"]), "the call itself");
    }

    #[test]
    fn what_is_no_file_of_races_is_refused() {
        assert!(matches!(super::races(&log(), b""), Err(LogError::Empty)));
        assert!(matches!(super::races(&log(), b"something else"), Err(LogError::Malformed)));
        assert!(matches!(super::races(b"", &file(&[])), Err(LogError::Empty)));
        assert_eq!(super::races(&log(), &file(&[])).unwrap(), OnlineRaces::default());
    }
}
