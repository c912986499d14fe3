//! Reports for code scanning: SARIF 2.1.0, in the subset that dashboards show.
//!
//! All reports are one run with a rule for each kind of finding, as dashboards keep apart what comes in several runs.
//! A race that several techniques find in one trace is one result. Its story is a code flow with a single flow, as
//! viewers show only the first: the steps of all threads in their order, each with its thread in the message.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::cause::{Cause, causes, of_each};
use crate::confirmation::Confirmation;
use crate::confirmation_text;
use crate::context::{Frame, SourceLocation};
use crate::coverage_text;
use crate::deadlock::{Deadlock, WaitingThread};
use crate::fingerprint;
use crate::function_name::short;
use crate::notes;
use crate::predicted_violation::{PredictedViolation, ViolationKind};
use crate::race_text::deed;
use crate::report::{Proof, RacingAccess, Report};
use crate::sink::{Sink, whole};
use crate::source_text;
use crate::story::{Row, Story, StoryStep};
use crate::visible::{place as shown_place, visible};

mod uri;

use uri::Folder;

/// What the folder is called that paths are relative to.
const ROOT: &str = "SRCROOT";
/// Where results belong. In no text is this as it stands: there, quotes are escaped.
const NO_RESULTS: &str = "\"results\":[]";
/// Where to read about foretell. Without an address in the manifest there are no links: none is better than one that
/// leads nowhere, and the help of each rule is in the report itself.
const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");
/// How many steps a code flow may have: dashboards refuse more.
const STEPS: usize = 10_000;

/// What a result is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rule {
    Race,
    Candidate,
    Deadlock,
    UseAfterFree,
}

/// What is known about a result from elsewhere.
#[derive(Clone, Copy, Debug)]
enum Standing<'a> {
    /// There is no statement about it.
    Plain,
    /// There are earlier reports, and none has it.
    New,
    /// An earlier report has it.
    Known,
    /// This rule suppresses it.
    Suppressed(&'a str),
}

/// One result, whichever list of a report it comes from.
#[derive(Clone, Debug)]
struct Finding<'a> {
    report: &'a Report,
    rule: Rule,
    first: &'a RacingAccess,
    second: &'a RacingAccess,
    /// What is to be said of the two, after who does what.
    words: &'a str,
    confirmation: Option<&'a Confirmation>,
    story: Option<&'a Story>,
    fingerprint: Option<&'a str>,
    standing: Standing<'a>,
    /// What the race comes from.
    cause: Option<Rc<Cause>>,
}

/// The reports in this form. Relative paths start from `folder`, which is absolute.
pub fn render(reports: &[Report], folder: &str) -> io::Result<String> {
    whole(|sink| write(reports, folder, sink))
}

/// The same, piece by piece.
pub fn write(reports: &[Report], folder: &str, sink: &mut Sink<'_>) -> io::Result<()> {
    let folder = Folder::new(folder);
    let mut findings: Vec<Finding<'_>> = reports.iter().flat_map(findings).collect();
    // A candidate of one technique may be proven by another: races first, and then the first word on a pair of a
    // trace counts.
    findings.sort_by_key(|finding| finding.rule == Rule::Candidate);
    let mut told = HashSet::new();
    findings.retain(|Finding { report, fingerprint, .. }| {
        fingerprint.is_none_or(|fingerprint| told.insert((report.trace.file.as_str(), fingerprint)))
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "foretell",
                "fullName": "foretell, a predictive data-race detector",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": link(HOMEPAGE, ""),
                "rules": Rule::ALL.map(Rule::described),
            }},
            "automationDetails": {"id": category(reports)},
            "originalUriBaseIds": {ROOT: {"uri": folder.uri()}},
            "columnKind": "unicodeCodePoints",
            "results": [],
            "invocations": [{
                "executionSuccessful": !reports.iter().any(|report| report.interrupted),
                "toolExecutionNotifications": reports.iter().flat_map(notifications).collect::<Vec<_>>(),
            }],
        }],
    });
    // There may be very many results: they are not kept, but written one by one where they belong.
    let log = serde_json::to_string(&without_nulls(log))?;
    let (before, after) = log.split_once(NO_RESULTS).unwrap_or((&log, ""));
    write!(sink, "{before}{}", NO_RESULTS.trim_end_matches(']'))?;
    let deadlocks = reports.iter().flat_map(|report| deadlocks(report, &folder));
    let results = findings.iter().map(|finding| result(finding, &folder)).chain(deadlocks);
    for (index, result) in results.enumerate() {
        sink.look()?;
        if index > 0 {
            sink.write_all(b",")?;
        }
        serde_json::to_writer(&mut *sink, &without_nulls(result))?;
    }
    writeln!(sink, "]{after}")
}

