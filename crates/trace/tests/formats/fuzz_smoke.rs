//! Hostile input in the normal test run: seeds are mutated by a generator with a fixed start, so that a failure
//! repeats.
//!
//! The fuzzers in the folder `fuzz` go on from here for as long as they are let.

use foretell_trace::format::{Compression, Format};

use crate::reading::{check, convert, read_bytes};

const TEXT: &[u8] = b"# seed\nT0|fork(T1)|1\nT1|begin|2\nT1|acq(l)|3\nT1|w(x,1)|a.c:4\nT1|rel(l)|5\nT1|end|6\nT0|join(T1)|7\n\
    T0|r(x,1)|8\nT0|branch|9\nT0|rmw.acqrel(y,0,1)|10\nT0|sem(s,1)|11\nT0|p(s)|12\nT0|alloc(z)|13\nT0|w(z)|14\nT0|free(z)|15\n";
const CSV: &[u8] =
    b"start(T1)\n,acq(l)\n,r(x)\n,w(x)\n,rel(l)\njoin(T1)\nenter(m)\nexit(m)\ndummy(d)\nsync(x)\n";
const RR: &[u8] =
    b"@     Start(0,1)  Normal  Test.java:1:2\n@  Enter(1,test/A.f()V)\n@ Acquire(1,@01)\n@ ARd(1,@05[13])\n\
    @ VWr(1,v)\n@ Release(1,@01)\n@ Join(0,1)\n";

/// Pieces that parsers care about.
const TOKENS: [&[u8]; 16] = [
    b"|",
    b"(",
    b")",
    b",",
    b"\n",
    b"\r\n",
    b"#",
    b"@ ",
    b"0",
    b"4294967296",
    b"\xff",
    b"\0",
    b"r(x)",
    b"acq(l)",
    b"99999999999999999999",
    b"T1",
];

/// How many mutations of each seed are tried; some seconds together.
const ROUNDS: usize = 20_000;

/// xorshift64: enough to wander about.
struct Generator(u64);

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        match self.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            1 => bytes.truncate(at),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            3 => {
                let end = (at + self.below(20)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => {
                let token = TOKENS[self.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            _ => {
                let number = u8::try_from(self.below(256)).unwrap();
                bytes.splice(at..at, [number]);
            }
        }
    }
}

/// Reads every mutation; any outcome but a panic is fine here.
fn smoke(seed: &[u8], hint: Option<Format>) {
    let mut generator = Generator(0x9E37_79B9_7F4A_7C15);
    let mut bytes = seed.to_vec();
    for round in 0..ROUNDS {
        if round % 8 == 0 {
            bytes = seed.to_vec();
        }
        generator.mutate(&mut bytes);
        // The outcome is of no interest, only that there is one.
        let _ = check(&bytes, hint);
    }
}

#[test]
fn text() {
    smoke(TEXT, Some(Format::Text));
}

#[test]
fn csv() {
    smoke(CSV, Some(Format::Csv));
}

#[test]
fn rr() {
    smoke(RR, Some(Format::RoadRunner));
}

#[test]
fn binary() {
    smoke(&convert(TEXT, Format::Binary, Compression::None).unwrap(), Some(Format::Binary));
}

#[test]
fn compressed() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        smoke(&convert(TEXT, Format::Binary, compression).unwrap(), None);
    }
}

/// Checksums keep most mutations out of the records, so here they are made right again.
#[test]
fn records_behind_right_checksums() {
    let recording = convert(TEXT, Format::Binary, Compression::None).unwrap();
    let length = usize::from(recording[13]) | usize::from(recording[14]) << 8;
    let payload = &recording[24..24 + length];
    let mut generator = Generator(0xD1B5_4A32_D192_ED03);
    let mut records = payload.to_vec();
    for round in 0..ROUNDS {
        if round % 8 == 0 {
            records = payload.to_vec();
        }
        generator.mutate(&mut records);
        let mut bytes = recording[..12].to_vec();
        bytes.push(1);
        bytes.extend_from_slice(&u32::try_from(records.len()).unwrap().to_le_bytes()[..3]);
        bytes.extend_from_slice(&crc32fast::hash(&records).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes[12..20]).to_le_bytes());
        bytes.extend_from_slice(&records);
        let _ = check(&bytes, None);
    }
}

/// What the text writer accepts, it writes such that it reads back the same, also if it came from a mutation.
#[test]
fn text_is_stable_once_read() {
    let mut generator = Generator(0xA076_1D64_78BD_642F);
    let mut bytes = TEXT.to_vec();
    for round in 0..ROUNDS {
        if round % 8 == 0 {
            bytes = TEXT.to_vec();
        }
        generator.mutate(&mut bytes);
        let Ok(reading) = read_bytes(&bytes, Some(Format::Text)) else { continue };
        if let Ok(written) = convert_text(&bytes) {
            assert_eq!(read_bytes(&written, Some(Format::Text)).unwrap(), reading);
        }
    }
}

fn convert_text(bytes: &[u8]) -> Result<Vec<u8>, foretell_trace::TraceError> {
    let recording = convert(bytes, Format::Binary, Compression::None)?;
    convert(&recording, Format::Text, Compression::None)
}
