//! Every instruction, and what can go wrong at it.

use foretell_depend::{Binary, Unary};

use super::*;
use crate::assembly::increment;
use crate::program::Instr::*;

fn number(number: i64) -> Option<Value> {
    Some(Value::Number(number))
}

/// Runs one thread after the other until no thread can go on.
fn finish(machine: &mut Machine<'_>) {
    let mut turns = Vec::new();
    loop {
        machine.turns(&mut turns);
        match turns.first() {
            Some(&turn) => machine.step(turn).unwrap(),
            None => return,
        }
    }
}

fn finished(program: &Program) -> Machine<'_> {
    let mut machine = Machine::new(program, Bounds::default());
    finish(&mut machine);
    machine
}

/// What `x` holds after a thread ran this code.
#[track_caller]
fn result(code: &[Instr]) -> Value {
    let mut code = code.to_vec();
    code.push(Write(0));
    let program = Program::default().shared("x", 0).thread("main", &code);
    let machine = finished(&program);
    assert_eq!(machine.failure(), None);
    assert!(machine.is_finished());
    machine.value_of("x").unwrap()
}

#[track_caller]
fn fault(program: &Program) -> Fault {
    finished(program).failure().expect("something goes wrong").fault.clone()
}

fn turn(thread: u32) -> Turn {
    Turn { thread: ThreadRef(thread), wake: None }
}

#[test]
fn the_stack_and_locals() {
    assert_eq!(result(&[Constant(7)]), Value::Number(7));
    assert_eq!(result(&[Constant(7), Constant(8), Pop]), Value::Number(7));
    assert_eq!(
        result(&[Constant(7), SetLocal(1), Constant(1), Local(1), Binary(Binary::Add)]),
        Value::Number(8)
    );
    assert_eq!(result(&[Local(3)]), Value::ZERO);
    assert_eq!(result(&[Constant(7), Constant(3), Binary(Binary::Subtract)]), Value::Number(4));
    assert_eq!(result(&[Constant(7), Unary(Unary::Negate)]), Value::Number(-7));
}

#[test]
fn jumps_decisions_and_loops() {
    assert_eq!(result(&[Jump(2), Return, Constant(5)]), Value::Number(5));
    let decide = |on| {
        result(&[
            Mark,
            Constant(on),
            Decide { otherwise: 5, scope: 0, sticky: false },
            Constant(1),
            Jump(6),
            Constant(2),
            Meet { assigned: vec![], top: true },
        ])
    };
    assert_eq!(decide(3), Value::Number(1));
    assert_eq!(decide(0), Value::Number(2));
    let sum = [
        EnterLoop(0),
        Iterate(0),
        Local(0),
        Constant(10),
        Binary(Binary::Less),
        Decide { otherwise: 11, scope: 0, sticky: true },
        Local(0),
        Constant(1),
        Binary(Binary::Add),
        SetLocal(0),
        Jump(1),
        Local(0),
    ];
    assert_eq!(result(&sum), Value::Number(10));
    let program = Program::default().shared("x", 0).thread("main", &sum);
    let bounds = Bounds { loop_bound: Some(10), ..Bounds::default() };
    let mut machine = Machine::new(&program, bounds);
    machine.step(turn(0)).unwrap();
    let failure = machine.failure().unwrap().clone();
    assert_eq!(failure.fault, Fault::LoopBound(10));
    assert_eq!(failure.to_string(), "1:2: the loop runs more than 10 times (main)");
    let bounds = Bounds { loop_bound: Some(11), ..Bounds::default() };
    assert_ne!(Machine::new(&program, bounds).next(ThreadRef(0)).map(|step| step.action), Some(Action::Fail));
}

#[test]
fn functions_call_each_other_and_return() {
    // Function 1 is the factorial.
    let factorial = [
        Local(0),
        Decide { otherwise: 9, scope: 0, sticky: true },
        Local(0),
        Local(0),
        Constant(1),
        Binary(Binary::Subtract),
        Call(1),
        Binary(Binary::Multiply),
        Return,
        Constant(1),
        Return,
    ];
    let program = Program::default()
        .shared("x", 0)
        .thread("main", &[Constant(5), Call(1), Write(0)])
        .function(1, &factorial);
    assert_eq!(finished(&program).value_of("x"), number(120));
    let program = Program::default().thread("main", &[Constant(1_000), Call(1), Pop]).function(1, &factorial);
    assert_eq!(fault(&program), Fault::StackOverflow);
}

