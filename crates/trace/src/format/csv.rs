//! RAPID's CSV format: one event a line, a column for each thread.
//!
//! Column i, counted from 0, is the thread `Ti`. Exactly one cell of a line is not empty and holds one of `acq(l)`
//! `rel(l)` `r(x)` `w(x)` `start(T1)` `join(T1)` `enter(m)` `exit(m)` `dummy(m)` and `sync(x)`, an atomic update of
//! `x`; `fork(T1)` reads as `start(T1)`. Lines may have different numbers of cells. Empty lines and lines that begin
//! with `#` are skipped. The location of an event is the number of its line.

use std::io::{Read, Write};

use memchr::memchr;

use crate::error::TraceError;
use crate::event::{Event, MemOrder, Op};
use crate::format::lines::{Lines, Problem, line_loc};
use crate::format::text::OpText;
use crate::format::write::bare_variable;
use crate::id::{ThreadId, VarId};
use crate::name::{NameError, Names};
use crate::ops;
use crate::source::{BATCH, Batch, Source};
use crate::symbol::{Symbol, Value};

const OPERATIONS: &str = "an operation: acq rel r w start join enter exit dummy sync";

/// The most columns that are written: beyond this a line would be mostly commas.
const COLUMNS: usize = 1 << 16;

/// Reads RAPID's CSV.
pub struct CsvReader {
    lines: Lines,
    names: Names,
    /// The thread of each column that had an event.
    columns: Vec<Option<ThreadId>>,
}

impl CsvReader {
    /// Reads from `input`, which need not be buffered.
    pub fn new(input: Box<dyn Read>) -> CsvReader {
        CsvReader { lines: Lines::new(input), names: Names::default(), columns: Vec::new() }
    }
}

