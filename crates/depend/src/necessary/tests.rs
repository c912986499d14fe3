use foretell_trace::format::text::TextReader;

use super::*;
use crate::flow::{Binary, Use};

/// A trace and its flow, which is written down in the locations of the events: `value` and `address` with the numbers
/// of the reads that they are computed from.
fn parse(text: &'static str) -> (Trace, Flow) {
    let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
    let mut flow = Flow::default();
    for (_, event) in trace.iter() {
        let notes = trace.names().loc_text(event.loc).into_owned();
        let mut used = Use::default();
        for note in notes.split(' ') {
            match note.split_once('=') {
                Some(("value", reads)) => used.value = Some(node(&mut flow, reads)),
                Some(("address", reads)) => used.address = Some(node(&mut flow, reads)),
                _ => {}
            }
        }
        flow.add_use(used);
    }
    (trace, flow)
}

fn node(flow: &mut Flow, reads: &str) -> NodeId {
    let mut sum = flow.add_node(Node::Constant(0)).unwrap();
    for read in reads.split(',').filter(|read| !read.is_empty()) {
        let read = flow.add_node(Node::Read(id(read.parse().unwrap()))).unwrap();
        sum = flow.add_node(Node::Binary(Binary::Add, sum, read)).unwrap();
    }
    sum
}

fn id(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}

fn full(text: &'static str) -> Dependence {
    let (trace, flow) = parse(text);
    necessary(&trace, &flow)
}

fn steered(dependence: &Dependence, read: u32) -> Option<u32> {
    dependence.steered_by(id(read)).map(EventId::number)
}

fn value(dependence: &Dependence, write: u32) -> Option<Vec<u32>> {
    let reads = dependence.reads(dependence.value_of(id(write)))?;
    Some(reads.into_iter().map(EventId::number).collect())
}

#[test]
fn a_read_steers_the_first_decision_or_address_that_it_is_in() {
    let dependence = full(
        "A|r(x)|1\nA|r(y)|2\nA|r(z)|3\nA|r(u)|4\nA|branch|value=2\nA|w(v)|address=1,2 value=3\nA|branch|value=1\n",
    );
    assert_eq!(steered(&dependence, 1), Some(6), "an address before a decision");
    assert_eq!(steered(&dependence, 2), Some(5), "a decision before an address");
    assert_eq!(steered(&dependence, 3), None, "only a value");
    assert_eq!(steered(&dependence, 4), None, "not used at all");
}

#[test]
fn a_value_depends_on_all_that_it_is_computed_from() {
    let dependence = full("A|r(x)|1\nA|r(y)|2\nA|w(z)|value=1,2\nA|w(z)|value=\nA|w(z)|5\n");
    assert_eq!(value(&dependence, 3), Some(vec![1, 2]));
    assert_eq!(value(&dependence, 4), Some(vec![]), "a constant");
    assert_eq!(value(&dependence, 5), None, "nobody knows");
}

#[test]
fn what_a_thread_is_told_when_it_is_started_is_decided_already() {
    let dependence = full(
        "A|r(x)|1\nA|branch|value=1\nA|fork(B)|3\nB|r(y)|4\nB|branch|value=1\nB|w(z)|value=1,4\nB|w(z)|value=1\nB|w(z)|value=4,1\n",
    );
    assert_eq!(steered(&dependence, 1), Some(2));
    assert_eq!(value(&dependence, 6), Some(vec![4]));
    assert_eq!(value(&dependence, 7), Some(vec![]));
    assert_eq!(value(&dependence, 8), Some(vec![4]));
}

#[test]
fn the_reads_of_an_event_are_those_that_steer_it_or_are_in_its_value() {
    let (trace, flow) =
        parse("A|r(x)|1\nB|r(x)|2\nA|branch|value=1\nA|r(y)|4\nA|r(z)|5\nA|w(v)|value=4\nA|w(v)|7\n");
    let dependence = necessary(&trace, &flow);
    let of = |event: u32| -> Vec<u32> {
        necessary_reads(&trace, &dependence, id(event)).into_iter().map(EventId::number).collect()
    };
    assert_eq!(of(1), []);
    assert_eq!(of(3), [1]);
    assert_eq!(of(5), [1], "a read has no value that it writes");
    assert_eq!(of(6), [1, 4]);
    assert_eq!(of(7), [1, 4, 5], "nobody knows what it writes");
    assert_eq!(of(9), [], "no event");
}
