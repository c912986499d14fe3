//! One test for each clause of the rule. Each fails without its clause.

use foretell_depend::{Property, Rule, slice};
use foretell_testkit::trace;
use foretell_trace::{Op, Trace};

use crate::script::{Script, id, numbers};

#[test]
fn what_nothing_depends_on_is_dropped() {
    let script = Script::new("1|w(x,1)|-\n1|w(y,1)|-\n2|r(y,1)|-\n2|w(z,2)|value=3\n2|w(x,2)|-\n");
    assert_eq!(script.kept(&[1, 5]), [1, 5]);
}

#[test]
fn the_value_of_a_racing_write_does_not_matter_unless_it_is_read() {
    let write = "1|w(x,1)|-\n2|r(y,0)|-\n2|w(x,2)|value=2\n";
    assert_eq!(Script::new(write).kept(&[1, 3]), [1, 3]);
    let read_again = format!("{write}2|r(x,2)|-\n2|w(z,2)|value=4\n");
    assert_eq!(Script::new(&read_again).kept(&[1, 3]), [1, 3]);
    let decided_on = format!("{write}2|r(x,2)|-\n2|branch|value=4 scope=stop\n");
    assert_eq!(Script::new(&decided_on).kept(&[1, 3]), [1, 2, 3, 4, 5]);
}

