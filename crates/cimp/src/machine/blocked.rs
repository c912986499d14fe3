//! Blocked threads.

use std::fmt;

use super::{Action, Machine, Shadow};
use crate::program::Position;
use crate::value::ThreadRef;

/// A blocked thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Blocked {
    /// The name of the thread.
    pub thread: String,
    /// Where it stands in the program.
    pub position: Position,
    /// What it waits for.
    pub wants: Wanted,
}

/// What a thread may wait for, by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wanted {
    /// A lock that another thread holds.
    Lock {
        /// The lock.
        lock: String,
        /// Its holder.
        owner: String,
    },
    /// A permit of a semaphore.
    Permit(String),
    /// A notification of a condition.
    Notification(String),
    /// The end of a thread.
    End(String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits at {} for ", self.thread, self.position)?;
        match &self.wants {
            Wanted::Lock { lock, owner } => write!(f, "{lock}, which {owner} holds"),
            Wanted::Permit(semaphore) => write!(f, "a permit of {semaphore}"),
            Wanted::Notification(condition) => write!(f, "a notification of {condition}"),
            Wanted::End(thread) => write!(f, "the end of {thread}"),
        }
    }
}

impl<S: Shadow> Machine<'_, S> {
    /// Whether some thread has not ended, but none can run.
    pub fn is_deadlocked(&self) -> bool {
        self.failure.is_none() && !self.is_finished() && self.threads().all(|thread| !self.enabled(thread))
    }

    /// All threads that are blocked now, and what they wait for.
    pub fn blocked(&self) -> Vec<Blocked> {
        self.threads().filter_map(|thread| self.blocked_thread(thread)).collect()
    }

    /// The thread that holds the lock which the thread's next step takes, or that the step joins. Nothing is said of
    /// notifications: who waits for one as well waits for the lock in any case.
    pub fn held_up_by(&self, thread: ThreadRef) -> Option<String> {
        let step = self.next(thread).filter(|_| !self.enabled(thread))?;
        match step.action {
            Action::Acquire(lock) | Action::Woken { lock, .. } => {
                let lock = &self.locks[lock as usize];
                (lock.depth > 0 && lock.owner != thread).then(|| self.thread_name(lock.owner))
            }
            Action::Join(other) => Some(self.thread_name(other)),
            _ => None,
        }
    }

    fn blocked_thread(&self, thread: ThreadRef) -> Option<Blocked> {
        let step = self.next(thread).filter(|_| !self.enabled(thread))?;
        let wants = match step.action {
            Action::Woken { condition, .. } if self.waits_for(thread, condition) => {
                Wanted::Notification(self.program.condition_name(condition))
            }
            Action::Acquire(lock) | Action::Woken { lock, .. } => Wanted::Lock {
                lock: self.program.lock_name(lock),
                owner: self.thread_name(self.locks[lock as usize].owner),
            },
            Action::SemWait(semaphore) => Wanted::Permit(self.program.semaphore_name(semaphore)),
            Action::Join(other) => Wanted::End(self.thread_name(other)),
            _ => return None,
        };
        Some(Blocked { thread: self.thread_name(thread), position: step.position, wants })
    }
}
