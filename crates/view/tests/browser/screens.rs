//! Pictures of screens. `FORETELL_UPDATE_SCREENS=1` writes them anew: look at them before you keep them.

use std::path::Path;

use foretell_view::Browser;
use foretell_view::races::Reports;

use crate::{bank, browser, browser_with_races, press, screen};

/// The screens of several sizes are as they were when somebody looked at them.
fn check(name: &str, sizes: &[(u16, u16)], keys: &str) {
    let trace = bank();
    for &(width, height) in sizes {
        let mut browser = if name.contains("race") { browser_with_races(&trace) } else { browser(&trace) };
        browser.resize(width.into(), height.into());
        press(&mut browser, keys);
        let shown = screen(&mut browser, width, height);
        let file = format!("{}/tests/screens/{name}_{width}x{height}.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("FORETELL_UPDATE_SCREENS").is_some() {
            std::fs::write(&file, &shown).expect("a picture");
        }
        let expected = std::fs::read_to_string(Path::new(&file)).unwrap_or_default();
        assert!(shown == expected, "{file} shows\n{expected}\nbut this is seen:\n{shown}");
    }
}

const SIZES: [(u16, u16); 3] = [(80, 24), (40, 10), (200, 50)];

#[test]
fn the_beginning() {
    check("beginning", &SIZES, "");
}

#[test]
fn nested_and_crossing_locks() {
    check("locks", &SIZES, "9<enter>");
}

#[test]
fn a_race_and_its_witness() {
    check("race", &SIZES, "r");
    check("race_witness", &SIZES, "ro");
    check("race_list", &SIZES, "aj");
}

#[test]
fn a_search_and_only_its_matches() {
    check("search", &[(80, 24)], "/balance<enter>f");
    check("question", &[(80, 24), (20, 5)], "/var:bal");
}

#[test]
fn help_and_threads() {
    check("help", &SIZES, "?");
    check("threads", &[(80, 24), (20, 5)], "t<down> ");
}

#[test]
fn tiny_screens() {
    check("tiny", &[(20, 5), (12, 3), (8, 2), (1, 1)], "9<enter>");
}

#[test]
fn more_threads_than_room() {
    let text: String =
        (0..30).map(|thread| format!("thread-{thread}|w(x,{thread})|a.c:{thread}\n")).collect();
    let trace = foretell_testkit::trace(&text);
    let mut browser = Browser::new(&trace, "many.std", Box::new(|_| None));
    press(&mut browser, "15<enter>");
    let shown = screen(&mut browser, 80, 24);
    for expected in ["thread-14", "◂ thread-1", "▸ thread-1", "writes x = 14"] {
        assert!(shown.contains(expected), "`{expected}` is not in\n{shown}");
    }
    let head = shown.lines().nth(1).unwrap_or_default();
    assert!(head.starts_with('◂') && head.ends_with('▸'), "{head}");
    press(&mut browser, "hhhhhhhhhhhhhhhhhhh");
    assert!(screen(&mut browser, 80, 24).contains("thread-0"));
}

#[test]
fn the_document_shows_what_is_seen() {
    let trace = foretell_testkit::trace(include_str!("../../../../examples/bank.std"));
    let report = r#"{"tool":"foretell","technique":"rv","trace":{"events":17},"races":[{
        "first":{"event":4,"thread":"teller","location":"bank.c:12"},
        "second":{"event":14,"thread":"auditor","location":"bank.c:31"}}]}"#;
    let races = Reports::parse(report).expect("a report").races(&trace).expect("races of the trace");
    let mut browser = Browser::new(&trace, "examples/bank.std", Box::new(|_| None)).with_races(races);
    press(&mut browser, "r");
    let shown = screen(&mut browser, 80, 18);
    let document = include_str!("../../../../docs/trace-view.md");
    assert!(document.contains(&format!("```text\n{shown}```\n")), "{shown}");
}
