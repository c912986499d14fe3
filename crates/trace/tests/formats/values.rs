//! How values are computed survives the way through the formats, and nonsense about it is refused.

use foretell_trace::format::{Compression, Format, open};
use foretell_trace::values::{Binary, Demand, Demanded, Obstacle, Obstacles, Term, TermId, Unary, Values};
use foretell_trace::{EventId, Reads, Trace, TraceError, Value};
use proptest::prelude::*;

use crate::reading::convert;

const EVENTS: &str = "A|r(x,1)|1\nA|r(y,one)|2\nB|r(y,one)|3\nA|w(z,3)|4\nA|acq(l)|5\nA|w(z,one)|6\n\
    #dependence\n#union 1 2\n#value 4 s0\n";

fn id(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}

fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    let bytes = bytes.to_vec();
    Trace::read(open(Box::new(std::io::Cursor::new(bytes)), None)?)
}

fn refused(lines: &str) -> String {
    let error = read(format!("{EVENTS}#values signed\n{lines}\n").as_bytes()).unwrap_err();
    format!("{}: {error}", error.position().unwrap())
}

#[test]
fn text_tells_it_in_comments() {
    let lines = "#values signed\n# a remark\n#read 1\n#number 18446744073709551615\n#binary add 64 t0 t1\n\
        #name two\n#frozen 7 s0\n#unary iszero 8 t4\n#choice t5 t3 t2\n#writes 4 t6\n#demand 6 t2 0\n\
        #demand 5 t3 two\n";
    let trace = read(format!("{EVENTS}{lines}").as_bytes()).unwrap();
    let values = trace.values().unwrap();
    assert!(values.is_signed());
    assert_eq!((values.terms().len(), values.all_demands().len()), (7, 2));
    assert_eq!(values.written(id(4)), TermId::from_index(6));
    assert_eq!(values.demands(id(6))[0].value, Demanded::Number(0));
    let Demanded::Name(name) = values.demands(id(5))[0].value else { panic!("a name") };
    assert_eq!(trace.names().value_text(name), "two");
    assert_eq!(values.term(TermId::from_index(3).unwrap()), Term::Name(name));
    let Term::Frozen { reads, .. } = values.term(TermId::from_index(4).unwrap()) else { panic!("frozen") };
    assert_eq!(trace.dependence().unwrap().reads(reads), Some(vec![id(1), id(2)]));
    let other = read(b"A|w(x,1)|1\n#number 1\n#writes 1 t0\n").unwrap();
    assert!(other.values().is_none(), "without the first line these are remarks");
}

#[test]
fn nonsense_is_refused_with_its_place() {
    for (lines, why) in [
        ("#number", "11:8: expected a number below 2^64"),
        ("#number -1", "11:9: expected a number below 2^64"),
        ("#number 18446744073709551616", "11:9: expected a number below 2^64"),
        ("#name 5", "11:7: expected a value"),
        ("#read 0", "11:7: expected the number of an event"),
        ("#frozen 1 s1", "11:11: expected a set of reads"),
        ("#unary iszero 64 t0", "11:18: expected `t` and the number of an earlier term"),
        ("#number 1\n#unary half 64 t0", "12:8: expected `truncate`, `extend`, `iszero`"),
        ("#number 1\n#unary iszero 65 t0", "12:15: expected a number of bits"),
        ("#number 1\n#binary add 64 t0 x", "12:19: expected `t` and the number"),
        ("#number 1 2", "11:11: expected the end of the line"),
        ("#obstacle luck 1", "11:11: expected `floating-point`, `wide`"),
        ("#obstacle wide", "11:15: expected a number below 2^64"),
        ("#nmber 1", "11:1: expected `#number`, `#name`"),
        ("#values", "11:8: expected `unsigned`, `signed`"),
    ] {
        assert!(refused(lines).starts_with(why), "{lines}: {}", refused(lines));
    }
}

#[test]
fn what_does_not_fit_the_events_is_refused_with_its_line_and_the_reason() {
    assert_eq!(refused("#number 1\n#read 4"), "12: term 1 is what an event read that reads nothing");
    assert_eq!(refused("#number 1\n#writes 1 t0"), "12: event 1 has no value: it writes nothing");
    assert_eq!(refused("#number 1\n#writes 9 t0"), "12: there is no event 9");
    assert_eq!(refused("#number 1\n#demand 7 t0 1"), "12: there is no event 7");
    assert_eq!(
        refused("#read 3\n#demand 4 t0 1\n#demand 2 t0 1"),
        "13: event 2 depends on what is read after it"
    );
}

