//! Rust's compiler, with our pass and our library.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use foretell_wire::settings;

use crate::args::LibraryArgs;
use crate::error::Failure;
use crate::models;
use crate::native::distribution::LLVM;
use crate::native::sysroot;
use crate::native::tools::Tools;

/// Cargo calls us with this in the environment instead of the compiler; the compiler is our first argument then.
pub(crate) const AS_COMPILER: &str = settings::AS_RUSTC.text();

/// Whether a file is a program in Rust, by its name.
pub(crate) fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "rs")
}

/// The compiler's additional options. The options are open only to those who ask for them, which
/// [`UNLOCK`] does.
fn options(tools: &Tools, given: &[OsString]) -> Vec<OsString> {
    let joined = |start: &str, path: &Path| {
        let mut option = OsString::from(start);
        option.push(path);
        option
    };
    let mut options: Vec<OsString> = [
        "-Cdebuginfo=2",
        // The functions of locks are known by their names and must be small enough to be seen as a whole.
        "-Zinline-mir=yes",
        "-Csymbol-mangling-version=v0",
        // What the libraries have instantiated tells nothing: the program gets its own.
        "-Zshare-generics=no",
        "-Clink-arg=-Wl,-z,nostart-stop-gc",
    ]
    .map(OsString::from)
    .to_vec();
    options.push(joined("-Zllvm-plugins=", &tools.pass(LLVM)));
    // Our library comes first, so that its functions are found before those of the C library.
    options.push("-Zpre-link-arg=-Wl,--push-state,--no-as-needed".into());
    options.push(joined("-Zpre-link-arg=", &tools.runtime()));
    options.push("-Zpre-link-arg=-Wl,--pop-state".into());
    options.push(joined("-Zpre-link-arg=-Wl,-rpath,", tools.folder()));
    if !is_optimised(given) {
        // Without optimisation, the pass could not take local variables out of memory. Checks stay as they would be.
        options.push("-Copt-level=1".into());
        if !mentions(given, "debug-assertions=") {
            options.push("-Cdebug-assertions=on".into());
        }
    }
    options
}

/// The default compiler.
const RUSTC: &str = "rustc";

/// Lets this compiler have the options of the unstable one.
pub(super) const UNLOCK: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

fn mentions(given: &[OsString], setting: &str) -> bool {
    given.iter().any(|argument| argument.to_string_lossy().contains(setting))
}

fn is_optimised(given: &[OsString]) -> bool {
    let level = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text.split_once("opt-level=").map(|(_, level)| level.to_string())
    };
    given.iter().rev().find_map(level).is_some_and(|level| level != "0")
}

/// Whether cargo wants a crate to be compiled for the program. What runs while it is being built (build scripts,
/// macros) is compiled for the machine itself, without naming a target.
fn is_for_program(arguments: &[OsString]) -> bool {
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    // Cargo asks what the compiler can do by way of a crate with this name.
    has("--target") && has("--crate-name") && !has("___")
}

/// If cargo has called us as its compiler: becomes the compiler, and comes back only if that fails.
pub(crate) fn become_compiler() -> Option<Failure> {
    env::var_os(AS_COMPILER)?;
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    let mut command = Command::new(&compiler);
    command.args(&arguments);
    if is_for_program(&arguments) && sysroot::has_part(&arguments) {
        match Tools::find_for_rust() {
            Ok(tools) => command.args(options(&tools, &arguments)).env(UNLOCK.0, UNLOCK.1),
            Err(failure) => return Some(failure),
        };
        command.args(sysroot::option());
    }
    Some(cannot_run(&compiler, &command.exec()))
}

fn cannot_run(compiler: &OsStr, error: &io::Error) -> Failure {
    Failure::Environment(format!("cannot run {}: {error}", compiler.display()))
}

/// The compiler as we call it.
fn command(tools: &Tools, arguments: &[OsString]) -> Result<Command, Failure> {
    let (arguments, libraries) = models::taken_from(arguments)?;
    let models = models::for_pass(&libraries.models)?;
    let mut command = Command::new(RUSTC);
    command.args(&arguments).args(options(tools, &arguments)).env(UNLOCK.0, UNLOCK.1);
    if libraries.instrument_std {
        let sysroot = sysroot::instrumented(tools, &models)?;
        command.arg("--sysroot").arg(&sysroot).env(settings::STD.text(), &sysroot);
    }
    command.env(settings::MODELS.text(), models);
    Ok(command)
}

/// This process becomes the compiler; comes back only if that fails.
pub(crate) fn become_rustc(tools: &Tools, arguments: &[OsString]) -> Failure {
    match command(tools, arguments) {
        Ok(mut command) => cannot_run(OsStr::new(RUSTC), &command.exec()),
        Err(failure) => failure,
    }
}

/// Builds one source file into a program.
pub(crate) fn build(
    tools: &Tools,
    source: &Path,
    program: &Path,
    libraries: &LibraryArgs,
) -> Result<(), Failure> {
    let arguments = [OsStr::new("--edition=2024"), source.as_os_str(), OsStr::new("-o"), program.as_os_str()];
    let arguments = arguments.into_iter().chain(models::as_arguments(libraries));
    let arguments: Vec<OsString> = arguments.map(OsStr::to_os_string).collect();
    let status =
        command(tools, &arguments)?.status().map_err(|error| cannot_run(OsStr::new(RUSTC), &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Usage(format!("{} does not compile", source.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_runs_during_the_build_is_left_alone() {
        assert!(is_for_program(&line("--crate-name a --target x86_64-unknown-linux-gnu a.rs")));
        assert!(!is_for_program(&line("--crate-name build_script_build build.rs")));
        assert!(!is_for_program(&line("- --crate-name ___ --print=cfg --target x86_64-unknown-linux-gnu")));
    }

    #[test]
    fn the_last_level_of_optimisation_counts() {
        assert!(is_optimised(&line("-C opt-level=3 a.rs")));
        assert!(!is_optimised(&line("-C opt-level=3 -Copt-level=0")));
        assert!(!is_optimised(&line("a.rs")));
    }
}
