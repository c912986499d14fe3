//! Nothing takes longer or more than it was allowed: reading, deciding, exploring, and telling.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use foretell_testkit::process::{descendants, interruptible, send, wait_until, wait_until_busy};
use foretell_testkit::watched::{Ask, Watched, watch};
use serde_json::Value;

use crate::{file, folder};

/// So much of a processor's time may be used after the end of the time, or after a signal.
const PROMPT: Duration = Duration::from_secs(2);

fn run(name: &str, args: &[&str], ask: Option<Ask<'_>>) -> Watched {
    let temporary = folder(&format!("{name}_temporary"));
    let watched = watch(Command::new(env!("CARGO_BIN_EXE_foretell")).args(args), &temporary, ask);
    assert!(!watched.err.contains("panicked"), "{}", watched.err);
    watched
}

/// The text in one line, however wide it was printed.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// So many threads, each started and with a variable of its own.
fn many_threads(name: &str, number: usize) -> String {
    let mut text = String::new();
    for thread in 0..number {
        writeln!(text, "main|fork(t{thread})|1\nt{thread}|w(x{thread})|{}", thread + 2).expect("memory");
    }
    file(&folder(name), "threads.std", text)
}

/// Two threads that take turns for a long time, so that nobody is done with it soon.
fn long(name: &str, rounds: usize) -> String {
    let round =
        "a|acq(l)|1\na|r(x,0)|2\na|w(x,0)|3\na|rel(l)|4\nb|acq(l)|5\nb|r(x,0)|6\nb|w(x,0)|7\nb|rel(l)|8\n";
    file(&folder(name), "long.std", format!("m|fork(a)|9\nm|fork(b)|10\n{}", round.repeat(rounds)))
}

#[test]
fn tens_of_thousands_of_threads_fit_into_memory() {
    let trace = many_threads("many_threads", 20_000);
    for technique in ["auto", "shb", "syncp", "wcp", "cp", "rv"] {
        let ran = run("many_threads", &["predict", "--memory", "256M", "-t", technique, &trace], None);
        assert_eq!(ran.code, Some(0), "{technique}: {}{}", ran.out, ran.err);
        assert!(ran.memory <= 256 << 20, "{technique}: {} bytes of memory", ran.memory);
    }
}

#[test]
fn where_memory_ends_there_is_a_word_and_no_crash() {
    let trace = long("no_memory", 200_000);
    // What can be decided in shards fits.
    let ran = run("no_memory", &["predict", "--memory", "96M", "-t", "rv", &trace], None);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.memory <= 96 << 20, "{} bytes of memory", ran.memory);
    let ran = run("no_memory", &["predict", "--memory", "96M", "-t", "seqcheck", &trace], None);
    assert!(ran.memory <= 96 << 20, "{} bytes of memory", ran.memory);
    assert!(matches!(ran.code, Some(2 | 3)), "{:?} {}{}", ran.code, ran.out, ran.err);
    assert!(flat(&(ran.out + &ran.err)).contains("memory"), "it says why");
    let foretell = env!("CARGO_BIN_EXE_foretell");
    for technique in ["syncp", "cp", "rv", "auto"] {
        let script = format!("ulimit -v 250000; exec {foretell} predict --jobs 2 -t {technique} {trace}");
        let ran = watch(Command::new("sh").args(["-c", &script]), &folder("no_addresses"), None);
        assert!(matches!(ran.code, Some(0..=3)), "{technique}: {:?} {}{}", ran.code, ran.out, ran.err);
    }
}

#[test]
fn when_time_ends_it_is_told_how_much_was_not_read() {
    let trace = long("no_time", 250_000);
    let ran = run("no_time", &["predict", "-t", "wcp", "--time-limit", "0.05s", &trace], None);
    let out = flat(&ran.out);
    assert_eq!(ran.code, Some(3), "{out}{}", ran.err);
    assert!(out.contains("the time limit of 0.05s was reached"), "{out}");
    let told = out
        .split_once("the trace was not read to its end: read ")
        .map(|(_, rest)| rest.split_once(" of about "));
    let Some(Some((read, rest))) = told else { panic!("{out}") };
    let number = |text: &str| text.replace(',', "").parse::<u64>().expect("a number");
    let about = number(rest.split_once(" events (").expect("how much that is").0);
    assert!(number(read) < about && about < 4_000_000, "there are 2,000,002: {out}");
    assert!(ran.used <= PROMPT, "{:?}", ran.used);
}

#[test]
fn signals_are_heeded_while_reading_deciding_and_exploring() {
    let trace = long("signals", 250_000);
    let commands: [&[&str]; 4] = [
        &["predict", "-t", "wcp", "--time-limit", "none"],
        &["predict", "-t", "rv", "--time-limit", "none"],
        &["explore", "--time-limit", "none", "--memory", "64M"],
        &["compare", "-t", "shb,rv", "--time-limit", "none"],
    ];
    for command in commands {
        for signal in ["-TERM", "-INT"] {
            let ask = Ask { signal, after: Duration::from_millis(300) };
            let ran = run("signals", &[command, &[&trace]].concat(), Some(ask));
            assert!(ran.used_after <= PROMPT, "{command:?} {signal}: {:?}", ran.used_after);
            assert!(matches!(ran.code, Some(0..=3)), "{command:?} {signal}: {:?} {}", ran.code, ran.err);
        }
    }
}

