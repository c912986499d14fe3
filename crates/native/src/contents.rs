//! What static memory held when the program started its first thread.
//!
//! The first read of most variables shows their initial value. But if the first access is a write, the value that a
//! read would have seen before it is unknown. So the runtime copies static memory while there is one thread
//! (`runtime/src/statics.rs`), which includes all that loaders, constructors and uninstrumented code have written by
//! then.

use std::collections::BTreeMap;

use foretell_wire::log::memory::ByteRun;
use foretell_wire::log::{ChunkContent, Chunks};

use crate::LogError;
use crate::merge::Passing;

/// Bytes by their addresses, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Contents<'a> {
    runs: BTreeMap<u64, ByteRun<'a>>,
}

impl<'a> Contents<'a> {
    /// The content by the log.
    pub(crate) fn read(log: &'a [u8], may_continue: &dyn Fn() -> bool) -> Result<Contents<'a>, LogError> {
        let (mut chunks, mut contents) = (Chunks::new(log)?, Contents::default());
        if chunks.border.is_some() {
            // What has changed it since was dropped.
            return Ok(contents);
        }
        let mut passing = Passing::new(may_continue);
        while let Some(chunk) = chunks.next_chunk()? {
            passing.chunk();
            if let ChunkContent::Memory(mut content) = chunk.content {
                // An earlier attempt to start a thread may have failed; its copy is outdated.
                contents.runs.clear();
                while let Some(run) = ByteRun::take(&mut content)? {
                    contents.runs.insert(run.address, run);
                }
            }
        }
        Ok(contents)
    }

    /// The number that up to eight bytes from this address on were, the lowest first.
    pub(crate) fn number(&self, address: u64, length: u32) -> Option<u64> {
        let bytes = (0..u64::from(length.min(8))).rev().map(|offset| self.byte(address.checked_add(offset)?));
        bytes.into_iter().try_fold(0, |number, byte| Some(number << 8 | u64::from(byte?)))
    }

    fn byte(&self, address: u64) -> Option<u8> {
        let (&start, run) = self.runs.range(..=address).next_back()?;
        let offset = Some(address - start).filter(|&offset| offset < run.length)?;
        match run.bytes {
            Some(bytes) => bytes.get(usize::try_from(offset).ok()?).copied(),
            None => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_wire::log::{Chunk, MAGIC, PAGE};

    use super::*;

    /// A log with nothing but such chunks.
    fn log(chunks: &[&[ByteRun<'_>]]) -> Vec<u8> {
        let mut log = MAGIC.to_vec();
        log.resize(PAGE, 0);
        for runs in chunks {
            let (start, mut content, mut used) = (log.len(), [0; 500], 0);
            for run in *runs {
                used += run.encode(&mut content[used..]).unwrap();
            }
            let chunk = Chunk { thread: 0, clock: 1, content: ChunkContent::Memory(&content[..used]) };
            log.extend_from_slice(&chunk.header(PAGE).unwrap());
            log.extend_from_slice(&content[..used]);
            log.resize(start + PAGE, 0);
        }
        log
    }

    #[test]
    fn numbers_are_known_as_far_as_their_bytes_are() {
        let runs = [
            ByteRun { address: 0x100, length: 0x40, bytes: None },
            ByteRun { address: 0x140, length: 6, bytes: Some(&[1, 2, 3, 4, 5, 6]) },
        ];
        let log = log(&[&runs]);
        let contents = Contents::read(&log, &|| true).unwrap();
        let told = [(0x100, 8), (0x13E, 4), (0x140, 4), (0x144, 2), (0x144, 4), (0xFF, 2), (u64::MAX, 2)];
        let told = told.map(|(address, length)| contents.number(address, length));
        let expected = [Some(0), Some(0x0201_0000), Some(0x0403_0201), Some(0x0605), None, None, None];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_last_attempt_counts() {
        let old =
            [ByteRun { address: 8, length: 8, bytes: None }, ByteRun { address: 64, length: 8, bytes: None }];
        let new = [ByteRun { address: 8, length: 1, bytes: Some(&[7]) }];
        let log = log(&[&old, &new]);
        let contents = Contents::read(&log, &|| true).unwrap();
        assert_eq!(
            [(8, 1), (9, 1), (64, 1)].map(|(at, length)| contents.number(at, length)),
            [Some(7), None, None]
        );
    }
}
