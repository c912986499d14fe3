//! The browser as its users meet it: keys in, screens out.

mod any_keys;
mod keys;
mod screens;
mod timeline;

use foretell_trace::Trace;
use foretell_view::draw::{Theme, draw};
use foretell_view::races::Reports;
use foretell_view::{Browser, Flow, Key};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// Two threads with nested and crossing locks, a race, functions, an atomic flag, and a third thread that is idle.
const BANK: &str = "\
main|fork(teller)|bank.c:40
main|fork(auditor)|bank.c:41
teller|begin|bank.c:10
teller|w(note,1)|bank.c:12
teller|enter(deposit)|bank.c:13
teller|acq(lock)|bank.c:20
teller|r(balance,0)|bank.c:21
teller|acq(log)|bank.c:22
teller|w(balance,100)|bank.c:23
teller|rel(lock)|bank.c:24
teller|rel(log)|bank.c:25
teller|exit(deposit)|bank.c:26
teller|astore.rel(done,1)|bank.c:15
teller|end|bank.c:16
auditor|begin|bank.c:30
auditor|racq(lock)|bank.c:32
auditor|r(balance,100)|bank.c:33
auditor|rrel(lock)|bank.c:34
auditor|aload.acq(done,1)|bank.c:35
auditor|r(note,1)|bank.c:36
auditor|end|bank.c:37
main|join(teller)|bank.c:43
main|join(auditor)|bank.c:44
";

/// A report on [`BANK`] with one race.
const REPORT: &str = r#"{"tool":"foretell","technique":"rv","trace":{"file":"bank.std","events":23,"threads":3},
 "races":[{"first":{"event":4,"thread":"teller","op":"w","target":"note","location":"bank.c:12"},
           "second":{"event":20,"thread":"auditor","op":"r","target":"note","location":"bank.c:36"},
           "witness":[1,2,3,15,16,17,18,19,4,20]},
          {"first":{"event":9,"thread":"teller","op":"w","target":"balance","location":"bank.c:23"},
           "second":{"event":17,"thread":"auditor","op":"r","target":"balance","location":"bank.c:33"}}]}"#;

fn bank() -> Trace {
    foretell_testkit::trace(BANK)
}

fn browser(trace: &Trace) -> Browser<'_> {
    let source = |location: &str| (location == "bank.c:12").then(|| "    note = 1;".to_string());
    Browser::new(trace, "bank.std", Box::new(source))
}

fn browser_with_races(trace: &Trace) -> Browser<'_> {
    let races = Reports::parse(REPORT).expect("a report").races(trace).expect("races of the trace");
    browser(trace).with_races(races)
}

/// Presses keys: characters as they are, and names in angle brackets. All work is done before the next key.
fn press(browser: &mut Browser<'_>, keys: &str) -> Flow {
    let mut flow = Flow::Continue;
    for key in keys_of(keys) {
        flow = browser.key(key);
        while browser.is_busy() {
            browser.work();
        }
    }
    flow
}

fn keys_of(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (key, after) = match named {
            Some(("enter", after)) => (Key::Enter, after),
            Some(("esc", after)) => (Key::Escape, after),
            Some(("tab", after)) => (Key::Tab, after),
            Some(("pgdn", after)) => (Key::PageDown, after),
            Some(("back", after)) => (Key::Backspace, after),
            Some(("down", after)) => (Key::Down, after),
            Some(("ctrl-c", after)) => (Key::Control('c'), after),
            Some((other, _)) => panic!("no key {other}"),
            None => (Key::Char(first), &rest[first.len_utf8()..]),
        };
        keys.push(key);
        rest = after;
    }
    keys
}

/// The number of the current event; 0 if there is none.
fn at(browser: &Browser<'_>) -> u32 {
    browser.current().map_or(0, foretell_trace::EventId::number)
}

/// What is on a screen of this size.
fn screen(browser: &mut Browser<'_>, width: u16, height: u16) -> String {
    browser.resize(width.into(), height.into());
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let theme = Theme { colours: true };
    terminal.draw(|frame| draw(browser, theme, frame.buffer_mut())).expect("a screen");
    let buffer = terminal.backend().buffer();
    let line = |y: u16| -> String {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_string()
    };
    (0..height).map(|y| line(y) + "\n").collect()
}
