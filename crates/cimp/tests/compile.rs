//! `compile` answers every text: with a program whose code is in order, or with what is wrong.

use foretell_cimp::program::{Function, Instr, Program};
use foretell_cimp::{Diagnostic, compile};
use proptest::prelude::*;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

fn examples() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(EXAMPLES).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "cimp") {
            found.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
        }
    }
    assert!(!found.is_empty());
    found
}

/// How many values and marks there are before an instruction runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Heights {
    values: usize,
    marks: usize,
}

/// Whichever way leads to an instruction, there are as many values and marks, and enough of them.
fn check_function(program: &Program, function: &Function) {
    assert_eq!(function.code.len(), function.positions.len());
    assert_eq!(function.code.last(), Some(&Instr::Return));
    let mut known = vec![None; function.code.len()];
    let mut open = vec![(0, Heights { values: 0, marks: 0 })];
    while let Some((at, before)) = open.pop() {
        if let Some(other) = known[at].replace(before) {
            assert_eq!(before, other, "{} at {at}", function.name);
            continue;
        }
        let instr = &function.code[at];
        check_operands(program, function, instr);
        let (pops, pushes) = values(program, instr);
        let values = before.values.checked_sub(pops).unwrap() + pushes;
        let marks = match instr {
            Instr::Mark => before.marks + 1,
            Instr::Meet { .. } | Instr::Unmark => before.marks.checked_sub(1).unwrap(),
            _ => before.marks,
        };
        let after = Heights { values, marks };
        match instr {
            Instr::Jump(to) => open.push((*to, after)),
            Instr::Return => assert_eq!(after.values, 0),
            Instr::Decide { otherwise, .. } => open.extend([(*otherwise, after), (at + 1, after)]),
            _ => open.push((at + 1, after)),
        }
    }
}

/// How many values an instruction pops and pushes.
fn values(program: &Program, instr: &Instr) -> (usize, usize) {
    let index = |length: Option<u32>| usize::from(length.is_some());
    match instr {
        Instr::Constant(_) | Instr::Local(_) | Instr::New(_) => (0, 1),
        Instr::SetLocal(_)
        | Instr::Pop
        | Instr::Decide { .. }
        | Instr::Assert
        | Instr::Join
        | Instr::Return => (1, 0),
        Instr::Unary(_) | Instr::ReadField(_) => (1, 1),
        Instr::Binary(_) => (2, 1),
        Instr::Read(variable) => (index(program.shared[*variable].group.length), 1),
        Instr::Write(variable) => (index(program.shared[*variable].group.length) + 1, 0),
        Instr::WriteField(_) => (2, 0),
        Instr::Acquire(lock) | Instr::Release(lock) => (index(program.locks[*lock].length), 0),
        Instr::SemWait(semaphore) | Instr::SemPost(semaphore) => {
            (index(program.semaphores[*semaphore].0.length), 0)
        }
        Instr::Wait { condition, lock } => {
            (index(program.conditions[*condition].length) + index(program.locks[*lock].length), 0)
        }
        Instr::Notify(condition) | Instr::NotifyAll(condition) => {
            (index(program.conditions[*condition].length), 0)
        }
        Instr::Call(function) | Instr::Fork(function) => (program.functions[*function].parameters.into(), 1),
        Instr::Meet { top, .. } => (usize::from(*top), usize::from(*top)),
        Instr::Jump(_) | Instr::Mark | Instr::Unmark | Instr::EnterLoop(_) | Instr::Iterate(_) => (0, 0),
    }
}

fn check_operands(program: &Program, function: &Function, instr: &Instr) {
    match instr {
        Instr::Local(slot) | Instr::SetLocal(slot) => assert!(*slot < function.locals),
        Instr::EnterLoop(counter) | Instr::Iterate(counter) => assert!(*counter < function.loops),
        Instr::Decide { scope, .. } => assert!(*scope < program.scopes.len()),
        Instr::Meet { assigned, .. } => assert!(assigned.iter().all(|slot| *slot < function.locals)),
        Instr::New(cell) => assert!(*cell < program.cells.len()),
        _ => {}
    }
}

fn check_program(program: &Program) {
    assert!(!program.threads.is_empty());
    program.functions.iter().for_each(|function| check_function(program, function));
    for scope in &program.scopes {
        assert!(scope.shared.is_sorted() && scope.fields.is_sorted());
    }
    for shared in &program.shared {
        assert_eq!(shared.initial.len(), shared.group.length.unwrap_or(1) as usize);
    }
}

/// Any text is answered; what can be said about the answer is checked.
fn check(source: &str) {
    match compile(source) {
        Ok(program) => check_program(&program),
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.render("a.cimp", source).is_empty()));
        }
    }
}

