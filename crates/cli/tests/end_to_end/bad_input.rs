//! Whatever is fed to foretell: a clear error and exit code 2, never a panic, never an answer.

use flate2::write::GzEncoder;
use std::io::Write as _;

use crate::{Ran, file, folder, foretell, foretell_with_input};

const COMMANDS: [&[&str]; 6] = [
    &["predict"],
    &["compare"],
    &["trace", "check"],
    &["trace", "stats"],
    &["trace", "convert", "--to", "text", "--output", "/dev/null"],
    VIEW,
];

const VIEW: &[&str] = &["trace", "view", "--count", "all"];

/// Every command refuses the file, and says why with the name of the file.
fn refused(path: &str, why: &str) {
    refused_by(&COMMANDS, path, why);
}

fn refused_by(commands: &[&[&str]], path: &str, why: &str) {
    for &command in commands {
        let ran = foretell(&[command, &[path]].concat());
        assert_refused(&ran, why, &format!("{command:?} {path}"));
        let named = ran.err.contains(path) || ran.out.contains(path);
        assert!(named, "{command:?}: the file is not named in {}", ran.err);
    }
}

fn assert_refused(ran: &Ran, why: &str, what: &str) {
    assert_eq!(ran.code, 2, "{what}: {}{}", ran.out, ran.err);
    let said = format!("{}{}", ran.err, ran.out);
    assert!(said.contains(why), "{what}: `{why}` is not in: {said}");
}

#[test]
fn text_that_is_no_trace() {
    let folder = folder("text_that_is_no_trace");
    refused(&file(&folder, "empty.std", ""), "empty");
    refused(&file(&folder, "comments.std", "# only\n\n# comments\n"), "empty");
    refused(&file(&folder, "garbage.std", "T1|w(x)|1\nhello, world\n"), "garbage.std:2:13: expected `|`");
    refused(
        &file(&folder, "operation.std", "T1|w(x)|1\nT1|frob(x)|2\n"),
        "operation.std:2:4: expected an operation",
    );
    refused(&file(&folder, "place.std", "T1|w(x)\n"), "place.std:1:8: expected `|` and a location");
    refused(&file(&folder, "nowhere.std", "T1|w(x)|\n"), "nowhere.std:1:9: expected a location");
    refused(&file(&folder, "thread.std", "|w(x)|1\n"), "thread.std:1:1: expected the name of a thread");
    refused(
        &file(&folder, "blank.std", "T1|w(x)|1\nT1 |w(x)|1\n"),
        "blank.std:2:1: expected the name of a thread without",
    );
    refused(&file(&folder, "value.std", "T1|w(x,)|1\n"), "value.std:1:8: expected a value");
    refused(&file(&folder, "bytes.std", b"T1|w(\xff\xfe)|1\n"), "not valid UTF-8");
}

#[test]
fn events_that_no_program_makes() {
    let folder = folder("events_that_no_program_makes");
    let refused = |name: &str, text: &str, why: &str| {
        let path = file(&folder, name, text);
        refused_by(&COMMANDS[..5], &path, why);
        // Viewing it must still be possible: how else would anybody find out what is wrong?
        assert_eq!(foretell(&[VIEW, &[&path]].concat()).code, 0);
    };
    let release = "# first line\nT1|w(x)|1\nT1|rel(l)|2\n";
    refused("release.std", release, "release.std:3");
    refused("release.std", release, "T1 releases l, which it does not hold");
    refused("join.std", "T1|w(x)|1\nT1|join(T9)|2\n", "neither forked nor seen");
    refused("held.std", "T1|acq(l)|1\nT2|acq(l)|2\n", "T2 acquires l while T1 holds it since event 1");
    refused("again.std", "T1|fork(T2)|1\nT2|w(x)|2\nT1|fork(T2)|3\n", "forked again");
    refused("order.std", "T1|aload.rel(x)|1\n", "an atomic read cannot release");
}

#[test]
fn input_that_ends_too_early() {
    let folder = folder("input_that_ends_too_early");
    let text: String = (0..10_000).map(|number| format!("T{}|w(x{number})|{number}\n", number % 3)).collect();
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    refused(&file(&folder, "short.std.gz", &gzip[..gzip.len() / 2]), "ends in the middle");
    let zstd = zstd::encode_all(text.as_bytes(), 3).expect("memory");
    refused(&file(&folder, "short.std.zst", &zstd[..zstd.len() / 2]), "ends in the middle");
}

