//! What people and traces call things. Names do not depend on the schedule.

use super::{Action, Machine, MemoryLocation, Shadow};
use crate::program::{Group, Program};
use crate::value::{CellRef, ThreadRef, Value};

impl<'p, S: Shadow> Machine<'p, S> {
    /// What the elements of the shared variables hold, by name.
    pub fn shared(&self) -> impl Iterator<Item = (String, Value)> {
        let elements = self.program.shared.iter().flat_map(|shared| elements_of(&shared.group));
        elements.map(|(name, element)| (name, self.memory[element as usize].value))
    }

    /// What the shared variable or element of this name holds.
    pub fn value_of(&self, name: &str) -> Option<Value> {
        let (name, index) = match name.split_once('[') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(']')?.parse::<u32>().ok()?)),
            None => (name, None),
        };
        let group = &self.program.shared.iter().find(|shared| shared.group.name == name)?.group;
        let element = match (group.length, index) {
            (None, None) => group.first,
            (Some(length), Some(index)) if index < length => group.first + index,
            _ => return None,
        };
        Some(self.memory[element as usize].value)
    }

    /// The name of a thread, which does not depend on the schedule: that of its parent and its number there.
    pub fn thread_name(&self, thread: ThreadRef) -> String {
        let mut numbers = Vec::new();
        let mut thread = &self.threads[thread.index()];
        while let Some(parent) = thread.parent {
            numbers.push(thread.number);
            thread = &self.threads[parent.index()];
        }
        let mut name = self.program.threads[thread.number as usize].0.clone();
        for number in numbers.iter().rev() {
            name.push_str(&format!(".{number}"));
        }
        name
    }

    /// The thread of this name, if it was started.
    pub fn thread_named(&self, name: &str) -> Option<ThreadRef> {
        self.threads().find(|&thread| self.thread_name(thread) == name)
    }

    /// The name of the thread that this one would start next.
    pub fn next_child_name(&self, thread: ThreadRef) -> String {
        format!("{}.{}", self.thread_name(thread), self.threads[thread.index()].forks + 1)
    }

    /// The name of a cell.
    pub fn cell_name(&self, cell: CellRef) -> String {
        let kind = self.threads[cell.owner.index()].cells[cell.number as usize].kind;
        let kind = &self.program.cells[kind as usize].name;
        format!("{kind}@{}.{}", self.thread_name(cell.owner), cell.number + 1)
    }

    /// The name of the field of a cell.
    pub fn field_name(&self, cell: CellRef, field: u32) -> &'p str {
        let kind = self.threads[cell.owner.index()].cells[cell.number as usize].kind;
        &self.program.cells[kind as usize].fields[field as usize].0
    }

    /// The name of a place in memory.
    pub fn place_name(&self, place: MemoryLocation) -> String {
        match place {
            MemoryLocation::Shared { variable, element } => {
                element_name(&self.program.shared[variable as usize].group, element)
            }
            MemoryLocation::Field { cell, field } => {
                format!("{}.{}", self.cell_name(cell), self.field_name(cell, field))
            }
        }
    }

    /// Whether accesses of this place are atomic.
    pub fn is_atomic(&self, place: MemoryLocation) -> bool {
        match place {
            MemoryLocation::Shared { variable, .. } => self.program.shared[variable as usize].atomic,
            MemoryLocation::Field { .. } => false,
        }
    }

    /// What the thread does in this step, in words.
    pub fn action_text(&self, thread: ThreadRef, action: Action) -> String {
        let program = self.program;
        match action {
            Action::Read(place) => format!("reads {}", self.place_name(place)),
            Action::Write(place) => format!("writes {}", self.place_name(place)),
            Action::Acquire(lock) => format!("acquires {}", program.lock_name(lock)),
            Action::Release(lock) => format!("releases {}", program.lock_name(lock)),
            Action::SemWait(semaphore) => format!("takes a permit of {}", program.semaphore_name(semaphore)),
            Action::SemPost(semaphore) => format!("gives a permit of {}", program.semaphore_name(semaphore)),
            Action::Wait { condition, .. } => format!("waits for {}", program.condition_name(condition)),
            Action::Woken { condition, .. } => {
                format!("returns from waiting for {}", program.condition_name(condition))
            }
            Action::Notify(condition) => format!("notifies one of {}", program.condition_name(condition)),
            Action::NotifyAll(condition) => format!("notifies all of {}", program.condition_name(condition)),
            Action::Fork(_) => format!("starts {}", self.next_child_name(thread)),
            Action::Join(other) => format!("waits for the end of {}", self.thread_name(other)),
            Action::Fail => "fails".to_owned(),
        }
    }

    /// A value as traces and people write it.
    pub fn value_name(&self, value: Value) -> String {
        match value {
            Value::Number(number) => number.to_string(),
            Value::Cell(cell) => self.cell_name(cell),
            Value::Thread(thread) => self.thread_name(thread),
        }
    }
}

impl Program {
    /// The name of a lock, numbered over all arrays of locks.
    pub fn lock_name(&self, lock: u32) -> String {
        name_among(self.locks.iter(), lock)
    }

    /// The name of a semaphore, numbered over all arrays of semaphores.
    pub fn semaphore_name(&self, semaphore: u32) -> String {
        name_among(self.semaphores.iter().map(|(group, _)| group), semaphore)
    }

    /// The name of a condition, numbered over all arrays of conditions.
    pub fn condition_name(&self, condition: u32) -> String {
        name_among(self.conditions.iter(), condition)
    }
}

fn name_among<'a>(mut groups: impl Iterator<Item = &'a Group>, element: u32) -> String {
    groups
        .find(|group| elements(group).contains(&element))
        .map_or_else(String::new, |g| element_name(g, element))
}

/// The elements of a group among all of their sort.
pub(crate) fn elements(group: &Group) -> std::ops::Range<u32> {
    group.first..group.first + group.length.unwrap_or(1)
}

fn elements_of(group: &Group) -> impl Iterator<Item = (String, u32)> {
    elements(group).map(move |element| (element_name(group, element), element))
}

/// The name of an element of a group.
pub(crate) fn element_name(group: &Group, element: u32) -> String {
    match group.length {
        None => group.name.clone(),
        Some(_) => format!("{}[{}]", group.name, element - group.first),
    }
}
