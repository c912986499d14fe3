//! Reports for test dashboards: the XML that JUnit made common.
//!
//! Each report is a suite. What it is asked for is that there is no race: each race is a case that fails, each
//! candidate one that was skipped, and if there are none, one case says so. A test that was run is a case of its own
//! as well.

use std::collections::HashSet;
use std::io;

use crate::confirmation_text;
use crate::context::SourceLocation;
use crate::coverage_text;
use crate::deadlock::{Deadlock, WaitingThread};
use crate::hunt_text;
use crate::notes;
use crate::page::Page;
use crate::predicted_deadlock::{self, PredictedDeadlock};
use crate::predicted_violation::{self, PredictedViolation};
use crate::race_text;
use crate::report::{Candidate, Race, RacingAccess, Report, TestEnding, TestRun};
use crate::sink::{Sink, whole};
use crate::text::{Detail, count};
use crate::visible::visible;

mod xml;

use xml::Element;

/// The reports in this form.
pub fn render(reports: &[Report]) -> io::Result<String> {
    whole(|sink| write(reports, sink))
}

/// The same, piece by piece.
pub fn write(reports: &[Report], sink: &mut Sink<'_>) -> io::Result<()> {
    let mut told = HashSet::new();
    let mut suite = |report: &Report| {
        // A test that several techniques look at, or that has several processes, is still one test.
        let test = report.test.as_ref().filter(|test| told.insert(test.name.clone()));
        Suite::new(report, test, sink)
    };
    let suites = reports.iter().map(&mut suite).collect::<io::Result<Vec<Suite>>>()?;
    let mut root = Element::new("testsuites").with("name", "foretell");
    for (name, number) in Tally::of(suites.iter().flat_map(|suite| &suite.cases)).counts() {
        root = root.with(name, &number.to_string());
    }
    let seconds: f64 = suites.iter().map(|suite| suite.seconds).sum();
    root = root.with("time", &time(seconds));
    for suite in suites {
        root.push(suite.element(sink)?);
    }
    root.document(sink)
}

/// A report as tests.
struct Suite {
    name: String,
    seconds: f64,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

/// One test.
struct Case {
    class: String,
    name: String,
    seconds: f64,
    outcome: Outcome,
}

/// How a test ended.
enum Outcome {
    Passed,
    /// It shows what must not be: in one word, in one line, and in full.
    Failed {
        kind: &'static str,
        message: String,
        text: String,
    },
    /// It could not be brought to its end.
    Error {
        kind: &'static str,
        message: String,
    },
    /// It says nothing, for this reason.
    Skipped {
        message: String,
    },
}

/// How many tests ended how.
#[derive(Default)]
struct Tally {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Suite {
    fn new(report: &Report, test: Option<&TestRun>, sink: &Sink<'_>) -> io::Result<Suite> {
        let file = &report.trace.file;
        let test_seconds = test.map_or(0.0, |test| test.seconds);
        Ok(Suite {
            name: format!("{file} ({})", report.technique),
            seconds: report.stats.seconds + test_seconds,
            properties: properties(report),
            cases: test.map(Case::of_test).into_iter().chain(cases(report, sink)?).collect(),
        })
    }

    fn element(self, sink: &Sink<'_>) -> io::Result<Element> {
        let mut suite = Element::new("testsuite").with("name", &self.name);
        for (name, number) in Tally::of(&self.cases).counts() {
            suite = suite.with(name, &number.to_string());
        }
        suite = suite.with("time", &time(self.seconds));
        let mut properties = Element::new("properties");
        for (name, value) in self.properties {
            properties.push(Element::new("property").with("name", name).with("value", &value));
        }
        suite.push(properties);
        for case in self.cases {
            sink.look()?;
            suite.push(case.element());
        }
        Ok(suite)
    }
}

fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("foretell.version", report.version.clone()),
        ("foretell.technique", report.technique.clone()),
        ("foretell.events", report.trace.events.to_string()),
        ("foretell.threads", report.trace.threads.to_string()),
        ("foretell.complete", report.complete.to_string()),
    ];
    if let Some(coverage) = &report.trace.coverage {
        properties.extend([
            ("foretell.coverage.concurrent_accesses", coverage.concurrent_accesses.to_string()),
            ("foretell.coverage.reorderable_accesses", coverage.reorderable_accesses.to_string()),
            ("foretell.coverage.thread_pairs", coverage.thread_pairs.to_string()),
            ("foretell.coverage.reorderable_thread_pairs", coverage.reorderable_thread_pairs.to_string()),
            ("foretell.coverage.fences", coverage.fences.to_string()),
            ("foretell.coverage.blind", coverage.blind.to_string()),
        ]);
    }
    properties.extend(report.notes.iter().map(|note| ("foretell.note", note.clone())));
    properties.extend(coverage_text::line(&report.trace).map(|line| ("foretell.coverage", line)));
    properties.extend(notes::of_coverage(report).into_iter().map(|text| ("foretell.coverage.note", text)));
    properties
        .extend(report.evidence.as_deref().map(|it| ("foretell.evidence", notes::ask_for_evidence(it))));
    properties
}

