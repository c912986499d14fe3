//! What a thread may do while it is its turn: look at its own state, write to the log, hand over.

use foretell_wire::record::{Record, SyncOp};

use crate::log::{LOG, LONGEST_RANGE};
use crate::scheduler::{self, Reason, State, Waiting, hand_over, random};
use crate::system::{errno, set_errno};
use crate::thread::{Thread, me};

/// A thread goes on for twice so many steps at most, half of them on average.
const LONG_QUANTUM: u32 = 2000;
/// Every fourth time it goes on only so long: short programs shall see changes of turn, too.
const SHORT_QUANTUM: u32 = 20;

/// It is the calling thread's turn, and it is in our code. Ends when dropped.
pub(crate) struct Turn {
    pub(crate) me: &'static Thread,
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        self.me.inside.set(false);
    }
}

impl Turn {
    /// None if the calling thread is not recorded, or was in our code already: a signal handler, or the C library
    /// calling itself.
    #[inline]
    pub(crate) fn take() -> Option<Turn> {
        let me = me()?;
        if me.inside.replace(true) {
            return None;
        }
        Some(Turn { me })
    }

    /// One step of the program: now and then somebody else goes on first.
    #[inline]
    pub(crate) fn step(&self) {
        match self.me.quantum.get().checked_sub(1) {
            Some(rest) => self.me.quantum.set(rest),
            None => self.change(),
        }
    }

    /// A step at which threads meet: a good moment for somebody else to go on.
    pub(crate) fn meeting(&self) {
        if random(4) == 0 {
            self.change();
        }
    }

    /// Lets others go on first.
    #[cold]
    pub(crate) fn change(&self) {
        let longest = if random(4) == 0 { SHORT_QUANTUM } else { LONG_QUANTUM };
        self.me.quantum.set(1 + random(longest));
        self.hand_over(State::Ready);
    }

    /// Waits until somebody wakes those who wait on the address, or looks again after a while if `looks_again`.
    pub(crate) fn wait(&self, on: usize, deadline: Option<u64>, looks_again: bool) -> Reason {
        self.hand_over(State::Waiting(Waiting { on, deadline, looks_again }))
    }

    /// Waits for so long, in counted time.
    pub(crate) fn sleep(&self, nanoseconds: u64) {
        self.wait(0, Some(deadline_in(nanoseconds)), false);
    }

    /// Does something that may block, while others go on.
    pub(crate) fn away<R>(&self, act: impl FnOnce() -> R) -> R {
        self.fence_if_outside();
        scheduler::go_away(self.me, State::Away);
        let result = act();
        let error = errno();
        scheduler::come_back(self.me);
        self.fence_if_outside();
        set_errno(error);
        result
    }

    fn hand_over(&self, state: State) -> Reason {
        let error = errno();
        self.fence_if_outside();
        let reason = hand_over(self.me, state);
        self.fence_if_outside();
        set_errno(error);
        reason
    }

    /// Nothing may be reordered around what happens here.
    pub(crate) fn fence(&self, site: u64) {
        self.log_for(self.me.id, &Record::Opaque { site });
    }

    /// A thread that hands over while it is in code that is not instrumented (it was called back, or a library has met one
    /// of the functions that we replace) may have touched any memory before, and will after it comes back.
    fn fence_if_outside(&self) {
        if self.me.stack.is_outside() {
            self.fence(self.me.site.get());
        }
    }

    /// Adds to the log what somebody may want to know the calls of.
    #[inline]
    pub(crate) fn log(&self, record: &Record<'_>) {
        if self.me.stack.has_changed() {
            self.me.stack.tell(|change| self.log_for(self.me.id, &change));
        }
        self.log_for(self.me.id, record);
    }

    /// Adds to the log what another thread has done, which is waiting for us to do it.
    #[inline]
    pub(crate) fn log_for(&self, thread: u32, record: &Record<'_>) {
        // It is our turn, and nothing else holds on to the log.
        unsafe { LOG.get() }.put(thread, record);
    }

    /// Adds to the log what reads memory: a later branch may depend on it.
    #[inline]
    pub(crate) fn log_read(&self, record: &Record<'_>) {
        self.me.has_read.set(true);
        self.log(record);
    }

    /// A decision; of no interest if nothing was read since the last one.
    #[inline]
    pub(crate) fn log_branch(&self, site: u64) {
        if self.me.has_read.replace(false) {
            self.log_for(self.me.id, &Record::Branch { site });
        }
    }

    /// Adds synchronisation to the log. Its place is where the thread last called out.
    pub(crate) fn log_sync(&self, op: SyncOp, object: usize, other: u64) {
        scheduler::note_progress();
        self.log(&Record::Sync { site: self.me.site.get(), op, object: object as u64, other });
    }

    /// Adds bytes to the log, in as many records as they need.
    pub(crate) fn log_range(&self, bytes: &[u8], record: impl Fn(u64, &[u8]) -> Record<'_>) {
        for (index, piece) in bytes.chunks(LONGEST_RANGE).enumerate() {
            self.log_read(&record((index * LONGEST_RANGE) as u64, piece));
        }
    }
}

/// The moment so long from now, in counted time. Rounded, because what is left of a time on a real clock never is the same.
pub(crate) fn deadline_in(nanoseconds: u64) -> u64 {
    const GRAIN: u64 = 1_000_000;
    scheduler::clock().saturating_add(nanoseconds.div_ceil(GRAIN).saturating_mul(GRAIN))
}
