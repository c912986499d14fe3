//! Reports for people with a browser: one page that needs nothing but itself.
//!
//! The page is written by hand in `html/`; what it shows is embedded as JSON, and its script makes all elements of it as text.

mod data;
mod texts;

use crate::report::Report;
use crate::text;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 7] = [
    include_str!("html/script/dom.js"),
    include_str!("html/script/data.js"),
    include_str!("html/script/source.js"),
    include_str!("html/script/picture.js"),
    include_str!("html/script/race.js"),
    include_str!("html/script/list.js"),
    include_str!("html/script/main.js"),
];

/// The reports as one page.
pub fn render(reports: &[Report]) -> serde_json::Result<String> {
    let summary = text::summary(reports);
    let data = inert(&serde_json::to_string(&data::Data::new(reports))?);
    // In a block of its own, nothing of it gets in the way of what the browser calls the same.
    let script = format!("\"use strict\";\n{{\n{}}}", SCRIPTS.concat());
    let parts = [("{{summary}}", &*summary), ("{{style}}", STYLE), ("{{data}}", &*data), ("{{script}}", &*script)];
    Ok(filled(PAGE, &parts))
}

/// The page with its gaps filled, which come in this order. What fills them is not looked at.
fn filled(page: &str, parts: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = page;
    for (gap, part) in parts {
        let (before, after) = rest.split_once(gap).unwrap_or((rest, ""));
        filled.push_str(before);
        filled.push_str(part);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// JSON in which nothing can be mistaken for markup, nor for the end of a line of a script: all of that can only be in strings.
fn inert(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}
