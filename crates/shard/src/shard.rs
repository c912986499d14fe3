//! A shard: as a file, and as a trace.
//!
//! ```text
//! shard  = "foretell shard\n", version (u32), length of the header (u32), header (JSON),
//!          for each border event the number of the event that it stands for or 0 (u32),
//!          the events as a recording, CRC-32 of all before (u32)
//! ```
//! All numbers are little-endian.

use std::io::Cursor;

use foretell_trace::format::binary::{BinaryReader, BinaryWriter};
use foretell_trace::{Batch, Ending, Event, Listed, Loc, Names, Op, Source, Symbol, ThreadId, Trace};
use serde::{Deserialize, Serialize};

use crate::ShardError;
use crate::border::State;
use crate::whole::{Meeting, Whole};

const MAGIC: &[u8] = b"foretell shard\n";
const VERSION: u32 = 1;
const WHAT: &str = "shard";

/// A piece of a trace, with the events that bring it into the state in which it began.
#[derive(Debug)]
pub struct Shard {
    /// Which one it is, from 0 on.
    pub number: u32,
    /// The index in the trace of its first event that is no border event.
    pub first: u32,
    /// Pairs belong to this shard whose second event is at least so many events after that one.
    pub owned: u32,
    /// Whether the trace goes on after the shard.
    pub continues: bool,
    /// For each border event the number of the event of the trace that it stands for, or 0.
    pub(crate) origins: Vec<u32>,
    /// How many border events there are.
    pub(crate) border: u32,
    /// The semaphores that are used in it, as they are at the border.
    pub(crate) semaphores: Vec<BorderSemaphore>,
    /// The border events, and those of the piece.
    pub(crate) events: Vec<Event>,
    pub(crate) names: Names,
}

/// A semaphore at the border.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BorderSemaphore {
    /// Which one.
    pub name: String,
    /// Its permits, if the trace shows its creation before.
    pub created: Option<u64>,
    /// How many more permits were taken than given.
    pub used: i64,
}

/// What a file says of a shard beside its events.
#[derive(Serialize, Deserialize)]
struct Header {
    number: u32,
    first: u32,
    owned: u32,
    continues: bool,
    border: u32,
    semaphores: Vec<BorderSemaphore>,
}

/// A shard as a trace.
#[derive(Debug)]
pub struct ShardTrace {
    /// The trace: border events, and those of the piece.
    pub trace: Trace,
    /// How many border events there are.
    pub border: u32,
    /// Pairs belong to this shard whose second event has at least this index.
    pub owned: u32,
    /// Whether the whole trace goes on after it.
    pub continues: bool,
    /// For each border event the number of the event of the whole trace that it stands for, or 0.
    origins: Vec<u32>,
    /// The index in the whole trace of the first event after the border.
    first: u32,
}

impl ShardTrace {
    /// The number in the whole trace of the event with this number in the shard; none if it stands for no event.
    pub fn original(&self, number: u32) -> Option<u32> {
        match number.checked_sub(self.border + 1) {
            Some(after) => Some(self.first + after + 1),
            None => self.origins.get(number.checked_sub(1)? as usize).copied().filter(|&origin| origin > 0),
        }
    }

    /// How many events of the whole trace come before the piece.
    pub fn before(&self) -> u32 {
        self.first
    }

    /// Whether this is a whole trace.
    pub fn is_whole(&self) -> bool {
        self.first == 0 && !self.continues
    }
}

impl Shard {
    /// How many events of the trace it has.
    pub fn len(&self) -> usize {
        self.events.len() - self.border as usize
    }

    /// Whether it has no event of the trace.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shard as the content of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ShardError> {
        let Shard { number, first, owned, continues, border, ref semaphores, .. } = *self;
        let header = Header { number, first, owned, continues, border, semaphores: semaphores.clone() };
        let header = serde_json::to_vec(&header).map_err(|_| ShardError::TooLarge)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::try_from(header.len()).map_err(|_| ShardError::TooLarge)?.to_le_bytes());
        bytes.extend(header);
        bytes.extend(self.origins.iter().flat_map(|origin| origin.to_le_bytes()));
        let mut writer = BinaryWriter::new(bytes)?;
        for event in &self.events {
            writer.write(event, &self.names)?;
        }
        let mut bytes = writer.finish()?;
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// The shard that [`Shard::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Shard, ShardError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ShardError::NotOne(WHAT))?;
        let (version, _) = number(rest)?;
        if version != VERSION {
            return Err(ShardError::Version { what: WHAT, found: version, wanted: VERSION });
        }
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(ShardError::Damaged(WHAT))?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(ShardError::Damaged(WHAT));
        }
        Shard::read(&content[MAGIC.len() + 4..])
    }

    /// What comes after the version.
    fn read(bytes: &[u8]) -> Result<Shard, ShardError> {
        let damaged = || ShardError::Damaged(WHAT);
        let (length, rest) = number(bytes)?;
        let (header, rest) = rest.split_at_checked(length as usize).ok_or_else(damaged)?;
        let header: Header = serde_json::from_slice(header).map_err(|_| damaged())?;
        let (origins, recording) =
            rest.split_at_checked((header.border as usize).saturating_mul(4)).ok_or_else(damaged)?;
        let (chunks, _) = origins.as_chunks::<4>();
        let origins = chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect();
        let (events, names) = events(recording)?;
        if events.len() < header.border as usize {
            return Err(damaged());
        }
        let Header { number, first, owned, continues, border, semaphores } = header;
        Ok(Shard { number, first, owned, continues, origins, border, semaphores, events, names })
    }

    /// The shard as a trace. What the `whole` tells comes before the border events, by threads that do nothing else.
    pub fn into_trace(self, whole: &Whole) -> Result<ShardTrace, ShardError> {
        let Shard { first, owned, continues, origins, border, semaphores, events, mut names, .. } = self;
        let is_all = first == 0 && !continues;
        let told = if is_all { Vec::new() } else { told(&mut names, &semaphores, whole)? };
        for (thread, title) in &whole.titles {
            if let Some(thread) = names.threads.get(thread) {
                names.set_title(thread, title);
            }
        }
        let count = u32::try_from(told.len()).map_err(|_| ShardError::TooLarge)?;
        let mut all = told;
        all.extend(events);
        let ending = if continues || whole.cut_short { Ending::CutShort } else { Ending::Complete };
        let trace = Trace::check(Listed::new(all, names, ending))?;
        assert_explained(&trace)?;
        let origins = std::iter::repeat_n(0, count as usize).chain(origins).collect();
        let border = border + count;
        Ok(ShardTrace { trace, border, owned: border + owned, continues, origins, first })
    }
}

