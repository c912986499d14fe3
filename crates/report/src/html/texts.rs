//! Texts that occur many times are kept once, and named by their positions.

use std::collections::HashMap;

use crate::context::{Frame, SourceLocation};
use crate::visible::{place, visible};

/// Longer names are cut.
const LONGEST: usize = 600;

/// The position of a text.
pub(super) type Text = usize;
/// The position of a stack.
pub(super) type StackId = usize;

/// All texts and stacks of a page, each of them once.
#[derive(Default)]
pub(super) struct Texts {
    positions: HashMap<String, Text>,
    texts: Vec<String>,
    /// The file of places that name none.
    program: Option<String>,
    stack_positions: HashMap<Vec<[Text; 2]>, StackId>,
    stacks: Vec<Vec<[Text; 2]>>,
}

impl Texts {
    /// From here on, places that name no file are in this one.
    pub(super) fn enter(&mut self, program: Option<&str>) {
        self.program = program.map(String::from);
    }

    /// A name or words, with control characters spelled out.
    pub(super) fn text(&mut self, text: &str) -> Text {
        self.keep(shortened(visible(text)))
    }

    /// A location, the way that places are shown.
    pub(super) fn place(&mut self, location: &str) -> Text {
        let names_no_file = SourceLocation::parse(location).is_some_and(|place| place.file.is_empty());
        match &self.program {
            Some(program) if names_no_file => self.keep(shortened(place(&format!("{program}:{location}")))),
            _ => self.keep(shortened(place(location))),
        }
    }

    /// A line of a source file. Tabs stay what they are: columns are counted with them.
    pub(super) fn line(&mut self, line: &str) -> Text {
        let parts: Vec<String> = line.split('\t').map(visible).collect();
        self.keep(shortened(parts.join("\t")))
    }

    /// A stack, if it is not empty.
    pub(super) fn stack(&mut self, frames: &[Frame]) -> Option<StackId> {
        if frames.is_empty() {
            return None;
        }
        let frames: Vec<[Text; 2]> =
            frames.iter().map(|frame| [self.text(&frame.function), self.place(&frame.location)]).collect();
        if let Some(&known) = self.stack_positions.get(&frames) {
            return Some(known);
        }
        self.stacks.push(frames.clone());
        self.stack_positions.insert(frames, self.stacks.len() - 1);
        Some(self.stacks.len() - 1)
    }

    /// All of them: the texts, and the stacks as functions and places.
    pub(super) fn finish(self) -> (Vec<String>, Vec<Vec<[Text; 2]>>) {
        (self.texts, self.stacks)
    }

    fn keep(&mut self, text: String) -> Text {
        if let Some(&known) = self.positions.get(&text) {
            return known;
        }
        self.texts.push(text.clone());
        self.positions.insert(text, self.texts.len() - 1);
        self.texts.len() - 1
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} more characters)", &text[..end])
        }
    }
}
