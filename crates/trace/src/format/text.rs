//! The text format: one event a line, `THREAD|OPERATION|LOCATION`. RAPID's STD files read unchanged.
//!
//! Empty lines and lines that begin with `#` are skipped, unless they tell which reads matter ([`super::dependence`])
//! how values are computed
//! ([`super::values`]), how far threads have come ([`super::steps`]), or what they are called
//! ([`super::titles`]). Any other line that is not an event is an
//! error. Names are any text without `|`; after the last comma of an access stands its value, so a variable whose name
//! has a comma needs one. A location is any text, such as `12` or `bank.c:12`.
//!
//! | operation | meaning |
//! |---|---|
//! | `r(x)` `r(x,5)` | plain read of `x`, which saw 5 |
//! | `w(x)` `w(x,5)` | plain write |
//! | `aload.ORDER(x,5)` | atomic read |
//! | `astore.ORDER(x,5)` | atomic write |
//! | `rmw.ORDER(x,5,6)` | atomic read-modify-write that saw 5 and left 6; both values or none |
//! | `fence.ORDER` | memory fence |
//! | `acq(l)` `rel(l)` | exclusive lock; repeated acquires of one thread nest |
//! | `racq(l)` `rrel(l)` | shared (reader's) lock on the same `l` |
//! | `try(l)` `rtry(l)` | `l` is taken exclusively or shared by an attempt, or by a wait with a time limit |
//! | `tryfail(l)` `rtryfail(l)` | an attempt to take `l` exclusively or shared that failed |
//! | `fork(T)` `join(T)` | thread start and wait for its end |
//! | `begin` `end` | first and last event of a thread |
//! | `branch` | a decision that depends on what the thread has read so far |
//! | `sem(s,3)` `p(s)` `v(s)` | semaphore: creation with 3 permits, take one, give one |
//! | `wait(c,l)` `woken(c,l)` `timeout(c,l)` | wait on `c`, giving up `l`; return because of a notification, or without one. `wait(l)` is short for `wait(l,l)`, the monitor |
//! | `notify(c)` `notifyall(c)` | wake one waiter, or all |
//! | `arrive(b)` `depart(b)` | come to a barrier, leave it |
//! | `alloc(x)` `free(x)` | memory comes and goes; `alloc` makes `x` a fresh variable |
//! | `enter(m)` `exit(m)` | method calls; RAPID's `begin(m)` and `end(m)` read as these |
//! | `sync(x)` | RAPID's shorthand for an atomic update: reads as `rmw.sc(x)` |
//! | `dummy(m)` | no meaning; RAPID's `req(l)`, with which a thread asks for the lock that it acquires next, reads as this |
//!
//! `ORDER` is `rlx`, `acq`, `rel`, `acqrel` or `sc`; without `.ORDER` it is `sc`. Values are integers (decimal, or
//! hexadecimal with `0x`) or words; `007`, `7` and `0x7` are one value.

use std::fmt::Write as _;
use std::io::{Read, Write};

use memchr::{memchr, memrchr};

use crate::dependence::{Dependence, Misfit};
use crate::error::{Position, TraceError};
use crate::event::{Event, MemOrder, Op};
use crate::format::dependence::{DependenceLines, write_text};
use crate::format::lines::{Lines, Problem};
use crate::format::swift;
use crate::format::values;
use crate::format::{steps, titles};
use crate::id::{CondId, EventId, Id, LockId, VarId};
use crate::name::{Interner, Names, Variables};
use crate::source::{BATCH, Batch, Source};
use crate::steps::Steps;
use crate::symbol::Value;
use crate::values::{Mismatch, Values};

/// Reads the text format.
pub struct TextReader {
    lines: Lines,
    names: Names,
    events: usize,
    /// What comments tell of dependence,
    dependence: DependenceLines,
    /// of how values are computed,
    values: values::ValueLines,
    /// of steps,
    steps: steps::StepLines,
    /// and of what threads are called.
    titles: Vec<(String, String)>,
}

