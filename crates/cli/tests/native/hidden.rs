//! Races that the usual order of locks hides, and strategies that look for them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::{build, foretell, is_ready};

fn place(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

/// The variables whose races FastTrack sees in a run of the program with these options.
fn races(program: &str, trace: &str, options: &[&str]) -> BTreeSet<String> {
    let trace = place(trace);
    let recorded = foretell(&[&["record", "-o", &trace], options, &["--", program]].concat());
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let predicted =
        foretell(&["predict", "--technique", "fasttrack", "--format", "json", "--no-progress", &trace]);
    let report: serde_json::Value = serde_json::from_slice(&predicted.stdout).expect("a report");
    let races = report["races"].as_array().expect("races").clone();
    races.iter().map(|race| race["first"]["target"].as_str().expect("a variable").to_owned()).collect()
}

fn both() -> BTreeSet<String> {
    BTreeSet::from(["x".to_owned(), "y".to_owned()])
}

#[test]
fn noise_does_not_show_the_races_of_the_figure() {
    if !is_ready() {
        return;
    }
    let program = build("figures/drfinder_figure2.c");
    let run =
        |seed: u32| races(&program, "noise.ftr", &["--strategy", "contest", "--seed", &seed.to_string()]);
    let found: BTreeSet<String> = (1..=100).flat_map(run).collect();
    assert_ne!(found, both());
}

#[test]
fn reversed_locks_show_both_races_of_the_figure_within_ten_runs() {
    if !is_ready() {
        return;
    }
    let program = build("figures/drfinder_figure2.c");
    let triggers = place("figure2.triggers");
    // What is left of an earlier test.
    let _ = fs::remove_file(&triggers);
    let options =
        |seed: &str| ["--strategy", "drfinder", "--triggers", &triggers, "--seed", seed].map(str::to_owned);
    let run = |seed: u32| {
        let options = options(&seed.to_string());
        races(&program, "reversed.ftr", &options.each_ref().map(String::as_str))
    };
    assert_eq!(run(1), BTreeSet::new(), "the first run only learns");
    let table = fs::read_to_string(&triggers).expect("what was learnt");
    let rows: BTreeSet<&str> =
        table.lines().filter(|line| line.starts_with('f') && line.contains('\t')).collect();
    let expected = [
        ("f1", "k n o1"),
        ("f2", "n o1"),
        ("f3", "n o2 o3"),
        ("f4", "n o2 o3"),
        ("f5", "n"),
        ("f6", "k o4 o5"),
        ("f7", "k o4 o5"),
        ("f8", "k"),
    ];
    let expected: BTreeSet<String> = expected
        .iter()
        .flat_map(|(function, locks)| locks.split(' ').map(move |lock| format!("{function}\tin {lock}")))
        .collect();
    assert_eq!(rows, expected.iter().map(String::as_str).collect(), "Table 1 of the paper");
    let found: BTreeSet<String> = (2..=10).flat_map(run).collect();
    assert_eq!(found, both());
}

/// What a run of the program under the strategy has learnt, as text; a new file for each test.
fn lessons(program: &str, strategy: &str, file: &str) -> String {
    let (trace, triggers) = (place(&format!("{file}.ftr")), place(&format!("{file}.triggers")));
    // What is left of an earlier test.
    let _ = fs::remove_file(&triggers);
    foretell(&["record", "-o", &trace, "--strategy", strategy, "--triggers", &triggers, "--", program]);
    fs::read_to_string(&triggers).expect("what was learnt")
}

#[test]
fn kinds_of_locks_are_told_by_where_they_come_from() {
    if !is_ready() {
        return;
    }
    for (program, function, kind) in [
        ("../../bench/native/hidden/bank.c", "teller", "in ledger_lock"),
        ("../../bench/native/hidden/bank.c", "sum_accounts", "initialised at "),
        ("two_locks_norace.cpp", "main", "in left"),
        ("rust_lock_order_race.rs", "main", "allocated at "),
    ] {
        let learnt = lessons(&build(program), "drfinder", &program.replace(['/', '.'], "_"));
        let line = format!("\n{function}\t{kind}");
        assert!(learnt.contains(&line), "{program}: {line} in {learnt}");
    }
}

#[test]
fn lessons_survive_a_deadlock_and_strategies_are_never_the_cause_of_one() {
    if !is_ready() {
        return;
    }
    let learnt = lessons(&build("deadlock.c"), "drfinder", "deadlock");
    assert!(learnt.contains("# picks ") && learnt.lines().any(|line| line.contains('\t')), "{learnt}");
    let program = build("threads_norace.cpp");
    for strategy in ["contest", "pct", "pos", "drfinder"] {
        let trace = place(&format!("again_{strategy}.std"));
        let options = ["record", "-o", &trace, "--strategy", strategy, "--seed", "5", "--", &program];
        let text = || {
            let recorded = foretell(&options);
            let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
            assert!(recorded.status.success() && !said.contains("cut short"), "{strategy}: {said}");
            fs::read_to_string(&trace).expect("a trace")
        };
        assert_eq!(text(), text(), "{strategy}: the same seed gives the same run");
    }
}
