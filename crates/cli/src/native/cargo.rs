//! `cargo foretell`: cargo, with us as its compiler.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretell_report::repeats;
use foretell_wire::settings;
use serde_json::Value;

use crate::args::{CargoAction, CargoArgs, LibraryArgs};
use crate::error::Failure;
use crate::models;
use crate::native::distribution::LLVM;
use crate::native::record::{self, Folder, Hunting, Manner};
use crate::native::rust::AS_COMPILER;
use crate::native::tools::Tools;
use crate::native::{Look, sysroot, tests};
use crate::render::write_reports;
use crate::suppress::Rules;
use crate::{Outcome, analysis, output, stop};

/// A program that cargo has built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    /// What cargo calls it.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The folder of its package.
    pub(crate) folder: PathBuf,
    /// Whether it is there to be run by `cargo test`. Other programs are built for tests to use them.
    is_test: bool,
}

/// Does what is asked.
pub(crate) fn run(args: &CargoArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    args.wanted.refuse_slice()?;
    args.wanted.check_find()?;
    args.wanted.report.check_outputs()?;
    let tools = Tools::find_for_rust()?;
    match args.action {
        CargoAction::Build => {
            build(&tools, "build", &args.options, &args.libraries)?;
            Ok(Outcome::Clean)
        }
        CargoAction::Run => {
            let programs = build(&tools, "build", &args.options, &args.libraries)?;
            run_one(args, only(&programs)?)
        }
        CargoAction::Test => {
            if args.options.iter().any(|option| option == "--doc") {
                return Err(Failure::Usage("tests in documentation cannot be recorded".to_string()));
            }
            let mut options = args.options.clone();
            // Those in documentation are built by another tool.
            if !options.iter().any(selects_targets) {
                output::note("tests in documentation are left out");
                options.push("--tests".into());
            }
            options.push("--no-run".into());
            let mut programs = build(&tools, "test", &options, &args.libraries)?;
            programs.retain(|program| program.is_test);
            tests::run(args, &programs)
        }
    }
}

fn selects_targets(option: &OsString) -> bool {
    const SELECTING: [&str; 9] =
        ["--lib", "--bins", "--bin", "--tests", "--test", "--examples", "--example", "--benches", "--bench"];
    let text = option.to_string_lossy();
    let name = text.split('=').next().unwrap_or_default();
    SELECTING.contains(&name) || name == "--all-targets"
}

fn run_one(args: &CargoArgs, program: &Program) -> Result<Outcome, Failure> {
    let folder = Folder::new()?.following(args.wanted.follow()).within(args.wanted.search.time_limit.0);
    let rules = Rules::load(&args.wanted.report)?;
    let name = Path::new(&program.name);
    let (seed, order, stop_after) = (args.seed, args.order, args.stop_after);
    let (log, hunting) = (args.log, Hunting::default());
    let manner = Manner { name, seed, order, stop_after, log, hunting };
    let mut reports = Vec::new();
    for (index, recording) in
        record::run(&program.path, &args.given, manner, &folder)?.into_iter().enumerate()
    {
        let (program, arguments, seed) = (program.path.as_path(), args.given.as_slice(), args.seed);
        let (wanted, no_progress) = (&args.wanted, args.no_progress);
        let look = Look { name, program, arguments, seed, wanted, no_progress };
        reports.extend(look.at(recording, index, args.wanted.plans())?);
    }
    repeats::mark(&mut reports);
    rules.apply(&mut reports);
    write_reports(&reports, &args.wanted.report)?;
    Ok(reports.iter().map(analysis::outcome).max().unwrap_or(Outcome::Clean))
}

fn only(programs: &[Program]) -> Result<&Program, Failure> {
    match programs {
        [program] => Ok(program),
        [] => Err(Failure::Usage("the package has no program to run".to_string())),
        several => {
            let names: Vec<&str> = several.iter().map(|program| program.name.as_str()).collect();
            Err(Failure::Usage(format!("name one with --bin: {}", names.join(", "))))
        }
    }
}