#[test]
fn a_thread_without_steps_cannot_go_on_forever() {
    let program = Program::default().thread("main", &[Jump(0)]);
    assert_eq!(fault(&program), Fault::TooManySilentSteps);
}

#[test]
fn arrays_have_bounds() {
    let program = Program::default()
        .array("a", &[4, 5, 6])
        .shared("x", 0)
        .thread("main", &[Constant(2), Read(0), Write(1), Constant(0), Constant(9), Write(0)]);
    let machine = finished(&program);
    assert_eq!((machine.value_of("x"), machine.value_of("a[0]")), (number(6), number(9)));
    assert_eq!((machine.value_of("a[3]"), machine.value_of("a"), machine.value_of("b")), (None, None, None));
    let names: Vec<String> = machine.shared().map(|(name, _)| name).collect();
    assert_eq!(names, ["a[0]", "a[1]", "a[2]", "x"]);
    for index in [-1, 3, i64::MAX] {
        let program =
            Program::default().array("a", &[4, 5, 6]).thread("main", &[Constant(index), Read(0), Pop]);
        assert_eq!(fault(&program), Fault::IndexOutOfBounds { index: Some(index), length: 3 });
    }
    let program = Program::default()
        .cell("C", &[])
        .array("a", &[4, 5, 6])
        .thread("main", &[New(0), Constant(1), Write(0)]);
    assert_eq!(fault(&program), Fault::IndexOutOfBounds { index: None, length: 3 });
}

#[test]
fn cells_have_fields() {
    let field = |name: &str| ReadField(name.to_owned());
    let set = |name: &str| WriteField(name.to_owned());
    let program = Program::default().cell("Node", &[("value", 7), ("next", 0)]).shared("x", 0).thread(
        "main",
        &[
            New(0),
            SetLocal(0),
            New(0),
            SetLocal(1),
            Local(0),
            Local(1),
            set("next"),
            Local(1),
            Constant(8),
            set("value"),
            Local(0),
            field("next"),
            field("value"),
            Local(0),
            field("value"),
            Binary(Binary::Multiply),
            Write(0),
        ],
    );
    let mut machine = Machine::new(&program, Bounds::default());
    let step = machine.next(ThreadRef(0)).unwrap();
    assert_eq!(step.position.to_string(), "1:7");
    let (place, writes) = step.action.access().unwrap();
    assert_eq!((machine.place_name(place).as_str(), writes), ("Node@main.1.next", true));
    finish(&mut machine);
    assert_eq!(machine.value_of("x"), number(56));

    let wrong =
        |code: &[Instr]| fault(&Program::default().cell("Node", &[("value", 7)]).thread("main", code));
    assert_eq!(wrong(&[Constant(0), field("value"), Pop]), Fault::NotAReference);
    let missing = Fault::NoSuchField { cell: "Node".to_owned(), field: "next".to_owned() };
    assert_eq!(wrong(&[New(0), field("next"), Pop]), missing);
    assert_eq!(wrong(&[New(0), Constant(1), Binary(Binary::Add), Pop]), Fault::NotANumber);
    assert_eq!(wrong(&[Constant(1), Constant(0), Binary(Binary::Divide), Pop]), Fault::DivisionByZero);
    assert_eq!(wrong(&[Constant(0), Assert]), Fault::Assertion);
    assert_eq!(wrong(&[Constant(0), Join]), Fault::NotAThread);
}

#[test]
fn locks_have_one_owner_and_can_be_taken_again() {
    let section = [Acquire(0), Acquire(0), Release(0), Release(0)];
    let program = Program::default().lock("l", None).thread("t1", &section).thread("t2", &section);
    let mut machine = Machine::new(&program, Bounds::default());
    machine.step(turn(0)).unwrap();
    assert!(machine.enabled(ThreadRef(0)) && !machine.enabled(ThreadRef(1)));
    assert_eq!(machine.step(turn(1)), Err(Refused));
    assert_eq!(machine.blocked()[0].to_string(), "t2 waits at 2:1 for l, which t1 holds");
    machine.step(turn(0)).unwrap();
    machine.step(turn(0)).unwrap();
    assert!(!machine.enabled(ThreadRef(1)));
    machine.step(turn(0)).unwrap();
    assert!(machine.enabled(ThreadRef(1)));
    assert!(machine.has_ended(ThreadRef(0)));
    assert_eq!(machine.next(ThreadRef(0)), None);
    let program = Program::default().lock("l", Some(2)).thread("t1", &[Constant(1), Release(0)]);
    assert_eq!(fault(&program), Fault::NotHeld("l[1]".to_owned()));
}

