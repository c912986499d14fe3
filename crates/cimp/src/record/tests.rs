//! What is recorded of small programs.

use foretell_depend::{Binary, Node};
use foretell_trace::format::text::op_text;

use super::*;
use crate::assembly::increment;
use crate::program::Instr::{self, *};
use crate::scheduler::{Given, Pct, Random, RoundRobin, Serial};

fn recorded(program: &Program, scheduler: &mut dyn Scheduler) -> Run {
    let run = run(program, scheduler, &Limits::default()).expect("every execution is a trace");
    assert!(run.trace.events().iter().all(|event| !event.unexplained), "every read is explained");
    assert_eq!(run.flow.len(), run.trace.events().len());
    run
}

/// The trace as `thread op@loc`, one per event.
fn events(run: &Run) -> Vec<String> {
    let names = run.trace.names();
    let text = |event: &foretell_trace::Event| {
        let (thread, loc) = (names.threads.name(event.thread), names.loc_text(event.loc));
        format!("{thread} {}@{loc}", op_text(event.op, names))
    };
    run.trace.events().iter().map(text).collect()
}

fn serial(program: &Program) -> Run {
    recorded(program, &mut Serial::new())
}

fn event(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}

fn if_then_else(condition: &[Instr], then: &[Instr], otherwise: &[Instr], assigned: &[u16]) -> Vec<Instr> {
    let mut code = vec![Mark];
    code.extend_from_slice(condition);
    let otherwise_at = code.len() + 1 + then.len() + 1;
    code.push(Decide { otherwise: otherwise_at, scope: 0, sticky: false });
    code.extend_from_slice(then);
    code.push(Jump(otherwise_at + otherwise.len()));
    code.extend_from_slice(otherwise);
    code.push(Meet { assigned: assigned.to_vec(), top: false });
    code
}

#[test]
fn a_trace_shows_steps_with_values_and_places() {
    let program = Program::default().shared("x", 0).thread("t1", &increment(0)).thread("t2", &increment(0));
    let run = recorded(&program, &mut RoundRobin::default());
    let steps = ["t1 r(x,0)@1:1", "t2 r(x,0)@2:1", "t1 w(x,1)@1:4", "t2 w(x,1)@2:4"];
    assert_eq!(events(&run)[..4], steps);
    // Nothing was decided, and the trace says so.
    assert_eq!(events(&run)[4..], ["t2 branch@2:4"]);
    assert!(!run.is_step(event(5)) && run.flow.of(event(5)).value.is_none());
    assert_eq!(run.ending, Ending::Finished);
    assert_eq!(run.schedule.to_string(), "t1,t2,t1,t2");
    let stored = run.flow.of(event(3)).value.unwrap();
    assert_eq!(run.flow.reads(stored), [event(1)]);
    assert!(matches!(run.flow.node(stored), Node::Binary(Binary::Add, _, _)));
}

#[test]
fn initial_values_are_set_up_before_everything() {
    let program = Program::default()
        .shared("x", 5)
        .array("a", &[0, -1, 2])
        .atomic("done")
        .thread("t1", &[Constant(0), Write(0), Constant(1), Read(1), Write(2)])
        .thread("init", &[Read(0), Pop]);
    assert_eq!(
        events(&serial(&program)),
        [
            "init.0 w(x,5)@init",
            "init.0 w(a[1],-1)@init",
            "init.0 fork(t1)@init",
            "init.0 fork(init)@init",
            "t1 w(x,0)@1:2",
            "t1 r(a[1],-1)@1:4",
            "t1 astore(done,-1)@1:5",
            "init r(x,0)@2:1",
            "init branch@2:1"
        ]
    );
}

