//! What is written reads back, whatever the format, and damage is never mistaken for events.

use std::io;

use crate::reading::{Drip, convert, drain, read_bytes};
use foretell_trace::format::binary::BinaryWriter;
use foretell_trace::format::text::TextReader;
use foretell_trace::format::{Compression, Format, open};
use foretell_trace::{Batch, Ending, Source};
use proptest::prelude::*;

/// Every operation of the text format; `A` and `B` stand for names, `V` for values, `.o` for a memory order.
const OPERATIONS: [&str; 46] = [
    "r(A)",
    "r(A,V)",
    "w(A)",
    "w(A,V)",
    "aload.o(A)",
    "aload.o(A,V)",
    "astore.o(A)",
    "astore.o(A,V)",
    "rmw.o(A)",
    "rmw.o(A,V,V)",
    "fence.o",
    "acq(A)",
    "rel(A)",
    "racq(A)",
    "rrel(A)",
    "try(A)",
    "rtry(A)",
    "tryfail(A)",
    "rtryfail(A)",
    "fork(A)",
    "join(A)",
    "begin",
    "end",
    "branch",
    "sem(A,7)",
    "sem(A,4294967295)",
    "p(A)",
    "v(A)",
    "wait(A,B)",
    "woken(A,B)",
    "timeout(A,B)",
    "notify(A)",
    "notifyall(A)",
    "arrive(A)",
    "depart(A)",
    "alloc(A)",
    "free(A)",
    "enter(A)",
    "exit(A)",
    "dummy(A)",
    "r(A)",
    "r(A)",
    "w(A)",
    "w(A)",
    "acq(A)",
    "rel(A)",
];
const NAMES: [&str; 7] = ["x", "y", "l1", "exactly8", "longer.than/eight[9]", "ü", "a(b)"];
const VALUES: [&str; 7] = ["0", "1", "-5", "2147483647", "2147483648", "99999999999999999999", "null"];
const ORDERS: [&str; 5] = [".rlx", ".acq", ".rel", ".acqrel", ""];
const LOCATIONS: [&str; 8] = ["1", "2", "77", "300", "70000", "2147483648", "bank.c:12", "a b "];

