//! What a newcomer meets: slips of the command line, unusual terminals, outputs that cannot be written.

use std::fs;
use std::process::Command;

use crate::{Ran, command, example, file, folder, foretell, foretell_with_input};

/// A trace with a race, and signs that are not ASCII in its report.
const TRACE: &str = "main|fork(a)|1\nmain|fork(b)|2\na|w(x)|3\nb|w(x)|4\n";

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
}

#[test]
fn a_file_in_the_place_of_a_command() {
    let folder = folder("a_file_in_the_place_of_a_command");
    let trace = file(&folder, "t.std", TRACE);
    refused(&foretell(&["foo.c"]), &["foretell run foo.c"]);
    refused(&foretell(&["--color", "never", "foo.cpp", "x"]), &["foretell run foo.cpp"]);
    refused(&foretell(&[&trace]), &[&format!("foretell predict {trace}")]);
    refused(&foretell(&[env!("CARGO_BIN_EXE_foretell")]), &["foretell run -- "]);
    // What is like a command is not taken for a file.
    let ran = foretell(&["predct"]);
    assert!(ran.code == 2 && ran.err.contains("predict"), "{}", ran.err);
}

#[test]
fn several_source_files_are_not_taken_for_arguments() {
    let folder = folder("several_source_files");
    let (a, b) = (file(&folder, "a.c", "int main(void) {}"), file(&folder, "b.c", ""));
    for command in ["run", "hunt"] {
        refused(&foretell(&[command, &a, &b]), &["one source file", "foretell c++ -O1", "-- ./program"]);
    }
    let ran =
        command().args(["run", &a, "--", &b]).env("FORETELL_LIBRARIES", &folder).output().expect("it runs");
    assert!(!Ran::from(ran).err.contains("one source file"));
}

#[test]
fn what_cannot_be_run_is_told_apart() {
    let folder = folder("what_cannot_be_run");
    let here = folder.to_str().expect("a plain path");
    refused(&foretell(&["run", "--", &format!("{here}/missing")]), &["No such file"]);
    refused(&foretell(&["run", &format!("{here}/missing.c")]), &["missing.c", "No such file"]);
    refused(&foretell(&["run", "--", "no-such-command"]), &["there is no such program"]);
    refused(&foretell(&["run", here]), &["is a folder", "cargo foretell run"]);
    refused(&foretell(&["run", "--", "/bin/true"]), &["is not instrumented", "foretell cc"]);
    let plain = file(&folder, "plain", "#!/bin/sh\n");
    refused(&foretell(&["run", "--", &plain]), &["not executable"]);
    let ran = command().args(["run", "--", "plain"]).current_dir(&folder).output().expect("it runs").into();
    refused(&ran, &["./plain"]);
}

#[test]
fn a_program_is_no_trace() {
    let ran = foretell(&["predict", env!("CARGO_BIN_EXE_foretell")]);
    refused(&ran, &["executable program, not a trace", "foretell run -- "]);
    assert!(ran.err.len() < 600, "{}", ran.err);
    let machine_code = fs::read(env!("CARGO_BIN_EXE_foretell")).expect("it is there");
    for bytes in [&machine_code[..20_000], &[1; 20_000][..], "a".repeat(100_000).as_bytes()] {
        let ran = foretell_with_input(&["predict", "-"], bytes);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.len() < 2_000, "{} bytes: {}", ran.err.len(), ran.err);
    }
}

#[test]
fn outputs_are_checked_before_the_program_runs() {
    let folder = folder("outputs_are_checked");
    let here = folder.to_str().expect("a plain path");
    let (trace, program) = (format!("{here}/t.std"), example("bank"));
    for (output, said) in [
        (format!("{here}/x.pdf"), "does not end in .txt"),
        (format!("{here}/missing/x.json"), "No such file"),
        (here.to_string(), "directory"),
    ] {
        refused(&foretell(&["run", "--trace", &trace, "-o", &output, &program]), &[said, &output]);
        assert!(!folder.join("t.std").exists(), "the program has run");
    }
    for option in ["--flow", "--evidence"] {
        let nowhere = format!("{here}/missing/x");
        refused(&foretell(&["run", "--trace", &trace, option, &nowhere, &program]), &[&nowhere]);
        assert!(!folder.join("t.std").exists(), "the program has run");
    }
    let input = file(&folder, "in.std", TRACE);
    refused(&foretell(&["predict", &input, "-o", &input, "--format", "text"]), &["overwrite its trace"]);
    refused(&foretell(&["predict", &input, "-o", "a.txt", "-o", "a.txt"]), &["given twice"]);
    let named = format!("{here}/x.pdf");
    assert_eq!(foretell(&["predict", &input, "--format", "html", "-o", &named]).code, 1);
    assert!(fs::read_to_string(&named).expect("a page").contains("<html"));
}

