//! The first pass: divides memory into cells, and finds the threads that access each.
//!
//! An access is a set of bytes. A *cell* is a run of bytes within a word such that every access has either all of
//! them or none; so cells are to accesses what variables are to events. A part of an atomic access alone would be an
//! access that the machine cannot make: a word in which cells would split an atomic access is *mixed*, and counts as
//! one cell.

use rustc_hash::{FxHashMap, FxHashSet};

use foretell_symbolic::{Part, mask, parts};
use foretell_wire::record::{LARGEST_LOCAL, Record, SyncOp};

use crate::LogError;
use crate::handover::{Following, HandedOver};
use crate::initial_locks::Held;
use crate::memory::{Change, Era, Memory, Purpose};
use crate::merge::{Passed, Until, for_each_until};
use crate::places::Places;
use crate::records::{Entry, Touch, site_of, touches};
use crate::words::Words;

/// More than one thread has touched the byte. Threads are counted from 1 on here, 0 stands for none.
const SHARED: u32 = u32::MAX;

/// What is known of eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Word {
    /// The threads that have accessed each byte.
    owners: [u32; 8],
    /// The bytes that were touched at all.
    touched: u8,
    /// The bytes at which some access begins or ends: a cell begins there.
    bounds: u8,
    /// The bytes that some atomic access has together with the byte before.
    inseparable: u8,
    /// The bytes that were written once there was a second thread.
    written_late: u8,
    /// Those of them that no thread had touched before.
    overwritten: u8,
    /// The bytes that were written at all.
    written: u8,
    /// Those that another thread touched than the one that had allocated them, before they were written.
    foreign: u8,
    /// Those that were part of a local variable when it ended.
    ended: u8,
}

/// A run of bytes of a word that are one variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    /// The first byte.
    pub(crate) first: u32,
    /// The byte after the last one.
    pub(crate) end: u32,
}

impl Cell {
    fn mask(self) -> u8 {
        mask(self.first, self.end)
    }
}

/// The bytes of a word that an access has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Extent {
    /// The first byte.
    pub(crate) first: u32,
    /// The byte after the last one.
    pub(crate) end: u32,
}

impl Extent {
    pub(crate) fn overlaps(self, other: Extent) -> bool {
        mask(self.first, self.end) & mask(other.first, other.end) != 0
    }
}

/// Which bytes of a word are accessed atomically at once, where accesses of different sizes race, and by whom.
pub(crate) type Sizes = Vec<(Extent, Vec<u32>)>;

/// For so many threads the sizes of their atomic accesses are kept; races between further threads are missed.
const MOST_USERS: usize = 16;

/// What a thread finds in some bytes of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// These variables of the trace, and nothing else.
    Kept(Vec<Cell>),
    /// What is its own.
    Own,
    /// What no thread has changed since there were threads.
    Constant,
    /// What no thread has touched.
    Untouched,
    /// Bytes that other threads access, in cells of other sizes.
    Others,
    /// Parts of a word that is also accessed as a whole, by atomics.
    Mixed,
}

impl Word {
    fn touch(&mut self, thread: u32, part: Part, writes_late: bool, atomic: bool) {
        for byte in part.first..part.end {
            let owner = &mut self.owners[byte as usize];
            *owner = if *owner == 0 || *owner == thread { thread } else { SHARED };
        }
        if writes_late {
            self.overwritten |= part.mask() & !self.touched;
        }
        self.touched |= part.mask();
        self.bounds |= bound(part.first) | bound(part.end);
        if atomic {
            self.inseparable |= part.mask() & !bound(part.first);
        }
        if writes_late {
            self.written_late |= part.mask();
        }
    }

    pub(crate) fn note_write(&mut self, part: Part) {
        self.written |= part.mask();
    }

    /// Whether cells would split an atomic access.
    pub(crate) fn is_mixed(&self) -> bool {
        self.bounds & self.inseparable != 0
    }

    /// Whether the first that is seen of these bytes is that one of several threads writes there: what they held
    /// before is not known.
    pub(crate) fn is_overwritten(&self, cell: Cell) -> bool {
        self.overwritten & mask(cell.first, cell.end) != 0
    }

    /// Whether another thread touched these bytes than the one that had allocated them, before they were written.
    pub(crate) fn is_foreign(&self, cell: Cell) -> bool {
        self.foreign & cell.mask() != 0
    }

