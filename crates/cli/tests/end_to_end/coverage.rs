//! How much of a trace could be reordered, as every report says.

use crate::{foretell, foretell_with_input};

/// Two threads that a fence keeps apart wherever they could race.
const FENCED: &str = "main|astore.rlx(o,0)|1\nmain|fork(T)|2\nmain|w(x,1)|3\nmain|aload.rlx(o,1)|a.c:4 (fence: calls f)\n\
    T|w(x,2)|5\nT|aload.rlx(o,2)|a.c:6 (fence: calls operator|(A, B))\nmain|w(x,3)|7\nmain|join(T)|8\n";

#[test]
fn a_trace_that_fences_hold_in_place_gives_no_clean_exit() {
    let ran = foretell_with_input(&["predict", "-"], FENCED.as_bytes());
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    for expected in [
        "coverage: 0 % of 3 concurrent accesses and 0 of 1 thread pair could be",
        "1 fence: calls f at a.c:4",
        "1 fence: calls operator|(A, B) at a.c:6",
        "blind: almost nothing of this run could be reordered",
    ] {
        assert!(ran.out.contains(expected), "`{expected}` is not in {}", ran.out);
    }
    let ran = foretell_with_input(&["predict", "--format", "json", "-"], FENCED.as_bytes());
    let report = ran.json();
    assert_eq!((&report["trace"]["coverage"]["blind"], &report["complete"]), (&true.into(), &false.into()));
}

#[test]
fn causes_survive_every_format_that_keeps_locations() {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, binary) = (folder.path().join("a.std"), folder.path().join("a.ftr"));
    std::fs::write(&text, FENCED).expect("a trace");
    let (text, binary) = (text.to_str().expect("a path"), binary.to_str().expect("a path"));
    let converted = foretell(&["trace", "convert", text, "-o", binary]);
    assert_eq!(converted.code, 0, "{}", converted.err);
    let coverage =
        |path| foretell(&["predict", "--format", "json", path]).json()["trace"]["coverage"].clone();
    assert_eq!(coverage(text), coverage(binary));
    assert_eq!(coverage(binary)["causes"][1]["callee"], "operator|(A, B)");
}

#[test]
fn a_trace_of_one_thread_says_so_and_is_clean() {
    let ran = foretell_with_input(&["predict", "-"], b"A|w(x,1)|1\nA|r(x,1)|2\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("coverage: one thread: nothing can race in this run"), "{}", ran.out);
    let ordered = b"A|w(x,1)|1\nA|fork(B)|2\nB|w(x,2)|3\nA|join(B)|4\nA|r(x,2)|5\n";
    let ran = foretell_with_input(&["predict", "-"], ordered);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("no two threads access memory at the same time: nothing can race"),
        "{}",
        ran.out
    );
}
