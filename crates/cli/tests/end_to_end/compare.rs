//! `compare`.

use crate::{file, folder, foretell, foretell_with_input, repository};

fn bank() -> String {
    repository().join("examples/bank.std").to_str().expect("a plain path").to_string()
}

#[test]
fn the_table_is_that_of_the_paper() {
    let folder = folder("the_table_is_that_of_the_paper");
    let harmless = file(&folder, "harmless.std", "A|w(x)|1\nA|branch|2\nA|r(x)|3\n");
    let ran = foretell(&["compare", &bank(), &harmless]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    let head = "trace threads events r/w syncs branches QC RV Said CP HB RV time Said time CP time HB time";
    assert_eq!(lines[0].join(" "), head);
    // Accesses, synchronisation and branches are those that `trace stats` counts.
    assert_eq!(lines[1][1..6], ["3", "17", "5", "12", "0"]);
    assert_eq!(lines[1][9..11], ["1c", "0"], "{}", ran.out);
    assert_eq!(lines[2][1..7], ["1", "3", "2", "0", "1", "0"]);
    assert_eq!(lines[2][7..11], ["0", "0", "0", "0"]);
    assert_eq!((lines[1].len(), lines[2].len()), (15, 15), "{}", ran.out);
    assert!(lines[3].is_empty() && lines[4][0] == "QC:", "{}", ran.out);
}

#[test]
fn chosen_techniques_have_the_columns() {
    let text = "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|w(x)|4\n";
    let techniques = ["compare", "--technique", "lockset,syncp,auto", "-"];
    let ran = foretell_with_input(&techniques, text.as_bytes());
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][6..10], ["QC", "lockset", "syncp", "auto"]);
    assert_eq!(lines[1][6..10], ["1", "1c", "1", "1"], "{}", ran.out);
}

#[test]
fn the_figures_are_in_the_json_too() {
    let ran = foretell(&["compare", "--technique", "syncp,hb", "--format", "json", &bank()]);
    let reports = ran.json();
    for report in reports.as_array().expect("a list") {
        assert_eq!(report["trace"]["counts"]["reads"], 3);
        assert_eq!(report["trace"]["counts"]["syncs"], 12);
        assert!(report["trace"]["quick_check"].as_u64() >= Some(1), "{report}");
    }
    assert_eq!(reports[0]["stats"]["candidates"], 1);
}

#[test]
fn without_room_there_is_no_quick_check_and_no_complete_answer() {
    let ran = foretell(&["compare", "--technique", "hb,rv", "--memory", "1K", &bank()]);
    let row: Vec<&str> = ran.out.lines().nth(1).expect("a row").split_whitespace().collect();
    assert_eq!(row[6..9], ["-", "0", "0?"], "{}", ran.out);
}
