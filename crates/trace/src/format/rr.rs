//! RoadRunner's text as RAPID reads it: `@     Rd(1,x)  Status  File.java:12:3`.
//!
//! After `@` and blanks come an operation, its thread and its target, which holds no blanks but may hold any brackets,
//! then optionally a word that is not looked at, then optionally a location. Without one, the location is the number of
//! the line. Empty lines and lines that begin with `#` are skipped.
//!
//! | operation | meaning |
//! |---|---|
//! | `Acquire` `Release` | exclusive lock |
//! | `Rd` `Wr` `ARd` `AWr` | plain read and write of a field, or of an element of an array |
//! | `VRd` `VWr` | read and write of a volatile field: sequentially consistent and atomic |
//! | `Start` `Join` | thread start and wait for its end; the target is the other thread |
//! | `Enter` `Exit` | method calls |
//! | `Dummy` | no meaning |

use std::io::{Read, Write};

use memchr::memchr;

use crate::error::TraceError;
use crate::event::{Event, MemOrder, Op};
use crate::format::lines::{Lines, Problem, line_loc};
use crate::format::text::op_text;
use crate::format::write::bare_variable;
use crate::id::VarId;
use crate::name::{NameError, Names};
use crate::ops;
use crate::source::{BATCH, Batch, Source};
use crate::symbol::Value;

const OPERATIONS: &str = "an operation: Acquire Release Rd ARd VRd Wr AWr VWr Start Join Enter Exit Dummy, each with `(thread,target)`";

/// Reads RoadRunner's text.
pub struct RoadRunnerReader {
    lines: Lines,
    names: Names,
}

impl RoadRunnerReader {
    /// Reads from `input`, which need not be buffered.
    pub fn new(input: Box<dyn Read>) -> RoadRunnerReader {
        RoadRunnerReader { lines: Lines::new(input), names: Names::default() }
    }
}

impl Source for RoadRunnerReader {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        let names = &mut self.names;
        let mut parse = |line: &[u8], number| parse_event(line, number, names);
        while batch.events.len() < BATCH && self.lines.next_event(batch, &mut parse)? {}
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }
}

fn parse_event(line: &[u8], number: u32, names: &mut Names) -> Result<Event, Problem> {
    if line[0] != b'@' {
        return Err(Problem::expected(0, "`@` at the beginning of the line"));
    }
    let (begin, end) = word(line, 1);
    let (_, status_end) = word(line, end);
    let (loc_begin, loc_end) = word(line, status_end);
    let rest = word(line, loc_end).0;
    if rest < line.len() {
        return Err(Problem::expected(rest, "the end of the line after the location"));
    }
    let step = parse_operation(line, begin, end)?;
    let thread = names.threads.intern(step.thread.1).map_err(|error| Problem::Name(step.thread.0, error))?;
    let op = parse_op(step, names)?;
    let loc = if loc_begin < loc_end {
        names.loc(&line[loc_begin..loc_end]).map_err(|error| Problem::Name(loc_begin, error))?
    } else {
        line_loc(number, names)?
    };
    Ok(Event::new(thread, op, loc))
}

/// Where the next word begins and ends.
fn word(line: &[u8], from: usize) -> (usize, usize) {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = from + line[from..].iter().take_while(|byte| blank(byte)).count();
    let end = begin + line[begin..].iter().take_while(|byte| !blank(byte)).count();
    (begin, end)
}

