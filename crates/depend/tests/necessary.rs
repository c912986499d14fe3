//! The figures of the ReconP paper, as programs: which reads matter to what.
//!
//! The numbers of events are our own: the index of an array that was read is decided on, an event that the paper's
//! traces do not have.

use foretell_cimp::explore::{self, explore};
use foretell_cimp::record::{Limits, Run, run};
use foretell_cimp::scheduler::{Given, Scheduler, Serial};
use foretell_depend::{necessary_reads, to_partial};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, oracle};

fn recorded(figure: u32, scheduler: &mut dyn Scheduler) -> Run {
    let path = format!("{}/../../examples/reconp_figure{figure}.cimp", env!("CARGO_MANIFEST_DIR"));
    let program = foretell_cimp::compile(&std::fs::read_to_string(path).unwrap()).unwrap();
    run(&program, scheduler, &Limits::default()).unwrap()
}

/// The reads that must see what they saw for the event to happen as it did.
fn of(trace: &Trace, event: u32) -> Vec<u32> {
    let event = EventId::from_number(event).unwrap();
    let reads = necessary_reads(trace, trace.dependence().unwrap(), event);
    reads.into_iter().map(EventId::number).collect()
}

/// Whether some schedule makes the two adjacent.
fn races(trace: &Trace, model: Model, pair: [u32; 2]) -> bool {
    let [first, second] = pair.map(|number| EventId::from_number(number).unwrap());
    oracle::races(trace, model, 100_000).unwrap().contains(&(first, second))
}

/// The number in our trace of an event of Figure 2, which has no decision on the index in its third line, and two empty
/// lines.
fn ours(paper: u32) -> u32 {
    match paper {
        0..=2 => paper,
        3..=9 => paper + 1,
        10..=18 => paper,
        _ => paper - 1,
    }
}

#[test]
fn figure_2_has_the_reads_of_table_2() {
    let Run { trace, .. } = recorded(2, &mut Given::new("t1*4,t3,t2*7,t3*5".parse().unwrap()));
    let table: [(u32, &[u32]); 6] =
        [(16, &[]), (17, &[16]), (18, &[]), (20, &[18]), (21, &[18]), (22, &[18, 21])];
    for (event, reads) in table {
        let reads: Vec<u32> = reads.iter().copied().map(ours).collect();
        assert_eq!(of(&trace, ours(event)), reads, "event {event} of the paper");
    }
    assert_eq!(of(&trace, ours(3)), [ours(2)], "its address");
    assert_eq!(of(&trace, ours(12)), [ours(8), ours(11)], "but not what was read from y");
    let race = [ours(3), ours(22)];
    assert!(races(&trace, Model::Necessary, race));
    assert!(!races(&trace, Model::ControlFlow, race), "a decision comes after every read");
}

#[test]
fn figure_3_needs_a_read_only_by_a_cursory_look() {
    let Run { trace, .. } = recorded(3, &mut Serial::new());
    let last = u32::try_from(trace.events().len()).unwrap();
    let [m, x] = [6, 8];
    assert_eq!(of(&trace, last), [x]);
    assert!(races(&trace, Model::Necessary, [2, last]));
    let trace = to_partial(trace);
    assert_eq!(of(&trace, last), [m, x]);
    assert!(!races(&trace, Model::Necessary, [2, last]));
}

/// With another index the thread would not have come to its last write.
#[test]
fn the_address_of_a_read_matters_as_well() {
    let source = "shared a[2], i = 9, x; { x = 1; i = 0; } || { local v = a[i]; x = 2; }";
    let program = foretell_cimp::compile(source).unwrap();
    let Run { trace, .. } = run(&program, &mut Serial::new(), &Limits::default()).unwrap();
    let writes: Vec<u32> = (1..)
        .zip(trace.events())
        .filter(|(_, event)| {
            event
                .op
                .access()
                .is_some_and(|access| access.kind.writes() && trace.names().vars.name(access.var) == "x")
        })
        .map(|(number, _)| number)
        .collect();
    let [first, second] = writes[..] else { panic!("{writes:?}") };
    let index = (1..).zip(trace.events()).find(|(_, event)| event.op.value_read().is_some()).unwrap().0;
    assert_eq!(of(&trace, second), [index]);
    assert!(!races(&trace, Model::Necessary, [first, second]));
    let found = explore(&program, &explore::Limits::default());
    assert!(found.is_complete() && found.races.iter().all(|race| race.variable != "x"));
}

#[test]
fn figure_4_needs_both_reads_across_the_recursion() {
    let Run { trace, .. } = recorded(4, &mut Serial::new());
    let reads: Vec<u32> = (1..)
        .zip(trace.events())
        .filter(|(_, event)| event.op.value_read().is_some())
        .map(|(number, _)| number)
        .collect();
    let write = (1..).zip(trace.events()).filter(|(_, event)| event.op.value_written().is_some());
    let c = write.map(|(number, _)| number).find(|number| *number > reads[1]).unwrap();
    assert_eq!(of(&trace, c), reads);
}