impl Source for CsvReader {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        let (columns, names) = (&mut self.columns, &mut self.names);
        let mut parse = |line: &[u8], number| parse_event(line, number, columns, names);
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

fn parse_event(
    line: &[u8],
    number: u32,
    columns: &mut Vec<Option<ThreadId>>,
    names: &mut Names,
) -> Result<Event, Problem> {
    let cell = find_cell(line)?;
    let thread = thread_of(cell.column, columns, names).map_err(|error| Problem::Name(cell.begin, error))?;
    let op = parse_op(line, cell, names)?;
    Ok(Event::new(thread, op, line_loc(number, names)?))
}

/// A cell without the blanks around it.
#[derive(Clone, Copy)]
struct Cell {
    column: usize,
    begin: usize,
    end: usize,
}

/// The only cell of the line that is not empty.
fn find_cell(line: &[u8]) -> Result<Cell, Problem> {
    let mut found: Option<Cell> = None;
    let mut begin = 0;
    for (column, cell) in line.split(|&byte| byte == b',').enumerate() {
        let text = cell.trim_ascii_start();
        let start = begin + cell.len() - text.len();
        let end = start + text.trim_ascii_end().len();
        begin += cell.len() + 1;
        if start == end {
            continue;
        }
        if found.is_some() {
            return Err(Problem::expected(start, "one event in a line"));
        }
        found = Some(Cell { column, begin: start, end });
    }
    found.ok_or_else(|| Problem::expected(line.len(), "a cell that is not empty"))
}

fn thread_of(
    column: usize,
    columns: &mut Vec<Option<ThreadId>>,
    names: &mut Names,
) -> Result<ThreadId, NameError> {
    if let Some(&Some(thread)) = columns.get(column) {
        return Ok(thread);
    }
    let thread = names.threads.intern(format!("T{column}").as_bytes())?;
    if columns.len() <= column {
        columns.resize(column + 1, None);
    }
    columns[column] = Some(thread);
    Ok(thread)
}

/// The spelling is that of the text format, which has more operations than this one.
fn parse_op(line: &[u8], cell: Cell, names: &mut Names) -> Result<Op, Problem> {
    let text = &line[cell.begin..cell.end];
    let name = &text[..memchr(b'(', text).unwrap_or(0)];
    let op = OpText { line, begin: cell.begin, end: cell.end };
    match name {
        b"start" => op.parse_as(b"fork", names),
        b"acq" | b"rel" | b"r" | b"w" | b"fork" | b"join" | b"enter" | b"exit" | b"dummy" | b"sync" => {
            op.parse_as(name, names)
        }
        _ => Err(Problem::expected(cell.begin, OPERATIONS)),
    }
}

/// Writes RAPID's CSV.
///
/// Refuses what would be lost, unless lossy: then values and locations are dropped and threads are numbered.
/// An operation that the format does not have is always refused.
pub struct CsvWriter<W> {
    output: W,
    line: String,
    lossy: bool,
    events: u64,
}

impl<W: Write> CsvWriter<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W, lossy: bool) -> CsvWriter<W> {
        CsvWriter { output, line: String::new(), lossy, events: 0 }
    }

    /// Writes one event.
    pub fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        self.line.clear();
        if let Err(what) = self.compose(event, names) {
            return Err(TraceError::not_expressible(self.events, "csv", what));
        }
        self.output.write_all(self.line.as_bytes())?;
        self.events += 1;
        Ok(())
    }

    /// The output, with everything written to it.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn compose(&mut self, event: &Event, names: &Names) -> Result<(), String> {
        let line = u32::try_from(self.events + 1).ok().and_then(Symbol::number);
        if !self.lossy && Some(event.loc.0) != line {
            return Err(format!("the location {}, which is not its line", names.loc_text(event.loc)));
        }
        for _ in 0..self.column(event.thread, names)? {
            self.line.push(',');
        }
        let (operation, target) = self.operation(event.op, names)?;
        self.line.push_str(operation);
        self.line.push('(');
        self.line.push_str(&target);
        self.line.push_str(")\n");
        Ok(())
    }

    fn column(&self, thread: ThreadId, names: &Names) -> Result<usize, String> {
        let name = names.threads.name(thread);
        let number = if self.lossy { Some(thread.index()) } else { number_of(name) };
        match number {
            Some(column) if column < COLUMNS => Ok(column),
            Some(_) => Err(format!("more than {COLUMNS} threads")),
            None => Err(format!("a thread named `{name}`; its threads are T0, T1 and so on")),
        }
    }

    fn operation(&self, op: Op, names: &Names) -> Result<(&'static str, String), String> {
        let lock = |operation, lock| Ok((operation, cell_name(names.locks.name(lock))?));
        let label = |operation, label| Ok((operation, cell_name(names.labels.name(label))?));
        let child = |operation, child| Ok((operation, format!("T{}", self.column(child, names)?)));
        match op {
            Op::Acquire(id) | Op::AcquireAgain(id) => lock("acq", id),
            Op::TryAcquire(id) if self.lossy => lock("acq", id),
            Op::Release(id) | Op::ReleaseAgain(id) => lock("rel", id),
            Op::Read { var, value } => self.access("r", var, value, names),
            Op::Write { var, value } => self.access("w", var, value, names),
            Op::Rmw { var, read, written, order: MemOrder::SeqCst } => {
                self.access("sync", var, read.or(written), names)
            }
            Op::Fork(id) => child("start", id),
            Op::Join(id) => child("join", id),
            Op::Enter(id) => label("enter", id),
            Op::Exit(id) => label("exit", id),
            Op::Dummy(id) => label("dummy", id),
            Op::TryAcquire(_)
            | ops!(atomics | shared | attempts | semaphores | conditions | barriers)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Alloc(_)
            | Op::Free(_) => Err(format!("`{}`", crate::format::text::op_text(op, names))),
        }
    }

    fn access(
        &self,
        operation: &'static str,
        var: VarId,
        value: Option<Value>,
        names: &Names,
    ) -> Result<(&'static str, String), String> {
        Ok((operation, cell_name(bare_variable(var, value, self.lossy, names)?)?))
    }
}