/// `name(thread,target)`; each piece with where it begins.
#[derive(Clone, Copy)]
struct Operation<'a> {
    name: (usize, &'a [u8]),
    thread: (usize, &'a [u8]),
    target: (usize, &'a [u8]),
}

fn parse_operation(line: &[u8], begin: usize, end: usize) -> Result<Operation<'_>, Problem> {
    let text = &line[begin..end];
    let Some(open) = memchr(b'(', text) else {
        return Err(Problem::expected(begin, OPERATIONS));
    };
    let Some(inside) = text[open + 1..].strip_suffix(b")") else {
        return Err(Problem::expected(end, "`)` after the target"));
    };
    let thread_begin = begin + open + 1;
    let Some(comma) = memchr(b',', inside) else {
        return Err(Problem::expected(end - 1, "`,` and a target"));
    };
    let (thread, target) = (&inside[..comma], &inside[comma + 1..]);
    let target_begin = thread_begin + comma + 1;
    if thread.is_empty() {
        return Err(Problem::expected(thread_begin, "the name of a thread"));
    }
    if target.is_empty() {
        return Err(Problem::expected(target_begin, "the name of a target"));
    }
    Ok(Operation {
        name: (begin, &text[..open]),
        thread: (thread_begin, thread),
        target: (target_begin, target),
    })
}

fn parse_op(step: Operation<'_>, names: &mut Names) -> Result<Op, Problem> {
    let (at, target) = step.target;
    match operation(step.name.1, target, names) {
        Ok(Some(op)) => Ok(op),
        Ok(None) => Err(Problem::expected(step.name.0, OPERATIONS)),
        Err(error) => Err(Problem::Name(at, error)),
    }
}

fn operation(name: &[u8], target: &[u8], names: &mut Names) -> Result<Option<Op>, NameError> {
    let order = MemOrder::SeqCst;
    Ok(Some(match name {
        b"Acquire" => Op::Acquire(names.locks.intern(target)?),
        b"Release" => Op::Release(names.locks.intern(target)?),
        b"Rd" | b"ARd" => Op::Read { var: names.vars.intern(target)?, value: None },
        b"Wr" | b"AWr" => Op::Write { var: names.vars.intern(target)?, value: None },
        b"VRd" => Op::Load { var: names.vars.intern(target)?, value: None, order },
        b"VWr" => Op::Store { var: names.vars.intern(target)?, value: None, order },
        b"Start" => Op::Fork(names.threads.intern(target)?),
        b"Join" => Op::Join(names.threads.intern(target)?),
        b"Enter" => Op::Enter(names.labels.intern(target)?),
        b"Exit" => Op::Exit(names.labels.intern(target)?),
        b"Dummy" => Op::Dummy(names.labels.intern(target)?),
        _ => return Ok(None),
    }))
}

/// Writes RoadRunner's text.
///
/// Refuses what would be lost, unless lossy: then values are dropped, and locations that are no single word.
/// An operation that the format does not have is always refused.
pub struct RoadRunnerWriter<W> {
    output: W,
    lossy: bool,
    events: u64,
}

impl<W: Write> RoadRunnerWriter<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W, lossy: bool) -> RoadRunnerWriter<W> {
        RoadRunnerWriter { output, lossy, events: 0 }
    }

    /// Writes one event.
    pub fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        match self.compose(event, names) {
            Ok(line) => self.output.write_all(line.as_bytes())?,
            Err(what) => return Err(TraceError::not_expressible(self.events, "rr", what)),
        }
        self.events += 1;
        Ok(())
    }

    /// The output, with everything written to it.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn compose(&self, event: &Event, names: &Names) -> Result<String, String> {
        let thread = names.threads.name(event.thread);
        if single_word(thread).is_err() || thread.contains(',') {
            return Err(format!("a thread named {thread:?}"));
        }
        let (operation, target) = self.operation(event.op, names)?;
        let target = single_word(target)?;
        let loc = names.loc_text(event.loc);
        match single_word(&loc) {
            Ok(loc) => Ok(format!("@     {operation}({thread},{target})  -  {loc}\n")),
            Err(_) if self.lossy => Ok(format!("@     {operation}({thread},{target})\n")),
            Err(_) => Err(format!("the location {loc:?}")),
        }
    }

    fn operation<'n>(&self, op: Op, names: &'n Names) -> Result<(&'static str, &'n str), String> {
        match op {
            Op::Acquire(lock) | Op::AcquireAgain(lock) => Ok(("Acquire", names.locks.name(lock))),
            Op::TryAcquire(lock) if self.lossy => Ok(("Acquire", names.locks.name(lock))),
            Op::Release(lock) | Op::ReleaseAgain(lock) => Ok(("Release", names.locks.name(lock))),
            Op::Read { var, value } => self.access("Rd", var, value, names),
            Op::Write { var, value } => self.access("Wr", var, value, names),
            Op::Load { var, value, order: MemOrder::SeqCst } => self.access("VRd", var, value, names),
            Op::Store { var, value, order: MemOrder::SeqCst } => self.access("VWr", var, value, names),
            Op::Fork(child) => Ok(("Start", names.threads.name(child))),
            Op::Join(child) => Ok(("Join", names.threads.name(child))),
            Op::Enter(label) => Ok(("Enter", names.labels.name(label))),
            Op::Exit(label) => Ok(("Exit", names.labels.name(label))),
            Op::Dummy(label) => Ok(("Dummy", names.labels.name(label))),
            Op::TryAcquire(_)
            | ops!(atomics | shared | attempts | semaphores | conditions | barriers)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Alloc(_)
            | Op::Free(_) => Err(format!("`{}`", op_text(op, names))),
        }
    }

    fn access<'n>(
        &self,
        operation: &'static str,
        var: VarId,
        value: Option<Value>,
        names: &'n Names,
    ) -> Result<(&'static str, &'n str), String> {
        Ok((operation, bare_variable(var, value, self.lossy, names)?))
    }
}

