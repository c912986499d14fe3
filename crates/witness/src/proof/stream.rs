//! Certificates from a file, one after the other. Of each there is one step in memory at a time, and the clauses that
//! are not dropped yet.

use std::io::{self, BufRead, Read as _};

use foretell_trace::EventId;

use super::binary::{self, Bytes};
use super::core::{Core, Fault};
use super::facts::TraceFacts;
use super::goal::{Goal, Question};
use super::lrat::Lrat;
use super::step::{self, Fields, Kind};
use super::text::{self, Words};
use super::{Refusal, Refuted, RefutedGoal, Unchecked};
use crate::observed::id;

/// No line and no record is longer.
const LONGEST: u64 = 1 << 24;

/// How certificates are written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Text,
    Binary,
}

/// Certificates, to be checked one after the other.
pub struct Certificates<'f, 's, R> {
    facts: &'f TraceFacts<'f>,
    input: R,
    /// Unknown until something was read.
    form: Option<Form>,
    /// The present line or record.
    line: Vec<u8>,
    /// Its number.
    number: usize,
    is_stopped: &'s dyn Fn() -> bool,
}

impl<'f, 's, R: BufRead> Certificates<'f, 's, R> {
    /// Checks against the trace what is in the input, until `is_stopped`.
    pub fn new(
        facts: &'f TraceFacts<'f>,
        input: R,
        is_stopped: &'s dyn Fn() -> bool,
    ) -> Certificates<'f, 's, R> {
        Certificates { facts, input, form: None, line: Vec::new(), number: 0, is_stopped }
    }

    /// What the next certificate proves; none after the last.
    pub fn next_refuted(&mut self) -> Result<Option<Refuted>, Unchecked> {
        self.next_into(None)
    }

    /// The same, and what other checkers can be asked about it.
    pub fn next_into(&mut self, mut lrat: Option<&mut Lrat>) -> Result<Option<Refuted>, Unchecked> {
        let Some(question) = self.question()? else { return Ok(None) };
        let mut core = Core::new(self.is_stopped);
        while !core.is_refuted() {
            if (self.is_stopped)() {
                return Err(Unchecked::Stopped);
            }
            if !self.advance()? || self.is_beginning() {
                return Err(self.refuse("it ends without a contradiction"));
            }
            let step = self.step(&question, core.present()).map_err(|reason| self.refuse(reason))?;
            if let Some(lrat) = lrat.as_deref_mut() {
                lrat.add(&step);
            }
            core.take(step).map_err(|fault| match fault {
                Fault::Wrong(reason) => self.refuse(reason),
                Fault::Stopped => Unchecked::Stopped,
            })?;
        }
        Ok(Some(refuted(&question)))
    }

    /// That the present line is at fault.
    pub(super) fn refuse(&self, reason: impl Into<String>) -> Unchecked {
        Unchecked::Refused(Refusal { line: self.number, reason: reason.into() })
    }

    /// What the next certificate is about, if there is one.
    fn question(&mut self) -> Result<Option<Question>, Unchecked> {
        let form = match self.form {
            Some(form) => form,
            None => {
                let first = self.input.fill_buf().map_err(Unchecked::Unreadable)?.first().copied();
                let form = if first == binary::MAGIC.first().copied() { Form::Binary } else { Form::Text };
                self.form = Some(form);
                if form == Form::Binary {
                    self.skip_magic()?;
                }
                form
            }
        };
        if !self.advance()? {
            return Ok(None);
        }
        let question = match form {
            Form::Binary => binary::question(&self.line, self.facts),
            Form::Text if self.line != text::FIRST.as_bytes() => {
                Err(format!("a certificate begins with the line `{}`", text::FIRST))
            }
            Form::Text => {
                let mut lines = Vec::with_capacity(text::HEADER);
                for _ in 0..text::HEADER {
                    if !self.advance()? {
                        return Err(self.refuse("it ends too early"));
                    }
                    lines.push(self.text().map_err(|reason| self.refuse(reason))?.to_string());
                }
                text::question(&lines, self.facts)
            }
        };
        question.map(Some).map_err(|reason| self.refuse(reason))
    }

