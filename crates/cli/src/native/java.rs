//! Java programs: the virtual machine loads an agent, which records them.
//!
//! If the command is a Java virtual machine, or a source file for it to run, it gets the agent as its first argument.
//! Any other command that starts one hands it on in the environment; the virtual machine says so then.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tools;

/// The command that runs programs.
const JAVA: &str = "java";
/// What tells every virtual machine which options to take.
const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Whether a file is a program in Java, by its name.
pub(crate) fn is_java(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "java")
}

/// Whether this is the command that runs Java programs.
pub(super) fn is_virtual_machine(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == JAVA)
}

/// What runs the program: Java's own command, if it is a source file.
pub(super) fn command(program: &Path) -> Command {
    let agent = tools::java_agent();
    if !is_java(program) && !is_virtual_machine(program) {
        let mut command = Command::new(program);
        if let Some(agent) = agent {
            command.env(OPTIONS, options(env::var_os(OPTIONS), &agent));
        }
        return command;
    }
    let runs_source = is_java(program);
    let mut command = Command::new(if runs_source { OsStr::new(JAVA) } else { program.as_os_str() });
    command.args(agent.map(|agent| option(&agent)));
    command.args(runs_source.then_some(program));
    command
}

/// The option that loads the agent.
fn option(agent: &Path) -> OsString {
    let mut option = OsString::from("-agentpath:");
    option.push(agent);
    option
}

/// All options, with those that were there before.
fn options(before: Option<OsString>, agent: &Path) -> OsString {
    let mut options = before.unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    // A path with spaces is one option only in quotes.
    options.push("\"");
    options.push(option(agent));
    options.push("\"");
    options
}

/// Why a Java program has recorded nothing, as far as that can be seen from here.
pub(super) fn why_not_recorded() -> String {
    match tools::java_agent() {
        Some(_) => {
            "Java has not loaded the agent that records it, or has ended before the program began".to_string()
        }
        None => tools::no_java_agent(),
    }
}

/// Where the command is, if it is installed.
pub(crate) fn installed() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(JAVA)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_were_there_stay() {
        let all = |before: Option<&str>| {
            options(before.map(OsString::from), Path::new("/a b/lib.so")).into_string().expect("it is text")
        };
        assert_eq!(all(None), "\"-agentpath:/a b/lib.so\"");
        assert_eq!(all(Some("-Xmx1g")), "-Xmx1g \"-agentpath:/a b/lib.so\"");
    }

    #[test]
    fn source_files_are_told_from_commands() {
        assert!(is_java(Path::new("a/Bank.java")) && !is_java(Path::new("java")));
        assert!(is_virtual_machine(Path::new("/usr/bin/java")) && !is_virtual_machine(Path::new("javac")));
    }
}
