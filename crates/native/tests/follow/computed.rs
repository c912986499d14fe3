//! How values are said to be computed, against what is computed if a read sees something else.

use foretell_native::{Follow, ValueCounts, convert_with};
use foretell_testkit::computed::Computed;
use foretell_trace::{EventId, Op, Trace};

use crate::accesses;
use crate::machine::{Machine, Run, Telling, log, low};
use crate::program::{Program, Random};

/// How much was seen, so that no one is content with terms that say nothing.
#[derive(Default, Debug)]
pub(crate) struct Seen {
    /// Runs in which a demand did not hold, and the thread did something else;
    pub(crate) strayed: usize,
    /// or did nothing else.
    held: usize,
    /// Runs in which the thread did all that it did.
    pub(crate) unmoved: usize,
    /// Writes of something else, which was foreseen,
    pub(crate) foreseen: usize,
    /// or of which nothing was said.
    unknown: usize,
    pub(crate) computed: u64,
    frozen: u64,
    known_ways: u64,
    unknown_ways: u64,
}

impl Seen {
    fn count(&mut self, counts: &ValueCounts) {
        self.computed += counts.computed_writes;
        self.frozen += counts.frozen_writes;
        self.known_ways += counts.known_ways;
        self.unknown_ways += counts.unknown_ways;
    }
}

/// A run, and what is said of it.
struct Judged {
    run: Run,
    trace: Trace,
    events: Vec<EventId>,
    /// What to tell if something is wrong.
    context: String,
}

impl Judged {
    /// A run in which one read sees something else.
    fn compare(&self, again: &Run, read: usize, other: i64, seen: &mut Seen) {
        let (run, context) = (&self.run, &self.context);
        let told = Computed::of(&self.trace, Some((self.events[read], low(other)))).expect("values");
        let limit = told.first_impossible();
        let is_possible = |event: EventId| limit.is_none_or(|limit| event < limit);
        let pairs = run.accesses.iter().zip(&again.accesses);
        let same = pairs.take_while(|(one, other)| one.is_same(other)).count();
        let is_same = same == run.accesses.len() && same == again.accesses.len() && again.ended;
        match (is_same, limit) {
            (true, None) => seen.unmoved += 1,
            (true, Some(_)) => seen.held += 1,
            (false, Some(_)) => seen.strayed += 1,
            (false, None) => panic!("read {read} sees {other}: access {same} differs unforeseen\n{context}"),
        }
        let first = self.events.get(same).copied();
        assert!(
            first.is_none_or(|first| !is_possible(first)),
            "read {read} sees {other}: access {same} differs, event {first:?}, before {limit:?}\n{context}"
        );
        for write in (0..same).filter(|&write| run.accesses[write].writes && is_possible(self.events[write]))
        {
            let is_new = run.accesses[write].value != again.accesses[write].value;
            match told.written(self.events[write]) {
                Some(value) => {
                    let found = low(again.accesses[write].value);
                    assert_eq!(value, found, "read {read} sees {other}: access {write}\n{context}");
                    seen.foreseen += usize::from(is_new);
                }
                None => seen.unknown += usize::from(is_new),
            }
        }
    }
}

pub(crate) fn check(seed: u64, seen: &mut Seen) {
    let mut random = Random::new(seed);
    let program = Program::random(&mut random);
    let telling = if random.below(2) == 0 { Telling::AtOnce } else { Telling::Late };
    let inputs: Vec<i64> = (0..400).map(|_| i64::from(random.below(4))).collect();
    let run = Machine::new(&program, telling, &inputs).run();
    if !run.ended {
        return;
    }
    let context = format!("seed {seed}, {telling:?}\n{}", program.listing());
    let valued = convert_with(&log(&program, &run.records), Follow::Values).expect("a whole log");
    let trace = Trace::check(valued.events).expect("a trace");
    let Some((values, counts)) = valued.values else {
        // All input and output is one atomic variable, of which nothing is computed.
        let is_plain = |op: Op| op.access().is_some_and(|access| !access.atomic);
        let is_shared = trace.events().iter().any(|event| is_plain(event.op));
        assert!(!is_shared, "{context}: values are computed of what threads share");
        return;
    };
    seen.count(&counts);
    assert_eq!(counts.differ, 0, "{context}");
    let trace = trace.with_values(values).expect("values of just this trace");
    let told = Computed::of(&trace, None).expect("values");
    assert_eq!((told.first_impossible(), told.first_different(&trace)), (None, None), "{context}");
    let events = accesses(trace.events());
    assert_eq!(events.len(), run.accesses.len(), "{context}");
    let reads: Vec<usize> = (0..run.accesses.len()).filter(|&index| !run.accesses[index].writes).collect();
    let judged = Judged { run, trace, events, context };
    for (ordinal, &read) in reads.iter().enumerate().take(25) {
        for other in [0, 1, 2, 3, 100, -1].into_iter().filter(|&other| other != inputs[ordinal]) {
            let mut inputs = inputs.clone();
            inputs[ordinal] = other;
            let again = Machine::new(&program, telling, &inputs).run();
            judged.compare(&again, read, other, seen);
        }
    }
}
