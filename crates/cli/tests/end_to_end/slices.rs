//! `--slice`: only what matters to a property is looked at, and what is found is told in the numbers of the whole
//! trace.

use serde_json::{Value, json};

use crate::{example, file, folder, foretell, foretell_with_input, repository};

fn corpus(name: &str) -> String {
    repository().join(format!("corpus/{name}.std")).to_str().expect("a plain path").to_string()
}

/// The events of the first race.
fn first_pair(report: &Value) -> [&Value; 2] {
    [&report["races"][0]["first"]["event"], &report["races"][0]["second"]["event"]]
}

/// The sections of Figure 6 hide the race of x from whoever looks at the whole trace, and does not know which reads
/// matter.
#[test]
fn a_slice_of_a_run_shows_more_than_the_whole() {
    let program = example("mcm_figure6");
    let whole = foretell(&["run", "--format", "json", "--technique", "rv", &program]).json();
    let targets: Vec<&Value> =
        whole["races"].as_array().expect("a list").iter().map(|race| &race["first"]["target"]).collect();
    assert!(!targets.contains(&&json!("x")), "{whole}");

    let ran = foretell(&["run", "--format", "json", "--slice", "race 1,13", &program]);
    let decision = ran.json();
    assert_eq!((ran.code, &decision["verdict"]), (1, &json!("race")), "{decision}");
    assert_eq!((&decision["first"]["event"], &decision["second"]["event"]), (&json!(1), &json!(13)));
    let witness = decision["witness"].as_array().expect("a witness");
    assert_eq!(witness[witness.len() - 2..], [json!(1), json!(13)], "numbers are those of the whole trace");
    let slice = &decision["trace"]["slice"];
    assert_eq!(
        (&slice["property"], &slice["sound"], &slice["of"]),
        (&json!("race 1,13"), &json!(true), &json!(13))
    );
    assert!(slice["events"].as_u64().expect("a number") < 13);

    let ran = foretell(&["run", "--format", "json", "--slice", "on x", &program]);
    assert_eq!((ran.code, first_pair(&ran.json())), (1, [&json!(1), &json!(13)]), "{}", ran.out);
    let text = foretell(&["run", "--slice", "on x", &program]);
    assert!(text.out.contains("slice: on x; "), "{}", text.out);
    assert!(text.out.contains("of 13 events matter to it"), "{}", text.out);
}

/// No execution of these programs has the race that a smaller slice would show.
#[test]
fn slices_keep_what_orders_the_accesses() {
    for name in ["sliced_decision", "sliced_section"] {
        for slice in ["on x", "on x,y"] {
            let ran = foretell(&["run", "--format", "json", "--slice", slice, &example(name)]);
            let report = ran.json();
            let races = report["races"].as_array().expect("a list");
            assert!(races.iter().all(|race| race["first"]["target"] != "x"), "{name}: {report}");
        }
    }
    for name in ["mcm_figure7", "mcm_figure1_other_value"] {
        let ran = foretell(&["run", "--slice", "on x,y", &example(name)]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.out);
    }
}