impl TextReader {
    /// Reads from `input`, which need not be buffered.
    pub fn new(input: Box<dyn Read>) -> TextReader {
        TextReader {
            lines: Lines::new(input),
            names: Names::default(),
            events: 0,
            dependence: DependenceLines::default(),
            values: values::ValueLines::default(),
            steps: steps::StepLines::default(),
            titles: Vec::new(),
        }
    }
}

impl Source for TextReader {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        while batch.events.len() < BATCH {
            let ahead = self.lines.ahead();
            if let Some(length) = swift::event(ahead, &mut self.names, &mut batch.events) {
                self.lines.skip(length)?;
                batch.lines.push(self.lines.number());
                continue;
            }
            let parse = |line: &[u8], _| parse_event(line, &mut self.names);
            let comment = |line: &[u8], number| {
                if let Some(title) = titles::read(line) {
                    self.titles.push(title);
                    Ok(())
                } else if steps::StepLines::is_for(line) {
                    self.steps.line(line)
                } else if self.values.is_for(line) {
                    self.values.line(line, number, &self.dependence)
                } else {
                    self.dependence.line(line, number)
                }
            };
            if !self.lines.next_event_and_comments(batch, parse, comment)? {
                break;
            }
        }
        titles::take_up(self.titles.drain(..), &mut self.names);
        self.events += batch.events.len();
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }

    fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        self.dependence.finish(self.events)
    }

    fn blame(&self, misfit: Misfit) -> TraceError {
        TraceError::Dependence { at: self.dependence.place_of(misfit), misfit }
    }

    fn values(&mut self) -> Result<Option<Values>, TraceError> {
        let at = Position::Event(EventId::FIRST);
        let values = self.values.finish(self.events, &mut self.names);
        let values = values.map_err(|error| TraceError::Name { at, error })?;
        values.transpose().map_err(|mismatch| self.blame_values(mismatch))
    }

    fn blame_values(&self, mismatch: Mismatch) -> TraceError {
        TraceError::Values { at: self.values.place_of(mismatch), mismatch }
    }

    fn steps(&mut self) -> Option<Steps> {
        std::mem::take(&mut self.steps).finish(self.events)
    }
}

fn parse_event(line: &[u8], names: &mut Names) -> Result<Event, Problem> {
    let Some(thread_end) = memchr(b'|', line) else {
        return Err(Problem::expected(line.len(), "`|` after the thread (THREAD|OPERATION|LOCATION)"));
    };
    let thread = named(&mut names.threads, (0, &line[..thread_end]), "a thread")?;
    let op_begin = thread_end + 1;
    let Some(op_length) = memchr(b'|', &line[op_begin..]) else {
        return Err(Problem::expected(line.len(), "`|` and a location after the operation"));
    };
    let op_end = op_begin + op_length;
    let op = OpText { line, begin: op_begin, end: op_end }.parse(names)?;
    let location = &line[op_end + 1..];
    if location.is_empty() {
        return Err(Problem::expected(
            op_end + 1,
            "a location: any text, for example the number of the line",
        ));
    }
    let loc = names.loc(location).map_err(|error| Problem::Name(op_end + 1, error))?;
    Ok(Event::new(thread, op, loc))
}

const OPERATIONS: &str = "an operation: r w aload astore rmw fence acq rel racq rrel try rtry tryfail rtryfail fork \
    join begin end branch sem p v wait woken timeout notify notifyall arrive depart alloc free enter exit sync dummy";

/// The part of a line that spells an operation.
#[derive(Clone, Copy)]
pub(crate) struct OpText<'a> {
    pub(crate) line: &'a [u8],
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// A piece of a line, and where it begins.
type Piece<'a> = (usize, &'a [u8]);

impl<'a> OpText<'a> {
    pub(crate) fn parse(self, names: &mut Names) -> Result<Op, Problem> {
        let text = &self.line[self.begin..self.end];
        match text {
            b"branch" => return Ok(Op::Branch),
            b"begin" => return Ok(Op::Begin),
            b"end" => return Ok(Op::End),
            _ => {}
        }
        if let Some(order) = text.strip_prefix(b"fence") {
            return Ok(Op::Fence { order: parse_order((self.begin + 5, order))? });
        }
        match memchr(b'(', text) {
            Some(open) => self.parse_as(&text[..open], names),
            None => Err(self.unknown()),
        }
    }