/// Terms at random, each made of earlier ones, and what events write and demand.
fn any_values() -> impl Strategy<Value = Vec<(usize, usize, usize, u64)>> {
    prop::collection::vec((0..9usize, 0..16usize, 0..16usize, any::<u64>()), 0..20)
}

fn build(trace: &Trace, drawn: &[(usize, usize, usize, u64)]) -> Values {
    let one: Value = trace.event(id(2)).op.value_read().unwrap();
    let union = trace.dependence().unwrap().value_of(id(4));
    let mut values = Values::new(6, drawn.len().is_multiple_of(2));
    let mut terms = vec![values.add(Term::Number(7)).unwrap()];
    let mut demands = Vec::new();
    for &(kind, a, b, number) in drawn {
        let (left, right) = (terms[a % terms.len()], terms[b % terms.len()]);
        let width = u8::try_from(number % 64).unwrap() + 1;
        let unary = [Unary::Truncate, Unary::ExtendSign, Unary::IsZero][b % 3];
        let binary = [Binary::Add, Binary::ShiftRightSigned, Binary::LessSigned, Binary::Xor][a % 4];
        let term = match kind {
            0 => Term::Number(number),
            1 => Term::Name(one),
            2 => Term::Read(id([1, 2, 3][a % 3])),
            3 => Term::Frozen { value: number, reads: [union, Reads::of(id(1)), Reads::EVERYTHING][a % 3] },
            4 => Term::Unary { op: unary, width, of: left },
            5 => Term::Binary { op: binary, width, left, right },
            6 => Term::Choice { condition: left, then: right, otherwise: left },
            7 => {
                values.set_written(id([4, 6][b % 2]), left);
                continue;
            }
            _ => {
                let value = if b % 2 == 0 { Demanded::Number(number) } else { Demanded::Name(one) };
                demands.push(Demand { event: id([3, 5, 6][b % 3]), term: left, value });
                continue;
            }
        };
        terms.push(values.add(term).unwrap());
    }
    let mut obstacles = Obstacles::default();
    drawn.iter().for_each(|&(kind, .., times)| obstacles.add(Obstacle::ALL[kind % 6], times >> 8));
    values.set_obstacles(obstacles);
    demands.sort_by_key(|demand| demand.event);
    demands.into_iter().for_each(|demand| values.demand(demand));
    values
}

/// The trace with these values as text.
fn as_text(trace: &Trace, values: &Values) -> Vec<u8> {
    let mut text = foretell_trace::format::text::TextWriter::new(EVENTS.as_bytes().to_vec());
    text.write_values(values, trace.dependence(), trace.names()).unwrap();
    text.into_inner()
}

proptest! {
    #[test]
    fn all_values_come_back(drawn in any_values()) {
        let trace = read(EVENTS.as_bytes()).unwrap();
        let values = build(&trace, &drawn);
        let text = as_text(&trace, &values);
        let came_back = read(&text).unwrap();
        prop_assert_eq!(came_back.values(), Some(&values));
        for compression in [Compression::None, Compression::Zstd] {
            let recording = convert(&text, Format::Binary, compression).unwrap();
            let came_back = read(&recording).unwrap();
            prop_assert_eq!(came_back.values(), Some(&values));
            let again = convert(&recording, Format::Text, Compression::None).unwrap();
            prop_assert_eq!(&again, &text);
        }
    }

    #[test]
    fn a_damaged_recording_is_refused_or_told_cut_short(
        drawn in any_values(), at in 0..usize::MAX, flip in 1..=255u8
    ) {
        let trace = read(EVENTS.as_bytes()).unwrap();
        let values = build(&trace, &drawn);
        let recording = convert(&as_text(&trace, &values), Format::Binary, Compression::None).unwrap();
        let mut damaged = recording.clone();
        let at = at % damaged.len();
        damaged[at] ^= flip;
        if let Ok(trace) = read(&damaged) {
            prop_assert!(trace.values().is_none_or(|came_back| *came_back == values));
        }
        if let Ok(trace) = read(&recording[..at]) {
            prop_assert!(trace.values().is_none(), "they stand before the end");
        }
    }

    #[test]
    fn damaged_lines_are_refused_or_read(drawn in any_values(), at in 0..usize::MAX, byte in 32..127u8) {
        let trace = read(EVENTS.as_bytes()).unwrap();
        let mut text = as_text(&trace, &build(&trace, &drawn));
        let at = EVENTS.len() + at % (text.len() - EVENTS.len());
        text[at] = byte;
        let _ = read(&text);
    }
}
