//! What the documents show is what the program does.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Ran, command, example, folder, foretell, foretell_with_input, repository};

fn document(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect("a document")
}

/// The first block of `text` that is marked as `kind`.
fn block<'a>(text: &'a str, kind: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("```{kind}\n")).expect("a block");
    rest.split_once("\n```").expect("the end of the block").0
}

/// The lines of what was printed, without the one that tells the time.
fn timeless(text: &str) -> Vec<&str> {
    text.trim_end().lines().filter(|line| !line.contains(" proven in ")).collect()
}

#[test]
fn the_readme_shows_what_the_first_command_prints() {
    // Told from the folder of the repository, as the reader is: a longer path would be wrapped elsewhere.
    let ran: Ran = command()
        .args(["predict", "examples/bank.std"])
        .current_dir(repository())
        .output()
        .expect("foretell runs")
        .into();
    let readme = document("README.md");
    assert_eq!(timeless(block(&readme, "text")), timeless(&ran.out));
}

#[test]
fn the_guide_shows_what_is_printed() {
    let folder = folder("the_guide");
    std::fs::copy(repository().join("examples/bank.std"), folder.join("bank.std")).expect("an example");
    let told = |args: &[&str]| -> Ran {
        command().args(args).current_dir(&folder).output().expect("foretell runs").into()
    };
    let guide = document("docs/reading-a-report.md");
    assert_eq!(timeless(block(&guide, "text")), timeless(&told(&["predict", "bank.std"]).out));
    told(&["predict", "bank.std", "-o", "report.json"]);
    assert_eq!(
        block(&guide, "text explain"),
        told(&["explain", "report.json", "--race", "1"]).out.trim_end()
    );
}

#[test]
fn the_example_of_the_format_is_read_up_to_its_deliberate_error() {
    let text = document("docs/trace-format.md");
    let example = format!("{}\n", block(&text, "trace"));
    let ran = foretell_with_input(&["trace", "check", "-"], example.as_bytes());
    assert_eq!(ran.code, 2);
    let shown = block(&text, "text").replace("example.std", "<stdin>");
    assert!(ran.out.starts_with(&shown), "{}", ran.out);
    assert!(ran.out.contains("1 event cannot be"), "{}", ran.out);
}

#[test]
fn every_operation_of_the_table_is_read() {
    let text = document("docs/trace-format.md");
    // Lines about dependence are not operations.
    let operations = text.split("## Dependence information").next().expect("a text");
    let table: Vec<&str> = operations.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(table.len() > 15);
    for row in table {
        let operations = row.split('|').nth(1).expect("a column");
        for operation in operations.split('`').skip(1).step_by(2) {
            let operation = operation.replace("ORDER", "sc");
            let ran = foretell_with_input(&["trace", "check", "-"], format!("T0|{operation}|1\n").as_bytes());
            assert!(ran.err.is_empty(), "{operation}: {}", ran.err);
        }
    }
}

#[test]
fn the_json_document_names_every_field() {
    let text = document("docs/json-report.md");
    let shown: Value = serde_json::from_str(block(&text, "json")).expect("JSON");
    let path = repository().join("examples/bank.std");
    let args = ["predict", "--technique", "syncp", "--format", "json", path.to_str().expect("a plain path")];
    let printed = foretell(&args).json();
    let fields =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    assert_eq!(fields(&shown), fields(&printed));
    for part in ["trace", "stats"] {
        assert_eq!(fields(&shown[part]), fields(&printed[part]), "{part}");
    }
    assert_eq!(shown["races"], printed["races"]);
}

/// The section of the document on reports with this title.
fn section<'a>(text: &'a str, title: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("## {title}\n")).expect("a section");
    rest.split("\n## ").next().expect("the section")
}

/// The names of all fields, of objects within objects as well.
fn all_fields(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                all_fields(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| all_fields(item, names)),
        _ => {}
    }
}

/// The tables name each field that is printed, either by itself or at the end of a path such as `stats.seconds`.
fn assert_documented(tables: &str, printed: &Value) {
    let mut names = BTreeSet::new();
    all_fields(printed, &mut names);
    let words: BTreeSet<&str> = tables
        .lines()
        .filter(|line| !line.starts_with(['{', ' ']))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .flat_map(|code| code.split(['.', '[', ']', '…']))
        .collect();
    for name in names {
        assert!(words.contains(name.as_str()), "`{name}` is not documented");
    }
}

/// Prints the same as the example of the section, but for the path and what depends on the machine.
fn assert_shown(section: &str, mut printed: Value, path: &str) {
    let shown: Value = serde_json::from_str(block(section, "json")).expect("JSON");
    *printed.pointer_mut(path).expect("a path") = shown.pointer(path).expect("a path").clone();
    for figure in ["seconds", "peak_memory_bytes"] {
        assert!(printed["stats"][figure].is_number());
        printed["stats"][figure] = shown["stats"][figure].clone();
    }
    assert_eq!(printed, shown);
}

#[test]
fn the_json_document_shows_an_exploration() {
    let text = document("docs/json-report.md");
    let path = repository().join("corpus/mcm_figure1.std");
    let properties = ["--property", "exclusive 2..7,8..12", "--property", "exclusive 5..7,8..12"];
    let args = ["explore", "--format", "json", path.to_str().expect("a plain path")];
    let printed = foretell(&[&args[..], &properties[..]].concat()).json();
    let (before, _) = text.split_once("## Programs").expect("a section");
    assert_documented(before, &printed);
    assert_shown(section(&text, "Explorations"), printed, "/trace/file");
}

#[test]
fn the_json_document_shows_a_program() {
    let text = document("docs/json-report.md");
    let section = section(&text, "Programs");
    let explored = |name: &str, properties: [&str; 2]| {
        let [first, second] = properties;
        let args = ["explore", "--format", "json", "--property", first, "--property", second];
        foretell(&[&args[..], &[&example(name)]].concat()).json()
    };
    let printed = explored("rv_deadlock_after_race", ["assert x < 2", "assert x <= 2"]);
    assert_documented(section, &printed);
    assert_shown(section, printed, "/program");
    let failing = explored("bank", ["assert account[0] > 0", "assert account[1] < 80"]);
    assert!(failing["failures"][0]["message"].is_string());
    assert_documented(section, &failing);
}

#[test]
fn the_json_document_names_what_programs_and_slices_add() {
    let text = document("docs/json-report.md");
    let (first, _) = text.split_once("## Explorations").expect("a section");
    let run = |more: &[&str]| {
        foretell(&[&["run", "--format", "json", &example("mcm_figure6")], more].concat()).json()
    };
    let whole = run(&[]);
    assert!(whole["driven"].is_number());
    assert_documented(first, &whole);
    let slice = run(&["--slice", "on x"]);
    assert!(slice["trace"]["slice"].is_object());
    assert_documented(first, &slice);
    let pair = run(&["--slice", "race 1,13"]);
    assert_documented(&format!("{first}{}", section(&text, "One pair")), &pair);
}

#[test]
fn help_explains_techniques_and_exit_codes() {
    let help = foretell(&["predict", "--help"]);
    assert_eq!(help.code, 0);
    for expected in ["syncp", "every report is a race", "Exit codes", "candidates only", "--pairs"] {
        assert!(help.out.contains(expected), "`{expected}` is not in {}", help.out);
    }
}