/// The address of a part of the homepage, if there is one.
fn link(homepage: &str, part: &str) -> Option<String> {
    match (homepage, part) {
        ("", _) => None,
        (_, "") => Some(homepage.to_string()),
        _ => Some(format!("{homepage}#{part}")),
    }
}

/// What is not known is left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let known = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

impl Rule {
    /// All of them, in their order.
    const ALL: [Rule; 4] = [Rule::Race, Rule::Candidate, Rule::Deadlock, Rule::UseAfterFree];

    fn id(self) -> &'static str {
        match self {
            Rule::Race => "data-race",
            Rule::Candidate => "candidate",
            Rule::Deadlock => "deadlock",
            Rule::UseAfterFree => ViolationKind::UseAfterFree.id(),
        }
    }

    fn level(self) -> &'static str {
        match self {
            Rule::Race | Rule::Deadlock | Rule::UseAfterFree => "error",
            Rule::Candidate => "note",
        }
    }

    fn described(self) -> Value {
        let (name, short, full, help) = match self {
            Rule::Race => (
                "DataRace",
                "Data race",
                "Two threads can access the same memory at the same time, and at least one of them writes.",
                "The behaviour of a program with a data race is undefined in C, C++ and Rust, and surprising anywhere. The race is \
                 proven: there is a schedule of the program in which the two accesses are adjacent, and an \
                 independent referee has checked it. The code flow shows that schedule step by step. Protect both accesses \
                 with the same lock, or make them atomic, or let one happen before the other.",
            ),
            Rule::Candidate => (
                "RaceCandidate",
                "Possible data race, not proven",
                "Two accesses that might race; it is not proven that they can happen at the same time.",
                "This pair is not decided, or the technique cannot prove what it reports. The message says why. More \
                 time (--budget, --time-limit), more memory (--memory) or --window all may decide it; --technique auto \
                 proves what it reports.",
            ),
            Rule::Deadlock => (
                "Deadlock",
                "Deadlock",
                "Threads wait for each other, and none of them can continue.",
                "A schedule of the program, which an independent referee has checked, leads to this state, or a run ended in it. The message says which thread waits for what, and which thread holds it. Acquire locks in \
                 the same order everywhere, or hold only one at a time.",
            ),
            Rule::UseAfterFree => (
                "UseAfterFree",
                "Use after free",
                "A thread can use memory after another thread has given it back.",
                "A schedule of the program, which an independent referee has checked, leads to where a thread is about to access memory \
                 that another thread has freed. A lock around both does not help: it keeps them apart, but in either order. Let \
                 the owner wait until the others are done, or count the references.",
            ),
        };
        json!({
            "id": self.id(),
            "name": name,
            "shortDescription": {"text": short},
            "fullDescription": {"text": full},
            "help": {"text": help, "markdown": help},
            "helpUri": link(HOMEPAGE, self.id()),
            "defaultConfiguration": {"level": self.level()},
            "properties": {
                "tags": ["concurrency", "correctness"],
                "precision": if self == Rule::Candidate { "low" } else { "very-high" },
                "problem.severity": if self == Rule::Candidate { "recommendation" } else { "error" },
            },
        })
    }
}

/// What tells this run from those of other programs and techniques, from day to day.
fn category(reports: &[Report]) -> String {
    let Some(report) = reports.first() else { return "foretell/".to_string() };
    let file = report.trace.file.rsplit('/').next().unwrap_or_default();
    // Neither the processes nor the tests of a program are runs of their own.
    let program =
        file.split(" (process ").next().and_then(|name| name.split("::").next()).unwrap_or_default();
    visible(&format!("foretell/{}/{program}/", report.technique))
}

/// What keeps the answer from being complete.
fn notifications(report: &Report) -> Vec<Value> {
    let mut notes = report.notes.clone();
    notes.extend(report.interrupted.then(|| "interrupted: the results are incomplete".to_string()));
    notes.extend(report.trace.cut_short.then(|| "the recording was cut short".to_string()));
    notes.extend(report.ending.as_ref().map(|ending| format!("the run ended abnormally: {ending}")));
    notes.extend(report.evidence.as_deref().map(notes::ask_for_evidence));
    let about = format!("{} · {}", report.trace.file, report.technique);
    let notification =
        |level: &str, note: &String| json!({"level": level, "message": message(&format!("{about}: {note}"))});
    let level = if report.is_blind() { "warning" } else { "note" };
    let line = coverage_text::line(&report.trace).map(|line| format!("coverage: {line}"));
    let coverage: Vec<String> = line.into_iter().chain(notes::of_coverage(report)).collect();
    let coverage = coverage.iter().map(|note| notification(level, note));
    notes.iter().map(|note| notification("warning", note)).chain(coverage).collect()
}

