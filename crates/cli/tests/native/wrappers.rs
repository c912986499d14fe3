//! `foretell cc` takes what build systems give to a compiler.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{foretell, is_ready};
use foretell_testkit::process::limited;

const MAIN: &str = "int answer(void);\nint main(void) { return answer() - 42; }\n";
const ANSWER: &str = "int answer(void) { return 42; }\n";

/// A new folder with the two halves of a program in it.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wrappers_{name}"));
    // What is left of an earlier run shall not help this one.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    fs::write(path.join("main.c"), MAIN).expect("a file");
    fs::write(path.join("answer.c"), ANSWER).expect("a file");
    path
}

/// Runs `foretell cc` in the folder with these arguments.
fn cc(folder: &Path, line: &str) -> String {
    let command = limited(env!("CARGO_BIN_EXE_foretell"))
        .arg("cc")
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("foretell runs");
    let errors = String::from_utf8_lossy(&command.stderr);
    assert!(command.status.success(), "cc {line}: {errors}");
    assert!(errors.is_empty(), "cc {line} says: {errors}");
    String::from_utf8_lossy(&command.stdout).into_owned()
}

fn runs(folder: &Path, program: &str) {
    let status = limited(folder.join(program)).status().expect("it runs");
    assert!(status.success(), "{program}: {status}");
}

#[test]
fn objects_are_compiled_and_linked_at_any_level() {
    if !is_ready() {
        return;
    }
    for level in
        ["-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -flto -fuse-ld=lld-22", "-O2 -g0", "-O1 -fno-pic -no-pie"]
    {
        let folder = folder("objects");
        cc(&folder, &format!("{level} -Wall -Wextra -Werror -pedantic -std=c99 -c main.c -o main.o"));
        cc(&folder, &format!("{level} -c answer.c"));
        cc(&folder, &format!("{level} main.o answer.o -o program -lm -Wl,--as-needed -Wl,-z,relro"));
        runs(&folder, "program");
    }
}

#[test]
fn dependencies_are_written_and_name_only_what_the_program_has() {
    if !is_ready() {
        return;
    }
    let folder = folder("dependencies");
    cc(&folder, "-MD -MP -MF main.d -MT main.o -c main.c -o main.o");
    assert_eq!(fs::read_to_string(folder.join("main.d")).expect("dependencies").trim(), "main.o: main.c");
}

#[test]
fn libraries_are_built_and_used() {
    if !is_ready() {
        return;
    }
    let folder = folder("libraries");
    cc(&folder, "-fPIC -shared answer.c -o libanswer.so");
    cc(&folder, "main.c -L. -lanswer -Wl,-rpath,$ORIGIN -o shared");
    runs(&folder, "shared");
    cc(&folder, "-c answer.c -o answer.o");
    let archived = Command::new("ar").args(["rcs", "libstill.a", "answer.o"]).current_dir(&folder).status();
    assert!(archived.is_ok_and(|status| status.success()));
    cc(&folder, "main.c libstill.a -o archive");
    runs(&folder, "archive");
    cc(&folder, "-r answer.o -o partial.o");
    cc(&folder, "main.c partial.o -o partial");
    runs(&folder, "partial");
}

#[test]
fn questions_to_the_compiler_are_answered() {
    if !is_ready() {
        return;
    }
    let folder = folder("questions");
    assert!(cc(&folder, "--version").contains("clang version 22"));
    assert!(!cc(&folder, "-dumpmachine").is_empty());
    assert!(cc(&folder, "-print-search-dirs").contains("libraries"));
    assert!(cc(&folder, "-E main.c").contains("answer"));
    assert!(cc(&folder, "-E -dM -x c /dev/null").contains("__clang__"));
    cc(&folder, "-fsyntax-only main.c");
    assert!(cc(&folder, "-S main.c -o -").contains("main"));
}

