//! Recording, and what is made of it, keep to what they are allowed: bytes on disk, memory, time.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use foretell_testkit::watched::{Ask, Watched, watch};

use crate::{build, is_ready};

/// Enough for a log of some megabytes.
const MANY: &str = "60000";
/// As much as nobody waits for.
const ENDLESS: &str = "1000000000";
/// So much of a processor's time may be used after the end of the time, or after a signal.
const PROMPT: Duration = Duration::from_secs(2);

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("limits_{name}"));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(name: &str, args: &[&str], ask: Option<Ask<'_>>) -> Watched {
    let watched = watch(Command::new(env!("CARGO_BIN_EXE_foretell")).args(args), &folder(name), ask);
    assert!(!watched.err.contains("panicked"), "{}", watched.err);
    watched
}

/// The text in one line, however wide it was printed.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_full_log_ends_the_recording_and_not_the_program() {
    if !is_ready() {
        return;
    }
    let (program, trace) = (build("long_log.c"), folder("trace").join("long.ftr").display().to_string());
    let limit = ["--log-limit", "1M"];
    let recorded =
        run("record", &[&["record", "-o", &trace], &limit[..], &["--", &program, MANY]].concat(), None);
    assert_eq!(recorded.code, Some(2), "what was recorded is not all: {}", recorded.err);
    assert!(recorded.out.contains("all of 120000 rounds were made"), "{}", recorded.out);
    let err = flat(&recorded.err);
    assert!(err.contains("the recording ends here, because the log is full"), "{err}");
    assert!(err.contains("cut short: the log reached --log-limit 1M"), "{err}");
    let ran = run("run", &[&["run", "--no-progress"], &limit[..], &["--", &program, MANY]].concat(), None);
    let out = flat(&ran.out);
    assert_eq!(ran.code, Some(1), "{out}");
    assert!(out.contains("race 1: racy") && out.contains("the log reached --log-limit 1M"), "{out}");
    let hunt = ["hunt", "--runs", "1", "--no-progress", "--jobs", "1"];
    let hunted = run("hunt", &[&hunt[..], &limit[..], &["--", &program, MANY]].concat(), None);
    assert_eq!(hunted.code, Some(1), "{}{}", hunted.out, hunted.err);
    for (what, watched) in [("record", &recorded), ("run", &ran), ("hunt", &hunted)] {
        // Beside the log there is the page in which its bytes are counted.
        assert!(watched.disk <= (1 << 20) + (64 << 10), "{what}: {} bytes on disk", watched.disk);
    }
    let without_limit = run("nothing", &["record", "-o", &trace, "--log-limit", "10K", "--", &program], None);
    assert_eq!(without_limit.code, Some(2));
    assert!(without_limit.err.contains("a size from 1M on"), "{}", without_limit.err);
}

#[test]
fn a_long_log_is_made_a_trace_within_memory() {
    if !is_ready() {
        return;
    }
    let (program, trace) = (build("long_log.c"), folder("traces").join("long.ftr").display().to_string());
    let limits = ["--stop-after", "3s", "--memory", "96M", "--log-limit", "48M"];
    let args = [&["record", "-o", &trace], &limits[..], &["--", &program, ENDLESS]].concat();
    let watched = run("memory", &args, None);
    let err = flat(&watched.err);
    assert_eq!(watched.code, Some(2), "{err}");
    assert!(watched.memory <= 96 << 20, "{} bytes of memory: {err}", watched.memory);
    assert!(watched.disk <= 64 << 20, "{} bytes on disk", watched.disk);
}

#[test]
fn of_a_program_without_end_the_last_part_is_kept() {
    if !is_ready() {
        return;
    }
    let program = build("unending.c");
    let args =
        ["run", "--no-progress", "--stop-after", "3s", "--log-limit", "2M", "--log-keep", "last", "--"];
    for (argument, races) in [(None, 0), (Some("race"), 1)] {
        let program: Vec<&str> = [program.as_str()].into_iter().chain(argument).collect();
        let ran = run("unending", &[&args[..], &program].concat(), None);
        let out = flat(&ran.out);
        assert!(out.contains("of the recording were dropped"), "{out}{}", ran.err);
        assert!(ran.disk <= (2 << 20) + (256 << 10), "{} bytes on disk", ran.disk);
        assert_eq!(out.matches("unprotected").count() > 0, races == 1, "{out}");
        assert!(!out.contains("race 2:") && out.contains("race 1:") == (races == 1), "{out}");
    }
    let striped = [&args[..8], &["--order", "striped", "--", &program]].concat();
    let refused = run("unending", &striped, None);
    assert!(refused.code == Some(2) && refused.err.contains("--order serial only"), "{}", refused.err);
}

#[test]
fn making_a_trace_ends_with_its_time_and_with_a_signal() {
    if !is_ready() {
        return;
    }
    let program = build("long_log.c");
    let args = ["run", "--no-progress", "--stop-after", "2s", "--log-limit", "64M"];
    let limited = run("time", &[&args[..], &["--time-limit", "1s", "--", &program, ENDLESS]].concat(), None);
    let out = flat(&limited.out);
    assert!(limited.used <= Duration::from_secs(2) + PROMPT, "{:?}: {out}", limited.used);
    assert!(matches!(limited.code, Some(1 | 2)), "{out}{}", limited.err);
    assert!(out.contains("the log was not read to its end: read"), "{out}");
    // By then the program has ended: it waits while that runs, and uses next to nothing.
    let ask = Ask { signal: "-TERM", after: Duration::from_millis(500) };
    let asked = run("signal", &[&args[..], &["--", &program, ENDLESS]].concat(), Some(ask));
    assert!(asked.used_after <= PROMPT, "{:?}: {}", asked.used_after, asked.out);
    assert!(asked.code.is_some(), "{}", asked.err);
}

#[test]
fn a_disk_that_is_full_ends_the_recording_and_not_the_program() {
    if !is_ready() {
        return;
    }
    // What is written beyond so much of a file is refused, as if the disk was full; a block has 512 bytes.
    let script = format!(
        "ulimit -f 2048; exec {} run --no-progress -- {} {MANY}",
        env!("CARGO_BIN_EXE_foretell"),
        build("long_log.c")
    );
    let ran = watch(Command::new("dash").args(["-c", &script]), &folder("full_disk"), None);
    let out = flat(&ran.out);
    assert_eq!(ran.code, Some(1), "{out}{}", ran.err);
    assert!(out.contains("all of 120000 rounds were made"), "{out}");
    assert!(out.contains("race 1: racy") && out.contains("it could not be written on:"), "{out}");
    assert!(ran.disk <= (1 << 20) + (64 << 10), "{} bytes on disk", ran.disk);
}
