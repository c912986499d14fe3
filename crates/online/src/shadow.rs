//! What is remembered of each word of memory.
//!
//! Nearly all memory is only ever accessed in one way: always the same bytes, never atomically, and read by one
//! thread at a time. Of each half of such a word two epochs are kept, the last write and the last read since, side
//! by side; and, further away, where they were made. So an access that only repeats what its thread did before,
//! unseen by others, takes one look at a few bytes. Whatever is more complicated is kept elsewhere ([`WordParts`]).

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::blocks::{BlockPurpose, Blocks};
use crate::bytes::OrderedBytes;
use crate::cell::How;
use crate::clock::Epoch;
use crate::order::EpochPast;
use crate::parts::WordParts;
use crate::place::AccessSite;
use crate::scene::Scene;

/// How many bytes a word has.
pub(crate) const WORD: u64 = 8;
/// How many bytes of memory a page remembers.
const PAGE: u64 = 1 << 12;
/// How many halves of words that are.
const HALVES: usize = (2 * PAGE / WORD) as usize;
/// The bytes of each half of a word, as bits.
const HALF: [u8; 2] = [0x0F, 0xF0];
/// For so many pages it is remembered where they are; those with the same remainder share a place.
const RECENT: usize = 1 << 12;

/// The last accesses to a half of a word, as epochs, each with the bytes of the word that it touched.
///
/// The write has no bytes as long as no thread has written: then it is the epoch of the allocation. It is no epoch if
/// the state of the word is kept elsewhere; then the read of the first half has its index, and that of the second one
/// is the epoch of the last access, with all bytes that it would be nothing new to read again. If both have bytes, then
/// the same ones of this half.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Epochs {
    write: Epoch,
    read: Epoch,
}

impl Epochs {
    /// Whether an access at this epoch is nothing new. Without a branch: whether the next access writes is what the
    /// processor cannot guess.
    #[inline(always)]
    fn are_repeated(self, writes: bool, now: Epoch) -> bool {
        (self.write == now) | (!writes & (self.read == now))
    }

    /// Whether a plain access to these bytes of the half can be kept here: the others are of the same bytes, and
    /// reads are ordered.
    #[inline(always)]
    fn can_take(self, bytes: u8, half: u8, how: How, scene: &Scene<'_>) -> bool {
        let same = |epoch: Epoch| epoch.bytes() == 0 || epoch.bytes() & half == bytes;
        self.write.is_epoch()
            && same(self.write)
            && same(self.read)
            && (how.writes() || scene.is_before(self.read))
    }

    /// The bytes of the half that were touched; all, if none were.
    fn touched(self, half: u8) -> u8 {
        match (self.write.bytes() | self.read.bytes()) & half {
            0 => half,
            touched => touched,
        }
    }
}

/// Where these accesses were made.
#[derive(Clone, Copy, Default)]
struct AccessPlaces {
    write: AccessSite,
    read: AccessSite,
}

struct Page {
    epochs: Box<[Epochs; HALVES]>,
    places: Box<[AccessPlaces; HALVES]>,
}

impl Page {
    /// Whether any thread has touched the word that begins with this half.
    fn is_touched(&self, first: usize) -> bool {
        [first, first | 1].into_iter().any(|half| {
            let Epochs { write, read } = self.epochs[half];
            !write.is_epoch() || write.bytes() != 0 || read.bytes() != 0
        })
    }

    /// Checks a plain access to a half of a word, whose first byte is at this address, for races.
    #[inline(always)]
    fn compare(&self, half: usize, addr: u64, how: How, scene: &mut Scene<'_>) {
        let (epochs, places) = (self.epochs[half], &self.places[half]);
        if epochs.write.bytes() != 0 {
            scene.compare(epochs.write, &places.write, addr);
        } else if !scene.is_before(epochs.write) {
            scene.meet_birth(addr);
        }
        if how.writes() {
            scene.compare(epochs.read, &places.read, addr);
        }
    }

    /// Stores a plain access to a half of a word, as an epoch with the bytes of the word that it touches.
    #[inline(always)]
    fn put(&mut self, half: usize, writes: bool, now: Epoch, place: AccessSite) {
        let (epochs, places) = (&mut self.epochs[half], &mut self.places[half]);
        if writes {
            *epochs = Epochs { write: now, read: Epoch::NONE };
            places.write = place;
        } else {
            (epochs.read, places.read) = (now, place);
        }
    }
}

