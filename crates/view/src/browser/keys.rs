//! What each key does.

use super::{Ask, Browser, Flow, Mode};
use crate::seek::Direction;

/// A key, or a turn of the mouse wheel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "keys are what they are called")]
pub enum Key {
    Char(char),
    Control(char),
    Enter,
    Escape,
    Tab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    WheelUp,
    WheelDown,
}

/// What a turn of the wheel moves by.
const WHEEL: isize = 3;

/// What can be typed at most.
const LONGEST: usize = 200;

/// A part of the help: its title, and keys with what they do. A line without keys continues the one above.
pub type Chapter = (&'static str, &'static [(&'static str, &'static str)]);

/// All keys, for people.
pub const HELP: [Chapter; 7] = [
    (
        "Moving",
        &[
            ("↑ ↓ k j", "previous, next event"),
            ("PgUp PgDn", "a page up, down (also Ctrl-B, Ctrl-F, Space)"),
            ("Ctrl-U Ctrl-D", "half a page up, down"),
            ("g G", "first, last event (also Home, End)"),
            ("← → h l", "threads further left, right"),
            (": 0…9", "go to the event with this number"),
            ("b", "back to where the last jump began"),
        ],
    ),
    (
        "Jumps from the current event",
        &[
            ("[ ]", "previous, next access of the same variable"),
            ("{ }", "previous, next event of the same thread"),
            ("w", "from a read to the write that it sees,"),
            ("", "from a write to the first read that sees it"),
            ("%", "the counterpart: lock and unlock, enter and exit,"),
            ("", "start and first event, last event and join;"),
            ("", "otherwise the acquire of the innermost lock"),
        ],
    ),
    (
        "Searching",
        &[
            ("/", "search for text, or for (part of) a name:"),
            ("", "var:x lock:x loc:x thread:x fn:x value:x op:x,"),
            ("", "with = instead of : for a whole name"),
            ("n N", "next, previous match"),
            ("f", "show only matches, or all events again"),
            ("Esc", "stop a long search; then show all"),
            ("", "events again; then clear the search"),
        ],
    ),
    (
        "Threads",
        &[
            ("x X", "hide the thread of this event, show all threads"),
            ("t", "list of threads: Space hides and shows,"),
            ("", "a all, i the others, Enter done"),
        ],
    ),
    (
        "Races (with --report)",
        &[
            ("r R", "next, previous race"),
            ("Tab", "the other access of the race"),
            ("a", "list of races"),
            ("o", "the order of the witness, or the recorded order"),
            ("", "`foretell predict --format json -o report.json T`"),
            ("", "writes a report for `view T --report report.json`"),
        ],
    ),
    (
        "Signs",
        &[
            ("┌ │ └", "a lock is acquired, held, released"),
            ("├ ┆", "acquired or released again; held as a reader"),
            ("» •", "access of the current race, of another race"),
            ("◂ ▸", "the event is in a lane further left, right"),
        ],
    ),
    (
        "Other",
        &[
            ("c", "operations as in the text format, or in words"),
            ("?", "this help"),
            ("q", "quit (also Ctrl-C)"),
        ],
    ),
];

/// How many lines the help has.
pub(crate) fn help_lines() -> usize {
    HELP.iter().map(|(_, keys)| 1 + keys.len()).sum()
}

