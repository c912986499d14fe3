//! The lines of a certificate. Events are named by their numbers, from 1; 0 stands for what was there at first.

use foretell_trace::Model;

use super::conditions::Waking;
use super::core::Core;
use super::facts::TraceFacts;
use super::goal::Question;
use super::literal::{Atom, INITIAL, Literal, before, is};
use super::reads::Exclusion;
use super::{barriers, conditions, goal, locks, memory, order, reads, semaphores};

/// The first line.
pub(super) const FIRST: &str = "foretell-proof 1";

/// The lines of a text, one by one.
pub(super) struct Lines<'s> {
    lines: std::str::Lines<'s>,
    number: usize,
}

impl<'s> Lines<'s> {
    pub(super) fn new(text: &'s str) -> Lines<'s> {
        Lines { lines: text.lines(), number: 0 }
    }

    /// The number of the line that was read last.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn next_line(&mut self) -> Option<&'s str> {
        self.number += 1;
        self.lines.next()
    }

    /// What follows the word on the next line.
    fn field(&mut self, word: &str) -> Result<&'s str, String> {
        let line = self.next_line().unwrap_or_default();
        let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
        rest.ok_or_else(|| format!("here should be `{word}`"))
    }

    /// The first lines: which question the certificate answers.
    pub(super) fn header(&mut self, facts: &TraceFacts<'_>) -> Result<Question, String> {
        if self.next_line() != Some(FIRST) {
            return Err(format!("a certificate begins with the line `{FIRST}`"));
        }
        let name = self.field("model")?;
        let model = Model::from_name(name).ok_or_else(|| format!("there is no model `{name}`"))?;
        let events = self.field("events")?;
        let count = facts.trace().events().len();
        if events.parse() != Ok(count) {
            return Err(format!("it is about a trace with {events} events; this one has {count}"));
        }
        let pair = self.field("pair")?;
        let mut words = Words { words: pair.split(' '), facts };
        let (first, second) = (words.event()?, words.event()?);
        words.end()?;
        Question::new(facts, model, first, second)
    }
}

/// The words of a line.
struct Words<'s, 'f> {
    words: std::str::Split<'s, char>,
    facts: &'f TraceFacts<'f>,
}

impl<'s> Words<'s, '_> {
    fn word(&mut self) -> Result<&'s str, String> {
        self.words.next().ok_or_else(|| "the line is too short".to_string())
    }

    fn end(&mut self) -> Result<(), String> {
        self.words.next().map_or(Ok(()), |word| Err(format!("`{word}` is too much")))
    }

    fn event(&mut self) -> Result<u32, String> {
        let word = self.word()?;
        self.event_of(word)
    }

    fn event_of(&self, word: &str) -> Result<u32, String> {
        let index = word.parse().ok().and_then(|number: u32| number.checked_sub(1));
        let exists = |index: &u32| (*index as usize) < self.facts.trace().events().len();
        index.filter(exists).ok_or_else(|| format!("there is no event {word}"))
    }

    /// A write, or what was there at first.
    fn write(&mut self) -> Result<u32, String> {
        match self.word()? {
            "0" => Ok(INITIAL),
            word => self.event_of(word),
        }
    }

    /// Events up to the word, or to the end of the line.
    fn events_until(&mut self, end: &str) -> Result<Vec<u32>, String> {
        let mut events = Vec::new();
        while let Some(word) = self.words.next().filter(|&word| word != end) {
            events.push(self.event_of(word)?);
        }
        Ok(events)
    }

    fn exclusions(&mut self) -> Result<Vec<Exclusion>, String> {
        let mut exclusions = Vec::new();
        while let Some(word) = self.words.next() {
            exclusions.push(match word {
                "later" => Exclusion::Later(self.event()?),
                "absent" => Exclusion::Absent(self.event()?),
                "overwritten" => Exclusion::Overwritten(self.event()?, self.event()?),
                "initial" => Exclusion::NotInitial(self.event()?),
                word => return Err(format!("`{word}` excludes nothing")),
            });
        }
        Ok(exclusions)
    }

    /// Literals up to the word `by`.
    fn literals(&mut self) -> Result<Vec<Literal>, String> {
        let mut literals = Vec::new();
        loop {
            match self.word()? {
                "by" => return Ok(literals),
                word => literals.push(self.literal(word)?),
            }
        }
    }

    fn literal(&self, word: &str) -> Result<Literal, String> {
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

    fn steps(&mut self) -> Result<Vec<u32>, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("there is no step {word}"));
        self.words.by_ref().map(number).collect()
    }
}