/// Lets cargo build. What is built is kept apart from what it builds otherwise, so that neither drives out the other.
fn build(
    tools: &Tools,
    action: &str,
    options: &[OsString],
    libraries: &LibraryArgs,
) -> Result<Vec<Program>, Failure> {
    let us = env::current_exe()
        .map_err(|error| Failure::Environment(format!("cannot find ourselves: {error}")))?;
    let target = target_folder(options)?.join("foretell");
    let models = models::for_pass(&libraries.models)?;
    let sysroot = libraries.instrument_std.then(|| sysroot::instrumented(tools, &models)).transpose()?;
    forget_other_build(&stamp(tools, &models, sysroot.as_deref())?, &target)?;
    let mut command = cargo();
    command.arg(action).args(options).arg("--message-format=json-render-diagnostics");
    if !options.iter().any(|option| option.to_string_lossy().starts_with("--target")) {
        // Naming the machine that it is anyway keeps the programs apart from what runs while they are built.
        command.arg("--target").arg(machine()?);
    }
    command.arg("--target-dir").arg(&target).env("RUSTC_WRAPPER", us).env(AS_COMPILER, "1");
    command.env(settings::MODELS.text(), models);
    if let Some(sysroot) = sysroot {
        command.env(settings::STD.text(), sysroot);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_run(&error))?;
    if !output.status.success() {
        return Err(Failure::Usage("cargo could not build that".to_string()));
    }
    Ok(programs(&String::from_utf8_lossy(&output.stdout)))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn cannot_run(error: &std::io::Error) -> Failure {
    Failure::Environment(format!("cannot run cargo: {error}"))
}

/// Where cargo puts what it builds.
fn target_folder(options: &[OsString]) -> Result<PathBuf, Failure> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(position) = options.iter().position(|option| option == "--manifest-path")
        && let Some(path) = options.get(position + 1)
    {
        command.arg("--manifest-path").arg(path);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_run(&error))?;
    let about: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::Environment("cargo does not know this package".to_string()))?;
    about["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| Failure::Environment("cargo does not print its target folder".to_string()))
}

/// What is compiled depends on the pass, on the models, and on the standard library.
pub(super) fn stamp(tools: &Tools, models: &OsStr, sysroot: Option<&Path>) -> Result<String, Failure> {
    let about =
        fs::metadata(tools.pass(LLVM)).map_err(|error| Failure::file(&tools.pass(LLVM), "read", error))?;
    let mut stamp = format!("{} {:?}", about.len(), about.modified().ok());
    for file in env::split_paths(models).filter(|file| !file.as_os_str().is_empty()) {
        stamp.push('\n');
        stamp.push_str(&fs::read_to_string(&file).map_err(|error| Failure::file(&file, "read", error))?);
    }
    if let Some(sysroot) = sysroot {
        stamp.push('\n');
        stamp.push_str(&sysroot.to_string_lossy());
    }
    Ok(stamp)
}

/// Cargo does not notice when any of that is another: then everything is built anew.
fn forget_other_build(stamp: &str, target: &Path) -> Result<(), Failure> {
    let path = target.join("pass");
    // Another process may do the same now.
    let lock = target.with_extension("lock");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "make", error))?;
    }
    let alone = fs::File::create(&lock).map_err(|error| Failure::file(&lock, "make", error))?;
    alone.lock().map_err(|error| Failure::file(&lock, "lock", error))?;
    if fs::read_to_string(&path).is_ok_and(|known| known == stamp) {
        return Ok(());
    }
    if target.exists() {
        fs::remove_dir_all(target).map_err(|error| Failure::file(target, "empty", error))?;
    }
    fs::create_dir_all(target).map_err(|error| Failure::file(target, "make", error))?;
    fs::write(&path, stamp).map_err(|error| Failure::file(&path, "write", error))
}

/// What the compiler calls the machine that it runs on.
fn machine() -> Result<String, Failure> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| Failure::Environment(format!("cannot run rustc: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let name = text.lines().find_map(|line| line.strip_prefix("host: "));
    name.map(String::from)
        .ok_or_else(|| Failure::Environment("rustc does not print its host target".to_string()))
}

/// The programs among what cargo says that it has built.
fn programs(messages: &str) -> Vec<Program> {
    let about = |line: &str| -> Option<Program> {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        let is_test = message["profile"]["test"] == true;
        Some(Program { name: message["target"]["name"].as_str()?.to_string(), path, folder, is_test })
    };
    messages.lines().filter_map(about).collect()
}

#[cfg(test)]
mod tests_of_messages {
    use super::*;

    #[test]
    fn programs_are_found_among_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"a"},"manifest_path":"/p/Cargo.toml","executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"b"},"manifest_path":"/p/Cargo.toml","executable":"/t/b-1","profile":{"test":true}}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"c"},"manifest_path":"/p/Cargo.toml","executable":"/t/c-1","profile":{"test":false}}"#,
            "\nsomething else\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = programs(messages);
        let program = |name: &str, is_test| Program {
            name: name.into(),
            path: format!("/t/{name}-1").into(),
            folder: "/p".into(),
            is_test,
        };
        assert_eq!(found, [program("b", true), program("c", false)]);
    }

    #[test]
    fn a_package_with_several_programs_has_none_to_run() {
        let program = |name: &str| Program {
            name: name.into(),
            path: name.into(),
            folder: "/p".into(),
            is_test: false,
        };
        assert!(only(&[]).is_err());
        assert_eq!(only(&[program("a")]).map(|program| program.name.as_str()).ok(), Some("a"));
        let Err(Failure::Usage(message)) = only(&[program("a"), program("b")]) else {
            panic!("there are two")
        };
        assert!(message.contains("a, b"));
    }
}