fn pick<const N: usize>(from: [&'static str; N]) -> impl Strategy<Value = &'static str> {
    (0..N).prop_map(move |index| from[index])
}

fn line() -> impl Strategy<Value = String> {
    let operation = (pick(OPERATIONS), pick(NAMES), pick(NAMES), pick(VALUES), pick(ORDERS))
        .prop_map(|(op, a, b, v, o)| op.replace('A', a).replace('B', b).replace('V', v).replace(".o", o));
    (pick(NAMES), operation, pick(LOCATIONS)).prop_map(|(thread, op, loc)| format!("{thread}|{op}|{loc}\n"))
}

fn trace(lines: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(line(), 1..lines).prop_map(|lines| lines.concat())
}

/// A recording with a block for every three events.
fn in_small_blocks(text: &str) -> Vec<u8> {
    let mut source = TextReader::new(Box::new(io::Cursor::new(text.as_bytes().to_vec())));
    let mut writer = BinaryWriter::new(Vec::new()).unwrap();
    let mut batch = Batch::default();
    while source.fill(&mut batch).unwrap() {
        for (index, event) in batch.events.iter().enumerate() {
            writer.write(event, source.names()).unwrap();
            if index % 3 == 2 {
                writer.flush().unwrap();
            }
        }
    }
    writer.finish().unwrap()
}

proptest! {
    #[test]
    fn text_survives_the_way_through_a_recording(text in trace(200)) {
        let direct = read_bytes(text.as_bytes(), Some(Format::Text)).unwrap();
        let recording = convert(text.as_bytes(), Format::Binary, Compression::None).unwrap();
        prop_assert_eq!(read_bytes(&recording, None).unwrap(), direct);
        let back = convert(&recording, Format::Text, Compression::None).unwrap();
        prop_assert_eq!(String::from_utf8(back).unwrap(), text);
    }

    #[test]
    fn a_recording_keeps_the_ids(text in trace(60)) {
        let recording = in_small_blocks(&text);
        let events = |bytes: Vec<u8>| {
            let mut source = open(Box::new(io::Cursor::new(bytes)), Some(Format::Text)).unwrap();
            let mut batch = Batch::default();
            source.fill(&mut batch).unwrap();
            batch.events
        };
        prop_assert_eq!(events(recording), events(text.into_bytes()));
    }

    #[test]
    fn a_recording_cut_anywhere_gives_its_beginning(text in trace(20)) {
        let recording = in_small_blocks(&text);
        let whole = read_bytes(&recording, Some(Format::Binary)).unwrap();
        prop_assert_eq!(whole.ending, Ending::Complete);
        for cut in 0..recording.len() {
            match read_bytes(&recording[..cut], Some(Format::Binary)) {
                Ok(part) => {
                    prop_assert_eq!(part.ending, Ending::CutShort, "cut at {}", cut);
                    prop_assert!(whole.events.starts_with(&part.events), "cut at {}", cut);
                }
                Err(error) => prop_assert!(cut < 12, "cut at {}: {}", cut, error),
            }
        }
    }

    #[test]
    fn a_damaged_byte_never_makes_other_events(text in trace(12), flip in 1..=255u8) {
        let recording = in_small_blocks(&text);
        let whole = read_bytes(&recording, Some(Format::Binary)).unwrap();
        for at in 0..recording.len() {
            let mut damaged = recording.clone();
            damaged[at] ^= flip;
            if let Ok(part) = read_bytes(&damaged, Some(Format::Binary)) {
                prop_assert_eq!(part.ending, Ending::CutShort, "damaged at {}", at);
                prop_assert!(whole.events.starts_with(&part.events), "damaged at {}", at);
            }
        }
    }

    /// Input that arrives byte by byte never gets to the swift parser, so the two parsers are compared here.
    #[test]
    fn the_swift_parser_agrees_with_the_careful_one(text in almost_text()) {
        let swift = drain(Box::new(TextReader::new(Box::new(io::Cursor::new(text.clone())))));
        let careful = drain(Box::new(TextReader::new(Box::new(Drip(io::Cursor::new(text))))));
        match (swift, careful) {
            (Ok(swift), Ok(careful)) => prop_assert_eq!(swift, careful),
            (swift, careful) => prop_assert_eq!(format!("{swift:?}"), format!("{careful:?}")),
        }
    }
}

/// Traces with short names, each line several times, now and then with a byte that does not belong there.
fn almost_text() -> impl Strategy<Value = Vec<u8>> {
    let name = || pick(["x", "T1", "#a", "seven77", "exactly8", "a,1", "a\0", "a"]);
    let op = pick([
        "r(N)", "w(N)", "r(N,V)", "w(N,V)", "acq(N)", "rel(N)", "branch", "r(N", "fork(N)", "alloc(N)",
    ]);
    let value = pick(["0", "5", "05", "1234567", "12345678", "123456789", "2147483648", "-1", "x"]);
    let loc =
        pick(["0", "7", "07", "12345678", "1234567890", "9999999999", "12345678901", "a:1", "", "5\r", "5 "]);
    let line = (name(), op, name(), value, loc).prop_map(|(thread, op, name, value, loc)| {
        format!("{thread}|{}|{loc}\n", op.replace('N', name).replace('V', value)).into_bytes()
    });
    let damage =
        proptest::option::weighted(0.05, (0..30usize, pick(["|", ",", ")", "(", "\0", "\r", "#", "9"])));
    proptest::collection::vec((line, damage), 1..30).prop_map(|lines| {
        let mut text = Vec::new();
        for (mut line, damage) in lines {
            // A line is read swiftly only once its names are known.
            text.extend_from_slice(&line);
            if let Some((at, byte)) = damage {
                let at = at % line.len();
                line[at] = byte.as_bytes()[0];
            }
            text.extend_from_slice(&line);
        }
        text
    })
}

#[test]
fn every_format_goes_through_every_compression() {
    let csv = b"start(T1),\n,acq(l)\n,r(x)\n,w(x)\n,rel(l)\njoin(T1)\nenter(m)\nexit(m)\ndummy(d)\n";
    let direct = read_bytes(csv, Some(Format::Csv)).unwrap();
    for format in Format::ALL {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let written = convert(csv, format, compression).unwrap();
            assert_eq!(read_bytes(&written, Some(format)).unwrap(), direct, "{format:?} {compression:?}");
            if format != Format::Csv {
                assert_eq!(read_bytes(&written, None).unwrap(), direct, "{format:?} {compression:?}");
            }
        }
    }
}

#[test]
fn a_recording_inside_two_compressions_is_found() {
    let text = b"T0|w(x)|1\nT1|r(x)|2\n";
    let recording = convert(text, Format::Binary, Compression::Zstd).unwrap();
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut twice, &recording).unwrap();
    assert_eq!(read_bytes(&twice.finish().unwrap(), None).unwrap().events.len(), 2);
}

#[test]
fn recordings_stay_below_four_bytes_an_event() {
    let mut text = String::new();
    for section in 0..20_000u32 {
        let (thread, lock, var) =
            (section % 10, section * 7 % 50, section.wrapping_mul(2_654_435_761) % 1000);
        let place = section * 31 % 900;
        text += &format!("T{thread}|acq(L{lock})|{place}\nT{thread}|r(V{var})|{}\n", place + 1);
        text += &format!("T{thread}|w(V{var})|{}\nT{thread}|rel(L{lock})|{}\n", place + 1, place + 2);
    }
    let recording = convert(text.as_bytes(), Format::Binary, Compression::None).unwrap();
    assert!(recording.len() < 80_000 * 4, "{} bytes for 80000 events", recording.len());
}
