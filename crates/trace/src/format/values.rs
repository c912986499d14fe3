//! How values are computed, as part of a trace in the text and in the recording format.
//!
//! In text, comments tell it, so that others can still read the trace. A line `#values signed` or `#values unsigned`
//! comes first, which says how numbers are shown to people; after it these have a meaning:
//!
//! | line | meaning |
//! |---|---|
//! | `#number N` | the next term (`t0`, `t1`, …) is this number, from 0 to 2^64 - 1 |
//! | `#name V` | … is this value, which is no number |
//! | `#read R` | … is what event R read |
//! | `#frozen N A` | … is this number if all reads in A see what they saw; A is a set as in [`super::dependence`], and stands after those |
//! | `#unary OP WIDTH T` | … is made of another one: `truncate`, `extend`, `iszero` |
//! | `#binary OP WIDTH T T` | … of two: `add`, `sub`, `mul`, `udiv`, `sdiv`, `urem`, `srem`, `and`, `or`, `xor`, `shl`, `lshr`, `ashr`, `eq`, `ult`, `slt` |
//! | `#choice T T T` | … is the second of these, or the third if the first is 0 |
//! | `#writes W T` | event W writes this term |
//! | `#demand E T N`, `#demand E T V` | event E takes place only if the term is this number, or this value |
//! | `#obstacle WHY N` | so many things were not computed, for this reason: `floating-point`, `wide`, `operation`, `in-parts`, `unknown-function`, `unknown-way` |
//!
//! In a recording it is one sequence of varints: the number of events; 1 if numbers have signs, else 0; the number of
//! terms, and each of these: its kind (in the order of the table), and what it is made of in the order of the lines,
//! other terms by how many terms earlier they stand, operations by their places in the lists; the number of writes, for
//! each how many events it comes after the one before (at first: the beginning), and its term; the number of demands,
//! for each how many events it comes after the one before, its term, and what is demanded: 0 and a number, or 1 and a
//! value; the number of reasons for which something was not computed, for each its place in the list, and how often.
//! Values and sets are numbered as in the records and in [`super::dependence`].

use std::fmt::Write as _;

use crate::dependence::{Dependence, Reads};
use crate::error::Position;
use crate::format::blocks::{push, take};
use crate::format::dependence::{self, set_number, set_text, take_set};
use crate::format::lines::Problem;
use crate::id::EventId;
use crate::name::{NameError, Names};
use crate::symbol::{Symbol, SymbolContent, Value};
use crate::values::{Binary, Demand, Demanded, Mismatch, Obstacle, Obstacles, Term, TermId, Unary, Values};

const WORD: &[u8] = b"#values";

const UNARY: [(&str, Unary); 3] =
    [("truncate", Unary::Truncate), ("extend", Unary::ExtendSign), ("iszero", Unary::IsZero)];

const BINARY: [(&str, Binary); 16] = [
    ("add", Binary::Add),
    ("sub", Binary::Subtract),
    ("mul", Binary::Multiply),
    ("udiv", Binary::DivideUnsigned),
    ("sdiv", Binary::DivideSigned),
    ("urem", Binary::RemainderUnsigned),
    ("srem", Binary::RemainderSigned),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
    ("shl", Binary::ShiftLeft),
    ("lshr", Binary::ShiftRight),
    ("ashr", Binary::ShiftRightSigned),
    ("eq", Binary::Equal),
    ("ult", Binary::LessUnsigned),
    ("slt", Binary::LessSigned),
];

/// Where an operation stands in its list.
fn place_of<T: PartialEq>(list: &[(&str, T)], op: &T) -> usize {
    list.iter().position(|(_, other)| other == op).unwrap_or(0)
}

/// What was read, before it is known whether it fits.
#[derive(Default)]
struct Parts {
    signed: bool,
    terms: Vec<Term>,
    written: Vec<(EventId, TermId)>,
    demands: Vec<Demand>,
    obstacles: Obstacles,
}

impl Parts {
    /// The values of so many events; what is about other events is refused.
    fn build(mut self, events: usize) -> Result<Values, Mismatch> {
        let mut values = Values::new(events, self.signed);
        values.set_obstacles(self.obstacles);
        self.terms.iter().for_each(|&term| _ = values.add(term));
        for &(event, term) in &self.written {
            if event.index() >= events {
                return Err(Mismatch::NoEvent(event));
            }
            values.set_written(event, term);
        }
        // In a text they may stand in any order.
        self.demands.sort_by_key(|demand| demand.event);
        for &demand in &self.demands {
            if demand.event.index() >= events {
                return Err(Mismatch::NoEvent(demand.event));
            }
            values.demand(demand);
        }
        Ok(values)
    }
}

