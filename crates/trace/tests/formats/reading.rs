//! What the integration tests share: traces as lines of text, whatever format they came in.

use std::io::{self, Read};

use foretell_trace::check::Checker;
use foretell_trace::format::text::op_text;
use foretell_trace::format::{Compression, Format, open, writer};
use foretell_trace::{Batch, Ending, Source, TraceError};

/// A trace as it was read, each event spelt in the text format, with the generation of its variable.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    pub(crate) events: Vec<String>,
    pub(crate) ending: Ending,
}

pub(crate) fn read(input: impl Read + 'static, hint: Option<Format>) -> Result<Reading, TraceError> {
    drain(open(Box::new(input), hint)?)
}

pub(crate) fn read_bytes(bytes: &[u8], hint: Option<Format>) -> Result<Reading, TraceError> {
    read(io::Cursor::new(bytes.to_vec()), hint)
}

pub(crate) fn drain(mut source: Box<dyn Source>) -> Result<Reading, TraceError> {
    let (mut batch, mut events) = (Batch::default(), Vec::new());
    while source.fill(&mut batch)? {
        let names = source.names();
        for event in &batch.events {
            let generation = event.op.access().map_or(0, |access| names.vars.generation(access.var));
            events.push(format!(
                "{}|{}|{}#{generation}",
                names.threads.name(event.thread),
                op_text(event.op, names),
                names.loc_text(event.loc)
            ));
        }
    }
    Ok(Reading { events, ending: source.ending() })
}

/// Reads to the end with all checks, as every tool does.
pub(crate) fn check(bytes: &[u8], hint: Option<Format>) -> Result<usize, TraceError> {
    let mut source = open(Box::new(io::Cursor::new(bytes.to_vec())), hint)?;
    let (mut checker, mut batch) = (Checker::default(), Batch::default());
    while source.fill(&mut batch)? {
        checker.check_batch(&mut batch, source.names())?;
    }
    checker.finish(source.ending())?;
    Ok(checker.event_count())
}

/// Converts any input to `format`.
pub(crate) fn convert(bytes: &[u8], format: Format, compression: Compression) -> Result<Vec<u8>, TraceError> {
    let mut source = open(Box::new(io::Cursor::new(bytes.to_vec())), None)?;
    let output = Shared::default();
    let compressed = compression.writer(Box::new(output.clone()))?;
    let mut writer = writer(format, compressed, false)?;
    let mut batch = Batch::default();
    while source.fill(&mut batch)? {
        for event in &batch.events {
            writer.write(event, source.names())?;
        }
    }
    let dependence = source.dependence()?;
    if let Some(dependence) = &dependence {
        writer.write_dependence(dependence)?;
    }
    if let Some(values) = source.values()? {
        writer.write_values(&values, dependence.as_ref(), source.names())?;
    }
    writer.finish(Ending::Complete)?;
    Ok(output.bytes())
}

/// An output that can be looked at after it was given away.
#[derive(Clone, Default)]
pub(crate) struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl Shared {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands out one byte at a time.
pub(crate) struct Drip(pub(crate) io::Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}