    /// Reads the arguments as those of the operation `name`, whatever name stands before them.
    #[inline]
    pub(crate) fn parse_as(self, name: &[u8], names: &mut Names) -> Result<Op, Problem> {
        let text = &self.line[self.begin..self.end];
        let open = memchr(b'(', text).unwrap_or(0);
        let argument = (self.begin + open + 1, &text[open + 1..]);
        let Some(argument) = argument.1.strip_suffix(b")").map(|inside| (argument.0, inside)) else {
            return Err(Problem::expected(self.end, "`)` at the end of the operation"));
        };
        match name {
            b"r" => {
                let (var, value) = self.var_and_value(argument, names)?;
                Ok(Op::Read { var, value })
            }
            b"w" => {
                let (var, value) = self.var_and_value(argument, names)?;
                Ok(Op::Write { var, value })
            }
            b"acq" => lock(argument, names).map(Op::Acquire),
            b"rel" => lock(argument, names).map(Op::Release),
            _ => self.parse_rare(name, argument, names),
        }
    }

    fn parse_rare(self, name: &[u8], argument: Piece<'a>, names: &mut Names) -> Result<Op, Problem> {
        Ok(match name {
            b"racq" => Op::AcquireShared(lock(argument, names)?),
            b"try" => Op::TryAcquire(lock(argument, names)?),
            b"rtry" => Op::TryAcquireShared(lock(argument, names)?),
            b"rrel" => Op::ReleaseShared(lock(argument, names)?),
            b"tryfail" => Op::TryAcquireFailed(lock(argument, names)?),
            b"rtryfail" => Op::TryAcquireSharedFailed(lock(argument, names)?),
            b"fork" => Op::Fork(named(&mut names.threads, argument, "a thread")?),
            b"join" => Op::Join(named(&mut names.threads, argument, "a thread")?),
            b"sem" => self.sem_init(argument, names)?,
            b"p" => Op::SemWait(named(&mut names.sems, argument, "a semaphore")?),
            b"v" => Op::SemPost(named(&mut names.sems, argument, "a semaphore")?),
            b"wait" | b"woken" | b"timeout" => {
                let (cond, lock) = cond_and_lock(argument, names)?;
                match name {
                    b"wait" => Op::Wait { cond, lock },
                    b"woken" => Op::Woken { cond, lock },
                    _ => Op::WaitTimeout { cond, lock },
                }
            }
            b"notify" => Op::Notify(named(&mut names.conds, argument, "a condition")?),
            b"notifyall" => Op::NotifyAll(named(&mut names.conds, argument, "a condition")?),
            b"arrive" => Op::Arrive(named(&mut names.barriers, argument, "a barrier")?),
            b"depart" => Op::Depart(named(&mut names.barriers, argument, "a barrier")?),
            b"alloc" => {
                let (at, name) = nonempty(argument, "a variable")?;
                Op::Alloc(names.vars.renew(name).map_err(|error| Problem::Name(at, error))?)
            }
            b"free" => Op::Free(variable(argument, names)?),
            b"enter" | b"begin" => Op::Enter(named(&mut names.labels, argument, "a method")?),
            b"exit" | b"end" => Op::Exit(named(&mut names.labels, argument, "a method")?),
            b"dummy" | b"req" => Op::Dummy(named(&mut names.labels, argument, "a label")?),
            b"sync" => {
                let var = variable(argument, names)?;
                Op::Rmw { var, read: None, written: None, order: MemOrder::SeqCst }
            }
            _ => self.parse_atomic(name, argument, names)?,
        })
    }

