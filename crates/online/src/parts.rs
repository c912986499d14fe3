//! A word whose state is more than two epochs: different accesses touch different bytes of it, some are atomic, or
//! several threads read it concurrently.
//!
//! As long as nothing is special but that different accesses touch different bytes, two epochs for each byte tell all
//! ([`OrderedBytes`]). Otherwise the word falls into cells, such that every access has either all bytes of a cell or
//! none. A part of an atomic access alone would be an access that the machine cannot make. If cells would split one,
//! the word is *mixed*: from then on an acquire of any of its bytes synchronises with all releases to it, so that the
//! order is never less than the real one. Plain accesses race as everywhere, and where Rust rules, atomic ones of
//! different sizes do so, too.

use foretell_wire::hook;

use crate::bytes::OrderedBytes;
use crate::cell::{How, ShadowCell};
use crate::clock::Epoch;
use crate::order::{Ends, EpochPast, Released};
use crate::place::AccessSite;
use crate::scene::Scene;
use crate::shadow::first_byte;

/// Of so many threads it is remembered what they read last.
const READERS: usize = 4;

/// What is known of the word.
#[derive(Debug, Default)]
pub(crate) struct WordParts {
    /// The epoch of its allocation, if that may not happen before all accesses.
    birth: Epoch,
    /// Its accesses, as long as each comes after those to the same bytes; then there are no cells.
    ordered: Option<Box<OrderedBytes>>,
    cells: Vec<ShadowCell>,
    /// The bytes at which some access begins or ends.
    bounds: u8,
    /// The bytes that some atomic access has together with the byte before.
    inseparable: u8,
    /// If the word is mixed, what an acquire load of any part of it learns.
    whole: Option<Released>,
    /// The last plain write, as long as it would be nothing new, with its bytes.
    rewritten: Epoch,
    /// The same of reads, by the remainders of threads' numbers.
    reread: [Epoch; READERS],
}

impl WordParts {
    /// A word with these accesses, which touch these bytes.
    pub(crate) fn new(birth: Epoch, ordered: OrderedBytes, accesses: [u8; 4]) -> WordParts {
        let bounds = accesses.into_iter().fold(0, |all, bytes| all | bounds(bytes));
        WordParts { birth, ordered: Some(Box::new(ordered)), bounds, ..WordParts::default() }
    }

    /// Whether even a plain access may order others.
    pub(crate) fn is_mixed(&self) -> bool {
        self.whole.is_some()
    }

    /// Keeps a plain access to these bytes, given as bits, if that is quick: it only repeats what its thread has just
    /// done, or all that is remembered comes before it. Says whether it is kept.
    pub(crate) fn is_kept(
        &mut self,
        bytes: u8,
        writes: bool,
        now: Epoch,
        place: AccessSite,
        past: &EpochPast<'_>,
    ) -> bool {
        let Some(ordered) = &mut self.ordered else {
            let now = now.with(bytes);
            return self.rewritten == now || !writes && self.reread[reader(now.thread())] == now;
        };
        let is_kept = past.has(self.birth) && ordered.keep(bytes, writes, now.with(0), place, past);
        if is_kept {
            self.bounds |= bounds(bytes);
        }
        is_kept
    }

    /// The access that is being made touches these bytes of the word, given as bits. It is no repetition.
    pub(crate) fn access(&mut self, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        if how.is_atomic() {
            // A plain write ends release sequences that may begin here.
            self.rewritten = Epoch::NONE;
        } else if self.ordered.is_some() && self.is_kept_in(scene, bytes, how.writes()) {
            return;
        }
        self.make_cells();
        let (now, reader) = (scene.now.with(bytes), reader(scene.thread));
        self.access_anew(word, bytes, how, scene);
        match how {
            _ if self.is_mixed() => {}
            How::Read => self.reread[reader] = now,
            How::Write => (self.rewritten, self.reread) = (now, [Epoch::NONE; READERS]),
            How::Atomic { .. } => {}
        }
    }

    fn is_kept_in(&mut self, scene: &Scene<'_>, bytes: u8, writes: bool) -> bool {
        self.is_kept(bytes, writes, scene.now, scene.place, &scene.order.known_to(scene.thread))
    }

    fn make_cells(&mut self) {
        if let Some(ordered) = self.ordered.take() {
            self.cells = ordered.cells();
        }
    }

