//! Uses after a free: from the command line to all forms of reports.

use std::fs;

use serde_json::Value;

use crate::{folder, foretell_in, repository};

/// What the document shows in a block of this language.
fn documented(page: &str, language: &str) -> String {
    let text = fs::read_to_string(repository().join("docs").join(page)).expect("the page is there");
    let (_, block) = text.split_once(&format!("```{language}\n")).expect("it has such a block");
    block.split_once("```").expect("the block ends").0.to_string()
}

#[test]
fn the_documented_use_after_free_is_told_in_all_forms() {
    let folder = folder("use_after_free");
    fs::write(folder.join("shop.std"), documented("memory.md", "trace")).expect("the folder is writable");
    let outputs = ["-o", "r.txt", "-o", "r.json", "-o", "r.html", "-o", "r.sarif", "-o", "r.xml"];
    let ran = foretell_in(&folder, &[&["predict", "--find", "all", "shop.std"], &outputs[..]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    let shown = documented("memory.md", "text");
    assert!(shown.lines().all(|line| read("r.txt").contains(line)), "{}", read("r.txt"));
    assert!(read("r.txt").contains("no race proven, 1 use after free proven"), "{}", read("r.txt"));
    let report: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    let violation = &report["violations"][0];
    assert_eq!((&violation["kind"], &violation["first"]["event"]), (&"use-after-free".into(), &8.into()));
    assert_eq!(violation["witness"].as_array().and_then(|steps| steps.last()), Some(&5.into()));
    let sarif: Value = serde_json::from_str(&read("r.sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "use-after-free");
    assert!(read("r.xml").contains("type=\"use-after-free\"") && read("r.xml").contains("failures=\"1\""));
    assert!(read("r.html").contains("Use after free"));

    fs::write(folder.join("rules"), "race:^account$\n").expect("the folder is writable");
    let ran = foretell_in(
        &folder,
        &["predict", "--find", "all", "--suppressions", "rules", "--format", "json", "shop.std"],
    );
    assert_eq!((ran.code, &ran.json()["suppressed"]["count"]), (0, &1.into()));
    let ran = foretell_in(
        &folder,
        &["predict", "--find", "all", "--baseline", "r.json", "--format", "json", "shop.std"],
    );
    assert_eq!((ran.code, &ran.json()["known"]["count"]), (0, &1.into()));
    let ran = foretell_in(&folder, &["predict", "shop.std"]);
    assert!(ran.code == 0 && !ran.out.contains("use after free"), "{}", ran.out);
}

/// A pair that races is reported as that, unless only uses are asked for; one that is ordered is refuted.
#[test]
fn races_with_a_free_are_races_and_ordered_uses_are_none() {
    let folder = folder("freed_race");
    let racing = "main|fork(a)|1\nmain|fork(b)|2\na|w(x)|3\nb|free(x)|4\n";
    fs::write(folder.join("race.std"), racing).expect("the folder is writable");
    let report = foretell_in(&folder, &["predict", "--find", "all", "--format", "json", "race.std"]).json();
    assert_eq!(report["races"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["violations"], Value::Null);
    let ran = foretell_in(&folder, &["predict", "--find", "memory", "--format", "json", "race.std"]);
    assert_eq!((ran.code, ran.json()["violations"].as_array().map(Vec::len)), (1, Some(1)));
    let joined = "main|fork(a)|1\na|w(x)|3\nmain|join(a)|4\nmain|free(x)|5\n";
    fs::write(folder.join("joined.std"), joined).expect("the folder is writable");
    let ran = foretell_in(&folder, &["predict", "--find", "memory", "--format", "json", "joined.std"]);
    assert_eq!((ran.code, &ran.json()["stats"]["violations_refuted"]), (0, &1.into()), "{}", ran.out);
}