    fn parse_atomic(self, name: &[u8], argument: Piece<'a>, names: &mut Names) -> Result<Op, Problem> {
        let dot = memchr(b'.', name).unwrap_or(name.len());
        let order = || parse_order((self.begin + dot, &name[dot..]));
        match &name[..dot] {
            b"aload" => {
                let order = order()?;
                let (var, value) = self.var_and_value(argument, names)?;
                Ok(Op::Load { var, value, order })
            }
            b"astore" => {
                let order = order()?;
                let (var, value) = self.var_and_value(argument, names)?;
                Ok(Op::Store { var, value, order })
            }
            b"rmw" => {
                let order = order()?;
                let Some((rest, written)) = split_last_comma(argument) else {
                    return Ok(Op::Rmw { var: variable(argument, names)?, read: None, written: None, order });
                };
                let Some((var, read)) = split_last_comma(rest) else {
                    return Err(Problem::expected(argument.0, "rmw(x) or rmw(x,SEEN,WRITTEN)"));
                };
                let var = variable(var, names)?;
                let read = Some(parse_value(read, names)?);
                let written = Some(parse_value(written, names)?);
                Ok(Op::Rmw { var, read, written, order })
            }
            _ => Err(self.unknown()),
        }
    }

    fn sem_init(self, argument: Piece<'a>, names: &mut Names) -> Result<Op, Problem> {
        let Some((sem, permits)) = split_last_comma(argument) else {
            return Err(Problem::expected(self.end - 1, "`,` and the number of permits"));
        };
        let sem = named(&mut names.sems, sem, "a semaphore")?;
        let number = std::str::from_utf8(permits.1).ok().and_then(|text| text.parse().ok());
        match number {
            Some(permits) => Ok(Op::SemInit { sem, permits }),
            None => Err(Problem::expected(permits.0, "the number of permits, below 2^32")),
        }
    }

    fn var_and_value(
        self,
        argument: Piece<'a>,
        names: &mut Names,
    ) -> Result<(VarId, Option<Value>), Problem> {
        match split_last_comma(argument) {
            None => Ok((variable(argument, names)?, None)),
            Some((var, value)) => Ok((variable(var, names)?, Some(parse_value(value, names)?))),
        }
    }

    #[cold]
    fn unknown(self) -> Problem {
        Problem::expected(self.begin, OPERATIONS)
    }
}

/// A name. Blanks around it would silently make it another one.
fn nonempty<'a>(piece: Piece<'a>, what: &str) -> Result<Piece<'a>, Problem> {
    let (at, name) = piece;
    if name.is_empty() {
        Err(Problem::expected(at, format!("the name of {what}")))
    } else if name.trim_ascii().len() != name.len() {
        Err(Problem::expected(at, format!("the name of {what} without blanks around it")))
    } else {
        Ok(piece)
    }
}

fn named<I: Id>(table: &mut Interner<I>, piece: Piece<'_>, what: &str) -> Result<I, Problem> {
    let (at, name) = nonempty(piece, what)?;
    table.intern(name).map_err(|error| Problem::Name(at, error))
}

fn lock(piece: Piece<'_>, names: &mut Names) -> Result<LockId, Problem> {
    named(&mut names.locks, piece, "a lock")
}

fn variable(piece: Piece<'_>, names: &mut Names) -> Result<VarId, Problem> {
    let (at, name) = nonempty(piece, "a variable")?;
    names.vars.intern(name).map_err(|error| Problem::Name(at, error))
}

fn cond_and_lock(piece: Piece<'_>, names: &mut Names) -> Result<(CondId, LockId), Problem> {
    let (cond, monitor) = split_last_comma(piece).unwrap_or((piece, piece));
    Ok((named(&mut names.conds, cond, "a condition")?, lock(monitor, names)?))
}

fn split_last_comma(piece: Piece<'_>) -> Option<(Piece<'_>, Piece<'_>)> {
    let (at, text) = piece;
    let comma = memrchr(b',', text)?;
    Some(((at, &text[..comma]), (at + comma + 1, &text[comma + 1..])))
}

