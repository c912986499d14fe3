//! What is wrong with a program's text, and how it is shown to people.

use std::fmt::{self, Write};

use crate::program::Position;

/// So many characters of a line are shown at most; programs that were generated may have very long ones.
const SHOWN: usize = 110;

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where it is.
    pub position: Position,
    /// How many characters are to be pointed at.
    pub length: u32,
    /// What is wrong.
    pub message: String,
    /// What might help.
    pub help: Option<String>,
}

impl Diagnostic {
    /// The message with the line that it is about, and a mark below the spot. `source` is the program's text.
    pub fn render(&self, file: &str, source: &str) -> String {
        let mut out = format!("error: {file}:{self}");
        let margin = " ".repeat(self.position.line.to_string().len());
        if let Some(line) = source.lines().nth((self.position.line as usize).saturating_sub(1)) {
            self.excerpt(&mut out, &margin, line);
        }
        if let Some(help) = &self.help {
            let _ = write!(out, "\n{margin} = help: {help}");
        }
        out
    }

    fn excerpt(&self, out: &mut String, margin: &str, line: &str) {
        let column = (self.position.column as usize).saturating_sub(1);
        let skipped = if column < SHOWN { 0 } else { column - SHOWN / 2 };
        let shown = || line.chars().skip(skipped).take(SHOWN);
        let text: String = shown().map(visible).collect();
        let indent = shown().take(column - skipped).map(|c| if c == '\t' { c } else { ' ' });
        let marks = (self.length as usize).clamp(1, (SHOWN + 1).saturating_sub(column - skipped));
        let _ = write!(out, "\n{margin} |\n{} | {text}\n{margin} | ", self.position.line);
        out.extend(indent);
        out.extend(std::iter::repeat_n('^', marks));
    }
}

/// A terminal must not obey what stands in a program.
fn visible(character: char) -> char {
    if character.is_control() && character != '\t' { char::REPLACEMENT_CHARACTER } else { character }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)
    }
}

/// A stretch of the program's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    /// Where it begins.
    pub(crate) position: Position,
    /// How many characters it has.
    pub(crate) length: u32,
}

/// Everything that was found to be wrong so far.
#[derive(Default, Debug)]
pub(crate) struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// More would not help.
    const MOST: usize = 20;

    /// Takes up one more, unless there are too many.
    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.report_with_help(span, message, None);
    }

    /// Takes up one more with advice, unless there are too many.
    pub(crate) fn report_with_help(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        if self.is_full() {
            return;
        }
        let Span { position, length } = span;
        self.list.push(Diagnostic { position, length, message: message.into(), help });
    }

    /// No more are kept, so the search for them can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Diagnostics::MOST
    }

    /// Nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, each once, in the order of the text.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.position);
        self.list.dedup();
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(line: u32, column: u32, length: u32) -> Diagnostic {
        let message = "unknown name `z`".to_owned();
        Diagnostic { position: Position { line, column }, length, message, help: None }
    }

    #[test]
    fn the_spot_is_marked() {
        let text = diagnostic(2, 3, 2).render("a.cimp", "shared x;\n{ zz = 1; }\n");
        assert_eq!(text, "error: a.cimp:2:3: unknown name `z`\n  |\n2 | { zz = 1; }\n  |   ^^");
    }

    #[test]
    fn tabs_and_advice() {
        let help = Some("try `y`".to_owned());
        let text = Diagnostic { help, ..diagnostic(1, 2, 1) }.render("a", "\tz\u{1b}");
        assert_eq!(text, "error: a:1:2: unknown name `z`\n  |\n1 | \tz\u{fffd}\n  | \t^\n  = help: try `y`");
    }

    #[test]
    fn a_long_line_is_cut() {
        let source = format!("{}z{}", " ".repeat(1000), "y".repeat(1000));
        let text = diagnostic(1, 1001, 5000).render("a", &source);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2].find('z'), lines[3].find('^'));
        assert!(lines.iter().all(|line| line.len() < 120));
    }

    #[test]
    fn a_spot_beyond_the_text_is_no_problem() {
        assert_eq!(diagnostic(7, 1, 1).render("a", "x"), "error: a:7:1: unknown name `z`");
        assert!(diagnostic(1, 9000, 1).render("a", "x").contains('^'));
    }
}