/// All that a report has found, also what it does not tell.
fn findings(report: &Report) -> Vec<Finding<'_>> {
    let standing = if report.known.is_some() { Standing::New } else { Standing::Plain };
    let untold = |proven, first, second, fingerprint, standing| {
        let rule = if proven { Rule::Race } else { Rule::Candidate };
        let (words, confirmation, story) = ("", None, None);
        Finding {
            report,
            rule,
            first,
            second,
            words,
            confirmation,
            story,
            fingerprint,
            standing,
            cause: None,
        }
    };
    let mut findings = Vec::new();
    let causes: Vec<Rc<Cause>> = causes(report).into_iter().map(Rc::new).collect();
    let of_each = of_each(&causes);
    for (place, race) in report.listed_races().enumerate() {
        let words = match race.proof {
            Proof::Adjacent => "A schedule makes the two accesses adjacent.",
            Proof::Unordered => "Nothing in the observed run orders the two accesses.",
        };
        findings.push(Finding {
            report,
            rule: Rule::Race,
            first: &race.first,
            second: &race.second,
            words,
            confirmation: race.confirmation.as_ref(),
            story: race.story.as_ref(),
            fingerprint: race.fingerprint.as_deref(),
            standing,
            cause: of_each.get(place).copied().flatten().cloned(),
        });
    }
    for open in &report.undecided {
        findings.push(Finding {
            report,
            rule: Rule::Candidate,
            first: &open.first,
            second: &open.second,
            words: &open.reason,
            confirmation: None,
            story: None,
            fingerprint: open.fingerprint.as_deref(),
            standing,
            cause: None,
        });
    }
    findings.extend(report.violations.iter().map(|it| violated(report, it, standing)));
    let known = report.known.iter().flat_map(|known| &known.violations);
    findings.extend(known.map(|it| violated(report, it, Standing::Known)));
    let suppressed = report.suppressed.iter().flat_map(|suppressed| &suppressed.violations);
    findings.extend(suppressed.map(|it| violated(report, &it.violation, Standing::Suppressed(&it.rule))));
    for pair in report.known.iter().flat_map(|known| &known.pairs) {
        let fingerprint = Some(pair.fingerprint.as_str());
        findings.push(untold(pair.proven, &pair.first, &pair.second, fingerprint, Standing::Known));
    }
    for pair in report.suppressed.iter().flat_map(|suppressed| &suppressed.pairs) {
        let (fingerprint, standing) = (pair.fingerprint.as_deref(), Standing::Suppressed(&pair.rule));
        findings.push(untold(pair.proven, &pair.first, &pair.second, fingerprint, standing));
    }
    findings
}

fn violated<'a>(
    report: &'a Report,
    violation: &'a PredictedViolation,
    standing: Standing<'a>,
) -> Finding<'a> {
    Finding {
        report,
        rule: match violation.kind {
            ViolationKind::UseAfterFree => Rule::UseAfterFree,
        },
        // Where it happens is where the memory is used.
        first: &violation.second,
        second: &violation.first,
        words: "A schedule leads there.",
        confirmation: violation.confirmation.as_ref(),
        story: None,
        fingerprint: violation.fingerprint.as_deref(),
        standing,
        cause: None,
    }
}

fn result(finding: &Finding<'_>, folder: &Folder) -> Value {
    let &Finding { report, rule, first, second, .. } = finding;
    let places = Places { folder, program: report.program() };
    let stacks = [first, second].into_iter().filter(|access| !access.stack.is_empty());
    let stacks: Vec<Value> = stacks.map(|access| places.stack(access)).collect();
    let mut related = places.access(second);
    related.insert("id".to_string(), json!(1));
    let baseline = match finding.standing {
        Standing::Plain | Standing::Suppressed(_) => None,
        Standing::New => Some("new"),
        Standing::Known => Some("unchanged"),
    };
    let suppression = match finding.standing {
        Standing::Suppressed(rule) => Some(json!([{
            "kind": "external",
            "justification": visible(&format!("suppressed by the rule {rule}")),
        }])),
        _ => None,
    };
    json!({
        "ruleId": rule.id(),
        "ruleIndex": rule as usize,
        "level": rule.level(),
        "message": message(&sentence(finding)),
        "locations": [places.access(first)],
        "relatedLocations": [related],
        "stacks": (!stacks.is_empty()).then_some(stacks),
        "codeFlows": finding.story.and_then(|story| places.code_flow(story)).map(|flow| json!([flow])),
        "partialFingerprints": finding.fingerprint.and_then(partial_fingerprint),
        "suppressions": suppression,
        "baselineState": baseline,
        "properties": {
            "technique": report.technique,
            "trace": visible(&report.trace.file),
            "events": [first.event, second.event],
            "confirmed": finding.confirmation.map(|it| it.confirmed),
            "cause": finding.cause.as_ref().map(|cause| visible(&cause.sentence)),
            "fix": finding.cause.as_ref().and_then(|cause| cause.fix.as_deref()).map(visible),
        },
    })
}

