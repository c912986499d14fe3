//! The timeline is what viewers accept: balanced, in order, with whole arrows.

use std::collections::{BTreeMap, HashMap};

use foretell_testkit::tiny::{Features, Shape};
use foretell_trace::Trace;
use foretell_view::Timeline;
use foretell_view::races::Reports;
use serde_json::Value;

use crate::{REPORT, bank};

fn written(trace: &Trace, reports: &Reports) -> Vec<Value> {
    let mut timeline = Timeline::new(Vec::new(), reports);
    for event in trace.events() {
        timeline.write(event, trace.names()).expect("an event");
    }
    let json = timeline.finish().expect("a timeline");
    let document: Value = serde_json::from_slice(&json).expect("JSON");
    document["traceEvents"].as_array().expect("a list").clone()
}

fn text<'v>(record: &'v Value, field: &str) -> &'v str {
    record[field].as_str().unwrap_or_default()
}

fn number(record: &Value, field: &str) -> u64 {
    record[field].as_u64().unwrap_or_else(|| panic!("{field} of {record}"))
}

/// What every viewer takes for granted.
fn assert_well_formed(records: &[Value]) {
    assert_arrows_have_slices(records);
    let mut time = 0;
    let mut open: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut arrows: BTreeMap<u64, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for record in records.iter().filter(|record| text(record, "ph") != "M") {
        let (track, at) = (number(record, "tid"), number(record, "ts"));
        let stack = open.entry(track).or_default();
        match text(record, "ph") {
            // Whoever knows where an arrow ends writes where it began, which is in the past.
            "s" => {
                assert!(at <= time);
                arrows.entry(number(record, "id")).or_default().0.push(at);
                continue;
            }
            "f" => {
                arrows.entry(number(record, "id")).or_default().1.push(at);
            }
            "B" => stack.push(at),
            "E" => assert!(stack.pop().is_some_and(|begin| begin <= at), "{record}"),
            "X" => assert_eq!(number(record, "dur"), 1),
            "i" => assert!(["t", "g"].contains(&text(record, "s"))),
            other => panic!("{other}"),
        }
        assert!(at >= time, "{record} goes back in time");
        time = at;
    }
    assert!(open.values().all(Vec::is_empty), "a slice is not ended: {open:?}");
    for (id, (begins, ends)) in arrows {
        assert_eq!((begins.len(), ends.len()), (1, 1), "arrow {id}");
        assert!(begins[0] <= ends[0]);
    }
}

/// Viewers sort by time and then want an open slice at both ends of an arrow.
fn assert_arrows_have_slices(records: &[Value]) {
    let mut sorted: Vec<&Value> = records.iter().filter(|record| text(record, "ph") != "M").collect();
    sorted.sort_by_key(|record| number(record, "ts"));
    // By track, when the open slices end, as far as that is known.
    let mut open: HashMap<u64, Vec<Option<u64>>> = HashMap::new();
    for record in sorted {
        let at = number(record, "ts");
        let stack = open.entry(number(record, "tid")).or_default();
        stack.retain(|end| end.is_none_or(|end| end > at));
        match text(record, "ph") {
            "B" => stack.push(None),
            "X" => stack.push(Some(at + number(record, "dur"))),
            "E" => assert_eq!(stack.pop(), Some(None), "{record} ends another slice"),
            "s" | "f" => assert!(!stack.is_empty(), "nothing is open at {record}"),
            _ => {}
        }
    }
}

/// The arrows of this name, by the numbers of the events at both ends.
fn arrows(records: &[Value], name: &str) -> Vec<(u64, u64)> {
    let ends = records.iter().filter(|record| text(record, "ph") == "f" && text(record, "name") == name);
    let begin = |end: &Value| {
        let is_it = |record: &&Value| text(record, "ph") == "s" && record["id"] == end["id"];
        number(records.iter().find(is_it).expect("a beginning"), "ts") + 1
    };
    ends.map(|end| (begin(end), number(end, "ts") + 1)).collect()
}

#[test]
fn a_timeline_tells_all_of_a_trace() {
    let trace = bank();
    let records = written(&trace, &Reports::default());
    assert_well_formed(&records);
    assert_eq!(arrows(&records, "start"), [(1, 3), (2, 15)]);
    assert_eq!(arrows(&records, "join"), [(14, 22), (21, 23)]);
    assert_eq!(arrows(&records, "unlock"), [(10, 16)]);
    assert_eq!(arrows(&records, "read from"), [(13, 19)]);
    let names: Vec<&str> = records
        .iter()
        .filter(|record| text(record, "name") == "thread_name")
        .map(|record| text(&record["args"], "name"))
        .collect();
    assert_eq!(names, ["main", "teller", "teller · locks", "teller · locks", "auditor", "auditor · locks"]);
    let write =
        records.iter().find(|record| text(record, "name") == "writes balance = 100").expect("a write");
    assert_eq!((text(write, "ph"), number(write, "ts")), ("i", 8));
    let expected =
        serde_json::json!({"event": 9, "location": "bank.c:23", "value": "100", "locks": ["lock", "log"]});
    assert_eq!(write["args"], expected);
    let function = records.iter().find(|record| text(record, "name") == "deposit").expect("a function");
    assert_eq!((text(function, "ph"), number(function, "ts")), ("B", 4));
}

#[test]
fn races_are_marked_and_joined() {
    let records = written(&bank(), &Reports::parse(REPORT).expect("a report"));
    assert_well_formed(&records);
    assert_eq!(arrows(&records, "race"), [(9, 17), (4, 20)]);
    let global = records.iter().filter(|record| text(record, "s") == "g").count();
    assert_eq!(global, 4);
}

#[test]
fn a_report_on_another_trace_is_refused() {
    let reports = Reports::parse(REPORT).expect("a report");
    let trace = foretell_testkit::trace("A|w(x)|1\n");
    let mut timeline = Timeline::new(Vec::new(), &reports);
    timeline.write(&trace.events()[0], trace.names()).expect("an event");
    assert!(timeline.finish().is_err());
}

#[test]
fn threads_that_do_not_end_and_functions_that_are_not_left_are_closed() {
    let trace = foretell_testkit::trace(
        "A|enter(f)|1\nA|enter(g)|2\nA|acq(l)|3\nA|exit(f)|4\nB|enter(\"\u{1b})|5\nA|exit(h)|6\nA|fork(C)|7\n",
    );
    assert_well_formed(&written(&trace, &Reports::default()));
}

#[test]
fn all_examples_become_timelines() {
    for example in foretell_testkit::corpus::examples() {
        let trace = foretell_testkit::trace(&example.text);
        assert_well_formed(&written(&trace, &Reports::default()));
    }
    let features = Features { values: true, unexplained: true, branches: true, ..Features::ALL };
    let shape = |_| Shape::new(features, 60);
    foretell_testkit::tiny::for_each(300, shape, |_, trace| {
        assert_well_formed(&written(trace, &Reports::default()));
    });
}
