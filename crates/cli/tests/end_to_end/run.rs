//! `foretell run`: a program is run once, races are predicted, and the program is driven into each.

use std::fs;

use serde_json::{Value, json};

use crate::{Ran, example, examples, file, folder, foretell, repository, said};

/// Runs a program as its first lines say, and gives the report as data.
fn report(program: &str, more: &[&str]) -> (Ran, Value) {
    // A list has commas, as the lists of other keys do.
    let schedule = said(program, "schedule").join(",");
    let schedule = if schedule.is_empty() { "serial" } else { &schedule };
    let ran = foretell(&[&["run", "--format", "json", "--schedule", schedule, program], more].concat());
    let report = ran.json();
    (ran, report)
}

/// The variables of all races.
fn targets(report: &Value) -> Vec<&str> {
    let races = report["races"].as_array().expect("a list");
    races.iter().map(|race| race["first"]["target"].as_str().expect("a name")).collect()
}

/// The events of all races.
fn pairs(report: &Value) -> Vec<[u64; 2]> {
    let races = report["races"].as_array().expect("a list");
    let event = |access: &Value| access["event"].as_u64().expect("a number");
    races.iter().map(|race| [event(&race["first"]), event(&race["second"])]).collect()
}

/// The first lines name all variables that race in any execution, so a run may prove no other.
#[test]
fn what_is_proven_races_and_the_program_was_driven_into_it() {
    let mut proven = 0;
    for program in examples() {
        let (ran, report) = report(&program, &[]);
        let said = said(&program, "races");
        let found = targets(&report);
        assert!(found.iter().all(|&target| said.iter().any(|said| said == target)), "{program}: {found:?}");
        // Its only run of this schedule fails.
        let clean = if program.ends_with("sum_without_join.cimp") { 2 } else { 0 };
        let is_clean = found.is_empty() && report.get("deadlocks").is_none();
        assert_eq!(ran.code, if is_clean { clean } else { 1 }, "{program}: {}", ran.err);
        // Only programs that are said to deadlock in some execution may be proven to.
        let may_deadlock = crate::said(&program, "endings").iter().any(|ending| ending == "deadlock");
        assert!(may_deadlock || report.get("deadlocks").is_none(), "{program}");
        assert_eq!(report["driven"], found.len(), "{program}");
        // A run that went wrong says so, and that there may be more.
        assert_eq!(report["complete"], report["ending"].is_null(), "{program}");
        assert_eq!(report["ending"].is_null(), ran.err.is_empty(), "{program}: {}", ran.err);
        proven += found.len();
    }
    assert!(proven > 50, "only {proven} races are proven");
}

