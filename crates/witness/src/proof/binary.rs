//! Certificates as records of numbers, each number in as few bytes as it needs (LEB128).

use foretell_trace::Model;

use super::facts::TraceFacts;
use super::goal::{Goal, Question};
use super::literal::{Atom, INITIAL, Literal, before, is};
use super::step::{EXCLUSIONS, ExclusionKind, Fields};

/// How a file begins.
pub(super) const MAGIC: &[u8; 8] = b"\x89proof1\n";

/// The kind of the record that a certificate begins with.
pub(super) const BEGIN: u8 = 0;

/// The models, by their codes.
const MODELS: [Model; 4] = [Model::SameWrite, Model::SameValue, Model::ControlFlow, Model::Necessary];

/// What the first record asks.
pub(super) fn question(record: &[u8], facts: &TraceFacts<'_>) -> Result<Question, String> {
    let Some((&BEGIN, fields)) = record.split_first() else {
        return Err("here should be the beginning of a certificate".to_string());
    };
    let mut fields = Bytes::new(fields, facts);
    let model = fields.number()? as usize;
    let model = *MODELS.get(model).ok_or_else(|| format!("there is no model {model}"))?;
    let (events, count) = (fields.number()?, facts.trace().events().len());
    if events as usize != count {
        return Err(format!("it is about a trace with {events} events; this one has {count}"));
    }
    let goal = match fields.number()? {
        0 => Goal::Race,
        1 => Goal::Deadlock,
        other => return Err(format!("there is no goal {other}")),
    };
    let mut next = Vec::new();
    while !fields.ends(Some(""))? {
        next.push(fields.event()?);
    }
    let ended = if fields.ends(None)? { None } else { Some(fields.event()?) };
    fields.end()?;
    Question::new(facts, model, goal, next, ended)
}

/// The bytes of a record after its kind.
pub(super) struct Bytes<'s, 'f> {
    rest: &'s [u8],
    facts: &'f TraceFacts<'f>,
}

impl<'s, 'f> Bytes<'s, 'f> {
    pub(super) fn new(rest: &'s [u8], facts: &'f TraceFacts<'f>) -> Bytes<'s, 'f> {
        Bytes { rest, facts }
    }

    fn number(&mut self) -> Result<u32, String> {
        let mut number = 0u64;
        for shift in [0, 7, 14, 21, 28] {
            let (&byte, rest) = self.rest.split_first().ok_or("the record is too short")?;
            self.rest = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(number).map_err(|_| "the number is too large".to_string());
            }
        }
        Err("the number is too large".to_string())
    }
}

impl Fields for Bytes<'_, '_> {
    fn event(&mut self) -> Result<u32, String> {
        let number = self.number()?;
        self.facts.numbered(Some(number)).ok_or_else(|| format!("there is no event {number}"))
    }

    fn write(&mut self) -> Result<u32, String> {
        match self.rest.strip_prefix(&[0]) {
            Some(rest) => {
                self.rest = rest;
                Ok(INITIAL)
            }
            None => self.event(),
        }
    }

    fn ends(&mut self, word: Option<&str>) -> Result<bool, String> {
        match (self.rest, word) {
            (rest, None) => Ok(rest.is_empty()),
            ([], Some(_)) => Err("the record is too short".to_string()),
            ([0, rest @ ..], Some(_)) => {
                self.rest = rest;
                Ok(true)
            }
            (_, Some(_)) => Ok(false),
        }
    }

    fn literal(&mut self) -> Result<Literal, String> {
        let code = self.number()?;
        let (kind, positive) = ((code.saturating_sub(1)) / 2, code % 2 == 1);
        let literal = match kind {
            0 => is(Atom::Runs(self.event()?)),
            1 => {
                let (from, to) = (self.event()?, self.event()?);
                if from == to {
                    return Err("an event does not come before itself".to_string());
                }
                before(from, to)
            }
            2 => is(Atom::Consistent(self.event()?)),
            3 => is(Atom::Sees(self.event()?, self.write()?)),
            4 => is(Atom::Finds(self.event()?, self.event()?)),
            5 => is(Atom::Wakes(self.event()?, self.event()?)),
            _ => return Err(format!("there is no literal of kind {code}")),
        };
        Ok(if positive { literal } else { !literal })
    }

    fn exclusion(&mut self) -> Result<ExclusionKind, String> {
        let code = self.number()?;
        let known = (code as usize).checked_sub(1).and_then(|place| EXCLUSIONS.get(place));
        known.map(|&(kind, _)| kind).ok_or_else(|| format!("{code} excludes nothing"))
    }

    fn step(&mut self, present: u32) -> Result<u32, String> {
        let back = self.number()?;
        let step = present.checked_sub(back).filter(|&step| step > 0 && back > 0);
        step.ok_or_else(|| format!("there is no step {back} before this one"))
    }

    fn end(&mut self) -> Result<(), String> {
        if self.rest.is_empty() { Ok(()) } else { Err("the record is too long".to_string()) }
    }
}
