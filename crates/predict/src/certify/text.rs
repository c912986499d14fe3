//! Certificates as lines of words.

use std::fmt::Write as _;

use super::axiom::{Atom, Literal, number};
use super::write::{ExclusionKind, Form, Kind, QuestionWords, source};

/// The lines so far.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn word(&mut self, word: impl std::fmt::Display) {
        // Writing into a string cannot fail.
        let _ = write!(self.0, " {word}");
    }
}

impl Form for Text {
    fn question(&mut self, question: &QuestionWords<'_>) {
        let goal = if question.is_race { "pair" } else { "deadlock" };
        let _ = write!(
            self.0,
            "foretell-proof 1\nmodel {}\nevents {}\n{goal}",
            question.model.name(),
            question.events
        );
        question.next.iter().for_each(|&event| self.event(event));
        question.ended.into_iter().for_each(|end| self.word(format_args!("ended {end}")));
        self.end();
    }

    fn begin(&mut self, kind: Kind) {
        self.0.push_str(name(kind));
    }

    fn event(&mut self, number: u32) {
        self.word(number);
    }

    fn literal(&mut self, literal: Literal) {
        self.word(literal_text(literal));
    }

    fn exclusion(&mut self, kind: ExclusionKind) {
        self.word(match kind {
            ExclusionKind::Later => "later",
            ExclusionKind::Absent => "absent",
            ExclusionKind::Overwritten => "overwritten",
            ExclusionKind::Initial => "initial",
        });
    }

    fn list_ends(&mut self, word: &'static str) {
        self.word(word);
    }

    fn step(&mut self, step: u32, _present: u32) {
        self.word(step);
    }

    fn end(&mut self) {
        self.0.push('\n');
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Clause => "clause",
        Kind::Drop => "drop",
        Kind::Cycle => "cycle",
        Kind::Need => "need",
        Kind::Prefix => "prefix",
        Kind::Absent => "absent",
        Kind::Reached => "reached",
        Kind::Unexplained => "unexplained",
        Kind::Pin => "pin",
        Kind::Pinned => "pinned",
        Kind::Choice => "choice",
        Kind::Sees => "sees",
        Kind::Source => "source",
        Kind::Between => "between",
        Kind::Concrete => "concrete",
        Kind::Exclusion => "exclusion",
        Kind::Attempt => "attempt",
        Kind::Begun => "begun",
        Kind::Open => "open",
        Kind::Free => "free",
        Kind::Permits => "permits",
        Kind::Notified => "notified",
        Kind::Wakeups => "wakeups",
        Kind::AfterWait => "after-wait",
        Kind::BeforeReturn => "before-return",
        Kind::Waker => "waker",
        Kind::Arrivals => "arrivals",
    }
}

fn literal_text(literal: Literal) -> String {
    if let Some((from, to)) = literal.ordered() {
        return format!("{}<{}", number(from), number(to));
    }
    let sign = if literal.positive { "" } else { "-" };
    match literal.atom {
        Atom::Runs(event) => format!("{sign}R{}", number(event)),
        Atom::Consistent(read) => format!("{sign}C{}", number(read)),
        Atom::Sees(read, write) => format!("{sign}S{},{}", number(read), source(write)),
        Atom::Finds(attempt, begin) => format!("{sign}F{},{}", number(attempt), number(begin)),
        Atom::Wakes(notification, woken) => format!("{sign}W{},{}", number(notification), number(woken)),
        Atom::Before(from, to) => format!("{}<{}", number(from), number(to)),
    }
}
