//! Programs that do not end by themselves, or not well.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use foretell_testkit::process::{descendants, interruptible, is_alive, limited, name, send, wait_until};

use crate::{build, endless, foretell, interrupted_by, is_ready, wait_until_raced};

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
    // Whoever limits the time of foretell asks it to end; the program must not go on alone.
    let endless = endless();
    for signal in ["INT", "TERM", "HUP"] {
        let output = interrupted_by(signal, &["run"], &endless);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let named = if signal == "INT" { "Ctrl-C".to_string() } else { format!("SIG{signal}") };
        assert!(err.contains(&format!("ended by {named}")), "{signal}: {err}");
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
    for (target, why) in [("/nowhere/at/all.ftr", "cannot write /nowhere"), ("trace.what", "unknown format")]
    {
        let output = foretell(&["record", "-o", target, "--", "sh", "-c", &touch]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(err.contains(why), "{err}");
        assert!(!marker.exists(), "the program was run");
    }
    let output = foretell(&["run", "--schedule", "round-robin", "--", "sh", "-c", &touch]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("cannot run under --schedule round-robin"),
        "{}",
        text(&output.stderr)
    );
    assert!(!marker.exists(), "the program was run");
    let output = foretell(&["record", "-o", "/dev/null", "--", "./no-such-program"]);
    assert!(text(&output.stderr).contains("unknown format"), "{}", text(&output.stderr));
}

/// The folders for logs that are there.
fn log_folders(temporary: &Path) -> usize {
    fs::read_dir(temporary).expect("a folder").count()
}

#[test]
fn no_program_outlives_foretell_and_no_folder_does() {
    if !is_ready() {
        return;
    }
    let (program, raced) = endless();
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outlives");
    // What is left of an earlier run.
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).expect("a folder");
    // The shell stands for any command that has processes of its own.
    let command = format!("{program} {}; true", raced.display());
    let mut started = interruptible(env!("CARGO_BIN_EXE_foretell"))
        .args(["run", "--no-progress", "--", "sh", "-c", &command])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("foretell runs");
    wait_until_raced(&raced);
    let processes = descendants(started.id());
    assert_eq!(log_folders(&temporary), 1);
    let itself = processes.iter().copied().find(|&process| name(process) == "foretell");
    send("KILL", itself.expect("foretell is among them"));
    assert!(!started.wait().expect("it ends").success());
    wait_until("all processes have ended", || !processes.iter().any(|&process| is_alive(process)));
    wait_until("the folder is gone", || log_folders(&temporary) == 0);
}

/// What is printed, the exit code, and how the recording ends are the same whatever the other threads do.
#[test]
fn a_program_ends_with_threads_that_do_not() {
    if !is_ready() {
        return;
    }
    let program = build("exit_live.c");
    let trace = format!("{program}.ftr");
    for order in ["serial", "striped"] {
        for how in ["return", "exit", "_exit", "quick_exit", "worker"] {
            let output = foretell(&["record", "--order", order, "-o", &trace, "--", &program, how]);
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(out, "the end\n", "{order}, {how}: {err}");
            assert!(
                err.contains("ended with exit code 7") && !err.contains("cut short"),
                "{order}, {how}: {err}"
            );
        }
        let output = foretell(&["record", "--order", order, "-o", &trace, "--", &program, "abort"]);
        let err = text(&output.stderr);
        assert!(err.contains("cut short: the program was killed by signal 6 (SIGABRT)"), "{order}: {err}");
    }
}

#[test]
fn threads_that_the_program_does_not_wait_for_are_seen_whatever_the_seed() {
    if !is_ready() {
        return;
    }
    let program = build("exit_first_race.c");
    for seed in 1..=8 {
        let seed = seed.to_string();
        let output = foretell(&["run", "--no-progress", "--confirm", "--seed", &seed, "--", &program]);
        let out = text(&output.stdout);
        assert!(
            out.contains("race 1: counter") && out.contains("confirmed: the program itself"),
            "{seed}: {out}"
        );
    }
}

/// Handlers that wait for another thread do not hold the turn, and the run says that it depended on time.
#[test]
fn a_handler_may_wait_for_another_thread() {
    if !is_ready() {
        return;
    }
    let program = build("handler_waits_norace.c");
    let mut timed = 0;
    for seed in 1..=6 {
        let seed = seed.to_string();
        let output = foretell(&["run", "--no-progress", "--seed", &seed, "--", &program]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{seed}: {err}");
        timed += usize::from(err.contains("the same seed may give another run: "));
    }
    assert!(timed > 0, "a handler came at the wrong moment");
}

/// Where nothing depends on real time the same seed gives the same run, and nothing else is said.
#[test]
fn what_repeats_is_not_said_to_depend_on_time() {
    if !is_ready() {
        return;
    }
    for name in ["turns.c", "robust_norace.c", "exit_first_norace.c", "printing_race.c"] {
        let program = build(name);
        let record = |target: &str| {
            let target = format!("{program}-{target}.ftr");
            let output = foretell(&["record", "--seed", "5", "-o", &target, "--", &program]);
            let err = text(&output.stderr);
            assert!(!err.contains("the same seed"), "{name}: {err}");
            fs::read(target).expect("a trace")
        };
        assert_eq!(record("1"), record("2"), "{name}");
    }
}

/// A child that the program kills on purpose does not make the recording incomplete; if the program does not end well,
/// this is not known.
#[test]
fn a_child_that_is_killed_is_no_failure_of_a_program_that_ends_well() {
    if !is_ready() {
        return;
    }
    let program = build("stress/killed_child.c");
    let run = |arguments: &[&str]| foretell(&[&["run", "--no-progress", "--", &program], arguments].concat());
    let output = run(&[]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("so the recording counts as complete") && !said.contains("cut short"), "{out}");
    let output = run(&["badly"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let hunted = foretell(&["hunt", "--runs", "2", "--no-progress", "--", &program]);
    assert_eq!(hunted.status.code(), Some(0), "{}{}", text(&hunted.stdout), text(&hunted.stderr));
}

/// A program that asks to end, or that is asked to, is recorded up to there.
#[test]
fn what_kills_a_program_is_told() {
    if !is_ready() {
        return;
    }
    let (program, raced) = endless();
    for (signal, told) in [("TERM", "signal 15 (SIGTERM)"), ("KILL", "signal 9 (SIGKILL)")] {
        let child = limited(env!("CARGO_BIN_EXE_foretell"))
            .args(["run", "--no-progress", "--", &program])
            .arg(&raced)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("foretell runs");
        wait_until_raced(&raced);
        let short: String =
            Path::new(&program).file_name().unwrap_or_default().to_string_lossy().chars().take(15).collect();
        let recorded = descendants(child.id())
            .into_iter()
            .find(|&process| name(process) == short || name(process) == "exe");
        send(signal, recorded.expect("the program is among them"));
        let output = child.wait_with_output().expect("foretell ends");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(err.contains(&format!("killed by {told}")), "{signal}: {err}");
        assert_eq!(output.status.code(), Some(1), "{signal}: {out}{err}");
    }
}