/// The n of `Tn`, spelt without needless zeros.
fn number_of(name: &str) -> Option<usize> {
    let number: usize = name.strip_prefix('T')?.parse().ok()?;
    (name == format!("T{number}")).then_some(number)
}

/// A name that reads back as itself from within a cell.
fn cell_name(name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains([',', '\n']) {
        return Err(format!("the name {name:?}"));
    }
    Ok(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::{TextReader, TextWriter};
    use crate::source::copy;

    fn as_text(csv: &'static str) -> Result<String, TraceError> {
        let mut writer = TextWriter::new(Vec::new());
        copy(CsvReader::new(Box::new(csv.as_bytes())), |event, names| writer.write(event, names))?;
        Ok(String::from_utf8(writer.into_inner()).unwrap())
    }

    fn from_text(text: &'static str, lossy: bool) -> Result<String, TraceError> {
        let mut writer = CsvWriter::new(Vec::new(), lossy);
        copy(TextReader::new(Box::new(text.as_bytes())), |event, names| writer.write(event, names))?;
        Ok(String::from_utf8(writer.into_inner()).unwrap())
    }

    #[test]
    fn columns_are_threads_and_lines_are_locations() {
        let text = as_text("# a comment\nstart(T1),,\n, acq(l) \n\n,,fork(T7)\nsync(x)\n").unwrap();
        assert_eq!(text, "T0|fork(T1)|2\nT1|acq(l)|3\nT2|fork(T7)|5\nT0|rmw(x)|6\n");
    }

    #[test]
    fn what_is_written_reads_back() {
        let csv =
            "start(T1)\n,acq(l)\n,r(x)\n,w(x)\n,rel(l)\njoin(T1)\nenter(m)\nexit(m)\ndummy(d)\nsync(x)\n";
        let text: &'static str = as_text(csv).unwrap().leak();
        assert_eq!(from_text(text, false).unwrap(), csv);
    }

    #[test]
    fn errors_tell_line_and_column() {
        for (csv, at, expected) in [
            ("r(x)\nr(x),w(x)\n", "2:6", "one event in a line"),
            (",,\n", "1:3", "a cell that is not empty"),
            (",branch\n", "1:2", OPERATIONS),
            ("aload(x)\n", "1:1", OPERATIONS),
            ("r(x\n", "1:4", "`)` at the end of the operation"),
            ("r()\n", "1:3", "the name of a variable"),
        ] {
            let error = as_text(csv).unwrap_err();
            assert_eq!(error.position().unwrap().to_string(), at, "{csv}");
            assert!(error.to_string().starts_with(&format!("expected {expected}")), "{error}");
        }
    }

    #[test]
    fn what_csv_lacks_is_refused_or_dropped_if_asked_to() {
        for text in ["T0|r(x,5)|1\n", "T0|r(x)|7\n", "main|r(x)|1\n", "T00|r(x)|1\n", "T0|rmw(x,1,2)|1\n"] {
            assert!(matches!(from_text(text, false), Err(TraceError::NotExpressible { .. })), "{text}");
        }
        assert_eq!(from_text("T0|r(x,5)|1\nmain|fork(b)|9\n", true).unwrap(), "r(x)\n,start(T2)\n");
        assert!(matches!(from_text("T0|try(l)|1\n", false), Err(TraceError::NotExpressible { .. })));
        assert_eq!(from_text("T0|try(l)|1\n", true).unwrap(), "acq(l)\n");
        for text in
            ["T0|branch|1\n", "T0|aload(x)|1\n", "T0|rmw.rlx(x)|1\n", "T0|begin|1\n", "T65536|r(x)|1\n"]
        {
            assert!(matches!(from_text(text, false), Err(TraceError::NotExpressible { .. })), "{text}");
        }
        assert!(from_text("T0|branch|1\n", true).is_err());
    }
}