    fn access_anew(&mut self, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        if !scene.is_before(self.birth) {
            let is_written = |cell: &ShadowCell| cell.bytes & bytes != 0 && cell.is_written();
            match self.cells.iter().any(is_written) {
                true => scene.learn_birth(word),
                false => scene.meet_birth(first_byte(word, bytes)),
            }
        }
        if self.whole.is_none() {
            self.note(bytes, how);
        }
        if self.whole.is_some() {
            return self.access_mixed(word, bytes, how, scene);
        }
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.bytes == bytes) {
            return cell.access(how, first_byte(word, bytes), scene);
        }
        self.separate(bytes);
        for cell in self.cells.iter_mut().filter(|cell| cell.bytes & bytes != 0) {
            cell.access(how, first_byte(word, cell.bytes), scene);
        }
    }

    /// The memory is freed: all of it is written, whatever its cells.
    pub(crate) fn free(&mut self, word: u64, scene: &mut Scene<'_>) {
        (self.rewritten, self.reread) = (Epoch::NONE, [Epoch::NONE; READERS]);
        if self.ordered.is_some() && self.is_kept_in(scene, u8::MAX, true) {
            return;
        }
        self.make_cells();
        if !scene.is_before(self.birth) {
            scene.learn_birth(word);
        }
        self.separate(u8::MAX);
        for cell in &mut self.cells {
            cell.access(How::Write, first_byte(word, cell.bytes), scene);
        }
    }

    fn note(&mut self, bytes: u8, how: How) {
        self.bounds |= bounds(bytes);
        if how.is_atomic() {
            self.inseparable |= bytes & !first(bytes);
        }
        if self.bounds & self.inseparable != 0 {
            self.whole = Some(self.cells.iter_mut().flat_map(ShadowCell::take_released).collect());
        }
    }

    /// Whatever writes a part of a mixed word leaves the rest, so it counts as an update of the whole. What an access
    /// of another size releases does not make up for that.
    fn access_mixed(&mut self, word: u64, bytes: u8, how: How, scene: &mut Scene<'_>) {
        scene.orders = true;
        self.separate(bytes);
        let whole = self.whole.get_or_insert_default();
        let mut touched: Vec<&mut ShadowCell> =
            self.cells.iter_mut().filter(|cell| cell.bytes & bytes != 0).collect();
        let (reads, order) = match how {
            How::Read => (true, hook::MemoryOrder::Relaxed),
            How::Write => (false, hook::MemoryOrder::Relaxed),
            How::Atomic { reads, writes, order, language } => {
                if language.mixed_sizes_race() {
                    for cell in &touched {
                        cell.compare_sizes(writes, first_byte(word, cell.bytes), scene);
                    }
                }
                (reads, order)
            }
        };
        if reads {
            scene.order.load(scene.thread, whole, order);
        }
        for cell in &mut touched {
            let addr = first_byte(word, cell.bytes);
            match how {
                How::Atomic { writes, .. } => cell.note_atomic(writes, addr, scene),
                How::Read | How::Write => cell.access_plainly(how.writes(), addr, scene),
            }
        }
        if how.writes() {
            scene.order.store(scene.thread, whole, order, Ends::None);
            scene.now = scene.order.now(scene.thread);
        }
    }

    /// Every cell has only bytes that are among these, or none; and all of these are in a cell.
    fn separate(&mut self, bytes: u8) {
        let mut left = bytes;
        for index in 0..self.cells.len() {
            let Some(cell) = self.cells.get_mut(index) else { break };
            let (inside, outside) = (cell.bytes & bytes, cell.bytes & !bytes);
            left &= !cell.bytes;
            if inside != 0 && outside != 0 {
                let mut rest = cell.clone();
                (cell.bytes, rest.bytes) = (inside, outside);
                self.cells.push(rest);
            }
        }
        if left != 0 {
            self.cells.push(ShadowCell::new(left, <_>::default()));
        }
    }
}

/// Where it is remembered what the thread read last.
fn reader(thread: u32) -> usize {
    thread as usize % READERS
}

/// The lowest of these bytes.
fn first(bytes: u8) -> u8 {
    bytes & bytes.wrapping_neg()
}

/// The bytes at which an access to these bytes begins and after which it ends.
fn bounds(bytes: u8) -> u8 {
    first(bytes) | (bytes << 1) & !bytes
}
