//! Tasks, and what they depend on.

use std::collections::BTreeMap;

use foretell_wire::record::SyncOp;

use super::OpenMpState;
use super::words::{OpenMpWordUse, receive, send, word};
use crate::scheduler::wake_waiters;
use crate::turn::Turn;

/// What the word of a task holds once it was created, and once it has ended.
const CREATED: u64 = 1;
const ENDED: u64 = 2;

/// Kinds of dependences, as the interface numbers them.
const IN: u32 = 1;
const MUTEXINOUTSET: u32 = 4;
const INOUTSET: u32 = 7;

/// A task that has not been forgotten.
#[derive(Default)]
pub(super) struct Task {
    /// The task that has created it.
    parent: u64,
    /// The region that it was created in.
    region: u64,
    /// The tasks that it has created and not waited for.
    children: Vec<u64>,
    /// The groups that it has begun, the innermost one last.
    groups: Vec<u64>,
    /// The group that it was created in.
    group: Option<u64>,
    /// A task of the program, not one that a region has by itself.
    is_explicit: bool,
    /// Its creator waits for it.
    is_undeferred: bool,
    /// It may go on on another thread than the one that it stopped on.
    pub(super) is_untied: bool,
    /// How often it has stopped, if that matters.
    stops: u64,
    has_begun: bool,
    has_ended: bool,
    is_detached: bool,
    is_fulfilled: bool,
    /// The tasks that it comes after.
    after: Vec<u64>,
    /// What it excludes others from.
    exclusive: Vec<u64>,
    /// What its children depend on.
    dependences: BTreeMap<u64, Dependence>,
}

/// The tasks that have named a place so far, as far as later ones can depend on them.
#[derive(Default)]
struct Dependence {
    /// Those that came last, which do not depend on each other if there are several.
    last: Vec<u64>,
    kind: u32,
    /// Those before them.
    before: Vec<u64>,
}

/// The lock of tasks that exclude each other from a place.
fn lock(place: u64) -> usize {
    usize::try_from(word(OpenMpWordUse::Exclusive, &[place])).unwrap_or(usize::MAX)
}

impl OpenMpState {
    /// A task creates another one.
    pub(super) fn create(&mut self, turn: &Turn, parent: u64, region: u64, is_undeferred: bool) -> u64 {
        let number = self.number();
        let group = self.tasks.get(&parent).and_then(|task| task.groups.last().copied().or(task.group));
        self.tasks.insert(
            number,
            Task { parent, region, group, is_explicit: true, is_undeferred, ..Task::default() },
        );
        if let Some(parent) = self.tasks.get_mut(&parent) {
            parent.children.push(number);
        }
        if let Some(region) = self.regions.get_mut(&region) {
            region.tasks.push(number);
        }
        if let Some(group) = group {
            self.groups.entry(group).or_default().push(number);
        }
        send(turn, word(OpenMpWordUse::Task, &[number]), CREATED);
        number
    }

    /// A task depends on a place, in one of the ways that the interface numbers.
    pub(super) fn depend(&mut self, task: u64, place: u64, kind: u32) {
        let Some(parent) = self.tasks.get(&task).map(|task| task.parent) else { return };
        let Some(parent) = self.tasks.get_mut(&parent) else { return };
        let known = parent.dependences.entry(place).or_default();
        if known.kind != kind || !matches!(kind, IN | MUTEXINOUTSET | INOUTSET) {
            known.before = std::mem::take(&mut known.last);
            known.kind = kind;
        }
        known.last.push(task);
        let after = known.before.clone();
        if let Some(task) = self.tasks.get_mut(&task) {
            task.after.extend(after);
            if kind == MUTEXINOUTSET {
                task.exclusive.push(place);
            }
        }
    }

    /// Whether a task that has not begun could have begun on other threads of the team, too.
    pub(super) fn is_for_all(&mut self, thread: u32, number: u64) -> bool {
        self.team(thread).is_some_and(|team| team.size > 1)
            && self
                .tasks
                .get(&number)
                .is_some_and(|task| task.is_explicit && !task.is_undeferred && !task.has_begun)
    }

    /// A task begins, or goes on; says whether it begins. (Implicit tasks were not created, and begin otherwise.)
    pub(super) fn begin_task(&mut self, turn: &Turn, number: u64) -> bool {
        let Some(task) = self.tasks.get_mut(&number).filter(|task| task.is_explicit) else { return false };
        if std::mem::replace(&mut task.has_begun, true) {
            if task.stops > 0 {
                receive(turn, word(OpenMpWordUse::Detached, &[number]), task.stops);
            }
            return false;
        }
        receive(turn, word(OpenMpWordUse::Task, &[number]), CREATED);
        let (after, exclusive) = (task.after.clone(), task.exclusive.clone());
        self.receive_ends(turn, &after);
        // No thread waits for these: the library begins a task when it may have all of them.
        for place in exclusive {
            turn.log_effect(SyncOp::TryLock, lock(place), 0);
        }
        true
    }

