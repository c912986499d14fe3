//! The command line: commands, options and their help texts.

mod analysis;
mod build;
mod command_line;
mod explore;
mod inspect;
mod models;
mod program;
mod report;
mod shards;
mod texts;
mod trace;
mod values;

pub(crate) use analysis::{
    Color, CompareArgs, Following, InputArgs, OutputFormat, PredictArgs, WantedArgs, jobs,
};
pub(crate) use build::{CargoAction, CargoArgs, CompilerArgs};
pub(crate) use explore::{ExploreArgs, RuleArg};
pub(crate) use inspect::{
    Asked, CheckArgs, CompletionsArgs, DoctorArgs, ExplainArgs, ManArgs, SchemaArgs, Steps,
};
pub(crate) use models::{ModelsArgs, ModelsCommand};
pub(crate) use program::{
    HuntArgs, LibraryArgs, LogArgs, LogPart, Order, RecordArgs, ReplayArgs, RunArgs, ScheduleArgs, Strategy,
};
pub(crate) use report::{ReportArgs, ReportFormat};
pub(crate) use shards::{MergeArgs, PlanArgs};
pub(crate) use trace::{Form, TraceArgs, TraceCommand};
pub(crate) use values::{Bound, MaxRaces, Share};

use clap::{Parser, Subcommand};

use texts::heading;

/// Predict data races: from one recorded run of a multithreaded program, prove which accesses could race in another
/// schedule of the same program
///
/// Every reported race comes with a proof that an independent referee has checked. Start with `foretell run FILE.c`
/// or `foretell predict TRACE`.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, after_help = texts::EXIT_CODES)]
pub(crate) struct Args {
    #[arg(
        long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help = texts::COLOR,
        help_heading = heading::DISPLAY
    )]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find races in recorded traces
    #[command(after_help = texts::EXIT_CODES)]
    Predict(PredictArgs),
    /// Cut a trace into shards that can be analysed one by one, on any machine
    Plan(PlanArgs),
    /// Make one report of those of all shards
    #[command(after_help = texts::EXIT_CODES)]
    Merge(MergeArgs),
    /// Check the certificate of a trace that `predict --certify` has written
    #[command(after_help = texts::CHECK_EXIT_CODES)]
    Check(CheckArgs),
    /// Explain one race of a JSON report in detail, or why a pair cannot race
    #[command(after_help = texts::EXPLAIN_EXIT_CODES)]
    Explain(ExplainArgs),
    /// Run several techniques on the same traces and print one table
    #[command(after_help = texts::COMPARE_EXIT_CODES)]
    Compare(CompareArgs),
    /// Run a program once, record it, and find races in the recording
    #[command(after_help = texts::EXIT_CODES)]
    Run(RunArgs),
    /// Run a program many times under different schedules, and merge the races of all runs
    #[command(after_help = texts::HUNT_EXIT_CODES)]
    Hunt(HuntArgs),
    /// Drive a program into a race of a report, and show both threads at their accesses
    #[command(after_help = texts::REPLAY_EXIT_CODES)]
    Replay(ReplayArgs),
    /// Run an instrumented program and write the trace of its run to a file
    #[command(after_help = texts::RECORD_EXIT_CODES)]
    Record(RecordArgs),
    /// Compile Rust as rustc does, with instrumentation
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Rustc(CompilerArgs),
    /// Build a Rust package, run it or its tests, and find races (also: `cargo foretell`)
    #[command(after_help = texts::EXIT_CODES)]
    Cargo(CargoArgs),
    /// Compile C as clang does, with instrumentation: CC="foretell cc" make
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Cc(CompilerArgs),
    /// Compile C++ as clang does, with instrumentation: CXX="foretell c++" make
    #[command(name = "c++", disable_help_flag = true, disable_version_flag = true)]
    Cpp(CompilerArgs),
    /// Run a Java program as java does, record it, and find races: foretell java -jar app.jar
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Java(CompilerArgs),
    /// Explore all feasible runs of a trace, or all executions of a CIMP program
    #[command(after_help = texts::EXPLORE_EXIT_CODES)]
    Explore(ExploreArgs),
    /// Check, count, convert and browse traces
    Trace(TraceArgs),
    /// List, check and suggest models of library functions
    Models(ModelsArgs),
    /// Print the JSON Schema of `--format json`
    Schema(SchemaArgs),
    /// Check what works on this machine, and say what to do about the rest
    #[command(after_help = texts::DOCTOR_EXIT_CODES)]
    Doctor(DoctorArgs),
    /// Print completions for a shell: foretell completions bash > ~/.local/share/bash-completion/completions/foretell
    Completions(CompletionsArgs),
    /// Print the manual page of foretell or of one of its commands: foretell man run | man -l -
    Man(ManArgs),
}

impl Command {
    /// The limit for the memory of the process, if one is set.
    pub(crate) fn memory(&self) -> Option<u64> {
        match self {
            Command::Predict(args) => args.wanted.search.memory,
            Command::Run(args) => args.wanted.search.memory,
            Command::Hunt(args) => args.wanted.search.memory,
            Command::Cargo(args) => args.wanted.search.memory,
            Command::Compare(args) => args.search.memory,
            Command::Check(args) => args.memory,
            Command::Explain(args) => args.memory,
            Command::Explore(args) => args.memory,
            Command::Record(args) => args.memory,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory as _;

    use super::*;

    /// All options of all commands, each with its command and its short help.
    fn options() -> Vec<(String, clap::Arg)> {
        let mut options = Vec::new();
        collect(&Args::command(), &mut options);
        options
    }

    fn collect(command: &clap::Command, options: &mut Vec<(String, clap::Arg)>) {
        let name = command.get_name().to_string();
        options.extend(command.get_arguments().map(|option| (name.clone(), option.clone())));
        command.get_subcommands().for_each(|command| collect(command, options));
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_help_text_and_a_heading() {
        for (command, option) in options() {
            let id = option.get_id();
            let help = option.get_help().unwrap_or_else(|| panic!("{command}: {id} has no help"));
            assert!(!help.to_string().ends_with('.'), "{command} {id}: {help}");
            // Arguments and commands with few options need no headings.
            let few = matches!(
                command.as_str(),
                "check" | "code" | "convert" | "list" | "stats" | "view" | "schema" | "man"
            );
            if option.get_long().is_some() && !few {
                assert!(option.get_help_heading().is_some(), "{command}: {id} is under no heading");
            }
        }
    }

    #[test]
    fn an_option_that_several_commands_have_reads_the_same() {
        // These mean different things in different commands.
        const DIFFERENT: [&str; 14] = [
            "report",
            "trace",
            "witness",
            "technique",
            "pair",
            "format",
            "output",
            "max_steps",
            "memory",
            "time_limit",
            "stop_after",
            "loops",
            "race",
            "strategy",
        ];
        let mut texts: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (command, option) in options().into_iter().filter(|(_, option)| option.get_long().is_some()) {
            let id = option.get_id().to_string();
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            let (first, known) = texts.entry(id.clone()).or_insert((command.clone(), help.clone()));
            let differs = *known != help && !DIFFERENT.contains(&id.as_str());
            assert!(!differs, "--{id} of {first}: {known}\n--{id} of {command}: {help}");
        }
    }
}
