//! The examples of the paper.

use std::sync::Arc;

use foretell_depend::{Property, Rule};
use foretell_trace::{EventId, Op, Trace};
use foretell_witness::Model;
use foretell_witness::machine::Machine;
use foretell_witness::observed::Observed;

use crate::script::{Script, id, numbers};

const FIGURE_6: &str = "1|w(x,1)|-\n1|w(z,0)|-\n1|acq(l)|-\n1|w(y,5)|-\n1|rel(l)|-\n2|acq(l)|-\n2|r(y,5)|-\n\
                        2|w(y,6)|value=7\n2|rel(l)|-\n2|w(z,1)|-\n2|r(z,1)|-\n2|branch|value=11 scope=x\n2|w(x,2)|control=12\n";

#[test]
fn figure_6_has_ten_traces_once_it_is_sliced() {
    let script = Script::new(FIGURE_6);
    for rule in [Rule::Sound, Rule::Published] {
        let slice = script.slice(&Property::events([id(1), id(13)]), rule);
        assert_eq!(numbers(&slice), [1, 2, 10, 11, 12, 13]);
        assert_eq!(complete_schedules(&slice.trace(&script.trace).unwrap()).len(), 10);
        assert!(script.races(1, 13, rule));
    }
    assert_eq!(complete_schedules(&script.trace).len(), 7);
    assert!(!crate::script::races(&script.trace, (id(1), id(13))));
}

/// A schedule in which the second event comes before the first one, among those of the slice for the two.
fn reordered(script: &Script, first: u32, second: u32) -> bool {
    let slice = script.slice(&Property::events([id(first), id(second)]), Rule::Sound);
    let sliced = slice.trace(&script.trace).unwrap();
    let place =
        |schedule: &[EventId], event| schedule.iter().position(|&e| Some(e) == slice.sliced(id(event)));
    complete_schedules(&sliced).iter().any(|schedule| {
        match (place(schedule, first), place(schedule, second)) {
            (first, Some(second)) => first.is_none_or(|first| second < first),
            (_, None) => false,
        }
    })
}

#[test]
fn figure_4_shows_the_access_without_authentication() {
    let with_if = "1|w(authenticated,1)|-\n1|w(flag,1)|-\n2|r(flag,1)|-\n2|branch|value=3 scope=slept\n2|w(accessed,1)|-\n1|w(slept,1)|-\n";
    assert!(reordered(&Script::new(with_if), 1, 5));
    let with_while =
        with_if.replace("scope=slept", "scope=stop").replace("accessed,1)|-", "accessed,1)|control=4");
    assert!(!reordered(&Script::new(&with_while), 1, 5));
}

#[test]
fn figure_5_has_no_false_alarm() {
    // Thread 1 sets x and resets it before it writes y; thread 2 writes y again only if it finds x set.
    let script = Script::new(
        "2|w(y,1)|-\n1|w(x,1)|-\n2|r(x,1)|-\n2|branch|value=3 scope=y\n1|w(x,0)|-\n2|w(y,2)|control=4\n1|w(y,3)|-\n",
    );
    let slice = script.slice(&Property::events([id(1), id(6), id(7)]), Rule::Sound);
    assert_eq!(numbers(&slice), [1, 2, 3, 4, 5, 6, 7]);
    let schedules = complete_schedules(&slice.trace(&script.trace).unwrap());
    let alarm = |schedule: &Vec<EventId>| {
        let mut of_y = schedule.iter().filter(|event| [1, 6, 7].contains(&event.number()));
        of_y.next() == Some(&id(7)) && of_y.next() == Some(&id(1)) && of_y.next() == Some(&id(6))
    };
    assert!(!schedules.iter().any(alarm));
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