    /// Whether a local variable ever ended here.
    pub(crate) fn is_ended(&self, part: Part) -> bool {
        self.ended & part.mask() != 0
    }

    /// A thread touches memory that was allocated by another.
    fn touch_foreign(&mut self, part: Part) {
        self.foreign |= part.mask() & !self.written;
    }

    /// A local variable of this thread is no more. Accesses that come too late conflict with that, too.
    fn end(&mut self, thread: u32, part: Part) {
        let ended = part.mask() & self.touched;
        for (byte, owner) in (0..).zip(&mut self.owners) {
            if ended & bound(byte) != 0 && *owner != thread {
                *owner = SHARED;
            }
        }
        self.written_late |= ended;
        self.ended |= ended;
    }

    /// Whether these bytes can matter to more than one thread.
    fn is_kept(&self, cell: Cell) -> bool {
        let bytes = cell.first..cell.end;
        let shared = bytes.clone().any(|byte| self.owners[byte as usize] == SHARED);
        shared && self.written_late & mask(cell.first, cell.end) != 0
    }

    /// What this thread finds in these bytes.
    pub(crate) fn standing(self, thread: u32, part: Part, writes: bool) -> Standing {
        let mask = part.mask();
        let cells: Vec<Cell> = self.kept_cells(0, 8).filter(|cell| cell.mask() & mask != 0).collect();
        let covered = cells.iter().fold(0, |all, cell| all | cell.mask());
        let owners = &self.owners[part.first as usize..part.end as usize];
        if self.is_mixed() {
            Standing::Mixed
        } else if covered == mask {
            Standing::Kept(cells)
        } else if covered == 0 && owners.iter().all(|&owner| owner == 0) {
            Standing::Untouched
        } else if covered == 0 && owners.iter().all(|&owner| owner == thread + 1) {
            Standing::Own
        } else if covered == 0 && !writes && self.written_late & mask == 0 && self.touched & mask == mask {
            Standing::Constant
        } else {
            Standing::Others
        }
    }

    /// The cells among these bytes that are to be kept. Of a mixed word it is the whole.
    pub(crate) fn kept_cells(self, first: u32, end: u32) -> impl Iterator<Item = Cell> {
        match self.is_mixed() {
            true => self.cells_between(0, 8, 0),
            false => self.cells_between(first, end, self.bounds),
        }
    }

    /// The same, but each access of a mixed word is split.
    pub(crate) fn separate_cells(self, first: u32, end: u32) -> impl Iterator<Item = Cell> {
        self.cells_between(first, end, self.bounds)
    }

    fn cells_between(self, first: u32, end: u32, bounds: u8) -> impl Iterator<Item = Cell> {
        let mut from = first;
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let next = (from + 1..end).find(|&byte| bounds & bound(byte) != 0).unwrap_or(end);
            let cell = Cell { first: from, end: next };
            from = next;
            Some(cell)
        })
        .filter(move |&cell| self.is_kept(cell))
    }
}

/// The byte as a bit; the end of the word needs none, as a cell ends there anyway.
fn bound(byte: u32) -> u8 {
    1_u8.checked_shl(byte).unwrap_or(0)
}

/// What the first pass has found of an era.
#[derive(Debug, Default)]
struct EraFacts {
    /// The words that were touched, sorted.
    words: Vec<u64>,
    /// The thread that freed its memory, and whether there was a second thread by then.
    given_back: Option<(u32, bool)>,
    /// The thread that allocated it, if it is a block of the heap.
    allocator: Option<u32>,
    /// Another thread has taken its memory over than the one that gave it back.
    is_handed_on: bool,
    /// Its memory was reused without a recorded free.
    is_taken: bool,
    /// It was still used after its memory was freed.
    is_used_after: bool,
}

