//! The code of small programs.

use foretell_cimp::compile;
use foretell_cimp::program::{Instr, Program, Scope};
use foretell_depend::Binary;

use Instr::{Binary as Compute, *};

fn program(source: &str) -> Program {
    compile(source).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|error| error.render("test", source)).collect::<Vec<_>>().join("\n"))
    })
}

/// The code of the only thread, without the return at its end.
fn code(source: &str) -> Vec<Instr> {
    let mut program = program(source);
    let (_, main) = program.threads[0];
    let mut code = std::mem::take(&mut program.functions[main].code);
    assert_eq!(code.split_off(code.len() - 2), [Constant(0), Return]);
    code
}

fn decide(otherwise: usize, scope: usize) -> Instr {
    Decide { otherwise, scope, sticky: false }
}

fn meet(assigned: &[u16]) -> Instr {
    Meet { assigned: assigned.to_vec(), top: false }
}

#[test]
fn reads_and_writes() {
    let expected = [Read(0), Constant(1), Compute(Binary::Add), Write(1)];
    assert_eq!(code("shared x, y; { y = x + 1; }"), expected);
}

#[test]
fn elements_are_picked_before_the_value_is_computed() {
    let expected = [Read(0), Constant(2), Read(1), Write(1)];
    assert_eq!(code("shared x, a[3]; { a[x] = a[2]; }"), expected);
}

#[test]
fn fields() {
    let expected =
        [New(0), SetLocal(0), Local(0), ReadField("next".into()), Constant(3), WriteField("value".into())];
    assert_eq!(code("cell N { value, next } { local p = new N; p.next.value = 3; }"), expected);
}

#[test]
fn the_ways_of_an_if_meet() {
    let source = "shared x, y; { local i, j; if x { i = 1; local k = 2; } else y = 3; }";
    let expected = [
        Constant(0),
        SetLocal(0),
        Constant(0),
        SetLocal(1),
        Mark,
        Read(0),
        decide(12, 0),
        Constant(1),
        SetLocal(0),
        Constant(2),
        SetLocal(2),
        Jump(14),
        Constant(3),
        Write(1),
        meet(&[0]),
    ];
    assert_eq!(code(source), expected);
    assert_eq!(program(source).scopes, [Scope { shared: vec![1], fields: vec![], may_stop: false }]);
}

#[test]
fn ways_that_return_do_not_meet() {
    let source = "shared x, y, z; { z = 1; if x return; y = 1; }";
    let expected = [
        Constant(1),
        Write(2),
        Mark,
        Read(0),
        decide(7, 0),
        Constant(0),
        Return,
        Unmark,
        Constant(1),
        Write(1),
    ];
    assert_eq!(code(source), expected);
    assert_eq!(program(source).scopes, [Scope { shared: vec![1], fields: vec![], may_stop: false }]);
}

#[test]
fn loops_are_sticky() {
    let source = "shared x, y; { while x y = 0; }";
    let expected = [
        EnterLoop(0),
        Read(0),
        Decide { otherwise: 7, scope: 0, sticky: true },
        Constant(0),
        Write(1),
        Iterate(0),
        Jump(1),
    ];
    assert_eq!(code(source), expected);
    assert_eq!(program(source).scopes, [Scope { shared: vec![1], fields: vec![], may_stop: true }]);
}

#[test]
fn the_right_side_is_computed_if_the_left_one_does_not_tell() {
    let and = [
        Mark,
        Read(0),
        decide(7, 0),
        Read(1),
        Constant(0),
        Compute(Binary::NotEqual),
        Jump(8),
        Constant(0),
        Meet { assigned: vec![], top: true },
        SetLocal(0),
    ];
    assert_eq!(code("shared x, y; { local i = x && y; }"), and);
    let or = [
        Mark,
        Read(0),
        decide(5, 0),
        Constant(1),
        Jump(8),
        Read(1),
        Constant(1),
        Compute(Binary::Less),
        Meet { assigned: vec![], top: true },
        SetLocal(0),
    ];
    assert_eq!(code("shared x, y; { local i = x || y < 1; }"), or);
    assert_eq!(
        code("shared x, y; { local i = x and y; }"),
        [Read(0), Read(1), Compute(Binary::And), SetLocal(0)]
    );
}

#[test]
fn sync_releases_what_it_took() {
    let source = "lock l, m[2]; shared x; { sync (l) { sync (m[x]) { if x return; } } }";
    let expected = [
        Acquire(0),
        Read(0),
        SetLocal(0),
        Local(0),
        Acquire(1),
        Mark,
        Read(0),
        decide(13, 0),
        Constant(0),
        Local(0),
        Release(1),
        Release(0),
        Return,
        Unmark,
        Local(0),
        Release(1),
        Release(0),
    ];
    assert_eq!(code(source), expected);
}

#[test]
fn blocks_in_parallel_get_copies() {
    let source = "shared x; { local i = 1, j = 2, k = 3; { x = k + i; } || { skip; } }";
    let expected = [
        Constant(1),
        SetLocal(0),
        Constant(2),
        SetLocal(1),
        Constant(3),
        SetLocal(2),
        Local(0),
        Local(2),
        Fork(1),
        SetLocal(3),
        Fork(2),
        SetLocal(4),
        Local(3),
        Join,
        Local(4),
        Join,
    ];
    assert_eq!(code(source), expected);
    let program = program(source);
    assert_eq!(program.functions[1].parameters, 2);
    assert_eq!(program.functions[1].code[..4], [Local(1), Local(0), Compute(Binary::Add), Write(0)]);
}

#[test]
fn decisions_of_recursive_functions_are_sticky() {
    let source =
        "shared x; fn f(n) { if n g(n - 1); } fn g(n) { f(n); } fn h(n) { if n x = 1; } { f(3); h(1); }";
    let program = program(source);
    let sticky = |name: &str| {
        let function = program.functions.iter().find(|function| function.name == name).unwrap();
        function.code.iter().find_map(|instr| match instr {
            Decide { sticky, scope, .. } => Some((*sticky, program.scopes[*scope].may_stop)),
            _ => None,
        })
    };
    assert_eq!(sticky("f"), Some((true, true)));
    assert_eq!(sticky("h"), Some((false, false)));
}
