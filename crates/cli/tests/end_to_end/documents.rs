//! What the documents show is what the program does.

use crate::{foretell, foretell_with_input, repository};

fn document(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect("a document")
}

/// The first block of `text` that is marked as `kind`.
fn block<'a>(text: &'a str, kind: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("```{kind}\n")).expect("a block");
    rest.split_once("\n```").expect("the end of the block").0
}

#[test]
fn the_readme_shows_what_the_first_command_prints() {
    let path = repository().join("examples/bank.std");
    let ran = foretell(&["predict", path.to_str().expect("a plain path")]);
    let readme = document("README.md");
    let (shown, printed) = (block(&readme, "text"), ran.out);
    // The path and the time differ.
    let essence = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.contains(" · auto · ") && !line.contains(" s"))
            .map(String::from)
            .collect()
    };
    assert_eq!(essence(shown.trim_end()), essence(printed.trim_end()));
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
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
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
    let shown: serde_json::Value = serde_json::from_str(block(&text, "json")).expect("JSON");
    let path = repository().join("examples/bank.std");
    let args = ["predict", "--technique", "syncp", "--format", "json", path.to_str().expect("a plain path")];
    let printed = foretell(&args).json();
    let fields = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(fields(&shown), fields(&printed));
    for part in ["trace", "stats"] {
        assert_eq!(fields(&shown[part]), fields(&printed[part]), "{part}");
    }
    assert_eq!(shown["races"], printed["races"]);
}

#[test]
fn the_json_document_shows_an_exploration() {
    let text = document("docs/json-report.md");
    let (_, part) = text.split_once("## Explorations").expect("a section");
    let shown: serde_json::Value = serde_json::from_str(block(part, "json")).expect("JSON");
    let path = repository().join("corpus/mcm_figure1.std");
    let properties = ["--property", "exclusive 2..7,8..12", "--property", "exclusive 5..7,8..12"];
    let args = ["explore", "--format", "json", path.to_str().expect("a plain path")];
    let mut printed = foretell(&[&args[..], &properties[..]].concat()).json();
    // The path and what depends on the machine differ.
    printed["trace"]["file"] = shown["trace"]["file"].clone();
    for figure in ["seconds", "peak_memory_bytes"] {
        assert!(printed["stats"][figure].is_number());
        printed["stats"][figure] = shown["stats"][figure].clone();
    }
    assert_eq!(printed, shown);
    let table = part.split("```json").next().expect("a table");
    let mut names = vec!["happens_before".to_string(), "strays".to_string(), "schedule".to_string()];
    names.extend(printed.as_object().expect("an object").keys().cloned());
    names.extend(printed["stats"].as_object().expect("an object").keys().cloned());
    for name in names {
        assert!(table.contains(&name), "{name} is not documented");
    }
}

#[test]
fn help_explains_techniques_and_exit_codes() {
    let help = foretell(&["predict", "--help"]);
    assert_eq!(help.code, 0);
    for expected in ["syncp", "every report is a race", "Exit codes", "candidates only", "--pairs"] {
        assert!(help.out.contains(expected), "`{expected}` is not in {}", help.out);
    }
}
