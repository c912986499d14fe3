//! Races that are known from an earlier report, though the source has changed since.

use std::fs;
use std::path::Path;

use crate::{foretell, is_ready, programs};

/// Lines are inserted and indented, and the schedule is another one: nothing is new.
#[test]
fn races_are_known_although_their_lines_have_moved() {
    if !is_ready() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("known_races");
    fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).display().to_string();
    let (program, old) = (path("counter.c"), path("old.json"));
    let source = fs::read_to_string(programs().join("counter_race.c")).expect("a program");
    fs::write(&program, &source).expect("a file");
    let first = foretell(&["run", "--no-progress", "-o", &old, &program]);
    assert_eq!(first.status.code(), Some(1), "{}", String::from_utf8_lossy(&first.stderr));

    let moved = format!("// This\n// is\n\nstatic int unused;\n{}", source.replace("\n    ", "\n\n\t"));
    fs::write(&program, &moved).expect("a file");
    let again = ["run", "--no-progress", "--seed", "7", "--baseline", &old, &program];
    let second = foretell(&again);
    let text = String::from_utf8_lossy(&second.stdout);
    assert_eq!(second.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&second.stderr));
    assert!(text.contains("known from"), "{text}");

    // The same race on a variable of another name is another one.
    fs::write(&program, moved.replace("counter", "number")).expect("a file");
    assert_eq!(foretell(&again).status.code(), Some(1));
}