#[test]
fn permits_that_the_trace_does_not_show_are_set_up() {
    let both = |permits| {
        let section = [SemWait(0), SemPost(0)];
        let program =
            Program::default().semaphore("s", None, permits).thread("t1", &section).thread("t2", &section);
        events(&serial(&program))
            .iter()
            .filter(|event| event.starts_with("init"))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert!(both(1).is_empty());
    assert_eq!(both(2), ["init sem(s,2)@init", "init fork(t1)@init", "init fork(t2)@init"]);
    // One permit is as good as two for a thread that takes one.
    let program = Program::default().semaphore("s", None, 2).thread("t1", &[SemWait(0)]);
    assert_eq!(events(&serial(&program)), ["t1 p(s)@1:1"]);
}

#[test]
fn new_cells_show_what_they_hold() {
    let program = Program::default()
        .shared("p", 0)
        .cell("Node", &[("value", 7), ("next", 0)])
        .thread("main", &[New(0), Write(0), Read(0), ReadField("value".to_owned()), Pop]);
    let run = serial(&program);
    assert_eq!(
        events(&run),
        [
            "main w(Node@main.1.value,7)@1:1",
            "main w(p,Node@main.1)@1:2",
            "main r(p,Node@main.1)@1:3",
            "main branch@1:4",
            "main r(Node@main.1.value,7)@1:4",
        ]
    );
    let read = run.flow.of(event(5));
    assert_eq!(run.flow.reads(read.address.unwrap()), [event(3)]);
    assert_eq!(read.control, Some(event(4)));
    let scope = run.flow.of(event(4)).scope.unwrap();
    assert!(run.flow.scope(scope).may_stop);
    assert!(!run.is_step(event(1)) && run.is_step(event(2)) && !run.is_step(event(4)));
}

#[test]
fn what_an_if_assigns_depends_on_it_and_what_follows_does_not() {
    let mut code = if_then_else(&[Read(0)], &[Constant(1), SetLocal(0)], &[Constant(2), Write(1)], &[0]);
    code.extend([Local(0), Write(2), Constant(3), Write(2)]);
    let program = Program::default()
        .shared("x", 0)
        .shared("y", 0)
        .shared("z", 0)
        .scope(&[1], &[], false)
        .thread("main", &code);
    let run = serial(&program);
    assert_eq!(
        events(&run),
        ["main r(x,0)@1:2", "main branch@1:3", "main w(y,2)@1:8", "main w(z,0)@1:11", "main w(z,3)@1:13"]
    );
    assert_eq!(run.flow.of(event(3)).control, Some(event(2)));
    let after = run.flow.of(event(4));
    assert_eq!(after.control, None);
    assert!(matches!(run.flow.node(after.value.unwrap()), Node::Chosen { .. }));
    assert_eq!(run.flow.reads(after.value.unwrap()), [event(1)]);
    assert_eq!(run.flow.node(run.flow.of(event(5)).value.unwrap()), Node::Constant(3));
    let scope = run.flow.scope(run.flow.of(event(2)).scope.unwrap());
    let writes: Vec<&str> = scope.writes.iter().map(|&var| run.trace.names().vars.name(var)).collect();
    assert_eq!((writes, scope.may_stop), (vec!["y"], false));
}

#[test]
fn decisions_on_constants_are_none() {
    let mut code = if_then_else(&[Constant(1)], &[Constant(1), SetLocal(0)], &[], &[0]);
    code.extend([Local(0), Write(0)]);
    let run = serial(&Program::default().shared("x", 0).thread("main", &code));
    assert_eq!(events(&run), ["main w(x,1)@1:9"]);
    assert_eq!(run.flow.node(run.flow.of(event(1)).value.unwrap()), Node::Constant(1));
}

#[test]
fn sticky_decisions_are_never_forgotten() {
    let then = [Read(0), Constant(1), Binary(Binary::Less), Assert];
    let mut code = if_then_else(&[Read(0), Unary(foretell_depend::Unary::Not)], &then, &[], &[]);
    code.extend([Constant(1), Write(0)]);
    let run = serial(&Program::default().shared("x", 0).scope(&[], &[], true).thread("main", &code));
    assert_eq!(
        events(&run),
        ["main r(x,0)@1:2", "main branch@1:4", "main r(x,0)@1:5", "main branch@1:8", "main w(x,1)@1:12"]
    );
    assert_eq!(run.flow.decisions(event(5)).collect::<Vec<_>>(), [event(4), event(2)]);
}

#[test]
fn the_result_of_a_function_depends_on_what_it_decided() {
    // if (x) return 1; return 2;
    let callee = [
        Mark,
        Read(0),
        Decide { otherwise: 5, scope: 0, sticky: false },
        Constant(1),
        Return,
        Unmark,
        Constant(2),
        Return,
    ];
    let program = Program::default()
        .shared("x", 0)
        .scope(&[], &[], false)
        .thread("main", &[Call(1), Write(0), Constant(5), Write(0)])
        .function(0, &callee);
    for initial in [0, 4] {
        let mut program = program.clone();
        program.shared[0].initial[0] = initial;
        let run = serial(&program);
        let writes: Vec<EventId> =
            run.trace.iter().filter(|(id, _)| run.is_step(*id)).map(|(id, _)| id).skip(1).collect();
        let use_of = |write: usize| run.flow.of(writes[write]);
        assert_eq!((use_of(0).control, use_of(1).control), (None, None));
        assert_eq!(run.flow.reads(use_of(0).value.unwrap()).len(), 1);
        assert!(run.flow.reads(use_of(1).value.unwrap()).is_empty());
    }
}

#[test]
fn indices_divisors_and_arguments_are_guarded() {
    let program = Program::default()
        .shared("i", 0)
        .array("a", &[0, 0])
        .lock("l", Some(2))
        .thread("main", &[Read(0), Acquire(0), Read(0), Fork(1), Write(0), Read(0), Join])
        .function(1, &[Local(0), Read(1), Constant(1), Binary(Binary::Add), Constant(7), Write(1)]);
    let run = serial(&program);
    assert_eq!(
        events(&run),
        [
            "main r(i,0)@1:1",
            "main branch@1:2",
            "main acq(l[0])@1:2",
            "main r(i,0)@1:3",
            "main branch@1:4",
            "main fork(main.1)@1:4",
            "main.1 branch@2:2",
            "main w(i,main.1)@1:5",
            "main r(i,main.1)@1:6",
            "main branch@1:7",
            "main.1 r(a[0],0)@2:2",
            "main.1 branch@2:6",
            "main.1 w(a[1],7)@2:6",
            "main join(main.1)@1:7",
        ]
    );
    // The new thread continues the chain of decisions.
    assert_eq!(run.flow.decisions(event(11)).collect::<Vec<_>>(), [event(7), event(5), event(2)]);
    let program = Program::default()
        .shared("x", 1)
        .thread("main", &[Constant(6), Read(0), Binary(Binary::Divide), Write(0)]);
    let run = serial(&program);
    assert_eq!(events(&run)[2..], ["main r(x,1)@1:2", "main branch@1:3", "main w(x,6)@1:4"]);
}

#[test]
fn endings_are_told_apart() {
    let program = Program::default().shared("x", 0).thread("main", &[Constant(1), Write(0), Jump(0)]);
    let limits = Limits { steps: 5, ..Limits::default() };
    let limited = run(&program, &mut Serial::new(), &limits).unwrap();
    assert_eq!((limited.ending, limited.trace.events().len()), (Ending::StepLimit, 5));
    let program = Program::default().shared("x", 0).thread("main", &[Read(0), Assert]);
    let failed = serial(&program);
    assert_eq!(events(&failed), ["main r(x,0)@1:1", "main branch@1:2"]);
    let Ending::Failed(failure) = failed.ending else { panic!("{:?}", failed.ending) };
    assert_eq!(failure.to_string(), "1:2: the assertion does not hold (main)");
    let program = Program::default().semaphore("s", None, 0).thread("main", &[SemWait(0)]);
    let stuck = serial(&program);
    let Ending::Deadlock(blocked) = stuck.ending else { panic!("{:?}", stuck.ending) };
    assert_eq!(blocked[0].to_string(), "main waits at 1:1 for a permit of s");
    assert!(stuck.trace.events().is_empty());
}

/// A program that uses everything, so that schedules make a difference.
fn busy() -> Program {
    let worker = |lock: i64| {
        let mut code = vec![Constant(lock), Acquire(0), Constant(lock), Acquire(0), New(0), SetLocal(1)];
        code.extend([Local(1), Read(0), WriteField("f".to_owned())]);
        code.extend([Constant(lock), Release(0), Constant(lock), Release(0), SemWait(0)]);
        code.extend(increment(0));
        code.extend([SemPost(0), Read(2), Pop, Constant(2), Write(2), Acquire(1), Notify(0)]);
        code.extend([Release(1), Local(1), Fork(4), Join]);
        code
    };
    let waiter = [Acquire(1), Wait { condition: 0, lock: 1 }, Read(0), Pop, Release(1), NotifyAll(0)];
    Program::default()
        .shared("x", 3)
        .array("a", &[1, 0])
        .atomic("flag")
        .lock("l", Some(2))
        .lock("m", None)
        .condition("c", None)
        .semaphore("s", None, 2)
        .cell("C", &[("f", 1), ("g", -4)])
        .thread("t1", &worker(0))
        .thread("t2", &worker(1))
        .thread("t3", &waiter)
        .thread("t4", &waiter)
        .function(
            1,
            &[Local(0), ReadField("f".to_owned()), Constant(2), Binary(Binary::Remainder), Read(1), Pop],
        )
}

#[test]
fn every_schedule_is_a_trace_and_can_be_repeated() {
    let program = busy();
    let mut different = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let schedulers: [&mut dyn Scheduler; 3] =
            [&mut Random::new(seed), &mut Pct::new(seed, 3, 60), &mut Pct::new(seed, 1, 0)];
        for scheduler in schedulers {
            let first = recorded(&program, scheduler);
            let text = first.schedule.to_string();
            let mut given = Given::new(text.parse().unwrap());
            let again = recorded(&program, &mut given);
            assert_eq!((given.problem(), given.left()), (None, 0));
            assert_eq!(events(&first), events(&again));
            assert_eq!(first.ending, again.ending);
            different.insert(text);
        }
    }
    assert!(different.len() > 500, "{}", different.len());
    let repeated = |seed| recorded(&program, &mut Random::new(seed)).schedule;
    assert_eq!(repeated(7), repeated(7));
}