/// Takes the lines of a text that tell how values are computed.
#[derive(Default)]
pub(crate) struct ValueLines {
    begun: bool,
    parts: Parts,
    /// Names that are no part of the trace yet, with the places of the terms and the demands that they belong to.
    named_terms: Vec<(usize, Vec<u8>)>,
    named_demands: Vec<(usize, Vec<u8>)>,
    /// The lines of the terms,
    lines_of_terms: Vec<u32>,
    /// and of what is recorded of events.
    lines_of_events: Vec<(EventId, u32)>,
}

impl ValueLines {
    /// Whether the line, which begins with `#`, tells how values are computed, or should.
    pub(crate) fn is_for(&self, line: &[u8]) -> bool {
        match dependence::words(line).next() {
            Some((_, WORD)) => true,
            Some((_, [b'#', _, ..])) => self.begun && !dependence::DependenceLines::is_for(line),
            _ => false,
        }
    }

    /// Takes such a line; the sets of reads are those of `dependence`.
    pub(crate) fn line(
        &mut self,
        line: &[u8],
        number: u32,
        dependence: &dependence::DependenceLines,
    ) -> Result<(), Problem> {
        let mut words = Words { line, words: dependence::words(line).collect(), next: 0 };
        match words.next_word() {
            WORD => {
                self.parts.signed = words.one_of(&[("unsigned", false), ("signed", true)])?;
                self.begun = true;
            }
            b"#writes" => {
                let event = words.event()?;
                self.parts.written.push((event, self.term(&mut words)?));
                self.lines_of_events.push((event, number));
            }
            b"#demand" => {
                let event = words.event()?;
                let term = self.term(&mut words)?;
                let value = match words.try_number() {
                    Some(number) => Demanded::Number(number),
                    None => {
                        self.named_demands.push((self.parts.demands.len(), words.name()?));
                        Demanded::Name(Value::ZERO)
                    }
                };
                self.parts.demands.push(Demand { event, term, value });
                self.lines_of_events.push((event, number));
            }
            b"#obstacle" => {
                let obstacle = words.one_of(&Obstacle::ALL.map(|obstacle| (obstacle.name(), obstacle)))?;
                self.parts.obstacles.add(obstacle, words.number()?);
            }
            kind => {
                let term = self.new_term(kind, &mut words, dependence)?;
                self.parts.terms.push(term);
                self.lines_of_terms.push(number);
            }
        }
        words.end()
    }

    fn new_term(
        &mut self,
        kind: &[u8],
        words: &mut Words<'_>,
        dependence: &dependence::DependenceLines,
    ) -> Result<Term, Problem> {
        Ok(match kind {
            b"#number" => Term::Number(words.number()?),
            b"#name" => {
                self.named_terms.push((self.parts.terms.len(), words.name()?));
                Term::Name(Value::ZERO)
            }
            b"#read" => Term::Read(words.event()?),
            b"#frozen" => Term::Frozen { value: words.number()?, reads: words.set(dependence)? },
            b"#unary" => {
                Term::Unary { op: words.one_of(&UNARY)?, width: words.width()?, of: self.term(words)? }
            }
            b"#binary" => Term::Binary {
                op: words.one_of(&BINARY)?,
                width: words.width()?,
                left: self.term(words)?,
                right: self.term(words)?,
            },
            b"#choice" => Term::Choice {
                condition: self.term(words)?,
                then: self.term(words)?,
                otherwise: self.term(words)?,
            },
            _ => {
                let wanted = "`#number`, `#name`, `#read`, `#frozen`, `#unary`, `#binary`, `#choice`, `#writes`, \
                    `#demand`, `#obstacle`, or a remark: `#` and a blank";
                return Err(Problem::expected(0, wanted));
            }
        })
    }

    /// One of the terms so far.
    fn term(&self, words: &mut Words<'_>) -> Result<TermId, Problem> {
        let known = self.parts.terms.len();
        words.take("`t` and the number of an earlier term", |word| {
            let index = dependence::number_of(word.strip_prefix(b"t")?)?;
            TermId::from_index(index).filter(|_| index < known)
        })
    }

