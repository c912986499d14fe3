//! Certificates as lines of words. Events are named by their numbers, from 1; 0 stands for what was there at first.

use foretell_trace::Model;

use super::facts::TraceFacts;
use super::goal::{Goal, Question};
use super::literal::{Atom, INITIAL, Literal, before, is};
use super::step::{EXCLUSIONS, ExclusionKind, Fields};

/// The first line.
pub(super) const FIRST: &str = "foretell-proof 1";

/// How many lines say what the certificate is about, after the first.
pub(super) const HEADER: usize = 3;

/// What these lines ask.
pub(super) fn question(lines: &[String], facts: &TraceFacts<'_>) -> Result<Question, String> {
    let [model, events, goal] = lines else { return Err("it ends too early".to_string()) };
    let name = field(model, "model")?;
    let model = Model::from_name(name).ok_or_else(|| format!("there is no model `{name}`"))?;
    let events = field(events, "events")?;
    let count = facts.trace().events().len();
    if events.parse() != Ok(count) {
        return Err(format!("it is about a trace with {events} events; this one has {count}"));
    }
    let mut words = Words::new(goal, facts);
    match words.word()? {
        "pair" => {
            let (first, second) = (words.event()?, words.event()?);
            words.end()?;
            Question::new(facts, model, Goal::Race, vec![first, second], None)
        }
        "deadlock" => {
            let (mut waits, mut ended) = (Vec::new(), None);
            while !words.ends(None)? {
                match words.rest.clone().next() {
                    Some("ended") => {
                        words.word()?;
                        ended = Some(words.event()?);
                        words.end()?;
                    }
                    _ => waits.push(words.event()?),
                }
            }
            Question::new(facts, model, Goal::Deadlock, waits, ended)
        }
        _ => Err("here should be `pair` or `deadlock`".to_string()),
    }
}

/// What follows the word on the line.
fn field<'s>(line: &'s str, word: &str) -> Result<&'s str, String> {
    let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
    rest.ok_or_else(|| format!("here should be `{word}`"))
}

/// The words of a line.
pub(super) struct Words<'s, 'f> {
    rest: std::str::Split<'s, char>,
    facts: &'f TraceFacts<'f>,
}

impl<'s, 'f> Words<'s, 'f> {
    pub(super) fn new(line: &'s str, facts: &'f TraceFacts<'f>) -> Words<'s, 'f> {
        Words { rest: line.split(' '), facts }
    }

    pub(super) fn word(&mut self) -> Result<&'s str, String> {
        self.rest.next().ok_or_else(|| "the line is too short".to_string())
    }

    fn event_of(&self, word: &str) -> Result<u32, String> {
        self.facts.numbered(number(word)).ok_or_else(|| format!("there is no event {word}"))
    }
}

/// A number as it is written down: digits alone.
fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|_| word.starts_with(|first: char| first.is_ascii_digit()))
}

impl Fields for Words<'_, '_> {
    fn event(&mut self) -> Result<u32, String> {
        let word = self.word()?;
        self.event_of(word)
    }

    fn write(&mut self) -> Result<u32, String> {
        match self.word()? {
            "0" => Ok(INITIAL),
            word => self.event_of(word),
        }
    }

    fn ends(&mut self, word: Option<&str>) -> Result<bool, String> {
        match (self.rest.clone().next(), word) {
            (None, None) => Ok(true),
            (None, Some(word)) => Err(format!("here should be `{word}`")),
            (Some(_), None) => Ok(false),
            (Some(next), Some(word)) => {
                let ends = next == word;
                if ends {
                    self.rest.next();
                }
                Ok(ends)
            }
        }
    }

    fn literal(&mut self) -> Result<Literal, String> {
        let word = self.word()?;
        let (positive, rest) = word.strip_prefix('-').map_or((true, word), |rest| (false, rest));
        let two = |rest: &str, sign: char| {
            let (one, other) = rest.split_once(sign).ok_or_else(|| format!("`{word}` is no literal"))?;
            Ok::<_, String>((self.event_of(one)?, other.to_string()))
        };
        let literal = if let Some(rest) = rest.strip_prefix('R') {
            is(Atom::Runs(self.event_of(rest)?))
        } else if let Some(rest) = rest.strip_prefix('C') {
            is(Atom::Consistent(self.event_of(rest)?))
        } else if let Some(rest) = rest.strip_prefix('S') {
            let (read, write) = two(rest, ',')?;
            is(Atom::Sees(read, if write == "0" { INITIAL } else { self.event_of(&write)? }))
        } else if let Some(rest) = rest.strip_prefix('F') {
            let (attempt, begin) = two(rest, ',')?;
            is(Atom::Finds(attempt, self.event_of(&begin)?))
        } else if let Some(rest) = rest.strip_prefix('W') {
            let (notification, woken) = two(rest, ',')?;
            is(Atom::Wakes(notification, self.event_of(&woken)?))
        } else {
            let (from, to) = two(rest, '<')?;
            let to = self.event_of(&to)?;
            if from == to {
                return Err(format!("`{word}` is no literal"));
            }
            before(from, to)
        };
        Ok(if positive { literal } else { !literal })
    }

    fn exclusion(&mut self) -> Result<ExclusionKind, String> {
        let word = self.word()?;
        let known = EXCLUSIONS.into_iter().find(|&(_, name)| name == word);
        known.map(|(kind, _)| kind).ok_or_else(|| format!("`{word}` excludes nothing"))
    }

    fn step(&mut self, _present: u32) -> Result<u32, String> {
        let word = self.word()?;
        number(word).ok_or_else(|| format!("there is no step {word}"))
    }

    fn end(&mut self) -> Result<(), String> {
        self.rest.next().map_or(Ok(()), |word| Err(format!("`{word}` is too much")))
    }
}