#[test]
fn references_can_be_saved_as_text_and_any_depth_can_be_asked_for() {
    let folder = folder("run_references");
    let saved = folder.join("saved.std");
    let saved = saved.to_str().expect("a plain path");
    foretell(&["run", &example("double_checked"), "--trace", saved]);
    let checked = foretell(&["trace", "check", saved]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let deep = foretell(&["run", &example("bank"), "--schedule", "pct", "--depth", "4000000000"]);
    assert!(deep.code <= 2 && deep.err.lines().count() < 10, "{}", deep.err);
}

#[test]
fn the_figures_of_the_papers_have_the_races_that_they_are_known_for() {
    for (name, races, events) in [
        ("mcm_figure1", &["y"][..], &[[4, 11]][..]),
        ("mcm_figure1_other_value", &[], &[]),
        ("mcm_figure7", &[], &[]),
        ("mcm_figure8", &["y"], &[[1, 3]]),
        ("rv_array_index", &[], &[]),
        ("rv_figure1_switched", &[], &[]),
        ("rv_figure2_branch", &[], &[]),
        ("rv_figure1", &["x"], &[[3, 9]]),
    ] {
        let (ran, report) = report(&example(name), &["--pairs", "all"]);
        assert_eq!((targets(&report), pairs(&report)), (races.to_vec(), events.to_vec()), "{name}");
        assert_eq!((ran.code, ran.err.as_str()), (i32::from(!races.is_empty()), ""), "{name}");
    }
    // In its serial run the atomic variable orders the accesses of x.
    let ran = foretell(&["run", "--format", "json", "--schedule", "t2", &example("rv_figure2_no_branch")]);
    assert_eq!((ran.code, targets(&ran.json())), (1, vec!["x"]), "{}", ran.out);
    let text = foretell(&["run", &example("mcm_figure1")]);
    assert!(text.out.contains("the program itself was driven into 1 race\n"), "{}", text.out);
    assert!(!foretell(&["run", &example("mcm_figure7")]).out.contains("driven"));
}

/// Records a run in a file.
fn recorded(folder: &std::path::Path, args: &[&str]) -> Vec<u8> {
    let trace = folder.join("recorded.std");
    let ran = foretell(&[&["run", "--trace", trace.to_str().expect("a plain path")], args].concat());
    assert!(ran.code < 2, "{args:?}: {}", ran.err);
    fs::read(trace).expect("a trace")
}

#[test]
fn a_seed_decides_the_run() {
    let folder = folder("run_seeds");
    let program = example("readers");
    for schedule in ["random", "pct"] {
        let with = |seed: &str| recorded(&folder, &["--schedule", schedule, "--seed", seed, &program]);
        assert_eq!(with("7"), with("7"), "{schedule}");
        assert!(["1", "2", "3", "4"].iter().any(|seed| with(seed) != with("0")), "{schedule}");
    }
    let with_depth = |depth: &str| recorded(&folder, &["--schedule", "pct", "--depth", depth, &program]);
    let shallow = with_depth("1");
    assert!(["5", "9", "20"].iter().any(|depth| with_depth(depth) != shallow));
}

/// Who took which step.
fn threads(trace: &[u8]) -> Vec<String> {
    let text = String::from_utf8(trace.to_vec()).expect("text");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('|').next().expect("a thread").to_string()).collect()
}

#[test]
fn schedules_are_followed() {
    let folder = folder("run_schedules");
    let program = file(
        &folder,
        "three.cimp",
        "shared x, y, z;\n{ x := 1; x := 2; } || { y := 1; y := 2; } || thread last { z := 1; z := 2; }\n",
    );
    for (schedule, expected) in [
        ("serial", "t1 t1 t2 t2 last last"),
        ("round-robin", "t1 t2 last t1 t2 last"),
        ("t2,last*2,t1", "t2 last last t1 t1 t2"),
        ("", "t1 t1 t2 t2 last last"),
        (" last , t1*2 , ", "last t1 t1 t2 t2 last"),
    ] {
        let trace = recorded(&folder, &["--schedule", schedule, &program]);
        assert_eq!(threads(&trace).join(" "), expected, "{schedule}");
    }
}

/// Runs the program whose races are hidden by the usual order of its locks, and says whether FastTrack sees one.
fn shows_hidden_race(options: &[&str]) -> bool {
    let program = example("drfinder_figure2_work");
    let ran = foretell(&[&["run", "--technique", "fasttrack"], options, &[&program]].concat());
    assert!(ran.code < 2, "{}", ran.err);
    ran.code == 1
}

#[test]
fn hidden_races_show_when_locks_are_taken_in_another_order() {
    for schedule in ["serial", "contest", "random", "pos"] {
        assert!(!shows_hidden_race(&["--schedule", schedule]), "{schedule}");
    }
    assert!(shows_hidden_race(&["--schedule", "drfinder"]));
    assert!((1..40).any(|seed: u32| shows_hidden_race(&["--schedule", "pct", "--seed", &seed.to_string()])));
}

#[test]
fn what_one_run_has_learnt_the_next_one_uses() {
    let folder = folder("run_triggers");
    let triggers = folder.join("figure.triggers").display().to_string();
    let options = ["--schedule", "drfinder", "--triggers", &triggers];
    assert!(shows_hidden_race(&options));
    let learnt = fs::read_to_string(&triggers).unwrap();
    assert!(learnt.starts_with("foretell triggers 1\n# ") && learnt.contains("\nf8\tk\n"), "{learnt}");
    // Who is told that nothing takes any lock holds nobody back.
    fs::write(&triggers, "foretell triggers 1\n").unwrap();
    assert!(!shows_hidden_race(&options));
    assert!(fs::read_to_string(&triggers).unwrap().contains("\nf8\tk\n"));
    fs::write(&triggers, "something else\n").unwrap();
    let ran = foretell(&[&["run"], &options[..], &[&example("drfinder_figure2_work")]].concat());
    assert!(ran.code == 2 && ran.err.contains("the first line is not"), "{}", ran.err);
}

