//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::setup;

/// The profile that is built in the least time.
const QUICK: &str = "quick";

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Runs a program in the root of the repository; anything but success is an error.
pub fn must(program: &str, args: &[&str]) -> Result<(), String> {
    must_with(program, args, &[])
}

/// The same, with these variables in its environment.
pub fn must_with(program: &str, args: &[&str], variables: &[(String, String)]) -> Result<(), String> {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("$ {shown}");
    let status =
        Command::new(program).args(args).envs(variables.iter().cloned()).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed: {status}")),
        Err(error) => Err(format!("cannot run `{shown}`: {error}")),
    }
}

/// What a program prints; anything but success is an error.
pub fn told(program: &str, args: &[&str]) -> Result<String, String> {
    let shown = format!("{program} {}", args.join(" "));
    let output = Command::new(program).args(args).current_dir(root()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("`{shown}` failed: {}", output.status))
}

/// Builds foretell and lets it predict on traces, or run a program; its exit code becomes ours.
pub fn run_foretell(args: &[String]) -> Result<ExitCode, String> {
    if args.is_empty() {
        return Err("what? For example: cargo xtask run examples/bank.std, or examples/bank.cimp".to_string());
    }
    let is_any_of = |endings: &[&str]| {
        let is_one =
            |arg: &String| Path::new(arg).extension().is_some_and(|e| endings.iter().any(|&x| e == x));
        args.iter().any(is_one)
    };
    let is_native = is_any_of(&["c", "cpp", "cc", "cxx", "rs"]);
    // Cargo shows how far it is: the first time takes a minute. What a first result does not need is left out.
    let program =
        ["--package", "foretell", "--bin", "foretell", "--no-default-features", "--features", "cli"];
    must("cargo", &[&["build", "--profile", QUICK][..], &program].concat())?;
    let is_java = is_any_of(&["java"]);
    if is_java {
        must("cargo", &["build", "--profile", QUICK, "--package", "foretell-jvm"])?;
    }
    if is_native {
        setup::install()?;
        let recorder = ["--package", "foretell-llvm", "--package", "foretell-runtime"];
        must("cargo", &[&["build", "--profile", QUICK][..], &recorder].concat())?;
    }
    let command = if is_native || is_java || is_any_of(&["cimp"]) { "run" } else { "predict" };
    exit_code_of(Command::new(built(QUICK, "foretell")).arg(command).args(args))
}

/// Builds the experiments and runs the one that the first argument names; its exit code becomes ours.
pub fn run_lab(args: &[String]) -> Result<ExitCode, String> {
    must("cargo", &["build", "--quiet", "--release", "--package", "foretell-lab"])?;
    exit_code_of(Command::new(release("lab")).args(args))
}

/// Runs a program; its exit code becomes ours.
fn exit_code_of(command: &mut Command) -> Result<ExitCode, String> {
    let status = command.status();
    let status =
        status.map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}

/// How a command of ours ends; an error is printed.
pub fn exit_code(program: &str, result: Result<ExitCode, String>) -> ExitCode {
    result.unwrap_or_else(|message| {
        eprintln!("{program}: {message}");
        ExitCode::from(2)
    })
}

/// Where the release build of a program is.
pub fn release(program: &str) -> PathBuf {
    built("release", program)
}

/// Where a program is that was built like this: `release`, `quick` or `debug`.
pub fn built(how: &str, program: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join(how).join(program)
}
