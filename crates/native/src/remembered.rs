//! Answers that will be asked for again soon: each at a place that a number determines, where it stays until another
//! one needs that place.

use std::cell::Cell;

/// An answer with its key.
type Place<K, V> = Cell<Option<(K, V)>>;

/// A few answers by their keys.
#[derive(Debug)]
pub(crate) struct Remembered<K: Copy, V: Copy, const PLACES: usize> {
    places: Box<[Place<K, V>; PLACES]>,
}

impl<K: Copy + PartialEq, V: Copy, const PLACES: usize> Remembered<K, V, PLACES> {
    /// Nothing is remembered yet.
    pub(crate) fn new() -> Remembered<K, V, PLACES> {
        Remembered { places: Box::new([const { Cell::new(None) }; PLACES]) }
    }

    /// The place of a number. Numbers side by side have different ones.
    #[inline]
    fn at(&self, number: u64) -> &Place<K, V> {
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is what is wanted")]
        let place = number as usize % PLACES;
        &self.places[place]
    }

    /// The answer, if it is remembered.
    #[inline]
    pub(crate) fn get(&self, number: u64, key: K) -> Option<V> {
        self.at(number).get().filter(|&(known, _)| known == key).map(|(_, value)| value)
    }

    /// Remembers an answer.
    #[inline]
    pub(crate) fn set(&self, number: u64, key: K, value: V) {
        self.at(number).set(Some((key, value)));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.places.iter().for_each(|place| place.set(None));
    }
}
