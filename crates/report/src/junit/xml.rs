//! Just as much XML as reports need.

use std::io::{self, Write as _};

use crate::sink::Sink;

/// An element with its attributes and what is in it.
#[derive(Debug)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Element {
        Element { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    /// The element with one more attribute.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Element {
        self.attributes.push((name, escaped(value, Within::Attribute)));
        self
    }

    /// The element with this text in it.
    pub(super) fn with_text(mut self, text: &str) -> Element {
        self.text = escaped(text, Within::Text);
        self
    }

    pub(super) fn push(&mut self, child: Element) {
        self.children.push(child);
    }

    /// Writes a document that has this as its root.
    pub(super) fn document(&self, out: &mut Sink<'_>) -> io::Result<()> {
        out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        self.write(out, 0)
    }

    fn write(&self, out: &mut Sink<'_>, depth: usize) -> io::Result<()> {
        let indent = "  ".repeat(depth);
        write!(out, "{indent}<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(out, " {name}=\"{value}\"")?;
        }
        if self.text.is_empty() && self.children.is_empty() {
            return out.write_all(b"/>\n");
        }
        write!(out, ">{}", self.text)?;
        if !self.children.is_empty() {
            out.write_all(b"\n")?;
            self.children.iter().try_for_each(|child| child.write(out, depth + 1))?;
            out.write_all(indent.as_bytes())?;
        }
        writeln!(out, "</{}>", self.name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Within {
    /// Line breaks would be read as spaces.
    Attribute,
    Text,
}

/// Text that is read as what it is. What XML has no way to say is spelled out.
fn escaped(text: &str, within: Within) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' if within == Within::Attribute => safe.push_str("&#10;"),
            '\t' if within == Within::Attribute => safe.push_str("&#9;"),
            '\n' | '\t' => safe.push(character),
            '\u{fffe}' | '\u{ffff}' => safe.extend(character.escape_default()),
            control if control.is_control() => safe.extend(control.escape_default()),
            other => safe.push(other),
        }
    }
    safe
}