impl Browser<'_> {
    /// A key is pressed.
    pub fn key(&mut self, key: Key) -> Flow {
        self.message.clear();
        if key == Key::Control('c') {
            return Flow::Quit;
        }
        // A key press ends the wait.
        let searched = self.seek.take().is_some();
        let flow = match self.mode.clone() {
            Mode::Browse if searched && key == Key::Escape => {
                self.message = "search ended".to_string();
                Flow::Continue
            }
            Mode::Browse => self.browse(key),
            Mode::Prompt(ask, text) => self.type_in(ask, text, key),
            Mode::Help(top) => self.read_help(top, key),
            Mode::Threads(at) => self.choose_threads(at, key),
            Mode::Races(at) => self.choose_race(at, key),
        };
        // What is quickly done is done at once.
        self.work();
        flow
    }

    fn browse(&mut self, key: Key) -> Flow {
        let page = isize::try_from(self.layout().rows.max(1)).unwrap_or(1);
        match key {
            Key::Char('q') => return Flow::Quit,
            Key::Up | Key::Char('k') => self.move_by(-1),
            Key::Down | Key::Char('j') | Key::Enter => self.move_by(1),
            Key::WheelUp => self.move_by(-WHEEL),
            Key::WheelDown => self.move_by(WHEEL),
            Key::PageUp | Key::Control('b') => self.move_by(-page),
            Key::PageDown | Key::Control('f') | Key::Char(' ') => self.move_by(page),
            Key::Control('u') => self.move_by(-(page / 2).max(1)),
            Key::Control('d') => self.move_by((page / 2).max(1)),
            Key::Home | Key::Char('g') => self.jump_to_row(0),
            Key::End | Key::Char('G') => self.jump_to_row(usize::MAX),
            Key::Left | Key::Char('h') => self.lane = self.lane.saturating_sub(1),
            Key::Right | Key::Char('l') => {
                self.lane = self.lane.saturating_add(1);
                self.keep_in_sight();
            }
            Key::Escape => self.forget_search(),
            Key::Tab => self.other_access(),
            Key::Backspace => self.back(),
            Key::Char(character) => self.browse_by_letter(character),
            Key::Control(_) => {}
        }
        Flow::Continue
    }

    fn browse_by_letter(&mut self, letter: char) {
        match letter {
            '/' => self.mode = Mode::Prompt(Ask::Search, String::new()),
            ':' => self.mode = Mode::Prompt(Ask::Event, String::new()),
            '0'..='9' => self.mode = Mode::Prompt(Ask::Event, letter.to_string()),
            '?' => self.mode = Mode::Help(0),
            'b' => self.back(),
            '[' => self.same_variable(Direction::Backward),
            ']' => self.same_variable(Direction::Forward),
            '{' => self.same_thread(Direction::Backward),
            '}' => self.same_thread(Direction::Forward),
            'w' => self.read_or_written(),
            '%' => self.other_half(),
            'n' => self.next_match(Direction::Forward),
            'N' => self.next_match(Direction::Backward),
            'f' => self.toggle_only_found(),
            't' => self.mode = Mode::Threads(self.current().map_or(0, |id| self.event(id).thread.index())),
            'x' => self.hide_current(),
            'X' => self.show_all_threads(),
            'r' => self.next_race(Direction::Forward),
            'R' => self.next_race(Direction::Backward),
            'a' => self.list_races(),
            'o' => self.toggle_witness(),
            'c' => self.brief = !self.brief,
            _ => {}
        }
    }

    fn type_in(&mut self, ask: Ask, mut text: String, key: Key) -> Flow {
        match key {
            Key::Enter => {
                self.mode = Mode::Browse;
                match ask {
                    Ask::Search => self.search(&text),
                    Ask::Event => self.go_to_number(&text),
                }
                return Flow::Continue;
            }
            Key::Backspace if text.is_empty() => {
                self.mode = Mode::Browse;
                return Flow::Continue;
            }
            Key::Escape => {
                self.mode = Mode::Browse;
                return Flow::Continue;
            }
            Key::Backspace => drop(text.pop()),
            Key::Control('u') => text.clear(),
            Key::Char(character) if text.len() < LONGEST && !character.is_control() => text.push(character),
            _ => {}
        }
        self.mode = Mode::Prompt(ask, text);
        Flow::Continue
    }

    fn read_help(&mut self, top: usize, key: Key) -> Flow {
        self.mode = match moved(top, help_lines(), self.height, key) {
            Some(top) => Mode::Help(top),
            None => Mode::Browse,
        };
        Flow::Continue
    }
}

/// Where a key moves the mark of a list of so many entries; `None` if it does not move it.
pub(super) fn moved(at: usize, entries: usize, page: usize, key: Key) -> Option<usize> {
    let to = match key {
        Key::Up | Key::Char('k') | Key::WheelUp => at.saturating_sub(1),
        Key::Down | Key::Char('j') | Key::WheelDown => at.saturating_add(1),
        Key::PageUp | Key::Control('b') => at.saturating_sub(page),
        Key::PageDown | Key::Control('f') => at.saturating_add(page),
        Key::Home | Key::Char('g') => 0,
        Key::End | Key::Char('G') => usize::MAX,
        _ => return None,
    };
    Some(to.min(entries.saturating_sub(1)))
}
