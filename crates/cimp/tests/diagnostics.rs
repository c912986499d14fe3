//! What is said about programs that are wrong.

use foretell_cimp::compile;

/// A program, and everything that is wrong with it.
const WRONG: [(&str, &[&str]); 76] = [
    ("shared x; { x = 1 }", &["1:18: expected `;` after this statement"]),
    ("shared x; { x = 1\n x = 2; }", &["1:18: expected `;` after this statement"]),
    ("shared x; { z = 1; }", &["1:13: unknown name `z`; did you mean `x`?"]),
    ("shared count; { coutn = 1; }", &["1:17: unknown name `coutn`; did you mean `count`?"]),
    ("lock x; { x = 1; }", &["1:11: `x` is a lock, not a variable"]),
    ("lock x; { local y = x; }", &["1:21: `x` is a lock, not a variable"]),
    ("fn f(a, b) { } { f(1); }", &["1:18: `f` takes 2 arguments, but 1 is given"]),
    ("fn f() { } { f(1, 2); }", &["1:14: `f` takes 0 arguments, but 2 are given"]),
    ("shared a[3]; { a = 1; }", &["1:16: `a` is an array: say which element"]),
    ("shared x; { x[1] = 1; }", &["1:13: `x` is not an array"]),
    ("shared x;\nlock x; { skip; }", &["2:6: `x` is declared twice, first at 1:8"]),
    ("shared x; { local x; }", &["1:19: `x` is declared twice, first at 1:8"]),
    ("{ local i; { local i; } }", &["1:20: `i` is declared twice, first at 1:9"]),
    ("fn f(i, i) {} { skip; }", &["1:9: `i` is declared twice, first at 1:6"]),
    ("shared x; { acquire(x); }", &["1:21: `x` is a shared variable, not a lock or semaphore"]),
    ("lock l; { P(l); }", &["1:13: `l` is a lock, not a semaphore"]),
    ("semaphore s; { sync (s) { skip; } }", &["1:22: `s` is a semaphore, not a lock"]),
    (
        "lock l; condition c; { wait(l, c); }",
        &["1:29: `l` is a lock, not a condition", "1:32: `c` is a condition, not a lock"],
    ),
    ("lock l; { notify(l); }", &["1:18: `l` is a lock, not a condition"]),
    ("shared a[0]; { skip; }", &["1:10: `a` needs at least one element"]),
    ("shared a[70000]; { skip; }", &["1:8: `a` is too large: there may be 65536 elements in all"]),
    ("shared a[65536], b; { skip; }", &["1:18: `b` is too large: there may be 65536 elements in all"]),
    ("shared a[2] = {1, 2, 3}; { skip; }", &["1:15: `a` has 2 elements, but 3 numbers are given"]),
    ("shared x = {1}; { skip; }", &["1:12: `x` is not an array: it holds one number"]),
    ("semaphore s = -1; { skip; }", &["1:16: a semaphore cannot begin with -1 permits"]),
    ("shared x = 9223372036854775808; { skip; }", &["1:12: this number does not fit into 64 bits"]),
    ("shared x = 99999999999999999999; { skip; }", &["1:12: this number does not fit into 64 bits"]),
    ("shared x; { x = 1 < 2 < 3; }", &["1:23: comparisons cannot be chained"]),
    ("shared x; { if (x = 1) skip; }", &["1:19: expected `)` to close the parenthesis, but found `=`"]),
    ("shared x; { if x = 1 skip; }", &["1:18: expected a statement, but found `=`"]),
    ("shared x; { x + 1; }", &["1:15: expected `=` and a new value, but found `+`"]),
    ("shared x; { x; }", &["1:14: expected `=` and a new value, but found `;`"]),
    ("shared x; { x++; }", &["1:14: expected `=` and a new value, but found `+`"]),
    ("shared x; { 3 = x; }", &["1:13: nothing can be assigned to this"]),
    ("shared x; { else skip; }", &["1:13: this `else` belongs to no `if`"]),
    ("shared x; { skip; } }", &["1:21: this `}` closes nothing"]),
    ("shared x; { skip;", &["1:11: this `{` is never closed"]),
    ("{ skip; } { skip; }", &["1:11: expected `||` between threads, but found `{`"]),
    ("{ skip; } shared x;", &["1:11: declarations stand before the threads"]),
    ("shared x;", &["1:10: this program has no thread"]),
    ("shared lock; { skip; }", &["1:8: expected a name, but found the keyword `lock`"]),
    ("{ shared x; }", &["1:3: declarations stand before the threads, not within"]),
    (
        "{ local i = 1; { i = 2; } || { skip; } }",
        &["1:18: `i` belongs to the thread that starts this one, which has only a copy"],
    ),
    (
        "{ local i = 1; fork { i = 2; } }",
        &["1:23: `i` belongs to the thread that starts this one, which has only a copy"],
    ),
    ("{ { return; } || { skip; } }", &["1:5: `return` cannot leave a block that runs in parallel to others"]),
    ("{ return 1; }", &["1:3: a thread has no result: write `return;`"]),
    ("{ f(1); }", &["1:3: unknown name `f`"]),
    ("fn foo() {} { fork fo(); }", &["1:20: unknown name `fo`; did you mean `foo`?"]),
    ("cell Node { value, next } { local p = new Nod; }", &["1:43: unknown name `Nod`; did you mean `Node`?"]),
    (
        "cell Node { value, next } { local p = new Node; p.nxt = 1; }",
        &["1:51: no kind of cell has a field `nxt`; did you mean `next`?"],
    ),
    ("cell Node { a, a } { skip; }", &["1:16: `a` is declared twice, first at 1:13"]),
    ("{ local x = 3x; }", &["1:13: `3x` is neither a number nor a name"]),
    ("{ local x = 1 @ 2; }", &["1:15: unexpected character `@`"]),
    ("/* never { skip; }", &["1:1: this comment is never closed"]),
    ("thread a { skip; } || thread a { skip; }", &["1:30: there are two threads called `a`"]),
    ("thread t2 { skip; } || { skip; }", &["1:24: there are two threads called `t2`"]),
    ("shared a[3]; { a[3] = 1; }", &["1:18: `a` has no element 3: the last one is 2"]),
    ("shared a[3]; { a[-1] = 1; }", &["1:18: `a` has no element -1: the last one is 2"]),
    ("lock l[2]; { acquire(l); }", &["1:22: `l` is an array: say which element"]),
    ("lock l; { acquire(l[0]); }", &["1:19: `l` is not an array"]),
    ("{ local i; i[0] = 1; }", &["1:12: `i` is a local variable, not an array"]),
    ("fn f() {} { local i = f; }", &["1:23: `f` is a function, not a variable"]),
    ("shared x; { x(); }", &["1:13: `x` is a shared variable, not a function"]),
    ("{ skip; }; ", &["1:10: expected `||` and another thread, or the end of the program, but found `;`"]),
    ("{ ; }", &["1:3: expected a statement, but found `;`"]),
    (
        "{ local i = ; local j = ; }",
        &["1:13: expected an expression, but found `;`", "1:25: expected an expression, but found `;`"],
    ),
    (
        "{ if (1 { skip; } else { skip; } local i = i; }",
        &["1:9: expected `)` to close the parenthesis, but found `{`"],
    ),
    ("{ while 1 }", &["1:11: expected a statement, but found `}`"]),
    ("x = 1; { skip; }", &["1:1: expected a declaration or a thread, but found `x`"]),
    ("fn f( { skip; } { skip; }", &["1:7: expected the name of a parameter, but found `{`"]),
    ("{ join; }", &["1:7: expected an expression, but found `;`"]),
    ("{ wait(c); }", &["1:9: expected `,` and the lock to release while waiting, but found `)`"]),
    ("{ local é; }", &["1:9: unexpected character `é`"]),
    ("{ assert 1 }", &["1:11: expected `;` after this statement"]),
    ("{ local p = null; p.f = 1; }", &["1:21: no kind of cell has a field `f`"]),
    (
        "shared x; { x = y + z; }",
        &["1:17: unknown name `y`; did you mean `x`?", "1:21: unknown name `z`; did you mean `x`?"],
    ),
];

#[test]
fn mistakes_are_told_where_they_are() {
    for (source, expected) in WRONG {
        let errors = compile(source).expect_err(source);
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told, expected, "{source}");
    }
}

#[test]
fn advice_is_given() {
    let help = |source| compile(source).unwrap_err()[0].help.clone().unwrap_or_default();
    assert_eq!(help("shared x; { if (x = 1) skip; }"), "to compare, write `==`");
    assert_eq!(help("shared x; { x = 1 < 2 < 3; }"), "write `a < b && b < c`");
    assert_eq!(help("lock l[2]; { acquire(l); }"), "for the first one, write `l[0]`");
    assert_eq!(help("shared x;"), "write at least one thread after the declarations: `{ … }`");
}

#[test]
fn there_are_not_too_many_messages() {
    let source = format!("{{ {} }}", "x = 1;".repeat(1000));
    assert_eq!(compile(&source).unwrap_err().len(), 20);
}
