//! All about the current event.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::pen::{Pen, Theme};
use crate::browser::Browser;

/// Draws on these lines; the first one parts them from what is above.
pub(super) fn draw(browser: &Browser<'_>, theme: Theme, lines: Range<usize>, pen: &mut Pen<'_>) {
    if lines.is_empty() {
        return;
    }
    let width = pen.width();
    pen.put(0, lines.start, width, &"─".repeat(width), Theme::faint());
    let Some(details) = browser.details() else { return };
    pen.put(2, lines.start, width, &format!(" {} ", details.number), Theme::plain());
    let mut texts = Vec::new();
    let deed = format!("{} at {}", details.deed, details.location);
    if deed.width() + 1 < width {
        texts.push((1, deed, Theme::strong()));
    } else {
        texts.push((1, details.deed.clone(), Theme::strong()));
        texts.push((1, format!("at {}", details.location), Theme::plain()));
    }
    if let Some(source) = &details.source {
        texts.push((1, format!("│ {}", source.trim().replace('\t', " ")), theme.message()));
    }
    texts.extend(details.more.iter().map(|text| (1, text.clone(), Theme::plain())));
    for (line, (x, text, style)) in (lines.start + 1..lines.end).zip(texts) {
        pen.put(x, line, width, &text, style);
    }
}