#[test]
fn a_program_is_no_trace() {
    let program = file(&folder("a_program_is_no_trace"), "program.cimp", "shared x; { x := 1; }\n");
    refused(&program, "is a program, not a trace; `foretell run` runs it");
    let ran = foretell(&["predict", "--from-format", "text", &program]);
    assert_refused(&ran, "program.cimp:1:", "a program that is said to be a trace");
}

#[test]
fn a_recording_that_was_cut_short_is_read_up_to_the_cut_and_says_so() {
    let folder = folder("a_recording_that_was_cut_short");
    let lines = |count: u32, end: &str| {
        let body: String = (1..=count).map(|number| format!("T{}|r(x)|{number}\n", number % 2)).collect();
        file(&folder, "whole.std", format!("{body}{end}"))
    };
    let recording = folder.join("whole.ftr");
    let recording = recording.to_str().expect("a plain path");
    let record = |path: &str| {
        let ran = foretell(&["trace", "convert", path, "-o", recording]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        std::fs::read(recording).expect("a recording")
    };
    let harmless = record(&lines(100_000, ""));
    let cut = file(&folder, "cut.ftr", &harmless[..harmless.len() * 3 / 4]);
    let ran = foretell(&["predict", &cut]);
    assert_eq!(ran.code, 2, "a partly unreadable trace is not clean: {}", ran.out);
    assert!(ran.out.contains("cut short"), "{}", ran.out);
    let ran = foretell(&["predict", "--format", "json", &cut]);
    assert_eq!(ran.json()["trace"]["cut_short"], true);
    let events = ran.json()["trace"]["events"].as_u64().expect("a number");
    assert!((10_000..100_000).contains(&events), "{events} events");

    let racy = file(&folder, "racy.std", "A|w(y)|1\nB|w(y)|2\n".to_string() + &"A|r(x)|3\n".repeat(100_000));
    let racy = record(&racy);
    let cut = file(&folder, "cut-racy.ftr", &racy[..racy.len() * 3 / 4]);
    let ran = foretell(&["predict", &cut]);
    assert_eq!(ran.code, 1, "a race before the cut is a race: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("cut short"), "{}", ran.out);

    let again = folder.join("again.ftr");
    let again = again.to_str().expect("a plain path");
    let ran = foretell(&["trace", "convert", &cut, "-o", again]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cut short"), "{}", ran.err);
    assert!(foretell(&["trace", "check", again]).out.contains("cut short"), "the mark is lost");
    let text = ["trace", "convert", &cut, "--to", "text", "-o", "/dev/null"];
    assert_refused(&foretell(&text), "was cut short here", "a text that would hide the cut");
    assert!(foretell(&[&text[..], &["--lossy"]].concat()).err.contains("cut short"));

    refused(&file(&folder, "stump.ftr", &harmless[..10]), "expected");
    refused(&file(&folder, "nothing.ftr", &harmless[..1000]), "cut short before its first complete block");
    let mut damaged = harmless;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    refused(&file(&folder, "damaged.ftr", &damaged), "damaged");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let ran =
        foretell_with_input(&["predict", "--format", "json", "-"], b"\xef\xbb\xbfT1|w(x)|1\nT1|w(x)|2\n");
    assert_eq!((ran.code, &ran.json()["trace"]["threads"]), (0, &1.into()));
}

#[test]
fn conversions_that_fail_leave_what_was_there() {
    let folder = folder("conversions_that_fail");
    let good = file(&folder, "good.std", "T0|w(x)|1\n");
    let ran = foretell(&["trace", "convert", &good, "-o", &good]);
    assert_refused(&ran, "cannot be converted into itself", "the same file");
    assert_eq!(std::fs::read(&good).expect("the file is there"), b"T0|w(x)|1\n");
    let bad = file(&folder, "bad.std", "T0|w(x)|1\nT0|branch|2\n");
    let target = file(&folder, "target.csv", "precious");
    let ran = foretell(&["trace", "convert", &bad, "-o", &target]);
    assert_refused(&ran, "cannot express", "a branch");
    assert_eq!(std::fs::read(&target).expect("the file is there"), b"precious");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 3, "something was left behind");
}

#[test]
fn a_pipe_is_read_once_whatever_its_name() {
    let folder = folder("a_pipe_is_read_once");
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let writer = pipe.clone();
    let feeder = std::thread::spawn(move || std::fs::write(writer, "T1|w(x)|1\nT2|w(x)|2\n"));
    let ran = foretell(&["predict", "--technique", "auto,lockset", pipe.to_str().expect("a plain path")]);
    feeder.join().expect("the feeder ends").expect("the pipe is read");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_refused(&foretell_with_input(&["predict", "-", "-"], b"T1|w(x)|1\n"), "more than once", "twice");
}

#[test]
fn a_line_without_end() {
    let folder = folder("a_line_without_end");
    let path = file(&folder, "long.std", vec![b'x'; 100 << 20]);
    let ran = foretell(&["predict", &path]);
    assert_refused(&ran, "long.std:1: the line is longer than", "a line of 100 MB");
    std::fs::remove_file(path).expect("the file is there");
}

#[test]
fn numbers_beyond_32_bits_are_names_like_any_other() {
    let folder = folder("numbers_beyond_32_bits");
    let text = "T4294967296|w(x99999999999)|18446744073709551616\nT4294967297|w(x99999999999,340282366920938463463374607431768211456)|4294967295\n";
    let ran = foretell(&["predict", "--format", "json", &file(&folder, "large.std", text)]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let race = &ran.json()["races"][0];
    assert_eq!(race["first"]["location"], "18446744073709551616");
    assert_eq!(race["second"]["thread"], "T4294967297");
    assert_eq!(race["second"]["value"], "340282366920938463463374607431768211456");
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = folder("files_that_cannot_be_read_or_written");
    let here = folder.to_str().expect("a plain path");
    refused(&format!("{here}/missing.std"), "cannot read");
    refused(here, "cannot read");
    let good = file(&folder, "good.std", "T1|w(x)|1\n");
    let ran = foretell(&["predict", "-o", &format!("{here}/no/such/folder.json"), &good]);
    assert_refused(&ran, "cannot write", "an output that cannot be");
    let ran = foretell(&["trace", "convert", &good, "-o", &format!("{here}/out.unknown")]);
    assert_refused(&ran, "--to", "an unknown ending");
}

#[test]
fn arguments_that_make_no_sense() {
    for (args, why) in [
        (&["predict"][..], "required"),
        (&["predict", "--technique", "magic", "x.std"], "magic"),
        (&["predict", "--pairs", "some", "x.std"], "some"),
        (&["predict", "--window", "1", "x.std"], "from 2 on"),
        (&["predict", "--window", "some", "x.std"], "from 2 on"),
        (&["predict", "--jobs", "0", "x.std"], "0"),
        (&["predict", "--budget", "soon", "x.std"], "60s"),
        (&["predict", "--memory", "much", "x.std"], "8G"),
        (&["predict", "--pair", "3", "x.std"], "such as 3,10"),
        (&["predict", "--pair", "3,3", "x.std"], "two different events"),
        (&["predict", "--pair", "0,3", "x.std"], "such as 3,10"),
        (&["predict", "--pair", "1,3", "--technique", "hb", "x.std"], "hb does not decide pairs"),
        (&["frobnicate"], "frobnicate"),
        (&["trace", "convert", "x.std"], "--output"),
    ] {
        assert_refused(&foretell(args), why, &format!("{args:?}"));
    }
}

#[test]
fn nothing_on_standard_input() {
    let ran = foretell_with_input(&["predict", "-"], b"");
    assert_refused(&ran, "<stdin>", "an empty pipe");
}

#[test]
fn a_bad_trace_does_not_cost_the_reports_of_the_others() {
    let folder = folder("bad_among_good");
    let good = file(&folder, "good.std", "T1|w(x)|1\nT2|w(x)|2\n");
    let bad = file(&folder, "bad.std", "T1|rel(l)|1\n");
    for command in ["predict", "compare"] {
        let ran = foretell(&[command, &bad, &good, "--technique", "rf"]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.out.contains(&good) && !ran.out.contains(&bad), "{}", ran.out);
        assert!(ran.err.contains(&bad), "{}", ran.err);
    }
}
