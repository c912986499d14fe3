//! Writing on the screen: nothing outside of it, and nothing that a terminal would act upon.

use foretell_report::visible::visible;
use foretell_trace::{LockId, Op};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How things look: in colours, or without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Theme {
    /// Whether there may be colours.
    pub colours: bool,
}

/// One for each lock; more locks share them.
const OF_LOCKS: [Color; 6] =
    [Color::Green, Color::Magenta, Color::Cyan, Color::Blue, Color::LightGreen, Color::LightMagenta];

impl Theme {
    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn plain() -> Style {
        Style::new()
    }

    pub(super) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn marked() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn faint() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn race(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn message(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(super) fn lock(self, lock: LockId) -> Style {
        self.colour(OF_LOCKS[lock.index() % OF_LOCKS.len()])
    }

    /// Of an operation: what belongs to a lock has its colour, what writes stands out from what reads, and thread-local
    /// operations are dimmed.
    pub(super) fn operation(self, op: Op) -> Style {
        if let Some((lock, _)) = op.section_begin().or(op.section_end()) {
            return self.lock(lock);
        }
        match op {
            Op::Begin | Op::End | Op::Branch | Op::Enter(_) | Op::Exit(_) | Op::Dummy(_) => Theme::faint(),
            _ if op.access().is_some_and(|access| access.kind.writes()) => self.colour(Color::Yellow),
            _ => Style::new(),
        }
    }
}

/// Which end of a text is left out where there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    Front,
    Back,
}

/// Writes on a part of the screen.
pub(super) struct Pen<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
}

impl<'b> Pen<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, area: Rect) -> Pen<'b> {
        let area = area.intersection(buffer.area);
        Pen { buffer, area }
    }

    pub(super) fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    pub(super) fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// Writes `text` into at most `width` columns from there on, and returns how many it took.
    pub(super) fn put(&mut self, x: usize, y: usize, width: usize, text: &str, style: Style) -> usize {
        self.put_cut(x, y, width, text, style, Cut::Back)
    }

    pub(super) fn put_cut(
        &mut self,
        x: usize,
        y: usize,
        width: usize,
        text: &str,
        style: Style,
        cut: Cut,
    ) -> usize {
        if x >= self.width() || y >= self.height() {
            return 0;
        }
        let width = width.min(self.width() - x);
        let text = fit(&visible(text), width, cut);
        // Both are smaller than the sides of the screen, which are 16 bits wide.
        let (Ok(column), Ok(line)) = (u16::try_from(x), u16::try_from(y)) else { return 0 };
        let (column, line) = (self.area.x + column, self.area.y + line);
        let (end, _) = self.buffer.set_stringn(column, line, &text, width, style);
        usize::from(end - column)
    }

    /// Gives a whole line this style.
    pub(super) fn line(&mut self, y: usize, style: Style) {
        if let Ok(line) = u16::try_from(y)
            && y < self.height()
        {
            let area = Rect { y: self.area.y + line, height: 1, ..self.area };
            self.buffer.set_style(area, style);
        }
    }
}

/// `text` in at most `width` columns, with a sign where something was left out.
fn fit(text: &str, width: usize, cut: Cut) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut room = width.saturating_sub(1);
    let fits = |character: &char| match room.checked_sub(character.width().unwrap_or(0)) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    match cut {
        Cut::Back => text.chars().take_while(fits).chain(['…']).collect(),
        Cut::Front => {
            let kept: Vec<char> = text.chars().rev().take_while(fits).collect();
            std::iter::once('…').chain(kept.into_iter().rev()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_either_end() {
        assert_eq!(fit("bank.c:12", 9, Cut::Front), "bank.c:12");
        assert_eq!(fit("bank.c:12", 6, Cut::Front), "….c:12");
        assert_eq!(fit("bank.c:12", 6, Cut::Back), "bank.…");
        assert_eq!(fit("日本語", 4, Cut::Back), "日…");
        assert_eq!(fit("x", 0, Cut::Back), "…");
    }

    #[test]
    fn nothing_is_written_outside_and_nothing_raw() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 2));
        let mut pen = Pen::new(&mut buffer, Rect::new(0, 0, 50, 50));
        assert_eq!(pen.put(3, 0, 99, "a\u{1b}[31m\nb", Style::new()), 9);
        assert_eq!(pen.put(12, 0, 5, "x", Style::new()), 0);
        assert_eq!(pen.put(0, 2, 5, "x", Style::new()), 0);
        let shown: String = buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown.trim_end(), "   a\\u{1b}[…");
    }
}
