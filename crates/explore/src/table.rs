//! States of one layer, by key.

use std::hash::Hasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHasher;

use crate::count::Count;

/// How many bytes states may take, for all workers together.
#[derive(Debug)]
pub(crate) struct Room {
    limit: u64,
    used: AtomicU64,
}

impl Room {
    pub(crate) fn new(limit: u64) -> Room {
        Room { limit, used: AtomicU64::new(0) }
    }

    /// Takes so many bytes, if they are there.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let within = |used: u64| used.checked_add(bytes).filter(|&used| used <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_ok()
    }

    /// Takes so many bytes, there or not.
    pub(crate) fn take_anyway(&self, bytes: u64) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// How many runs lead to it; never 0.
    pub(crate) runs: Count,
    /// The best way here: which state of the layer before, and which thread.
    pub(crate) origin: u64,
    /// Which part of the tree is below these runs.
    pub(crate) part: f64,
}

const EMPTY: Entry = Entry { runs: Count::ZERO, origin: u64::MAX, part: 0.0 };

/// Open addressing with keys kept in full: two states are the same only if their keys are.
#[derive(Debug)]
pub(crate) struct Table {
    words: usize,
    keys: Vec<u64>,
    /// As many as a power of two, or none; empty where there are no runs.
    entries: Vec<Entry>,
    used: usize,
}

/// What a state takes beside its place in the table: in the order of its layer, and in the history.
const ELSEWHERE: u64 = 32;

impl Table {
    pub(crate) fn new(words: usize) -> Table {
        Table { words, keys: Vec::new(), entries: Vec::new(), used: 0 }
    }

    /// How many bytes were taken for it.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes_for(self.entries.len())
    }

    fn bytes_for(&self, capacity: usize) -> u64 {
        let each = (self.words * size_of::<u64>() + size_of::<Entry>()) as u64 + ELSEWHERE;
        capacity as u64 * each
    }

    /// Adds what another way has brought to the state; `false` if there is no room.
    pub(crate) fn add(&mut self, key: &[u64], hash: u64, new: Entry, room: &Room) -> bool {
        if self.used * 4 >= self.entries.len() * 3 && !self.grow(room) {
            return false;
        }
        let place = self.find(key, hash);
        let entry = &mut self.entries[place];
        if entry.runs == Count::ZERO {
            self.used += 1;
            *entry = new;
            self.keys[place * self.words..][..self.words].copy_from_slice(key);
        } else {
            entry.runs += new.runs;
            entry.origin = entry.origin.min(new.origin);
            entry.part += new.part;
        }
        true
    }

    /// Where the state is, or where it is to go.
    fn find(&self, key: &[u64], hash: u64) -> usize {
        let mask = self.entries.len() - 1;
        // The upper bits say which shard it is in.
        let mut place = usize::try_from(hash & mask as u64).unwrap_or(0);
        while self.entries[place].runs != Count::ZERO && self.key(place) != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self, room: &Room) -> bool {
        let capacity = (self.entries.len() * 2).max(16);
        if !room.take(self.bytes_for(capacity)) {
            return false;
        }
        let before = self.bytes();
        let keys = std::mem::replace(&mut self.keys, vec![0; capacity * self.words]);
        let entries = std::mem::replace(&mut self.entries, vec![EMPTY; capacity]);
        for (key, entry) in keys.chunks_exact(self.words).zip(entries) {
            if entry.runs != Count::ZERO {
                let place = self.find(key, hash(key));
                self.entries[place] = entry;
                self.keys[place * self.words..][..self.words].copy_from_slice(key);
            }
        }
        room.give_back(before);
        true
    }

    pub(crate) fn key(&self, place: usize) -> &[u64] {
        &self.keys[place * self.words..][..self.words]
    }

    pub(crate) fn entry(&self, place: usize) -> Entry {
        self.entries[place]
    }

    /// All states, by their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Entry)> {
        let entries = self.entries.iter().copied().enumerate();
        entries.filter(|(_, entry)| entry.runs != Count::ZERO)
    }
}

pub(crate) fn hash(key: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in key {
        hasher.write_u64(word);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_one_state_are_added_up_until_there_is_no_room() {
        let room = Room::new(100_000);
        let mut table = Table::new(1);
        let entry = |origin| Entry { runs: Count::ONE, origin, part: 0.25 };
        for round in 0..2 {
            for state in 0..100 {
                assert!(table.add(&[state], hash(&[state]), entry(state + 1000 - round), &room));
            }
        }
        assert_eq!((table.used, table.iter().count()), (100, 100));
        for (place, entry) in table.iter() {
            assert_eq!((entry.runs, entry.origin), (Count::from(2), table.key(place)[0] + 999));
        }
        let refused = (0..10_000).find(|&state| !table.add(&[state], hash(&[state]), entry(0), &room));
        assert!(refused.is_some() && table.bytes() <= 100_000);
    }
}