#[test]
fn a_schedule_that_cannot_be_followed_is_refused() {
    let program = example("mcm_figure1");
    for (schedule, said) in [
        (
            "t1,t2*3",
            "mcm_figure1.cimp: the program cannot follow the schedule: entry 2 of the schedule, t2, is not possible: t1 can continue",
        ),
        ("t9", "entry 1 of the schedule, t9, is not possible"),
        ("t1*100", "entry 8 of the schedule, t1, is not possible"),
        ("t1*7,t2*5", "all threads have ended, but 1 of its entries are left"),
        ("t1*x", "`t1*x` in the schedule: expected a number of steps after `*`"),
        ("t1*99999999999", "too long"),
        ("zigzag-wise", "expected serial, round-robin, random, contest, pct, pos, drfinder, or a list"),
    ] {
        let ran = foretell(&["run", "--schedule", schedule, &program]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{schedule}: {}", ran.err);
        assert!(ran.err.contains(said), "{schedule}: `{said}` is not in {}", ran.err);
    }
}

/// The races of a report without what only those know who have the program.
fn races_without_sources(report: &Value) -> Value {
    let mut races = report["races"].clone();
    for race in races.as_array_mut().expect("a list") {
        for told in ["fingerprint", "reads", "schedule", "confirmation"] {
            race[told].take();
        }
        for side in ["first", "second"] {
            race[side]["source"].take();
            race[side]["excerpt"].take();
        }
    }
    races
}

/// The machine of a program follows the schedule of a race, and that of another program does not.
#[test]
fn a_race_is_replayed_from_its_report() {
    let folder = folder("replay");
    let path = folder.join("report.json");
    let path = path.to_str().expect("a plain path");
    for name in ["bank", "mcm_figure1", "rv_figure1", "readers_miscounted"] {
        foretell(&["run", &example(name), "-o", path]);
        let replayed = foretell(&["replay", path, "--race", "1"]);
        assert_eq!(replayed.code, 1, "{name}: {}{}", replayed.out, replayed.err);
        assert!(
            replayed.out.starts_with("confirmed: the program itself was driven into it"),
            "{}",
            replayed.out
        );
        let saved = folder.join("report-race-1.schedule");
        let saved = saved.to_str().expect("a plain path");
        assert!(replayed.err.contains(&format!("again: foretell replay {saved} -- ")), "{}", replayed.err);
        let again = foretell(&["replay", saved, "--", &example(name)]);
        assert_eq!(again.code, 1, "{name}: {}{}", again.out, again.err);
        let other = foretell(&["replay", saved, "--", &example("philosophers_ordered")]);
        assert_eq!(other.code, 3, "{name}: {}{}", other.out, other.err);
        assert!(other.out.contains("not confirmed: the program goes another way"), "{}", other.out);
    }
    let missing = foretell(&["replay", path, "--race", "99"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
}

/// What was recorded is a trace like any other, but for what each read is good for: files do not tell that, and `rv`
/// does not ask.
#[test]
fn the_recording_gives_the_same_answer_again() {
    let folder = folder("run_trace");
    for (name, ending) in
        [("mcm_figure1", "std"), ("bank", "ftr"), ("bounded_buffer", "std.gz"), ("recipe_figure2", "ftr.zst")]
    {
        let trace = folder.join(format!("{name}.{ending}"));
        let trace = trace.to_str().expect("a plain path");
        let (ran, first) = report(&example(name), &["--trace", trace, "--technique", "rv"]);
        let again = foretell(&["predict", "--format", "json", "--technique", "rv", trace]);
        let (races, expected) = (races_without_sources(&again.json()), races_without_sources(&first));
        assert_eq!((again.code, races), (ran.code, expected), "{name}");
        assert_eq!(again.json()["driven"], Value::Null, "nothing can be driven without a program");
        let check = foretell(&["trace", "check", trace]);
        assert_eq!(check.code, 0, "{}{}", check.out, check.err);
    }
}

#[test]
fn a_recording_is_the_trace_of_its_figure() {
    let folder = folder("run_figures");
    let trace = recorded(&folder, &[&example("mcm_figure1")]);
    let figure = repository().join("corpus/mcm_figure1.std");
    let (run, figure) = (
        foretell(&["explore", "--format", "json", folder.join("recorded.std").to_str().expect("a path")]),
        foretell(&["explore", "--format", "json", figure.to_str().expect("a path")]),
    );
    assert_eq!(run.json()["maximal"], figure.json()["maximal"]);
    assert_eq!(threads(&trace).len(), 12);
}

#[test]
fn the_flow_is_written_down() {
    let folder = folder("run_flow");
    let flow = folder.join("flow.txt");
    let ran = foretell(&["run", "--flow", flow.to_str().expect("a plain path"), &example("mcm_figure1")]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let listing = fs::read_to_string(flow).expect("a listing");
    assert!(listing.lines().count() >= 12, "{listing}");
    let nowhere = folder.join("no/such/folder.txt");
    for option in ["--flow", "--trace", "--output"] {
        let ran = foretell(&["run", option, nowhere.to_str().expect("a path"), &example("mcm_figure1")]);
        assert_eq!(ran.code, 2, "{option}");
        assert!(!ran.err.is_empty(), "{option}");
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let folder = folder("run_no_program");
    let here = folder.to_str().expect("a plain path");
    fs::create_dir(folder.join("folder.cimp")).expect("a folder");
    for (path, said) in [
        (
            file(&folder, "trace.std", "T1|w(x)|1\n"),
            "a program is a file that ends in .cimp, .c, .cpp, .rs or .java, or a command",
        ),
        ("-".to_string(), "there is no such program"),
        (here.to_string(), "is a folder"),
        (format!("{here}/missing.cimp"), "No such file"),
        (format!("{here}/folder.cimp"), "is a folder"),
        (file(&folder, "bytes.cimp", b"shared x\xff;\n{ x := 1; }\n"), "not UTF-8 text"),
        (file(&folder, "empty.cimp", ""), "empty.cimp:1:1: "),
        (file(&folder, "comment.cimp", "// nothing\n"), "comment.cimp:"),
    ] {
        let ran = foretell(&["run", &path]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{path}: {}", ran.err);
        assert!(ran.err.contains(said) && ran.err.contains(&path), "{path}: {}", ran.err);
    }
    assert_eq!(foretell(&["run"]).code, 2);
    assert_eq!(foretell(&["run", &example("bank"), &example("sum")]).code, 2);
}

#[test]
fn a_program_that_does_nothing_has_no_race() {
    let folder = folder("run_nothing");
    let ran = foretell(&["run", &file(&folder, "nothing.cimp", "{ skip; } || { local a = 1; }\n")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("no race proven"), "{}", ran.out);
    assert!(ran.err.contains("does nothing that others could notice"), "{}", ran.err);
    for text in ["{ skip; }\n", "shared x; { x := 1; }\n"] {
        let ran = foretell(&["run", "--format", "json", &file(&folder, "x.cimp", text)]);
        assert_eq!((ran.code, &ran.json()["races"]), (0, &json!([])), "{text}");
    }
    let ran = foretell(&["run", &file(&folder, "fails.cimp", "{ assert false; }\n")]);
    assert_eq!(ran.code, 2);
    assert!(!ran.err.contains("does nothing"), "it fails before it does anything: {}", ran.err);
}

/// All of it is told: where, which line, and who.
fn stopped(name: &str, text: &str, more: &[&str], said: &[&str]) {
    let path = file(&folder(&format!("run_stopped_{name}")), &format!("{name}.cimp"), text);
    let ran = foretell(&[&["run", &path], more].concat());
    assert_eq!(ran.code, 2, "{name}: {}{}", ran.out, ran.err);
    for said in said {
        assert!(ran.err.contains(said), "{name}: `{said}` is not in {}", ran.err);
    }
}

#[test]
fn runs_that_end_badly_say_where() {
    stopped("syntax", "shared x;\n{ x := ; }\n", &[], &["syntax.cimp:2:8: ", "2 | { x := ; }", "^"]);
    stopped("name", "shared x;\n{ x := yy; }\n", &[], &["name.cimp:2:8: ", "yy", "2 | { x := yy; }", "^^"]);
    stopped(
        "divide",
        "shared x;\n{\n    local a = 1 / x;\n}\n",
        &[],
        &["divide.cimp:3:17: division by zero (thread main)", "3 |     local a = 1 / x;"],
    );
    stopped("assertion", "shared x;\n{ assert x == 1; }\n", &[], &["assertion.cimp:2:3: ", "does not hold"]);
    stopped(
        "bounds",
        "shared a[3];\n{ local i = 3; a[i] := 1; }\n",
        &[],
        &["bounds.cimp:2:16: the index 3 is out of bounds: the array has 3 elements", "a[i] := 1"],
    );
    stopped("release", "lock l;\n{ release(l); }\n", &[], &["release.cimp:2:3: the thread does not hold l"]);
    stopped("recursion", "fn f(n) { f(n + 1); }\n{ f(0); }\n", &[], &["recursion.cimp:1:11: too many calls"]);
    stopped("idle", "{\n    while (true)\n        skip;\n}\n", &[], &["idle.cimp:2:5: ", "while (true)"]);
    stopped(
        "waits",
        "shared x;\n{ while (x == 0) skip; } || { x := 1; }\n",
        &[],
        &["waits.cimp:2:3: the loop runs more than 100000 times (thread t1)", "= help: --loops allows more"],
    );
    stopped(
        "counts",
        "shared x;\n{ while (true) x := x + 1; }\n",
        &["--loops", "50"],
        &["counts.cimp:2:3: the loop runs more than 50 times"],
    );
    stopped(
        "steps",
        "shared x;\n{ while (true) x := x + 1; }\n",
        &["--loops", "none", "--max-steps", "1000"],
        &["steps.cimp: the run was stopped at its limit of steps; --max-steps gives more"],
    );
    stopped(
        "deadlock",
        "lock l, m;\n{ acquire(l); acquire(m); } || { acquire(m); acquire(l); }\n",
        &["--schedule", "t1,t2"],
        &[
            "deadlock.cimp:2:15: deadlock: t1 waits at 2:15 for m, which t2 holds",
            "deadlock.cimp:2:46: deadlock: t2 waits at 2:46 for l, which t1 holds",
        ],
    );
}

/// A race that was proven before the run ended badly is one.
#[test]
fn a_race_counts_more_than_a_bad_end() {
    let text = "shared x;\n{ x := 1; } || { x := 2; assert false; }\n";
    let ran = foretell(&["run", &file(&folder("run_bad_end"), "racy.cimp", text)]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("racy.cimp:2:26: the assertion does not hold (thread t2)"), "{}", ran.err);
}

/// An option that means nothing for the program is refused before anything is built or run.
#[test]
fn options_of_other_front_ends_are_refused() {
    let folder = folder("options_of_other_front_ends");
    let native = file(&folder, "program.c", "int main(void) { return 0; }\n");
    let other = folder.join("other");
    let other = other.to_str().expect("a plain path");
    for (options, why) in [
        (["--slice", "on x"], "--slice works on traces"),
        (["--flow", other], "--flow is for .cimp programs only"),
        (["--loops", "3"], "--loops is for .cimp programs only"),
        (["--schedule", "round-robin"], "cannot run under --schedule round-robin"),
    ] {
        let ran = foretell(&[&["run"], &options[..], &[&native]].concat());
        assert!(ran.code == 2 && ran.err.contains(why), "{options:?}: {}", ran.err);
    }
    let ran = foretell(&["run", "--evidence", other, &example("bank")]);
    assert!(ran.code == 2 && ran.err.contains("native programs only"), "{}", ran.err);
}
