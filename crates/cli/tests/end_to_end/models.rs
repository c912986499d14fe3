//! `foretell models`.

use crate::{foretell, foretell_with_input};

#[test]
fn models_are_listed_with_those_of_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[mine]\nmy_parse = \"reads $0 $1\"\nputs = \"fence\"\n").expect("a file");
    let file = file.to_str().expect("a path");
    let ran = foretell(&["models", "list"]);
    assert!(ran.out.contains("\"puts\" = \"reads $0 text\"") && !ran.out.contains("my_parse"), "{}", ran.out);
    let ran = foretell(&["models", "list", "--models", file]);
    assert!(ran.out.contains("\"puts\" = \"fence\""), "{}", ran.out);
    assert!(ran.out.contains("\"my_parse\" = \"reads $0 $1\""), "{}", ran.out);
    let ran = foretell(&["models", "list", "snprintf"]);
    assert!(
        ran.out.lines().all(|line| line.contains("snprintf")) && ran.out.lines().count() >= 2,
        "{}",
        ran.out
    );
}

#[test]
fn wrong_models_are_rejected_with_their_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[mine]\nmy_parse = \"reads 0 8\"\n").expect("a file");
    let ran = foretell(&["models", "check", file.to_str().expect("a path")]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("line 2") && ran.err.contains("`0` is no argument"), "{}", ran.err);
}

#[test]
fn functions_that_cause_fences_are_suggested() {
    let trace = "main|astore.rlx(o,0)|1\nmain|fork(T)|2\nmain|w(x,1)|3\nmain|aload.rlx(o,1)|a.c:4 (fence: calls g_free)\n\
        T|w(x,2)|5\nT|aload.rlx(o,2)|a.c:6 (fence: calls g_free)\nmain|w(x,3)|7\nmain|join(T)|8\n";
    let report = foretell_with_input(&["predict", "--format", "json", "-"], trace.as_bytes()).out;
    let folder = tempfile::tempdir().expect("a folder");
    let (json, file) = (folder.path().join("report.json"), folder.path().join("mine.toml"));
    std::fs::write(&json, report).expect("a file");
    let ran = foretell(&["models", "suggest", json.to_str().expect("a path")]);
    assert!(ran.out.contains("# \"g_free\" = \"\""), "{}{}", ran.out, ran.err);
    std::fs::write(&file, &ran.out).expect("a file");
    let ran = foretell(&["models", "check", file.to_str().expect("a path")]);
    assert_eq!((ran.code, ran.out.contains(": 0 models")), (0, true), "{}{}", ran.out, ran.err);
}