/// The ways in which a program gets stuck.
fn deadlocks(report: &Report, folder: &Folder) -> Vec<Value> {
    let places = Places { folder, program: report.program() };
    let one = |deadlock: &Deadlock| {
        let properties =
            json!({"trace": visible(&report.trace.file), "run": deadlock.run, "seed": deadlock.seed});
        with(stuck(&places, &deadlock.waiting), [("properties", properties)])
    };
    let seen = report.hunt.iter().flat_map(|hunt| &hunt.deadlocks).map(one);
    let predicted = report.deadlocks.iter().map(|deadlock| {
        let result = stuck(&places, &deadlock.waiting);
        let fingerprint = deadlock.fingerprint.as_deref().and_then(partial_fingerprint);
        let events: Vec<u32> = deadlock.events().collect();
        let properties = json!({
            "technique": report.technique, "trace": visible(&report.trace.file), "events": events,
            "confirmed": deadlock.confirmation.as_ref().map(|it| it.confirmed),
        });
        with(result, [("partialFingerprints", json!(fingerprint)), ("properties", properties)])
    });
    seen.chain(predicted).collect()
}

/// Threads that wait for each other, as a result.
fn stuck(places: &Places<'_>, waiting: &[WaitingThread]) -> Value {
    let mut threads = waiting.iter().map(|waiting| {
        let function = waiting.stack.first().map(|frame| frame.function.as_str());
        let mut place = places.place(&waiting.location, function, None);
        place.insert("message".to_string(), message(&format!("{} {}", waiting.thread, waiting.words())));
        place
    });
    let words: Vec<String> =
        waiting.iter().map(|waiting| format!("{} {}", waiting.thread, waiting.words())).collect();
    let (first, others) = (threads.next().into_iter().collect::<Vec<_>>(), threads.collect::<Vec<_>>());
    json!({
        "ruleId": Rule::Deadlock.id(),
        "ruleIndex": Rule::Deadlock as usize,
        "level": Rule::Deadlock.level(),
        "message": message(&format!("Deadlock: {}.", words.join("; "))),
        "locations": first,
        "relatedLocations": others,
    })
}

/// The object with more fields.
fn with<const N: usize>(object: Value, fields: [(&str, Value); N]) -> Value {
    let Value::Object(mut object) = object else { return object };
    object.extend(fields.map(|(name, value)| (name.to_string(), value)));
    Value::Object(object)
}

/// Both accesses, and what is known of them.
fn sentence(finding: &Finding<'_>) -> String {
    let access = |access: &RacingAccess| {
        let function = access.function.as_ref().map(|function| format!(" in {}", short(function)));
        let (thread, place) = (visible(&access.thread_words()), shown_place(&access.location));
        format!("{thread} {}{} at {place}", deed(access), function.unwrap_or_default())
    };
    let (target, first, second) =
        (visible(&finding.first.target), access(finding.first), access(finding.second));
    let words = if finding.words.is_empty() { String::new() } else { format!(" {}", visible(finding.words)) };
    let (what, doubt, after) = match finding.rule {
        Rule::Race => ("Data race", "", "while"),
        Rule::Candidate => ("Possible data race", ", not proven", "while"),
        Rule::Deadlock => ("Deadlock", "", "while"),
        Rule::UseAfterFree => ("Use after free", "", "after"),
    };
    let confirmation = finding.confirmation.filter(|it| !it.confirmed);
    let unconfirmed = confirmation.map(|it| format!(" It is {}.", confirmation_text::words(it).plain()));
    let unconfirmed = unconfirmed.unwrap_or_default();
    let fixed = finding.cause.as_ref().filter(|cause| cause.fix.is_some());
    let cause = fixed.map(|cause| format!("{}. ", cause.sentence)).unwrap_or_default();
    format!("{cause}{what} on {target}{doubt}: {first} {after} {second}.{words}{unconfirmed}")
}

