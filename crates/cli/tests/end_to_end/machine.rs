//! Reports for machines: JSON by its schema, SARIF by the standard, JUnit's XML; and what is known from earlier
//! reports.

use std::fs;
use std::path::Path;
use std::process::Command;

use foretell_report::schema;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{Ran, example, examples, file, folder, foretell, repository};

/// Two races: the teller and the auditor write and read `note` and `total`.
const PROGRAM: &str = "\
shared note, total;
{
    note := 1;
    total := 2;
}
||
{
    note := 3;
    local seen = total;
}
";

fn foretell_in(folder: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    command.args(args).current_dir(folder).env_remove("FORETELL_SUPPRESSIONS");
    command.output().expect("foretell runs").into()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).expect("a schema")
}

fn assert_valid(validator: &Validator, value: &Value, about: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{about}: {errors:#?}");
}

fn sarif_validator() -> Validator {
    let path = repository().join("crates/report/tests/data/sarif-schema-2.1.0.json");
    let text = fs::read_to_string(path).expect("the schema of SARIF");
    validator(&serde_json::from_str(&text).expect("JSON"))
}

fn corpus() -> Vec<String> {
    let entries = fs::read_dir(repository().join("corpus")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path().display().to_string());
    let mut traces: Vec<String> = paths.filter(|path| path.ends_with(".std")).collect();
    traces.sort();
    assert!(traces.len() > 50);
    traces
}

/// Fields that the schema does not describe are errors here.
#[test]
fn all_that_is_printed_as_json_follows_the_schema() {
    let strict = validator(&schema::strict().expect("a schema"));
    let check = |args: &[&str]| {
        let ran = foretell(args);
        assert_valid(&strict, &ran.json(), &args.join(" "));
    };
    let traces = corpus();
    let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
    check(&[&["predict", "--format", "json", "-t", "auto,hb,lockset,wcp,m2"], &traces[..]].concat());
    check(&[&["compare", "--format", "json"], &traces[..]].concat());
    let small = repository().join("corpus/mcm_figure1.std").display().to_string();
    check(&["predict", "--format", "json", "--pair", "4,11", "-t", "rv,rf", &small]);
    check(&[
        "explore",
        "--format",
        "json",
        "--property",
        "race 4,11",
        "--property",
        "exclusive 2..7,8..12",
        &small,
    ]);
    check(&["explore", "--format", "json", "--races-only", &small, &example("mcm_figure6")]);
    check(&["trace", "stats", "--format", "json", &small]);
    for program in examples() {
        check(&["run", "--format", "json", &program]);
    }
    check(&["explore", "--format", "json", &example("bank"), &example("rv_deadlock_after_race")]);
    check(&["run", "--format", "json", "--slice", "on x", &example("mcm_figure6")]);
    check(&["run", "--format", "json", "--slice", "race 1,13", &example("mcm_figure6")]);
}

#[test]
fn the_schema_is_printed() {
    let whole = foretell(&["schema"]);
    let schema = whole.json();
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let printed = foretell(&[
        "predict",
        "--format",
        "json",
        &repository().join("examples/bank.std").display().to_string(),
    ]);
    for (kind, expected) in [("report", true), ("program", false)] {
        let schema = foretell(&["schema", kind]).json();
        assert_eq!(validator(&schema).is_valid(&printed.json()), expected, "{kind}");
    }
    assert_eq!(foretell(&["schema", "nothing"]).code, 2);
}

/// One run, told in all forms at once.
#[test]
fn several_forms_are_written_at_once() {
    let folder = folder("several_forms");
    file(&folder, "bank.cimp", PROGRAM);
    let outputs = ["-o", "a.sarif", "-o", "b.json", "-o", "c.xml", "-o", "d.txt"];
    let ran = foretell_in(&folder, &[&["run", "bank.cimp"], &outputs[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a report");
    let sarif: Value = serde_json::from_str(&read("a.sarif")).expect("JSON");
    assert_valid(&sarif_validator(), &sarif, "a.sarif");
    let json: Value = serde_json::from_str(&read("b.json")).expect("JSON");
    let races = json["races"].as_array().expect("races");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!((races.len(), results.len()), (2, 2));
    for (race, result) in races.iter().zip(results) {
        let fingerprint = race["fingerprint"].as_str().expect("a fingerprint");
        let partial = result["partialFingerprints"]["foretell/v1"].as_str().expect("a fingerprint");
        assert_eq!(fingerprint, format!("v1:{partial}"));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"], json!({"uri": "bank.cimp", "uriBaseId": "SRCROOT"}));
        let snippet = place["region"]["snippet"]["text"].as_str().expect("the line");
        assert!(snippet.contains(race["first"]["target"].as_str().expect("a name")), "{snippet}");
        // Viewers show only the first thread flow, so it has the steps of all threads.
        let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("thread flows");
        assert_eq!(flows.len(), 1);
        assert!(flows[0]["locations"].as_array().is_some_and(|steps| steps.len() >= 2));
    }
    let xml = read("c.xml");
    assert!(xml.contains("tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\""), "{xml}");
    assert!(read("d.txt").contains("2 races proven"));
}

#[test]
fn every_trace_of_the_corpus_can_be_told_as_sarif_and_junit() {
    let folder = folder("corpus_as_sarif");
    let traces = corpus();
    let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
    let args = ["predict", "-t", "auto,lockset", "-o", "all.sarif", "-o", "all.xml"];
    foretell_in(&folder, &[&args[..], &traces[..]].concat());
    let sarif = fs::read_to_string(folder.join("all.sarif")).expect("a report");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    assert_valid(&sarif_validator(), &sarif, "all.sarif");
    assert!(sarif["runs"][0]["results"].as_array().is_some_and(|results| results.len() > 30));
    let xml = fs::read_to_string(folder.join("all.xml")).expect("a report");
    let mut reader = quick_xml::Reader::from_str(&xml);
    while reader.read_event().expect("XML") != quick_xml::events::Event::Eof {}
    assert_eq!(xml.matches("<testsuite ").count(), 2 * traces.len());
}

/// Names that are commands to terminals, browsers or readers of XML.
#[test]
fn hostile_names_do_no_harm() {
    let folder = folder("hostile_names_for_machines");
    let evil = "<b>&\"'\u{1b}[31m[x];\u{7}\u{202e}]]>";
    let trace = format!("{evil}|w({evil})|{evil}.c:1:1\nB|w({evil})|a b.c:2\n");
    file(&folder, "evil.std", trace);
    let outputs = ["-o", "a.sarif", "-o", "b.json", "-o", "c.xml"];
    let ran = foretell_in(&folder, &[&["predict", "evil.std"], &outputs[..]].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a report");
    let sarif: Value = serde_json::from_str(&read("a.sarif")).expect("JSON");
    assert_valid(&sarif_validator(), &sarif, "a.sarif");
    let uri =
        &sarif["runs"][0]["results"][0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%20b.c");
    let json: Value = serde_json::from_str(&read("b.json")).expect("JSON");
    assert_eq!(json["races"][0]["first"]["thread"], evil);
    let xml = read("c.xml");
    assert!(!xml.contains(['\u{1b}', '\u{7}']) && !xml.contains("<b>"), "{xml}");
}

/// Lines come and go above the races, the schedule is another one, and a thread has a name: nothing is new. Then
/// something is.
#[test]
fn what_is_known_is_not_told_again() {
    let folder = folder("what_is_known");
    file(&folder, "bank.cimp", PROGRAM);
    assert_eq!(foretell_in(&folder, &["run", "bank.cimp", "-o", "old.json"]).code, 1);

    let moved = PROGRAM.replace("shared ", "# Notes.\n\nshared other, ").replace("    note", "\n      note");
    let moved = moved.replace("||\n{", "||\nthread auditor {");
    file(&folder, "bank.cimp", &moved);
    let known = ["run", "bank.cimp", "--schedule", "round-robin", "--baseline", "old.json"];
    let ran = foretell_in(&folder, &known);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("no race proven") && ran.out.contains("2 races are known from old.json"),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");

    // One race is mended, another one is new.
    let other = moved.replace("total := 2;", "other := 2;").replace("seen = total", "seen = other");
    file(&folder, "bank.cimp", other);
    let ran =
        foretell_in(&folder, &[&known[..], &["-o", "new.sarif", "-o", "new.json", "-o", "new.txt"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("old.json: 1 pair not seen this time"), "{}", ran.err);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a report");
    let json: Value = serde_json::from_str(&read("new.json")).expect("JSON");
    assert_valid(&validator(&schema::strict().expect("a schema")), &json, "new.json");
    let targets = |pairs: &Value| -> Vec<String> {
        let pairs = pairs.as_array().expect("pairs").iter();
        pairs.map(|pair| pair["first"]["target"].as_str().expect("a name").to_string()).collect()
    };
    assert_eq!(
        (targets(&json["races"]), targets(&json["known"]["pairs"])),
        (vec!["other".into()], vec!["note".into()])
    );
    assert_eq!((&json["known"]["count"], &json["known"]["not_seen"]), (&json!(1), &json!(1)));
    let sarif: Value = serde_json::from_str(&read("new.sarif")).expect("JSON");
    assert_valid(&sarif_validator(), &sarif, "new.sarif");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let states: Vec<&Value> = results.iter().map(|result| &result["baselineState"]).collect();
    assert_eq!(states, ["new", "unchanged"]);
    assert!(read("new.txt").contains("1 race is known from old.json"));

    // What was known or new then is known now; and several reports may be given.
    let ran = foretell_in(&folder, &["run", "bank.cimp", "--baseline", "new.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = foretell_in(&folder, &["run", "bank.cimp", "--baseline", "new.json", "--baseline", "old.json"]);
    assert!(ran.code == 0 && ran.err.contains("new.json, old.json: 1 pair not seen"), "{}", ran.err);
}

#[test]
fn candidates_are_known_as_well() {
    let folder = folder("candidates_are_known");
    // A lock orders the two for `lockset`'s eyes in vain: a candidate, and none that is proven.
    let trace = "A|w(x)|1\nA|acq(l)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n";
    file(&folder, "t.std", trace);
    let ran = foretell_in(&folder, &["predict", "t.std", "-t", "lockset", "-o", "old.json"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = foretell_in(&folder, &["predict", "t.std", "-t", "lockset", "--baseline", "old.json"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("1 candidate is known from old.json"), "{}", ran.out);
    // Once it is proven, it is news.
    let ran = foretell_in(&folder, &["predict", "t.std", "--baseline", "old.json"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let folder = folder("bad_baseline");
    file(&folder, "t.std", "A|w(x)|1\nB|w(x)|2\n");
    file(&folder, "text.json", "race 1: x");
    file(&folder, "sarif.json", "{\"version\":\"2.1.0\",\"runs\":[]}");
    foretell_in(&folder, &["predict", "t.std", "-o", "old.json"]);
    let text = fs::read_to_string(folder.join("old.json")).expect("a report");
    file(&folder, "older.json", text.replace("\"fingerprint\"", "\"finger\""));
    file(&folder, "newer.json", text.replace("\"schema\":1", "\"schema\":2"));
    for (name, expected) in [
        ("text.json", "text.json cannot be the baseline: not a JSON report of foretell (--format json)"),
        ("sarif.json", "not a JSON report of foretell (--format json): missing field `tool`"),
        ("older.json", "this report has no fingerprints of this version; write it again with --format json"),
        ("newer.json", "this report was written by a newer version of foretell"),
        ("missing.json", "cannot read missing.json"),
    ] {
        let ran = foretell_in(&folder, &["predict", "t.std", "--baseline", name]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        assert!(ran.err.contains(expected), "{name}: {}", ran.err);
    }
    let ran = foretell_in(&folder, &["predict", "t.std", "--pair", "1,2", "--baseline", "old.json"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
}