#[test]
fn a_report_that_cannot_be_written_is_printed() {
    let folder = folder("a_report_that_cannot_be_written");
    let input = file(&folder, "in.std", TRACE);
    let ran = foretell(&["predict", &input, "--format", "json", "-o", "/dev/full"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("cannot write /dev/full"), "{}", ran.err);
    assert!(ran.out.contains("race 1: x"), "{}", ran.out);
    // One file that cannot be written does not cost the others.
    let good = format!("{}/good.json", folder.display());
    let ran = foretell(&["predict", &input, "-o", "/dev/full", "-o", &good]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(fs::read_to_string(good).expect("it is written").contains("\"races\""));
    // Neither does a recording.
    let recording = folder.join("full.std");
    std::os::unix::fs::symlink("/dev/full", &recording).expect("a link");
    let ran = foretell(&["run", "--trace", recording.to_str().expect("a path"), &example("bank")]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.out.contains("race 1: "), "{}{}", ran.out, ran.err);
}

#[test]
fn terminals_without_utf_8_get_ascii() {
    let folder = folder("terminals_without_utf_8");
    let input = file(&folder, "in.std", TRACE.replace("(x)", "(Zähler)"));
    let shown = |variable: &str, value: &str| -> Ran {
        command().args(["predict", &input]).env(variable, value).output().expect("it runs").into()
    };
    for (variable, value) in [("LC_ALL", "C"), ("LC_CTYPE", "POSIX"), ("LANG", "de_DE")] {
        let ran = shown(variable, value);
        assert!(ran.out.is_ascii(), "{variable}={value}: {}", ran.out);
        assert!(ran.out.contains("| ") && ran.out.contains("race 1: Z\\u{e4}hler - proven"), "{}", ran.out);
    }
    assert!(shown("LC_ALL", "C.UTF-8").out.contains("race 1: Zähler · proven"));
    assert!(shown("LC_ALL", "").out.contains('│'), "without settings, it is UTF-8");
    // Files and data have their own character sets.
    let data =
        command().args(["predict", "--format", "json", &input]).env("LC_ALL", "C").output().expect("it runs");
    assert!(Ran::from(data).out.contains("Zähler"));
}

#[test]
fn colours_are_an_option_of_all_commands() {
    let folder = folder("colours_are_an_option");
    let input = file(&folder, "in.std", TRACE);
    let is_coloured = |args: &[&str]| foretell(args).out.contains('\u{1b}');
    assert!(is_coloured(&["--color", "always", "predict", &input]));
    assert!(is_coloured(&["--color=always", "predict", &input]));
    assert!(is_coloured(&["predict", &input, "--color", "always"]));
    assert!(!is_coloured(&["predict", &input]));
    assert!(is_coloured(&["--color", "always", "--help"]) && !is_coloured(&["--color", "never", "--help"]));
    assert_eq!(foretell(&["trace", "stats", "--color", "never", &input]).code, 0);
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = foretell(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("predict") && ran.out.contains("doctor"), "{shell}");
    }
    let folder = folder("completions_and_manual_pages");
    let script = file(&folder, "foretell.bash", foretell(&["completions", "bash"]).out);
    let complete = format!(
        "source {script}; COMP_WORDS=(foretell pre); COMP_CWORD=1; _foretell foretell pre foretell; echo ${{COMPREPLY[@]}}"
    );
    let told = Command::new("bash").args(["-c", &complete]).output().expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "predict");
    let page = foretell(&["man", "run"]).out;
    assert!(page.contains(".TH foretell-run 1") && page.contains("stop\\-after"), "{page}");
    refused(&foretell(&["man", "nothing"]), &["no command `nothing`"]);
    let pages = folder.join("man1");
    assert_eq!(foretell(&["man", "--output", pages.to_str().expect("a path")]).code, 0);
    assert!(pages.join("foretell.1").is_file() && pages.join("foretell-trace-view.1").is_file());
}

#[test]
fn a_wrong_folder_of_libraries_is_an_error() {
    let folder = folder("a_wrong_folder_of_libraries");
    let told = |libraries: &std::path::Path, args: &[&str]| -> Ran {
        command().args(args).env("FORETELL_LIBRARIES", libraries).output().expect("it runs").into()
    };
    refused(&told(&folder.join("missing"), &["cc", "a.c"]), &["FORETELL_LIBRARIES", "cannot be read"]);
    refused(&told(&folder, &["cc", "a.c"]), &["libforetell_llvm.so and libforetell_rt.so"]);
    file(&folder, "libforetell_rt.so", "");
    let ran = told(&folder, &["cc", "a.c"]);
    refused(&ran, &["lacks libforetell_llvm.so"]);
    assert!(!ran.err.contains("libforetell_rt.so"), "{}", ran.err);
    // The doctor says so, too, and what still works.
    let ran = told(&folder, &["doctor", "--format", "json"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let checks = ran.json()["checks"].as_array().expect("checks").clone();
    let state =
        |name: &str| checks.iter().find(|check| check["name"] == name).map(|check| check["state"].clone());
    assert_eq!((state("traces"), state("libraries")), (Some("works".into()), Some("fails".into())));
}
