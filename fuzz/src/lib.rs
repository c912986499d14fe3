//! What the fuzzers do with the bytes that they are given.
//!
//! ```text
//! cargo install cargo-fuzz
//! # In the top folder; other targets: csv, rr, binary, open, cimp, code, models, schedule, classfile,
//! # proof
//! RUSTC_BOOTSTRAP=1 cargo fuzz run text
//! ```
//!
//! Each target reads its input to the end with all checks. Any outcome but a panic, a hang or a huge allocation is
//! fine.

use std::io::Cursor;

use foretell_trace::check::Checker;
use foretell_trace::format::text::{TextReader, TextWriter};
use foretell_trace::format::{Format, open};
use foretell_trace::{Batch, Source, TraceError};

/// Reads and checks; without a hint the format is guessed.
pub fn read(bytes: &[u8], hint: Option<Format>) {
    // Most inputs are no traces; only that there is an answer counts.
    let _ = try_read(bytes, hint);
}

fn try_read(bytes: &[u8], hint: Option<Format>) -> Result<(), TraceError> {
    let mut source = open(Box::new(Cursor::new(bytes.to_vec())), hint)?;
    let (mut checker, mut batch) = (Checker::default(), Batch::default());
    while source.fill(&mut batch)? {
        checker.check_batch(&mut batch, source.names())?;
    }
    checker.finish(source.ending())
}

/// A recording whose single block of records is `records`, with right checksums: otherwise the fuzzer would spend its
/// life in front of them.
pub fn recording_of(records: &[u8]) -> Vec<u8> {
    let mut recording = b"\x89ftr\r\n\x1a\n\x01\0\0\0".to_vec();
    let records = &records[..records.len().min(0xFF_FFFF)];
    let length = u32::try_from(records.len()).unwrap_or(0);
    let mut header = (length << 8 | 1).to_le_bytes().to_vec();
    header.extend_from_slice(&crc32(records).to_le_bytes());
    header.extend_from_slice(&crc32(&header).to_le_bytes());
    recording.extend_from_slice(&header);
    recording.extend_from_slice(records);
    recording
}

/// CRC-32, bit by bit: a second opinion on the checksum that the reader computes.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), step);
    !bytes.iter().fold(!0, byte)
}

/// Compiles, and shows what is wrong. For `cimp`, the examples are a good beginning:
/// `RUSTC_BOOTSTRAP=1 cargo fuzz run cimp fuzz/corpus/cimp examples`.
pub fn compile(source: &str) {
    for error in foretell_cimp::compile(source).err().unwrap_or_default() {
        assert!(!error.render("fuzzed.cimp", source).is_empty());
    }
}

/// Text that was written is what reading and writing it again gives.
pub fn text_is_stable(bytes: &[u8]) {
    if let Ok(written) = rewrite(bytes.to_vec()) {
        let again = rewrite(written.clone());
        assert!(matches!(again, Ok(again) if again == written), "what was written does not read back");
    }
}

fn rewrite(bytes: Vec<u8>) -> Result<Vec<u8>, TraceError> {
    let mut source = TextReader::new(Box::new(Cursor::new(bytes)));
    let (mut writer, mut batch) = (TextWriter::new(Vec::new()), Batch::default());
    while source.fill(&mut batch)? {
        for event in &batch.events {
            writer.write(event, source.names())?;
        }
    }
    Ok(writer.into_inner())
}

/// Three threads that do a little of everything; the last two events race by every model.
const RACE: &str = "A|sem(s,1)|1\nA|fork(B)|2\nA|acq(l)|3\nA|wait(c,l)|4\nB|notify(c)|5\nA|woken(c,l)|6\n\
                    A|rel(l)|7\nB|acq(l)|8\nC|tryfail(l)|9\nA|w(y,1)|10\nB|r(y,1)|11\nB|branch|12\nB|rel(l)|13\n\
                    A|arrive(b)|14\nB|arrive(b)|15\nA|depart(b)|16\nB|depart(b)|17\nC|p(s)|18\nB|v(s)|19\n\
                    A|w(x,1)|20\nB|w(x,2)|21\n";

/// Checks the bytes as the steps of a certificate that two accesses cannot race, which do: none may be accepted. In
/// both forms.
pub fn check_certificate(bytes: &[u8]) {
    let reader = open(Box::new(Cursor::new(RACE)), Some(Format::Text));
    let trace = reader.and_then(|source| foretell_trace::Trace::read(source)).expect("a trace");
    let facts = foretell_witness::proof::TraceFacts::new(&trace);
    let models = ["same-write", "same-value", "control-flow", "necessary"];
    for (code, model) in (0u8..).zip(models) {
        let header = format!("foretell-proof 1\nmodel {model}\nevents 21\npair 20 21\n");
        let text = [header.as_bytes(), bytes].concat();
        // A beginning of which the length comes first: its kind, the model, the events, the goal and the two.
        let records = [b"\x89proof1\n\x07\0", &[code, 21, 0, 20, 21, 0][..], bytes].concat();
        for certificate in [text, records] {
            let checked = foretell_witness::proof::check(&facts, &certificate);
            assert!(checked.is_err(), "a race has a certificate: {certificate:?}");
        }
    }
}
