//! Which writes a read may still see, as far as the order of a closure is known.

use super::{Closure, ENTRY, OPEN, OUTSIDE};
use crate::index::NONE;
use crate::window::Domain;

impl Closure<'_> {
    /// The write that a read must see; [`ENTRY`] for what was there before the window.
    pub(crate) fn source(&self, read: u32) -> Option<u32> {
        Some(self.source[read as usize]).filter(|&source| source < OPEN)
    }

    /// The reads that must see the write.
    pub(crate) fn readers(&self, write: u32) -> impl Iterator<Item = u32> {
        let mut next = self.first_reader[write as usize];
        std::iter::from_fn(move || {
            let read = next;
            (read != NONE).then(|| {
                next = self.next_reader[read as usize];
                read
            })
        })
    }

    /// The reads of a variable that must see what was there before the window.
    pub(crate) fn entry_readers(&self, var: u32) -> &[u32] {
        &self.entry_readers[var as usize]
    }

    /// The writes that a pinned read may still see, at most `limit`; [`ENTRY`] may be among them.
    pub(crate) fn sources(&self, read: u32, limit: usize) -> Vec<u32> {
        match self.window.domain(read) {
            Domain::Free => Vec::new(),
            Domain::Write(write) => vec![write],
            Domain::Entry => vec![ENTRY],
            Domain::Group { group, entry } => {
                let entry = (entry && !self.is_overwritten_at_entry(read)).then_some(ENTRY);
                entry.into_iter().chain(self.visible(read, group)).take(limit).collect()
            }
            Domain::Beyond { group, outside } => {
                let outside = self.can_see_outside(read, outside).then_some(OUTSIDE);
                outside.into_iter().chain(self.visible(read, group)).take(limit).collect()
            }
        }
    }

    /// All that a read may still see, the nearest first; [`ENTRY`] may be among them.
    pub(crate) fn all_sources(&self, read: u32) -> Vec<u32> {
        let window = self.window;
        let accesses = window.variable(read).map_or(&[][..], |variable| &variable.accesses);
        let split = accesses.partition_point(|&access| access < read);
        let last: Vec<u32> = self.last_writes_before(read).collect();
        let near = accesses[..split].iter().rev().chain(&accesses[split..]).copied();
        let writes =
            near.filter(|&access| window.changes_memory(access) && self.can_see(read, access, &last));
        let mut sources: Vec<u32> = writes.collect();
        if !self.is_overwritten_at_entry(read) {
            let before = sources.partition_point(|&write| write < read);
            sources.insert(before, ENTRY);
        }
        sources
    }

    /// The writes of a group that a read may see, the nearest first: these are the likeliest.
    fn visible(&self, read: u32, group: u32) -> impl Iterator<Item = u32> {
        let group = self.window.group(group);
        let split = group.partition_point(|&write| write < read);
        let near = group[..split].iter().rev().chain(&group[split..]).copied();
        let last: Vec<u32> = self.last_writes_before(read).collect();
        near.filter(move |&write| self.can_see(read, write, &last))
    }

    /// Whether a read may see something from outside of the window.
    pub(super) fn can_see_outside(&self, read: u32, outside: u32) -> bool {
        let outside = self.window.outside(outside);
        outside.absent
            || (outside.initial && !self.is_overwritten_at_entry(read))
            || outside.before.iter().any(|&thread| !self.has_begun_before_overwriting(thread, read))
            || outside.after.iter().any(|&thread| self.may_leave_before(thread, read))
    }

    /// Whether a write comes before the read and after something that the thread does in the window, so that what it
    /// did before the window is overwritten.
    fn has_begun_before_overwriting(&self, thread: u32, read: u32) -> bool {
        self.last_writes_before(read).any(|write| {
            self.window.thread[write as usize] == thread || self.known(write)[thread as usize] > 0
        })
    }

    /// Whether the thread may run all its events of the window and more before the read.
    fn may_leave_before(&self, thread: u32, read: u32) -> bool {
        let events = &self.window.threads[thread as usize];
        let running = self.running[thread as usize] as usize;
        let is_after = running.checked_sub(1).is_some_and(|last| {
            events[last] == read || (self.runs(read) && self.is_before(read, events[last]))
        });
        self.window.limit[thread as usize] as usize == events.len() && !is_after
    }

    /// Whether a read may see a write, as far as is known; `last` are the last writes before the read.
    pub(super) fn can_see(&self, read: u32, write: u32, last: &[u32]) -> bool {
        let window = self.window;
        let thread = window.thread[write as usize] as usize;
        if write == read || window.place[write as usize] >= window.limit[thread] {
            return false;
        }
        if self.runs(write) {
            let is_overwritten = last.iter().any(|&other| other != write && self.is_before(write, other));
            return !is_overwritten && !self.is_before(read, write);
        }
        // A write that need not run comes after all events of its thread that must.
        match self.running[thread].checked_sub(1) {
            Some(last) => {
                let last = window.threads[thread][last as usize];
                last != read && !self.is_before(read, last)
            }
            None => true,
        }
    }

    fn is_overwritten_at_entry(&self, read: u32) -> bool {
        self.last_writes_before(read).next().is_some()
    }

    /// The last write of each thread that is known to be before the read.
    pub(crate) fn last_writes_before(&self, read: u32) -> impl Iterator<Item = u32> {
        let window = self.window;
        let runs = self.runs(read);
        let writes = window.variable(read).map_or(&[][..], |variable| &variable.writes);
        writes.iter().filter(move |_| runs).filter_map(move |(thread, writes)| {
            let before = self.known(read)[*thread as usize];
            writes[..writes.partition_point(|&write| window.place[write as usize] < before)].last().copied()
        })
    }
}