    /// A task stops and may go on elsewhere.
    pub(super) fn stop_task(&mut self, turn: &Turn, number: u64) {
        if let Some(task) = self.tasks.get_mut(&number).filter(|task| task.is_untied && task.has_begun) {
            task.stops += 1;
            send(turn, word(OpenMpWordUse::Detached, &[number]), task.stops);
        }
    }

    /// The body of a task has ended, and its event has not come.
    pub(super) fn detach(&mut self, turn: &Turn, number: u64) {
        if let Some(task) = self.tasks.get_mut(&number) {
            task.is_detached = true;
            task.stops += 1;
            send(turn, word(OpenMpWordUse::Detached, &[number]), task.stops);
        }
    }

    /// A task has ended.
    pub(super) fn end_task(&mut self, turn: &Turn, number: u64) {
        let region = self.team(turn.me.id).map_or(0, |team| team.region);
        let Some(task) = self.tasks.get_mut(&number).filter(|task| task.is_explicit) else { return };
        if region != task.region {
            // A helper of the library has run it. The library does not report all waits for that.
            turn.fence(turn.me.site.get());
        }
        if task.is_detached {
            receive(turn, word(OpenMpWordUse::Detached, &[number]), task.stops);
        }
        if task.is_fulfilled {
            receive(turn, word(OpenMpWordUse::Fulfilled, &[number]), CREATED);
        }
        for &place in task.exclusive.iter().rev() {
            turn.log_effect(SyncOp::Unlock, lock(place), 0);
        }
        task.has_ended = true;
        task.dependences.clear();
        send(turn, word(OpenMpWordUse::Task, &[number]), ENDED);
        if task.is_undeferred {
            receive(turn, word(OpenMpWordUse::Task, &[number]), ENDED);
        }
    }

    /// The event of a task has come, which is still running.
    pub(super) fn fulfil(&mut self, turn: &Turn, number: u64) {
        if let Some(task) = self.tasks.get_mut(&number) {
            task.is_fulfilled = true;
            send(turn, word(OpenMpWordUse::Fulfilled, &[number]), CREATED);
        }
    }

    /// The thread has waited for these tasks. Those that are not known any more have ended before a barrier.
    pub(super) fn receive_ends(&self, turn: &Turn, tasks: &[u64]) {
        let has_ended = |number: &&u64| self.tasks.get(number).is_some_and(|task| task.has_ended);
        for &number in tasks.iter().filter(has_ended) {
            receive(turn, word(OpenMpWordUse::Task, &[number]), ENDED);
        }
    }

    /// A task has waited for its children.
    pub(super) fn wait_for_children(&mut self, turn: &Turn, number: u64) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let children = std::mem::take(&mut task.children);
        self.receive_ends(turn, &children);
        let left =
            children.into_iter().filter(|child| self.tasks.get(child).is_some_and(|task| !task.has_ended));
        let left: Vec<u64> = left.collect();
        if let Some(task) = self.tasks.get_mut(&number) {
            task.children.extend(left);
        }
    }

    /// What a task that only waits for others depends on has ended.
    pub(super) fn wait_for_dependences(&mut self, turn: &Turn, number: u64) {
        let after = self.tasks.get(&number).map(|task| task.after.clone()).unwrap_or_default();
        self.receive_ends(turn, &after);
        self.end_task(turn, number);
    }

    /// A task begins a group.
    pub(super) fn begin_group(&mut self, number: u64) {
        let group = self.number();
        self.groups.insert(group, Vec::new());
        if let Some(task) = self.tasks.get_mut(&number) {
            task.groups.push(group);
        }
    }

    /// A task has waited for its innermost group.
    pub(super) fn end_group(&mut self, turn: &Turn, number: u64) {
        let Some(group) = self.tasks.get_mut(&number).and_then(|task| task.groups.pop()) else { return };
        let tasks = self.groups.remove(&group).unwrap_or_default();
        self.receive_ends(turn, &tasks);
        // Tasks that belong to an outer group, too, are waited for there by way of this one.
    }

    /// The region has no task any more that has not ended; what is known of those that have is forgotten.
    pub(super) fn end_tasks(&mut self, turn: &Turn, region: u64) {
        let Some(known) = self.regions.get_mut(&region) else { return };
        let tasks = std::mem::take(&mut known.tasks);
        self.receive_ends(turn, &tasks);
        let mut left = Vec::new();
        for number in tasks {
            if self.tasks.get(&number).is_some_and(|task| task.has_ended) {
                self.tasks.remove(&number);
            } else {
                left.push(number);
            }
        }
        if let Some(known) = self.regions.get_mut(&region) {
            known.tasks.extend(left);
        }
    }

    /// Gives a lock of the library up, as far as the scheduler is concerned.
    pub(super) fn release(&mut self, lock: usize) {
        self.held.remove(&lock);
        wake_waiters(lock, usize::MAX);
    }
}
