//! `foretell explore FILE.cimp`: all executions of a program, and with `--closure` all runs that one of them implies.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Ran, example, examples, file, folder, foretell, said};

/// Explores a program, and gives the report as data.
fn explore(program: &str, more: &[&str]) -> (Ran, Value) {
    let ran = foretell(&[&["explore", "--format", "json", program], more].concat());
    let report = ran.json();
    (ran, report)
}

fn list<'a>(report: &'a Value, of: &str) -> &'a Vec<Value> {
    report[of].as_array().unwrap_or_else(|| panic!("no list of {of}: {report}"))
}

fn schedule(finding: &Value) -> &str {
    finding["schedule"].as_str().expect("a schedule")
}

/// The first lines of each example say which variables race and how executions end.
#[test]
fn the_examples_have_the_findings_that_they_are_known_for() {
    for program in examples() {
        let (ran, report) = explore(&program, &[]);
        let races: BTreeSet<&str> =
            list(&report, "races").iter().map(|race| race["target"].as_str().expect("a name")).collect();
        let expected = said(&program, "races");
        assert_eq!(races, expected.iter().map(String::as_str).collect(), "{program}");
        let endings = said(&program, "endings");
        let may = |ending: &str| endings.iter().any(|known| known == ending);
        assert_eq!(!list(&report, "failures").is_empty(), may("failed"), "{program}");
        assert_eq!(!list(&report, "deadlocks").is_empty(), may("deadlock"), "{program}");
        assert_eq!(report["stats"]["final_states"] != 0, may("finished"), "{program}");
        let found = !races.is_empty() || may("failed") || may("deadlock");
        assert_eq!((ran.code, ran.err.as_str()), (i32::from(found), ""), "{program}");
        assert_eq!((&report["complete"], &report["notes"]), (&json!(true), &json!([])), "{program}");
    }
}

#[test]
fn a_schedule_leads_where_it_is_said_to() {
    let run = |program: &str, finding: &Value| foretell(&["run", "--schedule", schedule(finding), program]);
    for program in examples() {
        let (_, report) = explore(&program, &["--races-only"]);
        for failure in list(&report, "failures") {
            let ran = run(&program, failure);
            let text = |field: &str| failure[field].as_str().expect("a text");
            let said = format!("{}: {} (thread {})", text("location"), text("message"), text("thread"));
            assert!(ran.code == 1 || ran.code == 2, "{program}: {failure}");
            assert!(ran.err.contains(&said), "{program}: {said} is not in {}", ran.err);
        }
        for deadlock in list(&report, "deadlocks") {
            let ran = run(&program, deadlock);
            for waiting in list(deadlock, "waiting") {
                let said = format!("deadlock: {}", waiting.as_str().expect("a text"));
                assert!(ran.err.contains(&said), "{program}: {said} is not in {}", ran.err);
            }
        }
        for race in list(&report, "races") {
            let ran = run(&program, race);
            assert!(!ran.err.contains("cannot follow"), "{program}: {}", ran.err);
        }
    }
}