/// Converting reads and writes at once: it keeps little in memory, ends with a signal, and leaves no part of a trace.
#[test]
fn converting_keeps_to_memory_and_ends_with_a_signal() {
    let (trace, target) = (long("convert", 600_000), folder("converted"));
    for name in ["long.std.gz", "long.json"] {
        let output = target.join(name).display().to_string();
        let ask = Ask { signal: "-TERM", after: Duration::from_millis(200) };
        let asked = run("convert", &["trace", "convert", "-o", &output, &trace], Some(ask));
        assert!(asked.used_after <= PROMPT, "{name}: {:?}", asked.used_after);
        assert_eq!(asked.code, Some(2), "{name}: {}{}", asked.out, asked.err);
        assert!(
            flat(&asked.err).contains("interrupted; nothing is written, although"),
            "{name}: {}",
            asked.err
        );
        assert_eq!(fs::read_dir(&target).map(Iterator::count).ok(), Some(0), "{name}: nothing is left");
    }
    let output = target.join("long.ftr").display().to_string();
    let whole = run("convert", &["trace", "convert", "-o", &output, &trace], None);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    assert!(whole.memory <= 64 << 20, "{} bytes of memory", whole.memory);
}

/// Two threads whose writes all race with each other: so many pairs that a report of all of them takes seconds to
/// write.
fn many_races(name: &str, writes: usize) -> String {
    let text: String = (0..writes).map(|number| format!("T{}|w(x)|{number}\n", number % 2)).collect();
    file(&folder(name), "races.std", text)
}

const EVERY_RACE: [&str; 8] =
    ["predict", "-t", "hb", "--pairs", "all", "--max-races", "all", "--no-progress"];

/// What was written, which is whole: nothing else is beside it, and it ends as such files do.
fn whole_report(path: &Path) -> String {
    let beside = fs::read_dir(path.parent().expect("a folder")).expect("a folder");
    let unfinished = beside.flatten().filter(|entry| entry.path().extension().is_some_and(|it| it == "part"));
    assert_eq!(unfinished.count(), 0, "{}", path.display());
    let text = fs::read_to_string(path).expect("a report");
    let is_whole = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "sarif") => serde_json::from_str::<Value>(&text).is_ok(),
        Some("xml") => text.ends_with("</testsuites>\n"),
        Some("html") => text.ends_with("</html>\n"),
        _ => text.ends_with('\n'),
    };
    assert!(is_whole, "{}: {}", path.display(), &text[text.len().saturating_sub(200)..]);
    text
}

#[test]
fn a_report_that_is_cut_while_it_is_written_is_whole_and_says_so() {
    let trace = many_races("cut_reports", 900);
    let out = folder("cut_reports_out");
    for name in ["report.xml", "report.sarif", "report.txt"] {
        let path = out.join(name);
        let args = [&EVERY_RACE[..], &["--time-limit", "none", "-o", path.to_str().expect("a path"), &trace]];
        for signal in ["-TERM", "-INT"] {
            let _ = fs::remove_file(&path);
            // By then everything is found.
            let ask = Ask { signal, after: Duration::from_millis(1200) };
            let ran = run("cut_reports_temporary", &args.concat(), Some(ask));
            assert_eq!(ran.code, Some(1), "{name} {signal}: {}", ran.err);
            assert!(ran.used_after <= PROMPT, "{name} {signal}: {:?}", ran.used_after);
            if ran.used_after == Duration::ZERO {
                // It was quicker than we are.
                continue;
            }
            let text = flat(&whole_report(&path));
            let said = "this report was cut while it was written (interrupted)";
            let is_whole = !ran.err.contains("the report was cut while it was written");
            assert!(is_whole || text.contains(said), "{name} {signal}: {}", &text[..text.len().min(2000)]);
            assert!(is_whole || text.contains("proven races are not listed at all"), "{name}");
        }
    }
}

#[test]
fn who_is_to_end_does_not_wait_for_readers() {
    let trace = many_races("no_reader", 500);
    let mut child = interruptible(env!("CARGO_BIN_EXE_foretell"))
        .args([&EVERY_RACE[..], &["--format", "json", &trace]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("foretell runs");
    wait_until_busy(child.id(), Duration::from_millis(100));
    // Once the pipe is full, it sleeps.
    let sleeps = |process: u32| {
        let wait = fs::read_to_string(format!("/proc/{process}/wchan")).unwrap_or_default();
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        wait.contains("pipe") || (wait == "0" && state.contains(") S "))
    };
    wait_until("nobody reads", || descendants(child.id()).into_iter().any(sleeps));
    send("TERM", child.id());
    let status = child.wait().expect("foretell ends");
    assert!(matches!(status.code(), Some(130 | 143)), "{status:?}");
}

#[test]
fn explaining_ends_with_a_signal_and_keeps_to_memory() {
    let folder = folder("explained");
    let trace = long("explained_trace", 250_000);
    let text = fs::read_to_string(&trace).expect("a trace") + "a|w(y)|11\nb|w(y)|12\n";
    let trace = file(&folder, "long.std", text);
    let report = folder.join("report.json").display().to_string();
    let found = run("explained_found", &["predict", "-t", "shb", "-o", &report, &trace], None);
    assert_eq!(found.code, Some(1), "{}", found.err);
    let explain = ["explain", &report, "--race", "1"];
    let ran = run("explained_ran", &[&explain[..], &["--memory", "512M"]].concat(), None);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.memory <= 512 << 20, "{} bytes of memory", ran.memory);
    for signal in ["-TERM", "-INT"] {
        let ask = Ask { signal, after: Duration::from_millis(200) };
        let ran = run("explained_asked", &explain, Some(ask));
        assert!(ran.used_after <= PROMPT, "{signal}: {:?}", ran.used_after);
        assert!(matches!(ran.code, Some(0..=3)), "{signal}: {:?} {}", ran.code, ran.err);
    }
}