/// Checks one line and takes note of it.
pub(super) fn step(
    line: &str,
    facts: &TraceFacts<'_>,
    question: &Question,
    core: &mut Core,
) -> Result<(), String> {
    let mut words = Words { words: line.split(' '), facts };
    let word = words.word()?;
    match word {
        "clause" => {
            let literals = words.literals()?;
            let hints = words.steps()?;
            core.derive(literals, &hints)
        }
        "drop" => words.steps()?.into_iter().try_for_each(|step| core.drop_step(step)),
        axiom => {
            let clause = stated(axiom, &mut words, facts, *question)?;
            words.end()?;
            core.add(clause)
        }
    }
}

/// The clause of an axiom.
fn stated(
    axiom: &str,
    words: &mut Words<'_, '_>,
    facts: &TraceFacts<'_>,
    question: Question,
) -> Result<Vec<Literal>, String> {
    match axiom {
        "need" => order::need(facts, words.event()?, words.event()?),
        "prefix" => order::prefix(facts, words.event()?, words.event()?),
        "cycle" => {
            let events = words.events_until("")?;
            let (pairs, []) = events.as_chunks() else { return Err("a cycle is made of pairs".to_string()) };
            let pairs: Vec<(u32, u32)> = pairs.iter().map(|&[from, to]| (from, to)).collect();
            order::cycle(facts, &pairs)
        }
        "absent" => goal::absent(facts, question, words.event()?),
        "reached" => goal::reached(facts, question, words.event()?),
        "unexplained" => goal::unexplained(facts, question),
        "pin" => reads::pin(facts, question, words.event()?, words.event()?),
        "pinned" => reads::pinned(facts, question, words.event()?),
        "choice" => {
            let (read, exclusions) = (words.event()?, words.exclusions()?);
            reads::choice(facts, question, read, &exclusions)
        }
        "sees" => reads::sees(facts, words.event()?, words.write()?),
        "source" => reads::source_runs(facts, words.event()?, words.write()?),
        "between" => reads::between(facts, words.event()?, words.write()?, words.event()?),
        "concrete" => reads::concrete(facts, question, words.event()?, words.write()?, words.event()?),
        "exclusion" => locks::exclusion(facts, words.event()?, words.event()?),
        "attempt" => locks::attempt(facts, words.event()?),
        "begun" => locks::has_begun(facts, words.event()?, words.event()?),
        "open" => locks::is_open(facts, words.event()?, words.event()?),
        "free" => memory::free(facts, words.event()?, words.event()?),
        "permits" => {
            let wait = words.event()?;
            semaphores::permits(facts, wait, &words.events_until("posts")?, &words.events_until("")?)
        }
        "notified" => conditions::notified(facts, words.event()?),
        "wakeups" => conditions::wakeups(facts, &words.events_until("by")?, &words.events_until("")?),
        "after-wait" => conditions::wakes(facts, words.event()?, words.event()?, Waking::AfterWait),
        "before-return" => conditions::wakes(facts, words.event()?, words.event()?, Waking::BeforeReturn),
        "waker" => conditions::wakes(facts, words.event()?, words.event()?, Waking::Runs),
        "arrivals" => {
            let depart = words.event()?;
            barriers::arrivals(facts, depart, &words.events_until("of")?, &words.events_until("")?)
        }
        other => Err(format!("there is no axiom `{other}`")),
    }
}
