//! Uses after a free as the document describes them.

use std::collections::BTreeSet;

use super::World;
use super::read::Act;

/// The use, and the free of another thread that has run by then, by number.
pub type FreedUse = (u32, u32);

impl World<'_> {
    pub(super) fn note_freed_uses(&self, found: &mut BTreeSet<FreedUse>) {
        for thread in 0..self.script.threads.len() {
            let Some((index, event)) = self.next(thread) else { continue };
            let Some(access) = event.act.access() else { continue };
            if event.is_unexplained || self.is_stopped(event) {
                continue;
            }
            let events = self.script.events.iter().enumerate();
            let frees = events.filter(|(_, other)| matches!(other.act, Act::Free(var) if var == access.var));
            let earlier = frees.filter(|&(free, other)| other.thread != thread && self.has_run(free));
            found.extend(earlier.map(|(free, _)| (number(index), number(free))));
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}
