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
        Read(0),
        Mark,
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
        Read(0),
        Mark,
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
        Read(0),
        Mark,
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
        Read(0),
        Mark,
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
        Read(0),
        Mark,
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

/// Whether the only decision of the only thread may stop.
fn may_stop(declarations: &str, way: &str) -> bool {
    let program =
        program(&format!("shared x, y, a[3]; atomic v; lock l; {declarations} {{ if x {{ {way} }} }}"));
    let scopes = program.scopes;
    assert_eq!(scopes.len(), 1);
    scopes[0].may_stop
}

#[test]
fn what_may_stop() {
    let stops = [
        ("", "acquire(l);"),
        ("", "v = 1;"),
        ("", "y = v;"),
        ("", "assert y;"),
        ("", "while y skip;"),
        ("", "y = 1 / y;"),
        ("", "y = 1 % 0;"),
        ("", "a[y] = 1;"),
        ("", "y = a[y];"),
        ("", "{ y = 1; } || { y = 2; }"),
        ("fn f() { y = 1; }", "fork f();"),
        ("fn f() { acquire(l); }", "f();"),
        ("fn f() { f(); }", "f();"),
        ("cell C { f }", "local p = new C;"),
        ("cell C { f }", "y = y.f;"),
    ];
    for (declarations, way) in stops {
        assert!(may_stop(declarations, way), "{declarations} {way}");
    }
    let goes_on =
        ["skip;", "y = a[2] + 7 / -2;", "a[0] = y % 3;", "local i = y; y = i * i == not y;", "f(y);"];
    for way in goes_on {
        assert!(!may_stop("fn f(n) { y = n - 1; return n; }", way), "{way}");
    }
}

#[test]
fn computing_with_what_may_be_a_reference_may_fail() {
    let fails = [
        ("{ local h = fork f(0); if x { local i = h + 1; } }", true),
        ("{ local h = fork f(0); if x { local i = h == 1; } }", false),
        ("{ local h = fork f(0); if x { y = y + 1; } }", false),
        ("{ y = new C; if x { local i = y + 1; } }", true),
        ("{ local p = new C; p.f = p; if x { y = x + 1; } }", false),
        ("{ local h = fork f(0); if x { y = -f(1); } }", false),
        ("{ if x { y = -f(1); } } || { local i = f(new C); }", true),
        ("{ local h = new C; { if x { y = h + 1; } } || { skip; } }", true),
    ];
    for (threads, expected) in fails {
        let program = program(&format!("shared x, y; cell C {{ f }} fn f(n) {{ return n; }} {threads}"));
        assert_eq!(program.scopes[0].may_stop, expected, "{threads}");
    }
}

#[test]
fn scopes_reach_to_where_the_ways_meet() {
    let shared = |source: &str| -> Vec<Vec<usize>> {
        program(source).scopes.into_iter().map(|scope| scope.shared).collect()
    };
    let nested = "shared x, a, b, c; { if x { a = 1; if x b = 1; } c = 1; }";
    assert_eq!(shared(nested), [vec![2], vec![1, 2]]);
    let returning = "shared x, a, b, c; fn f() { a = 1; if x return; b = 1; } { f(); c = 1; }";
    assert_eq!(shared(returning), [vec![2]]);
    let in_a_loop = "shared x, a, b; { while x { a = 1; if x return; } b = 1; }";
    assert_eq!(shared(in_a_loop), [vec![1, 2]]);
    let called =
        "shared x, a, b; fn f() { g(); } fn g() { b = 1; fork h(); } fn h() { a = 1; } { if x f(); }";
    assert_eq!(shared(called), [vec![1, 2]]);
}

#[test]
fn fields_are_part_of_scopes() {
    let program = program("shared x; cell C { f, g } { local p = new C; if x { p.g = 1; p.f = 2; } }");
    assert_eq!(
        program.scopes,
        [Scope { shared: vec![], fields: vec!["f".into(), "g".into()], may_stop: true }]
    );
}
