//! Who keeps a thread from taking its next step, by name: what a deadlock is judged by.

use foretell_trace::{LockId, Op, ThreadId, ops};

use super::{Machine, NONE};
use crate::blocked::Blocked;

impl Machine<'_> {
    /// Whether the thread comes to its next event, an operation that may have to wait, and attempts it now.
    pub fn could_wait(&self, thread: ThreadId) -> Result<(), Blocked> {
        let index = self.next_taking_place(thread)?;
        match &self.computed {
            Some(computed) => {
                computed.could_take_place(self.turn(index, self.observed.event(index)), |_| true)
            }
            None => Ok(()),
        }
    }

    /// The threads each of which keeps the next event of this one from running for as long as it does not run itself:
    /// those that hold the lock, or have not come to their end. Empty if the event would not wait without end.
    pub fn held_up_by(&self, thread: ThreadId) -> Vec<ThreadId> {
        let Some(next) = self.next(thread) else { return Vec::new() };
        match self.observed.trace().event(next).op {
            Op::Acquire(lock) | Op::Woken { lock, .. } | Op::WaitTimeout { lock, .. } => {
                self.holders(lock, thread, true)
            }
            Op::AcquireShared(lock) => self.holders(lock, thread, false),
            Op::Join(child) if self.threads[child.index()].next != NONE => vec![child],
            // Who tries does not wait, and for all else it is not certain threads that one waits for.
            Op::Join(_)
            | Op::TryAcquire(_)
            | Op::TryAcquireShared(_)
            | Op::Release(_)
            | Op::ReleaseShared(_)
            | Op::Fork(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Wait { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | semaphores | barriers | labels | reentries | attempts) => Vec::new(),
        }
    }

    /// The other threads that hold the lock; shared holds count for those who want it for themselves alone.
    fn holders(&self, lock: LockId, thread: ThreadId, alone: bool) -> Vec<ThreadId> {
        let state = &self.locks[lock.index()];
        let readers = state.readers.iter().filter(|_| alone);
        state.writer.iter().chain(readers).copied().filter(|&holder| holder != thread).collect()
    }
}
