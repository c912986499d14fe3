//! What is remembered of each word of memory.
//!
//! Nearly all words are only ever accessed in one way: always the same bytes, never atomically, and read by one thread at a time. Of these two
//! moments are kept, the last write and the last read since, side by side; and, further away, where they were made. So an access
//! that only repeats what its thread did before, unseen by others, takes one look at a few bytes. Whatever is more
//! complicated is kept elsewhere ([`Parts`]).

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::blocks::{Blocks, Purpose};
use crate::cell::{Access, Accesses, Cell, How};
use crate::clock::Epoch;
use crate::parts::Parts;
use crate::place::Place;
use crate::scene::Scene;

/// How many bytes a word has.
pub(crate) const WORD: u64 = 8;
/// How many bytes of memory a page remembers.
const PAGE: u64 = 1 << 12;
const WORDS: usize = (PAGE / WORD) as usize;
/// For so many pages it is remembered where they are; those with the same remainder share a place.
const RECENT: usize = 1 << 8;

/// The last accesses to a word, by when they were made.
///
/// The write has no bytes as long as nobody has written: then it is when the memory was allocated. It is no moment if the word is
/// kept elsewhere, and then the read tells where. Both are of the same bytes, if they have any.
#[derive(Clone, Copy, Default)]
struct Moments {
    write: Epoch,
    read: Epoch,
}

/// Where these accesses were made.
#[derive(Clone, Copy, Default)]
struct Places {
    write: Place,
    read: Place,
}

struct Page {
    moments: [Moments; WORDS],
    places: [Places; WORDS],
}

/// All memory that was touched.
pub(crate) struct Shadow {
    /// Where each page is, by its number.
    numbers: FxHashMap<u64, usize>,
    /// The same of those that were looked at last.
    recent: Box<[(u64, usize); RECENT]>,
    pages: Vec<Box<Page>>,
    /// Pages whose memory is no more.
    unused: Vec<usize>,
    parts: Vec<Parts>,
    /// Places among these that are free.
    free_parts: Vec<usize>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            numbers: FxHashMap::default(),
            recent: Box::new([(u64::MAX, 0); RECENT]),
            pages: Vec::new(),
            unused: Vec::new(),
            parts: Vec::new(),
            free_parts: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Shadow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pages, {} words in parts", self.numbers.len(), self.parts.len())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is what is wanted")]
fn remainder(number: u64, modulus: usize) -> usize {
    number as usize % modulus
}

fn word_of(addr: u64) -> usize {
    remainder(addr / WORD, WORDS)
}

impl Shadow {
    /// An access to bytes of one word. It is told which bytes as bits.
    #[inline(always)]
    pub(crate) fn access(&mut self, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let page = self.page(word, scene.blocks);
        let Some(moments) = self.pages.get(page).map(|page| page.moments[word_of(word)]) else { return };
        let now = scene.now.with(bytes);
        let is_repeated = match how {
            How::Write => moments.write == now,
            How::Read => moments.read == now || moments.write == now,
            How::Atomic { .. } => false,
        };
        if !is_repeated {
            self.access_anew(page, word, bytes, how, scene);
        }
    }

    fn access_anew(&mut self, page: usize, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let (moments, places) = (&mut found.moments[word_of(word)], &mut found.places[word_of(word)]);
        let (write, read) = (moments.write, moments.read);
        let same = |epoch: Epoch| epoch.bytes() == 0 || epoch.bytes() == bytes;
        let is_simple = write.is_moment() && same(write) && same(read) && !how.is_atomic();
        if !is_simple || (!how.writes() && !scene.is_before(read)) {
            return self.access_parts(page, word, bytes, how, scene);
        }
        let addr = first_byte(word, bytes);
        if write.bytes() == 0 {
            if !scene.is_before(write) {
                scene.learn_birth(addr);
            }
        } else {
            scene.compare(&Access { epoch: write, place: places.write }, addr);
        }
        if !how.writes() {
            (moments.read, places.read) = (scene.now.with(bytes), scene.place);
            return;
        }
        scene.compare(&Access { epoch: read, place: places.read }, addr);
        *moments = Moments { write: scene.now.with(bytes), read: Epoch::NONE };
        places.write = scene.place;
    }

