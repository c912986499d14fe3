//! Programs that do not end by themselves, or not well.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{build, foretell, interrupted_by, is_ready};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_without_end_is_ended_when_its_time_is_over() {
    if !is_ready() {
        return;
    }
    let program = build("endless.c");
    // The shell stands for any command that has processes of its own.
    let command = format!("{program}; true");
    let begin = Instant::now();
    let output = foretell(&["run", "--no-progress", "--stop-after", "3s", "--", "sh", "-c", &command]);
    assert!(begin.elapsed() < Duration::from_secs(60));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(err.contains("ended after 3s"), "{err}");
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(out.contains("race 1: counter"), "{out}");
}

#[test]
fn ctrl_c_ends_the_program_and_not_foretell() {
    if !is_ready() {
        return;
    }
    let program = build("endless.c");
    // Whoever limits the time of foretell asks it to end; the program must not go on alone.
    for signal in ["-INT", "-TERM", "-HUP"] {
        let output = interrupted_by(signal, &["run", "--no-progress", "--", &program]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(err.contains("ended by Ctrl-C"), "{signal}: {err}");
        assert_eq!(output.status.code(), Some(1), "{signal}: {out}{err}");
        assert!(out.contains("race 1: counter") && !out.contains("interrupted"), "{signal}: {out}");
    }
}

#[test]
fn exit_codes_of_programs_are_told() {
    let output = foretell(&["run", "--no-progress", "--", "sh", "-c", "exit 3"]);
    let err = text(&output.stderr);
    assert!(err.contains("sh: the program ended with exit code 3"), "{err}");
    let output = foretell(&["run", "--no-progress", "--", "sh", "-c", "kill -ABRT $$"]);
    let err = text(&output.stderr);
    assert!(err.contains("killed by signal 6 (SIGABRT)"), "{err}");
}

#[test]
fn a_recording_is_not_begun_in_vain() {
    let marker = Path::new(env!("CARGO_TARGET_TMPDIR")).join("begun_in_vain");
    let touch = format!("touch {}", marker.display());
    for (target, why) in
        [("/nowhere/at/all.ftr", "cannot write /nowhere"), ("trace.what", "cannot tell the format")]
    {
        let output = foretell(&["record", "-o", target, "--", "sh", "-c", &touch]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(err.contains(why), "{err}");
        assert!(!marker.exists(), "the program was run");
    }
    let output = foretell(&["record", "-o", "/dev/null", "--", "./no-such-program"]);
    assert!(text(&output.stderr).contains("cannot tell the format"), "{}", text(&output.stderr));
}
