//! The accesses to some bytes of a word that every access has either all of or none of: FastTrack's rules.
//!
//! An access stands for all that are ordered before it and conflict with nothing that it does not conflict with. As
//! long as memory has not raced, its plain writes are ordered, so the last one stands for all; and so do reads until
//! two of them are concurrent. Atomic accesses are kept apart: plain ones are compared with them, but they are not
//! compared with each other, and need not be ordered.

use foretell_wire::hook;
use foretell_wire::site::SourceLanguage;

use crate::clock::Epoch;
use crate::order::{Ends, Released};
use crate::place::AccessSite;
use crate::scene::Scene;

/// An access, by when it was made and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadowAccess {
    pub(crate) epoch: Epoch,
    pub(crate) place: AccessSite,
}

/// The accesses of one kind that no later one stands for: of each thread at most one that writes, and one that reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) writes: Vec<ShadowAccess>,
    pub(crate) reads: Vec<ShadowAccess>,
}

#[derive(Clone, Debug, Default)]
struct Atomic {
    accesses: Accesses,
    released: Released,
}

/// How a cell is accessed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    Read,
    Write,
    /// Atomically.
    Atomic {
        reads: bool,
        writes: bool,
        order: hook::MemoryOrder,
        /// Where this language rules.
        language: SourceLanguage,
    },
}

impl How {
    pub(crate) fn writes(self) -> bool {
        matches!(self, How::Write | How::Atomic { writes: true, .. })
    }

    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, How::Atomic { .. })
    }
}

/// Some bytes of a word.
#[derive(Clone, Debug)]
pub(crate) struct ShadowCell {
    /// Which, as bits.
    pub(crate) bytes: u8,
    pub(crate) plain: Accesses,
    atomic: Option<Box<Atomic>>,
}

impl ShadowCell {
    pub(crate) fn new(bytes: u8, plain: Accesses) -> ShadowCell {
        ShadowCell { bytes, plain, atomic: None }
    }

    /// The access that is being made touches these bytes, which begin at this address.
    pub(crate) fn access(&mut self, how: How, addr: u64, scene: &mut Scene<'_>) {
        match how {
            How::Atomic { reads, writes, order, language } => {
                let atomic = self.atomic.get_or_insert_default();
                if reads {
                    scene.order.load(scene.thread, &atomic.released, order);
                }
                self.note_atomic(writes, addr, scene);
                if writes {
                    let atomic = self.atomic.get_or_insert_default();
                    let ends = Ends::of(reads, language);
                    scene.order.store(scene.thread, &mut atomic.released, order, ends);
                    scene.now = scene.order.now(scene.thread);
                }
            }
            How::Read | How::Write => self.access_plainly(how.writes(), addr, scene),
        }
    }

    /// Whether any thread is known to have written here.
    pub(crate) fn is_written(&self) -> bool {
        let is_atomically = |atomic: &Atomic| !atomic.accesses.writes.is_empty();
        !self.plain.writes.is_empty() || self.atomic.as_deref().is_some_and(is_atomically)
    }

    /// What an acquire load of the bytes would learn.
    pub(crate) fn take_released(&mut self) -> Released {
        self.atomic.as_mut().map(|atomic| std::mem::take(&mut atomic.released)).unwrap_or_default()
    }

    pub(crate) fn access_plainly(&mut self, writes: bool, addr: u64, scene: &mut Scene<'_>) {
        match &mut self.atomic {
            Some(atomic) => {
                atomic.accesses.compare(writes, addr, scene);
                if writes {
                    // The value that release sequences were about is gone.
                    atomic.released.clear();
                }
            }
            None if self.plain.are_repeated_by(writes, scene.now) => return,
            None => {}
        }
        self.plain.compare(writes, addr, scene);
        self.plain.record(writes, scene);
    }

    /// An atomic access, whose order is tracked.
    pub(crate) fn note_atomic(&mut self, writes: bool, addr: u64, scene: &mut Scene<'_>) {
        self.plain.compare(writes, addr, scene);
        self.atomic.get_or_insert_default().accesses.record_atomic(writes, scene);
    }

    /// An atomic access races with those of other sizes, where the language says so.
    pub(crate) fn compare_sizes(&self, writes: bool, addr: u64, scene: &mut Scene<'_>) {
        let Some(atomic) = &self.atomic else { return };
        let reads = atomic.accesses.reads.iter().filter(|_| writes);
        for access in atomic.accesses.writes.iter().chain(reads) {
            if access.place.bytes() != scene.place.bytes()
                && scene.languages.at(access.place.site).mixed_sizes_race()
            {
                scene.compare(access.epoch, &access.place, addr);
            }
        }
    }
}

impl Accesses {
    /// Whether the thread has done the same before, and was not seen by any thread since. To read what one has just
    /// written is nothing new either.
    fn are_repeated_by(&self, writes: bool, now: Epoch) -> bool {
        let are_now = |accesses: &[ShadowAccess]| accesses.iter().any(|access| access.epoch == now);
        are_now(&self.writes) || !writes && are_now(&self.reads)
    }

    fn compare(&self, writes: bool, addr: u64, scene: &mut Scene<'_>) {
        self.writes.iter().for_each(|write| scene.compare(write.epoch, &write.place, addr));
        if writes {
            self.reads.iter().for_each(|read| scene.compare(read.epoch, &read.place, addr));
        }
    }

    /// Keeps an atomic access, which stands for none of another size: it does not conflict with the same ones.
    fn record_atomic(&mut self, writes: bool, scene: &Scene<'_>) {
        let now = ShadowAccess { epoch: scene.now, place: scene.place };
        let stands_for = |access: &ShadowAccess| {
            access.place.bytes() == now.place.bytes()
                && (access.epoch.thread() == scene.thread || scene.is_before(access.epoch))
        };
        self.reads.retain(|read| !stands_for(read));
        if writes {
            self.writes.retain(|write| !stands_for(write));
            self.writes.push(now);
        } else {
            self.reads.push(now);
        }
    }

    fn record(&mut self, writes: bool, scene: &Scene<'_>) {
        let now = ShadowAccess { epoch: scene.now, place: scene.place };
        if !writes && let Some(own) = self.reads.iter_mut().find(|read| read.epoch.thread() == scene.thread) {
            // What many threads read again and again: others that come before this one may stay.
            *own = now;
            return;
        }
        self.reads.retain(|read| !scene.is_before(read.epoch));
        if writes {
            self.writes.retain(|write| !scene.is_before(write.epoch));
            self.writes.push(now);
        } else {
            self.reads.push(now);
        }
    }
}
