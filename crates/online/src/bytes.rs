//! The plain accesses to a word of which different ones touch different bytes: FastTrack's two epochs for each byte.
//!
//! This is enough as long as each access comes after all that were made to its bytes. That is so of nearly all words
//! that programs copy, compress or parse; what is not belongs into cells ([`ShadowCell`]).

use crate::cell::{Accesses, ShadowAccess, ShadowCell};
use crate::clock::Epoch;
use crate::order::EpochPast;
use crate::place::AccessSite;

const BYTES: usize = 8;

/// The last write of a byte, and the last read since.
type ByteEpochs = [Epoch; 2];

/// The last accesses to each byte of a word. What most accesses look at stands first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct OrderedBytes {
    /// The epoch of the last access, and the bytes that were written and read since it began.
    last: Epoch,
    done: [u8; 2],
    epochs: [ByteEpochs; BYTES],
    /// Where these accesses were made.
    places: [[AccessSite; 2]; BYTES],
}

impl OrderedBytes {
    /// These bytes were last accessed so, as far as the epochs are those of accesses to them.
    pub(crate) fn set(&mut self, bytes: u8, epochs: [Epoch; 2], places: [AccessSite; 2]) {
        for byte in indices(bytes) {
            for kind in 0..2 {
                if epochs[kind].bytes() & 1 << byte != 0 {
                    self.epochs[byte][kind] = epochs[kind].with(0);
                    self.places[byte][kind] = places[kind];
                }
            }
        }
    }

    /// Keeps a plain access to these bytes, if all that is remembered of them comes before it. Says whether it does.
    pub(crate) fn keep(
        &mut self,
        bytes: u8,
        writes: bool,
        now: Epoch,
        place: AccessSite,
        past: &EpochPast<'_>,
    ) -> bool {
        let [written, read] = if self.last == now { self.done } else { [0; 2] };
        let known = if writes { written } else { written | read };
        if bytes & !known == 0 {
            return true;
        }
        let mut before = Epoch::NONE;
        for epoch in indices(bytes).flat_map(|byte| self.epochs[byte]) {
            if epoch != before && !past.has(epoch) {
                return false;
            }
            before = epoch;
        }
        let kind = usize::from(!writes);
        for byte in indices(bytes) {
            if writes {
                self.epochs[byte] = [Epoch::NONE; 2];
            }
            self.epochs[byte][kind] = now;
            self.places[byte][kind] = place;
        }
        (self.last, self.done) = (now, [written, read]);
        self.done[kind] |= bytes;
        true
    }

    /// The same as cells, each of bytes that were last accessed alike.
    pub(crate) fn cells(&self) -> Vec<ShadowCell> {
        let mut cells: Vec<(usize, ShadowCell)> = Vec::new();
        let are_alike = |one: usize, other: usize| {
            (self.epochs[one], self.places[one]) == (self.epochs[other], self.places[other])
        };
        let is_touched = |byte: &usize| self.epochs[*byte] != ByteEpochs::default();
        for byte in (0..BYTES).filter(is_touched) {
            match cells.iter_mut().find(|(first, _)| are_alike(*first, byte)) {
                Some((_, cell)) => cell.bytes |= 1 << byte,
                None => cells.push((byte, ShadowCell::new(1 << byte, self.accesses(byte)))),
            }
        }
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    fn accesses(&self, byte: usize) -> Accesses {
        let access = |kind: usize| {
            let (epoch, place) = (self.epochs[byte][kind], self.places[byte][kind]);
            Vec::from_iter((epoch != Epoch::NONE).then_some(ShadowAccess { epoch, place }))
        };
        Accesses { writes: access(0), reads: access(1) }
    }
}

/// Which bytes these are.
fn indices(mut bytes: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = bytes.trailing_zeros() as usize;
        bytes &= bytes.wrapping_sub(1);
        (index < BYTES).then_some(index)
    })
}