/// What the first pass has found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    words: Words,
    /// What is known of each era, by its number.
    eras: Vec<EraFacts>,
    /// The objects of a managed heap.
    objects: Vec<Era>,
    /// Which bytes are accessed atomically at once, by the address of the word.
    sizes: FxHashMap<(Era, u64), Sizes>,
    /// Whether there was an unmodelled operation, as far as that is known before the events are made.
    pub(crate) has_opaque: bool,
    /// How many accesses were to shared memory while there was more than one thread.
    pub(crate) shared: u64,
    /// The locks that the first thread holds from the beginning.
    pub(crate) held: Vec<u64>,
    /// The barriers whose return value is used (`PTHREAD_BARRIER_SERIAL_THREAD`).
    pub(crate) led: FxHashSet<(u64, u64)>,
    /// The locks that other threads than their holders release.
    pub(crate) handed: HandedOver,
    /// Names of variables.
    pub(crate) places: Places,
}

impl Survey {
    /// The word at this address, if it was touched.
    #[inline]
    pub(crate) fn word(&self, era: Era, word: u64) -> Option<Word> {
        self.words.get(era, word).copied()
    }

    fn era(&self, era: Era) -> Option<&EraFacts> {
        self.eras.get(era.0 as usize)
    }

    #[inline]
    fn era_mut(&mut self, era: Era) -> &mut EraFacts {
        let index = era.0 as usize;
        if self.eras.len() <= index {
            self.eras.resize_with(index + 1, EraFacts::default);
        }
        &mut self.eras[index]
    }

    /// The objects of a managed heap of which anything is kept.
    pub(crate) fn kept_objects(&self) -> impl Iterator<Item = Era> {
        self.objects.iter().copied().filter(|&era| self.kept(era).next().is_some())
    }

    /// All cells of an era that are kept, each with its word.
    pub(crate) fn kept(&self, era: Era) -> impl Iterator<Item = (u64, Cell)> {
        let words = self.era(era).map_or(&[][..], |facts| facts.words.as_slice());
        words.iter().flat_map(move |&address| {
            let word = self.word(era, address).unwrap_or_default();
            word.kept_cells(0, 8).map(move |cell| (address, cell))
        })
    }

    /// Which bytes of a word are accessed atomically at once, where accesses of different sizes race, and by whom.
    pub(crate) fn sizes(&self, era: Era, word: u64) -> &[(Extent, Vec<u32>)] {
        self.sizes.get(&(era, word)).map_or(&[], Vec::as_slice)
    }

    fn note_size(&mut self, era: Era, thread: u32, part: Part) {
        let sizes = self.sizes.entry((era, part.word)).or_default();
        let extent = Extent { first: part.first, end: part.end };
        match sizes.iter_mut().find(|(known, _)| *known == extent) {
            Some((_, users)) if users.len() < MOST_USERS && !users.contains(&thread) => users.push(thread),
            Some(_) => {}
            None => sizes.push((extent, vec![thread])),
        }
    }

    /// Whether anything that is accessed can matter to more than one thread.
    pub(crate) fn is_anything_kept(&self) -> bool {
        let is_kept = |word: &Word| word.is_mixed() || word.kept_cells(0, 8).next().is_some();
        self.has_opaque || self.words.iter().any(is_kept)
    }

    /// Whether the era was still used after its memory was freed.
    pub(crate) fn is_used_after(&self, era: Era) -> bool {
        self.era(era).is_some_and(|facts| facts.is_used_after)
    }

    /// Whether another thread takes the memory of the era over than the one that gives it back.
    pub(crate) fn is_handed_on(&self, era: Era) -> bool {
        self.era(era).is_some_and(|facts| facts.is_handed_on)
    }

    /// Whether the era is in memory that was reused without a recorded free.
    pub(crate) fn is_taken(&self, era: Era) -> bool {
        self.era(era).is_some_and(|facts| facts.is_taken)
    }

    /// A thread begins to reuse memory.
    fn take_over(&mut self, memory: &Memory, era: Era, thread: u32) {
        for &old in memory.replaced() {
            let last = match memory.about(old).purpose {
                Purpose::Stack(owner) => Some(owner),
                _ => self.era(old).and_then(|facts| facts.given_back).map(|(thread, _)| thread),
            };
            match last {
                Some(last) if last == thread => {}
                Some(_) => self.era_mut(old).is_handed_on = true,
                None if matches!(memory.about(old).purpose, Purpose::Heap(_))
                    && !matches!(memory.about(era).purpose, Purpose::Part(_)) =>
                {
                    self.era_mut(era).is_taken = true;
                    self.has_opaque = true;
                }
                None => {}
            }
        }
    }