/// All memory that was touched.
pub(crate) struct ShadowMemory {
    /// Where each page is, by its number.
    numbers: FxHashMap<u64, usize>,
    /// The same of those that were looked at last.
    recent: Box<[(u64, usize); RECENT]>,
    pages: Vec<Page>,
    /// Pages whose memory is no more.
    unused: Vec<usize>,
    parts: Vec<WordParts>,
    /// Places among these that are free.
    free_parts: Vec<usize>,
}

impl Default for ShadowMemory {
    fn default() -> ShadowMemory {
        ShadowMemory {
            numbers: FxHashMap::default(),
            recent: Box::new([(u64::MAX, 0); RECENT]),
            pages: Vec::new(),
            unused: Vec::new(),
            parts: Vec::new(),
            free_parts: Vec::new(),
        }
    }
}

impl std::fmt::Debug for ShadowMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pages, {} words in parts", self.numbers.len(), self.parts.len())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is what is wanted")]
fn remainder(number: u64, modulus: usize) -> usize {
    number as usize % modulus
}

/// Where in its page the half of a word at this address is.
#[inline(always)]
fn half_of(addr: u64) -> usize {
    remainder(addr / (WORD / 2), HALVES)
}

impl ShadowMemory {
    /// Keeps a plain access to these bytes, the first of which is at this address, if that is quick: it only repeats
    /// what the thread whose epoch this is has just done, or all that is remembered of its bytes is known to come
    /// before it and can be forgotten. Says whether it is kept.
    ///
    /// If an access has bytes of both halves, the first half tells whether it repeats another one: another thread can
    /// only have accessed the other half in between by a race with the same access, which was reported then.
    #[inline(always)]
    pub(crate) fn is_kept(
        &mut self,
        addr: u64,
        bytes: u8,
        writes: bool,
        now: Epoch,
        place: AccessSite,
        past: &EpochPast<'_>,
    ) -> bool {
        let (known, number) = self.recent[remainder(addr / PAGE, RECENT)];
        let number = if known == addr / PAGE { number } else { self.look_up(addr / PAGE) };
        let Some(page) = self.pages.get_mut(number) else { return false };
        let (half, now) = (half_of(addr), now.with(bytes));
        let epochs = page.epochs[half];
        if epochs.are_repeated(writes, now) {
            return true;
        }
        if epochs.write == Epoch::ELSEWHERE {
            let seen = page.epochs[half | 1].read;
            if !writes && seen.has(now) {
                return true;
            }
            let parts = self.parts.get_mut(index(page.epochs[half & !1].read));
            let is_kept = parts.is_some_and(|parts| parts.is_kept(bytes, writes, now, place, past));
            if is_kept {
                page.epochs[half | 1].read = seen.and(now);
            }
            return is_kept;
        }
        let has_both = bytes & !HALF[half % 2] != 0;
        let here = if has_both { u8::MAX } else { HALF[half % 2] };
        let is_same = |epoch: Epoch| epoch.bytes() == 0 || epoch.bytes() & here == bytes;
        let is_quick = epochs.write.is_epoch()
            && is_same(epochs.write)
            && is_same(epochs.read)
            && past.has(epochs.write)
            && past.has(epochs.read)
            && (!has_both || page.epochs[half | 1] == epochs);
        if is_quick {
            page.put(half, writes, now, place);
            if has_both {
                page.put(half | 1, writes, now, place);
            }
        }
        is_quick
    }

    /// An access to bytes of one word, which are given as bits.
    pub(crate) fn access(&mut self, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let page = self.page(word, scene.blocks);
        self.access_in(page, word, bytes, how, scene);
    }

    fn access_in(&mut self, page: usize, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let (low, high) = (bytes & HALF[0], bytes & HALF[1]);
        let (first, second) = (half_of(word), half_of(word) + 1);
        let is_simple = (low == 0 || found.epochs[first].can_take(low, HALF[0], how, scene))
            && (high == 0 || found.epochs[second].can_take(high, HALF[1], how, scene));
        if !is_simple || how.is_atomic() {
            return self.access_parts(page, word, bytes, how, scene);
        }
        let are_same = low != 0 && found.epochs[first] == found.epochs[second];
        if low != 0 {
            found.compare(first, first_byte(word, low), how, scene);
            found.put(first, how.writes(), scene.now.with(bytes), scene.place);
        }
        if high != 0 {
            if !are_same {
                found.compare(second, first_byte(word, high), how, scene);
            }
            found.put(second, how.writes(), scene.now.with(bytes), scene.place);
        }
    }

