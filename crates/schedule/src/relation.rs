//! Which functions may take which locks: the may-trigger relation of [`crate::drfinder`], and its text.
//!
//! The text has one pair per line, the function, a tab, and the kind of the lock, sorted. Lines that begin with `#`
//! are for people.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The first line of the text.
const HEADER: &str = "foretell triggers 1";

/// The number with this name in a note of the text, such as that of `picks`.
pub fn note(text: &str, name: &str) -> Option<u64> {
    let notes = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(' '));
    notes.filter(|(other, _)| *other == name).find_map(|(_, number)| number.parse().ok())
}

/// Pairs of a function and a kind of lock that was taken in it, or in what it called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Relation {
    pairs: BTreeSet<(u32, u32)>,
}

/// Why a text is no relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    line: usize,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            1 => write!(f, "the first line is not `{HEADER}`"),
            line => write!(f, "line {line} is not a function, a tab, and a kind of lock"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl Relation {
    /// A lock of this kind was taken while the thread was in this function.
    pub fn add(&mut self, function: u32, kind: u32) {
        self.pairs.insert((function, kind));
    }

    /// The pair is not to be relied upon.
    pub fn strike(&mut self, function: u32, kind: u32) {
        self.pairs.remove(&(function, kind));
    }

    /// Whether a thread in this function may take a lock of this kind.
    pub fn may_trigger(&self, function: u32, kind: u32) -> bool {
        self.pairs.contains(&(function, kind))
    }

    /// All pairs of a function and a kind of lock.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.pairs.iter().copied()
    }

    /// As text, with the names of functions and kinds of locks, and notes for people.
    pub fn to_text<'a>(
        &self,
        function: impl Fn(u32) -> &'a str,
        kind: impl Fn(u32) -> &'a str,
        notes: &[String],
    ) -> String {
        let line = |(f, k)| format!("{}\t{}\n", escaped(function(f)), escaped(kind(k)));
        let lines: BTreeSet<String> = self.pairs().map(line).collect();
        let mut text = format!("{HEADER}\n");
        for note in notes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# {note}");
        }
        text.extend(lines);
        text
    }

    /// The relation of a text. Pairs whose names mean nothing in this program are left out.
    pub fn parse(
        text: &str,
        mut function: impl FnMut(&str) -> Option<u32>,
        mut kind: impl FnMut(&str) -> Option<u32>,
    ) -> Result<Relation, Unreadable> {
        let mut relation = Relation::default();
        if text.lines().next() != Some(HEADER) {
            return Err(Unreadable { line: 1 });
        }
        for (index, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.starts_with('#')) {
            let (f, k) = line.split_once('\t').ok_or(Unreadable { line: index + 1 })?;
            if let (Some(f), Some(k)) = (function(&unescaped(f)), kind(&unescaped(k))) {
                relation.add(f, k);
            }
        }
        Ok(relation)
    }
}

/// A name that may stand on a line, between tabs.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for (index, char) in name.chars().enumerate() {
        match char {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '#' if index == 0 => text.push_str("\\#"),
            other => text.push(other),
        }
    }
    text
}

fn unescaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => name.push(match chars.next().unwrap_or('\\') {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                other => other,
            }),
            other => name.push(other),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["transfer", "log\\line", "#first\tsecond\n", "_ZN4pool3getEv"];

    fn id(name: &str) -> Option<u32> {
        NAMES.iter().position(|&other| other == name).map(|index| u32::try_from(index).unwrap())
    }

    #[test]
    fn relations_survive_a_round_trip_whatever_the_names() {
        let mut relation = Relation::default();
        for (function, kind) in [(0, 1), (1, 2), (2, 0), (3, 3), (2, 2)] {
            relation.add(function, kind);
        }
        let name = |id: u32| NAMES[id as usize];
        let text = relation.to_text(name, name, &["acquisitions 5".to_owned()]);
        assert_eq!(text.lines().count(), 2 + 5);
        assert_eq!(Relation::parse(&text, id, id), Ok(relation));
        assert_eq!((note(&text, "acquisitions"), note(&text, "picks")), (Some(5), None));
    }

    #[test]
    fn what_is_no_relation_is_refused_and_strangers_are_left_out() {
        assert!(Relation::parse("", id, id).is_err());
        assert!(Relation::parse("foretell triggers 2\n", id, id).is_err());
        assert_eq!(
            Relation::parse("foretell triggers 1\ntransfer\n", id, id).unwrap_err().to_string(),
            "line 2 is not a function, a tab, and a kind of lock"
        );
        let other = Relation::parse("foretell triggers 1\nstranger\ttransfer\n", id, id).unwrap();
        assert_eq!(other, Relation::default());
    }
}
