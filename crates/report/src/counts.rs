//! What a trace is made of.

use foretell_trace::{AccessKind, Event, Op};
use serde::{Deserialize, Serialize};

/// Figures of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Plain reads.
    pub reads: u64,
    /// Plain writes.
    pub writes: u64,
    /// Atomic accesses.
    pub atomics: u64,
    /// Everything that orders threads: locks, forks, joins, waiting, semaphores, barriers, fences, allocation.
    pub syncs: u64,
    /// Branches.
    pub branches: u64,
    /// Accesses that show values.
    pub with_values: u64,
}

impl Counts {
    /// Counts one more event.
    pub fn add(&mut self, event: &Event) {
        match event.op.access() {
            Some(access) if access.atomic => self.atomics += 1,
            Some(access) if access.kind == AccessKind::Read => self.reads += 1,
            Some(_) => self.writes += 1,
            None if event.op == Op::Branch => self.branches += 1,
            None if !matches!(event.op, Op::Enter(_) | Op::Exit(_) | Op::Dummy(_)) => self.syncs += 1,
            None => {}
        }
        self.with_values += u64::from(event.op.value_read().is_some() || event.op.value_written().is_some());
    }

    /// All accesses.
    pub fn accesses(&self) -> u64 {
        self.reads + self.writes + self.atomics
    }
}