    /// What was recorded about so many events, if anything; names are taken up.
    pub(crate) fn finish(
        &mut self,
        events: usize,
        names: &mut Names,
    ) -> Result<Option<Result<Values, Mismatch>>, NameError> {
        if !std::mem::take(&mut self.begun) {
            return Ok(None);
        }
        let mut parts = std::mem::take(&mut self.parts);
        for (place, name) in self.named_terms.drain(..) {
            parts.terms[place] = Term::Name(Value(names.symbol(&name)?));
        }
        for (place, name) in self.named_demands.drain(..) {
            parts.demands[place].value = Demanded::Name(Value(names.symbol(&name)?));
        }
        Ok(Some(parts.build(events)))
    }

    /// Where the input says what does not fit.
    pub(crate) fn place_of(&self, mismatch: Mismatch) -> Option<Position> {
        let line = match mismatch {
            Mismatch::Length => None,
            Mismatch::Circular(term) | Mismatch::ReadsNothing(term) | Mismatch::Width(term) => {
                self.lines_of_terms.get(term.index()).copied()
            }
            Mismatch::NoEvent(event) | Mismatch::WritesNothing(event) | Mismatch::TooEarly(event) => {
                self.lines_of_events.iter().find(|(about, _)| *about == event).map(|&(_, line)| line)
            }
        };
        line.map(|line| Position::Text { line, column: 0 })
    }
}

/// The words of a line, taken one by one.
struct Words<'l> {
    line: &'l [u8],
    words: Vec<(usize, &'l [u8])>,
    next: usize,
}

impl<'l> Words<'l> {
    fn next_word(&mut self) -> &'l [u8] {
        self.next += 1;
        self.words.get(self.next - 1).map_or(b"", |(_, word)| word)
    }

    /// The next word as something that must be there.
    fn take<T>(&mut self, wanted: &str, parse: impl FnOnce(&'l [u8]) -> Option<T>) -> Result<T, Problem> {
        let at = self.words.get(self.next).map_or(self.line.len(), |(at, _)| *at);
        parse(self.next_word()).ok_or_else(|| Problem::expected(at, wanted))
    }

    fn event(&mut self) -> Result<EventId, Problem> {
        self.take("the number of an event, from 1 on", |word| {
            EventId::from_number(dependence::number_of(word)?)
        })
    }

    fn number(&mut self) -> Result<u64, Problem> {
        self.take("a number below 2^64", dependence::number_of)
    }

    /// The next word if it is a number; otherwise it is still to come.
    fn try_number(&mut self) -> Option<u64> {
        let number = self.words.get(self.next).and_then(|(_, word)| dependence::number_of(word))?;
        self.next += 1;
        Some(number)
    }

    fn width(&mut self) -> Result<u8, Problem> {
        let width = |word: &[u8]| dependence::number_of(word).filter(|width| (1..=64).contains(width));
        self.take("a number of bits, from 1 to 64", width)
    }

    fn name(&mut self) -> Result<Vec<u8>, Problem> {
        self.take("a value: an integer or a word", |word| is_name(word).then(|| word.to_vec()))
    }

    fn set(&mut self, dependence: &dependence::DependenceLines) -> Result<Reads, Problem> {
        let word = self.words.get(self.next).copied();
        self.next += 1;
        dependence.set(word, self.line)
    }

    fn one_of<T: Copy>(&mut self, list: &[(&str, T)]) -> Result<T, Problem> {
        let wanted = list.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        self.take(&wanted, |word| {
            list.iter().find(|(name, _)| name.as_bytes() == word).map(|&(_, value)| value)
        })
    }

    fn end(&self) -> Result<(), Problem> {
        match self.words.get(self.next) {
            None => Ok(()),
            Some((at, _)) => Err(Problem::expected(*at, "the end of the line")),
        }
    }
}

/// Whether a text can say this name, and it comes back as what it is.
fn is_name(name: &[u8]) -> bool {
    super::text::is_word(name) && dependence::number_of::<u64>(name).is_none()
}

