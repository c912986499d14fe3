//! What is known of each word of memory, by its era and address. Programs come back to the same words again and again.

use rustc_hash::FxHashMap;

use crate::cells::Word;
use crate::memory::Era;
use crate::remembered::Remembered;

/// For so many words it is remembered where they are.
const REMEMBERED: usize = 1 << 13;

/// The words that were touched.
#[derive(Debug)]
pub(crate) struct Words {
    all: Vec<Word>,
    /// Where each word stands in the list.
    places: FxHashMap<(Era, u64), usize>,
    /// The same for those that were asked for last.
    recent: Remembered<(Era, u64), usize, REMEMBERED>,
}

impl Default for Words {
    fn default() -> Words {
        Words { all: Vec::new(), places: FxHashMap::default(), recent: Remembered::new() }
    }
}

impl Words {
    /// Where the word at this address stands.
    #[inline]
    fn place(&self, era: Era, address: u64) -> Option<usize> {
        let (number, key) = (address / 8, (era, address));
        if let Some(place) = self.recent.get(number, key) {
            return Some(place);
        }
        let place = *self.places.get(&key)?;
        self.recent.set(number, key, place);
        Some(place)
    }

    /// The word at this address, if it was touched.
    #[inline]
    pub(crate) fn get(&self, era: Era, address: u64) -> Option<&Word> {
        self.all.get(self.place(era, address)?)
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, era: Era, address: u64) -> Option<&mut Word> {
        let place = self.place(era, address)?;
        self.all.get_mut(place)
    }

    /// The word at this address, and whether it is new.
    #[inline]
    pub(crate) fn touch(&mut self, era: Era, address: u64) -> (&mut Word, bool) {
        let known = self.place(era, address);
        let place = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Word::default());
            self.places.insert((era, address), place);
        }
        (&mut self.all[place], known.is_none())
    }

    /// All words.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Word> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use foretell_symbolic::Part;

    use super::*;

    #[test]
    fn words_with_the_same_place_are_not_confused() {
        let mut words = Words::default();
        let part = |first| Part { word: 0, first, end: first + 1, offset: 0 };
        let far = 8 * REMEMBERED as u64;
        let keys = [(Era(1), 8), (Era(2), 8), (Era(1), 8 + far), (Era(1), 8 + 2 * far), (Era(3), 16)];
        for (first, &(era, address)) in (0..).zip(&keys) {
            let (word, is_new) = words.touch(era, address);
            assert!(is_new);
            word.note_write(part(first));
        }
        for (first, &(era, address)) in (0..).zip(&keys) {
            let mut expected = Word::default();
            expected.note_write(part(first));
            assert_eq!(words.get(era, address), Some(&expected));
            assert_eq!(words.get_mut(era, address), Some(&mut expected));
            assert!(!words.touch(era, address).1);
        }
        assert_eq!(words.get(Era(2), 16), None);
        assert_eq!(words.iter().count(), keys.len());
    }
}
