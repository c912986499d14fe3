//! Rules for reads that must see what they saw: from the order to the write, and from the write to the order.

use super::{Closure, Contradiction, ENTRY, OPEN, OUTSIDE, Task, Why};
use crate::certify::{Clash, PinCause};
use crate::kept::Demand;
use crate::window::Domain;

/// A choice among more writes than this teaches nothing but that it is a choice.
const FEW_SOURCES: usize = 8;
/// How many reads it looks at in between; each may have many sources.
const READS_AT_ONCE: u32 = 64;

impl Closure<'_> {
    /// These reads must have seen what they saw.
    pub(super) fn keep(&mut self, demand: Demand, cause: PinCause) -> Result<(), Contradiction> {
        let window = self.window;
        while let Some(event) = self.kept.take_next(demand, window) {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(READS_AT_ONCE) && self.patience.is_over() {
                return Err(Contradiction::OutOfTime);
            }
            if window.domain(event) == Domain::Free {
                continue;
            }
            self.log_pin(event, cause);
            match self.sources(event, 2).as_slice() {
                [] => return Err(self.no_source(event)),
                &[source] if source != OUTSIDE => self.determine(event, source),
                _ => {
                    self.source[event as usize] = OPEN;
                    self.undetermined.push(event);
                }
            }
        }
        Ok(())
    }

    fn no_source(&mut self, read: u32) -> Contradiction {
        if self.derivation.is_some() {
            let choice = self.choice(read, &[]);
            self.log_clash(|| Clash::Broken(choice));
        }
        Contradiction::NoSource(read, self.kept.because_of(read))
    }

    fn determine(&mut self, read: u32, source: u32) {
        let window = self.window;
        self.log_source(read, source);
        self.source[read as usize] = source;
        if source == ENTRY {
            self.entry_readers[window.var[read as usize] as usize].push(read);
        } else {
            self.next_reader[read as usize] = self.first_reader[source as usize];
            self.first_reader[source as usize] = read;
            let why = Why::Seen(self.kept.because_of(read));
            self.tasks.push_back(Task::Order { from: source, to: read, why });
            let (tasks, cause) = (&mut self.tasks, PinCause::Seen(read));
            window
                .to_be_seen(source, &mut self.kept.sets, |demand| tasks.push_back(Task::Keep(demand, cause)));
        }
        self.tasks.push_back(Task::Observe { read });
    }

    /// A read whose source has become known: what follows from the order so far.
    pub(super) fn observe(&mut self, read: u32) {
        let window = self.window;
        let source = self.source[read as usize];
        let Some(variable) = window.variable(read) else { return };
        self.note_growth(read, u64::MAX);
        for (thread, writes) in &variable.writes {
            let running = self.running[*thread as usize];
            let run = writes.partition_point(|&write| window.place[write as usize] < running);
            let before = match source {
                ENTRY => 0,
                source => {
                    writes[..run].partition_point(|&write| write == source || !self.is_before(source, write))
                }
            };
            if let Some(&next) = writes[before..run].iter().find(|&&write| write != read) {
                self.tasks.push_back(Task::Order { from: read, to: next, why: Why::Overwrites });
            }
        }
    }

    /// Looks again at the reads that have a choice. Tells whether that taught anything.
    pub(super) fn narrow_choices(&mut self) -> Result<bool, Contradiction> {
        let mut undetermined = std::mem::take(&mut self.undetermined);
        undetermined.retain(|&read| self.source[read as usize] == OPEN);
        for &read in &undetermined {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(READS_AT_ONCE) && self.patience.is_over() {
                return Err(Contradiction::OutOfTime);
            }
            let sources = self.sources(read, FEW_SOURCES + 1);
            match sources.as_slice() {
                [] => return Err(self.no_source(read)),
                &[OUTSIDE] => self.observe_outside(read),
                &[source] => self.determine(read, source),
                few => {
                    let spans = self.spans(read);
                    if few.len() <= FEW_SOURCES && few.iter().all(|&source| source < OUTSIDE) {
                        self.after_any(read, few);
                    } else if let Some(spans) = spans.as_ref().filter(|_| !few.contains(&ENTRY)) {
                        let first: Vec<u32> = spans.iter().map(|span| span.first).collect();
                        self.after_any(read, &first);
                    }
                    if let Some(spans) = spans {
                        self.before_overwriting(read, &spans);
                    }
                }
            }
        }
        self.undetermined = undetermined;
        Ok(!self.tasks.is_empty())
    }

    /// A read that must see what one thread did before the window: other writes come before the thread's first event
    /// here, or after the read.
    fn observe_outside(&mut self, read: u32) {
        let window = self.window;
        let Domain::Beyond { outside, .. } = window.domain(read) else { return };
        let outside = window.outside(outside);
        let is_only = outside.after.is_empty() && !outside.absent && !outside.initial;
        let ([thread], true, Some(variable)) = (outside.before.as_slice(), is_only, window.variable(read))
        else {
            return;
        };
        let first = (self.running[*thread as usize] > 0).then(|| window.at(*thread, 0));
        let earlier: Vec<u32> = self.last_writes_before(read).collect();
        for write in earlier {
            if let Some(first) = first.filter(|&first| first != write) {
                self.news(write, first, Why::Between(read));
            }
        }
        for (writer, writes) in &variable.writes {
            let run = writes
                .partition_point(|&write| window.place[write as usize] < self.running[*writer as usize]);
            let before = match writer == thread {
                true => 0,
                false => writes[..run].partition_point(|&write| self.known(write)[*thread as usize] == 0),
            };
            if let Some(&next) = writes[before..run].iter().find(|&&write| write != read) {
                self.news(read, next, Why::Overwrites);
            }
        }
    }

    /// Adds an edge between events that run, unless it is known.
    pub(super) fn news(&mut self, from: u32, to: u32, why: Why) {
        if !self.runs(from) || !self.is_before(from, to) {
            self.tasks.push_back(Task::Order { from, to, why });
        }
    }

    /// What is before all that the read may see is before the read.
    fn after_any(&mut self, read: u32, sources: &[u32]) {
        let window = self.window;
        for thread in 0..self.running.len() {
            let least = sources.iter().map(|&source| self.before_source(source, thread)).min().unwrap_or(0);
            if least > 0 && (!self.runs(read) || self.known(read)[thread] < least) {
                let from = window.threads[thread][least as usize - 1];
                if from != read {
                    self.tasks.push_back(Task::Order { from, to: read, why: Why::AnySource });
                }
            }
        }
    }

    /// How many events of the thread are before a read that sees this source, at least.
    fn before_source(&self, source: u32, thread: usize) -> u32 {
        let (own, place) = (self.window.thread[source as usize] as usize, self.window.place[source as usize]);
        if own == thread {
            return place + 1;
        }
        let running = self.running[own];
        match (self.runs(source), running.checked_sub(1)) {
            (true, _) => self.known(source)[thread],
            (false, Some(last)) => self.known(self.window.threads[own][last as usize])[thread],
            (false, None) => 0,
        }
    }
}