#[test]
fn a_schedule_that_cannot_be_followed_is_reported_and_goes_on() {
    let program = Program::default().shared("x", 0).thread("t1", &increment(0)).thread("t2", &increment(0));
    let mut given = Given::new("t2,t1*3".parse().unwrap());
    let run = recorded(&program, &mut given);
    assert_eq!(run.schedule.to_string(), "t2,t1*2,t2");
    assert_eq!(given.problem(), Some("entry 4 of the schedule, t1, is not possible: t2 can continue"));
    assert_eq!(given.left(), 1);
}

#[test]
fn a_witness_is_confirmed_by_the_program() {
    let mut writer = vec![Acquire(0)];
    writer.extend(increment(0));
    writer.extend([Release(0), Constant(1), Write(1)]);
    let mut reader = vec![Acquire(0)];
    reader.extend(increment(0));
    reader.extend([Release(0), Read(1), Pop]);
    let program = Program::default()
        .shared("x", 2)
        .shared("y", 0)
        .lock("l", None)
        .thread("t1", &writer)
        .thread("t2", &reader);
    let run = serial(&program);
    let all: Vec<EventId> = run.trace.iter().map(|(id, _)| id).collect();
    let (setup, rest) = all.split_at(3);
    let (first, second) = rest.split_at(5);
    let order = |parts: &[&[EventId]]| parts.concat();
    let swapped = order(&[setup, &second[..4], &first[..4], &[second[4], first[4]]]);
    assert_eq!(confirm(&program, &run.trace, &swapped), Ok(()));
    let overlapping = order(&[setup, &second[..1], &first[..4], &[second[4], first[4]]]);
    assert_eq!(
        confirm(&program, &run.trace, &overlapping).unwrap_err(),
        "event 4: t1 waits at 1:1 for l, which t2 holds"
    );
    let early = order(&[&first[..3], &[second[4], first[4]]]);
    assert_eq!(
        confirm(&program, &run.trace, &early).unwrap_err(),
        "event 13: t2 does something else: it acquires l at 2:1"
    );
    let no_race = order(&[&[first[0], second[0]]]);
    assert_eq!(confirm(&program, &run.trace, &no_race).unwrap_err(), "events 4 and 9 do not conflict");
    assert!(confirm(&program, &run.trace, &[first[0]]).is_err());
}

