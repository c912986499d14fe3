//! The lines of the source that instructions belong to.

use foretell_classfile::code::Code;
use foretell_classfile::pool::Pool;

/// The lines of a method.
pub(crate) struct Lines(Vec<(u16, u16)>);

impl Lines {
    /// As the tables of the code have them.
    pub(crate) fn read(pool: &Pool, code: &Code) -> Lines {
        let tables = code.attributes.iter().filter(|one| pool.text(one.name) == b"LineNumberTable");
        let two = |entry: &[u8], at: usize| u16::from_be_bytes([entry[at], entry[at + 1]]);
        let entries = tables.flat_map(|table| table.content.get(2..).unwrap_or_default().chunks_exact(4));
        let mut lines: Vec<(u16, u16)> = entries.map(|entry| (two(entry, 0), two(entry, 2))).collect();
        lines.sort_unstable();
        Lines(lines)
    }

    /// The line of an instruction; 0 if that is not known.
    pub(crate) fn at(&self, place: usize) -> u16 {
        let after = self.0.partition_point(|&(start, _)| usize::from(start) <= place);
        after.checked_sub(1).and_then(|index| self.0.get(index)).map_or(0, |&(_, line)| line)
    }

    /// The first line.
    pub(crate) fn first(&self) -> u16 {
        self.at(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_belongs_to_the_last_line_that_begins_before_it() {
        let lines = Lines(vec![(0, 7), (4, 8), (9, 7)]);
        assert_eq!([0, 3, 4, 8, 9, 100].map(|at| lines.at(at)), [7, 7, 8, 8, 7, 7]);
        assert_eq!(Lines(Vec::new()).first(), 0);
    }
}
