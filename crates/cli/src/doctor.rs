//! `foretell doctor`: tries what foretell does, and says what to do about what fails.
//!
//! * [`programs`]: records small programs that have a race
//! * [`system`]: tools, kernel settings, room

mod programs;
mod system;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::args::{DoctorArgs, OutputFormat};
use crate::error::Failure;
use crate::native::distribution::System;
use crate::native::record::Folder;
use crate::{Outcome, output};

/// How often to look whether a program has ended.
const TICK: Duration = Duration::from_millis(20);

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It was tried and works.
    Works,
    /// It works, but not as well as it could; or only some need it.
    Note,
    /// It does not work.
    Fails,
}

/// What was looked at, and what came of it.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    fn works(name: &'static str, detail: impl Into<String>) -> Check {
        Check { name, state: State::Works, detail: detail.into(), fix: None }
    }

    fn fails(name: &'static str, detail: impl Into<String>) -> Check {
        Check { name, state: State::Fails, detail: detail.into(), fix: None }
    }

    fn note(name: &'static str, detail: impl Into<String>) -> Check {
        Check { name, state: State::Note, detail: detail.into(), fix: None }
    }

    fn fix(self, command: impl Into<String>) -> Check {
        Check { fix: Some(command.into()), ..self }
    }
}

/// All that was looked at.
#[derive(Serialize)]
struct Examination {
    version: &'static str,
    system: String,
    checks: Vec<Check>,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Outcome, Failure> {
    let system = System::this();
    let trial = Trial { folder: Folder::new()?, patience: args.time_limit };
    let mut checks = programs::all(&trial, &system);
    checks.extend(system::all(&trial, &system));
    let examination = Examination { version: env!("CARGO_PKG_VERSION"), system: system.name(), checks };
    match args.format {
        OutputFormat::Text => output::write_text(None, &text(&examination))?,
        OutputFormat::Json => {
            let json = serde_json::to_string_pretty(&examination);
            output::write(None, &format!("{}\n", json.map_err(|error| Failure::rendering(error.into()))?))?;
        }
    }
    Ok(outcome(&examination.checks))
}

/// The exit code, as the help has it.
fn outcome(checks: &[Check]) -> Outcome {
    let fails = |name: &str| checks.iter().any(|check| check.name == name && check.state == State::Fails);
    match () {
        () if fails(programs::TRACES) => Outcome::Incomplete,
        () if fails(programs::C) || fails(programs::CPP) => Outcome::Race,
        () => Outcome::Clean,
    }
}

fn text(examination: &Examination) -> String {
    let Examination { version, system, checks } = examination;
    let mut text = format!("foretell {version} on {system}, {}\n\n", std::env::consts::ARCH);
    for Check { name, state, detail, fix } in checks {
        let state = match state {
            State::Works => "works",
            State::Note => "note",
            State::Fails => "FAILS",
        };
        text.push_str(&format!("  {state:<6} {name}: {detail}\n"));
        if let Some(fix) = fix {
            text.push_str(&format!("         to fix it: {fix}\n"));
        }
    }
    let failed = checks.iter().filter(|check| check.state == State::Fails).count();
    text.push_str(&match failed {
        0 => "\neverything that was tried works\n".to_string(),
        1 => "\n1 check fails\n".to_string(),
        failed => format!("\n{failed} checks fail\n"),
    });
    text
}

/// Where things are tried, and how long each may take.
struct Trial {
    folder: Folder,
    patience: Duration,
}

/// What a program has come to.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// What it says about its failure, in one line.
    fn complaint(&self) -> String {
        let mut lines = self.err.lines().map(str::trim).filter(|line| !line.is_empty());
        let told = lines.clone().find(|line| line.contains("error")).or_else(|| lines.next());
        told.map_or_else(|| format!("exit code {:?}", self.code), String::from)
    }
}

impl Trial {
    /// Has a file in the folder.
    fn file(&self, name: &str, content: &str) -> Result<String, String> {
        let path = self.folder.path().join(name);
        fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path.display().to_string())
    }

    /// Runs foretell itself.
    fn foretell(&self, arguments: &[&str]) -> Result<Ran, String> {
        let us = std::env::current_exe().map_err(|error| format!("cannot find ourselves: {error}"))?;
        self.run(Command::new(us).args(arguments))
    }

    /// Runs a program for as long as there is patience.
    fn run(&self, command: &mut Command) -> Result<Ran, String> {
        let (out, err) = (self.folder.path().join("out"), self.folder.path().join("err"));
        let name = command.get_program().display().to_string();
        let failed = |error: std::io::Error| format!("cannot run {name}: {error}");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(File::create(&out).map_err(failed)?).stderr(File::create(&err).map_err(failed)?);
        let code = wait(command.spawn().map_err(failed)?, self.patience).ok_or_else(|| {
            format!("{name} did not end within {} s (--time-limit)", self.patience.as_secs())
        })?;
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Ok(Ran { code, out: read(&out), err: read(&err) })
    }
}

/// Waits for a process, and terminates it if that takes too long. Gives its exit code, if it ends by itself.
fn wait(mut process: Child, patience: Duration) -> Option<Option<i32>> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) => thread::sleep(TICK),
            Err(_) => break,
        }
    }
    // It may just have ended.
    let _ = process.kill();
    let _ = process.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_tells_what_can_be_done() {
        let code = |checks: &[Check]| outcome(checks);
        assert_eq!(code(&[Check::works(programs::TRACES, ""), Check::fails("Java", "")]), Outcome::Clean);
        assert_eq!(code(&[Check::works(programs::TRACES, ""), Check::fails(programs::C, "")]), Outcome::Race);
        assert_eq!(code(&[Check::fails(programs::TRACES, "")]), Outcome::Incomplete);
    }

    #[test]
    fn patience_ends() {
        let sleeps = Command::new("sleep").arg("60").spawn().expect("it runs");
        let begin = Instant::now();
        assert_eq!(wait(sleeps, Duration::from_millis(100)), None);
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
