//! Searches, and showing only what they find.

use std::rc::Rc;

use foretell_trace::Event;

use super::Browser;
use crate::query::Query;
use crate::seek::{Direction, Look, Seek};

impl Browser<'_> {
    /// Looks for this from now on; for the same again if it is empty.
    pub(super) fn search(&mut self, text: &str) {
        if !text.is_empty() {
            match text.parse::<Query>() {
                Ok(query) => self.query = Some(Rc::new(query)),
                Err(wrong) => {
                    self.message = wrong;
                    return;
                }
            }
        }
        if self.only_found && self.query.is_some() {
            self.choose_rows(self.position());
        } else {
            self.next_match(Direction::Forward);
        }
    }

    /// Goes to the next event that is looked for, around the ends. Events of hidden threads are left alone.
    pub(super) fn next_match(&mut self, direction: Direction) {
        let Some(query) = self.query.clone() else {
            self.message = "no search yet: / begins one".to_string();
            return;
        };
        let Some(from) = self.position() else { return };
        let (hidden, names, length) = (self.hidden.clone(), self.trace.names(), self.order().len());
        let what = format!("match of {}", query.text());
        let look = move |event: &Event| {
            let is_hidden = hidden.get(event.thread.index()).is_some_and(|&hidden| hidden);
            if !is_hidden && query.matches(event, names) { Look::Here } else { Look::On }
        };
        self.seek = Some(Seek::new(what, direction, from, length, look).around(length));
    }

    /// Shows only what is looked for, or everything again.
    pub(super) fn toggle_only_found(&mut self) {
        if self.query.is_none() {
            self.message = "no search yet: / begins one".to_string();
            return;
        }
        let position = self.position();
        self.only_found = !self.only_found;
        self.choose_rows(position);
    }

    /// Shows everything again; and if it was shown, forgets what was looked for.
    pub(super) fn forget_search(&mut self) {
        if self.only_found {
            self.toggle_only_found();
        } else {
            self.query = None;
        }
    }
}
