//! Programs in Java, as they are: recorded, predicted, driven into their races. Without a JDK there is nothing to test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use foretell_testkit::java::{self, JavaProgram, variables};
use foretell_testkit::process::limited;
use serde_json::Value;

/// The folder with the programs, compiled, once; and the agent is beside foretell.
fn classes() -> Option<&'static str> {
    static CLASSES: OnceLock<Option<String>> = OnceLock::new();
    CLASSES
        .get_or_init(|| {
            if Command::new("javac").arg("-version").output().is_err() {
                eprintln!("skipped: there is no JDK here; `cargo xtask setup` installs one");
                return None;
            }
            java::build_agent(env!("CARGO_BIN_EXE_foretell"));
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-classes");
            java::compile(&folder).expect("the programs can be compiled");
            Some(folder.display().to_string())
        })
        .as_deref()
}

/// Runs a program with these options of foretell.
fn run(classes: &str, options: &[&str], name: &str) -> Output {
    let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
    command.args(["run", "--no-progress"]).args(options).args(["--", "java", "-cp", classes, name]);
    let output = command.output().expect("foretell runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{name}: {errors}");
    output
}

/// The races in what foretell has printed.
fn races(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    java::races(&text)
        .unwrap_or_else(|error| panic!("{error}: {text} {}", String::from_utf8_lossy(&output.stderr)))
}

/// Every race is proven, and the program itself follows the proof.
#[test]
fn java_programs_show_the_races_that_they_say_and_follow_them() {
    let Some(classes) = classes() else { return };
    for JavaProgram { name, races: expected, .. } in &java::programs() {
        if expected.is_empty() {
            continue;
        }
        let output = run(classes, &["--format", "json", "--confirm"], name);
        let found = races(&output);
        assert_eq!(&variables(&found), expected, "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let is_followed = |race: &Value| race["confirmation"]["confirmed"] == true;
        assert!(found.iter().all(is_followed), "{name} does not follow: {found:?}");
        assert_eq!(output.status.code(), Some(1), "{name}");
    }
}

/// The programs check themselves that they have computed what they should.
#[test]
fn java_programs_without_races_show_none() {
    let Some(classes) = classes() else { return };
    for (seed, JavaProgram { name, races: expected, .. }) in (0..).zip(&java::programs()) {
        if !expected.is_empty() {
            continue;
        }
        let seed = (seed % 7).to_string();
        let output = run(classes, &["--format", "json", "--seed", &seed], name);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(races(&output).is_empty(), "{name} with seed {seed}");
        assert!(!errors.contains("Exception") && !errors.contains("exit code"), "{name}: {errors}");
    }
}

/// Locks, queues and pools of threads included.
#[test]
fn the_same_seed_gives_the_same_run_of_a_java_program() {
    let Some(classes) = classes() else { return };
    for name in ["Buffer", "Executor"] {
        let record = |number: u32| {
            let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("java-{name}-{number}.std"));
            let shown = trace.display().to_string();
            run(classes, &["--seed", "3", "--trace", &shown], name);
            fs::read(&trace).expect("a trace")
        };
        let first = record(0);
        assert!(!first.is_empty() && (1..3).all(|number| record(number) == first), "{name}");
    }
}

#[test]
fn java_programs_are_run_as_java_runs_them() {
    let Some(classes) = classes() else { return };
    let foretell = |words: &[&str]| {
        let output = limited(env!("CARGO_BIN_EXE_foretell")).args(words).output().expect("foretell runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}{}", String::from_utf8_lossy(&output.stderr));
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let is_account = |program: &JavaProgram| program.name == "Account";
    let source = java::programs().into_iter().find(is_account).expect("a program").path.display().to_string();
    for words in [&["java", "-cp", classes, "Account"][..], &["run", "--no-progress", &source]] {
        let told = foretell(words);
        assert!(told.contains("race 1: Account#2.balance · proven: "), "{told}");
        assert!(told.contains("started by main in Account.main at Account.java:23"), "{told}");
        assert!(told.contains("in Account.transfer at Account.java:"), "{told}");
        assert!(told.contains("(transfer)"), "the thread has its name: {told}");
    }
    // A script that starts Java: it hands the agent on.
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("start.sh").display().to_string();
    fs::write(&script, format!("java -cp '{classes}' Account\n")).expect("it can be written");
    assert!(foretell(&["run", "--no-progress", "--", "sh", &script]).contains("balance"));
}

/// The options of Java choose collectors and compilers; none of them matters.
#[test]
fn compiled_and_interpreted_code_show_the_same() {
    let Some(classes) = classes() else { return };
    for options in ["-Xint", "-Xcomp -XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UseCompressedOops"] {
        let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
        command.args(["run", "--no-progress", "--format", "json", "--", "java"]);
        let output = command.args(options.split(' ')).args(["-cp", classes, "BubbleSort"]).output();
        let output = output.expect("foretell runs");
        assert_eq!(variables(&races(&output)), BTreeSet::from(["int[1]".to_string()]), "{options}");
    }
}
