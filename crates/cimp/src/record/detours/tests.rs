//! Detours of small programs.

use foretell_trace::format::text::op_text;
use foretell_trace::values::{Demanded, Term};
use foretell_trace::{EventId, Trace};

use super::*;
use crate::record::{self, confirm};
use crate::scheduler::Serial;

fn compiled(source: &str) -> Program {
    crate::compile(source).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn serial(program: &Program) -> Run {
    record::run(program, &mut Serial::new(), &record::Limits::default()).unwrap()
}

fn all(program: &Program, run: &Run) -> Vec<Detour> {
    let detours = detours(program, run, Limits::default()).unwrap();
    detours.map(|detour| detour.expect("a detour is a trace")).collect()
}

/// Events without their places.
fn texts(trace: &Trace, events: impl IntoIterator<Item = EventId>) -> Vec<String> {
    let names = trace.names();
    let text = |id| {
        let event = trace.event(id);
        format!("{} {}", names.threads.name(event.thread), op_text(event.op, names))
    };
    events.into_iter().map(text).collect()
}

fn added(detour: &Detour) -> Vec<String> {
    texts(&detour.trace, detour.added.iter().copied())
}

fn rest(detour: &Detour) -> Vec<String> {
    let last = detour.added.last().copied().unwrap_or(detour.branch);
    texts(&detour.trace, detour.trace.iter().map(|(id, _)| id).filter(|&id| id > last))
}

/// What is added by each detour of a serial run of the program.
fn ways(source: &str) -> Vec<Vec<String>> {
    let program = compiled(source);
    all(&program, &serial(&program)).iter().map(added).collect()
}

/// The other side of the branch has the race, and only another order of the others gets there.
#[test]
fn a_race_beside_the_way_that_was_taken_is_an_execution() {
    let program = compiled(
        "shared x, y, z; lock l;
         { sync (l) { x = 1; } y = 1; }
         || { local r; sync (l) { r = x; } if (r == 1) z = 2; else z = y; }",
    );
    let run = serial(&program);
    let detours = all(&program, &run);
    assert_eq!(detours.len(), 1);
    let detour = &detours[0];
    assert_eq!(added(detour), ["t2 r(y)", "t2 w(z)"]);
    assert_eq!(texts(&detour.trace, [detour.branch]), ["t2 branch"]);
    let trace = &detour.trace;
    let values = trace.values().unwrap();
    let [demand] = values.demands(detour.branch) else { panic!() };
    assert_eq!(demand.value, Demanded::Number(1), "it is 0 now");
    let term = values.written(detour.added[1]).unwrap();
    assert_eq!(values.term(term), Term::Read(detour.added[0]));
    for (id, event) in run.trace.iter().take_while(|&(id, _)| id <= detour.branch) {
        assert_eq!(trace.event(id), event, "nothing has changed up to the decision");
        assert_eq!(detour.origins[id.index()], Some(id));
    }
    // Only if t2 comes first it gets to the read, and that is when t1 writes.
    let of = |thread: &str| {
        let thread = trace.names().threads.get(thread).unwrap();
        trace.iter().filter(move |(_, event)| event.thread == thread).map(|(id, _)| id).collect::<Vec<_>>()
    };
    let (first, second) = (of("t1"), of("t2"));
    let read = second.iter().position(|&id| id == detour.added[0]).unwrap();
    let witness = [&second[..read], &first[..3], &[second[read], first[3]]].concat();
    assert_eq!(confirm(&program, trace, &witness), Ok(()));
    let as_recorded = [&first[..3], &second[..read], &[second[read], first[3]]].concat();
    let instead = confirm(&program, trace, &as_recorded).unwrap_err();
    assert!(instead.contains("t2 does something else: it writes z"), "{instead}");
}

#[test]
fn decisions_on_the_detour_go_both_ways() {
    let found = ways(
        "shared x, y, z; { x = 0; y = 0; z = 0; }
         || { local r = x; if (r) { local s = y; if (s > 3) z = 1; else z = 2; } }",
    );
    assert_eq!(found, [["t2 r(y)", "t2 branch", "t2 w(z)"], ["t2 r(y)", "t2 branch", "t2 w(z)"]]);
}

#[test]
fn loops_are_left_and_run_once_more() {
    let found = ways("shared x, y; { x = 0; y = 0; } || { while (x) { y = 1; } y = 2; }");
    assert_eq!(found[0], ["t2 w(y)", "t2 r(x)", "t2 branch", "t2 w(y)"]);
    assert!(found.len() > 2 && found.iter().all(|way| way.len() <= 64));
    assert_eq!(found[1][..3], found[0][..3]);
}

#[test]
fn functions_are_walked_into_and_out_of() {
    let found = ways(
        "shared x, y; fn set(n) { y = n; return n + 1; }
         { x = 0; y = 0; } || { if (x) { local k = set(4); y = k; } y = 9; }",
    );
    assert_eq!(found, [["t2 w(y)", "t2 w(y)", "t2 w(y)"]]);
}

#[test]
fn a_detour_ends_where_the_thread_would_fail_fork_wait_or_block() {
    let before = "shared x, y, a[2]; lock l, m; condition c; semaphore s = 0; fn f() { y = 5; } { x = 0; y = 0; acquire(m); }";
    for (end, last) in [
        ("y = 1 / x;", "t2 branch"),
        ("a[x + 7] = 1;", "t2 branch"),
        ("fork f();", "t2 w(y)"),
        ("acquire(l); wait(c, l);", "t2 acq(l)"),
        ("P(s);", "t2 w(y)"),
        ("acquire(m);", "t2 w(y)"),
    ] {
        let found = ways(&format!("{before} || {{ if (x) {{ y = 1; {end} y = 2; }} }}"));
        assert_eq!(found.len(), 1, "{end}");
        assert_eq!(found[0][0], "t2 w(y)");
        assert_eq!(found[0].last().map(String::as_str), Some(last), "{end}: {found:?}");
    }
}

#[test]
fn what_is_accessed_on_the_detour_is_demanded() {
    let program = compiled("shared x, y, a[2]; { x = 0; y = 0; a[0] = 1; } || { if (x) { a[y] = 1; } }");
    let detours = all(&program, &serial(&program));
    assert_eq!(added(&detours[0]), ["t2 r(y)", "t2 branch", "t2 w(a[0])"]);
    let values = detours[0].trace.values().unwrap();
    let [demand] = values.demands(detours[0].added[2]) else { panic!() };
    assert_eq!(
        (values.term(demand.term), demand.value),
        (Term::Read(detours[0].added[0]), Demanded::Number(0))
    );
}

/// What comes after the thread's end, and what others need of it, is gone; no event stands for what was not done.
#[test]
fn who_needs_what_is_gone_stops() {
    for (way, need) in [("V(s);", "P(s);"), ("fork f();", ""), ("y = 2;", "join h;")] {
        let program = compiled(&format!(
            "shared x, y; semaphore s = 0; fn f() {{ y = 7; }}
             fn t() {{ if (x == 0) {{ {way} }} else {{ y = 1; while (1) y = 1; }} }}
             {{ x = 0; local h = fork t(); y = 0; {need} y = 3; }}"
        ));
        let run =
            record::run(&program, &mut crate::scheduler::RoundRobin::default(), &record::Limits::default())
                .unwrap();
        let detours = all(&program, &run);
        assert_eq!(detours.len(), 1, "{way}");
        let rest = rest(&detours[0]);
        let goes_on = rest.iter().filter(|event| *event == "main w(y)").count();
        assert!(rest.iter().all(|event| !event.contains("main.1")), "{rest:?}");
        assert_eq!(goes_on == 2, need.is_empty(), "{way}: {rest:?}");
    }
}
