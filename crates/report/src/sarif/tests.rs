use super::*;
use crate::baseline::Baseline;
use crate::json;
use crate::sample;
use crate::suppressions::Suppressions;

/// The log of these reports, checked against the standard.
fn log(reports: &[Report]) -> Value {
    let schema = include_str!("../../tests/data/sarif-schema-2.1.0.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let log: Value = serde_json::from_str(&render(reports, "/home/user/bank").unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{log:#}");
    log
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

#[test]
fn a_race_is_told_with_stacks_and_flows() {
    let log = log(&[sample::bank()]);
    let [race] = &results(&log)[..] else { panic!("one race") };
    let fingerprint = sample::bank().races[0].fingerprint.clone().unwrap();
    let here = |line: u32, column: u32| {
        json!({"artifactLocation": {"uri": "src/bank.c", "uriBaseId": "SRCROOT"},
               "region": {"startLine": line, "startColumn": column}})
    };
    let deposit = json!({"uri": "src/deposit%20it.c", "uriBaseId": "SRCROOT"});
    let step = |order: u32, what: &str, importance: &str, mut location: Value| {
        location["message"] = json!({"text": what});
        json!({"location": location, "executionOrder": order, "importance": importance})
    };
    let expected = json!({
        "ruleId": "data-race", "ruleIndex": 0, "level": "error",
        "message": {"text": "Data race on note: teller writes note = 1 in deposit at /home/user/bank/src/deposit it.c:3:10 while \
                             auditor reads note at 17. A schedule makes the two accesses adjacent."},
        "locations": [{
            "physicalLocation": {"artifactLocation": deposit, "region":
                {"startLine": 3, "startColumn": 10, "endColumn": 11, "snippet": {"text": "\tnote  = 1; // for the auditor"}}},
            "logicalLocations": [{"fullyQualifiedName": "deposit", "kind": "function"}],
            "message": {"text": "teller writes note = 1"},
        }],
        "relatedLocations": [{
            "id": 1, "logicalLocations": [{"fullyQualifiedName": "17"}], "message": {"text": "auditor reads note"},
        }],
        "stacks": [{"message": {"text": "teller at event 4"}, "frames": [
            {"location": {"physicalLocation": {"artifactLocation": deposit, "region": {"startLine": 3, "startColumn": 10}},
                          "logicalLocations": [{"fullyQualifiedName": "deposit", "kind": "function"}]}},
            {"location": {"physicalLocation": {"artifactLocation": {"uri": "file:///usr/include/work.h"}, "region": {"startLine": 8}},
                          "logicalLocations": [{"fullyQualifiedName": "work", "kind": "function"}]}},
        ]}],
        "codeFlows": [{
            "message": {"text": "A schedule that leads to the race: the steps of all threads, in the order of execution."},
            "threadFlows": [{"locations": [
                step(1, "main starts teller", "important", json!({"physicalLocation": here(20, 5)})),
                step(2, "auditor locks lock", "important", json!({"physicalLocation": here(14, 5)})),
                step(3, "teller writes note = 1", "essential", json!({
                    "physicalLocation": {"artifactLocation": deposit, "region": {"startLine": 3, "startColumn": 10}}})),
                step(4, "auditor reads note", "essential", json!({"logicalLocations": [{"fullyQualifiedName": "17"}]})),
            ]}],
        }],
        "partialFingerprints": {"foretell/v1": fingerprint.strip_prefix("v1:").unwrap()},
        "properties": {"technique": "auto", "trace": "bank", "events": [4, 18], "cause": "`note` is written by `deposit` and read by auditor at the same time"},
    });
    assert_eq!(*race, expected, "{race:#}");
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "foretell/auto/bank/");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn what_several_techniques_find_is_one_result() {
    let other = Report { technique: "rv".to_string(), ..sample::bank() };
    let log = log(&[sample::undecided(), sample::bank(), other]);
    let [race] = &results(&log)[..] else { panic!("one race") };
    assert_eq!((&race["ruleId"], &race["properties"]["technique"]), (&json!("data-race"), &json!("auto")));
}

#[test]
fn candidates_say_why() {
    let mut report = sample::undecided();
    report.interrupted = true;
    report.notes = vec!["there is no room".to_string()];
    let log = log(&[report]);
    let [open] = &results(&log)[..] else { panic!("one candidate") };
    assert_eq!((&open["ruleId"], &open["level"]), (&json!("candidate"), &json!("note")));
    assert!(open["message"]["text"].as_str().unwrap().ends_with("the budget ran out"), "{open}");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!((notes.len(), &notes[0]["message"]["text"]), (2, &json!("bank · auto: there is no room")));
}

#[test]
fn what_is_suppressed_or_known_is_marked() {
    let mut report = sample::bank();
    Suppressions::parse("race:deposit", "rules").unwrap().apply(&mut report);
    let suppressed = log(&[report]);
    let [race] = &results(&suppressed)[..] else { panic!("one race") };
    assert_eq!(race["suppressions"][0]["justification"], "suppressed by the rule race:deposit");

    let mut baseline = Baseline::default();
    baseline.add(&json::render(&[sample::bank()]).unwrap(), "old.json").unwrap();
    let mut other = sample::bank();
    other.races[0].first.target = "total".to_string();
    fingerprint::mark(&mut other);
    let mut reports = [sample::bank(), other];
    baseline.apply(&mut reports);
    let log = log(&reports);
    let states: Vec<&Value> = results(&log).iter().map(|result| &result["baselineState"]).collect();
    assert_eq!(states, ["unchanged", "new"]);
}

#[test]
fn programs_of_one_file_have_places() {
    let mut report = sample::bank();
    report.trace.file = "examples/bank.cimp".to_string();
    report.races[0].second.location = "17:4".to_string();
    let log = log(&[report]);
    let place = &results(&log)[0]["relatedLocations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "examples/bank.cimp");
    assert_eq!(place["region"], json!({"startLine": 17, "startColumn": 4}));
}

#[test]
fn hostile_names_do_no_harm() {
    let log = log(&[sample::hostile()]);
    let race = &results(&log)[0];
    let text = race["message"]["text"].as_str().unwrap();
    assert!(!text.contains("[x](") && !text.contains(char::is_control), "{text:.200}");
    let uri = race["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.is_ascii() && !uri.contains(['<', '"', ' ', '\n']), "{uri}");
    // A line that is none has no region.
    assert_eq!(race["stacks"][0]["frames"][0]["location"]["physicalLocation"]["region"], Value::Null);
}

#[test]
fn no_reports_are_an_empty_run() {
    assert!(results(&log(&[])).is_empty());
}

#[test]
fn a_deadlock_is_told_with_all_who_wait() {
    let mut report = Report::new("hb");
    report.hunt = Some(sample::stuck());
    let log = log(&[report]);
    let [deadlock] = &results(&log)[..] else { panic!("one deadlock") };
    assert_eq!(deadlock["ruleId"], "deadlock");
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][2]["id"], "deadlock");
    let text = "Deadlock: T1 waits for lock right, held by T2; T2 waits for lock left, held by T1.";
    assert_eq!(deadlock["message"]["text"], text);
    assert_eq!(deadlock["locations"][0]["physicalLocation"]["region"]["startLine"], 8);
    assert_eq!(deadlock["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 14);
}

#[test]
fn without_a_homepage_there_are_no_links() {
    assert_eq!(link("", "data-race"), None);
    assert_eq!(link("https://example.org/foretell", ""), Some("https://example.org/foretell".to_string()));
    let part = link("https://example.org/foretell", "data-race");
    assert_eq!(part.as_deref(), Some("https://example.org/foretell#data-race"));
}
