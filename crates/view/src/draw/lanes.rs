//! The events, in a lane for each thread.

use foretell_report::visible::place;
use foretell_report::words::words;
use foretell_trace::format::text::op_text;
use foretell_trace::{EventId, LockMode, ThreadId};
use ratatui::style::{Modifier, Style};

use super::pen::{Cut, Pen, Theme};
use crate::browser::{Bar, Browser, GAP, Layout, Row};

/// How many locks of a thread are drawn beside each other; the last line stands for all that are inside it.
const BARS: usize = 4;
/// A lane that is as wide keeps room for two locks, so that texts do not jump where nested ones come into sight.
const WIDE: usize = 26;

/// The names of the threads.
pub(super) fn head(
    browser: &Browser<'_>,
    layout: Layout,
    lanes: &[ThreadId],
    line: usize,
    pen: &mut Pen<'_>,
) {
    let names = browser.trace().names();
    let first = browser.first_lane();
    let after = browser.lanes().len().saturating_sub(first + lanes.len());
    if first > 0 {
        pen.put(0, line, layout.numbers, &format!("◂{first}"), Theme::faint());
    }
    for (index, &thread) in lanes.iter().enumerate() {
        pen.put(lane_at(layout, index), line, layout.lane, names.threads.name(thread), Theme::strong());
    }
    let end = lane_at(layout, lanes.len());
    if after > 0 {
        let sign = format!("{after}▸");
        let x = pen.width().saturating_sub(sign.chars().count());
        pen.put(x, line, sign.chars().count(), &sign, Theme::faint());
    } else if layout.locations > 0 {
        pen.put(end, line, layout.locations, "location", Theme::faint());
    }
}

/// The events.
pub(super) fn rows(
    browser: &Browser<'_>,
    theme: Theme,
    lanes: &[ThreadId],
    first_line: usize,
    pen: &mut Pen<'_>,
) {
    let (rows, current) = browser.window(lanes);
    if rows.is_empty() && browser.layout().rows > 0 {
        let why = if browser.activity().is_some() { "" } else { "no event to show" };
        pen.put(1, first_line, usize::MAX, why, Theme::faint());
    }
    let used = rows.iter().filter_map(|row| row.locks.as_ref()).flatten().map(Vec::len).max().unwrap_or(0);
    let layout = browser.layout();
    let fewest = if layout.lane >= WIDE { 2 } else { 1 };
    let canvas = Canvas { browser, theme, layout, lanes, bars: used.clamp(fewest, BARS) };
    for (index, row) in rows.iter().enumerate() {
        canvas.row(row, index == current, first_line + index, pen);
    }
}

/// What all rows have in common.
struct Canvas<'c, 'a> {
    browser: &'c Browser<'a>,
    theme: Theme,
    layout: Layout,
    lanes: &'c [ThreadId],
    /// The room for lines of locks in each lane.
    bars: usize,
}

impl Canvas<'_, '_> {
    fn row(&self, row: &Row, is_current: bool, line: usize, pen: &mut Pen<'_>) {
        self.number(row.event, is_current, line, pen);
        for (index, _) in self.lanes.iter().enumerate() {
            let locks = row.locks.as_ref().and_then(|locks| locks.get(index));
            self.locks(locks.map(Vec::as_slice), lane_at(self.layout, index), line, pen);
        }
        self.operation(row, is_current, line, pen);
        if self.layout.locations > 0 {
            let names = self.browser.trace().names();
            let location = place(&names.loc_text(self.browser.trace().event(row.event).loc));
            let x = lane_at(self.layout, self.lanes.len());
            pen.put_cut(x, line, pen.width().saturating_sub(x), &location, Theme::faint(), Cut::Front);
        }
    }

    fn number(&self, event: EventId, is_current: bool, line: usize, pen: &mut Pen<'_>) {
        let sign = if is_current { "▸" } else { " " };
        pen.put(0, line, 1, sign, Theme::strong());
        if self.browser.is_in_current_race(event) {
            pen.put(1, line, 1, "»", self.theme.race());
        } else if self.browser.is_in_race(event) {
            pen.put(1, line, 1, "•", self.theme.race());
        }
        let room = self.layout.numbers.saturating_sub(3);
        let style = if is_current { Theme::strong() } else { Theme::faint() };
        pen.put(2, line, room, &format!("{event:>room$}"), style);
    }