#[test]
fn semaphores_count() {
    let program = Program::default()
        .semaphore("s", None, 2)
        .thread("t1", &[SemWait(0), SemWait(0), SemWait(0)])
        .thread("t2", &[SemPost(0)]);
    let mut machine = Machine::new(&program, Bounds::default());
    machine.step(turn(0)).unwrap();
    machine.step(turn(0)).unwrap();
    assert_eq!(machine.blocked()[0].to_string(), "t1 waits at 1:3 for a permit of s");
    machine.step(turn(1)).unwrap();
    machine.step(turn(0)).unwrap();
    assert!(machine.is_finished());
}

fn waiter() -> Vec<Instr> {
    vec![Acquire(0), Acquire(0), Wait { condition: 0, lock: 0 }, Release(0), Release(0)]
}

#[test]
fn a_wait_gives_up_the_lock_and_takes_it_back_as_often() {
    let program = Program::default()
        .lock("l", None)
        .condition("c", None)
        .thread("t1", &waiter())
        .thread("t2", &[Acquire(0), NotifyAll(0), Release(0)]);
    let mut machine = Machine::new(&program, Bounds::default());
    for _ in 0..3 {
        machine.step(turn(0)).unwrap();
    }
    assert_eq!(machine.blocked()[0].to_string(), "t1 waits at 1:3 for a notification of c");
    machine.step(turn(1)).unwrap();
    machine.step(turn(1)).unwrap();
    assert_eq!(machine.blocked()[0].to_string(), "t1 waits at 1:3 for l, which t2 holds");
    machine.step(turn(1)).unwrap();
    assert_eq!(machine.next(ThreadRef(0)).unwrap().action, Action::Woken { condition: 0, lock: 0 });
    machine.step(turn(0)).unwrap();
    machine.step(turn(0)).unwrap();
    assert!(machine.has_ended(ThreadRef(1)) && !machine.has_ended(ThreadRef(0)));
    machine.step(turn(0)).unwrap();
    assert!(machine.is_finished());
    let program = Program::default()
        .lock("l", None)
        .condition("c", None)
        .thread("t1", &[Wait { condition: 0, lock: 0 }]);
    assert_eq!(fault(&program), Fault::NotHeld("l".to_owned()));
}

#[test]
fn who_is_notified_is_a_choice() {
    let program = Program::default()
        .lock("l", None)
        .condition("c", None)
        .thread("t1", &waiter())
        .thread("t2", &waiter())
        .thread("t3", &[Notify(0), Notify(0), Notify(0)]);
    let mut machine = Machine::new(&program, Bounds::default());
    for thread in [0, 0, 0, 1, 1, 1] {
        machine.step(turn(thread)).unwrap();
    }
    assert_eq!(machine.choices(ThreadRef(2)), [Some(ThreadRef(0)), Some(ThreadRef(1))]);
    assert_eq!(machine.step(turn(2)), Err(Refused));
    machine.step(Turn { thread: ThreadRef(2), wake: Some(ThreadRef(1)) }).unwrap();
    assert!(machine.enabled(ThreadRef(1)) && !machine.enabled(ThreadRef(0)));
    assert_eq!(machine.choices(ThreadRef(2)), [Some(ThreadRef(0))]);
    machine.step(Turn { thread: ThreadRef(2), wake: Some(ThreadRef(0)) }).unwrap();
    assert_eq!(machine.choices(ThreadRef(2)), [None]);
    machine.step(turn(2)).unwrap();
    finish(&mut machine);
    assert!(machine.is_finished());
}

#[test]
fn indices_pick_locks_and_conditions() {
    let program = Program::default()
        .lock("k", None)
        .lock("l", Some(3))
        .condition("c", Some(2))
        .thread("t1", &[Constant(2), Acquire(1), Constant(1), Constant(2), Wait { condition: 0, lock: 1 }]);
    let mut machine = Machine::new(&program, Bounds::default());
    machine.step(turn(0)).unwrap();
    assert_eq!(machine.next(ThreadRef(0)).unwrap().action, Action::Wait { condition: 1, lock: 3 });
    machine.step(turn(0)).unwrap();
    assert!(machine.is_deadlocked());
    assert_eq!(machine.blocked()[0].to_string(), "t1 waits at 1:5 for a notification of c[1]");
}

