//! Rules for reads that have a choice of writes, by the first and the last write of each thread that they may
//! still see.
//!
//! What is before the first of each thread is before the read. And a write that all the last ones are before comes
//! after the read: before it, it would overwrite whatever the read may see.

use super::{Closure, Why};
use crate::window::Domain;

/// So many writes of a thread are looked at in search of one of the right value.
const MOST_PASSED: usize = 64;

/// What a read may see of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: u32,
    last: u32,
}

impl Closure<'_> {
    /// Of each thread that may have written what the read must see, the first and the last write that may have; nothing
    /// if that is not known.
    pub(super) fn spans(&self, read: u32) -> Option<Vec<Span>> {
        let window = self.window;
        let is_here = match window.domain(read) {
            Domain::Group { .. } => true,
            Domain::Beyond { outside, .. } => !self.can_see_outside(read, outside),
            Domain::Free | Domain::Write(_) | Domain::Entry => false,
        };
        let value = window.op(read).value_read().filter(|_| is_here && self.runs(read))?;
        let last: Vec<u32> = self.last_writes_before(read).collect();
        let mut spans = Vec::new();
        for (thread, writes) in &window.variable(read)?.writes {
            let known = self.known(read)[*thread as usize];
            let begin =
                writes.partition_point(|&write| window.place[write as usize] < known).saturating_sub(1);
            let end = writes.partition_point(|&write| self.may_come_before(write, read)).max(begin);
            let is_source = |write: &u32| {
                window.index.value_after(window.begin + write) == Some(value)
                    && self.can_see(read, *write, &last)
            };
            let range = &writes[begin..end];
            let Some(first) = range.iter().take(MOST_PASSED).copied().find(is_source) else {
                if range.len() > MOST_PASSED {
                    return None;
                }
                continue;
            };
            let last = range.iter().rev().take(MOST_PASSED).copied().find(is_source)?;
            spans.push(Span { first, last });
        }
        Some(spans)
    }

    /// Whether the write may run and is not known to come after the read.
    fn may_come_before(&self, write: u32, read: u32) -> bool {
        let window = self.window;
        let thread = window.thread[write as usize] as usize;
        let place = window.place[write as usize];
        if place >= window.limit[thread] {
            return false;
        }
        let until = match place.min(self.running[thread].saturating_sub(1)) {
            _ if self.running[thread] == 0 => return true,
            place => window.threads[thread][place as usize],
        };
        write == read || until != read && !self.is_before(read, until)
    }

    /// What overwrites all that the read may see comes after the read.
    pub(super) fn before_overwriting(&mut self, read: u32, spans: &[Span]) {
        let window = self.window;
        let Some(variable) = window.variable(read) else { return };
        for (thread, writes) in &variable.writes {
            let running = self.running[*thread as usize];
            let run = writes.partition_point(|&write| window.place[write as usize] < running);
            let overwrites = |write: u32| spans.iter().all(|span| self.is_known_before(span.last, write));
            let first = writes[..run].partition_point(|&write| !overwrites(write));
            if let Some(&next) = writes[first..run].iter().find(|&&write| write != read) {
                self.news(read, next, Why::OverwritesAny);
            }
        }
    }

    /// Whether one write is before another that runs, if it runs.
    fn is_known_before(&self, write: u32, other: u32) -> bool {
        let window = self.window;
        if window.thread[write as usize] == window.thread[other as usize] {
            return window.place[write as usize] < window.place[other as usize];
        }
        self.runs(write) && self.is_before(write, other)
    }
}