#[test]
fn findings_are_told_to_people() {
    let (bank, hungry) = (example("bank"), example("philosophers"));
    let ran = foretell(&["explore", &bank, &hungry]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    for said in [
        "bank.cimp · all executions · ",
        "race 1: account[1]\n",
        "main.1  reads at ",
        "failure 1: ",
        "the assertion does not hold",
        "philosophers.cimp · all executions · ",
        "deadlock 1:\n",
        "plato waits at 11:9 for chopstick[1], which kant holds",
        "schedule  ",
        "0 races, 0 failures, 1 deadlock; all executions explored in ",
    ] {
        assert!(ran.out.contains(said), "`{said}` is not in {}", ran.out);
    }
    let (_, both) = explore(&bank, &[&hungry]);
    assert_eq!(both.as_array().expect("a list").len(), 2);
}

#[test]
fn assertions_about_memory_are_decided() {
    let peterson = example("mcm_figure3_peterson");
    let verdict = |program: &str, property: &str, more: &[&str]| {
        let (ran, report) = explore(program, &[&["--property", property], more].concat());
        let told = report["properties"][0].clone();
        assert_eq!(told["property"], property);
        (ran.code, told)
    };
    // Races of what it synchronises by are findings of their own.
    for holds in ["assert critical >= 0 && critical <= 2", "assert turn == 0 or turn == 1 or turn == 2"] {
        assert_eq!(verdict(&peterson, holds, &[]).1, json!({"property": holds, "verdict": "holds"}));
    }
    let (code, told) = verdict(&peterson, "assert q1 + q2 < 2", &[]);
    assert_eq!((code, &told["verdict"]), (1, &json!("violated")));
    assert_eq!(schedule(&told), "t1,t2");

    let folder = folder("programs_assertions");
    let counted = file(
        &folder,
        "peterson.cimp",
        "atomic q1, q2, turn, inside;
{ q1 := 1; turn := 1; while (q2 == 1 and turn == 1) skip; inside := inside + 1; inside := inside - 1; q1 := 0; }
||
{ q2 := 1; turn := 2; while (q1 == 1 and turn == 2) skip; inside := inside + 1; inside := inside - 1; q2 := 0; }
",
    );
    let (code, told) = verdict(&counted, "assert inside <= 1", &[]);
    assert_eq!((code, &told["verdict"]), (0, &json!("holds")));
    let (code, told) = verdict(&counted, "assert inside == 0", &[]);
    assert_eq!((code, &told["verdict"]), (1, &json!("violated")), "a violation alone is a finding");
    assert!(foretell(&["run", "--schedule", schedule(&told), &counted]).code < 2);
    let (code, told) = verdict(&counted, "assert inside <= 1", &["--max-states", "20"]);
    assert_eq!((code, &told["verdict"]), (3, &json!("unknown")));
    let text = foretell(&["explore", "--property", "assert inside <= 1", &counted]);
    assert!(text.out.contains("assert inside <= 1: holds in all states"), "{}", text.out);

    let arrays = file(&folder, "arrays.cimp", "atomic a[2] = {1, 2};\n{ a[0] := 5; } || { a[1] := 6; }\n");
    assert_eq!(verdict(&arrays, "assert a[0] + a[1] != 8", &[]).1["schedule"], Value::Null);
    let (code, told) = verdict(&arrays, "assert a[0] + a[1] != 11", &[]);
    assert_eq!((code, schedule(&told)), (1, "t1,t2"));
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let program = example("mcm_figure1");
    for (more, said) in [
        (&["--property", "assert nobody == 1"][..], "there is no shared variable `nobody`"),
        (&["--property", "assert x <"], "expected an expression"),
        (&["--property", "assert x := 1"], "--property"),
        (&["--property", "assert l == 1"], "there is no shared variable `l`"),
        (&["--property", "race 4,11"], "--closure explores what one run implies"),
        (&["--slice", "on x"], "--closure explores a slice of one"),
        (&["--closure", "--schedule", "t2*9"], "cannot follow the schedule"),
        (&["--max-states", "many"], "many"),
        (&["--loops", "some"], "expected a number or `none`"),
    ] {
        let ran = foretell(&[&["explore", &program], more].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{more:?}");
        assert!(ran.err.contains(said), "{more:?}: `{said}` is not in {}", ran.err);
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let folder = folder("programs_refused");
    for (name, text, said) in [
        ("syntax.cimp", &b"shared x;\n{ x := ; }\n"[..], "syntax.cimp:2:8: "),
        ("name.cimp", b"shared x;\n{ x := yy; }\n", "2 | { x := yy; }"),
        ("bytes.cimp", b"{ \xff }", "not UTF-8 text"),
        ("empty.cimp", b"", "no thread"),
    ] {
        let path = file(&folder, name, text);
        for more in [&[][..], &["--closure"]] {
            let ran = foretell(&[&["explore", &path], more].concat());
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
            assert!(ran.err.contains(said), "{name}: {}", ran.err);
        }
    }
    let missing = folder.join("missing.cimp").to_str().expect("a plain path").to_string();
    let ran = foretell(&["explore", "--format", "json", &missing, &example("mcm_figure7")]);
    assert_eq!((ran.code, &ran.json()["complete"]), (2, &json!(true)), "the other one is still explored");
    assert!(ran.err.contains("missing.cimp"), "{}", ran.err);
}

/// What goes wrong is a finding; every one comes with a schedule.
#[test]
fn failures_are_findings() {
    let folder = folder("programs_failures");
    for (name, text, location, message) in [
        ("divide", "shared x;\n{ local a = 1 / x; }\n", "2:15", "division by zero"),
        ("assertion", "shared x;\n{ assert x == 1; }\n", "2:3", "the assertion does not hold"),
        ("bounds", "shared a[3];\n{ local i = 3; a[i] := 1; }\n", "2:16", "the index 3 is out of bounds"),
        ("release", "lock l;\n{ release(l); }\n", "2:3", "the thread does not hold l"),
        // These never end, so what would follow is not known.
        ("idle", "{ while (true) skip; }\n", "1:3", "the thread runs on without a step"),
        ("recursion", "fn f(n) { f(n + 1); }\n{ f(0); }\n", "1:11", "too many calls within calls"),
        ("forks", "{ while (true) fork { skip; } }\n", "1:16", "too many threads"),
    ] {
        let path = file(&folder, &format!("{name}.cimp"), text);
        let (ran, report) = explore(&path, &[]);
        let failure = &report["failures"][0];
        assert_eq!((ran.code, &failure["location"]), (1, &json!(location)), "{name}: {report}");
        assert!(failure["message"].as_str().expect("a text").starts_with(message), "{failure}");
        assert_eq!(failure["thread"], "main");
        assert_eq!(report["complete"], !["idle", "recursion", "forks"].contains(&name), "{name}");
        assert_eq!(foretell(&["run", "--schedule", schedule(failure), &path]).code, 2, "{name}");
    }
}

/// Without end in some execution: what was explored is told, and that it is not all.
#[test]
fn explorations_end_within_their_limits() {
    let folder = folder("programs_limits");
    let counts = file(&folder, "counts.cimp", "shared x;\n{ while (true) x := x + 1; }\n");
    for (program, more, said) in [
        (
            &counts,
            &["--max-states", "1000"][..],
            "there are more than 1000 states; the loop at 2:3 ran most often",
        ),
        (&counts, &["--loops", "20"], "2:3: the loop runs more than 20 times"),
        (&counts, &["--memory", "100K"], "the states need more than 102400 bytes"),
        (&counts, &["--time-limit", "1s"], "the time limit of 1s was reached; --time-limit gives more"),
    ] {
        let begin = Instant::now();
        let (ran, report) = explore(program, more);
        assert!(begin.elapsed() < Duration::from_secs(30), "{program} took {:?}", begin.elapsed());
        assert_eq!((ran.code, &report["complete"]), (3, &json!(false)), "{program}: {report}");
        assert!(report["notes"].to_string().contains(said), "`{said}` is not in {report}");
        let text = foretell(&[&["explore", program], more].concat());
        assert!(text.out.contains("not all executions explored"), "{}", text.out);
    }
    let waits = file(&folder, "waits.cimp", "shared x;\n{ while (x == 0) skip; }\n");
    let (ran, report) = explore(&waits, &[]);
    assert_eq!((ran.code, &report["complete"]), (0, &json!(true)), "few states, though no end: {report}");
    assert_eq!(report["stats"]["executions"], Value::Null, "executions without end cannot be counted");
    assert_eq!(report["notes"], json!(["no execution comes to an end"]));
    let five = file(&folder, "five.cimp", "shared x;\n{ x := 1; } || { x := 2; }\n");
    let (ran, report) = explore(&five, &["--max-states", "5"]);
    assert_eq!((ran.code, &report["stats"]["states"]), (1, &json!(5)), "as many as there are: {report}");
    assert_eq!(report["complete"], true);
    let steps = foretell(&["explore", &five, "--max-steps", "5"]);
    assert!(steps.code == 2 && steps.err.contains("--max-states"), "{}", steps.err);
}

/// What cannot be computed is neither true nor false.
#[test]
fn a_condition_that_cannot_be_told_does_not_hold() {
    let folder = folder("programs_conditions");
    let program = "cell N { n }\nshared x[2] = 7, p, y;\n{ x[1] := 2; p := new N; y := 1; }\n";
    let program = file(&folder, "conditions.cimp", program);
    for condition in ["p == 0", "p < 1", "x[5] == 0", "x[y - 1] == 7", "1 / y == 1"] {
        let asked = format!("assert {condition}");
        let (ran, report) = explore(&program, &["--property", &asked]);
        assert_eq!((ran.code, &report["properties"][0]["verdict"]), (3, &json!("unknown")), "{report}");
    }
    let (ran, report) = explore(&program, &["--property", "assert x[0] == 7 && y <= 1"]);
    assert_eq!((ran.code, &report["properties"][0]["verdict"]), (0, &json!("holds")), "{report}");
    for (condition, why) in
        [("x == 7", "`x` is an array"), ("y[0] == 0", "`y` is no array"), ("z", "no shared")]
    {
        let ran = foretell(&["explore", &program, "--property", &format!("assert {condition}")]);
        assert!(ran.code == 2 && ran.err.contains(why), "{condition}: {}", ran.err);
    }
    let failing = file(&folder, "failing.cimp", "shared y;\n{ y := 1 / y; }\n");
    let failed = foretell(&["explore", "--closure", "--format", "json", &failing]);
    assert_eq!((failed.code, &failed.json()["complete"]), (2, &json!(false)), "{}", failed.out);
    assert!(failed.json()["notes"].to_string().contains("division by zero"), "{}", failed.out);
    let closure = ["explore", "--closure", "--format", "json", &program, "--property", "assert p < 1"];
    let ran = foretell(&closure);
    assert_eq!((ran.code, &ran.json()["properties"][0]["verdict"]), (3, &json!("unknown")), "{}", ran.out);
}

#[test]
fn what_is_found_within_limits_is_found() {
    let folder = folder("programs_found_within_limits");
    let racy = "shared x, y;\n{ y := 1; while (true) x := x + 1; } || { y := 2; }\n";
    let racy = file(&folder, "racy.cimp", racy);
    for limit in [["--max-states", "1000"], ["--time-limit", "1s"]] {
        let asked = ["--property", "assert x < 3", "--property", "assert y < 3"];
        let (ran, report) = explore(&racy, &[&limit[..], &asked].concat());
        assert_eq!((ran.code, &report["races"][0]["target"]), (1, &json!("y")), "{report}");
        assert_eq!(report["properties"][0]["verdict"], "violated", "{report}");
        assert_eq!(report["properties"][1]["verdict"], "unknown", "{report}");
        assert_eq!(report["complete"], false);
    }
}

#[test]
fn executions_are_counted_unless_only_races_are_wanted() {
    let folder = folder("programs_executions");
    let text = "shared x, y;\n{ x := 1; x := 2; } || { y := 1; y := 2; }\n";
    let program = file(&folder, "two.cimp", text);
    let (_, report) = explore(&program, &[]);
    assert_eq!((&report["stats"]["executions"], &report["stats"]["states"]), (&json!(6), &json!(9)));
    let text = foretell(&["explore", &program]);
    assert!(text.out.contains("two.cimp · all executions · 9 states, 6 executions\n"), "{}", text.out);
    let (_, report) = explore(&program, &["--races-only"]);
    assert_eq!(report["stats"]["executions"], Value::Null);
    let (_, report) = explore(&example("mcm_figure3_peterson"), &[]);
    assert_eq!(report["stats"]["executions"], Value::Null, "a loop may go round for ever");
}

#[test]
fn the_closure_of_one_run_is_that_of_its_trace() {
    let (ran, report) = explore(&example("mcm_figure1"), &["--closure"]);
    assert_eq!(ran.code, 1);
    let count = |report: &Value, of: &str| report[of]["count"].as_u64().expect("a number");
    assert_eq!((count(&report, "maximal"), count(&report, "happens_before")), (7, 1));
    let race = &list(&report, "races")[0];
    assert_eq!((&race["first"]["event"], &race["second"]["event"]), (&json!(4), &json!(11)));

    let (_, report) = explore(&example("mcm_figure6"), &["--closure"]);
    assert_eq!(count(&report, "maximal"), 7);
    let (ran, report) = explore(&example("mcm_figure6"), &["--closure", "--slice", "race 1,13"]);
    assert_eq!((ran.code, count(&report, "maximal")), (1, 10));

    let (_, serial) = explore(&example("mcm_figure8"), &["--closure"]);
    let (_, figure) = explore(&example("mcm_figure8"), &["--closure", "--schedule", "t1,t2*4,t1*4"]);
    assert_ne!(serial["trace"]["events"], figure["trace"]["events"], "the schedule decides what is explored");
}

#[test]
fn properties_of_closures() {
    let verdict = |name: &str, property: &str| {
        let (_, report) = explore(&example(name), &["--closure", "--property", property]);
        report["properties"][0]["verdict"].clone()
    };
    assert_eq!(verdict("mcm_figure1", "race 4,11"), "violated");
    assert_eq!(verdict("mcm_figure1", "assert x >= 0 && y <= 2"), "holds");
    assert_eq!(verdict("mcm_figure1", "assert y != 2"), "violated");
    assert_eq!(verdict("mcm_figure7", "race 2,9"), "holds");
    let unknown = foretell(&["explore", "--closure", "--property", "assert q == 1", &example("mcm_figure1")]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("nothing in the trace accesses `q`"), "{}", unknown.err);
}

/// A run that ended badly still implies others; how it ended is told beside.
#[test]
fn the_closure_of_a_run_that_ends_badly_says_so() {
    let text = "shared x;\n{ x := 1; } || { assert false; }\n";
    let path = file(&folder("programs_bad_closure"), "bad.cimp", text);
    let ran = foretell(&["explore", "--closure", &path]);
    assert!(ran.err.contains("bad.cimp:2:18: the assertion does not hold (thread t2)"), "{}", ran.err);
    assert_eq!(ran.code, 2, "{}", ran.out);
}