/// What the node evaluates to if every read sees what was recorded; `None` if that takes references.
fn evaluate(run: &Run, node: foretell_depend::NodeId) -> Option<i64> {
    let number = |value| crate::value::Value::Number(value);
    let result = match run.flow.node(node) {
        Node::Constant(constant) => return Some(constant),
        Node::Read(event) => {
            let value = run.trace.event(event).op.value_read()?;
            return run.trace.names().value_text(value).parse().ok();
        }
        Node::Chosen { value, .. } => return evaluate(run, value),
        Node::Unary(op, of) => crate::value::unary(op, number(evaluate(run, of)?)),
        Node::Binary(op, left, right) => {
            crate::value::binary(op, number(evaluate(run, left)?), number(evaluate(run, right)?))
        }
    };
    match result {
        Ok(crate::value::Value::Number(number)) => Some(number),
        other => panic!("{other:?}"),
    }
}

const SOURCES: [&str; 4] = [
    "shared x = 3, y, a[4] = {1, 2, 3, 0}; lock l;
     fn pick(n) { if (n > 2) return a[n % 4]; local i = 0; while (i < n && a[i] != 0) i = i + 1; return -i; }
     { local t = 0; if (x > 1) t = x * 2; else y = 7; y = t; y = pick(x); assert y != 1000; }
     || { sync (l) { x = x + 1; } x = pick(y + 1) + x; a[x * x % 4] = 10 / (x * x + 1); }
     || { sync (l) { x = x - 1; } if (not y) { local k = pick(x * x); a[2] = k; } }",
    "cell Node { value = 7, next } shared head; atomic stop; lock l;
     fn push(v) { local n = new Node; n.value = v; sync (l) { n.next = head; head = n; } }
     { push(1); push(2); stop = 1; }
     || { while (stop == 0) { if (head != null) head.value = head.value + 1; } }
     || { local h = fork push(3); join h; local p = head; local s = 0; while (p) { s = s + p.value; p = p.next; } head = s; }",
    "shared n, m; semaphore s = 2, t = 0; condition c; lock l;
     fn work(k) { P(s); n = n + k; V(s); if (k > 1) { fork work(k - 1); } V(t); }
     { fork work(2); fork work(n + 1); P(t); P(t); { m = n; } || { m = m + 1; } n = m; }
     || { sync (l) { wait(c, l); } } || { sync (l) { notify(c); } sync (l) { notifyall(c); } }",
    "shared x, y; { local a = x || y; local b = x && y; y = (a or b) + 2 * (x and y); } || { x = 1; y = -x; }",
];

