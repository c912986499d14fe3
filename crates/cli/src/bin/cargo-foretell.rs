//! `cargo foretell …` is `foretell cargo …`: cargo looks for a program of this name.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let beside = env::current_exe().map(|path| path.with_file_name("foretell"));
    let foretell = beside.ok().filter(|path| path.is_file()).unwrap_or_else(|| "foretell".into());
    // Cargo passes its own subcommand as the first argument.
    let arguments = env::args_os().skip(1).skip_while(|argument| argument == "foretell");
    let error = Command::new(&foretell).arg("cargo").args(arguments).exec();
    eprintln!("error: cannot run {}: {error}", foretell.display());
    ExitCode::from(2)
}