fn parse_order((at, text): Piece<'_>) -> Result<MemOrder, Problem> {
    match text {
        b"" | b".sc" => Ok(MemOrder::SeqCst),
        b".rlx" => Ok(MemOrder::Relaxed),
        b".rlx11" => Ok(MemOrder::RelaxedC11),
        b".acq" => Ok(MemOrder::Acquire),
        b".rel" => Ok(MemOrder::Release),
        b".acqrel" => Ok(MemOrder::AcqRel),
        _ => Err(Problem::expected(at, "a memory order: .rlx .rlx11 .acq .rel .acqrel .sc, or none for .sc")),
    }
}

fn order_text(order: MemOrder) -> &'static str {
    match order {
        MemOrder::Relaxed => ".rlx",
        MemOrder::RelaxedC11 => ".rlx11",
        MemOrder::Acquire => ".acq",
        MemOrder::Release => ".rel",
        MemOrder::AcqRel => ".acqrel",
        MemOrder::SeqCst => "",
    }
}

fn parse_value((at, text): Piece<'_>, names: &mut Names) -> Result<Value, Problem> {
    if !is_word(text) {
        return Err(Problem::expected(at, "a value: an integer or a word"));
    }
    let plain = text[0] != b'0' || text.len() == 1;
    let symbol = if plain && text[0] != b'-' && text[0] != b'+' {
        names.symbol(text)
    } else {
        names.symbol(canonical_integer(text).as_deref().map_or(text, str::as_bytes))
    };
    symbol.map(Value).map_err(|error| Problem::Name(at, error))
}

/// Whether this can be a value.
pub(crate) fn is_word(text: &[u8]) -> bool {
    let word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'+' | b'-' | b'@');
    !text.is_empty() && text.iter().all(word)
}

/// The decimal spelling without needless signs and zeros, if `text` is an integer at all.
fn canonical_integer(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, digits) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) if !hexadecimal.starts_with('+') => u128::from_str_radix(hexadecimal, 16).ok()?,
        Some(_) => return None,
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative && magnitude != 0 { format!("-{magnitude}") } else { magnitude.to_string() })
}

/// Writes the text format. What would read back as something else is refused.
pub struct TextWriter<W> {
    output: W,
    line: String,
    /// The generations of variables as a reader of the output sees them.
    vars: Variables,
    events: u64,
}