/// What a report comes to.
fn cases(report: &Report, sink: &Sink<'_>) -> io::Result<Vec<Case>> {
    let of_race = |race| sink.look().map(|()| Case::of_race(race));
    let mut cases = (1..).zip(report.listed_races()).map(of_race).collect::<io::Result<Vec<Case>>>()?;
    cases.extend(report.deadlocks.iter().map(Case::of_predicted_deadlock));
    cases.extend(report.violations.iter().map(Case::of_violation));
    cases.extend(report.hunt.iter().flat_map(|hunt| &hunt.deadlocks).map(Case::of_deadlock));
    cases.extend(report.undecided.iter().map(Case::of_candidate));
    for pair in report.known.iter().flat_map(|known| &known.pairs) {
        let message = "known from an earlier report".to_string();
        cases.push(Case::of_pair(
            &pair.first,
            &pair.second,
            Some(&pair.fingerprint),
            Outcome::Skipped { message },
        ));
    }
    for pair in report.suppressed.iter().flat_map(|suppressed| &suppressed.pairs) {
        let message = format!("suppressed by the rule {}", pair.rule);
        let fingerprint = pair.fingerprint.as_deref();
        cases.push(Case::of_pair(&pair.first, &pair.second, fingerprint, Outcome::Skipped { message }));
    }
    for suppressed in report.suppressed.iter().flat_map(|suppressed| &suppressed.deadlocks) {
        let message = format!("suppressed by the rule {}", suppressed.rule);
        cases.push(Case {
            outcome: Outcome::Skipped { message },
            ..Case::of_predicted_deadlock(&suppressed.deadlock)
        });
    }
    for deadlock in report.known.iter().flat_map(|known| &known.deadlocks) {
        let message = "known from an earlier report".to_string();
        cases.push(Case { outcome: Outcome::Skipped { message }, ..Case::of_predicted_deadlock(deadlock) });
    }
    for suppressed in report.suppressed.iter().flat_map(|suppressed| &suppressed.violations) {
        let message = format!("suppressed by the rule {}", suppressed.rule);
        let outcome = Outcome::Skipped { message };
        cases.push(Case { outcome, ..Case::of_violation(&suppressed.violation) });
    }
    for violation in report.known.iter().flat_map(|known| &known.violations) {
        let message = "known from an earlier report".to_string();
        cases.push(Case { outcome: Outcome::Skipped { message }, ..Case::of_violation(violation) });
    }
    if cases.is_empty() {
        cases.push(Case::of_nothing(report));
    }
    if let Some(ending) = &report.ending {
        let outcome = Outcome::Error { kind: "ending", message: ending.clone() };
        cases.push(Case {
            class: report.trace.file.clone(),
            name: "ends well".into(),
            seconds: 0.0,
            outcome,
        });
    }
    Ok(cases)
}

impl Case {
    fn of_test(test: &TestRun) -> Case {
        let (class, name) = test.name.split_once("::").unwrap_or((&test.name, &test.name));
        let outcome = match test.ending {
            TestEnding::Passed => Outcome::Passed,
            TestEnding::Failed => Outcome::Failed {
                kind: "test-failed",
                message: "the test failed".to_string(),
                text: test.output.clone().unwrap_or_default(),
            },
            TestEnding::Stopped => {
                Outcome::Error { kind: "timeout", message: "stopped at its time limit".to_string() }
            }
        };
        Case { class: class.to_string(), name: name.to_string(), seconds: test.seconds, outcome }
    }

    fn of_race((number, race): (usize, &Race)) -> Case {
        let mut page = Page::new(Detail::default());
        race_text::write(&mut page, number, race, None, Detail::default());
        let confirmation = race.confirmation.as_ref().filter(|it| !it.confirmed);
        let doubt = confirmation.map(|it| format!(" ({})", confirmation_text::words(it).plain()));
        let message = words(&race.first, &race.second) + &doubt.unwrap_or_default();
        let outcome = Outcome::Failed { kind: "data-race", message, text: page.finish() };
        Case::of_pair(&race.first, &race.second, race.fingerprint.as_deref(), outcome)
    }

    /// Named by where threads wait.
    fn of_deadlock(deadlock: &Deadlock) -> Case {
        let mut page = Page::new(Detail::default());
        hunt_text::write_deadlock(&mut page, 1, deadlock);
        Case::of_waiting(&deadlock.waiting, deadlock.title(), page.finish())
    }

    fn of_predicted_deadlock(deadlock: &PredictedDeadlock) -> Case {
        let mut page = Page::new(Detail::default());
        predicted_deadlock::write(&mut page, 1, deadlock);
        Case::of_waiting(&deadlock.waiting, deadlock.words(), page.finish())
    }

