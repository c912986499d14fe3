//! `cargo foretell test`: each test in a process of its own, recorded and looked at.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foretell_report::coverage_text::why_nothing_can_race;
use foretell_report::{Report, TestEnding, TestRun, repeats};

use crate::Outcome;
use crate::analysis::outcome;
use crate::args::{CargoArgs, ReportFormat};
use crate::error::Failure;
use crate::native::Look;
use crate::native::cargo::Program;
use crate::native::record::{self, Ended, Folder, Hunting, Manner};
use crate::native::watch::{self, EndedBy};
use crate::output;
use crate::render::write_reports;
use crate::stop;
use crate::suppress::Rules;

/// How long a test may take by default.
const LONGEST_TEST: Duration = Duration::from_secs(60);
/// How much of what a failed test printed is kept in its report, in bytes.
const LONGEST_OUTPUT: usize = 16 << 10;

/// What has become of all tests.
#[derive(Default)]
struct Tally {
    tests: usize,
    failed: Vec<String>,
    stopped: Vec<String>,
    /// Tests that could not be looked at, and why.
    lost: Vec<String>,
    events: usize,
    /// How many tests had nothing that could race.
    alone: usize,
    /// How many there was no time for.
    not_run: usize,
}

/// Runs the tests of all programs, one after the other.
pub(crate) fn run(args: &CargoArgs, programs: &[Program]) -> Result<Outcome, Failure> {
    let rules = Rules::load(&args.wanted.report)?;
    let (mut tally, mut reports) = (Tally::default(), Vec::new());
    for program in programs {
        for test in names(program, &args.given)? {
            if stop::is_requested() || stop::is_in_a_hurry() {
                tally.not_run += 1;
                continue;
            }
            reports.extend(run_test(args, program, test.as_deref(), &mut tally)?);
        }
    }
    repeats::mark(&mut reports);
    rules.apply(&mut reports);
    // Reports without findings were summarised in one line.
    let is_read_as_it_comes =
        args.wanted.report.targets().iter().all(|target| target.format == ReportFormat::Text);
    let is_lost = |report: &Report| tally.lost.contains(&report.trace.file);
    let says_something = |report: &Report| outcome(report) != Outcome::Clean && !is_lost(report);
    reports.retain(|report| !is_read_as_it_comes || says_something(report));
    write_reports(&reports, &args.wanted.report)?;
    reports.retain(|report| !is_lost(report));
    Ok(sum_up(&tally, &reports))
}

/// The names of a program's tests that are wanted; one nameless test if it has no list of them.
fn names(program: &Program, given: &[OsString]) -> Result<Vec<Option<String>>, Failure> {
    let Some(all) = list(program, given, None)? else { return Ok(vec![None]) };
    let wants_ignored = given.iter().any(|option| option == "--ignored" || option == "--include-ignored");
    let ignored = if wants_ignored { None } else { list(program, given, Some("--ignored"))? };
    let ignored = ignored.unwrap_or_default();
    Ok(all.into_iter().filter(|name| !ignored.contains(name)).map(Some).collect())
}

/// Asks a program for its tests. None if it was not made to be asked.
fn list(program: &Program, given: &[OsString], more: Option<&str>) -> Result<Option<Vec<String>>, Failure> {
    let output = Command::new(&program.path)
        .args(given)
        .args(more)
        .args(["--list", "--format", "terse"])
        .current_dir(&program.folder)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| Failure::Environment(format!("cannot run {}: {error}", program.path.display())))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let is_list = output.status.success() && text.lines().all(|line| line.contains(": "));
    let names = text.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from);
    Ok(is_list.then(|| names.collect()))
}

/// Runs a test, and finds races in what it did.
fn run_test(
    args: &CargoArgs,
    program: &Program,
    test: Option<&str>,
    tally: &mut Tally,
) -> Result<Vec<Report>, Failure> {
    let name = test.map_or_else(|| program.name.clone(), |test| format!("{}::{test}", program.name));
    let folder = Folder::new()?.following(args.wanted.follow()).within(args.wanted.search.time_limit.0);
    let output = folder.path().join("output");
    let started = Instant::now();
    let arguments = arguments_of(args, test);
    let ended = record_test(args, program, &arguments, &folder, &output)?;
    let (ending, seconds) = (ending_of(ended), started.elapsed().as_secs_f64());
    let printed = (ending == TestEnding::Failed).then(|| fs::read(&output).unwrap_or_default());
    let printed = printed.map(|printed| String::from_utf8_lossy(&printed).trim_end().to_string());
    let ran = TestRun { name: name.clone(), ending, seconds, output: printed.as_deref().map(end_of) };
    tally.tests += 1;
    let recordings = match record::collect(&program.path, &folder, ended) {
        Ok(recordings) => recordings,
        Err(failure) => {
            output::note(&format!("{name}: {failure}"));
            let report = not_recorded(args, ran, &failure);
            tally.lost.push(name);
            return Ok(report.into_iter().collect());
        }
    };
    let (mut reports, mut events) = (Vec::new(), 0);
    for (index, recording) in recordings.into_iter().enumerate() {
        events += recording.trace.events().len();
        let (program, arguments, seed) = (program.path.as_path(), arguments.as_slice(), args.seed);
        let (name, wanted, no_progress) = (Path::new(&name), &args.wanted, args.no_progress);
        let look = Look { name, program, arguments, seed, wanted, no_progress };
        reports.extend(look.at(recording, index, wanted.plans())?);
    }
    reports.iter_mut().for_each(|report| report.test = Some(ran.clone()));
    tally.events += events;
    tally.alone += usize::from(reports.iter().all(|report| why_nothing_can_race(&report.trace).is_some()));
    let found = reports.iter().map(outcome).max().unwrap_or(Outcome::Clean);
    let how = match ending {
        TestEnding::Passed => "passed",
        TestEnding::Failed => "FAILED",
        TestEnding::Stopped => "stopped at its time limit",
    };
    output::note(&format!("{name}: {how}, {events} events{}", races_text(found, &reports)));
    match ending {
        TestEnding::Passed => {}
        TestEnding::Failed => {
            eprintln!("{}", printed.unwrap_or_default());
            tally.failed.push(name);
        }
        TestEnding::Stopped => tally.stopped.push(name),
    }
    Ok(reports)
}

