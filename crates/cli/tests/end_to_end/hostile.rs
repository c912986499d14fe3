//! Names come from anywhere: whatever they hold, a terminal is told nothing but text.

use std::path::Path;

use crate::{Ran, command, file, folder};

/// Commands to a terminal, text that runs backwards, lines that break, letters that nobody sees, and a tower of marks.
const TRACE: &str = "\
\u{1b}[31mA|fork(B\u{202e}b)|evil\u{7}.c:1
\u{1b}[31mA|acq(l\u{9b}2J)|evil\u{7}.c:2:1
\u{1b}[31mA|w(x\u{200b}\u{2028}y)|evil\u{7}.c:3:1
\u{1b}[31mA|rel(l\u{9b}2J)|z\u{301}\u{302}\u{303}\u{304}\u{305}:4
B\u{202e}b|enter(f\u{85}g)|evil\u{7}.c:5
B\u{202e}b|acq(l\u{9b}2J)|変\u{fe0f}.c:6
B\u{202e}b|rel(l\u{9b}2J)|\u{feff}.c:7
B\u{202e}b|r(x\u{200b}\u{2028}y)|evil\u{7}.c:8:2
\u{1b}[31mA|w(x\u{200b}\u{2028}y)|evil\u{7}.c:9
";

fn assert_harmless(text: &str) {
    let is_bad = |character: &char| {
        (character.is_control() && *character != '\n')
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
            || *character == '\u{303}'
    };
    let bad: Vec<String> = text.chars().filter(is_bad).map(|bad| bad.escape_unicode().to_string()).collect();
    assert!(bad.is_empty(), "{bad:?} in {text:?}");
}

fn harmless(folder: &Path, args: &[&str]) -> Ran {
    let ran: Ran = command().args(args).current_dir(folder).output().expect("foretell runs").into();
    assert_harmless(&ran.out);
    assert_harmless(&ran.err);
    ran
}

#[test]
fn names_are_spelled_out_wherever_they_are_told() {
    let folder = folder("hostile_names");
    file(&folder, "evil\u{7}.c", "a\n\u{1b}[2Jb\nc\u{202e} = 1;\nd\n\ne\n\nx\u{1b}y\n");
    let name = "t\u{1b}[31m\nerror: fake.std";
    file(&folder, name, TRACE);
    let predicted = harmless(&folder, &["predict", name]);
    assert_eq!(predicted.code, 1, "{}{}", predicted.out, predicted.err);
    for told in ["\\u{1b}[31mA", "x\\u{200b}\\u{2028}y", "evil\\u{7}.c:3:1", "c\\u{202e} = 1;", "l\\u{9b}2J"]
    {
        assert!(predicted.out.contains(told), "{told}: {}", predicted.out);
    }
    for args in [
        &["predict", "-t", "lockset", name][..],
        &["predict", "--pair", "3,8", name],
        &["predict", "--witness", "all", name],
        &["predict", name, "-o", "report\u{1b}.json"],
        &["explain", "report\u{1b}.json"],
        &["explain", "report\u{1b}.json", "--pair", "8,9"],
        &["explain", "report\u{1b}.json", "--pair", "evil\u{7}.c:3,\u{1b}:8"],
        &["explain", "report\u{1b}.json", "--trace", "\u{1b}\n.std"],
        &["explain", name],
        &["compare", name],
        &["explore", name],
        &["trace", "check", name],
        &["trace", "stats", name],
        &["trace", "view", name],
        &["trace", "check", "\u{1b}missing\n"],
    ] {
        harmless(&folder, args);
    }
    let explained = harmless(&folder, &["explain", "report\u{1b}.json"]);
    assert_eq!(explained.code, 0, "{}", explained.err);
    // A break in a name never begins a line.
    let lines = [predicted.out, explained.out, explained.err].concat();
    assert!(!lines.lines().any(|line| line.starts_with("error: fake")), "{lines}");
}

#[test]
fn errors_spell_out_what_is_wrong() {
    let folder = folder("hostile_errors");
    file(&folder, "bad.std", "A|w(x)|1\nA\u{1b}[2J|rel(l\u{9b})|2\n");
    let ran = harmless(&folder, &["predict", "bad.std"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("\\u{9b}"), "{}", ran.err);
    file(&folder, "worse.std", "A|w(x)|1\n\u{1b}[2JA|w\u{202e}(x)|2\n");
    let ran = harmless(&folder, &["predict", "worse.std"]);
    assert!(ran.code == 2 && ran.err.contains("\\u{1b}[2JA"), "{}", ran.err);
    file(&folder, "good.std", "A|w(x)|1\nB|w(x)|2\n");
    file(&folder, "rules", "race:\u{1b}[31mnobody\nthread:\u{202e}x\n");
    let ran = harmless(&folder, &["predict", "--suppressions", "rules", "good.std"]);
    assert!(ran.err.contains("\\u{1b}[31mnobody") && ran.err.contains("\\u{202e}x"), "{}", ran.err);
    file(&folder, "evil.cimp", "thread \u{1b}[31m { }\n");
    harmless(&folder, &["run", "evil.cimp"]);
    file(&folder, "evil.json", r#"{"tool":"\u001b[31mother","technique":"\u009b","trace":{}}"#);
    assert_eq!(harmless(&folder, &["explain", "evil.json"]).code, 2);
}
