//! What a person sees of a race: stacks, locks, source lines, the story; and what nobody wants to see.

use std::path::Path;
use std::process::Command;

use crate::{Ran, file, folder, repository};

/// The auditor reads the note after the table was given back; in the recorded run the teller came first.
const TRACE: &str = "\
main|enter(main)|bank.c:1:1
main|fork(teller)|bank.c:20:5
main|fork(auditor)|bank.c:21:5
teller|begin|bank.c:6:1
teller|enter(work)|bank.c:20:5
teller|racq(table)|bank.c:7:5
teller|enter(deposit)|bank.c:8:9
teller|w(note,1)|bank.c:3:10
teller|exit(deposit)|bank.c:4:1
teller|rrel(table)|bank.c:9:5
teller|acq(lock)|bank.c:10:5
teller|rel(lock)|bank.c:11:5
auditor|begin|bank.c:13:1
auditor|acq(lock)|bank.c:14:5
auditor|r(limit,0)|bank.c:15:9
auditor|branch|bank.c:15:9
auditor|rel(lock)|bank.c:16:5
auditor|r(note,1)|bank.c:17:12
";

const SOURCE: &str = "int note;\nvoid deposit(void) {\n\tnote  = 1; // for the auditor\n}\n";

/// A race in words, for a trace whose program is here.
const EXPECTED: &str = "\
race 1: note · proven: a schedule brings the two accesses next to each other
  teller writes note = 1 in deposit at bank.c:3:10  (event 8)
      3 | note  = 1; // for the auditor
        |         ^
      called from work at bank.c:8:9
      holds table as a reader (locked at bank.c:7:5)
      thread started by main in main at bank.c:20:5
  auditor reads note = 1 at bank.c:17:12  (event 18)
      holds no lock
      thread started by main in main at bank.c:21:5
  why the recorded run hides it: teller unlocks lock (event 12) before auditor locks lock (event 14)

  how it happens, with lines of bank.c:
     event  main                        │ teller                      │ auditor
         2  starts teller           :20 │                             │
         3  starts auditor          :21 │                             │
         6                              │ read-locks table         :7 │
                                        │ (waits before event 8)      │
        14                              │                             │ locks lock              :14
        15                              │                             │ reads limit = 0         :15
        17                              │                             │ unlocks lock            :16
         8                              │ » writes note = 1        :3 │
        18                              │                             │ » reads note            :17
            (waits …): in the recorded run the thread went on there
";

fn foretell_in(folder: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    command.args(args).current_dir(folder).env_remove("FORETELL_SUPPRESSIONS");
    command.output().expect("foretell runs").into()
}

#[test]
fn a_race_can_be_understood_without_the_trace() {
    let folder = folder("a_race_can_be_understood");
    file(&folder, "bank.std", TRACE);
    file(&folder, "bank.c", SOURCE);
    let ran = foretell_in(&folder, &["predict", "bank.std"]);
    let race = ran.out.split_once("\n\n").expect("a race").1;
    assert_eq!(race.split("\nauto: ").next().expect("a race"), EXPECTED);
    let everything = foretell_in(&folder, &["predict", "--witness", "all", "bank.std"]);
    assert!(everything.out.contains("│ branches"), "{}", everything.out);
}

#[test]
fn programs_are_told_the_same() {
    let folder = folder("programs_are_told_the_same");
    file(&folder, "bank.std", TRACE);
    file(&folder, "bank.c", SOURCE);
    let races = foretell_in(&folder, &["predict", "--format", "json", "bank.std"]).json();
    let first = &races["races"][0]["first"];
    assert_eq!(first["function"], "deposit");
    assert_eq!(
        first["stack"],
        serde_json::json!([
            {"function": "deposit", "location": "bank.c:3:10"}, {"function": "work", "location": "bank.c:8:9"},
        ])
    );
    assert_eq!(
        first["locks"],
        serde_json::json!([{
            "lock": "table", "mode": "shared", "location": "bank.c:7:5",
            "stack": [{"function": "work", "location": "bank.c:7:5"}],
        }])
    );
    assert_eq!(first["thread_started"]["stack"][0]["function"], "main");
    assert_eq!(first["source"], "\tnote  = 1; // for the auditor");
    // A technique that does not hold the trace reads it once more for this.
    let streamed = foretell_in(&folder, &["predict", "-t", "lockset", "--format", "json", "bank.std"]).json();
    let open = streamed["undecided"].as_array().expect("candidates");
    let same = |access: &serde_json::Value| access["event"] == 8 && access["stack"] == first["stack"];
    assert!(open.iter().any(|open| same(&open["first"])), "{streamed}");
}

#[test]
fn suppressed_races_are_counted_but_not_told() {
    let folder = folder("suppressed_races");
    file(&folder, "bank.std", TRACE);
    file(&folder, "rules", "# known\nrace:^deposit$\nrace:nobody\nthread:pool\n");
    let ran = foretell_in(&folder, &["predict", "--suppressions", "rules", "bank.std"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(
        ran.out.contains("1 more pair suppressed by rules") && !ran.out.contains("race 1"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("rules:3: `race:nobody` has suppressed nothing"), "{}", ran.err);
    assert!(ran.err.contains("`thread:pool` has no effect"), "{}", ran.err);
    let json =
        foretell_in(&folder, &["predict", "--suppressions", "rules", "--format", "json", "bank.std"]).json();
    assert_eq!((json["races"].as_array().map(Vec::len), &json["suppressed"]["count"]), (Some(0), &1.into()));
    assert_eq!(json["suppressed"]["pairs"][0]["rule"], "race:^deposit$");
    assert_eq!(json["suppressed"]["pairs"][0]["first"]["event"], 8);

    let mut by_variable = Command::new(env!("CARGO_BIN_EXE_foretell"));
    by_variable.args(["predict", "bank.std"]).current_dir(&folder).env("FORETELL_SUPPRESSIONS", "rules");
    assert_eq!(Ran::from(by_variable.output().expect("foretell runs")).code, 0);
}

#[test]
fn bad_rules_are_refused_with_their_line() {
    let folder = folder("bad_rules");
    file(&folder, "bank.std", TRACE);
    file(&folder, "rules", "race:a\n\nrases:b\n");
    let ran = foretell_in(&folder, &["predict", "--suppressions", "rules", "bank.std"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("rules:3: `rases` is no type of rule"), "{}", ran.err);
    let ran = foretell_in(&folder, &["predict", "--suppressions", "missing", "bank.std"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot read missing"), "{}", ran.err);
}

#[test]
fn only_source_files_are_shown() {
    let folder = folder("only_source_files");
    file(&folder, "secret", "do not show\n");
    file(&folder, "racy.std", "A|w(x)|secret:1\nB|w(x)|secret:1\n");
    let ran = foretell_in(&folder, &["predict", "racy.std"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.out.contains("do not show"), "{}", ran.out);
}

#[test]
fn every_line_of_a_story_fits_the_screen() {
    let path = repository().join("corpus/drfinder_figure2.std");
    let ran = foretell_in(&repository(), &["predict", path.to_str().expect("a plain path")]);
    let story = ran.out.lines().filter(|line| line.contains('│'));
    assert!(
        story.clone().count() > 20 && story.clone().all(|line| line.chars().count() <= 100),
        "{}",
        ran.out
    );
}
