//! Certificates as records: how many bytes follow, of which kind it is, and numbers.

use foretell_trace::Model;

use super::axiom::{Atom, Literal, number};
use super::write::{ExclusionKind, Form, Kind, QuestionWords, source};

/// The records so far.
#[derive(Default)]
pub(super) struct Binary {
    records: Vec<u8>,
    /// The record that is being written.
    record: Vec<u8>,
}

impl Binary {
    pub(super) fn into_records(self) -> Vec<u8> {
        self.records
    }

    fn number(&mut self, number: u32) {
        push_number(&mut self.record, number as usize);
    }
}

/// Seven bits in each byte, the lowest first; the eighth says that more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let [lowest, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(lowest & 0x7F);
            return;
        }
        bytes.push(lowest | 0x80);
    }
}

impl Form for Binary {
    fn question(&mut self, question: &QuestionWords<'_>) {
        self.record.push(0);
        self.number(match question.model {
            Model::SameWrite => 0,
            Model::SameValue => 1,
            Model::ControlFlow => 2,
            // No certificate is about values.
            Model::Necessary | Model::Values => 3,
        });
        self.number(question.events);
        self.number(u32::from(!question.is_race));
        question.next.iter().for_each(|&event| self.number(event));
        self.number(0);
        question.ended.into_iter().for_each(|end| self.number(end));
        self.end();
    }

    fn begin(&mut self, kind: Kind) {
        self.record.push(kind as u8);
    }

    fn event(&mut self, number: u32) {
        self.number(number);
    }

    fn literal(&mut self, literal: Literal) {
        let (kind, first, second) = match (literal.ordered(), literal.atom) {
            (Some((from, to)), _) | (None, Atom::Before(from, to)) => (1, number(from), Some(number(to))),
            (None, Atom::Runs(event)) => (0, number(event), None),
            (None, Atom::Consistent(read)) => (2, number(read), None),
            (None, Atom::Sees(read, write)) => (3, number(read), Some(source(write))),
            (None, Atom::Finds(attempt, begin)) => (4, number(attempt), Some(number(begin))),
            (None, Atom::Wakes(notification, woken)) => (5, number(notification), Some(number(woken))),
        };
        // An order is turned around rather than negated.
        let negated = !literal.positive && literal.ordered().is_none();
        self.number(2 * kind + 1 + u32::from(negated));
        self.number(first);
        second.into_iter().for_each(|second| self.number(second));
    }

    fn exclusion(&mut self, kind: ExclusionKind) {
        self.number(kind as u32);
    }

    fn list_ends(&mut self, _word: &'static str) {
        self.number(0);
    }

    fn step(&mut self, step: u32, present: u32) {
        self.number(present - step);
    }

    fn end(&mut self) {
        push_number(&mut self.records, self.record.len());
        self.records.append(&mut self.record);
    }
}
