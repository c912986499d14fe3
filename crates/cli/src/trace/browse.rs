//! `foretell trace view` in a terminal: keys in, screens out. What they mean is decided in `foretell-view`.

use std::env;
use std::io::{self, IsTerminal};
use std::panic;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use foretell_engine::Excerpts as _;
use foretell_trace::{Ending, TraceError};
use foretell_view::draw::{Theme, draw};
use foretell_view::{Browser, Flow, Key};
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{DefaultTerminal, Terminal, backend::CrosstermBackend};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::Failure;
use crate::input::TraceFile;
use crate::sources::Sources;
use crate::{Outcome, output};

/// How long to wait for a key before checking for signals.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long the process may take to end.
const GRACE: Duration = Duration::from_secs(1);
/// How long to work before the screen is drawn again.
const PIECE: Duration = Duration::from_millis(40);

/// What `--report` needs, where it cannot be had.
pub(crate) const REPORT_NEEDS: &str = "--report needs a terminal, to browse in";

/// Whether there is a terminal that one can browse in.
pub(crate) fn is_possible() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_some_and(|terminal| terminal != "dumb")
}

pub(crate) fn run(input: &TraceFile, report: Option<&Path>) -> Result<Outcome, Failure> {
    let reports = report.map(super::reports).transpose()?;
    let trace = input.load("reads").map_err(with_advice)?;
    let mut sources = Sources::new(input);
    let lines = move |location: &str| sources.excerpt(location)?.line_of(location);
    let mut browser = Browser::new(&trace, input.name(), Box::new(lines));
    if let Some(reports) = reports {
        browser = browser.with_races(reports.races(&trace).map_err(Failure::Usage)?);
    }
    let theme = Theme { colours: env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) };
    let failed = |error| Failure::file(Path::new("the terminal"), "use", error);
    Screen::open().and_then(|mut screen| browse(&mut browser, theme, &mut screen)).map_err(failed)?;
    if trace.ending() == Ending::CutShort {
        output::note(&format!(
            "{}: the recording was cut short after event {}",
            input.name(),
            trace.events().len()
        ));
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Clean)
}

/// A trace that no program could have produced cannot be browsed, but it can be looked at.
fn with_advice(failure: Failure) -> Failure {
    match failure {
        Failure::Trace { error: TraceError::Malformed { .. }, .. } => {
            Failure::Program(format!("{failure}\n`foretell trace view --list` prints the events as they are"))
        }
        other => other,
    }
}

/// Shows the browser until the user quits, or a signal comes.
fn browse(browser: &mut Browser<'_>, theme: Theme, screen: &mut Screen) -> io::Result<()> {
    loop {
        screen.show(browser, theme)?;
        let begin = Instant::now();
        while browser.is_busy() && begin.elapsed() < PIECE && !event::poll(Duration::ZERO)? {
            browser.work();
        }
        let patience = if browser.is_busy() { Duration::ZERO } else { PATIENCE };
        // All keys that are there already go before the next screen.
        let mut is_there = event::poll(patience)?;
        while is_there {
            if let Some(key) = key_of(&event::read()?)
                && browser.key(key) == Flow::Quit
            {
                return Ok(());
            }
            is_there = event::poll(Duration::ZERO)?;
        }
        if screen.is_to_close() {
            return Ok(());
        }
    }
}

/// The terminal, which gets back its former state whatever happens.
struct Screen {
    terminal: DefaultTerminal,
    /// Set when a signal wants us to end.
    end: Arc<AtomicBool>,
}

impl Screen {
    fn open() -> io::Result<Screen> {
        let end = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&end))?;
        }
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
        // From here on there is something to restore, even if not all goes well.
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        watch(Arc::clone(&end));
        let screen = Screen { terminal, end };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)?;
        Ok(screen)
    }

    fn show(&mut self, browser: &mut Browser<'_>, theme: Theme) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            browser.resize(area.width.into(), area.height.into());
            draw(browser, theme, frame.buffer_mut());
        })?;
        Ok(())
    }

    fn is_to_close(&self) -> bool {
        self.end.load(Ordering::SeqCst)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        // Whatever is said next must be seen.
        let _ = self.terminal.show_cursor();
    }
}

/// Ends the process if a signal asks for that and it does not end: a read from a terminal that is gone blocks for ever.
fn watch(end: Arc<AtomicBool>) {
    thread::spawn(move || {
        while !end.load(Ordering::SeqCst) && io::stdout().is_terminal() {
            thread::sleep(PATIENCE);
        }
        thread::sleep(GRACE);
        restore();
        std::process::exit(0);
    });
}

/// Undoes what [`Screen::open`] did. Errors have nowhere to go: the terminal may be gone.
fn restore() {
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

fn key_of(event: &Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(*key),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Some(Key::WheelUp),
            MouseEventKind::ScrollDown => Some(Key::WheelDown),
            _ => None,
        },
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Control(letter.to_ascii_lowercase())
        }
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab | KeyCode::BackTab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