    fn of_violation(violation: &PredictedViolation) -> Case {
        let mut page = Page::new(Detail::default());
        predicted_violation::write(&mut page, 1, violation);
        let (kind, message) = (violation.kind.id(), violation.words());
        let outcome = Outcome::Failed { kind, message, text: page.finish() };
        let fingerprint = violation.fingerprint.as_deref();
        let case = Case::of_pair(&violation.second, &violation.first, fingerprint, outcome);
        let name = case.name.replacen("data race", violation.kind.words(), 1);
        Case { name, ..case }
    }

    fn of_waiting(waiting: &[WaitingThread], message: String, text: String) -> Case {
        let places: Vec<&str> = waiting.iter().map(|waiting| waiting.location.as_str()).collect();
        let first = places.first().copied().unwrap_or_default();
        let class = SourceLocation::parse(first).map_or(first, |place| place.file).to_string();
        let outcome = Outcome::Failed { kind: "deadlock", message, text };
        Case { class, name: format!("deadlock: {}", places.join(" and ")), seconds: 0.0, outcome }
    }

    fn of_candidate(open: &Candidate) -> Case {
        let message = format!("{}: {}", words(&open.first, &open.second), open.reason);
        Case::of_pair(&open.first, &open.second, open.fingerprint.as_deref(), Outcome::Skipped { message })
    }

    /// Named by what is the same from run to run.
    fn of_pair(
        first: &RacingAccess,
        second: &RacingAccess,
        fingerprint: Option<&str>,
        outcome: Outcome,
    ) -> Case {
        let side = |access: &RacingAccess| match (&access.function, &access.source) {
            (Some(function), _) => function.clone(),
            (None, Some(source)) => source.trim().to_string(),
            (None, None) => access.location.clone(),
        };
        let mut sides = [side(first), side(second)];
        sides.sort();
        let fingerprint = fingerprint.map(|text| format!(" [{text}]")).unwrap_or_default();
        let name = format!("data race: {}{fingerprint}", sides.join(" and "));
        let class = match SourceLocation::parse(&first.location) {
            Some(place) if !place.file.is_empty() => place.file.to_string(),
            _ => first.function.clone().unwrap_or_else(|| first.target.clone()),
        };
        Case { class, name, seconds: 0.0, outcome }
    }

    /// Nothing was found, and nothing else is there or something keeps the answer open.
    fn of_nothing(report: &Report) -> Case {
        let outcome = match why_open(report) {
            None => Outcome::Passed,
            Some(message) => Outcome::Skipped { message },
        };
        let (class, name) = (report.trace.file.clone(), "no data race".to_string());
        Case { class, name, seconds: report.stats.seconds, outcome }
    }

    fn element(self) -> Element {
        let case = Element::new("testcase").with("classname", &self.class).with("name", &self.name);
        let mut case = case.with("time", &time(self.seconds));
        match self.outcome {
            Outcome::Passed => {}
            Outcome::Failed { kind, message, text } => {
                let failure = Element::new("failure").with("message", &message).with("type", kind);
                case.push(failure.with_text(&text));
            }
            Outcome::Error { kind, message } => {
                let error = Element::new("error").with("message", &message).with("type", kind);
                case.push(error.with_text(&message));
            }
            Outcome::Skipped { message } => case.push(Element::new("skipped").with("message", &message)),
        }
        case
    }
}

/// What keeps an answer from being complete, if anything does.
fn why_open(report: &Report) -> Option<String> {
    let mut reasons = report.notes.clone();
    reasons.extend(report.interrupted.then(|| "interrupted".to_string()));
    reasons.extend(report.trace.cut_short.then(|| "the recording was cut short".to_string()));
    reasons.extend(coverage_text::warning(&report.trace));
    let left = report.stats.not_in_window + report.stats.not_examined;
    reasons.extend((left > 0).then(|| format!("{} not decided", count(left, "pair"))));
    let forgotten = report.stats.forgotten_accesses;
    reasons.extend((forgotten > 0).then(|| format!("{} forgotten", count(forgotten, "access"))));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Both accesses in one line.
fn words(first: &RacingAccess, second: &RacingAccess) -> String {
    let side = |access: &RacingAccess| {
        format!("{} {} at {}", visible(&access.thread), race_text::deed(access), visible(&access.location))
    };
    format!("{} while {}", side(first), side(second))
}

impl Tally {
    fn of<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Tally {
        let mut tally = Tally::default();
        for case in cases {
            tally.tests += 1;
            match case.outcome {
                Outcome::Passed => {}
                Outcome::Failed { .. } => tally.failures += 1,
                Outcome::Error { .. } => tally.errors += 1,
                Outcome::Skipped { .. } => tally.skipped += 1,
            }
        }
        tally
    }

    fn counts(&self) -> [(&'static str, usize); 4] {
        [
            ("tests", self.tests),
            ("failures", self.failures),
            ("errors", self.errors),
            ("skipped", self.skipped),
        ]
    }
}

fn time(seconds: f64) -> String {
    format!("{seconds:.3}")
}

#[cfg(test)]
mod tests;
