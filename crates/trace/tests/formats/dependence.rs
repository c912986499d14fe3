//! Which reads matter survives the way through the formats, and nonsense about it is refused.

use foretell_trace::format::{Compression, Format, open};
use foretell_trace::{Dependence, EventId, Reads, Trace, TraceError};
use proptest::prelude::*;

use crate::reading::convert;

const EVENTS: &str = "A|r(x,1)|1\nA|r(y,2)|2\nB|r(y,2)|3\nA|w(z,3)|4\nA|acq(l)|5\nA|w(z,4)|6\n";

fn id(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}

fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    let bytes = bytes.to_vec();
    Trace::read(open(Box::new(std::io::Cursor::new(bytes)), None)?)
}

fn refused(lines: &str) -> String {
    read(format!("{EVENTS}#dependence\n{lines}\n").as_bytes()).unwrap_err().to_string()
}

#[test]
fn text_tells_it_in_comments() {
    let lines = "#dependence\n# a remark\n#steers 1 5\n#union 1 2\n#union s0 *\n#value 4 s0\n#value 6 -\n";
    let trace = read(format!("{EVENTS}{lines}").as_bytes()).unwrap();
    let dependence = trace.dependence().unwrap();
    assert_eq!(dependence.steered_by(id(1)), Some(id(5)));
    assert_eq!(dependence.steered_by(id(2)), None);
    assert_eq!(dependence.reads(dependence.value_of(id(4))), Some(vec![id(1), id(2)]));
    assert_eq!(dependence.value_of(id(6)), Reads::NOTHING);
    let other = read(format!("{EVENTS}#steers 1 5\n").as_bytes()).unwrap();
    assert!(other.dependence().is_none(), "without the first line these are remarks");
}

#[test]
fn nonsense_is_refused_with_its_place() {
    assert!(refused("#steers 1").starts_with("expected the number of an event"));
    assert!(refused("#steers 0 3").starts_with("expected the number of an event"));
    assert!(refused("#steers 1 5 6").starts_with("expected the end of the line"));
    assert!(refused("#value 4 s0").starts_with("expected a set of reads"), "no union so far");
    assert!(refused("#union s0 1").starts_with("expected a set of reads"), "not made of itself");
    assert!(refused("#value 4 x").starts_with("expected a set of reads"));
    assert!(refused("#steer 1 5").starts_with("expected `#steers`, `#union`, `#value`, or a remark"));
}

#[test]
fn what_does_not_fit_the_events_is_refused_with_its_line_and_the_reason() {
    let refused = |lines: &str| {
        let error = read(format!("{EVENTS}#dependence\n#steers 2 4\n{lines}\n").as_bytes()).unwrap_err();
        format!("{}: {error}", error.position().unwrap())
    };
    assert_eq!(refused("#value 7 -"), "9: there is no event 7");
    assert_eq!(refused("#steers 8 9"), "9: there is no event 8");
    assert_eq!(refused("#value 6 -\n#value 2 -"), "10: event 2 has no value: it writes nothing");
    assert_eq!(refused("#steers 4 5"), "9: event 4 steers nothing: it reads nothing");
    assert_eq!(refused("#steers 1 3"), "9: what event 1 reads can steer later events of its own thread only");
    assert_eq!(
        refused("#union 2 3\n#value 4 s0"),
        "10: what event 4 writes can depend on earlier reads of its own thread only"
    );
}

/// Steps at random: what a read steers, or what is united with what, and who writes it.
fn any_dependence() -> impl Strategy<Value = Dependence> {
    let steps = prop::collection::vec((0..4usize, 0..3usize, 0..3usize), 0..12);
    steps.prop_map(|steps| {
        let (own, later, writes) = ([1, 2], [4, 5, 6], [4, 6]);
        let mut dependence = Dependence::new(6);
        let mut sets = vec![Reads::of(id(1)), Reads::of(id(2)), Reads::NOTHING];
        for (kind, a, b) in steps {
            match kind {
                0 => dependence.steer(id(own[a % 2]), id(later[b])),
                1 => dependence.set_value(id(writes[a % 2]), sets[sets.len() - 1 - b]),
                _ => {
                    let set = dependence.unite(sets[sets.len() - 1 - a], sets[b]);
                    sets.push(set);
                }
            }
        }
        dependence
    })
}

proptest! {
    #[test]
    fn every_dependence_comes_back(dependence in any_dependence()) {
        let trace = read(EVENTS.as_bytes()).unwrap().with_dependence(dependence.clone()).unwrap();
        let mut text = foretell_trace::format::text::TextWriter::new(EVENTS.as_bytes().to_vec());
        text.write_dependence(trace.dependence().unwrap()).unwrap();
        let text = text.into_inner();
        let came_back = read(&text).unwrap();
        prop_assert_eq!(came_back.dependence(), Some(&dependence));
        for compression in [Compression::None, Compression::Zstd] {
            let recording = convert(&text, Format::Binary, compression).unwrap();
            let came_back = read(&recording).unwrap();
            prop_assert_eq!(came_back.dependence(), Some(&dependence));
            let again = convert(&recording, Format::Text, Compression::None).unwrap();
            prop_assert_eq!(&again, &text);
        }
    }

    #[test]
    fn a_damaged_recording_is_refused_or_told_cut_short(
        dependence in any_dependence(), at in 0..usize::MAX, flip in 1..=255u8
    ) {
        let mut text = foretell_trace::format::text::TextWriter::new(EVENTS.as_bytes().to_vec());
        text.write_dependence(&dependence).unwrap();
        let recording = convert(&text.into_inner(), Format::Binary, Compression::None).unwrap();
        let mut damaged = recording.clone();
        let at = at % damaged.len();
        damaged[at] ^= flip;
        if let Ok(trace) = read(&damaged) {
            prop_assert!(trace.dependence().is_none_or(|came_back| *came_back == dependence));
        }
        if let Ok(trace) = read(&recording[..at]) {
            prop_assert!(trace.dependence().is_none(), "it stands before the end");
        }
    }
}
