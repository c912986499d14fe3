//! Whatever a build system tells the compiler, races are found, or it is said why nothing can be recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{foretell, is_ready, programs};

/// Options for a program in C that change how functions begin, how they are called and what the compiler counts and
/// checks in them.
const C: &[&str] = &[
    "-O0",
    "-Oz",
    "-fsanitize=undefined",
    "-fsanitize=undefined -fno-sanitize-recover=all -O2",
    "-fsanitize=function",
    "-fsanitize=kcfi",
    "-fsanitize=bounds,integer,nullability -fsanitize-trap=all",
    "-fsanitize=cfi -flto -fuse-ld=lld-22 -fvisibility=hidden",
    "-fsanitize=cfi -fsanitize-cfi-cross-dso -flto -fuse-ld=lld-22 -fvisibility=hidden",
    "-fcf-protection=full",
    "-fpatchable-function-entry=5,3",
    "-fpatchable-function-entry=16",
    "-O2 -flto=thin -fuse-ld=lld-22 -fsplit-lto-unit",
    "-O2 -flto -ffat-lto-objects -fuse-ld=lld-22",
    "-ffunction-sections -Wl,--gc-sections -fuse-ld=lld-22 -Wl,--icf=all",
    "-fno-pic -no-pie",
    "-fno-pic -no-pie -Wl,-z,lazy",
    "-fno-plt",
    "-fexceptions",
    "-pg",
    "--coverage",
    "-fprofile-instr-generate -fcoverage-mapping",
    "-fprofile-generate",
    "-fprofile-generate -O2",
    "-g -gsplit-dwarf",
    "-g0",
    "-march=native -O3 -ffast-math",
    "-ftrapv",
    "-fstack-protector-all -D_FORTIFY_SOURCE=3 -O2",
    "-fxray-instrument -fxray-instruction-threshold=1",
    "-finstrument-functions",
    "-finstrument-functions -O2",
    "-fsanitize-coverage=trace-pc-guard,pc-table",
    "-mretpoline",
    "-mcmodel=large",
    "-fbasic-block-sections=all",
];

/// Options for a program in C++ that change how virtual functions are called, and what of the library is in the
/// program.
const CPP: &[&str] = &[
    "-fsanitize=undefined,vptr",
    "-fsanitize=function -O2",
    "-fsanitize=cfi -flto=thin -fuse-ld=lld-22 -fvisibility=hidden -O2",
    "-fwhole-program-vtables -flto -fuse-ld=lld-22 -fvisibility=hidden -O2",
    "-fvirtual-function-elimination -flto -fuse-ld=lld-22 -fvisibility=hidden",
    "-fstrict-vtable-pointers -O2",
    "-static-libstdc++ -static-libgcc",
    "-fno-rtti -fno-exceptions",
    "-D_GLIBCXX_DEBUG",
];

/// Options with which nothing can be recorded.
const REFUSED: &[&str] = &[
    "-static",
    "-static-pie",
    "-Wl,-static",
    "-fsanitize=address",
    "-fsanitize=thread",
    "-fsanitize=memory",
    "-fsanitize=undefined,leak",
    "-fsanitize=safe-stack",
    "-fsplit-stack",
    "-m32",
];

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flags_{name}"));
    // What is left of an earlier run shall not help this one.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn compile(language: &str, options: &str, folder: &Path, rest: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_foretell"))
        .arg(language)
        .args(options.split_whitespace())
        .args(rest)
        .current_dir(folder)
        .output()
        .expect("foretell runs")
}

/// Runs a program, whose one race is found, and nothing else.
fn finds_the_race(folder: &Path, program: &str, variable: &str, options: &str) {
    let path = folder.join(program);
    // Profiles and the like are written to where it runs.
    let output = Command::new(env!("CARGO_BIN_EXE_foretell"))
        .args(["run", "--no-progress", "--"])
        .arg(&path)
        .current_dir(folder)
        .output()
        .expect("foretell runs");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{options}: {text}{errors}");
    let races = text.lines().filter(|line| line.starts_with("race "));
    let found: Vec<&str> = races.collect();
    let is_it = |line: &&str| line.contains(&format!(": {variable} "));
    assert!(!found.is_empty() && found.iter().all(is_it), "{options}: {found:?}");
}

fn check(language: &str, source: &str, variable: &str, all: &[&str]) {
    if !is_ready() {
        return;
    }
    let folder = folder(source);
    let source = programs().join(source).display().to_string();
    for options in all {
        let built = compile(language, options, &folder, &[&source, "-o", "program"]);
        assert!(built.status.success(), "{options}: {}", String::from_utf8_lossy(&built.stderr));
        finds_the_race(&folder, "program", variable, options);
    }
}

#[test]
fn races_in_c_are_found_with_all_options() {
    check("cc", "counter_race.c", "counter", C);
}

#[test]
fn races_in_cpp_are_found_with_all_options() {
    check("c++", "virtual_race.cpp", "Square.side", CPP);
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    if !is_ready() {
        return;
    }
    let folder = folder("refused");
    let source = programs().join("counter_race.c").display().to_string();
    for options in REFUSED {
        let output = compile("cc", options, &folder, &[&source, "-o", "program"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {errors}");
        assert!(errors.contains("cannot be recorded") && errors.contains("because"), "{options}: {errors}");
        assert!(!folder.join("program").exists(), "{options}");
    }
}

#[test]
fn bitcode_is_instrumented_once() {
    if !is_ready() {
        return;
    }
    let folder = folder("bitcode");
    let source = programs().join("counter_race.c").display().to_string();
    for (options, name) in [("-O0 -c", "a.bc"), ("-O2 -c", "a.bc"), ("-O1 -S", "a.ll")] {
        let made = compile("cc", options, &folder, &["-emit-llvm", &source, "-o", name]);
        assert!(made.status.success(), "{options}: {}", String::from_utf8_lossy(&made.stderr));
        let built = compile("cc", "-O1", &folder, &[name, "-o", "program"]);
        assert!(built.status.success(), "{options}: {}", String::from_utf8_lossy(&built.stderr));
        finds_the_race(&folder, "program", "counter", options);
    }
}

#[test]
fn headers_are_compiled_without_being_linked() {
    if !is_ready() {
        return;
    }
    let folder = folder("headers");
    fs::write(folder.join("all.h"), "#include <pthread.h>\n").expect("a file");
    let source = programs().join("counter_race.c").display().to_string();
    for options in ["all.h -o all.pch", "-x c-header all.h -o all.pch", "-c all.h -o all.pch"] {
        let made = compile("cc", options, &folder, &[]);
        assert!(made.status.success(), "{options}: {}", String::from_utf8_lossy(&made.stderr));
        let built = compile("cc", "-include-pch all.pch", &folder, &[&source, "-o", "program"]);
        assert!(built.status.success(), "{options}: {}", String::from_utf8_lossy(&built.stderr));
        finds_the_race(&folder, "program", "counter", options);
    }
    assert!(foretell(&["cc", "--version"]).status.success());
}
