//! Text for a terminal: pieces with a meaning, which may have a colour, in lines that fit. Without colours the text
//! is the same.

use std::fmt;

use crate::text::Detail;
use crate::visible::width;
use anstyle::{AnsiColor, Style};
use rustc_hash::FxHashSet;

/// A space at which no line ends.
pub(crate) const GLUE: char = '\u{a0}';

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    /// Text.
    Plain,
    /// What a paragraph is about.
    Heading,
    /// A race, or one of the two accesses.
    Race,
    /// What is sure.
    Sure,
    /// What is not sure.
    Doubt,
    /// Where something is.
    Place,
    /// What one may skip.
    Quiet,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Ink::Plain => Style::new(),
            Ink::Heading => Style::new().bold(),
            Ink::Race => AnsiColor::Red.on_default().bold(),
            Ink::Sure => AnsiColor::Green.on_default().bold(),
            Ink::Doubt => AnsiColor::Yellow.on_default(),
            Ink::Place => AnsiColor::Cyan.on_default(),
            Ink::Quiet => Style::new().dimmed(),
        }
    }
}

/// Pieces of text, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text(Vec<(Ink, String)>);

impl Text {
    pub(crate) fn new() -> Text {
        Text::default()
    }

    /// Adds plain text.
    pub(crate) fn add(self, text: impl fmt::Display) -> Text {
        self.ink(Ink::Plain, text)
    }

    /// Adds text with a meaning.
    pub(crate) fn ink(mut self, ink: Ink, text: impl fmt::Display) -> Text {
        self.0.push((ink, text.to_string()));
        self
    }

    /// Adds other pieces.
    pub(crate) fn append(mut self, other: Text) -> Text {
        self.0.extend(other.0);
        self
    }

    /// What it says, where there are neither colours nor lines.
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|piece| piece.1.replace(GLUE, " ")).collect()
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// The words between spaces, each of which may have several pieces.
    fn words(&self) -> Vec<Text> {
        let mut words = vec![Text::new()];
        for (ink, text) in &self.0 {
            for (index, part) in text.split(' ').enumerate() {
                if index > 0 {
                    words.push(Text::new());
                }
                if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
                    word.0.push((*ink, part.to_string()));
                }
            }
        }
        words
    }

    /// The ink of the space before a word that goes on as it begins.
    fn first_ink(&self) -> Ink {
        self.0.first().map_or(Ink::Plain, |piece| piece.0)
    }

    fn last_ink(&self) -> Ink {
        self.0.last().map_or(Ink::Plain, |piece| piece.0)
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Text {
        Text(vec![(Ink::Plain, text.into())])
    }
}

/// A text that is being written.
#[derive(Debug)]
pub(crate) struct Page {
    out: String,
    /// How many columns there are.
    pub(crate) width: usize,
    is_coloured: bool,
    /// What is printed only once.
    printed: FxHashSet<String>,
}

impl Page {
    pub(crate) fn new(detail: Detail) -> Page {
        Page {
            out: String::new(),
            width: detail.width,
            is_coloured: detail.color,
            printed: FxHashSet::default(),
        }
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// What was written since this was asked last.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Writes an empty line.
    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Writes one line, however long it is. Spaces at its end are dropped.
    pub(crate) fn line(&mut self, text: impl Into<Text>) {
        let mut pieces = text.into().0;
        while let Some((_, last)) = pieces.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            pieces.pop();
        }
        // Neighbours of the same kind are one piece.
        for run in pieces.chunk_by(|one, other| one.0 == other.0) {
            let style = run.first().map_or(Style::new(), |piece| piece.0.style());
            let text: String = run.iter().map(|piece| piece.1.replace(GLUE, " ")).collect();
            if self.is_coloured && !style.is_plain() {
                self.out.push_str(&format!("{style}{text}{style:#}"));
            } else {
                self.out.push_str(&text);
            }
        }
        self.out.push('\n');
    }

    /// Writes the text in lines that fit: the first indented by `indent`, the others by `hang`. What has no space in
    /// it is never broken, so that paths can be copied.
    pub(crate) fn wrapped(&mut self, indent: usize, hang: usize, text: impl Into<Text>) {
        for line in lines(&text.into(), self.width, indent, hang) {
            self.line(line);
        }
    }

    /// Whether this is printed for the first time.
    pub(crate) fn is_new(&mut self, what: String) -> bool {
        self.printed.insert(what)
    }
}

/// The text in lines that fit, if its words do.
fn lines(text: &Text, room: usize, indent: usize, hang: usize) -> Vec<Text> {
    let mut lines = Vec::new();
    let mut current = Text::new().add(" ".repeat(indent));
    let mut used = indent;
    let mut is_first = true;
    for word in text.words() {
        let width = word.width();
        if !is_first && used + 1 + width > room {
            lines.push(std::mem::replace(&mut current, Text::new().add(" ".repeat(hang))));
            used = hang;
        } else if !is_first {
            let is_one_piece = current.last_ink() == word.first_ink();
            current = current.ink(if is_one_piece { word.first_ink() } else { Ink::Plain }, " ");
            used += 1;
        }
        used += width;
        is_first = false;
        current = current.append(word);
    }
    lines.push(current);
    lines
}

/// The plain text in lines of at most so many columns, if its words are no longer.
pub(crate) fn wrap(text: &str, room: usize, hang: usize) -> Vec<String> {
    let plain = |line: Text| line.0.into_iter().map(|piece| piece.1).collect();
    lines(&Text::from(text), room, 0, hang).into_iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize, color: bool) -> Page {
        Page::new(Detail { width, color, ..Detail::default() })
    }

    #[test]
    fn lines_fit_but_words_are_whole() {
        let mut page = page(12, false);
        page.wrapped(2, 4, "holds a lock (locked at a/long/path.c:12)");
        assert_eq!(page.finish(), "  holds a\n    lock\n    (locked\n    at\n    a/long/path.c:12)\n");
    }

    #[test]
    fn colours_change_nothing_else() {
        let text =
            || Text::new().ink(Ink::Race, "a race of two").add(" at ").ink(Ink::Place, "x.c:1").add("!");
        let (mut plain, mut coloured) = (page(14, false), page(14, true));
        plain.wrapped(2, 4, text());
        coloured.wrapped(2, 4, text());
        let coloured = coloured.finish();
        assert_eq!(plain.finish(), "  a race of\n    two at\n    x.c:1!\n");
        assert!(coloured.contains("\u{1b}[1m\u{1b}[31ma race of\u{1b}[0m\n"), "{coloured:?}");
        assert_eq!(
            anstream::adapter::strip_str(&coloured).to_string(),
            "  a race of\n    two at\n    x.c:1!\n"
        );
    }
}
