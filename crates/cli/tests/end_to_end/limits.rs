//! Nothing takes longer or more than it was allowed: reading, deciding, exploring, and telling.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use foretell_testkit::watched::{Ask, Watched, watch};

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
    let ran = run("no_memory", &["predict", "--memory", "96M", "-t", "rv", &trace], None);
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