/// The version is part of the name, as the standard wants it.
fn partial_fingerprint(fingerprint: &str) -> Option<Value> {
    let (version, text) = fingerprint.split_once(':')?;
    let name = if version == fingerprint::VERSION { "foretell/v1" } else { return None };
    Some(json!({name: text}))
}

/// A message whose text is taken as it is: what looks like a link is none.
fn message(text: &str) -> Value {
    let text = visible(text);
    let plain = if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text };
    json!({"text": plain})
}

/// What locations of one report mean.
struct Places<'a> {
    folder: &'a Folder,
    /// The file of places that name none.
    program: Option<&'a str>,
}

impl Places<'_> {
    /// The place of an access.
    fn access(&self, access: &RacingAccess) -> Map<String, Value> {
        let mut place = self.place(&access.location, access.function.as_deref(), access.source.as_deref());
        place.insert(
            "message".to_string(),
            message(&format!("{} {}", visible(&access.thread_words()), deed(access))),
        );
        place
    }

    /// A place in a file, if it is one, and in a function.
    fn place(&self, location: &str, function: Option<&str>, source: Option<&str>) -> Map<String, Value> {
        let physical = self.physical(location, source);
        let function = function.map(|name| json!({"fullyQualifiedName": visible(name), "kind": "function"}));
        let elsewhere = physical.is_none().then(|| json!({"fullyQualifiedName": visible(location)}));
        let logical: Vec<Value> = function.into_iter().chain(elsewhere).collect();
        let mut place = Map::new();
        place.extend(physical.map(|physical| ("physicalLocation".to_string(), physical)));
        if !logical.is_empty() {
            place.insert("logicalLocations".to_string(), json!(logical));
        }
        place
    }

    fn physical(&self, location: &str, source: Option<&str>) -> Option<Value> {
        let place = SourceLocation::parse(location)?;
        let file = if place.file.is_empty() { self.program? } else { place.file };
        let artifact = match self.folder.relative(file) {
            Ok(uri) => json!({"uri": uri, "uriBaseId": ROOT}),
            Err(uri) => json!({"uri": uri}),
        };
        let region = (place.line > 0).then(|| {
            let snippet = source.map(|source| json!({"text": source}));
            let token = source.zip(place.column).and_then(|(line, column)| token_columns(line, column));
            let start = token.map_or(place.column, |(start, _)| Some(start));
            let end = token.map(|(_, end)| end);
            json!({"startLine": place.line, "startColumn": start, "endColumn": end, "snippet": snippet})
        });
        Some(json!({"artifactLocation": artifact, "region": region}))
    }

    fn stack(&self, access: &RacingAccess) -> Value {
        let frame =
            |frame: &Frame| json!({"location": self.place(&frame.location, Some(&frame.function), None)});
        let frames: Vec<Value> = access.stack.iter().map(frame).collect();
        let about = format!("{} at event {}", visible(&access.thread_words()), access.event);
        json!({"message": message(&about), "frames": frames})
    }

    /// The steps of a story in their order, in one flow: viewers show only the first.
    fn code_flow(&self, story: &Story) -> Option<Value> {
        let steps = story.rows.iter().filter_map(|row| match row {
            Row::Step(step) => Some(step),
            Row::Waits(_) | Row::Skipped { .. } | Row::SkippedByAll { .. } => None,
        });
        let steps: Vec<(usize, &StoryStep)> = (1..).zip(steps).collect();
        let steps = steps.get(steps.len().saturating_sub(STEPS)..)?;
        let threads: Vec<String> = story.thread_words().collect();
        let thread = |step: &StoryStep| threads.get(step.thread).map_or("", String::as_str);
        let taken: Vec<Value> =
            steps.iter().map(|(order, step)| self.step(*order, thread(step), step)).collect();
        let words = "A schedule that leads to the race: the steps of all threads, in the order of execution.";
        (!taken.is_empty())
            .then(|| json!({"message": {"text": words}, "threadFlows": [{"locations": taken}]}))
    }

    fn step(&self, order: usize, thread: &str, step: &StoryStep) -> Value {
        let mut location = self.place(&step.location, None, None);
        location.insert("message".to_string(), message(&format!("{thread} {}", step.what)));
        let importance = if step.races { "essential" } else { "important" };
        json!({"location": location, "executionOrder": order, "importance": importance})
    }
}

/// The first column of what stands at a column of a line, and the one after its last, counted in letters: compilers
/// count bytes.
fn token_columns(line: &str, column: u32) -> Option<(u32, u32)> {
    let (from, to) = source_text::span(line, column)?;
    let columns = |bytes: usize| u32::try_from(line.get(..bytes)?.chars().count() + 1).ok();
    Some((columns(from)?, columns(to)?))
}

#[cfg(test)]
mod tests;