#[test]
fn the_flow_explains_what_is_written_and_decided() {
    let mut written = 0;
    for source in SOURCES {
        let program = crate::compile(source).unwrap_or_else(|errors| panic!("{errors:?}"));
        for seed in 0..200 {
            let limits = Limits { steps: 300, ..Limits::default() };
            let run = run(&program, &mut Random::new(seed), &limits).unwrap();
            assert!(run.trace.events().iter().all(|event| !event.unexplained));
            for (id, event) in run.trace.iter() {
                let depends = run.flow.of(id);
                let value = depends.value.and_then(|value| evaluate(&run, value));
                if let (Some(stored), Some(value)) = (event.op.value_written(), value) {
                    let stored = run.trace.names().value_text(stored);
                    assert!(stored == value.to_string() || stored.contains(['@', '.']), "{stored} {value}");
                    written += 1;
                }
                let depends_on = depends.value.into_iter().chain(depends.address);
                assert!(depends_on.flat_map(|node| run.flow.reads(node)).all(|read| read < id));
                assert!(depends.control.is_none_or(|branch| branch < id));
                assert_eq!(depends.scope.is_some(), event.op == foretell_trace::Op::Branch);
            }
        }
    }
    assert!(written > 1_000);
}

/// A recorded execution is its own witness, up to any two events in a row that conflict.
#[test]
fn what_was_recorded_is_confirmed() {
    let mut confirmed = 0;
    for source in SOURCES {
        let program = crate::compile(source).unwrap();
        for seed in 0..100 {
            let limits = Limits { steps: 300, ..Limits::default() };
            let run = run(&program, &mut Random::new(seed), &limits).unwrap();
            let steps: Vec<EventId> =
                run.trace.iter().map(|(id, _)| id).filter(|&id| run.is_step(id)).collect();
            for end in 2..=steps.len() {
                let [first, second] = [steps[end - 2], steps[end - 1]].map(|id| run.trace.event(id));
                let conflict =
                    first.op.access().zip(second.op.access()).is_some_and(|(a, b)| a.conflicts_with(b));
                if conflict && first.thread != second.thread {
                    assert_eq!(confirm(&program, &run.trace, &steps[..end]), Ok(()));
                    confirmed += 1;
                }
            }
        }
    }
    assert!(confirmed > 100, "{confirmed}");
}