/// What was found in a test, in a few words. That there is no race is worth something only where there could have been
/// one.
fn races_text(found: Outcome, reports: &[Report]) -> String {
    let is_blind = reports.iter().any(Report::is_blind);
    let reasons: Option<BTreeSet<_>> =
        reports.iter().map(|report| why_nothing_can_race(&report.trace)).collect();
    match (found, reasons) {
        (Outcome::Race, _) => ", RACES".to_string(),
        (_, _) if is_blind => ", blind: almost nothing could be reordered".to_string(),
        (Outcome::Undecided, _) => ", some pairs undecided".to_string(),
        (Outcome::Incomplete, _) => ", cut short, no race in what was recorded".to_string(),
        (Outcome::Clean, Some(reasons)) if !reasons.is_empty() => {
            let reasons: Vec<&str> = reasons.into_iter().collect();
            format!(", {}: nothing can race", reasons.join("; "))
        }
        (Outcome::Clean, _) => ", no race".to_string(),
    }
}

/// What is to be said to programs of a test that could not be examined; the user was informed.
fn not_recorded(args: &CargoArgs, ran: TestRun, failure: &Failure) -> Option<Report> {
    let mut report = Report::new(args.wanted.technique.first()?.name());
    report.trace.file.clone_from(&ran.name);
    report.notes = vec![format!("not recorded: {failure}")];
    report.test = Some(ran);
    Some(report)
}

/// As much of the end of a text as a report has room for.
fn end_of(text: &str) -> String {
    let start = text.len().saturating_sub(LONGEST_OUTPUT);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    text.get(start..).unwrap_or_default().to_string()
}

/// What the program is given for it to run this test.
fn arguments_of(args: &CargoArgs, test: Option<&str>) -> Vec<OsString> {
    // It was picked from the list: that it is the one, and may run, is settled.
    let settled = ["--exact", "--nocapture", "--include-ignored", "--test-threads=1"];
    match test {
        Some(test) => std::iter::once(test).chain(settled).map(OsString::from).collect(),
        None => args.given.clone(),
    }
}

/// Runs a test as cargo would, alone, with its output in a file.
fn record_test(
    args: &CargoArgs,
    program: &Program,
    arguments: &[OsString],
    folder: &Folder,
    output: &Path,
) -> Result<Ended, Failure> {
    let failed = |error| Failure::file(output, "write", error);
    let file = File::create(output).map_err(failed)?;
    let stop_after = Some(args.stop_after.unwrap_or(LONGEST_TEST));
    let (seed, order, hunting) = (args.seed, args.order, Hunting::default());
    let manner = Manner { name: &program.path, seed, order, stop_after, log: args.log, hunting };
    let mut command = record::command(&program.path, manner, folder);
    let child = command
        .args(arguments)
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(failed)?)
        .stderr(file)
        .spawn()
        .map_err(|error| Failure::Environment(format!("cannot run {}: {error}", program.path.display())))?;
    let process = child.id();
    let rotation = record::rotation(manner, folder)?;
    let waited = watch::wait(child, stop_after, folder.path());
    drop(rotation);
    let (status, by) =
        waited.map_err(|error| Failure::Environment(format!("cannot wait for a test: {error}")))?;
    Ok(Ended { process, status, by })
}

/// How a test has ended.
fn ending_of(ended: Ended) -> TestEnding {
    match ended.by {
        EndedBy::Itself if ended.status.success() => TestEnding::Passed,
        EndedBy::Itself => TestEnding::Failed,
        EndedBy::User | EndedBy::Time(_) => TestEnding::Stopped,
    }
}

fn sum_up(tally: &Tally, reports: &[Report]) -> Outcome {
    let with = |wanted: Outcome| {
        let tests = reports.iter().filter(|report| outcome(report) == wanted);
        tests.map(|report| report.trace.file.as_str()).collect::<BTreeSet<_>>().len()
    };
    output::note(&format!(
        "{} tests, {} events: {} with races, {} with undecided pairs or almost nothing to reorder, {} without concurrent \
         accesses, {} failed, {} stopped, {} not recorded",
        tally.tests,
        tally.events,
        with(Outcome::Race),
        with(Outcome::Undecided),
        tally.alone,
        tally.failed.len(),
        tally.stopped.len(),
        tally.lost.len(),
    ));
    for (what, names) in
        [("failed", &tally.failed), ("stopped", &tally.stopped), ("not recorded", &tally.lost)]
    {
        for name in names {
            output::note(&format!("  {what}: {name}"));
        }
    }
    let found = reports.iter().map(outcome).max().unwrap_or(Outcome::Clean);
    if tally.not_run > 0 {
        output::note(&format!("interrupted: {} more were not run", tally.not_run));
    }
    let all_well =
        tally.failed.is_empty() && tally.stopped.is_empty() && tally.lost.is_empty() && tally.not_run == 0;
    if all_well { found } else { found.max(Outcome::Incomplete) }
}
