//! Traces with their flow, written down by hand.
//!
//! The location of an event says what it depends on: `value=3,4` (it writes, or decides on, what was read at events 3
//! and 4), `address=2`, `control=5` (the decision at event 5), `scope=x,y` (the ways of this decision may write x and
//! y), `scope=stop`, `scope=none`.

use foretell_depend::{Binary, Flow, Node, NodeId, Property, Rule, Scope, Slice, Use, slice};
use foretell_testkit::trace;
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, oracle};

/// A trace and its flow.
pub(crate) struct Script {
    pub(crate) trace: Trace,
    pub(crate) flow: Flow,
}

impl Script {
    pub(crate) fn new(text: &str) -> Script {
        let trace = trace(text);
        let mut flow = Flow::default();
        for (_, event) in trace.iter() {
            let notes = trace.names().loc_text(event.loc).into_owned();
            let depends = depends(&mut flow, &trace, &notes);
            flow.add_use(depends);
        }
        Script { trace, flow }
    }

    pub(crate) fn slice(&self, property: &Property, rule: Rule) -> Slice {
        slice(&self.trace, Some(&self.flow), property, rule)
    }

    /// The numbers of the events that matter to these.
    pub(crate) fn kept(&self, events: &[u32]) -> Vec<u32> {
        numbers(&self.slice(&Property::events(events.iter().copied().map(id)), Rule::Sound))
    }

    /// The numbers of the events that matter to a race of these two.
    pub(crate) fn kept_for_race(&self, first: u32, second: u32) -> Vec<u32> {
        numbers(&self.slice(&Property::race(id(first), id(second)), Rule::Sound))
    }

    /// Whether the slice for it shows the race.
    pub(crate) fn races(&self, first: u32, second: u32, rule: Rule) -> bool {
        let slice = self.slice(&Property::race(id(first), id(second)), rule);
        let pair = (slice.sliced(id(first)).unwrap(), slice.sliced(id(second)).unwrap());
        races(&slice.trace(&self.trace).unwrap(), pair)
    }
}

/// Whether some schedule with the same values makes the two adjacent.
pub(crate) fn races(trace: &Trace, pair: (EventId, EventId)) -> bool {
    oracle::races(trace, Model::SameValue, 100_000).unwrap().contains(&pair)
}

pub(crate) fn id(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}

pub(crate) fn numbers(slice: &Slice) -> Vec<u32> {
    slice.events().iter().map(|event| event.number()).collect()
}

fn depends(flow: &mut Flow, trace: &Trace, notes: &str) -> Use {
    let mut depends = Use::default();
    for note in notes.split(' ').filter(|note| note.contains('=')) {
        let (key, what) = note.split_once('=').unwrap();
        match key {
            "value" => depends.value = Some(node(flow, what)),
            "address" => depends.address = Some(node(flow, what)),
            "control" => depends.control = Some(id(what.parse().unwrap())),
            "scope" => depends.scope = flow.add_scope(scope(trace, what)),
            other => panic!("{other}"),
        }
    }
    depends
}

fn node(flow: &mut Flow, reads: &str) -> NodeId {
    let reads: Vec<NodeId> =
        reads.split(',').map(|read| flow.add_node(Node::Read(id(read.parse().unwrap()))).unwrap()).collect();
    let sum =
        reads.into_iter().reduce(|sum, read| flow.add_node(Node::Binary(Binary::Add, sum, read)).unwrap());
    sum.unwrap()
}

fn scope(trace: &Trace, what: &str) -> Scope {
    match what {
        "stop" => Scope { writes: Vec::new(), may_stop: true },
        "none" => Scope::default(),
        vars => Scope {
            writes: vars.split(',').map(|var| trace.names().vars.get(var).unwrap()).collect(),
            may_stop: false,
        },
    }
}