    fn locks(&self, locks: Option<&[Option<Bar>]>, x: usize, line: usize, pen: &mut Pen<'_>) {
        let room = self.layout.lane.min(self.bars);
        let Some(locks) = locks else { return };
        if locks.is_empty() {
            pen.put(x, line, room, "·", Theme::faint());
        }
        for (slot, bar) in locks.iter().enumerate().take(room) {
            if let Some(bar) = bar {
                let (sign, lock) = sign_of(*bar);
                pen.put(x + slot, line, 1, sign, self.theme.lock(lock));
            }
        }
        // What has no line of its own is at least not forgotten.
        if locks.len() > room && room > 0 {
            pen.put(x + room - 1, line, 1, "+", Theme::strong());
        }
    }

    fn operation(&self, row: &Row, is_current: bool, line: usize, pen: &mut Pen<'_>) {
        let trace = self.browser.trace();
        let (event, names) = (trace.event(row.event), trace.names());
        let mut text =
            if self.browser.is_brief() { op_text(event.op, names) } else { words(event.op, names) };
        let in_sight = self.lanes.iter().position(|&thread| thread == event.thread);
        if in_sight.is_none() {
            let side = if self.is_left(event.thread) { "◂" } else { "▸" };
            text = format!("{side} {} {text}", names.threads.name(event.thread));
        }
        let edge = if self.is_left(event.thread) { 0 } else { self.lanes.len().saturating_sub(1) };
        let lane = in_sight.unwrap_or(edge);
        let x = lane_at(self.layout, lane) + self.bars + 1;
        let room = self.free_until(lane, row).saturating_sub(x);
        let used = pen.put(x, line, room, &text, self.style(row.event, in_sight.is_some(), is_current));
        // Text across another lane must not run into the sign there.
        if x + used >= lane_at(self.layout, lane + 1) {
            pen.put(x + used, line, room - used.min(room), " ", Theme::plain());
        }
    }

    /// Where the text in this lane has to end. Nothing else happens in its row, so it may go on across other lanes, as
    /// far as no lock is held there.
    fn free_until(&self, lane: usize, row: &Row) -> usize {
        let holds = |&other: &usize| {
            row.locks.as_ref().and_then(|locks| locks.get(other)).is_some_and(|locks| !locks.is_empty())
        };
        match (lane + 1..self.lanes.len()).find(holds) {
            Some(next) => lane_at(self.layout, next) - GAP,
            None if self.layout.locations > 0 => lane_at(self.layout, self.lanes.len()).saturating_sub(GAP),
            None => lane_at(self.layout, self.lanes.len()),
        }
    }

    fn style(&self, id: EventId, in_sight: bool, is_current: bool) -> Style {
        let trace = self.browser.trace();
        let event = trace.event(id);
        let mut style = match in_sight {
            _ if self.browser.is_in_current_race(id) => self.theme.race(),
            true => self.theme.operation(event.op),
            false => Theme::faint(),
        };
        if self.browser.query().is_some_and(|query| query.matches(&event, trace.names())) {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        if is_current {
            style = style.remove_modifier(Modifier::DIM).add_modifier(Modifier::REVERSED);
        }
        style
    }

    /// Whether the lane of this thread is left of those on the screen.
    fn is_left(&self, thread: ThreadId) -> bool {
        self.lanes.first().is_some_and(|&first| thread < first)
    }
}

fn lane_at(layout: Layout, index: usize) -> usize {
    layout.numbers + index * (layout.lane + GAP)
}

fn sign_of(bar: Bar) -> (&'static str, foretell_trace::LockId) {
    match bar {
        Bar::Begin(section) => ("┌", section.lock),
        Bar::Held(section) if section.mode == LockMode::Shared => ("┆", section.lock),
        Bar::Held(section) => ("│", section.lock),
        Bar::Again(section) => ("├", section.lock),
        Bar::End(section) => ("└", section.lock),
    }
}