#[test]
fn response_files_assembly_and_standard_input_are_read() {
    if !is_ready() {
        return;
    }
    let folder = folder("inputs");
    fs::write(folder.join("options"), "-O2 main.c answer.c -o program\n").expect("a file");
    cc(&folder, "@options");
    runs(&folder, "program");
    let assembly =
        ".globl answer\nanswer:\n  mov $42, %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n";
    if cfg!(target_arch = "x86_64") {
        for name in ["answer.s", "answer.S"] {
            fs::write(folder.join(name), assembly).expect("a file");
            cc(&folder, &format!("main.c {name} -o assembled"));
            runs(&folder, "assembled");
        }
    }
    let mut compiler = limited(env!("CARGO_BIN_EXE_foretell"))
        .args(["cc", "-x", "c", "-", "-o", "piped"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("foretell runs");
    let mut input = compiler.stdin.take().expect("a pipe");
    input
        .write_all(b"#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }\n")
        .expect("written");
    drop(input);
    assert!(compiler.wait().expect("it ends").success());
    runs(&folder, "piped");
}

#[test]
fn a_race_between_two_files_names_both() {
    if !is_ready() {
        return;
    }
    let folder = folder("files");
    fs::write(folder.join("counter.c"), "int counter;\nvoid count(void) {\n    counter++;\n}\n")
        .expect("a file");
    let main = "#include <pthread.h>\nextern int counter;\nvoid count(void);\nstatic void *work(void *unused) {\n    \
                count();\n    return unused;\n}\nint main(void) {\n    pthread_t thread;\n    \
                pthread_create(&thread, 0, work, 0);\n    counter = 7;\n    pthread_join(thread, 0);\n    return 0;\n}\n";
    fs::write(folder.join("main.c"), main).expect("a file");
    cc(&folder, "-c counter.c");
    cc(&folder, "-c main.c");
    cc(&folder, "counter.o main.o -o program");
    let output = foretell(&["run", "--no-progress", "--", &folder.join("program").display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("counter.c:3:") && text.contains("main.c:11:"), "{text}");
}

#[test]
fn the_source_is_found_from_the_folder_that_the_program_was_built_in() {
    if !is_ready() {
        return;
    }
    let folder = folder("elsewhere");
    let (sources, build) = (folder.join("sources"), folder.join("build"));
    fs::create_dir_all(&sources).expect("a folder");
    fs::create_dir_all(&build).expect("a folder");
    let source = sources.join("counter.c");
    fs::copy(crate::programs().join("counter_race.c"), &source).expect("a copy");
    for name in ["../sources/counter.c", source.to_str().expect("a plain path")] {
        cc(&build, &format!("{name} -o program -lpthread"));
        let ran = limited(env!("CARGO_BIN_EXE_foretell"))
            .args(["run", "--no-progress", "--", "./program"])
            .current_dir(&build)
            .output()
            .expect("foretell runs");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(text.contains("counter.c:8") && text.contains(" counter++;"), "{name}: {text}");
    }
}

/// What models of the user say is believed, so reports tell that they were used; and by a model, a call is no fence.
#[test]
fn findings_rest_on_models_of_the_user() {
    if !is_ready() {
        return;
    }
    let folder = folder("models");
    let source = "#include <pthread.h>\nint total;\nvoid take(void), give(void);\n\
                  void *add(void *unused) { take(); total++; give(); return unused; }\n\
                  int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); add(0); return pthread_join(t, 0); }\n";
    let library = "#include <pthread.h>\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
                   void take(void) { pthread_mutex_lock(&lock); }\nvoid give(void) { pthread_mutex_unlock(&lock); }\n";
    let models = "[lock]\ntake = \"calls; receives door\"\ngive = \"calls; sends door\"\n";
    for (name, content) in [("user.c", source), ("library.c", library), ("mine.toml", models)] {
        fs::write(folder.join(name), content).expect("a file");
    }
    let plain = Command::new("clang-22").args(["-c", "library.c"]).current_dir(&folder).status();
    assert!(plain.is_ok_and(|status| status.success()));
    cc(&folder, "--models mine.toml -O1 user.c library.o -o with");
    cc(&folder, "-O1 user.c library.o -o without");
    let notes = |program: &str| {
        let program = folder.join(program).display().to_string();
        let ran = foretell(&["run", "--no-progress", "--format", "json", "--", &program]);
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    assert!(
        notes("with").contains("all findings rest on your models of give, take: if one of them is wrong")
    );
    assert!(!notes("without").contains("your models"));
}

/// Only programs in Rust have its standard library, and it is built with the program.
#[test]
fn the_standard_library_of_rust_is_refused_elsewhere() {
    if !is_ready() {
        return;
    }
    let folder = folder("std");
    let refused = |arguments: &[&str], reason: &str| {
        let ran = limited(env!("CARGO_BIN_EXE_foretell")).args(arguments).current_dir(&folder).output();
        let ran = ran.expect("foretell runs");
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(2) && told.contains(reason), "{arguments:?}: {told}");
    };
    refused(&["run", "--instrument-std", "main.c"], "only programs in Rust");
    refused(&["cc", "--instrument-std", "-c", "main.c"], "only programs in Rust");
    refused(&["run", "--instrument-std", "--", "/bin/true"], "when it is built");
}
