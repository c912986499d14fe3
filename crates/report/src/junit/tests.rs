use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::*;
use crate::baseline::Baseline;
use crate::fingerprint;
use crate::json;
use crate::sample;
use crate::suppressions::Suppressions;

/// An element as an independent reader sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Seen {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Seen>,
}

impl Seen {
    fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|attribute| attribute.0 == name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.name)).1.as_str()
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Seen> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

fn opened(start: &BytesStart<'_>) -> Seen {
    let attributes = start.attributes().map(|attribute| {
        let attribute = attribute.unwrap();
        (attribute.key.0.to_string(), unescape(&attribute.value).unwrap().into_owned())
    });
    Seen { name: start.name().0.to_string(), attributes: attributes.collect(), ..Seen::default() }
}

fn read(xml: &str) -> Seen {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(allowed), "{xml}");
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Seen::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(opened(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(opened(&start)),
            Event::End(_) => {
                let closed = open.pop().unwrap();
                open.last_mut().unwrap().children.push(closed);
            }
            Event::Text(text) => open.last_mut().unwrap().text.push_str(&text),
            Event::GeneralRef(name) => {
                let meant = format!("&{};", &*name);
                open.last_mut().unwrap().text.push_str(&unescape(&meant).unwrap());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open.len(), 1);
    open.remove(0).children.remove(0)
}

/// What all readers of such files rely on: which elements there are, and that the sums are right.
fn checked(reports: &[Report]) -> Seen {
    let root = read(&render(reports).unwrap());
    assert_eq!(root.name, "testsuites");
    let mut sums = [0; 4];
    for suite in &root.children {
        assert_eq!(suite.name, "testsuite");
        assert!(!suite.attribute("name").is_empty() && suite.attribute("time").parse::<f64>().is_ok());
        let cases: Vec<&Seen> = suite.named("testcase").collect();
        let with = |what| cases.iter().filter(|case| case.named(what).count() == 1).count();
        let counted = [cases.len(), with("failure"), with("error"), with("skipped")];
        let said = ["tests", "failures", "errors", "skipped"]
            .map(|name| suite.attribute(name).parse::<usize>().unwrap());
        assert_eq!(counted, said);
        for (sum, number) in sums.iter_mut().zip(said) {
            *sum += number;
        }
        for case in cases {
            assert!(!case.attribute("name").is_empty() && case.attribute("time").parse::<f64>().is_ok());
            assert!(case.attributes.iter().any(|attribute| attribute.0 == "classname"));
            assert!(case.children.len() <= 1);
        }
    }
    assert_eq!(
        sums,
        ["tests", "failures", "errors", "skipped"].map(|name| root.attribute(name).parse::<usize>().unwrap())
    );
    root
}

/// Name, what is in it, and its message, of each case of the first suite.
fn told(root: &Seen) -> Vec<(&str, &str, &str)> {
    root.children[0]
        .named("testcase")
        .map(|case| {
            let inner = case.children.first();
            let message = inner.map_or("", |inner| inner.attribute("message"));
            (case.attribute("name"), inner.map_or("", |inner| inner.name.as_str()), message)
        })
        .collect()
}

#[test]
fn a_race_is_a_test_that_fails() {
    let report = sample::bank();
    let name = format!("data race: 17 and deposit [{}]", report.races[0].fingerprint.as_ref().unwrap());
    let root = checked(&[report]);
    let message =
        "teller writes note = 1 at /home/user/bank/src/deposit it.c:3:10 while auditor reads note at 17";
    assert_eq!(told(&root), [(name.as_str(), "failure", message)]);
    let case = root.children[0].named("testcase").next().unwrap();
    assert_eq!(case.attribute("classname"), "/home/user/bank/src/deposit it.c");
    let text = &case.children[0].text;
    assert!(text.contains("how it happens") && text.contains("» writes note = 1"), "{text}");
}

#[test]
fn what_is_not_proven_is_skipped() {
    let root = checked(&[sample::undecided()]);
    let [(_, "skipped", message)] = told(&root)[..] else { panic!("{root:?}") };
    assert!(message.ends_with("at 17: the budget ran out"), "{message}");
}

#[test]
fn nothing_found_is_a_test_that_passes_if_everything_was_looked_at() {
    let mut report = Report::new("rv");
    assert_eq!(told(&checked(&[report.clone()])), [("no data race", "", "")]);
    report.notes = vec!["the time is over".to_string()];
    report.stats.not_examined = 3;
    report.ending = Some("deadlock".to_string());
    let root = checked(&[report]);
    let skipped = ("no data race", "skipped", "the time is over; 3 pairs not decided");
    assert_eq!(told(&root), [skipped, ("ends well", "error", "deadlock")]);
}

#[test]
fn what_is_suppressed_or_known_is_skipped() {
    let mut suppressed = sample::bank();
    Suppressions::parse("race:deposit", "rules").unwrap().apply(&mut suppressed);
    let root = checked(&[suppressed]);
    let [(_, "skipped", "suppressed by the rule race:deposit")] = told(&root)[..] else { panic!("{root:?}") };
    let mut baseline = Baseline::default();
    baseline.add(&json::render(&[sample::bank()]).unwrap(), "old.json").unwrap();
    let mut known = [sample::bank()];
    baseline.apply(&mut known);
    let root = checked(&known);
    let [(_, "skipped", "known from an earlier report")] = told(&root)[..] else { panic!("{root:?}") };
}

#[test]
fn each_test_is_one_case() {
    let of = |ending, technique: &str| {
        let test =
            TestRun { name: "locks::a::b".into(), ending, seconds: 1.5, output: Some("left: 1".into()) };
        Report { test: Some(test), ..Report::new(technique) }
    };
    let root = checked(&[of(TestEnding::Failed, "rv"), of(TestEnding::Failed, "hb")]);
    assert_eq!(told(&root), [("a::b", "failure", "the test failed"), ("no data race", "", "")]);
    assert_eq!(root.children[0].children[1].children[0].text, "left: 1");
    assert_eq!(root.children[0].children[1].attribute("classname"), "locks");
    assert_eq!(root.children[1].named("testcase").count(), 1, "the test itself was told");
    let stopped = checked(&[of(TestEnding::Stopped, "rv")]);
    assert_eq!(told(&stopped)[0], ("a::b", "error", "stopped at its time limit"));
    assert_eq!(told(&checked(&[of(TestEnding::Passed, "rv")]))[0], ("a::b", "", ""));
}

#[test]
fn hostile_names_do_no_harm() {
    let root = checked(&[sample::hostile()]);
    assert_eq!(root.children.len(), 1);
    assert!(root.children[0].attribute("name").starts_with("<script>&\"'\\u{1b}[31m\n\\r\\u{0}]]>"));
    assert!(checked(&[]).children.is_empty());
}

proptest! {
    #[test]
    fn any_name_comes_back(name in any::<String>()) {
        let mut report = sample::bank();
        report.trace.file.clone_from(&name);
        report.races[0].first.thread.clone_from(&name);
        report.races[0].first.function = Some(name.clone());
        fingerprint::mark(&mut report);
        let root = checked(&[report]);
        if name.chars().all(|character| !character.is_control() && character < '\u{fffe}') {
            prop_assert_eq!(root.children[0].attribute("name"), format!("{name} (auto)"));
        }
    }
}
