//! From the words of the command line to what is asked.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clap::{CommandFactory as _, FromArgMatches as _};
use foretell_trace::format::Format;

use super::{Args, Color, Command, CompilerArgs};
use crate::error::Failure;
use crate::front_end::Language;
use crate::native::is_source;
use crate::shell::quoted;

/// What follows these is for a compiler, or for Java, whatever it looks like.
const COMPILERS: [&str; 4] = ["cc", "c++", "rustc", "java"];
const COLOR: &str = "--color";
const SEPARATOR: &str = "--";

impl Args {
    /// Parses the words, of which the first is our own name. Ends the process if they are not well-formed.
    pub(crate) fn parse_words(mut words: Vec<OsString>) -> Result<Args, Failure> {
        let at = command_at(&words);
        let command = words.get(at).cloned().unwrap_or_default();
        if let Some(advice) = advice(&command) {
            return Err(Failure::Usage(advice));
        }
        if COMPILERS.iter().any(|&compiler| command == compiler) {
            words.insert(at + 1, SEPARATOR.into());
        }
        let separator = words.iter().position(|word| word == SEPARATOR);
        let after = separator.map_or(0, |separator| words.len() - separator - 1);
        // What follows `--` belongs to the program, not to cargo.
        let given = match separator {
            Some(position) if command == "cargo" => words.split_off(position).split_off(1),
            _ => Vec::new(),
        };
        let matches = Args::command().color(color(&words)).get_matches_from(words);
        let mut args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        match &mut args.command {
            Command::Cargo(cargo) => cargo.given = given,
            Command::Run(run) => run.separated = after,
            Command::Hunt(hunt) => hunt.separated = after,
            _ => {}
        }
        Ok(args)
    }
}

impl CompilerArgs {
    /// `foretell java …` is `foretell run -- java …`.
    pub(crate) fn run_java(self) -> Result<Args, Failure> {
        let words = ["foretell", "run", SEPARATOR, "java"].map(OsString::from);
        Args::parse_words(words.into_iter().chain(self.arguments).collect())
    }
}

/// Where the command stands: only options of all commands may come before it.
fn command_at(words: &[OsString]) -> usize {
    match words.get(1) {
        Some(word) if word == COLOR => 3,
        Some(word) if word.to_string_lossy().starts_with("--color=") => 2,
        _ => 1,
    }
}

/// When messages about the command line itself have colours.
fn color(words: &[OsString]) -> clap::ColorChoice {
    let joined = words.iter().filter_map(|word| word.to_str()?.strip_prefix("--color="));
    let apart = words.windows(2).filter(|pair| pair[0] == COLOR).filter_map(|pair| pair[1].to_str());
    match joined.chain(apart).last() {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> anstream::ColorChoice {
        match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}

/// What is meant by a file in the place of a command.
fn advice(word: &OsStr) -> Option<String> {
    let is_command = Args::command().get_subcommands().any(|command| command.get_name() == word);
    if is_command || word == "help" || word.to_string_lossy().starts_with('-') || word.is_empty() {
        return None;
    }
    let (name, file) = (word.to_string_lossy(), quoted(word));
    let (what, meant) = meant(Path::new(word))?;
    Some(format!("`{name}` is no command of foretell; to {what}: foretell {meant} {file}"))
}

/// What one does with such a file, and the command that does it.
fn meant(file: &Path) -> Option<(&'static str, &'static str)> {
    let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    let data = file.metadata().ok();
    let is_executable =
        data.as_ref().is_some_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    if Language::is_cimp(file) || is_source(file) {
        Some(("run it and find races", "run"))
    } else if Format::from_extension(file).is_some() {
        Some(("find races in it", "predict"))
    } else if ending == "json" && data.is_some() {
        Some(("explain its races", "explain"))
    } else if ending == "schedule" && data.is_some() {
        Some(("drive its program into the race", "replay"))
    } else if is_executable {
        Some(("run it and find races", "run --"))
    } else {
        data.is_some_and(|data| data.is_file()).then_some(("find races in it", "predict"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn files_in_the_place_of_commands_are_told_with_the_command() {
        let told = |word: &str| advice(OsStr::new(word)).unwrap_or_default();
        assert!(told("bank.c").ends_with("foretell run bank.c"), "{}", told("bank.c"));
        assert!(told("my bank.rs").ends_with("foretell run 'my bank.rs'"), "{}", told("my bank.rs"));
        assert!(told("t.std.gz").ends_with("foretell predict t.std.gz"), "{}", told("t.std.gz"));
        assert!(told("/bin/sh").ends_with("foretell run -- /bin/sh"), "{}", told("/bin/sh"));
        for command in ["run", "predict", "help", "--version", "predct"] {
            assert_eq!(told(command), "");
        }
    }

    #[test]
    fn options_of_all_commands_may_come_first() {
        assert_eq!(command_at(&words("foretell --color never run a.c")), 3);
        assert_eq!(command_at(&words("foretell --color=never run a.c")), 2);
        assert_eq!(command_at(&words("foretell run --color never a.c")), 1);
    }

    #[test]
    fn what_compilers_are_given_is_theirs() {
        let args = Args::parse_words(words("foretell rustc --color always a.rs")).expect("it is parsed");
        let Command::Rustc(rustc) = args.command else { panic!("another command") };
        assert_eq!(rustc.arguments, words("--color always a.rs"));
    }

    #[test]
    fn what_java_is_given_is_run_by_java() {
        let Command::Java(java) =
            Args::parse_words(words("foretell java -cp a --help Main")).expect("it is parsed").command
        else {
            panic!("another command")
        };
        let Command::Run(run) = java.run_java().expect("it is parsed").command else {
            panic!("another command")
        };
        assert_eq!(run.program.as_os_str(), "java");
        assert_eq!(run.arguments, words("-cp a --help Main"));
    }

    #[test]
    fn words_after_the_separator_are_counted() {
        let separated = |line| match Args::parse_words(words(line)).expect("it is parsed").command {
            Command::Run(run) => run.separated,
            _ => panic!("another command"),
        };
        assert_eq!(separated("foretell run a.c b.c"), 0);
        assert_eq!(separated("foretell run a.c -- b.c"), 1);
        assert_eq!(separated("foretell run -- make check"), 2);
    }
}
