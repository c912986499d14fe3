//! An instrumented program does what it would have done without us, alone and while it is recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{is_ready, programs};
use foretell_testkit::process::limited;

/// The lowest level of optimisation and one at which everything is inlined.
const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// What a source file wants the compiler to be told, in a line `// options: …`.
fn options(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source).expect("a source file");
    let lines = text.lines().filter_map(|line| line.strip_prefix("// options: "));
    lines.flat_map(str::split_whitespace).map(str::to_string).collect()
}

/// Compiles with clang itself, or with foretell in its place.
fn compile(source: &Path, level: &str, instrumented: bool) -> PathBuf {
    let is_c = source.extension().is_some_and(|ending| ending == "c");
    let mut command = if instrumented {
        let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
        command.arg(if is_c { "cc" } else { "c++" });
        command
    } else {
        Command::new(if is_c { "clang-22" } else { "clang++-22" })
    };
    let name = source.file_name().unwrap_or_default().to_string_lossy().replace('.', "_");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}{level}-{instrumented}"));
    command.arg(level).args(options(source)).arg(source).arg("-o").arg(&program).args(["-pthread", "-w"]);
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    program
}

/// What a program prints and how it ends; recorded if there is a folder for that.
fn run(program: &Path, log: Option<&Path>) -> (String, Option<i32>) {
    let mut command = limited(program);
    if let Some(folder) = log {
        command.env("FORETELL_LOG", folder);
    }
    let Output { stdout, status, .. } = command.output().expect("it runs");
    (String::from_utf8_lossy(&stdout).into_owned(), status.code())
}

fn check(name: &str) {
    check_processes(name, 1);
}

/// As [`check`], for a program that becomes so many processes.
fn check_processes(name: &str, processes: usize) {
    if !is_ready() {
        return;
    }
    let source = programs().join("behaviour").join(name);
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("log-{}", name.replace('.', "_")));
    // What is left of an earlier run.
    let _ = fs::remove_dir_all(&log);
    for level in LEVELS {
        let expected = run(&compile(&source, level, false), None);
        assert!(expected.1.is_some() && !expected.0.is_empty(), "{name} works");
        let instrumented = compile(&source, level, true);
        assert_eq!(run(&instrumented, None), expected, "{name} at {level}, alone");
        fs::create_dir_all(&log).expect("a folder");
        assert_eq!(run(&instrumented, Some(&log)), expected, "{name} at {level}, recorded");
        let files = fs::read_dir(&log).expect("the folder").map(|entry| entry.expect("a file").path());
        let logged = files.filter(|path| path.extension().is_some_and(|ending| ending == "ftraw")).count();
        assert_eq!(logged, processes, "{name} at {level} was recorded");
        fs::remove_dir_all(&log).expect("the folder goes away");
    }
}

#[test]
fn atomic_operations_on_all_kinds_of_types() {
    check("atomics.c");
}

#[test]
fn times_and_locks_that_are_refused() {
    check("refused.c");
}

#[test]
fn waits_that_handlers_of_signals_end() {
    check("interrupted.c");
}

#[test]
fn threads_that_are_cancelled() {
    check("cancelled.c");
}

#[test]
fn signals_that_new_threads_hear() {
    check("masks.c");
}

#[test]
fn copies_of_the_process_past_fork() {
    check("copies.c");
}

#[test]
fn formats_that_are_not_kept_as_texts() {
    check("odd_formats.c");
}

#[test]
fn memory_of_all_kinds_of_types() {
    check("memory.c");
}

#[test]
fn all_ways_to_go_on_elsewhere() {
    check("control.c");
}

#[test]
fn exceptions_and_the_rest_of_the_language() {
    check("language.cpp");
}

#[test]
fn coroutines() {
    check("coroutines.cpp");
}

#[test]
fn code_that_may_be_there_once() {
    check("assembly.c");
    if !is_ready() {
        return;
    }
    let source = programs().join("behaviour/assembly.c");
    let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
    command.args(["cc", "-O1", "-S", "-emit-llvm", "-o", "-"]).arg(source);
    let code = String::from_utf8_lossy(&command.output().expect("the compiler runs").stdout).into_owned();
    let has_plain_body = |name: &str| code.contains(&format!("musttail call i32 @{name}.plain("));
    for name in ["main", "aligned", "called_by_the_only_one"] {
        assert!(has_plain_body(name), "{name} costs nothing where nothing is recorded");
    }
    for name in ["with_a_symbol", "variadic"] {
        assert!(!has_plain_body(name) && code.contains(&format!("@{name}(")), "{name} cannot be copied");
    }
}

#[test]
fn whoever_asks_may_run_where_it_could_without_us() {
    check_processes("processors.c", 2);
}
