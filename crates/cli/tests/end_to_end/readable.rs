//! What a person sees of a race: stacks, locks, source lines, the story; and what nobody wants to see.

use std::path::Path;
use std::process::Command;

use foretell_report::visible::width;

use crate::{Ran, command, file, folder, repository};

/// The auditor reads the note after the table was given back; in the recorded run the teller came first.
const TRACE: &str = "\
main|enter(main)|bank.c:1:1
main|fork(teller)|bank.c:20:5
main|fork(auditor)|bank.c:21:5
teller|begin|bank.c:6:1
teller|enter(work)|bank.c:20:5
teller|racq(table)|bank.c:7:5
teller|enter(deposit)|bank.c:8:9
teller|w(note,1)|bank.c:3:2
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
race 1: note · proven: teller writes it while auditor reads it
  teller writes note = 1 in deposit at bank.c:3:2  (event 8)
      2 | void deposit(void) {
      3 |     note  = 1; // for the auditor
        |     ^^^^
      4 | }
      called from work at bank.c:8:9
      holds table as a reader (locked at bank.c:7:5)
      thread started by main in main at bank.c:20:5
  auditor reads note = 1 at bank.c:17:12  (event 18)
      (bank.c has no such line)
      holds no lock
      thread started by main in main at bank.c:21:5
  why the recorded run hides it: teller unlocks lock at bank.c:11:5 (event 12)
    before auditor locks lock at bank.c:14:5 (event 14), by accident: nothing in
    the program forces that order

  how it happens, with lines of bank.c:
  event  main                │ teller                │ auditor
      2  starts teller   :20 │                       │
      3  starts auditor  :21 │                       │
      6                      │ read-locks table   :7 │
                             │ (waits before 8)      │
     14                      │                       │ locks lock       :14
     15                      │                       │ reads limit = 0  :15
     17                      │                       │ unlocks lock     :16
      8                      │ » writes note = 1  :3 │
     18                      │                       │ » reads note     :17
         (waits …): in the recorded run the thread continued there
";

fn foretell_in(folder: &Path, args: &[&str]) -> Ran {
    run(command().args(args).current_dir(folder).env_remove("FORETELL_SUPPRESSIONS"))
}

fn run(command: &mut Command) -> Ran {
    command.output().expect("foretell runs").into()
}

#[test]
fn a_race_can_be_understood_without_the_trace() {
    let folder = folder("a_race_can_be_understood");
    file(&folder, "bank.c", SOURCE);
    file(&folder, "bank.std", TRACE);
    let ran = foretell_in(&folder, &["predict", "bank.std"]);
    let race = ran.out.split_once("\n\n").expect("a race").1;
    assert_eq!(race.split("\nauto: ").next().expect("a race"), EXPECTED);
    let everything = foretell_in(&folder, &["predict", "--witness", "all", "bank.std"]);
    assert!(everything.out.contains("│ branches"), "{}", everything.out);
}

#[test]
fn programs_are_told_the_same() {
    let folder = folder("programs_are_told_the_same");
    file(&folder, "bank.c", SOURCE);
    file(&folder, "bank.std", TRACE);
    let races = foretell_in(&folder, &["predict", "--format", "json", "bank.std"]).json();
    let first = &races["races"][0]["first"];
    assert_eq!(first["function"], "deposit");
    assert_eq!(
        first["stack"],
        serde_json::json!([
            {"function": "deposit", "location": "bank.c:3:2"}, {"function": "work", "location": "bank.c:8:9"},
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

    let mut by_variable = command();
    by_variable.args(["predict", "bank.std"]).current_dir(&folder).env("FORETELL_SUPPRESSIONS", "rules");
    assert_eq!(run(&mut by_variable).code, 0);
}

#[test]
fn bad_rules_are_refused_with_their_line() {
    let folder = folder("bad_rules");
    file(&folder, "bank.std", TRACE);
    file(&folder, "rules", "race:a\n\nrases:b\n");
    let ran = foretell_in(&folder, &["predict", "--suppressions", "rules", "bank.std"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("rules:3: unknown type of rule `rases`"), "{}", ran.err);
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

/// What colours add to a text is taken out again.
fn without_colours(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn every_line_fits_the_screen() {
    for name in ["drfinder_figure2", "recipe_figure5", "use_races_with_free", "k5_beyond_wcp"] {
        let path = repository().join(format!("corpus/{name}.std"));
        // Paths are never broken; this one is given as short as it is.
        let path = path.strip_prefix(repository()).expect("a path").to_str().expect("a plain path");
        for columns in [60, 80, 120] {
            let mut wide = command();
            wide.args(["predict", "-t", "auto,lockset", path]).env("COLUMNS", columns.to_string());
            let ran = run(wide.current_dir(repository()));
            let widest = ran.out.lines().map(width).max().expect("lines");
            assert!(ran.out.contains("race 1: ") && widest <= columns, "{widest}: {}", ran.out);
        }
    }
}

#[test]
fn colours_are_shown_where_they_are_wanted_and_change_nothing_else() {
    let folder = folder("colours");
    file(&folder, "bank.c", SOURCE);
    file(&folder, "bank.std", TRACE);
    let told = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = command();
        command.args(["predict", "bank.std"]).args(args).envs(variables.iter().copied());
        let text = run(command.current_dir(&folder)).out;
        // The time differs.
        text.lines()
            .filter(|line| !line.contains(" in 0."))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let plain = told(&[], &[]);
    let coloured = told(&["--color", "always"], &[]);
    assert!(
        !plain.contains('\u{1b}') && coloured.contains("\u{1b}[31mrace 1: note\u{1b}[0m"),
        "{coloured:?}"
    );
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31m^^^^\u{1b}[0m\n"), "{coloured:?}");
    assert_eq!(without_colours(&coloured), plain);
    assert_eq!(told(&[], &[("CLICOLOR_FORCE", "1")]), coloured);
    assert_eq!(told(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    assert_eq!(told(&["--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")]), coloured);
    assert_eq!(told(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]), plain);
}

#[test]
fn the_report_says_what_to_do_next() {
    let folder = folder("what_to_do_next");
    file(&folder, "bank.std", TRACE);
    let ran = foretell_in(&folder, &["predict", "bank.std"]);
    assert!(ran.out.contains("foretell explain report.json --race 1"), "{}", ran.out);
    let ran = foretell_in(&folder, &["predict", "bank.std", "bank.std", "-o", "found.json", "-o", "-"]);
    assert!(ran.out.ends_with("next: foretell explain found.json --report 1 --race 1\n"), "{}", ran.out);
    let ran = foretell_in(&folder, &["predict", "-t", "lockset", "bank.std"]);
    assert!(ran.out.contains("foretell explain report.json --candidate 1"), "{}", ran.out);
    file(&folder, "quiet.std", "A|w(x)|1\n");
    let ran = foretell_in(&folder, &["predict", "quiet.std"]);
    assert!(!ran.out.contains("next:"), "{}", ran.out);
}