/// The lines that tell how values are computed. The error is a name that cannot be written.
pub(crate) fn text(
    values: &Values,
    dependence: Option<&Dependence>,
    names: &Names,
) -> Result<String, String> {
    let mut text = format!("#values {}\n", if values.is_signed() { "signed" } else { "unsigned" });
    let name = |value: Value| {
        let name = names.value_text(value).into_owned();
        if is_name(name.as_bytes()) { Ok(name) } else { Err(format!("the value {name:?} as a name")) }
    };
    // Writing into a string cannot fail.
    for &term in values.terms() {
        let _ = match term {
            Term::Number(number) => writeln!(text, "#number {number}"),
            Term::Name(value) => writeln!(text, "#name {}", name(value)?),
            Term::Read(read) => writeln!(text, "#read {read}"),
            Term::Frozen { value, reads } => {
                writeln!(text, "#frozen {value} {}", set_text(dependence, reads))
            }
            Term::Unary { op, width, of } => {
                writeln!(text, "#unary {} {width} t{}", UNARY[place_of(&UNARY, &op)].0, of.index())
            }
            Term::Binary { op, width, left, right } => {
                let op = BINARY[place_of(&BINARY, &op)].0;
                writeln!(text, "#binary {op} {width} t{} t{}", left.index(), right.index())
            }
            Term::Choice { condition, then, otherwise } => {
                let [condition, then, otherwise] = [condition, then, otherwise].map(TermId::index);
                writeln!(text, "#choice t{condition} t{then} t{otherwise}")
            }
        };
    }
    for (event, term) in written(values) {
        let _ = writeln!(text, "#writes {event} t{}", term.index());
    }
    for demand in values.all_demands() {
        let value = match demand.value {
            Demanded::Number(number) => number.to_string(),
            Demanded::Name(value) => name(value)?,
        };
        let _ = writeln!(text, "#demand {} t{} {value}", demand.event, demand.term.index());
    }
    for (obstacle, times) in values.obstacles().iter() {
        let _ = writeln!(text, "#obstacle {} {times}", obstacle.name());
    }
    Ok(text)
}

fn written(values: &Values) -> impl Iterator<Item = (EventId, TermId)> {
    let ids = (0..values.len()).filter_map(EventId::from_index);
    ids.filter_map(|event| Some((event, values.written(event)?)))
}

/// All names that the values are about.
pub(crate) fn names_in(values: &Values) -> impl Iterator<Item = Value> {
    let terms = values.terms().iter().filter_map(|term| match term {
        Term::Name(value) => Some(*value),
        _ => None,
    });
    let demands = values.all_demands().iter().filter_map(|demand| match demand.value {
        Demanded::Name(value) => Some(value),
        Demanded::Number(_) => None,
    });
    terms.chain(demands)
}

/// The values as a part of a recording.
pub(crate) fn encode(values: &Values, dependence: Option<&Dependence>) -> Vec<u8> {
    let mut out = Vec::new();
    let numbers = |out: &mut Vec<u8>, numbers: &[u64]| numbers.iter().for_each(|&number| push(out, number));
    numbers(&mut out, &[values.len() as u64, values.is_signed().into(), values.terms().len() as u64]);
    for (index, &term) in values.terms().iter().enumerate() {
        let back = |part: TermId| (index - part.index()) as u64;
        match term {
            Term::Number(number) => numbers(&mut out, &[0, number]),
            Term::Name(value) => numbers(&mut out, &[1, value_number(value)]),
            Term::Read(read) => numbers(&mut out, &[2, read.number().into()]),
            Term::Frozen { value, reads } => {
                numbers(&mut out, &[3, value, set_number(dependence, reads)]);
            }
            Term::Unary { op, width, of } => {
                numbers(&mut out, &[4, place_of(&UNARY, &op) as u64, width.into(), back(of)]);
            }
            Term::Binary { op, width, left, right } => {
                let op = place_of(&BINARY, &op) as u64;
                numbers(&mut out, &[5, op, width.into(), back(left), back(right)]);
            }
            Term::Choice { condition, then, otherwise } => {
                numbers(&mut out, &[6, back(condition), back(then), back(otherwise)]);
            }
        }
    }
    push(&mut out, written(values).count() as u64);
    let mut last = 0;
    for (event, term) in written(values) {
        numbers(&mut out, &[u64::from(event.number()) - last, term.index() as u64]);
        last = event.number().into();
    }
    push(&mut out, values.all_demands().len() as u64);
    last = 0;
    for demand in values.all_demands() {
        let (kind, value) = match demand.value {
            Demanded::Number(number) => (0, number),
            Demanded::Name(value) => (1, value_number(value)),
        };
        numbers(
            &mut out,
            &[u64::from(demand.event.number()) - last, demand.term.index() as u64, kind, value],
        );
        last = demand.event.number().into();
    }
    push(&mut out, values.obstacles().iter().count() as u64);
    for (obstacle, times) in values.obstacles().iter() {
        numbers(&mut out, &[obstacle as u64, times]);
    }
    out
}

