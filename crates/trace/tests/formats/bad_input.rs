//! Input that is not a trace: each kind gets an error that says what is wrong and where.

use std::io::{self, Read};

use crate::reading::{check, convert, read, read_bytes};
use foretell_trace::format::{Compression, Format};
use foretell_trace::{Ending, Position, TraceError};

fn message(bytes: &[u8]) -> String {
    let error = check(bytes, None).unwrap_err();
    match error.position() {
        Some(position) => format!("{position}: {error}"),
        None => error.to_string(),
    }
}

const TRACE: &[u8] = b"T0|fork(T1)|1\nT0|w(x,1)|2\nT1|r(x,1)|3\nT1|branch|bank.c:3\nT0|join(T1)|5\n";

fn recording() -> Vec<u8> {
    convert(TRACE, Format::Binary, Compression::None).unwrap()
}

/// A block with right checksums around any payload.
fn block(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut block = vec![kind];
    block.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes()[..3]);
    block.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    block.extend_from_slice(&crc32fast::hash(&block[..8]).to_le_bytes());
    block.extend_from_slice(payload);
    block
}

fn header() -> Vec<u8> {
    recording()[..12].to_vec()
}

#[test]
fn an_empty_input_is_not_a_trace() {
    for empty in [&b""[..], b"\n", b"# nothing\n", b"\r\n\r\n"] {
        assert!(matches!(check(empty, None), Err(TraceError::Empty)), "{empty:?}");
    }
    for format in [Format::Text, Format::Csv, Format::RoadRunner] {
        assert!(matches!(check(b"", Some(format)), Err(TraceError::Empty)));
    }
    assert!(matches!(check(b"", Some(Format::Binary)), Err(TraceError::Syntax { .. })));
}

#[test]
fn garbage_is_shown_with_its_place() {
    assert_eq!(
        message(b"T0|w(x)|1\nhello world\n"),
        "2:12: expected `|` after the thread (THREAD|OPERATION|LOCATION), found the end of the line"
    );
    assert!(message(b"T0|w(x)|1\nT0|jump(x)|2\n").starts_with("2:4: expected an operation:"));
    assert!(message(b"\x7fELF\x02\x01\x01\0").contains("expected"));
}

#[test]
fn compressed_input_that_ends_too_early_is_an_error_wherever_it_ends() {
    let long: Vec<u8> = TRACE.iter().copied().chain(b"T0|w(y)|6\n".repeat(500)).collect();
    for compression in [Compression::Gzip, Compression::Zstd] {
        for format in [Format::Text, Format::Binary] {
            let whole = convert(&long, format, compression).unwrap();
            assert_eq!(check(&whole, None).unwrap(), 505);
            for cut in 4..whole.len() {
                let error = read_bytes(&whole[..cut], None).unwrap_err();
                assert_eq!(
                    error.to_string(),
                    "cannot read: the compressed input ends in the middle",
                    "{compression:?} cut at {cut}"
                );
            }
        }
    }
}

#[test]
fn damaged_compressed_input_is_an_error() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let whole = convert(TRACE, Format::Text, compression).unwrap();
        let mut damaged = whole.clone();
        let last = damaged.len() - 6;
        damaged[last] ^= 0x55;
        assert!(read_bytes(&damaged, None).is_err() || compression == Compression::Zstd);
        let mut followed = whole;
        followed.extend_from_slice(b"more");
        assert!(read_bytes(&followed, None).is_err());
    }
}

#[test]
fn a_recording_without_its_end_reads_as_cut_short() {
    let recording = recording();
    let cut = read_bytes(&recording[..recording.len() - 1], None).unwrap();
    assert_eq!((cut.events.len(), cut.ending), (5, Ending::CutShort));
    assert_eq!(read_bytes(&recording, None).unwrap().ending, Ending::Complete);
}

#[test]
fn a_recording_with_a_wrong_head_is_refused() {
    let mut future = recording();
    future[8] = 2;
    assert_eq!(message(&future), "byte 8: expected a recording of version 1, found version 2");
    let error = read_bytes(b"T0|w(x)|1\n", Some(Format::Binary)).unwrap_err();
    assert_eq!(error.to_string(), "expected a foretell recording, found something else");
    assert_eq!(
        message(&recording()[..10]),
        "byte 8: expected the version of the recording, found the end of the input"
    );
}

#[test]
fn a_recording_damaged_in_the_middle_is_an_error() {
    let mut damaged = recording();
    damaged[30] ^= 1;
    assert_eq!(message(&damaged), "byte 12: expected a block that fits its checksum, found a damaged block");
    let mut more = recording();
    more.push(0);
    assert!(message(&more).ends_with("expected the end of the input after the last block, found more bytes"));
    let wrong_count = [header(), block(2, &7u64.to_le_bytes())].concat();
    assert_eq!(message(&wrong_count), "byte 12: expected the end of 7 events, found 0 of them before it");
    let unknown_kind = [header(), block(9, b"")].concat();
    assert_eq!(message(&unknown_kind), "byte 12: expected a block of kind 1 to 6, found kind 9");
}