    fn touch(&mut self, memory: &Memory, thread: u32, touch: Touch, site: u64, forked: bool) {
        let era = memory.era(touch.addr);
        if memory.about(era).purpose == Purpose::Shared {
            self.has_opaque = true;
            self.shared += u64::from(forked);
            return;
        }
        let facts = self.era_mut(era);
        facts.is_used_after |= facts.given_back.is_some();
        let is_foreign = facts.allocator.is_some_and(|allocator| allocator != thread);
        for part in parts(touch.addr, touch.length) {
            let word = self.touch_part(era, thread, part, touch.writes && forked, touch.atomic);
            if is_foreign {
                word.touch_foreign(part);
            }
            if touch.writes {
                word.note_write(part);
            }
            if touch.atomic && forked && self.places.language(site).mixed_sizes_race() {
                self.note_size(era, thread, part);
            }
        }
    }

    fn touch_part(
        &mut self,
        era: Era,
        thread: u32,
        part: Part,
        writes_late: bool,
        atomic: bool,
    ) -> &mut Word {
        let facts = self.era_mut(era);
        let given_back = facts.given_back;
        let (word, is_new) = self.words.touch(era, part.word);
        if is_new {
            self.eras[era.0 as usize].words.push(part.word);
        }
        word.touch(thread + 1, part, writes_late, atomic);
        if let Some((other, late)) = given_back {
            word.touch(other + 1, part, late, false);
        }
        word
    }

    /// A local variable of the thread is no more.
    fn end_local(&mut self, memory: &Memory, thread: u32, addr: u64, bytes: u64) {
        let era = memory.era(addr);
        for part in parts(addr, bytes.min(LARGEST_LOCAL)) {
            if let Some(word) = self.words.get_mut(era, part.word) {
                word.end(thread + 1, part);
            }
        }
    }

    /// The thread might touch this, once there is a second one.
    pub(crate) fn imagine(&mut self, era: Era, thread: u32, part: Part, writes: bool) {
        self.touch_part(era, thread, part, writes, false);
    }

    /// All that is touched is known.
    pub(crate) fn sort(&mut self) {
        for facts in &mut self.eras {
            facts.words.sort_unstable();
        }
    }

    /// To give memory back conflicts with all accesses to it, like a write; also with those that come too late.
    fn free(&mut self, era: Era, thread: u32, forked: bool) {
        self.era_mut(era).given_back = Some((thread, forked));
        for &address in self.eras.get(era.0 as usize).map_or(&[][..], |facts| facts.words.as_slice()) {
            if let Some(word) = self.words.get_mut(era, address) {
                for owner in word.owners.iter_mut().filter(|owner| **owner != 0) {
                    *owner = if *owner == thread + 1 { *owner } else { SHARED };
                }
                word.written_late |= if forked { word.touched } else { 0 };
            }
        }
    }
}

/// Goes through the log for the first time, as far as that is wanted: the next pass must not go further.
pub(crate) fn survey(log: &[u8], until: Until<'_>) -> Result<(Survey, Passed), LogError> {
    let (mut survey, mut memory, mut forked) = (Survey::default(), Memory::default(), false);
    let (mut held, mut handed) = (Held::default(), Following::default());
    let passed = for_each_until(log, until, |entry| {
        let (thread, record) = match entry {
            Entry::Module(module) => return survey.places.add(&module),
            Entry::Record(thread, record) => (thread, record),
        };
        if let Record::Sync { op, object, other, .. } = record {
            held.follow(thread, op, object, other);
            if op == SyncOp::Arrive && other % 2 == 1 {
                survey.led.insert((object, other / 2));
            }
            handed.follow(&memory, thread, op, object, other);
        }
        forked |= matches!(record, Record::Sync { op: SyncOp::Fork, .. });
        survey.has_opaque |=
            matches!(record, Record::Opaque { .. }) || is_torn_atomic(&record) || record.is_vague();
        match memory.follow(thread, &record) {
            Some(Change::Ends(era)) => survey.free(era, thread, forked),
            Some(Change::Begins(era)) => {
                survey.take_over(&memory, era, thread);
                if matches!(memory.about(era).purpose, Purpose::Heap(_)) {
                    survey.era_mut(era).allocator = Some(thread);
                }
            }
            None => {}
        }
        if let Record::Sync { op: SyncOp::Object, object, .. } = record {
            survey.objects.push(memory.era(object));
        }
        if let Record::Sync { op: SyncOp::LocalEnd, object, other, .. } = record {
            survey.end_local(&memory, thread, object, other);
        }
        for touch in touches(&record).into_iter().flatten().filter(|_| !record.is_vague()) {
            survey.touch(&memory, thread, touch, site_of(&record), forked);
        }
        Ok(())
    })?;
    survey.held = held.since_the_beginning();
    survey.handed = handed.finish();
    survey.sort();
    Ok((survey, passed))
}