#[test]
fn slices_of_traces() {
    let ran = foretell(&["predict", "--format", "json", "--slice", "race 4,11", &corpus("mcm_figure1")]);
    let decision = ran.json();
    assert_eq!((ran.code, &decision["verdict"]), (1, &json!("race")), "{decision}");
    let ran = foretell(&["predict", "--format", "json", "--slice", "on y", &corpus("mcm_figure1")]);
    assert_eq!((ran.code, first_pair(&ran.json())), (1, [&json!(4), &json!(11)]), "{}", ran.out);
    let ran = foretell(&["predict", "--slice", "race 4,11", &corpus("mcm_figure1_other_value")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let several = ["--technique", "rf,mcm,auto", "--format", "json"];
    let ran = foretell(&[&["predict", "--slice", "on y", &corpus("mcm_figure1")], &several[..]].concat());
    assert_eq!(ran.json().as_array().expect("a list").len(), 3);
    let input = b"T1|w(x,1)|1\nT2|w(x,2)|2\n";
    let ran = foretell_with_input(&["predict", "--slice", "events 1,2", "-"], input);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
}

#[test]
fn slices_that_make_no_sense_are_refused() {
    let (trace, program) = (corpus("mcm_figure1"), example("mcm_figure1"));
    for (slice, said) in [
        ("race 4", "expected the numbers of two events"),
        ("race 4,4", "expected the numbers of two events"),
        ("race 4,99", "there is no event 99: the trace has 12"),
        ("race 1,2", "events 1 and 2 are both of thread"),
        ("race 1,8", "event 1 is acq(l) and event 8 is acq(l)"),
        ("on nobody", "nothing in the trace accesses `nobody`"),
        ("on y,nobody", "nothing in the trace accesses `nobody`"),
        ("on", "expected names of variables"),
        ("events 0", "expected the numbers of events"),
        ("events 1,1000", "there is no event 1000"),
        ("events", "expected the numbers of events"),
        ("everything", "expected `race A,B`"),
        ("", "expected `race A,B`"),
    ] {
        for args in [["predict", &trace], ["run", &program]] {
            let ran = foretell(&[&args[..], &["--slice", slice]].concat());
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {slice}: {}", ran.err);
            assert!(ran.err.contains(said), "{args:?}: `{said}` is not in {}", ran.err);
        }
    }
    let ran = foretell(&["predict", "--slice", "race 4,11", "--pair", "4,11", &trace]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("already decides just that pair"), "{}", ran.err);
    let ran = foretell(&["explore", "--slice-rule", "published", &trace]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--slice"), "{}", ran.err);
}

/// What a slice drops may have synchronised, so these would report what never happens.
#[test]
fn techniques_that_prove_nothing_on_slices_are_refused() {
    for technique in ["hb", "wcp", "cp", "syncp", "dco", "lockset", "rv"] {
        for slice in ["on y", "race 4,11"] {
            for args in [["predict", &corpus("mcm_figure1")], ["run", &example("mcm_figure1")]] {
                let ran = foretell(&[&args[..], &["--technique", technique, "--slice", slice]].concat());
                assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{technique} {slice}: {}", ran.err);
                let said = format!("{technique} proves nothing on a slice; with --slice use one of ");
                assert!(ran.err.contains(&said), "{}", ran.err);
            }
        }
    }
}

#[test]
fn closures_of_slices() {
    let run = |more: &[&str]| {
        let args = ["explore", "--closure", "--format", "json", &example("mcm_figure6")];
        foretell(&[&args[..], more].concat())
    };
    let ran = run(&["--slice", "race 1,13", "--property", "race 1,13", "--property", "race 2,10"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["maximal"]["count"]), (1, &json!(10)), "{report}");
    assert_eq!(
        (&report["trace"]["slice"]["of"], &report["trace"]["events"]),
        (&json!(13), &report["trace"]["slice"]["events"])
    );
    let properties = &report["properties"];
    assert_eq!(properties[0]["verdict"], "violated", "{report}");
    assert_eq!(
        (&properties[0]["property"], &properties[1]["property"]),
        (&json!("race 1,13"), &json!("race 2,10"))
    );
    let schedule = properties[0]["schedule"].as_array().expect("a list");
    assert!(schedule.iter().all(|event| event.as_u64() > Some(1)), "event 1 is still to come: {report}");

    for (property, said) in [
        ("race 4,7", "event 4 is not in the slice"),
        ("exclusive 3..5,6..9", "is not in the slice"),
        ("assert x == 1", "what variables hold is not known in a slice"),
    ] {
        let ran = run(&["--slice", "race 1,13", "--property", property]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{property}");
        assert!(ran.err.contains(said), "{property}: {}", ran.err);
    }
}

/// The rule as published is there to compare with. It shows races that no execution has, so nothing is proven by it.
#[test]
fn the_published_rule_proves_nothing() {
    let mut shown = 0;
    for name in ["sliced_decision", "sliced_section", "mcm_figure5", "mcm_figure6", "mcm_figure7", "bank"] {
        let variable = if name == "bank" { "on account[1]" } else { "on x" };
        let args = ["explore", "--closure", "--slice", variable, "--slice-rule", "published", &example(name)];
        let ran = foretell(&args);
        assert_eq!(ran.code, 3, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("not proven"), "{name}: {}", ran.out);
        let report = foretell(&[&args[..], &["--format", "json"]].concat()).json();
        assert_eq!((&report["trace"]["slice"]["sound"], &report["complete"]), (&json!(false), &json!(false)));
        let races = report["races"].as_array().expect("a list");
        shown += races.iter().filter(|race| race["first"]["target"] == "x").count();
    }
    assert!(shown > 0, "the false races of the published rule are gone");
}

#[test]
fn a_slice_of_the_whole_is_the_whole() {
    let folder = folder("slices_whole");
    let path = file(&folder, "two.cimp", "shared x;\n{ x := 1; } || { x := 2; }\n");
    let ran = foretell(&["run", "--format", "json", "--slice", "events 1,2", &path]);
    let slice = ran.json()["trace"]["slice"].clone();
    assert_eq!(slice, json!({"property": "events 1,2", "sound": true, "events": 2, "of": 2}));
    assert_eq!(ran.code, 1);
}
