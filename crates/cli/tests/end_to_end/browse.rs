//! `trace view` in a real terminal, which `script` provides.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use vt100::Parser;

use crate::{file, folder, foretell, repository};

const LINES: NonZeroU16 = NonZeroU16::new(24).expect("some lines");
const COLUMNS: NonZeroU16 = NonZeroU16::new(80).expect("some columns");
/// Machines that run tests are busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal, in which a shell runs foretell between two looks at how the terminal is set.
struct Session {
    child: Child,
    keyboard: ChildStdin,
    output: Receiver<Vec<u8>>,
    screen: Parser,
    /// All that was sent to the terminal.
    sent: Vec<u8>,
}

impl Session {
    fn new(arguments: &str) -> Session {
        let foretell = env!("CARGO_BIN_EXE_foretell");
        Session::of(&format!("'{foretell}' {arguments}"))
    }

    fn of(command: &str) -> Session {
        let shell = format!(
            "stty rows {LINES} cols {COLUMNS}; stty -g | cksum; {command}; echo code $?; stty -g | cksum; echo over"
        );
        let mut child = Command::new("script")
            .args(["--quiet", "--command", &shell, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("script runs");
        let keyboard = child.stdin.take().expect("a keyboard");
        let mut terminal = child.stdout.take().expect("a terminal");
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = terminal.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Session { child, keyboard, output, screen: Parser::new(LINES, COLUMNS, 0), sent: Vec::new() }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("keys");
        self.keyboard.flush().expect("keys");
    }

    /// Waits until the screen shows this.
    fn see(&mut self, expected: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.screen.screen().contents().contains(expected) {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                panic!("`{expected}` is not seen on\n{}", self.screen.screen().contents());
            };
            self.screen.process(&bytes);
            self.sent.extend(bytes);
        }
    }

    /// Waits for the end, and checks that the terminal is as it was.
    fn see_it_restored(mut self, code: &str) {
        self.see("over");
        let screen = self.screen.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let shown = screen.contents();
        let lines: Vec<&str> = shown.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let [before, .., told, after, "over"] = lines[..] else { panic!("{shown}") };
        assert_eq!((before, told), (after, code), "{shown}");
        drop(self.keyboard);
        self.child.wait().expect("script ends");
    }
}

fn bank() -> String {
    repository().join("examples/bank.std").to_str().expect("a plain path").to_string()
}

#[test]
fn a_trace_is_browsed_searched_and_left() {
    let folder = folder("a_trace_is_browsed");
    let report = folder.join("report.json");
    let report = report.to_str().expect("a plain path");
    assert_eq!(foretell(&["predict", "--format", "json", "-o", report, &bank()]).code, 1);
    let mut session = Session::new(&format!("trace view '{}' --report '{report}'", bank()));
    session.see("event 1 of 17");
    session.press("/balance\r");
    session.see("event 6 of 17");
    session.press("n");
    session.see("teller writes balance = 100 at bank.c:14");
    session.press("r");
    session.see("race 1 of 1");
    session.press("o");
    session.see("witness of race 1");
    session.press("?");
    session.see("previous, next event");
    session.press("qq");
    session.see_it_restored("code 0");
}

#[test]
fn control_c_leaves_the_terminal_as_it_was() {
    let mut session = Session::new(&format!("trace view '{}'", bank()));
    session.see("event 1 of 17");
    session.press("\u{3}");
    session.see_it_restored("code 0");
}

/// A session, and the number of the process that browses in it.
fn numbered(name: &str, before: &str) -> (Session, String) {
    let number = folder(name).join("number");
    let foretell = env!("CARGO_BIN_EXE_foretell");
    let command = format!("sh -c '{before} echo $$ >\"$0\"; exec \"$@\"'");
    let mut session =
        Session::of(&format!("{command} '{}' '{foretell}' trace view '{}'", number.display(), bank()));
    session.see("event 1 of 17");
    let number = std::fs::read_to_string(number).expect("the number of the process");
    (session, number.trim().to_string())
}

#[test]
fn whoever_is_told_to_end_leaves_the_terminal_as_it_was() {
    let (session, number) = numbered("whoever_is_told_to_end", "");
    let told = Command::new("kill").args(["-TERM", &number]).status().expect("kill runs");
    assert!(told.success());
    session.see_it_restored("code 0");
}

#[test]
fn whoever_browses_ends_with_the_terminal() {
    for before in ["", "trap \"\" HUP;"] {
        let (mut session, number) = numbered("whoever_browses_ends", before);
        session.child.kill().expect("the terminal is gone");
        session.child.wait().expect("script ends");
        let end = Instant::now() + PATIENCE;
        let state = || std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        while state().contains("(foretell)") && !state().contains(") Z") {
            assert!(Instant::now() < end, "it goes on without a terminal");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn names_do_nothing_to_the_terminal() {
    let folder = folder("names_do_nothing");
    let trace = file(&folder, "evil.std", "\u{1b}]0;evil\u{7}|w(\u{1b}[2J\u{9b}5m)|\u{1b}c\n");
    let mut session = Session::new(&format!("trace view '{trace}'"));
    session.see("event 1 of 1");
    session.see("writes \\u{1b}[2J\\u{9b}5m");
    session.press("q");
    session.see("over");
    let sent = String::from_utf8_lossy(&session.sent).into_owned();
    for raw in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{1b}c"] {
        assert!(!sent.contains(raw), "{raw:?} was sent");
    }
    session.see_it_restored("code 0");
}

#[test]
fn a_terminal_gets_a_listing_if_it_asks_for_one() {
    for option in ["--list", "--from 2", "--count 5"] {
        let mut session = Session::new(&format!("trace view {option} '{}'", bank()));
        session.see("fork(auditor)");
        session.see_it_restored("code 0");
    }
}

#[test]
fn what_cannot_be_browsed_can_still_be_printed() {
    let folder = folder("what_cannot_be_browsed");
    let trace = file(&folder, "wrong.std", "A|rel(l)|1\n");
    let mut session = Session::new(&format!("trace view '{trace}'"));
    session.see("trace view --list");
    session.see_it_restored("code 2");
}
