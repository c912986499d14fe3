//! The states seen so far, by their keys.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::machine::Turn;
use crate::value::ThreadRef;

/// The number of a state, in the order in which states were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StateId(u32);

impl StateId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stands for no state and for no thread.
const NONE: u32 = u32::MAX;

/// The turn of an earlier state that led to a state first.
#[derive(Clone, Copy, Debug)]
struct Origin {
    state: u32,
    thread: u32,
    wake: u32,
}

#[derive(Debug, Default)]
pub(super) struct States {
    /// All keys, one after the other.
    keys: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
    origins: Vec<Origin>,
    /// Hash and number of each state. Keys are compared in full.
    table: HashTable<(u64, u32)>,
    /// How many states were visited, in the order in which they were found.
    visited: u32,
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

impl States {
    /// The number of the state with this key, and whether it is new.
    pub(super) fn insert(&mut self, key: &[u8], from: Option<(StateId, Turn)>) -> (StateId, bool) {
        let hash = hash(key);
        let (keys, ends) = (&self.keys, &self.ends);
        let same = |&(other, state): &(u64, u32)| other == hash && key_at(keys, ends, state) == key;
        if let Some(&(_, state)) = self.table.find(hash, same) {
            return (StateId(state), false);
        }
        // The limit of memory is reached long before there are so many states.
        let state = u32::try_from(self.ends.len()).unwrap_or(NONE);
        self.table.insert_unique(hash, (hash, state), |&(hash, _)| hash);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.origins.push(match from {
            None => Origin { state: NONE, thread: NONE, wake: NONE },
            Some((state, turn)) => Origin {
                state: state.0,
                thread: turn.thread.0,
                wake: turn.wake.map_or(NONE, |thread| thread.0),
            },
        });
        (StateId(state), true)
    }

    pub(super) fn key(&self, state: StateId) -> &[u8] {
        key_at(&self.keys, &self.ends, state.0)
    }

    /// The turn of which state led to this one first.
    pub(super) fn origin(&self, state: StateId) -> Option<(StateId, Turn)> {
        let origin = self.origins[state.index()];
        let wake = (origin.wake != NONE).then_some(ThreadRef(origin.wake));
        let turn = Turn { thread: ThreadRef(origin.thread), wake };
        (origin.state != NONE).then_some((StateId(origin.state), turn))
    }

    /// The first state that this has not given before.
    pub(super) fn next_unvisited(&mut self) -> Option<StateId> {
        let state = self.visited;
        if (state as usize) < self.ends.len() {
            self.visited += 1;
            Some(StateId(state))
        } else {
            None
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How much memory the states take.
    pub(super) fn bytes(&self) -> usize {
        let per_state = size_of::<usize>() + size_of::<Origin>() + size_of::<(u64, u32)>();
        self.keys.len() + self.ends.len() * per_state
    }
}

fn key_at<'k>(keys: &'k [u8], ends: &[usize], state: u32) -> &'k [u8] {
    let state = state as usize;
    let begin = if state == 0 { 0 } else { ends[state - 1] };
    &keys[begin..ends[state]]
}