#[test]
fn forked_threads_get_their_arguments_and_are_joined() {
    let program = Program::default()
        .shared("x", 0)
        .thread(
            "main",
            &[Constant(20), Constant(4), Fork(1), Join, Read(0), Constant(1), Binary(Binary::Add), Write(0)],
        )
        .function(2, &[Local(0), Local(1), Binary(Binary::Divide), Write(0)]);
    let mut machine = Machine::new(&program, Bounds::default());
    assert_eq!(machine.next_child_name(ThreadRef(0)), "main.1");
    machine.step(turn(0)).unwrap();
    assert_eq!(machine.thread_named("main.1"), Some(ThreadRef(1)));
    assert_eq!(machine.blocked()[0].to_string(), "main waits at 1:4 for the end of main.1");
    finish(&mut machine);
    assert_eq!(machine.value_of("x"), number(6));
    let program = Program::default().thread("main", &[Fork(0), Pop]);
    assert_eq!(fault(&program), Fault::TooManyThreads);
}

/// What others do before a thread fails may depend on what it did last.
#[test]
fn to_fail_is_a_step_of_its_own() {
    let program = Program::default()
        .shared("x", 0)
        .thread("t1", &[Constant(1), Write(0), Constant(0), Assert])
        .thread("t2", &[Read(0), Write(0), Constant(2), Write(0)]);
    let mut machine = Machine::new(&program, Bounds::default());
    machine.step(turn(0)).unwrap();
    assert_eq!(machine.failure(), None);
    assert_eq!(machine.next(ThreadRef(0)).unwrap().action, Action::Fail);
    machine.step(turn(1)).unwrap();
    machine.step(turn(1)).unwrap();
    assert_eq!(machine.value_of("x"), number(1));
    machine.step(turn(0)).unwrap();
    assert_eq!(machine.failure().unwrap().to_string(), "1:4: the assertion does not hold (t1)");
    assert!(!machine.enabled(ThreadRef(1)));
    assert_eq!(machine.step(turn(1)), Err(Refused));
}

/// All states of a program that forks from two threads, by key: each key leads back to a state of the same key, and the
/// same steps are possible there.
#[test]
fn keys_do_not_depend_on_the_schedule_and_lead_back() {
    let code = [
        New(0),
        SetLocal(1),
        Local(1),
        Fork(2),
        SetLocal(0),
        Local(1),
        Constant(i64::MIN),
        WriteField("f".to_owned()),
        Local(0),
        Write(0),
        Local(0),
        Join,
    ];
    let program = Program::default()
        .shared("x", 0)
        .lock("l", None)
        .condition("c", None)
        .semaphore("s", None, 1)
        .cell("C", &[("f", 3)])
        .thread("t1", &code)
        .thread("t2", &code)
        .function(1, &[Local(0), ReadField("f".to_owned()), Pop, Acquire(0), SemWait(0), Release(0)]);
    let mut seen = std::collections::BTreeMap::new();
    let mut open = vec![Machine::new(&program, Bounds::default())];
    let (mut key, mut again, mut turns) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(machine) = open.pop() {
        machine.key(&mut key);
        let mut restored = Machine::new(&program, Bounds::default());
        restored.restore(&key, &mut ());
        restored.key(&mut again);
        assert_eq!(key, again);
        let steps = |machine: &Machine<'_>| {
            let mut steps: Vec<(String, bool, Option<Position>)> = machine
                .threads()
                .map(|t| (machine.thread_name(t), machine.enabled(t), machine.next(t).map(|s| s.position)))
                .collect();
            steps.sort();
            (steps, machine.value_of("x").map(|value| machine.value_name(value)))
        };
        assert_eq!(steps(&machine), steps(&restored));
        if let Some(before) = seen.insert(key.clone(), steps(&machine)) {
            assert_eq!(before, steps(&machine));
            continue;
        }
        machine.turns(&mut turns);
        for &turn in &turns {
            let mut next = machine.clone();
            next.step(turn).unwrap();
            open.push(next);
        }
    }
    assert!(seen.len() > 200, "{}", seen.len());
}

#[test]
fn copying_a_state_onto_another_makes_them_equal() {
    let program = Program::default().shared("x", 0).thread("t1", &increment(0)).thread("t2", &increment(0));
    let start = Machine::new(&program, Bounds::default());
    let mut copy = finished(&program);
    copy.clone_from(&start);
    let (mut key, mut other) = (Vec::new(), Vec::new());
    start.key(&mut key);
    copy.key(&mut other);
    assert_eq!(key, other);
}