#[test]
fn decisions_on_the_way_are_kept_with_their_reads() {
    let script = Script::new(
        "1|w(x,1)|-\n2|r(a,0)|-\n2|branch|value=2 scope=x,b\n2|r(b,0)|control=3\n\
         2|branch|value=4 control=3 scope=x\n2|w(x,2)|control=5\n",
    );
    assert_eq!(script.kept(&[1, 6]), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn addresses_are_kept_even_of_accesses_that_are_dropped() {
    let script = Script::new("1|w(x,1)|-\n2|r(i,0)|-\n2|w(a[0],2)|address=2\n2|w(x,2)|-\n");
    assert_eq!(script.kept(&[1, 3]), [1, 2, 3]);
    assert_eq!(script.kept(&[1, 4]), [1, 2, 4]);
    let published = |events: [u32; 2]| script.slice(&Property::events(events.map(id)), Rule::Published);
    assert_eq!(numbers(&published([1, 3])), [1, 2, 3]);
    assert_eq!(numbers(&published([1, 4])), [1, 4]);
}

#[test]
fn a_write_to_another_element_would_be_seen() {
    // The index is read before the other thread sets it: then it would be 0, and a[0] not 0.
    let script = Script::new(
        "1|w(x,1)|-\n1|w(i,1)|-\n2|r(i,1)|-\n2|w(a[1],7)|address=3\n2|r(a[0],0)|-\n\
         2|branch|value=5 scope=x\n2|w(x,2)|control=6\n",
    );
    assert!(!script.races(1, 7, Rule::Sound));
    assert!(script.races(1, 7, Rule::Published));
}

#[test]
fn all_writes_of_what_is_read_are_kept_with_what_they_depend_on() {
    let script = Script::new(
        "1|w(x,1)|-\n3|r(b,0)|-\n3|w(a,0)|value=2\n2|w(a,1)|-\n2|r(a,1)|-\n2|branch|value=5 scope=x\n\
         2|w(x,2)|control=6\n3|r(c,0)|-\n3|branch|value=8 scope=a\n3|w(a,2)|control=9\n",
    );
    assert_eq!(script.kept(&[1, 7]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn updates_are_reads_and_writes() {
    let script = Script::new(
        "1|w(a,1)|-\n1|w(x,1)|-\n2|rmw(a,1,2)|value=3\n2|r(a,2)|-\n2|branch|value=4 scope=x\n2|w(x,2)|control=5\n",
    );
    assert_eq!(script.kept(&[2, 6]), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn an_update_of_the_property_is_a_read_that_matters() {
    let script = Script::new("1|w(a,1)|-\n1|w(a,2)|-\n2|rmw(a,2,3)|value=3\n");
    assert_eq!(script.kept(&[3]), [1, 2, 3]);
}

#[test]
fn a_write_whose_own_decision_reads_the_variable_needs_its_value() {
    let script = Script::new(
        "1|w(x,1)|-\n2|r(y,0)|-\n2|r(x,1)|-\n2|branch|value=3 scope=x\n2|w(x,2)|value=2 control=4\n",
    );
    assert_eq!(script.kept(&[1, 5]), [1, 2, 3, 4, 5]);
}

#[test]
fn a_decision_that_might_have_written_what_is_read_is_kept() {
    let text = "1|w(x,1)|-\n1|w(a,1)|-\n2|r(a,1)|-\n2|branch|value=3 scope=y\n2|r(y,0)|-\n\
                2|branch|value=5 scope=x\n2|w(x,2)|control=6\n";
    assert_eq!(Script::new(text).kept(&[1, 7]), [1, 2, 3, 4, 5, 6, 7]);
    let harmless = text.replace("scope=y", "scope=z").replacen("2|r(y", "1|w(z,1)|-\n2|r(y", 1);
    assert_eq!(
        Script::new(&harmless.replace("value=5", "value=6").replace("control=6", "control=7")).kept(&[1, 8]),
        [1, 6, 7, 8]
    );
}

#[test]
fn a_decision_that_might_have_stopped_is_kept() {
    let text = "1|w(x,1)|-\n1|w(a,1)|-\n2|r(a,1)|-\n2|branch|value=3 scope=stop\n2|w(x,2)|-\n";
    let script = Script::new(text);
    assert_eq!(script.kept(&[1, 5]), [1, 2, 3, 4, 5]);
    assert!(!script.races(1, 5, Rule::Sound) && !script.races(1, 5, Rule::Published));
    let unknown = Script::new(&text.replace(" scope=stop", ""));
    assert_eq!(unknown.kept(&[1, 5]), [1, 2, 3, 4, 5]);
    let harmless = Script::new(&text.replace("scope=stop", "scope=none"));
    assert!(harmless.races(1, 5, Rule::Sound));
}

#[test]
fn sections_without_a_kept_event_are_dropped_with_their_lock() {
    let script = Script::new(
        "1|acq(l)|-\n1|w(y,1)|-\n1|rel(l)|-\n1|w(x,1)|-\n2|acq(m)|-\n2|acq(l)|-\n2|r(y,1)|-\n2|rel(m)|-\n\
         2|rel(l)|-\n2|w(x,2)|-\n",
    );
    assert_eq!(script.kept(&[4, 10]), [4, 10]);
}

#[test]
fn an_empty_section_of_a_lock_that_matters_is_kept() {
    let script = Script::new(
        "1|acq(l)|-\n1|w(y,1)|-\n1|w(x,1)|-\n1|rel(l)|-\n2|r(y,1)|-\n2|branch|value=5 scope=stop\n\
         2|acq(l)|control=6\n2|rel(l)|control=6\n2|w(x,2)|control=6\n",
    );
    assert_eq!(script.kept(&[3, 9]), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(!script.races(3, 9, Rule::Sound));
    assert!(script.races(3, 9, Rule::Published));
}

#[test]
fn a_lock_around_one_that_matters_matters() {
    // The third thread's section of l contains only one of m, which contains x.
    let text =
        "1|acq(m)|-\n1|w(x,1)|-\n1|rel(m)|-\n2|w(x,2)|-\n3|acq(l)|-\n3|acq(m)|-\n3|rel(l)|-\n3|rel(m)|-\n";
    assert_eq!(Script::new(text).kept(&[2, 4]), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_section_that_does_not_end_is_kept() {
    let script = Script::new("1|w(x,1)|-\n2|acq(l)|-\n2|rel(l)|-\n2|w(x,2)|-\n3|acq(l)|-\n");
    assert_eq!(script.kept(&[1, 4]), [1, 2, 3, 4, 5]);
}

#[test]
fn repeated_acquires_stay_with_their_section() {
    let text = "1|acq(l)|-\n1|acq(l)|-\n1|rel(l)|-\n1|w(x,1)|-\n1|rel(l)|-\n2|racq(l)|-\n2|racq(l)|-\n2|rrel(l)|-\n2|rrel(l)|-\n2|w(x,2)|-\n";
    let script = Script::new(text);
    let slice = script.slice(&Property::events([id(4), id(10)]), Rule::Sound);
    assert_eq!(numbers(&slice), (1..=10).collect::<Vec<_>>());
    slice.trace(&script.trace).unwrap();
}

#[test]
fn a_failed_attempt_keeps_all_sections_of_its_lock() {
    let script = Script::new("1|acq(l)|-\n2|tryfail(l)|-\n1|rel(l)|-\n1|w(x,1)|-\n2|w(x,2)|-\n");
    for rule in [Rule::Sound, Rule::Published] {
        assert_eq!(numbers(&script.slice(&Property::events([id(4), id(5)]), rule)), [1, 2, 3, 4, 5]);
    }
}

#[test]
fn synchronisation_is_kept() {
    let text = "0|fork(1)|-\n0|fork(2)|-\n1|sem(s,0)|-\n1|v(s)|-\n1|acq(l)|-\n1|wait(c,l)|-\n2|notify(c)|-\n\
                1|woken(c,l)|-\n1|rel(l)|-\n2|p(s)|-\n1|arrive(b)|-\n2|arrive(b)|-\n1|depart(b)|-\n2|depart(b)|-\n\
                1|w(y,1)|-\n1|w(x,1)|-\n2|w(x,2)|-\n0|join(1)|-\n0|join(2)|-\n\
                3|acq(m)|-\n3|wait(d,m)|-\n";
    let everything_but_y: Vec<u32> = (1..=21).filter(|&event| event != 15).collect();
    let script = Script::new(text);
    assert_eq!(script.kept(&[16, 17]), everything_but_y);
    assert_eq!(script.kept_for_race(16, 17), everything_but_y);
    let slice = script.slice(&Property::events([id(16), id(17)]), Rule::Published);
    assert_eq!(numbers(&slice), everything_but_y);
}

#[test]
fn a_thread_that_is_awaited_must_come_to_its_end() {
    // Thread 1 has nothing that matters but its end, and is started by nobody.
    let script = Script::new(
        "1|begin|-\n1|w(y,1)|-\n1|end|-\n0|join(1)|-\n0|w(x,1)|-\n2|begin|-\n2|w(x,2)|-\n2|end|-\n",
    );
    assert_eq!(script.kept(&[5, 7]), [3, 4, 5, 7]);
    script.slice(&Property::events([id(5), id(7)]), Rule::Sound).trace(&script.trace).unwrap();
}

#[test]
fn the_last_event_of_an_awaited_thread_brings_its_section() {
    let script = Script::new(
        "0|fork(1)|-\n0|fork(2)|-\n1|w(x,1)|-\n1|acq(l)|-\n1|rel(l)|-\n2|acq(l)|-\n2|rel(l)|-\n2|w(x,2)|-\n0|join(1)|-\n",
    );
    let slice = script.slice(&Property::race(id(3), id(8)), Rule::Sound);
    assert_eq!(numbers(&slice), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    slice.trace(&script.trace).unwrap();
}

#[test]
fn accesses_of_memory_that_goes_are_kept() {
    let script = Script::new(
        "1|alloc(p)|-\n1|w(p,1)|-\n1|fork(2)|-\n2|r(p,1)|-\n1|w(x,1)|-\n2|w(x,2)|-\n2|free(p)|-\n",
    );
    assert_eq!(script.kept(&[5, 6]), [1, 2, 3, 4, 5, 6, 7]);
    let published = script.slice(&Property::events([id(5), id(6)]), Rule::Published);
    assert_eq!(numbers(&published), [1, 3, 5, 6, 7]);
}

#[test]
fn all_before_an_unexplained_read_is_kept() {
    let script =
        Script::new("1|w(y,1)|-\n2|r(y,1)|-\n1|w(z,1)|-\n2|r(z,7)|-\n1|r(y,1)|-\n1|w(x,1)|-\n2|w(x,2)|-\n");
    assert_eq!(script.kept(&[6, 7]), [1, 2, 3, 4, 6, 7]);
}

#[test]
fn what_was_there_at_the_beginning_is_still_known() {
    // Had y held 0 at the beginning, event 5 need not wait for event 4.
    let script = Script::new(
        "2|r(y,7)|-\n1|w(z,1)|-\n1|w(x,1)|-\n1|w(y,0)|-\n2|r(y,0)|-\n2|branch|value=5 scope=x\n2|w(x,2)|control=6\n",
    );
    assert_eq!(script.kept(&[3, 7]), [1, 3, 4, 5, 6, 7]);
    assert!(!script.races(3, 7, Rule::Sound));
}

#[test]
fn what_a_racing_read_sees_is_left_open() {
    let script = Script::new("1|r(y,0)|-\n1|w(x,1)|value=1\n2|w(x,2)|-\n3|r(x,2)|-\n");
    let slice = script.slice(&Property::race(id(3), id(4)), Rule::Sound);
    assert_eq!(numbers(&slice), [3, 4]);
    let sliced = slice.trace(&script.trace).unwrap();
    assert!(matches!(sliced.event(id(2)).op, Op::Read { value: None, .. }));
    assert!(script.races(3, 4, Rule::Sound) && script.races(2, 4, Rule::Sound));
}

#[test]
fn what_comes_after_a_race_needs_nothing() {
    let text = "1|w(x,1)|-\n1|r(b,0)|-\n1|w(a,1)|value=2\n1|r(c,0)|-\n1|branch|value=4 scope=stop\n2|r(a,1)|-\n2|branch|value=6 scope=x\n2|w(x,2)|control=7\n";
    let script = Script::new(text);
    assert_eq!(script.kept_for_race(1, 8), [1, 3, 6, 7, 8]);
    assert_eq!(script.kept(&[1, 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn who_waits_for_a_racing_thread_needs_nothing_afterwards() {
    // Thread 0 starts the racing ones, waits for the first, decides on what it left, and starts another that decides,
    // too.
    let text = "0|fork(1)|-\n0|fork(2)|-\n1|w(y,1)|-\n1|w(x,1)|-\n2|w(x,2)|-\n0|join(1)|-\n0|r(y,1)|-\n\
                0|branch|value=7 scope=stop\n0|fork(3)|-\n3|r(z,0)|-\n3|branch|value=10 scope=stop\n3|w(x,3)|-\n";
    let script = Script::new(text);
    assert_eq!(script.kept_for_race(4, 5), [1, 2, 4, 5, 6, 9]);
    assert_eq!(script.kept_for_race(5, 12), (1..=12).collect::<Vec<_>>());
}

#[test]
fn long_chains_take_no_stack() {
    let length = 30_000;
    let link = |number: u32| format!("1|r(v{number},0)|-\n1|w(v{},0)|value={}\n", number + 1, 2 * number + 1);
    let links: String = (0..length).map(link).collect();
    let last = 2 * length + 2;
    let script = Script::new(&format!(
        "{links}2|r(v{length},0)|-\n2|w(x,1)|value={}\n2|r(x,1)|-\n2|branch|value={}\n",
        last - 1,
        last + 1
    ));
    assert_eq!(script.kept(&[last]), (1..=last + 2).collect::<Vec<_>>());
}

fn kept_without_flow(trace: &Trace, events: [u32; 2]) -> Vec<u32> {
    numbers(&slice(trace, None, &Property::events(events.map(id)), Rule::Sound))
}

#[test]
fn without_flow_decisions_depend_on_all_reads_before_them() {
    let trace = trace("1|w(x,1)|-\n1|w(a,1)|-\n2|r(a,1)|-\n2|branch|-\n2|r(b,0)|-\n2|w(c,0)|-\n2|w(x,2)|-\n");
    assert_eq!(kept_without_flow(&trace, [1, 7]), [1, 2, 3, 4, 7]);
    assert_eq!(kept_without_flow(&trace, [1, 6]), [1, 2, 3, 4, 6]);
}

#[test]
fn without_flow_the_value_of_a_write_depends_on_all_reads_before_it() {
    let trace = trace("3|r(b,0)|-\n3|w(a,1)|-\n1|w(x,1)|-\n2|r(a,1)|-\n2|branch|-\n2|w(x,2)|-\n");
    assert_eq!(kept_without_flow(&trace, [3, 6]), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn without_flow_and_decisions_everything_depends_on_all_reads_before_it() {
    let trace = trace("1|w(x,1)|-\n1|w(a,1)|-\n2|r(a,1)|-\n2|w(b,1)|-\n2|w(x,2)|-\n2|r(c,0)|-\n");
    assert_eq!(kept_without_flow(&trace, [1, 5]), [1, 2, 3, 5]);
}

#[test]
fn numbers_go_both_ways() {
    let script = Script::new("1|w(y,1)|-\n1|w(x,1)|here\n2|w(x,2)|-\n");
    let slice = script.slice(&Property::events([id(2), id(3), id(99)]), Rule::Sound);
    let sliced = slice.trace(&script.trace).unwrap();
    assert_eq!((slice.sliced(id(2)), slice.sliced(id(1))), (Some(id(1)), None));
    assert_eq!((slice.original(id(2)), slice.original(id(3))), (Some(id(3)), None));
    assert_eq!(sliced.names().loc_text(sliced.event(id(1)).loc), "here");
    assert_eq!(sliced.names().vars.name(sliced.event(id(1)).op.access().unwrap().var), "x");
}