    /// An access to a word that is kept elsewhere, or has to be from now on.
    fn access_parts(&mut self, page: usize, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let first = half_of(word);
        if found.epochs[first].write == Epoch::OUTSIDE {
            return scene.fence();
        }
        if found.epochs[first].write != Epoch::ELSEWHERE {
            let parts = parts_of(found, first);
            let index = self.free_parts.pop().unwrap_or(self.parts.len());
            match self.parts.get_mut(index) {
                Some(place) => *place = parts,
                None => self.parts.push(parts),
            }
            found.epochs[first] = Epochs { write: Epoch::ELSEWHERE, read: number(index) };
            found.epochs[first | 1] = Epochs { write: Epoch::ELSEWHERE, read: Epoch::NONE };
        }
        if let Some(parts) = self.parts.get_mut(index(found.epochs[first].read)) {
            parts.access(word, bytes, how, scene);
            let seen = &mut found.epochs[first | 1].read;
            let is_known = !how.is_atomic() && !parts.is_mixed();
            *seen = if is_known { seen.and(scene.now.with(bytes)) } else { Epoch::NONE };
        }
    }

    /// The memory is freed, which conflicts with every access to it, also with later ones.
    pub(crate) fn free(&mut self, range: &Range<u64>, scene: &mut Scene<'_>) {
        for page in self.pages_within(range) {
            let Some(&number) = self.numbers.get(&page) else { continue };
            for word in words_within(page, range) {
                self.give_word_back(number, word, scene);
            }
        }
    }

    /// Local variables are no more. Whatever else is in the same words is in the same frame, which ends as well.
    pub(crate) fn end_local(&mut self, range: &Range<u64>, scene: &mut Scene<'_>) {
        for page in self.pages_within(range) {
            let Some(&number) = self.numbers.get(&page) else { continue };
            for word in words_within(page, range) {
                if self.pages.get(number).is_some_and(|page| page.is_touched(half_of(word))) {
                    self.give_word_back(number, word, scene);
                }
            }
        }
    }

    fn give_word_back(&mut self, page: usize, word: u64, scene: &mut Scene<'_>) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let first = half_of(word);
        let epochs = found.epochs[first];
        match epochs.write {
            Epoch::OUTSIDE => {}
            Epoch::ELSEWHERE => {
                if let Some(parts) = self.parts.get_mut(index(epochs.read)) {
                    parts.free(word, scene);
                }
                found.epochs[first | 1].read = Epoch::NONE;
            }
            _ => {
                let bytes = epochs.touched(HALF[0]) | found.epochs[first | 1].touched(HALF[1]);
                self.access_in(page, word, bytes, How::Write, scene);
            }
        }
    }

    /// The memory is allocated again at this epoch, or was accessed by uninstrumented code: clears its state.
    pub(crate) fn renew(&mut self, range: &Range<u64>, epoch: Epoch) {
        for page in self.pages_within(range) {
            let Some(&number) = self.numbers.get(&page) else { continue };
            for word in words_within(page, range) {
                self.renew_word(number, word, epoch);
            }
            if range.start <= page * PAGE && (page + 1) * PAGE <= range.end {
                self.unuse(page);
            }
        }
    }