#[test]
fn all_examples_are_programs() {
    for (path, source) in examples() {
        match compile(&source) {
            Ok(program) => check_program(&program),
            Err(errors) => panic!("{}", errors[0].render(&path, &source)),
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = [
        format!("shared x; {{ x = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("shared x; {{ x = {}1; }}", "-".repeat(100_000)),
        format!("shared x; {{ x = {}1; }}", "not ".repeat(100_000)),
        format!("shared x; {{ x = 1{}; }}", " + 1".repeat(100_000)),
        format!("shared x; {{ x = 1{}; }}", " && 1".repeat(100_000)),
        format!("cell C {{ f }} {{ local p; p{} = 1; }}", ".f".repeat(100_000)),
        format!("{{ {} }}", "{".repeat(100_000)),
        format!("{{ {} skip; }}", "if 1 ".repeat(100_000)),
        format!("{{ {} skip; }}", "if 1 skip; else ".repeat(50_000)),
        format!("{{ local h = {}", "fork { local h = 1 + ".repeat(30_000)),
    ];
    for source in deep {
        let errors = compile(&source).unwrap_err();
        let told = |error: &Diagnostic| error.message == "this is nested too deeply: more than 256 levels";
        assert!(errors.iter().any(told), "{}", &source[..40]);
    }
}

#[test]
fn sums_within_each_other_count_together() {
    // Each sum is short and each is the beginning of another one, so the tree leans to the left.
    let sum = |inner: String| format!("({inner}{})", " + 1".repeat(100));
    let nested = |levels| (0..levels).fold("1".to_owned(), |inner, _| sum(inner));
    assert!(compile(&format!("shared x; {{ x = {}; }}", nested(2))).is_ok());
    assert!(compile(&format!("shared x; {{ x = {}; }}", nested(3))).is_err());
}

#[test]
fn much_of_everything_is_no_problem() {
    let many = [
        format!("shared x; {{ {} }}", "x = x + 1;".repeat(50_000)),
        format!("shared x; {{ {} }}", "if x return;".repeat(30_000)),
        format!("shared x; {{ {} }}", "{ local i = x; x = i; }".repeat(30_000)),
        format!("shared x; {{ {} }}", "if x { { x = 1; } || { x = 2; } }".repeat(10_000)),
        format!("shared x; {} {{ f0(); }}", chain(20_000)),
        format!("shared x{}; {{ {} }}", names(4_000), returns(4_000)),
        format!("shared x; {{ {} }}", "z = 1;".repeat(100_000)),
        format!("shared x; {{ {} }}", "z = ".repeat(100_000)),
        "{".to_owned() + &"}".repeat(500_000),
    ];
    for source in many {
        check(&source);
    }
}

/// Functions that call each other in a circle.
fn chain(length: usize) -> String {
    (0..length).map(|number| format!("fn f{number}() {{ if x f{}(); }}", (number + 1) % length)).collect()
}

fn names(count: usize) -> String {
    (0..count).map(|number| format!(", x{number}")).collect()
}

fn returns(count: usize) -> String {
    (0..count).map(|number| format!("if x return; x{number} = 1;")).collect()
}

#[test]
fn too_much_is_refused() {
    let message = |source: &str| compile(source).unwrap_err()[0].message.clone();
    let locals: String = (0..70_000).map(|number| format!("local i{number};")).collect();
    assert!(message(&format!("{{ {locals} }}")).starts_with("there are too many local variables"));
    assert!(
        message(&format!("{{ {} }}", "while 0 skip;".repeat(70_000))).starts_with("there are too many loops")
    );
    assert!(
        message(&format!("shared x{}; {{ skip; }}", names(5_000)))
            .starts_with("there are too many declarations")
    );
    assert!(message(&" ".repeat((1 << 20) + 1)).starts_with("this program is longer"));
}

/// Words that programs are made of.
fn word() -> impl Strategy<Value = String> {
    let fixed = [
        "shared",
        "atomic",
        "lock",
        "semaphore",
        "condition",
        "cell",
        "fn",
        "thread",
        "skip",
        "local",
        "if",
        "else",
        "while",
        "assert",
        "acquire",
        "release",
        "P",
        "V",
        "sync",
        "wait",
        "notify",
        "notifyall",
        "fork",
        "join",
        "return",
        "new",
        "true",
        "null",
        "not",
        "and",
        "or",
        "x",
        "y",
        "l",
        "s",
        "c",
        "f",
        "N",
        "0",
        "1",
        "7",
        "=",
        ":=",
        "==",
        "<",
        "+",
        "-",
        "*",
        "/",
        "%",
        "&&",
        "||",
        "!",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ";",
        ".",
    ];
    prop::sample::select(fixed.map(str::to_owned).to_vec())
}

/// An example in which some words were taken out, doubled, replaced or exchanged.
fn mutated() -> impl Strategy<Value = String> {
    let examples: Vec<String> = examples().into_iter().map(|(_, source)| source).collect();
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4, word());
    (prop::sample::select(examples), prop::collection::vec(change, 1..4)).prop_map(|(source, changes)| {
        let mut words = split(&source);
        for (first, second, kind, word) in changes {
            let (first, second) = (first.index(words.len()), second.index(words.len()));
            match kind {
                0 => words[first] = String::new(),
                1 => words[first] = words[second].clone(),
                2 => words.swap(first, second),
                _ => words.insert(first, format!(" {word} ")),
            }
        }
        words.concat()
    })
}

/// The words and single symbols of a text, with what is between them.
fn split(source: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut within = false;
    for character in source.chars() {
        let part_of_word = character.is_alphanumeric();
        match words.last_mut() {
            Some(word) if within && part_of_word => word.push(character),
            _ => words.push(character.to_string()),
        }
        within = part_of_word;
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(source in any::<String>()) {
        check(&source);
    }

    #[test]
    fn any_words_are_answered(words in prop::collection::vec(word(), 0..60)) {
        check(&format!("shared x, y[2]; lock l; semaphore s; fn f(n) {{ }} cell N {{ f }} {{ {} }}", words.join(" ")));
        check(&words.join(" "));
    }

    #[test]
    fn examples_with_mistakes_are_answered(source in mutated()) {
        check(&source);
    }
}
