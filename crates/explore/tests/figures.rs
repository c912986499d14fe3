//! The examples of the paper on maximal causal models, and properties on them.

use std::sync::atomic::AtomicBool;

use foretell_explore::{
    Closure, Count, Exclusive, Exploration, Limits, Progress, Property, Race, State, happens_before,
};
use foretell_testkit::corpus;
use foretell_trace::symbol::SymbolContent;
use foretell_trace::{EventId, Trace, Value, VarId};

fn figure(name: &str) -> Trace {
    let examples = corpus::examples();
    let example = examples.iter().find(|example| example.name == name).expect("an example");
    foretell_testkit::trace(&example.text)
}

fn id(number: u32) -> EventId {
    EventId::from_number(number).expect("a number from 1 on")
}

fn explore(trace: &Trace, memory: u64, properties: Vec<Box<dyn Property>>) -> Exploration {
    let stop = AtomicBool::new(false);
    let limits = Limits { memory, max_steps: None, stop: &stop };
    let closure = Closure::new(trace, properties).expect("a small trace");
    closure.explore(limits, &Progress::default())
}

fn reorderings(trace: &Trace) -> Count {
    let stop = AtomicBool::new(false);
    let limits = Limits { memory: 1 << 20, max_steps: None, stop: &stop };
    happens_before(trace, limits, &Progress::default()).expect("a small trace").proper
}

#[test]
fn proper_traces_are_as_many_as_the_paper_says() {
    for (name, proper, happens_before) in
        [("mcm_figure1", 7, Some(1)), ("mcm_figure6", 7, None), ("mcm_figure6_sliced", 10, None)]
    {
        let trace = figure(name);
        for memory in [0, 1 << 20] {
            assert_eq!(explore(&trace, memory, Vec::new()).totals.proper, Count::from(proper), "{name}");
        }
        if let Some(expected) = happens_before {
            assert_eq!(reorderings(&trace), Count::from(expected), "{name}");
        }
    }
}

#[test]
fn petersons_algorithm_has_a_run_in_which_both_read_otherwise() {
    let trace = figure("mcm_figure3_peterson");
    let closure = Closure::new(&trace, Vec::new()).expect("a small trace");
    let steps = [1, 2, 3, 9, 10, 11, 5].map(id);
    let schedule = closure.schedule(&steps).expect("a run of the closure");
    let deviated: Vec<_> = schedule.iter().filter(|taken| taken.deviates).map(|taken| taken.event).collect();
    assert_eq!(deviated, [id(11), id(5)]);
    // Both have stopped.
    for next in [6, 7, 12, 13] {
        assert_eq!(closure.schedule(&[&steps[..], &[id(next)]].concat()), None);
    }
}

/// The two are never both in the critical section; but both may want to get there at once.
#[test]
fn sections_exclude_each_other_or_not() {
    let trace = figure("mcm_figure3_peterson");
    let exclusive = |first: (u32, u32), second: (u32, u32)| {
        let part = |(begin, end)| id(begin)..=id(end);
        Box::new(Exclusive::new(&trace, part(first), part(second)).expect("two parts")) as Box<dyn Property>
    };
    for memory in [0, 1 << 20] {
        let properties =
            vec![exclusive((7, 8), (15, 16)), exclusive((1, 8), (9, 16)), exclusive((5, 8), (15, 16))];
        let [critical, whole, late] = &explore(&trace, memory, properties).violations[..] else {
            panic!("three properties")
        };
        assert_eq!((critical, late), (&None, &None));
        let events: Vec<_> = whole.as_ref().expect("a violation").iter().map(|taken| taken.event).collect();
        assert_eq!(events, [id(1), id(9)]);
    }
}

#[test]
fn a_race_is_a_property_too() {
    let trace = figure("mcm_figure1");
    let race = |a, b| Box::new(Race::new(&trace, id(a), id(b)).expect("a pair")) as Box<dyn Property>;
    let exploration = explore(&trace, 0, vec![race(4, 11), race(2, 9)]);
    let schedule = exploration.violations[0].as_ref().expect("a race");
    assert_eq!(exploration.races.len(), 1);
    assert_eq!(schedule, &exploration.races[0].schedule);
    assert!(schedule.iter().all(|taken| !taken.deviates));
    assert_eq!(exploration.violations[1], None);
}

/// The sum of some variables never gets larger than this, as far as it is known.
struct AtMost {
    vars: Vec<VarId>,
    most: u32,
}

impl Property for AtMost {
    fn variables(&self) -> Vec<VarId> {
        self.vars.clone()
    }

    fn holds(&self, state: &State<'_>) -> bool {
        let number = |value: Value| match value.0.content() {
            SymbolContent::Number(number) => number,
            SymbolContent::Named(_) => 0,
        };
        let sum: Option<u32> = self.vars.iter().map(|&var| state.value(var).map(number)).sum();
        sum.is_none_or(|sum| sum <= self.most)
    }
}

/// Variables that are never read, or not read any more, still have contents.
#[test]
fn what_variables_hold_can_be_asked_in_every_state() {
    let trace =
        foretell_testkit::trace("A|w(x,2)|1\nA|w(x,0)|2\nB|w(y,3)|3\nB|w(y,1)|4\nC|r(x,0)|5\nC|w(y,0)|6\n");
    let var = |name| trace.names().vars.get(name).expect("a variable");
    for memory in [0, 2000, 1 << 20] {
        for most in 0..7 {
            let property = AtMost { vars: vec![var("x"), var("y")], most };
            let exploration = explore(&trace, memory, vec![Box::new(property)]);
            assert_eq!(exploration.violations[0].is_some(), most < 5, "{most} with {memory}");
        }
    }
}

#[test]
fn what_is_no_property_is_refused() {
    let trace = figure("mcm_figure1");
    for (a, b, said) in [(1, 2, "same thread"), (1, 8, "cannot race"), (2, 11, "cannot race")] {
        let refused = Race::new(&trace, id(a), id(b)).expect_err("no pair").to_string();
        assert!(refused.contains(said), "{refused}");
    }
    for (first, second, said) in
        [((1, 8), (9, 10), "no part"), ((3, 2), (9, 10), "no part"), ((1, 2), (3, 4), "same thread")]
    {
        let part = |(begin, end)| id(begin)..=id(end);
        let refused = Exclusive::new(&trace, part(first), part(second)).expect_err("no parts").to_string();
        assert!(refused.contains(said), "{refused}");
    }
}
