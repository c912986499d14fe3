//! Programs in C, C++, Rust and Java, from their source to the report: compiled, recorded, predicted, each over several
//! seeds.

mod behaviour;
mod calls;
mod cargo;
mod code;
mod corpus;
mod coverage;
mod deadlocks;
mod dependence;
mod doctor;
mod ending;
mod families;
mod faults;
mod flags;
mod hidden;
mod hunt;
mod java;
mod known;
mod limits;
mod memory;
mod modules;
mod names;
mod online;
mod primitives;
mod processes;
mod recipe;
mod recording;
mod replay;
mod stress;
mod threads;
mod untaken;
mod values;
mod wrappers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_testkit::process::{interruptible, limited, send, wait_until};

/// Where the programs are.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/native")
}

/// Builds the two libraries beside foretell, once. Without clang 22 there is nothing to test, which is said.
fn is_ready() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| {
        let there = Command::new("clang-22").arg("--version").output().is_ok();
        if !there {
            eprintln!("skipped: clang-22 is missing; `cargo xtask setup` installs it");
            return false;
        }
        foretell_testkit::native::build_libraries(env!("CARGO_BIN_EXE_foretell"));
        true
    })
}

fn foretell(args: &[&str]) -> Output {
    let output = limited(env!("CARGO_BIN_EXE_foretell")).args(args).output().expect("foretell runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    output
}

/// Compiles a program of a folder of `corpus/native`.
fn build_in(folder: &str, name: &str) -> String {
    let file = format!("{folder}_{}", name.replace('.', "_"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).display().to_string();
    let source = programs().join(folder).join(name).display().to_string();
    let compiler = match name.rsplit_once('.') {
        Some((_, "rs")) => ["rustc", "--edition=2024"],
        Some((_, "c")) => ["cc", "-O1"],
        _ => ["c++", "-std=c++20"],
    };
    let built = foretell(&[&compiler[..], &[&source, "-g", "-o", &program]].concat());
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    program
}

/// The program that does not end by itself, and the file that it makes once it has raced; to be given as its argument.
fn endless() -> (String, PathBuf) {
    let program = build("endless.c");
    let raced = PathBuf::from(format!("{program}.raced"));
    // What is left of an earlier run would have the signal come before the program runs.
    let _ = fs::remove_file(&raced);
    (program, raced)
}

/// Waits until the endless program has raced.
fn wait_until_raced(raced: &Path) {
    wait_until("the program has raced", || raced.exists());
    fs::remove_file(raced).expect("it is there");
}

/// Runs foretell on the endless program, and sends it a signal once that has raced.
fn interrupted_by(signal: &str, command: &[&str], (program, raced): &(String, PathBuf)) -> Output {
    let child = interruptible(env!("CARGO_BIN_EXE_foretell"))
        .args(command)
        .args(["--no-progress", "--", program])
        .arg(raced)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("foretell runs");
    wait_until_raced(raced);
    send(signal, child.id());
    child.wait_with_output().expect("foretell ends")
}

/// The raw logs of a run of a program, one for each process, whatever becomes of it.
fn raw_logs(program: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(format!("{program}-logs"));
    // What is left of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    limited(program).env("FORETELL_LOG", &folder).output().expect("it runs");
    let logs = fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("a file").path());
    logs.collect()
}

/// A program of the corpus, compiled. Each test gets a file of its own: none can be written while another runs it.
fn build(name: &str) -> String {
    build_at(name, None)
}

/// The same, at another level of optimisation.
fn build_at(name: &str, level: Option<&str>) -> String {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{number}_{}", name.replace(['.', '/'], "_")));
    let (source, program) = (programs().join(name), program.display().to_string());
    let known = foretell_testkit::native::programs().into_iter().find(|program| program.name == name);
    let other = if name.ends_with(".c") { "cc" } else { "c++" };
    let compiler = known.as_ref().map_or([other, "-O1"], foretell_testkit::native::Program::compiler);
    let options = known.map(|program| program.options).unwrap_or_default();
    let mut arguments = compiler.to_vec();
    arguments.extend(level);
    arguments.extend(options.iter().map(String::as_str));
    let source = source.display().to_string();
    arguments.extend([source.as_str(), "-o", &program]);
    let built = foretell(&arguments);
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    program
}