/// A value as records have it.
fn value_number(value: Value) -> u64 {
    match value.0.content() {
        SymbolContent::Number(number) => u64::from(number) << 1,
        SymbolContent::Named(index) => (index as u64) << 1 | 1,
    }
}

/// The values that [`encode`] wrote of so many events, whose names these are; none if it is not that.
pub(crate) fn decode(bytes: &[u8], events: u64, names: &Names, unions: usize) -> Option<Values> {
    let mut input = Input { bytes, names, unions };
    let count = usize::try_from(input.number()?).ok().filter(|&count| count as u64 == events)?;
    let mut parts = Parts { signed: input.below(2)? == 1, ..Parts::default() };
    for _ in 0..input.number()? {
        let term = input.term(parts.terms.len())?;
        parts.terms.push(term);
    }
    let mut last = 0;
    for _ in 0..input.number()? {
        let event = dependence::step(&mut last, input.number()?)?;
        parts.written.push((event, input.term_below(parts.terms.len())?));
    }
    last = 0;
    for _ in 0..input.number()? {
        let event = dependence::step(&mut last, input.number()?)?;
        let term = input.term_below(parts.terms.len())?;
        let value = match input.below(2)? {
            0 => Demanded::Number(input.number()?),
            _ => Demanded::Name(input.value()?),
        };
        parts.demands.push(Demand { event, term, value });
    }
    for _ in 0..input.number()? {
        let obstacle = Obstacle::ALL[input.below(Obstacle::ALL.len())?];
        parts.obstacles.add(obstacle, input.number()?);
    }
    if input.bytes.is_empty() { parts.build(count).ok() } else { None }
}

/// What is left to be read.
struct Input<'b> {
    bytes: &'b [u8],
    names: &'b Names,
    unions: usize,
}

impl Input<'_> {
    fn number(&mut self) -> Option<u64> {
        take(&mut self.bytes)
    }

    fn below(&mut self, limit: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&number| number < limit)
    }

    fn term_below(&mut self, limit: usize) -> Option<TermId> {
        self.below(limit).and_then(TermId::from_index)
    }

    /// A term that stands before the one with this index.
    fn part(&mut self, index: usize) -> Option<TermId> {
        let back = usize::try_from(self.number()?).ok().filter(|&back| back > 0)?;
        index.checked_sub(back).and_then(TermId::from_index)
    }

    fn width(&mut self) -> Option<u8> {
        u8::try_from(self.number()?).ok()
    }

    fn value(&mut self) -> Option<Value> {
        let number = self.number()?;
        let symbol = if number & 1 == 0 {
            Symbol::number(u32::try_from(number >> 1).ok()?)
        } else {
            let index =
                usize::try_from(number >> 1).ok().filter(|&index| index < self.names.symbol_count())?;
            Symbol::named(index)
        };
        symbol.map(Value)
    }

    /// The term with this index.
    fn term(&mut self, index: usize) -> Option<Term> {
        Some(match self.number()? {
            0 => Term::Number(self.number()?),
            1 => Term::Name(self.value()?),
            2 => Term::Read(EventId::from_number(u32::try_from(self.number()?).ok()?)?),
            3 => Term::Frozen { value: self.number()?, reads: take_set(&mut self.bytes, self.unions)? },
            4 => {
                let op = UNARY[self.below(UNARY.len())?].1;
                Term::Unary { op, width: self.width()?, of: self.part(index)? }
            }
            5 => {
                let op = BINARY[self.below(BINARY.len())?].1;
                Term::Binary { op, width: self.width()?, left: self.part(index)?, right: self.part(index)? }
            }
            6 => Term::Choice {
                condition: self.part(index)?,
                then: self.part(index)?,
                otherwise: self.part(index)?,
            },
            _ => return None,
        })
    }
}
