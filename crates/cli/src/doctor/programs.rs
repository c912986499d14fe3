//! A small trace and small programs, each with a race that must be found.

use std::process::Command;

use serde_json::Value;

use super::{Check, Ran, Trial};
use crate::native::Language;
use crate::native::distribution::{LLVM, System};
use crate::native::tools::{self, Tools};

pub(super) const TRACES: &str = "traces";
pub(super) const C: &str = "C";
pub(super) const CPP: &str = "C++";
const RUST: &str = "Rust";
const JAVA: &str = "Java";
const REPLAY: &str = "replay";

const TRACE: &str = "main|fork(a)|1\nmain|fork(b)|2\na|w(x)|3\nb|w(x)|4\n";
const C_PROGRAM: &str = "\
#include <pthread.h>
int counter;
static void *work(void *given) { counter++; return given; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  counter++;
  pthread_join(thread, 0);
  return 0;
}
";
const CPP_PROGRAM: &str = "\
#include <thread>
int counter;
int main() {
  std::thread other([] { counter++; });
  counter++;
  other.join();
}
";
const RUST_PROGRAM: &str = "\
static mut COUNTER: u32 = 0;
fn count() {
    // SAFETY: none. This is the race.
    unsafe { COUNTER += 1 }
}
fn main() {
    let other = std::thread::spawn(count);
    count();
    other.join().unwrap();
}
";

const JAVA_PROGRAM: &str = "\
public class Doctor {
  static int counter;
  public static void main(String[] arguments) throws InterruptedException {
    Thread other = new Thread(() -> counter++);
    other.start();
    counter++;
    other.join();
  }
}
";

/// What can be analysed, recorded and replayed.
pub(super) fn all(trial: &Trial, system: &System) -> Vec<Check> {
    let mut checks = vec![traces(trial)];
    match Tools::find() {
        Ok(tools) => {
            checks.push(Check::works("libraries", tools.folder().display().to_string()));
            let c = record(trial, system, C, &Language::C.compiler(&tools).0, ("doctor.c", C_PROGRAM));
            let is_recorded = c.state == super::State::Works;
            checks.push(c);
            checks.push(record(
                trial,
                system,
                CPP,
                &Language::Cpp.compiler(&tools).0,
                ("doctor.cpp", CPP_PROGRAM),
            ));
            checks.push(rust(trial));
            checks.push(if is_recorded { replay(trial) } else { Check::fails(REPLAY, "needs C") });
        }
        Err(failure) => {
            let why = failure.to_string();
            let why = why.strip_prefix("error: ").unwrap_or(&why).to_string();
            checks.push(Check::fails("libraries", why));
            let names = [C, CPP, RUST, REPLAY];
            checks.extend(names.map(|name| Check::fails(name, "needs the libraries")));
        }
    }
    checks.push(java(trial, system));
    checks
}

fn traces(trial: &Trial) -> Check {
    let found = trial
        .file("doctor.std", TRACE)
        .and_then(|file| trial.foretell(&["predict", "--format", "json", &file]));
    match found.and_then(|ran| races(&ran)) {
        Ok(_) => Check::works(TRACES, "a race was proven in a trace"),
        Err(why) => Check::fails(TRACES, why),
    }
}

/// Builds, records and analyses a program in C or C++.
fn record(
    trial: &Trial,
    system: &System,
    name: &'static str,
    compiler: &str,
    (file, program): (&str, &str),
) -> Check {
    if trial.run(Command::new(compiler).arg("--version")).is_err() {
        return Check::fails(name, format!("{compiler} is missing")).fix(system.install_clang());
    }
    match run(trial, file, program, &[]) {
        Ok(_) => Check::works(name, format!("built with {compiler}, recorded, and a race proven")),
        Err(why) => Check::fails(name, why),
    }
}

fn rust(trial: &Trial) -> Check {
    let newer = "rustup update stable (Rust 1.95 or later)";
    let Ok(told) = trial.run(Command::new("rustc").arg("-vV")) else {
        return Check::note(RUST, "rustc is missing").fix("https://rustup.rs, if you want to record Rust");
    };
    let version = told.out.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("?");
    if version.split('.').next() != Some(&LLVM.to_string()) {
        let why = format!("rustc has LLVM {version}, and the compiler pass is made for LLVM {LLVM}");
        return Check::fails(RUST, why).fix(newer);
    }
    match run(trial, "doctor.rs", RUST_PROGRAM, &[]) {
        Ok(_) => {
            Check::works(RUST, format!("built with rustc (LLVM {version}), recorded, and a race proven"))
        }
        Err(why) => Check::fails(RUST, why).fix(newer),
    }
}

fn java(trial: &Trial, system: &System) -> Check {
    if crate::native::java::installed().is_none() {
        return Check::note(JAVA, "java is missing; only programs in Java need it")
            .fix(system.install_java());
    }
    if tools::java_agent().is_none() {
        return Check::note(JAVA, tools::no_java_agent());
    }
    match run(trial, "Doctor.java", JAVA_PROGRAM, &[]) {
        Ok(_) => Check::works(JAVA, "recorded, and a race proven"),
        Err(why) => Check::fails(JAVA, why),
    }
}

/// Drives the program into its race.
fn replay(trial: &Trial) -> Check {
    let is_confirmed = |races: &[Value]| races.iter().any(|race| race["confirmation"]["confirmed"] == true);
    match run(trial, "doctor.c", C_PROGRAM, &["--confirm"]) {
        Ok(races) if is_confirmed(&races) => Check::works(REPLAY, "a program was driven into its race"),
        Ok(_) => Check::fails(REPLAY, "a program could not be driven into its race"),
        Err(why) => Check::fails(REPLAY, why),
    }
}

/// The races of a program that has some.
fn run(trial: &Trial, file: &str, program: &str, options: &[&str]) -> Result<Vec<Value>, String> {
    let file = trial.file(file, program)?;
    let fixed = ["run", "--no-progress", "--format", "json"];
    races(&trial.foretell(&[&fixed, options, &[file.as_str()]].concat())?)
}

fn races(ran: &Ran) -> Result<Vec<Value>, String> {
    let reports: Value = serde_json::from_str(&ran.out).map_err(|_| ran.complaint())?;
    let reports = reports.as_array().cloned().unwrap_or_else(|| vec![reports]);
    let races: Vec<Value> =
        reports.iter().flat_map(|report| report["races"].as_array().cloned().unwrap_or_default()).collect();
    if ran.code == Some(1) && !races.is_empty() { Ok(races) } else { Err(ran.complaint()) }
}
