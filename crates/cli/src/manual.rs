//! `foretell completions` and `foretell man`, both from the command line itself.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::error::Failure;
use crate::{Outcome, output};

const NAME: &str = "foretell";

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), NAME, &mut script);
    output::write(None, &String::from_utf8_lossy(&script))?;
    Ok(Outcome::Clean)
}

pub(crate) fn pages(args: &ManArgs) -> Result<Outcome, Failure> {
    let pages = all_pages();
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "make", error))?;
        for (name, command) in pages {
            output::write(Some(&folder.join(format!("{name}.1"))), &page(&name, command)?)?;
        }
        return Ok(Outcome::Clean);
    }
    let wanted = args.command.as_ref().map_or(NAME.to_string(), |command| format!("{NAME}-{command}"));
    let unknown = || Failure::Usage(format!("no command `{}`", args.command.as_deref().unwrap_or_default()));
    let (name, command) = pages.into_iter().find(|(name, _)| *name == wanted).ok_or_else(unknown)?;
    output::write(None, &page(&name, command)?)?;
    Ok(Outcome::Clean)
}

/// All commands with the names of their pages.
fn all_pages() -> Vec<(String, Command)> {
    let mut command = Args::command();
    command.build();
    let mut pages = Vec::new();
    collect(NAME, &command, &mut pages);
    pages
}

fn collect(name: &str, command: &Command, pages: &mut Vec<(String, Command)>) {
    pages.push((name.to_string(), command.clone()));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        collect(&format!("{name}-{}", below.get_name()), below, pages);
    }
}

fn page(name: &str, command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    // The page's title is that of its file.
    let command = command.name(String::leak(name.to_string()) as &'static str);
    let failed = |error| Failure::file(Path::new(name), "write", error);
    Man::new(command).render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let pages = all_pages();
        let has = |wanted: &str| pages.iter().any(|(name, _)| name == wanted);
        assert!(["foretell", "foretell-run", "foretell-c++", "foretell-trace-view"].into_iter().all(has));
        for (name, command) in pages {
            let text = page(&name, command).expect("it is written");
            assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
        }
    }
}