    /// An access to a word that is kept elsewhere, or has to be from now on.
    fn access_parts(&mut self, page: usize, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        let Some(found) = self.pages.get_mut(page) else { return };
        let (moments, places) = (&mut found.moments[word_of(word)], &found.places[word_of(word)]);
        if moments.write == Epoch::OUTSIDE {
            return scene.fence();
        }
        if moments.write != Epoch::ELSEWHERE {
            let parts = parts_of(*moments, *places);
            let index = self.free_parts.pop().unwrap_or(self.parts.len());
            match self.parts.get_mut(index) {
                Some(place) => *place = parts,
                None => self.parts.push(parts),
            }
            *moments = Moments { write: Epoch::ELSEWHERE, read: number(index) };
        }
        if let Some(parts) = self.parts.get_mut(index(moments.read)) {
            parts.access(word, bytes, how, scene);
        }
    }

    /// The memory is given back, which conflicts with every access to it; also with those that come too late.
    pub(crate) fn give_back(&mut self, range: &Range<u64>, scene: &mut Scene<'_>) {
        for page in self.pages_within(range) {
            for word in words_within(page, range) {
                self.give_word_back(page, word, scene);
            }
        }
    }

    fn give_word_back(&mut self, page: u64, word: u64, scene: &mut Scene<'_>) {
        let Some(&number) = self.numbers.get(&page) else { return };
        let Some(moments) = self.pages.get(number).map(|page| page.moments[word_of(word)]) else { return };
        match moments.write {
            Epoch::OUTSIDE => {}
            Epoch::ELSEWHERE => {
                if let Some(parts) = self.parts.get_mut(index(moments.read)) {
                    parts.give_back(word, scene);
                }
            }
            write => {
                let touched = write.bytes() | moments.read.bytes();
                let bytes = if touched == 0 { u8::MAX } else { touched };
                self.access_anew(number, word, bytes, How::Write, scene);
            }
        }
    }

    /// The memory is used anew from this moment on, or seen by others: nothing is known of it.
    pub(crate) fn renew(&mut self, range: &Range<u64>, moment: Epoch) {
        for page in self.pages_within(range) {
            let is_whole = range.start <= page * PAGE && (page + 1) * PAGE <= range.end;
            for word in words_within(page, range) {
                self.renew_word(page, word, moment);
            }
            if is_whole {
                self.unuse(page);
            }
        }
    }

    fn renew_word(&mut self, page: u64, word: u64, moment: Epoch) {
        let number = self.numbers.get(&page).copied();
        let Some(page) = number.and_then(|number| self.pages.get_mut(number)) else { return };
        let moments = &mut page.moments[word_of(word)];
        if moments.write == Epoch::ELSEWHERE {
            let freed = index(moments.read);
            if let Some(parts) = self.parts.get_mut(freed) {
                *parts = Parts::default();
            }
            self.free_parts.push(freed);
        }
        *moments = Moments { write: moment, read: Epoch::NONE };
    }

    /// There is nothing to know of the page but what is known of its blocks.
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
        let mut made =
            Box::new(Page { moments: [Moments::default(); WORDS], places: [Places::default(); WORDS] });
        let start = page.saturating_mul(PAGE);
        for (part, block) in blocks.within(start..start.saturating_add(PAGE)) {
            let write = match (&block.end, block.purpose) {
                (_, Purpose::Outside) => Epoch::OUTSIDE,
                (Some(end), Purpose::Heap) => end.epoch.with(u8::MAX),
                _ => block.birth,
            };
            let place = block.end.as_ref().map(|end| end.place).unwrap_or_default();
            for word in words_within(page, &part) {
                made.moments[word_of(word)].write = write;
                made.places[word_of(word)].write = place;
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

/// A word that cannot be told by two moments any more.
fn parts_of(moments: Moments, places: Places) -> Parts {
    let access = |epoch: Epoch, place| {
        let is_there = epoch.bytes() != 0;
        Vec::from_iter(is_there.then_some(Access { epoch: epoch.with(0), place }))
    };
    let (write, read) = (moments.write, moments.read);
    let plain = Accesses { writes: access(write, places.write), reads: access(read, places.read) };
    let birth = if write.bytes() == 0 { write } else { Epoch::NONE };
    let bytes = write.bytes() | read.bytes();
    Parts::new(birth, (bytes != 0).then(|| Cell::new(bytes, plain)))
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

/// Where a word is kept, written as a moment.
fn number(index: usize) -> Epoch {
    Epoch::new(0, index as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "it was an index before")]
fn index(number: Epoch) -> usize {
    number.time() as usize
}
