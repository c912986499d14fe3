//! What lies over the events: help, and lists to choose from.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::pen::{Pen, Theme};
use crate::browser::{Browser, HELP, Mode, help_lines};
use crate::races::summary;

/// The room for the names of keys.
const KEYS: usize = 14;

/// Draws what lies over the events, if anything does.
pub(super) fn draw(browser: &Browser<'_>, theme: Theme, area: Rect, buffer: &mut Buffer) {
    match *browser.mode() {
        Mode::Browse | Mode::Prompt(..) => {}
        Mode::Help(top) => help(theme, top, area, buffer),
        Mode::Threads(at) => {
            let names = &browser.trace().names().threads;
            let entry = |thread: foretell_trace::ThreadId| {
                let sign = if browser.is_shown(thread) { "[x]" } else { "[ ]" };
                (format!("{sign} {}", names.name(thread)), Theme::plain())
            };
            let title = " threads: Space hides or shows, a all, i others, Enter done ";
            let entries = browser.trace().thread_count();
            let entry_at = |index| foretell_trace::ThreadId::from_index(index).map(entry);
            list(title, at, entries, entry_at, area, buffer);
        }
        Mode::Races(at) => {
            let races = browser.races();
            let entry_at = |index: usize| {
                let race = races.get(index)?;
                let is_current = browser.current_race() == Some(index);
                let style = if is_current { theme.race() } else { Theme::plain() };
                Some((format!("{}  {}", index + 1, summary(race, browser.trace())), style))
            };
            list(" races: Enter goes there ", at, races.len(), entry_at, area, buffer);
        }
    }
}

fn help(theme: Theme, top: usize, area: Rect, buffer: &mut Buffer) {
    let mut pen = frame(" keys: ↑ ↓ scroll, any other key closes ", help_lines(), area, buffer);
    // The last page is full.
    let top = top.min(help_lines().saturating_sub(pen.height()));
    let width = pen.width();
    let key_room = KEYS.min(width / 3);
    let chapters = HELP.iter().flat_map(|(title, keys)| {
        std::iter::once((None, *title)).chain(keys.iter().map(|&(keys, text)| (Some(keys), text)))
    });
    for (line, (keys, text)) in chapters.skip(top).enumerate() {
        if let Some(keys) = keys {
            pen.put(2, line, key_room, keys, theme.message());
            pen.put(3 + key_room, line, width, text, Theme::plain());
        } else {
            pen.put(1, line, width, text, Theme::strong());
        }
    }
}

/// A list of which one entry is marked. Only entries in sight are asked for.
fn list(
    title: &str,
    at: usize,
    entries: usize,
    entry: impl Fn(usize) -> Option<(String, Style)>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let mut pen = frame(title, entries, area, buffer);
    let (width, height) = (pen.width(), pen.height());
    let top = at.saturating_sub(height / 2).min(entries.saturating_sub(height));
    for line in 0..height {
        let Some((text, style)) = entry(top + line) else { break };
        let style = if top + line == at { style.patch(Theme::marked()) } else { style };
        pen.put(1, line, width, &text, style);
    }
}

/// An empty frame with room for so many lines, if there is that much.
fn frame<'b>(title: &str, lines: usize, area: Rect, buffer: &'b mut Buffer) -> Pen<'b> {
    let wanted = u16::try_from(lines.saturating_add(2)).unwrap_or(u16::MAX);
    let area = Rect { height: area.height.min(wanted), ..area };
    let block = Block::bordered().title(title);
    let inner = block.inner(area);
    Clear.render(area, buffer);
    block.render(area, buffer);
    Pen::new(buffer, inner)
}