    fn skip_magic(&mut self) -> Result<(), Unchecked> {
        let mut magic = [0; binary::MAGIC.len()];
        match self.input.read_exact(&mut magic) {
            Ok(()) if magic == *binary::MAGIC => Ok(()),
            Ok(()) => Err(self.refuse("this is no certificate of version 1")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.refuse("it is cut off")),
            Err(error) => Err(Unchecked::Unreadable(error)),
        }
    }

    /// Reads the next line or record; false if there is none.
    fn advance(&mut self) -> Result<bool, Unchecked> {
        self.number += 1;
        self.line.clear();
        match self.form {
            Some(Form::Binary) => self.read_record(),
            _ => self.read_line(),
        }
    }

    fn read_line(&mut self) -> Result<bool, Unchecked> {
        let limited = &mut (&mut self.input).take(LONGEST);
        let length = limited.read_until(b'\n', &mut self.line).map_err(Unchecked::Unreadable)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if length as u64 == LONGEST {
            return Err(self.refuse("the line is too long"));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(length > 0)
    }

    fn read_record(&mut self) -> Result<bool, Unchecked> {
        let Some(length) = self.record_length()? else { return Ok(false) };
        let limited = &mut (&mut self.input).take(length);
        let found = limited.read_to_end(&mut self.line).map_err(Unchecked::Unreadable)?;
        if found as u64 == length { Ok(true) } else { Err(self.refuse("it is cut off")) }
    }

    /// How long the next record is, if there is one.
    fn record_length(&mut self) -> Result<Option<u64>, Unchecked> {
        let (mut length, mut shift) = (0u64, 0);
        loop {
            let &[byte, ..] = self.input.fill_buf().map_err(Unchecked::Unreadable)? else {
                return if shift == 0 { Ok(None) } else { Err(self.refuse("it is cut off")) };
            };
            self.input.consume(1);
            length |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if length > LONGEST || shift > 28 {
                return Err(self.refuse("the record is too long"));
            }
            if byte & 0x80 == 0 {
                return Ok(Some(length));
            }
        }
    }

    /// Whether the present line begins another certificate.
    fn is_beginning(&self) -> bool {
        match self.form {
            Some(Form::Binary) => self.line.first() == Some(&binary::BEGIN),
            _ => self.line == text::FIRST.as_bytes(),
        }
    }

    fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.line).map_err(|_| "this is no text".to_string())
    }

    fn step(&self, question: &Question, present: u32) -> Result<step::Step, String> {
        match self.form {
            Some(Form::Binary) => {
                let (&code, fields) = self.line.split_first().ok_or("the record is empty")?;
                let kind = Kind::of_code(code).ok_or_else(|| format!("there is no step of kind {code}"))?;
                read_step(kind, &mut Bytes::new(fields, self.facts), self.facts, question, present)
            }
            _ => {
                let mut words = Words::new(self.text()?, self.facts);
                let name = words.word()?;
                let kind = Kind::of_name(name).ok_or_else(|| format!("there is no axiom `{name}`"))?;
                read_step(kind, &mut words, self.facts, question, present)
            }
        }
    }
}

fn read_step(
    kind: Kind,
    fields: &mut impl Fields,
    facts: &TraceFacts<'_>,
    question: &Question,
    present: u32,
) -> Result<step::Step, String> {
    let step = step::read(kind, fields, facts, question, present)?;
    fields.end()?;
    Ok(step)
}

fn refuted(question: &Question) -> Refuted {
    let ids: Vec<EventId> = question.next.iter().map(|&event| id(event)).collect();
    let goal = match (question.goal, &ids[..]) {
        (Goal::Race, &[first, second]) => RefutedGoal::Race(first, second),
        _ => RefutedGoal::Deadlock { waits: ids, ended: question.ended.map(id) },
    };
    Refuted { model: question.model, goal }
}
