//! `foretell replay`: drives a program into a race, deadlock or violation of a report, or of a saved schedule.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use foretell_report::confirmation::{why_no_schedule, why_no_schedule_of};
use foretell_report::{Confirmation, confirmation_text};
use foretell_wire::schedule::{HEADING, Schedule, ScheduleDraft};

use crate::args::{LibraryArgs, ReplayArgs};
use crate::error::Failure;
use crate::explain;
use crate::front_end::{Cimp, DrivePlan, FrontEnd as _, Language, Native};
use crate::shell::{quoted, quoted_file};
use crate::{Outcome, output, screen, stop};

pub(crate) fn run(args: &ReplayArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let text = explain::read(&args.file)?;
    let is_saved = text.starts_with(HEADING.trim_end_matches(char::is_numeric));
    let mut draft = if is_saved { parse(&args.file.display().to_string(), &text)? } else { of_report(args)? };
    let (program, arguments) = command(args, &draft)?;
    let how = DrivePlan { stop_after: args.stop_after, go_on: args.go_on, gdb: args.gdb };
    let confirmation = match Language::of(&program) {
        Language::Cimp => Cimp::new(&program)?.drive(&mut draft, how)?,
        Language::Native => {
            Native::new(&program, &arguments, &LibraryArgs::default())?.drive(&mut draft, how)?
        }
    };
    let detail = screen::detail(None);
    output::write_text(None, &confirmation_text::render(&confirmation, detail))?;
    if confirmation.confirmed {
        save(args, is_saved, &draft, &program, &arguments)?;
    }
    Ok(outcome(&confirmation))
}

fn outcome(confirmation: &Confirmation) -> Outcome {
    if confirmation.confirmed { Outcome::Race } else { Outcome::Undecided }
}

fn parse(name: &str, text: &str) -> Result<ScheduleDraft, Failure> {
    let failed = |problem| Failure::Usage(format!("{name} is no schedule: {problem}"));
    Schedule::parse(text).map(ScheduleDraft::from).map_err(failed)
}

/// The schedule of what is asked for.
fn of_report(args: &ReplayArgs) -> Result<ScheduleDraft, Failure> {
    let report = explain::load(&args.file, args.report)?;
    let (kind, number) = asked_for(args);
    let at = number.saturating_sub(1);
    let no_such = |count| explain::no_such(kind, number, count);
    let (schedule, why_not) = if args.deadlock.is_some() {
        let deadlock = report.deadlocks.get(at).ok_or_else(|| no_such(report.deadlocks.len()))?;
        (&deadlock.schedule, why_no_schedule_of(deadlock.witness.as_ref()))
    } else if args.violation.is_some() {
        let violation = report.violations.get(at).ok_or_else(|| no_such(report.violations.len()))?;
        (&violation.schedule, why_no_schedule_of(violation.witness.as_ref()))
    } else {
        let race = report.listed_races().nth(at).ok_or_else(|| no_such(report.listed_races().count()))?;
        (&race.schedule, why_no_schedule(race))
    };
    match schedule {
        Some(text) => parse(&format!("what {} says of {kind} {number}", args.file.display()), text),
        None => Err(Failure::Usage(format!("{kind} {number} cannot be replayed: {why_not}"))),
    }
}

/// What is to be replayed of a report.
fn asked_for(args: &ReplayArgs) -> (&'static str, usize) {
    match (args.deadlock, args.violation) {
        (Some(number), _) => ("deadlock", number),
        (None, Some(number)) => ("violation", number),
        (None, None) => ("race", args.race.unwrap_or(1)),
    }
}

/// What is to be run: what the command line says, or else what was recorded.
fn command(args: &ReplayArgs, draft: &ScheduleDraft) -> Result<(PathBuf, Vec<OsString>), Failure> {
    match args.command.split_first() {
        Some((program, arguments)) => Ok((PathBuf::from(program), arguments.to_vec())),
        None if draft.program.is_empty() => Err(Failure::Usage(
            "the schedule does not say which program was recorded: -- COMMAND does".to_string(),
        )),
        None => Ok((PathBuf::from(&draft.program), draft.arguments.iter().map(OsString::from).collect())),
    }
}

/// Keeps the schedule for others, and says how they follow it.
fn save(
    args: &ReplayArgs,
    is_saved: bool,
    draft: &ScheduleDraft,
    program: &Path,
    arguments: &[OsString],
) -> Result<(), Failure> {
    let path = match &args.save {
        Some(path) => path.clone(),
        None if is_saved => args.file.clone(),
        None => beside(&args.file, asked_for(args)),
    };
    if path != args.file {
        fs::write(&path, draft.to_string()).map_err(|error| Failure::file(&path, "write", error))?;
    }
    let mut command = vec![quoted_file(&program.display().to_string())];
    command.extend(arguments.iter().map(|argument| quoted(argument)));
    let path = quoted_file(&path.display().to_string());
    output::note(&format!("again: foretell replay {path} -- {}", command.join(" ")));
    Ok(())
}

/// Where the schedule of a race or a deadlock is kept: beside its report.
fn beside(report: &Path, (kind, number): (&str, usize)) -> PathBuf {
    let stem = report.file_stem().unwrap_or_default().to_string_lossy();
    let stem = if stem == "-" { "report".into() } else { stem };
    report.with_file_name(format!("{stem}-{kind}-{number}.schedule"))
}
