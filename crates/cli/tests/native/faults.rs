//! What can go wrong around a recording: descriptors that are closed, programs that leave for the background, runs
//! that are killed, and other users. Full disks: see `stress.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{build, foretell, is_ready};

/// Longer than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A new folder, in which runs make theirs.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults_{name}"));
    // What is left of an earlier run shall not help this one.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// The folders that runs have made there.
fn folders_in(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).expect("the folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.is_dir()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).map(|about| about.permissions().mode() & 0o777).unwrap_or(0)
}

/// Waits until something is found.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "it does not come");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program whose folder is made in this one, with the most generous mask there is.
fn start(parent: &Path, program: &str) -> Child {
    Command::new("sh")
        .args([
            "-c",
            "umask 0; exec \"$0\" run --no-progress -- \"$1\"",
            env!("CARGO_BIN_EXE_foretell"),
            program,
        ])
        .env("TMPDIR", parent)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("foretell runs")
}

fn kill(process: u32) {
    let killed = Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
}

#[test]
fn descriptors_that_the_program_closes_are_not_those_of_the_log() {
    if !is_ready() {
        return;
    }
    let program = build("stress/closing.c");
    let scratch = folder("closing").join("scratch");
    let named = scratch.display().to_string();
    for how in ["close", "closefrom", "close_range", "syscall", "dup2", "assembly"] {
        for order in ["serial", "striped"] {
            let arguments = ["run", "--no-progress", "--order", order, "--", &program, how, &named];
            let output = foretell(&arguments);
            assert_eq!(output.status.code(), Some(1), "{how}, {order}: {}", text(&output));
            assert!(text(&output).contains("race 1: counter"), "{how}, {order}: {}", text(&output));
            assert!(!text(&output).contains("cut short"), "{how}, {order}: {}", text(&output));
        }
    }
    assert_eq!(
        fs::metadata(&scratch).map(|about| about.len()).ok(),
        Some(0),
        "nothing is written to another file"
    );
}

#[test]
fn a_daemon_is_recorded_to_its_end() {
    if !is_ready() {
        return;
    }
    let program = build("stress/daemon.c");
    for how in ["library", "by hand"] {
        let output = foretell(&["run", "--no-progress", "--", &program, how]);
        assert_eq!(output.status.code(), Some(1), "{how}: {}", text(&output));
        assert!(text(&output).contains(": counter "), "{how}: {}", text(&output));
        assert!(!text(&output).contains("cut short"), "{how}: {}", text(&output));
    }
}

#[test]
fn a_daemon_without_end_is_ended_when_its_time_is_over() {
    if !is_ready() {
        return;
    }
    let program = build("stress/daemon.c");
    let begin = Instant::now();
    let output =
        foretell(&["run", "--no-progress", "--stop-after", "2s", "--", &program, "by hand", "for ever"]);
    assert!(begin.elapsed() < PATIENCE);
    assert!(text(&output).contains("ended after 2s"), "{}", text(&output));
}

#[test]
fn logs_are_the_users_alone_and_go_when_a_run_was_killed() {
    if !is_ready() {
        return;
    }
    let (parent, program) = (folder("private"), build("endless.c"));
    let mut run = start(&parent, &program);
    let log = wait_for(|| {
        let made = folders_in(&parent).pop()?;
        let entries = fs::read_dir(made).ok()?.flatten().map(|entry| entry.path());
        entries.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "ftraw"))
    });
    let made = log.parent().expect("a folder").to_path_buf();
    assert_eq!((mode(&made), mode(&log)), (0o700, 0o600));
    let recorded = log.file_stem().and_then(|name| name.to_str()?.parse::<u32>().ok()).expect("a process");
    // Neither a run that is there nor a program that still records is taken for stale.
    let other = build("counter_race.c");
    let run_another = || assert!(start(&parent, &other).wait().is_ok_and(|status| status.code() == Some(1)));
    run_another();
    assert!(log.exists());
    kill(run.id());
    run.wait().expect("it ends");
    // What it was recording goes with it.
    wait_for(|| (!Path::new(&format!("/proc/{recorded}/exe")).exists()).then_some(()));
    wait_for(|| (!made.exists()).then_some(()));
    run_another();
    assert!(!made.exists() && folders_in(&parent).is_empty());
}

#[test]
fn memory_that_other_processes_may_see_is_said_not_to_be_examined() {
    if !is_ready() {
        return;
    }
    let run = |name: &str, format: &str| {
        text(&foretell(&["run", "--no-progress", "--format", format, "--", &build(name)]))
    };
    let report = run("alias_norace.c", "text");
    let said = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("to memory that other processes may see, or that has a second address, not examined"),
        "{said}"
    );
    assert!(run("alias_norace.c", "json").contains("\"shared_accesses\""));
    assert!(!run("shared_mapping_race.c", "text").contains("not examined"));
}
