//! The log that a recorded program leaves: pieces that are appended as a whole.
//!
//! ```text
//! log   = magic (8 bytes), piece*
//! piece = kind (u8), length of the content (u32, little-endian), content
//! ```
//!
//! Pieces are written one at a time. Whatever kills the program, the log is right up to its last complete piece; a log
//! without [`Piece::End`] was cut short.

use crate::Malformed;

/// How every log begins; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"ftrawlg\x01";

/// The length of what stands before a piece's content.
pub const HEADER: usize = 5;

const RECORDS: u8 = 1;
const MODULE: u8 = 2;
const END: u8 = 3;

/// A part of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Records, see [`crate::record`]; their context begins anew.
    Records(&'a [u8]),
    /// A module was loaded, see [`module`].
    Module(&'a [u8]),
    /// The program has ended, and everything that it did is here.
    End,
}

impl Piece<'_> {
    /// What stands before the content.
    pub fn header(&self) -> Result<[u8; HEADER], Malformed> {
        let (kind, length) = match self {
            Piece::Records(content) => (RECORDS, content.len()),
            Piece::Module(content) => (MODULE, content.len()),
            Piece::End => (END, 0),
        };
        let [a, b, c, d] = u32::try_from(length).map_err(|_| Malformed)?.to_le_bytes();
        Ok([kind, a, b, c, d])
    }
}

/// The pieces of a log, up to the end or to where it was cut short.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
    complete: bool,
}

impl<'a> Pieces<'a> {
    /// The pieces of this log.
    pub fn new(log: &'a [u8]) -> Result<Pieces<'a>, Malformed> {
        let rest = log.strip_prefix(&MAGIC).ok_or(Malformed)?;
        Ok(Pieces { rest, complete: false })
    }

    /// The next piece, if there is a complete one.
    pub fn next_piece(&mut self) -> Result<Option<Piece<'a>>, Malformed> {
        let Some((header, rest)) = self.rest.split_first_chunk::<HEADER>() else { return Ok(None) };
        let [kind, a, b, c, d] = *header;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).map_err(|_| Malformed)?;
        let Some((content, rest)) = rest.split_at_checked(length) else { return Ok(None) };
        self.rest = rest;
        match kind {
            RECORDS => Ok(Some(Piece::Records(content))),
            MODULE => Ok(Some(Piece::Module(content))),
            END => {
                self.complete = true;
                Ok(Some(Piece::End))
            }
            _ => Err(Malformed),
        }
    }

    /// Whether the end of the program has been seen.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// What a module tells when it is loaded.
pub mod module {
    use crate::Malformed;
    use crate::varint::{push, take};

    /// A module in the memory of the program.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Module<'a> {
        /// Where its site table begins.
        pub address: u64,
        /// The site table, see [`crate::site`].
        pub table: &'a [u8],
        /// The addresses of its variables, in the order of the table.
        pub globals: Vec<u64>,
    }

    impl<'a> Module<'a> {
        /// The content of the piece.
        pub fn encode(&self) -> Vec<u8> {
            let mut out = Vec::new();
            push(self.address, &mut out);
            push(self.globals.len() as u64, &mut out);
            for &global in &self.globals {
                push(global, &mut out);
            }
            out.extend_from_slice(self.table);
            out
        }

        /// The module behind the content.
        pub fn decode(mut content: &'a [u8]) -> Result<Module<'a>, Malformed> {
            let address = take(&mut content)?;
            let count = take(&mut content)?;
            let globals = (0..count).map(|_| take(&mut content)).collect::<Result<_, _>>()?;
            Ok(Module { address, table: content, globals })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::module::Module;
    use super::*;

    fn log(pieces: &[Piece<'_>]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for piece in pieces {
            out.extend_from_slice(&piece.header().unwrap());
            if let Piece::Records(content) | Piece::Module(content) = piece {
                out.extend_from_slice(content);
            }
        }
        out
    }

    #[test]
    fn a_log_is_read_up_to_where_it_was_cut() {
        let written = [Piece::Module(b"m"), Piece::Records(b"some records"), Piece::End];
        let bytes = log(&written);
        for length in MAGIC.len()..=bytes.len() {
            let mut pieces = Pieces::new(&bytes[..length]).unwrap();
            let mut read = Vec::new();
            while let Some(piece) = pieces.next_piece().unwrap() {
                read.push(piece);
            }
            assert_eq!(read, written[..read.len()]);
            assert_eq!(pieces.is_complete(), length == bytes.len());
        }
        assert!(Pieces::new(b"something else").is_err());
    }

    #[test]
    fn modules_come_back() {
        let module = Module { address: 0x5555_5555_0000, table: b"table", globals: vec![1, 1 << 40] };
        assert_eq!(Module::decode(&module.encode()), Ok(module));
    }
}
