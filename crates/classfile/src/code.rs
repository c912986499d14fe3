//! The code of a method.

use crate::Error;
use crate::bytes::{Reader, count, put_counted, put2};
use crate::class::{Attribute, read_attributes, write_attributes};
use crate::opcode;

/// No method has more code.
pub const LONGEST: usize = 65_535;

/// An exception handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Where the code begins that it is for.
    pub start: u16,
    /// Where that ends.
    pub end: u16,
    /// Where it is.
    pub at: u16,
    /// The index of the class that it catches; 0 for everything.
    pub catches: u16,
}

/// The code of a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// How many places the stack needs.
    pub max_stack: u16,
    /// How many local variables there are, in places.
    pub max_locals: u16,
    /// The instructions.
    pub bytes: Vec<u8>,
    /// The exception handlers.
    pub handlers: Vec<Handler>,
    /// Tables that describe the code.
    pub attributes: Vec<Attribute>,
}

impl Code {
    /// Reads the content of the attribute `Code`.
    pub fn read(content: &[u8]) -> Result<Code, Error> {
        let mut from = Reader::new(content);
        let (max_stack, max_locals) = (from.u2()?, from.u2()?);
        let bytes = from.counted()?.to_vec();
        let handler = |from: &mut Reader<'_>| {
            Ok(Handler { start: from.u2()?, end: from.u2()?, at: from.u2()?, catches: from.u2()? })
        };
        let handlers = (0..from.u2()?).map(|_| handler(&mut from)).collect::<Result<_, _>>()?;
        let attributes = read_attributes(&mut from)?;
        Ok(Code { max_stack, max_locals, bytes, handlers, attributes })
    }

    /// Writes it.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        if self.bytes.len() > LONGEST {
            return Err(Error::TooLarge("the code of a method"));
        }
        let mut out = Vec::new();
        put2(self.max_stack, &mut out);
        put2(self.max_locals, &mut out);
        put_counted(&self.bytes, &mut out)?;
        put2(count(self.handlers.len(), "the list of handlers")?, &mut out);
        for handler in &self.handlers {
            for number in [handler.start, handler.end, handler.at, handler.catches] {
                put2(number, &mut out);
            }
        }
        write_attributes(&self.attributes, &mut out)?;
        Ok(out)
    }

    /// Where its instructions begin.
    pub fn instructions(&self) -> Result<Vec<usize>, Error> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.bytes.len() {
            found.push(at);
            at += opcode::length(&self.bytes, at)?;
        }
        Ok(found)
    }
}
