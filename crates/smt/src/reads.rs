//! When a read sees the value that it saw in the trace (the paper's concrete feasibility).
//!
//! It does if some write of that value comes before it, itself made by a thread that has so far read what it read in
//! the trace, and no other write comes between. The truth value `c7` stands for "read 7 and all earlier reads of its
//! thread see what they saw". Only what is asked for, directly or by another answer, is put into the formula. That the
//! values depend on each other does no harm: each depends on reads that come strictly earlier in the order.

use crate::text::{FALSE, Term, Text, all, any, before, implies};
use crate::window::Window;

/// Collects which reads matter, and writes down what they need.
pub struct Reads<'a> {
    window: &'a Window,
    /// The term for "this event runs".
    runs: &'a dyn Fn(usize) -> Term,
    asked: Vec<bool>,
    /// What was asked and not yet answered.
    open: Vec<usize>,
}

impl<'a> Reads<'a> {
    /// Nothing is asked yet.
    pub fn new(window: &'a Window, runs: &'a dyn Fn(usize) -> Term) -> Reads<'a> {
        Reads { window, runs, asked: vec![false; window.len()], open: Vec::new() }
    }

    /// Whether all reads before an event in its thread see what they saw.
    pub fn before(&mut self, event: usize) -> Term {
        let Some(read) = self.window.last_read_before(event) else { return all([]) };
        if !self.asked[read] {
            self.asked[read] = true;
            self.open.push(read);
        }
        name(read)
    }

    /// Puts everything that was asked into the formula.
    pub fn write(mut self, text: &mut Text) {
        // All names must be declared before the first is used, and an answer may ask for more.
        let mut answers = Vec::new();
        while let Some(read) = self.open.pop() {
            text.declare_truth(&name(read));
            let earlier = self.before(read);
            let source = self.source(read);
            answers.push(implies(&name(read), all([earlier, source])));
        }
        answers.iter().for_each(|answer| text.demand(answer));
    }

    /// Some write of the right value, or what was there at first, is what the read sees.
    fn source(&mut self, read: usize) -> Term {
        let window = self.window;
        let mut sources = vec![self.initial(read)];
        let value = window.event(read).op.value_read();
        let overwriting: Vec<usize> = self.writes(read).filter(|&write| window.must(write, read)).collect();
        for write in self.writes(read) {
            let overwritten = overwriting.iter().any(|&later| window.must(write, later));
            if window.event(write).op.value_written() == value && !window.must(read, write) && !overwritten {
                sources.push(self.sees(read, write));
            }
        }
        any(sources)
    }

    /// The read sees this write: it runs, with its value, before the read, and nothing comes between.
    fn sees(&mut self, read: usize, write: usize) -> Term {
        let window = self.window;
        let mut parts = vec![(self.runs)(write), self.before(write)];
        if !window.must(write, read) {
            parts.push(before(write, read));
        }
        for other in self.writes(read) {
            if other == write || window.must(read, other) || window.must(other, write) {
                continue;
            }
            let earlier = if window.must(write, other) { FALSE.to_string() } else { before(other, write) };
            parts.push(any([earlier, self.after(read, other)]));
        }
        all(parts)
    }

    /// The read sees what was there at first: every write comes after it.
    fn initial(&self, read: usize) -> Term {
        if !self.window.saw_initial_value(read) {
            return FALSE.to_string();
        }
        all(self.writes(read).map(|write| self.after(read, write)))
    }

    /// The write comes after the read.
    fn after(&self, read: usize, write: usize) -> Term {
        if self.window.must(write, read) {
            FALSE.to_string()
        } else if self.window.must(read, write) {
            all([])
        } else {
            before(read, write)
        }
    }

    /// The writes to the read's variable that can run at all.
    fn writes(&self, read: usize) -> impl Iterator<Item = usize> + use<'a> {
        let runs = self.runs;
        self.window.writes_for(read).iter().copied().filter(move |&write| runs(write) != FALSE)
    }
}

fn name(read: usize) -> Term {
    format!("c{read}")
}
