//! The examples of the paper.

use std::sync::Arc;

use foretell_cimp::record::Run;
use foretell_cimp::scheduler::Given;
use foretell_depend::{Property, Rule, slice};
use foretell_trace::{Event, EventId, Op, Trace};
use foretell_witness::Model;
use foretell_witness::machine::Machine;
use foretell_witness::observed::Observed;

use crate::recording::{example, predicted, recorded, recorded_serially};
use crate::script::{id, numbers, races};

/// The events of the whole trace, by number, that some complete schedule of the slice for these has, in its order.
fn schedules(run: &Run, property: &[u32], rule: Rule) -> Vec<Vec<u32>> {
    let slice = slice(&run.trace, Some(&run.flow), &Property::events(property.iter().copied().map(id)), rule);
    let schedules = complete_schedules(&slice.trace(&run.trace).unwrap()).into_iter();
    let original = |event| slice.original(event).unwrap().number();
    schedules.map(|schedule| schedule.into_iter().map(original).collect()).collect()
}

/// The numbers of the events that matter.
fn kept(run: &Run, property: &[u32], rule: Rule) -> Vec<u32> {
    numbers(&slice(&run.trace, Some(&run.flow), &Property::events(property.iter().copied().map(id)), rule))
}

#[test]
fn figure_6_has_ten_traces_once_it_is_sliced() {
    let run = recorded_serially(&example("mcm_figure6"));
    for rule in [Rule::Sound, Rule::Published] {
        assert_eq!(kept(&run, &[1, 13], rule), [1, 2, 10, 11, 12, 13]);
        assert_eq!(schedules(&run, &[1, 13], rule).len(), 10);
        assert!(predicted(&run, (id(1), id(13)), rule).is_some());
    }
    assert_eq!(complete_schedules(&run.trace).len(), 7);
    assert!(!races(&run.trace, (id(1), id(13))));
}

#[test]
fn figure_4_shows_the_access_without_authentication() {
    let authentication_and_access = |run: &Run| {
        let of_it = |event: Event| {
            event.op.access().is_some_and(|access| run.trace.names().vars.name(access.var) == "authenticated")
        };
        let events: Vec<u32> =
            run.trace.iter().filter(|&(_, event)| of_it(event)).map(|(id, _)| id.number()).collect();
        <[u32; 2]>::try_from(events).unwrap()
    };
    let shown = |name| {
        let run = recorded_serially(&example(name));
        let [authentication, access] = authentication_and_access(&run);
        let place = |schedule: &[u32], event| schedule.iter().position(|&other| other == event);
        schedules(&run, &[authentication, access], Rule::Sound).iter().any(|schedule| {
            place(schedule, access).is_some_and(|access| place(schedule, authentication) > Some(access))
        })
    };
    assert!(shown("mcm_figure4_if"));
    assert!(!shown("mcm_figure4_while"));
}

#[test]
fn figure_5_has_no_false_alarm() {
    let schedule = "t2,t1,t2,t1,t2,t1".parse().unwrap();
    let run = recorded(&example("mcm_figure5"), Given::new(schedule));
    // The writes of y are events 1, 6 and 7; event 5 is the second write of x.
    for rule in [Rule::Sound, Rule::Published] {
        assert_eq!(kept(&run, &[1, 6, 7], rule), [1, 2, 3, 4, 5, 6, 7, 8]);
        let of_y = |schedule: &Vec<u32>| {
            schedule.iter().copied().filter(|event| [1, 6, 7].contains(event)).collect::<Vec<_>>()
        };
        let orders: Vec<Vec<u32>> = schedules(&run, &[1, 6, 7], rule).iter().map(of_y).collect();
        assert!(orders.contains(&vec![1, 6, 7]) && orders.contains(&vec![1, 7]));
        assert!(!orders.contains(&vec![7, 1, 6]));
    }
}

/// All schedules that cannot be continued. Decisions follow what they depend on at once.
fn complete_schedules(trace: &Trace) -> Vec<Vec<EventId>> {
    let machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameValue);
    let mut complete = Vec::new();
    continue_schedule(trace, &machine, &mut Vec::new(), &mut complete);
    complete
}

fn continue_schedule(
    trace: &Trace,
    machine: &Machine<'_>,
    schedule: &mut Vec<EventId>,
    complete: &mut Vec<Vec<EventId>>,
) {
    let mut ends_here = true;
    for thread in trace.threads().filter(|&thread| machine.enabled(thread).is_ok()) {
        ends_here = false;
        let mut after = machine.clone();
        schedule.extend(after.next(thread));
        after.step(thread).unwrap();
        while after.next(thread).is_some_and(|next| trace.event(next).op == Op::Branch)
            && after.enabled(thread).is_ok()
        {
            after.step(thread).unwrap();
        }
        continue_schedule(trace, &after, schedule, complete);
        schedule.pop();
    }
    if ends_here {
        complete.push(schedule.clone());
    }
}
