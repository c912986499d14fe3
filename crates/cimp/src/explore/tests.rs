//! Programs whose executions are known.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::compile;
use crate::machine::Bounds;
use crate::machine::blocked::Wanted;
use crate::record;
use crate::scheduler::{Given, Pct, replay};

#[track_caller]
fn program(source: &str) -> Program {
    compile(source).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Explores breadth-first and depth-first; both must find the same, and all that is found must be there when the
/// program runs again.
#[track_caller]
fn explored_with(source: &str, limits: &Limits<'_>) -> Exploration {
    let program = program(source);
    let found = explore(&program, limits);
    let deep = explore(&program, &Limits { order: Order::DepthFirst, ..*limits });
    assert_eq!((found.states, found.final_states), (deep.states, deep.final_states));
    assert_eq!(found.executions, deep.executions);
    assert_eq!(pairs(&found), pairs(&deep));
    for found in [&found, &deep] {
        check_schedules(&program, limits, found);
    }
    found
}

fn explored(source: &str) -> Exploration {
    let found = explored_with(source, &Limits { count_executions: true, ..Limits::default() });
    assert_eq!(found.incomplete, []);
    found
}

fn check_schedules(program: &Program, limits: &Limits<'_>, found: &Exploration) {
    let reach =
        |schedule: &Schedule| replay(program, limits.bounds, schedule).expect("the schedule is possible");
    for race in &found.races {
        let machine = reach(&race.schedule);
        let side = |access: &RaceSide| {
            let thread = machine.thread_named(&access.thread).unwrap();
            assert_eq!(machine.next(thread).unwrap().position, access.position);
            thread
        };
        let place = machine.race(side(&race.first), side(&race.second)).expect("a race");
        assert_eq!(machine.place_name(place), race.variable);
    }
    for found in &found.failures {
        assert_eq!(reach(&found.schedule).failure(), Some(&found.failure));
        let mut given = Given::new(found.schedule.clone());
        let limits = record::Limits { bounds: limits.bounds, ..record::Limits::default() };
        let run = record::run(program, &mut given, &limits).unwrap();
        assert_eq!(run.ending, record::Ending::Failed(found.failure.clone()));
    }
    for deadlock in &found.deadlocks {
        let machine = reach(&deadlock.schedule);
        assert!(machine.is_deadlocked());
        let sorted = |blocked: &[crate::machine::Blocked]| {
            let mut blocked = blocked.to_vec();
            blocked.sort();
            blocked
        };
        assert_eq!(sorted(&machine.blocked()), sorted(&deadlock.blocked));
    }
}

/// The races by variable and places.
fn pairs(found: &Exploration) -> Vec<String> {
    let pair = |race: &Race| format!("{} {} {}", race.variable, race.first.position, race.second.position);
    let mut pairs: Vec<String> = found.races.iter().map(pair).collect();
    pairs.sort();
    pairs
}

const LOST_UPDATE: &str = "shared x; { x = x + 1; } || { x = x + 1; }";

#[test]
fn a_lost_update() {
    let found = explored(LOST_UPDATE);
    // Two steps each; two results.
    assert_eq!(found.executions, Some(6));
    assert_eq!(found.final_states, 2);
    assert_eq!(pairs(&found), ["x 1:13 1:31", "x 1:13 1:35", "x 1:17 1:31"]);
    let shortest: Vec<usize> = found.races.iter().map(|race| race.schedule.0.len()).collect();
    assert_eq!(shortest, [1, 1, 2]);
    let nothing_lost = |state: &StateView<'_>| !state.is_finished() || state.number("x") == Some(2);
    let limits = Limits { properties: &[&|_| true, &nothing_lost], ..Limits::default() };
    let [None, Some(lost)] = &explore(&program(LOST_UPDATE), &limits).violations[..] else {
        panic!("what always holds does, and the other property is violated");
    };
    let machine = replay(&program(LOST_UPDATE), Bounds::default(), lost).map(|machine| machine.value_of("x"));
    assert_eq!(machine, Ok(Some(crate::value::Value::Number(1))));
}

#[test]
fn atomics_and_locks_do_not_race() {
    assert_eq!(pairs(&explored("atomic x; { x = x + 1; } || { x = x + 1; }")), [""; 0]);
    let locked = explored("shared x; lock l; { sync (l) { x = x + 1; } } || { sync (l) { x = x + 1; } }");
    assert_eq!(pairs(&locked), [""; 0]);
    assert_eq!((locked.executions, locked.final_states), (Some(2), 1));
    assert_eq!(pairs(&explored("shared x; { local y = x; } || { local y = x; }")), [""; 0]);
}

#[test]
fn philosophers_starve_unless_they_agree_on_an_order() {
    let table = |forks: [(usize, usize); 3]| {
        let seat =
            |(first, second)| format!("{{ sync (fork_[{first}]) {{ sync (fork_[{second}]) {{ skip; }} }} }}");
        format!("lock fork_[3]; {}", forks.map(seat).join(" || "))
    };
    let found = explored(&table([(0, 1), (1, 2), (2, 0)]));
    assert_eq!(found.deadlocks.len(), 1);
    let deadlock = &found.deadlocks[0];
    assert_eq!(deadlock.schedule.to_string(), "t1,t2,t3");
    let wanted: Vec<String> = deadlock
        .blocked
        .iter()
        .map(|blocked| match &blocked.wants {
            Wanted::Lock { lock, owner } => format!("{} {lock} {owner}", blocked.thread),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(wanted, ["t1 fork_[1] t2", "t2 fork_[2] t3", "t3 fork_[0] t1"]);
    assert_eq!(explored(&table([(0, 1), (1, 2), (0, 2)])).deadlocks, []);
}

const PETERSON: &str = "
    atomic q1, q2, turn; shared inside;
    { q1 = 1; turn = 1; while (q2 == 1 and turn == 1) skip; inside = inside + 1; inside = inside - 1; q1 = 0; }
    || { q2 = 1; turn = 2; while (q1 == 1 and turn == 2) skip; inside = inside + 1; inside = inside - 1; q2 = 0; }";

#[test]
fn peterson_keeps_threads_apart() {
    let alone = |state: &StateView<'_>| state.number("inside").is_some_and(|inside| inside <= 1);
    let limits = Limits { properties: &[&alone], count_executions: true, ..Limits::default() };
    let found = explored_with(PETERSON, &limits);
    assert!(found.is_complete());
    assert_eq!((pairs(&found), &found.violations), (vec![], &vec![None]));
    // Waiting can take forever: there is no number of executions.
    assert_eq!((found.executions, found.final_states), (None, 2));
    let broken = PETERSON.replace("turn = 2; while (q1", "turn = 1; while (q1");
    let found = explored_with(&broken, &limits);
    assert!(found.violations[0].is_some() && !found.races.is_empty());
}

#[test]
fn a_wait_must_look_again() {
    let buffer = |word: &str| {
        format!(
            "shared count; lock l; condition c;
             {{ sync (l) {{ count = count + 1; notify(c); }} }}
             || {{ sync (l) {{ {word} (count == 0) wait(c, l); assert count > 0; count = count - 1; }} }}
             || {{ sync (l) {{ {word} (count == 0) wait(c, l); assert count > 0; count = count - 1; }} }}"
        )
    };
    let found = explored(&buffer("if"));
    let failures: Vec<String> = found.failures.iter().map(|found| found.failure.to_string()).collect();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures.iter().all(|failure| failure.contains("the assertion does not hold")));
    let found = explored(&buffer("while"));
    assert_eq!(found.failures, []);
    // One consumer goes away with nothing.
    assert!(!found.deadlocks.is_empty());
}

#[test]
fn notifications_reach_any_waiter() {
    let found = explored(
        "shared order; lock l; condition c; semaphore ready = 0;
         { sync (l) { V(ready); wait(c, l); order = order * 10 + 1; } }
         || { sync (l) { V(ready); wait(c, l); order = order * 10 + 2; } }
         || { P(ready); P(ready); sync (l) { notify(c); notify(c); } }",
    );
    assert_eq!((found.final_states, found.deadlocks.len()), (2, 0));
    let found = explored(
        "shared first; lock l; condition c; semaphore ready = 0;
         { sync (l) { V(ready); wait(c, l); first = 1; } }
         || { sync (l) { V(ready); wait(c, l); first = 2; } }
         || { P(ready); P(ready); sync (l) { notify(c); } }",
    );
    assert_eq!(found.deadlocks.len(), 2);
    assert!(found.deadlocks.iter().any(|deadlock| deadlock.schedule.to_string().contains("t3>t2")));
}

#[test]
fn states_are_the_same_however_threads_and_cells_came_about() {
    let found = explored(
        "cell Box { content = 1 } shared done[2];
         fn work(box, place) { box.content = box.content + 1; done[place] = 1; }
         { fork work(new Box, 0); } || { fork work(new Box, 1); }",
    );
    // Four steps per side (fork, read, write, write), which do not touch each other.
    assert_eq!((found.states, found.final_states), (25, 1));
    assert_eq!(found.executions, Some(70));
    assert_eq!(pairs(&found), [""; 0]);
}

#[test]
fn races_on_cells_are_named() {
    let found = explored(
        "cell Node { value = 7 } shared p;
         { local n = new Node; p = n; n.value = 1; } || { local m = p; if (m != null) m.value = 2; }",
    );
    assert_eq!(found.races.len(), 2);
    assert!(found.races.iter().any(|race| race.variable == "Node@t1.1.value"));
}

#[test]
fn limits_are_told() {
    let endless = "shared x; { while (true) { x = x + 1; } } || { x = 0; }";
    let found = explore(&program(endless), &Limits { states: 1000, ..Limits::default() });
    let busiest_loop = Some(crate::program::Position { line: 1, column: 13 });
    assert_eq!(found.incomplete, [Incomplete::States { limit: 1000, busiest_loop }]);
    assert_eq!(
        found.incomplete[0].to_string(),
        "there are more than 1000 states; the loop at 1:13 ran most often"
    );
    let found = explore(&program(endless), &Limits { bytes: 10_000, ..Limits::default() });
    assert!(matches!(found.incomplete[..], [Incomplete::Bytes { limit: 10_000, .. }]));
    let stop = AtomicBool::new(true);
    let found = explore(&program(endless), &Limits { stop: Some(&stop), ..Limits::default() });
    assert!(matches!(found.incomplete[..], [Incomplete::Stopped { .. }]));
    let bounds = Bounds { loop_bound: Some(3), ..Bounds::default() };
    let found = explored_with(endless, &Limits { bounds, count_executions: true, ..Limits::default() });
    assert_eq!(found.incomplete[0].to_string(), "1:13: the loop runs more than 3 times");
    assert_eq!((found.failures, found.executions), (vec![], None));
    assert!(!found.races.is_empty());
    let found = explore(&program("fn f() { return f(); } { f(); }"), &Limits::default());
    assert_eq!((found.failures.len(), found.incomplete.len()), (1, 1));
    assert_eq!(found.failures[0].schedule.to_string(), "main");
}

/// Two constraints: the check comes before the change, and the use after it.
const CHECK_THEN_USE: &str = "
    atomic ready = 1, a, b, c;
    { a = 1; a = 2; if (ready) { assert ready; } a = 3; } || { b = 1; b = 2; ready = 0; b = 3; } || { c = 1; c = 2; }";

#[test]
fn pct_keeps_its_promise() {
    let program = program(CHECK_THEN_USE);
    assert!(!explore(&program, &Limits::default()).failures.is_empty());
    let fails = |seed: u64, depth| {
        let run = record::run(&program, &mut Pct::new(seed, depth, 11), &record::Limits::default()).unwrap();
        matches!(run.ending, record::Ending::Failed(_))
    };
    let runs = 3_000;
    let found = (0..runs).filter(|&seed| fails(seed, 2)).count();
    // Three threads, at most eleven steps, depth two: at least one in 33.
    assert!(found >= 3_000 / 33, "{found}");
    // Without a change of priority a thread runs through what it can, and the check holds.
    assert_eq!((0..runs).filter(|&seed| fails(seed, 1)).count(), 0);
}

#[test]
fn executions_are_counted_from_a_beginning_on_a_cycle_and_from_none() {
    assert_eq!(explored("shared x; { while (x == 0) skip; }").executions, None);
    assert_eq!(
        explored("shared x, y; { while (x == 0) skip; } || { while (y == 0) skip; }").executions,
        None
    );
    assert_eq!(explored("lock l; { release(l); }").executions, Some(1));
    assert_eq!(explored("{ skip; }").executions, Some(1));
}
