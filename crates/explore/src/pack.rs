//! States as keys: every cell in as few bits as its values need.

/// Which cells make up a key, and where in it they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    /// Fields that count only while one of their readers still comes.
    mortal: Vec<Mortal>,
    /// Who comes when, for all mortal fields.
    readers: Vec<Reader>,
    words: usize,
    /// How many bits of the last word are taken.
    taken: u32,
}

/// A cell and its place in the key. No field lies across two words.
#[derive(Clone, Copy, Debug)]
struct Field {
    cell: u32,
    /// The least value of the cell; the key holds the difference.
    base: u32,
    word: u32,
    shift: u32,
    mask: u64,
}

#[derive(Clone, Copy, Debug)]
struct Mortal {
    field: Field,
    /// Its readers.
    begin: usize,
    end: usize,
}

/// While this cell is at most `last`, the content of some other cell matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) cell: u32,
    pub(crate) last: u32,
}

impl Layout {
    /// Adds a cell with values from `least` to `most`.
    pub(crate) fn add(&mut self, cell: u32, least: u32, most: u32) {
        if let Some(field) = self.field(cell, least, most) {
            self.fields.push(field);
        }
    }

    /// Adds a cell with values up to `most` that matters only as long as one of the readers does.
    pub(crate) fn add_mortal(&mut self, cell: u32, most: u32, readers: &[Reader]) {
        if let Some(field) = self.field(cell, 0, most) {
            let begin = self.readers.len();
            self.readers.extend_from_slice(readers);
            self.mortal.push(Mortal { field, begin, end: self.readers.len() });
        }
    }

    /// A place for a cell, unless it has only one value anyway.
    fn field(&mut self, cell: u32, base: u32, most: u32) -> Option<Field> {
        let bits = u32::BITS - (most - base).leading_zeros();
        if bits == 0 {
            return None;
        }
        if self.words == 0 || self.taken + bits > u64::BITS {
            self.words += 1;
            self.taken = 0;
        }
        let shift = self.taken;
        self.taken += bits;
        // A key has far fewer words than there are cells.
        let word = u32::try_from(self.words - 1).unwrap_or(u32::MAX);
        Some(Field { cell, base, word, shift, mask: (1 << bits) - 1 })
    }

    /// How long keys are: at least one word, so that there is something to look up.
    pub(crate) fn words(&self) -> usize {
        self.words.max(1)
    }

    pub(crate) fn pack(&self, cells: &[u32], key: &mut [u64]) {
        key.fill(0);
        for field in &self.fields {
            field.put(cells, key);
        }
        for mortal in &self.mortal {
            let readers = &self.readers[mortal.begin..mortal.end];
            if readers.iter().any(|reader| cells[reader.cell as usize] <= reader.last) {
                mortal.field.put(cells, key);
            }
        }
    }

    pub(crate) fn unpack(&self, key: &[u64], cells: &mut [u32]) {
        let mortal = self.mortal.iter().map(|mortal| &mortal.field);
        for field in self.fields.iter().chain(mortal) {
            field.get(key, cells);
        }
    }
}

impl Field {
    fn put(&self, cells: &[u32], key: &mut [u64]) {
        let value = cells[self.cell as usize] - self.base;
        key[self.word as usize] |= u64::from(value) << self.shift;
    }

    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves at most 32 bits")]
    fn get(&self, key: &[u64], cells: &mut [u32]) {
        cells[self.cell as usize] = self.base + (key[self.word as usize] >> self.shift & self.mask) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let mut layout = Layout::default();
        layout.add(0, 10, 17);
        layout.add(1, 5, 5);
        layout.add(2, 0, u32::MAX);
        layout.add_mortal(3, 1, &[Reader { cell: 0, last: 12 }]);
        layout.add(4, 0, u32::MAX);
        assert_eq!(layout.words(), 2);
        let mut key = [7; 2];
        for (cells, back) in [
            ([10, 5, 77, 1, u32::MAX], [10, 5, 77, 1, u32::MAX]),
            // Cell 3 is not looked at any more.
            ([17, 5, u32::MAX, 1, 0], [17, 5, u32::MAX, 0, 0]),
        ] {
            layout.pack(&cells, &mut key);
            let mut again = [0, 5, 0, 0, 0];
            layout.unpack(&key, &mut again);
            assert_eq!(again, back);
        }
    }
}