/// A text that reads back as itself where blanks separate.
fn single_word(text: &str) -> Result<&str, String> {
    if text.is_empty() || text.contains([' ', '\t', '\n']) || text.ends_with('\r') {
        return Err(format!("the name {text:?}"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::{TextReader, TextWriter};
    use crate::source::copy;

    fn as_text(rr: &'static str) -> Result<String, TraceError> {
        let mut writer = TextWriter::new(Vec::new());
        copy(RoadRunnerReader::new(Box::new(rr.as_bytes())), |event, names| writer.write(event, names))?;
        Ok(String::from_utf8(writer.into_inner()).unwrap())
    }

    fn from_text(text: &'static str, lossy: bool) -> Result<String, TraceError> {
        let mut writer = RoadRunnerWriter::new(Vec::new(), lossy);
        copy(TextReader::new(Box::new(text.as_bytes())), |event, names| writer.write(event, names))?;
        Ok(String::from_utf8(writer.into_inner()).unwrap())
    }

    const ALL: &str = "# RoadRunner\n\
        @     Start(0,1)                  Normal   Test.java:1:2\n\
        @     Enter(1,test/Deadlock.doSomething()V)\n\
        @  Acquire(1,@01)  Normal\n\
        @\tRd(1,@05.x_I)\tNormal\tTest.java:3:4\n\
        @ ARd(1,@05[13])\n\
        @ VRd(1,v)\n\
        @ Wr(1,x)\n\
        @ AWr(1,x)\n\
        @ VWr(1,v)\n\
        @ Release(1,@01)\n\
        @ Exit(1,m)\n\
        @ Dummy(1,d)  \n\
        @ Join(0,1)\n";

    const ALL_AS_TEXT: &str = "0|fork(1)|Test.java:1:2\n1|enter(test/Deadlock.doSomething()V)|3\n\
        1|acq(@01)|4\n1|r(@05.x_I)|Test.java:3:4\n1|r(@05[13])|6\n1|aload(v)|7\n1|w(x)|8\n1|w(x)|9\n\
        1|astore(v)|10\n1|rel(@01)|11\n1|exit(m)|12\n1|dummy(d)|13\n0|join(1)|14\n";

    #[test]
    fn every_operation_is_read() {
        assert_eq!(as_text(ALL).unwrap(), ALL_AS_TEXT);
    }

    #[test]
    fn what_is_written_reads_back() {
        let written: &'static str = from_text(ALL_AS_TEXT, false).unwrap().leak();
        assert_eq!(as_text(written).unwrap(), ALL_AS_TEXT);
    }

    #[test]
    fn errors_tell_line_and_column() {
        for (rr, at, expected) in [
            ("Rd(1,x)\n", "1:1", "`@`"),
            ("\n@ Rdd(1,x)\n", "2:3", "an operation"),
            ("@\n", "1:2", "an operation"),
            ("@ Rd(1,x\n", "1:9", "`)` after the target"),
            ("@ Rd(1)\n", "1:7", "`,` and a target"),
            ("@ Rd(,x)\n", "1:6", "the name of a thread"),
            ("@ Rd(1,)\n", "1:8", "the name of a target"),
            ("@ Rd(1,x) a b c\n", "1:15", "the end of the line"),
        ] {
            let error = as_text(rr).unwrap_err();
            assert_eq!(error.position().unwrap().to_string(), at, "{rr}");
            assert!(error.to_string().starts_with(&format!("expected {expected}")), "{error}");
        }
    }

    #[test]
    fn what_the_format_lacks_is_refused_or_dropped_if_asked_to() {
        for text in ["1|r(x,5)|1\n", "1|r(x)|a b\n"] {
            assert!(matches!(from_text(text, false), Err(TraceError::NotExpressible { .. })), "{text}");
            assert!(from_text(text, true).is_ok(), "{text}");
        }
        for text in ["1|branch|1\n", "1|aload.rlx(x)|1\n", "1|rmw(x)|1\n", "a b|r(x)|1\n", "1|r(x y)|1\n"] {
            assert!(matches!(from_text(text, true), Err(TraceError::NotExpressible { .. })), "{text}");
        }
    }
}
