//! The states that have been seen, compared exactly.

use std::hash::{Hash as _, Hasher as _};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A set of keys of one width, kept in one piece of memory.
#[derive(Debug)]
pub(super) struct Visited {
    width: usize,
    /// All keys, and then the candidate.
    keys: Vec<u32>,
    /// The numbers of the keys.
    table: HashTable<u32>,
}

impl Visited {
    pub(super) fn new(width: usize) -> Visited {
        Visited { width, keys: vec![0; width], table: HashTable::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.keys.truncate(self.width);
    }

    /// Where the next key is written to before it is inserted.
    pub(super) fn candidate(&mut self) -> &mut [u32] {
        let begin = self.keys.len() - self.width;
        &mut self.keys[begin..]
    }

    /// Adds the candidate. Tells whether it is new.
    pub(super) fn insert(&mut self) -> bool {
        let Visited { width, keys, table } = self;
        let key = |number: u32| &keys[number as usize * *width..(number as usize + 1) * *width];
        // There are fewer keys than memory has room for.
        let candidate = u32::try_from(table.len()).unwrap_or(u32::MAX);
        let hash = hash(key(candidate));
        if table.find(hash, |&number| key(number) == key(candidate)).is_some() {
            return false;
        }
        table.insert_unique(hash, candidate, |&number| self::hash(key(number)));
        keys.resize(keys.len() + *width, 0);
        true
    }
}

fn hash(key: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once() {
        let mut visited = Visited::new(2);
        let mut insert = |key: [u32; 2]| {
            visited.candidate().copy_from_slice(&key);
            visited.insert()
        };
        assert!(insert([1, 2]) && insert([2, 1]) && !insert([1, 2]));
        for number in 0..1000 {
            assert!(insert([number, 7]) && !insert([number, 7]));
        }
        assert_eq!(visited.len(), 1002);
        visited.clear();
        assert_eq!(visited.len(), 0);
    }
}