/// A return from a wait is in a shard only if a notification explains it; otherwise it was made one of a timeout.
fn assert_explained(trace: &Trace) -> Result<(), ShardError> {
    let mut state = State::default();
    let is_kept = |(index, event): (u32, &Event)| state.event(index, event).op == event.op;
    if (0..).zip(trace.events()).all(is_kept) { Ok(()) } else { Err(ShardError::Damaged(WHAT)) }
}

/// The events that tell what only the whole trace tells.
fn told(names: &mut Names, semaphores: &[BorderSemaphore], whole: &Whole) -> Result<Vec<Event>, ShardError> {
    let mut told = Told::new(names)?;
    told.semaphores(semaphores, whole)?;
    told.barriers(whole)?;
    if whole.has_branches {
        told.add(Op::Branch);
    }
    Ok(told.events)
}

/// Such events, as they are put together.
struct Told<'n> {
    names: &'n mut Names,
    thread: ThreadId,
    events: Vec<Event>,
}

impl<'n> Told<'n> {
    fn new(names: &'n mut Names) -> Result<Told<'n>, ShardError> {
        let thread = new_thread(names)?;
        Ok(Told { names, thread, events: Vec::new() })
    }

    fn add(&mut self, op: Op) {
        self.events.push(Event::new(self.thread, op, Loc(Symbol::ZERO)));
    }

    /// The permits at the border.
    fn semaphores(&mut self, semaphores: &[BorderSemaphore], whole: &Whole) -> Result<(), ShardError> {
        let known: Vec<(String, u64)> = self
            .names
            .sems
            .iter()
            .filter_map(|name| {
                let border = semaphores.iter().find(|semaphore| semaphore.name == name);
                let permits = match border {
                    Some(BorderSemaphore { created: Some(permits), .. }) => *permits,
                    // Where the shard itself shows the creation, the whole trace does.
                    None => *whole.semaphores.get(name)?,
                    Some(border) => whole.semaphores.get(name)?.saturating_add_signed(-border.used),
                };
                Some((name.to_string(), permits))
            })
            .collect();
        for (name, permits) in known {
            let sem = self.names.sems.intern(name.as_bytes()).map_err(|_| ShardError::TooLarge)?;
            self.add(Op::SemInit { sem, permits: u32::try_from(permits).unwrap_or(u32::MAX) });
        }
        Ok(())
    }

    /// How many threads meet at barriers: so many have met before. Where it is not always as many, once one thread
    /// alone and once two.
    fn barriers(&mut self, whole: &Whole) -> Result<(), ShardError> {
        let here: Vec<(String, Meeting)> = self
            .names
            .barriers
            .iter()
            .filter_map(|name| Some((name.to_string(), *whole.barriers.get(name)?)))
            .collect();
        for (name, meeting) in here {
            let barrier = self.names.barriers.intern(name.as_bytes()).map_err(|_| ShardError::TooLarge)?;
            let sizes = match meeting {
                Meeting::Size(size) => vec![size],
                Meeting::Unknown => vec![1, 2],
            };
            for size in sizes {
                let threads = (0..size).map(|_| new_thread(self.names)).collect::<Result<Vec<_>, _>>()?;
                for op in [Op::Arrive(barrier), Op::Depart(barrier)] {
                    let by = |&thread: &ThreadId| Event::new(thread, op, Loc(Symbol::ZERO));
                    self.events.extend(threads.iter().map(by));
                }
            }
        }
        Ok(())
    }
}

/// A name that no thread has.
pub(crate) fn unused_name(names: &Names) -> String {
    let mut number = names.threads.len();
    loop {
        let name = format!("(before {number})");
        if names.threads.get(&name).is_none() {
            return name;
        }
        number += 1;
    }
}

/// A thread that the trace does not have.
fn new_thread(names: &mut Names) -> Result<ThreadId, ShardError> {
    let name = unused_name(names);
    names.threads.intern(name.as_bytes()).map_err(|_| ShardError::TooLarge)
}

/// A number at the beginning, and the rest.
fn number(bytes: &[u8]) -> Result<(u32, &[u8]), ShardError> {
    let (number, rest) = bytes.split_first_chunk::<4>().ok_or(ShardError::Damaged(WHAT))?;
    Ok((u32::from_le_bytes(*number), rest))
}

/// All events of a recording, unchecked.
fn events(recording: &[u8]) -> Result<(Vec<Event>, Names), ShardError> {
    let mut source = BinaryReader::new(Box::new(Cursor::new(recording.to_vec())));
    let (mut batch, mut events) = (Batch::default(), Vec::new());
    while source.fill(&mut batch)? {
        events.extend_from_slice(&batch.events);
    }
    Ok((events, Box::new(source).into_names()))
}
