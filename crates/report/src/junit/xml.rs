//! Just as much XML as reports need.

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

    /// A document that has this as its root.
    pub(super) fn document(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(&mut out, 0);
        out
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        out.extend([indent.as_str(), "<", self.name]);
        for (name, value) in &self.attributes {
            out.extend([" ", name, "=\"", value, "\""]);
        }
        if self.text.is_empty() && self.children.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        out.push_str(&self.text);
        if !self.children.is_empty() {
            out.push('\n');
            self.children.iter().for_each(|child| child.write(out, depth + 1));
            out.push_str(&indent);
        }
        out.extend(["</", self.name, ">\n"]);
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
