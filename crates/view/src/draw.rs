//! How the browser looks. Nothing is decided here, and only what is on the screen is looked at.

mod details;
mod lanes;
mod lists;
mod pen;

use foretell_report::visible::visible;
use foretell_trace::ThreadId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::browser::{Ask, Browser, Layout, Mode};

pub use pen::Theme;
use pen::{Cut, Pen};

/// The room for the name of the trace at least.
const NAME: usize = 16;

/// Draws the screen. The browser must know its size.
pub fn draw(browser: &Browser<'_>, theme: Theme, buffer: &mut Buffer) {
    let area = buffer.area;
    let layout = browser.layout();
    let mut pen = Pen::new(buffer, area);
    let mut line = 0;
    if layout.title {
        title(browser, &mut pen);
        line += 1;
    }
    let lanes = lanes_on_screen(browser, layout);
    if layout.head {
        lanes::head(browser, layout, &lanes, line, &mut pen);
        line += 1;
    }
    lanes::rows(browser, theme, &lanes, line, &mut pen);
    line += layout.rows;
    details::draw(browser, theme, line..line + layout.details, &mut pen);
    line += layout.details;
    if layout.status {
        status(browser, theme, line, &mut pen);
    }
    lists::draw(browser, theme, inner(area), buffer);
}

fn lanes_on_screen(browser: &Browser<'_>, layout: Layout) -> Vec<ThreadId> {
    browser.lanes().into_iter().skip(browser.first_lane()).take(layout.lanes).collect()
}

/// What is shown matters more than how large the trace is, and that more than all of its name.
fn title(browser: &Browser<'_>, pen: &mut Pen<'_>) {
    pen.line(0, Theme::marked());
    let width = pen.width();
    let shown = shown(browser);
    let begin = width.saturating_sub(shown.width());
    pen.put(begin, 0, width, &shown, Theme::marked());
    let size = size(browser);
    let room = begin.saturating_sub(size.width()).max(NAME.min(begin)).saturating_sub(1);
    let used = 1 + pen.put_cut(1, 0, room, browser.name(), Theme::marked(), Cut::Front);
    pen.put(used, 0, begin.saturating_sub(used), &size, Theme::marked());
}

/// What is shown, if not all events as they were recorded.
fn shown(browser: &Browser<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(query) = browser.query().filter(|_| browser.shows_only_found()) {
        parts.push(format!("only {}", visible(query.text())));
    }
    if browser.hidden_count() > 0 {
        parts.push(format!("{} hidden", counted(browser.hidden_count(), "thread")));
    }
    if let Some(race) = browser.current_race().filter(|_| browser.shows_witness()) {
        parts.push(format!("witness of race {}", race + 1));
    }
    if parts.is_empty() { String::new() } else { format!(" {} ", parts.join(" · ")) }
}

fn size(browser: &Browser<'_>) -> String {
    let events = counted(browser.trace().events().len(), "event");
    let threads = counted(browser.trace().thread_count(), "thread");
    let races = match browser.races().len() {
        0 => String::new(),
        races => format!(" · {}", counted(races, "race")),
    };
    format!(" · {events} · {threads}{races}")
}

fn status(browser: &Browser<'_>, theme: Theme, line: usize, pen: &mut Pen<'_>) {
    let width = pen.width();
    if let Mode::Prompt(ask, text) = browser.mode() {
        let question = match ask {
            Ask::Search => "/",
            Ask::Event => "event ",
        };
        let asked = pen.put(0, line, width, question, Theme::strong());
        let room = width.saturating_sub(asked + 1);
        let typed = pen.put_cut(asked, line, room, text, Theme::plain(), Cut::Front);
        pen.put(asked + typed, line, 1, " ", Theme::marked());
    } else if let Some(activity) = browser.activity() {
        pen.put(0, line, width, &activity, theme.message());
    } else if browser.message().is_empty() {
        pen.put(0, line, width, "? help  / search  : event  r race  t threads  q quit", Theme::faint());
    } else {
        pen.put(0, line, width, browser.message(), theme.message());
    }
}

/// A frame for lists, with some of the screen left around it where there is room.
fn inner(area: Rect) -> Rect {
    let (dx, dy) = (if area.width >= 60 { 4 } else { 0 }, if area.height >= 16 { 1 } else { 0 });
    Rect {
        x: area.x + dx,
        y: area.y + dy,
        width: area.width.saturating_sub(2 * dx).min(100),
        height: area.height.saturating_sub(2 * dy),
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