#[test]
fn ids_that_nothing_defined_are_errors_and_cost_no_memory() {
    let thread = [31 << 3, 0, 2, b'T', b'0'];
    let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    let other = |number: u8| [&[30 << 3, number][..], &huge].concat();
    let with_order = |number: u8| [&[30 << 3, number, 4][..], &huge].concat();
    let records = [
        ([&[4][..], &huge].concat(), "thread"),
        ([&[24 << 3][..], &huge].concat(), "variable"),
        ([&[28 << 3][..], &huge].concat(), "lock"),
        (with_order(0), "variable"),
        (other(6), "lock"),
        (other(12), "thread"),
        (other(18), "semaphore"),
        (other(20), "condition"),
        (other(25), "barrier"),
        (other(29), "label"),
        (vec![30 << 3 | 3, 14, 0xFF, 0xFF, 0xFF, 0xFF], "symbol"),
    ];
    for (record, what) in records {
        let bytes = [header(), block(1, &[&thread[..], &record].concat())].concat();
        let error = check(&bytes, None).unwrap_err();
        assert_eq!(error.position(), Some(Position::Byte(24 + 5)), "{what}: {error}");
        assert!(error.to_string().contains(what), "{what}: {error}");
        assert!(error.to_string().contains("defined"), "{what}: {error}");
    }
}

#[test]
fn records_that_make_no_sense_are_errors() {
    let thread = [31 << 3, 0, 2, b'T', b'0'];
    for (record, expected) in [
        (&[30 << 3, 99][..], "the number of an operation"),
        (&[30 << 3, 3, 6], "a memory order"),
        (&[30 << 3, 14 << 1], "expected"),
        (&[30 << 3], "expected"),
        (&[31 << 3, 0, 100, b'x'], "a complete definition"),
        (&[31 << 3, 0, 2, b'T', b'0'], "the definition of a new name"),
        (&[31 << 3, 9, 1, b'x'], "the definition of a new name"),
        (&[31 << 3, 7, 1, b'5'], "the definition of a new name"),
        (&[31 << 3, 2, 1, 0xFF], "not valid UTF-8"),
    ] {
        let bytes = [header(), block(1, &[&thread[..], record].concat()), block(2, &[0; 8])].concat();
        assert!(message(&bytes).contains(expected), "{record:?}: {}", message(&bytes));
    }
}

#[test]
fn a_block_that_claims_to_be_huge_costs_no_memory() {
    let mut start = vec![1, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];
    start.extend_from_slice(&crc32fast::hash(&start).to_le_bytes());
    let bytes = [header(), start, vec![0; 100]].concat();
    let reading = read_bytes(&bytes, None).unwrap();
    assert_eq!((reading.events.len(), reading.ending), (0, Ending::CutShort));
}

#[test]
fn numbers_beyond_32_bits_are_just_names_in_text() {
    let text = b"4294967296|w(4294967296,4294967296)|4294967296\n99999999999|r(x)|99999999999\n";
    let reading = read_bytes(text, None).unwrap();
    assert_eq!(reading.events[0], "4294967296|w(4294967296,4294967296)|4294967296#0");
    assert_eq!(check(text, None).unwrap(), 2);
    let recording = convert(text, Format::Binary, Compression::None).unwrap();
    assert_eq!(read_bytes(&recording, None).unwrap(), reading);
}

#[test]
fn names_that_are_not_text_are_errors() {
    assert_eq!(message(b"T0|w(x)|1\nT0|w(\xff)|2\n"), "2:6: the name is not valid UTF-8");
    assert_eq!(message(b"\xff|w(x)|1\n"), "1:1: the name is not valid UTF-8");
    assert_eq!(message(b",r(\xff)\n"), "1:4: the name is not valid UTF-8");
    assert_eq!(message(b"@ Rd(1,\xff)\n"), "1:8: the name is not valid UTF-8");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_refused_early() {
    let endless = || io::repeat(b'x').take(100 << 20);
    for format in [None, Some(Format::Text), Some(Format::Csv), Some(Format::RoadRunner)] {
        let start = io::Cursor::new(b"T0|w(");
        let error = read(start.chain(endless()), format).unwrap_err();
        assert!(matches!(error, TraceError::LineTooLong { .. }), "{format:?}: {error}");
    }
}

#[test]
fn an_input_that_fails_is_an_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    for format in Format::ALL {
        let start = if format == Format::Binary { recording()[..20].to_vec() } else { vec![b'\n'; 20] };
        let error = read(io::Cursor::new(start).chain(Broken), Some(format)).unwrap_err();
        assert_eq!(error.to_string(), "cannot read: the disk is gone", "{format:?}");
    }
}

#[test]
fn what_no_program_could_do_is_an_error_with_its_line() {
    assert_eq!(message(b"T0|w(x)|1\n\nT0|rel(l)|2\n"), "3: T0 releases l, which it does not hold");
    assert_eq!(
        message(b"T0|w(x)|1\nT0|join(T9)|2\n"),
        "2: join of T9, which was neither forked nor seen before"
    );
    let recording = convert(b"T0|w(x)|1\nT0|rel(l)|2\n", Format::Binary, Compression::None).unwrap();
    assert_eq!(message(&recording), "event 2: T0 releases l, which it does not hold");
}