impl<W: Write> TextWriter<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W) -> TextWriter<W> {
        TextWriter { output, line: String::new(), vars: Variables::default(), events: 0 }
    }

    /// Writes one event.
    pub fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        if let Err(what) = self.expressible(event, names) {
            return Err(TraceError::not_expressible(self.events, "text", what));
        }
        self.line.clear();
        self.line.push_str(names.threads.name(event.thread));
        self.line.push('|');
        write_op(&mut self.line, event.op, names);
        self.line.push('|');
        self.line.push_str(&names.loc_text(event.loc));
        self.line.push('\n');
        self.output.write_all(self.line.as_bytes())?;
        self.events += 1;
        Ok(())
    }

    /// Writes which reads matter, after all events.
    pub fn write_dependence(&mut self, dependence: &Dependence) -> Result<(), TraceError> {
        Ok(write_text(dependence, &mut self.output)?)
    }

    /// Writes how values are computed, after which reads matter.
    pub fn write_values(
        &mut self,
        values: &Values,
        dependence: Option<&Dependence>,
        names: &Names,
    ) -> Result<(), TraceError> {
        let text = values::text(values, dependence, names);
        let text = text.map_err(|what| TraceError::not_expressible(0, "text", what))?;
        Ok(self.output.write_all(text.as_bytes())?)
    }

    /// Writes how far threads have come, after all events.
    pub fn write_steps(&mut self, steps: &Steps) -> Result<(), TraceError> {
        Ok(steps::write_text(steps, &mut self.output)?)
    }

    /// Writes what the program calls its threads, after all events.
    pub fn write_titles(&mut self, names: &Names) -> Result<(), TraceError> {
        Ok(self.output.write_all(titles::write(names).as_bytes())?)
    }

    /// The output, with everything written to it.
    pub fn into_inner(self) -> W {
        self.output
    }

    /// What of the event would not read back as it is.
    fn expressible(&mut self, event: &Event, names: &Names) -> Result<(), String> {
        let thread = plain_name(names.threads.name(event.thread))?;
        if thread.starts_with('#') {
            return Err(format!("a thread named `{thread}`"));
        }
        let loc = names.loc_text(event.loc);
        if loc.is_empty() || loc.contains('\n') || loc.ends_with('\r') {
            return Err(format!("the location {loc:?}"));
        }
        self.op_expressible(event.op, names)
    }

    fn op_expressible(&mut self, op: Op, names: &Names) -> Result<(), String> {
        match op {
            Op::Read { var, value } | Op::Write { var, value } => {
                self.access_expressible(var, &[value], names)
            }
            Op::Load { var, value, .. } | Op::Store { var, value, .. } => {
                self.access_expressible(var, &[value], names)
            }
            Op::Rmw { var, read, written, .. } => {
                if read.is_some() != written.is_some() {
                    return Err("an update with only one of its two values".to_string());
                }
                self.access_expressible(var, &[read, written], names)
            }
            Op::Alloc(var) => self.generation_expressible(var, true, names),
            Op::Free(var) => self.generation_expressible(var, false, names),
            Op::Acquire(lock)
            | Op::TryAcquire(lock)
            | Op::Release(lock)
            | Op::AcquireAgain(lock)
            | Op::ReleaseAgain(lock)
            | Op::AcquireShared(lock)
            | Op::TryAcquireShared(lock)
            | Op::ReleaseShared(lock)
            | Op::AcquireSharedAgain(lock)
            | Op::ReleaseSharedAgain(lock)
            | Op::TryAcquireFailed(lock)
            | Op::TryAcquireSharedFailed(lock) => plain_name(names.locks.name(lock)).map(drop),
            Op::Wait { cond, lock } | Op::Woken { cond, lock } | Op::WaitTimeout { cond, lock } => {
                plain_name(names.conds.name(cond))?;
                match plain_name(names.locks.name(lock))? {
                    lock if lock.contains(',') => Err(format!("a wait with a lock named `{lock}`")),
                    _ => Ok(()),
                }
            }
            Op::Fork(child) | Op::Join(child) => plain_name(names.threads.name(child)).map(drop),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                plain_name(names.sems.name(sem)).map(drop)
            }
            Op::Notify(cond) | Op::NotifyAll(cond) => plain_name(names.conds.name(cond)).map(drop),
            Op::Arrive(barrier) | Op::Depart(barrier) => plain_name(names.barriers.name(barrier)).map(drop),
            Op::Enter(label) | Op::Exit(label) | Op::Dummy(label) => {
                plain_name(names.labels.name(label)).map(drop)
            }
            Op::Fence { .. } | Op::Begin | Op::End | Op::Branch => Ok(()),
        }
    }

    fn access_expressible(
        &mut self,
        var: VarId,
        values: &[Option<Value>],
        names: &Names,
    ) -> Result<(), String> {
        self.generation_expressible(var, false, names)?;
        for value in values {
            match value {
                Some(value) if !reads_back(&names.value_text(*value)) => {
                    return Err(format!("the value `{}`", names.value_text(*value)));
                }
                None if names.vars.name(var).contains(',') => {
                    return Err(format!("an access without value to `{}`", names.vars.name(var)));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// In text an allocation begins the next generation of a name, and all else is of the newest one.
    fn generation_expressible(&mut self, var: VarId, renew: bool, names: &Names) -> Result<(), String> {
        let name = plain_name(names.vars.name(var))?;
        let read = if renew { self.vars.renew(name.as_bytes()) } else { self.vars.intern(name.as_bytes()) };
        match read {
            Ok(read) if self.vars.generation(read) == names.vars.generation(var) => Ok(()),
            Ok(_) => Err(format!("generation {} of `{name}` here", names.vars.generation(var))),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A name that reads back as itself wherever the format has a name.
fn plain_name(name: &str) -> Result<&str, String> {
    let blanks_around = name.trim_ascii().len() != name.len();
    if name.is_empty() || blanks_around || name.contains(['|', '\n']) {
        return Err(format!("the name {name:?}"));
    }
    Ok(name)
}

/// Whether a value reads back as itself.
fn reads_back(value: &str) -> bool {
    is_word(value.as_bytes())
        && canonical_integer(value.as_bytes()).is_none_or(|canonical| canonical == value)
}

/// An operation as the text format spells it.
pub fn op_text(op: Op, names: &Names) -> String {
    let mut text = String::new();
    write_op(&mut text, op, names);
    text
}

fn write_op(line: &mut String, op: Op, names: &Names) {
    let value =
        |value: Option<Value>| value.map(|value| format!(",{}", names.value_text(value))).unwrap_or_default();
    let var = |id| names.vars.name(id);
    let lock = |id| names.locks.name(id);
    // Writing into a string cannot fail.
    let _ = match op {
        Op::Read { var: x, value: v } => write!(line, "r({}{})", var(x), value(v)),
        Op::Write { var: x, value: v } => write!(line, "w({}{})", var(x), value(v)),
        Op::Load { var: x, value: v, order } => {
            write!(line, "aload{}({}{})", order_text(order), var(x), value(v))
        }
        Op::Store { var: x, value: v, order } => {
            write!(line, "astore{}({}{})", order_text(order), var(x), value(v))
        }
        Op::Rmw { var: x, read, written, order } => {
            write!(line, "rmw{}({}{}{})", order_text(order), var(x), value(read), value(written))
        }
        Op::Fence { order } => write!(line, "fence{}", order_text(order)),
        Op::Acquire(l) | Op::AcquireAgain(l) => write!(line, "acq({})", lock(l)),
        Op::TryAcquire(l) => write!(line, "try({})", lock(l)),
        Op::TryAcquireShared(l) => write!(line, "rtry({})", lock(l)),
        Op::Release(l) | Op::ReleaseAgain(l) => write!(line, "rel({})", lock(l)),
        Op::AcquireShared(l) | Op::AcquireSharedAgain(l) => write!(line, "racq({})", lock(l)),
        Op::ReleaseShared(l) | Op::ReleaseSharedAgain(l) => write!(line, "rrel({})", lock(l)),
        Op::TryAcquireFailed(l) => write!(line, "tryfail({})", lock(l)),
        Op::TryAcquireSharedFailed(l) => write!(line, "rtryfail({})", lock(l)),
        Op::Fork(thread) => write!(line, "fork({})", names.threads.name(thread)),
        Op::Join(thread) => write!(line, "join({})", names.threads.name(thread)),
        Op::Begin => write!(line, "begin"),
        Op::End => write!(line, "end"),
        Op::Branch => write!(line, "branch"),
        Op::SemInit { sem, permits } => write!(line, "sem({},{permits})", names.sems.name(sem)),
        Op::SemWait(sem) => write!(line, "p({})", names.sems.name(sem)),
        Op::SemPost(sem) => write!(line, "v({})", names.sems.name(sem)),
        Op::Wait { cond, lock: l } => write!(line, "wait({},{})", names.conds.name(cond), lock(l)),
        Op::Woken { cond, lock: l } => write!(line, "woken({},{})", names.conds.name(cond), lock(l)),
        Op::WaitTimeout { cond, lock: l } => write!(line, "timeout({},{})", names.conds.name(cond), lock(l)),
        Op::Notify(cond) => write!(line, "notify({})", names.conds.name(cond)),
        Op::NotifyAll(cond) => write!(line, "notifyall({})", names.conds.name(cond)),
        Op::Arrive(barrier) => write!(line, "arrive({})", names.barriers.name(barrier)),
        Op::Depart(barrier) => write!(line, "depart({})", names.barriers.name(barrier)),
        Op::Alloc(x) => write!(line, "alloc({})", var(x)),
        Op::Free(x) => write!(line, "free({})", var(x)),
        Op::Enter(label) => write!(line, "enter({})", names.labels.name(label)),
        Op::Exit(label) => write!(line, "exit({})", names.labels.name(label)),
        Op::Dummy(label) => write!(line, "dummy({})", names.labels.name(label)),
    };
}