    fn renew_word(&mut self, page: usize, word: u64, epoch: Epoch) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let first = half_of(word);
        let epochs = found.epochs[first];
        if epochs.write == Epoch::ELSEWHERE {
            let freed = index(epochs.read);
            if let Some(parts) = self.parts.get_mut(freed) {
                *parts = WordParts::default();
            }
            self.free_parts.push(freed);
        }
        found.epochs[first] = Epochs { write: epoch, read: Epoch::NONE };
        found.epochs[first | 1] = found.epochs[first];
    }

    /// The page has no state beside that of its blocks.
    fn unuse(&mut self, page: u64) {
        if let Some(number) = self.numbers.remove(&page) {
            self.unused.push(number);
            self.recent[remainder(page, RECENT)] = (u64::MAX, 0);
        }
    }

    /// The numbers of the pages that there are of this range.
    fn pages_within(&self, range: &Range<u64>) -> Vec<u64> {
        let wanted = range.start / PAGE..range.end.div_ceil(PAGE);
        if wanted.end.saturating_sub(wanted.start) > self.numbers.len() as u64 {
            return self.numbers.keys().copied().filter(|page| wanted.contains(page)).collect();
        }
        wanted.filter(|page| self.numbers.contains_key(page)).collect()
    }

    #[inline(always)]
    fn page(&mut self, word: u64, blocks: &Blocks) -> usize {
        let page = word / PAGE;
        let (known, number) = self.recent[remainder(page, RECENT)];
        if known == page { number } else { self.find(page, blocks) }
    }

    /// Where the page is, if there is one.
    #[inline(never)]
    fn look_up(&mut self, page: u64) -> usize {
        let Some(&number) = self.numbers.get(&page) else { return usize::MAX };
        self.recent[remainder(page, RECENT)] = (page, number);
        number
    }

    #[inline(never)]
    fn find(&mut self, page: u64, blocks: &Blocks) -> usize {
        let number = match self.numbers.get(&page) {
            Some(&number) => number,
            None => self.make(page, blocks),
        };
        self.recent[remainder(page, RECENT)] = (page, number);
        number
    }

    /// A page is touched for the first time: all that is known of its words is to which blocks they belong.
    #[cold]
    fn make(&mut self, page: u64, blocks: &Blocks) -> usize {
        let mut made = Page {
            epochs: Box::new([Epochs::default(); HALVES]),
            places: Box::new([AccessPlaces::default(); HALVES]),
        };
        let start = page.saturating_mul(PAGE);
        for (part, block) in blocks.within(start..start.saturating_add(PAGE)) {
            let write = match (&block.end, block.purpose) {
                (_, BlockPurpose::Outside) => Epoch::OUTSIDE,
                (Some(end), BlockPurpose::Heap) => end.epoch.with(u8::MAX),
                _ => block.birth,
            };
            let place = block.end.as_ref().map(|end| end.place).unwrap_or_default();
            for half in words_within(page, &part).flat_map(|word| [half_of(word), half_of(word) | 1]) {
                made.epochs[half].write = write;
                made.places[half].write = place;
            }
        }
        let number = self.unused.pop().unwrap_or(self.pages.len());
        match self.pages.get_mut(number) {
            Some(place) => *place = made,
            None => self.pages.push(made),
        }
        self.numbers.insert(page, number);
        number
    }
}

/// A word whose state does not fit into epochs any more.
fn parts_of(page: &Page, first: usize) -> WordParts {
    let (low, high) = (page.epochs[first], page.epochs[first | 1]);
    let mut ordered = OrderedBytes::default();
    for (half, bytes) in HALF.into_iter().enumerate() {
        let (epochs, places) = (page.epochs[first | half], page.places[first | half]);
        ordered.set(bytes, [epochs.write, epochs.read], [places.write, places.read]);
    }
    let is_born = |epochs: &Epochs| epochs.write.bytes() == 0;
    let birth = [low, high].into_iter().find(is_born).map_or(Epoch::NONE, |epochs| epochs.write);
    let accesses = [low.write, low.read, high.write, high.read];
    WordParts::new(birth, ordered, accesses.map(Epoch::bytes))
}

/// The address of the first of these bytes.
pub(crate) fn first_byte(word: u64, bytes: u8) -> u64 {
    word + u64::from(bytes.trailing_zeros()) % WORD
}

/// The words of a page that are in this range, by their addresses.
fn words_within(page: u64, range: &Range<u64>) -> impl Iterator<Item = u64> + use<> {
    let start = (page * PAGE).max(range.start) / WORD;
    let end = (page + 1).saturating_mul(PAGE).min(range.end).div_ceil(WORD);
    (start..end).map(|number| number * WORD)
}

/// Where a word is kept, written as an epoch.
fn number(index: usize) -> Epoch {
    Epoch::new(0, index as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "it was an index before")]
fn index(number: Epoch) -> usize {
    number.time() as usize
}