/// Whether the record is an atomic access that reaches across words, which no cell can hold.
pub(crate) fn is_torn_atomic(record: &Record<'_>) -> bool {
    touches(record)
        .into_iter()
        .flatten()
        .any(|touch| touch.atomic && parts(touch.addr, touch.length).count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(touches: &[(u32, u32, u32, bool, bool)]) -> Word {
        let mut word = Word::default();
        for &(thread, first, end, writes, atomic) in touches {
            word.touch(thread, Part { word: 0, first, end, offset: 0 }, writes, atomic);
        }
        word
    }

    fn cells(word: Word, first: u32, end: u32) -> Vec<(u32, u32)> {
        word.kept_cells(first, end).map(|cell| (cell.first, cell.end)).collect()
    }

    #[test]
    fn neighbouring_bytes_are_cells_of_their_own() {
        let word = word(&[(1, 0, 1, true, false), (2, 1, 2, true, false), (2, 0, 1, false, false)]);
        assert_eq!(cells(word, 0, 8), [(0, 1)], "the second byte is one thread's own");
    }

    #[test]
    fn a_wide_access_is_the_union_of_cells() {
        let word = word(&[(1, 0, 8, true, false), (2, 0, 4, true, false), (2, 4, 8, false, false)]);
        assert_eq!(cells(word, 0, 8), [(0, 4), (4, 8)]);
        assert_eq!(cells(word, 4, 8), [(4, 8)]);
    }

    #[test]
    fn what_nobody_writes_once_there_are_threads_is_left_out() {
        let word = word(&[(1, 0, 4, false, false), (2, 0, 4, false, false)]);
        assert!(cells(word, 0, 8).is_empty());
    }

    #[test]
    fn who_writes_first_does_not_tell_what_was_there() {
        let word = word(&[(1, 0, 4, false, false), (2, 0, 4, true, false), (2, 4, 8, true, false)]);
        let told = [(0, 4), (4, 8)].map(|(first, end)| word.is_overwritten(Cell { first, end }));
        assert_eq!(told, [false, true]);
    }

    #[test]
    fn an_atomic_access_is_never_split() {
        let word = word(&[(1, 0, 8, true, true), (2, 0, 4, true, false)]);
        assert!(word.is_mixed());
        assert_eq!(cells(word, 0, 4), [(0, 8)]);
        let separate: Vec<_> = word.separate_cells(0, 8).map(|cell| (cell.first, cell.end)).collect();
        assert_eq!(separate, [(0, 4)], "the rest is one thread's own");
    }

    #[test]
    fn the_end_of_a_local_variable_is_a_write_to_what_was_touched() {
        let mut word = word(&[(1, 0, 4, false, false), (2, 0, 4, false, false), (1, 4, 8, true, false)]);
        let whole = Part { word: 0, first: 0, end: 8, offset: 0 };
        assert!(cells(word, 0, 8).is_empty() && !word.is_ended(whole));
        word.end(1, whole);
        assert_eq!(cells(word, 0, 8), [(0, 4)]);
        assert!(word.is_ended(whole));
        word.touch(2, Part { first: 4, ..whole }, false, false);
        assert_eq!(cells(word, 0, 8), [(0, 4), (4, 8)], "also to what others touch too late");
    }

    #[test]
    fn memory_is_foreign_until_it_is_written() {
        let part = |first, end| Part { word: 0, first, end, offset: 0 };
        let mut word = Word::default();
        word.note_write(part(0, 4));
        word.touch_foreign(part(0, 8));
        let is_foreign = [(0, 4), (4, 8)].map(|(first, end)| word.is_foreign(Cell { first, end }));
        assert_eq!(is_foreign, [false, true]);
    }
}
