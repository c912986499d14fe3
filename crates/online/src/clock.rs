//! Vector clocks, and epochs: a thread and its time in one number.

/// Local time of a thread. All threads take their times from one counter, so a later time of any thread is a larger
/// number.
pub(crate) type Time = u64;

/// How many bits of an epoch are the bytes of a word.
const BYTES: u32 = 8;
/// How many bits of an epoch are a time.
const TIME: u32 = 40;

/// There are no later times.
pub(crate) const LAST_TIME: Time = (1 << TIME) - 1;
/// Threads have smaller numbers.
pub(crate) const MOST_THREADS: u32 = 0xFFF0;

/// An epoch of a thread; and, where it is that of an access, which bytes of a word it touched, as bits. Thread, time
/// and bytes in one number, so that it takes one comparison to see that an access only repeats another. The default
/// is before everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Epoch(u64);

impl Epoch {
    /// Before everything.
    pub(crate) const NONE: Epoch = Epoch(0);
    /// No epoch: the state of the word does not fit here.
    pub(crate) const ELSEWHERE: Epoch = Epoch(0xFFFE << (TIME + BYTES));
    /// No epoch at all: the word is seen by other processes, or at other addresses.
    pub(crate) const OUTSIDE: Epoch = Epoch(0xFFFF << (TIME + BYTES));

    /// The thread has a number below [`MOST_THREADS`], and the time is at most [`LAST_TIME`].
    pub(crate) fn new(thread: u32, time: Time) -> Epoch {
        Epoch(u64::from(thread) << (TIME + BYTES) | time << BYTES)
    }

    /// The same epoch, for an access to these bytes.
    #[inline(always)]
    pub(crate) fn with(self, bytes: u8) -> Epoch {
        Epoch(self.0 & !0xFF | u64::from(bytes))
    }

    /// The bytes of the access, if it is one.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is wanted")]
    pub(crate) fn bytes(self) -> u8 {
        self.0 as u8
    }

    /// Whether this is the same epoch, of an access to these bytes at least.
    #[inline(always)]
    pub(crate) fn has(self, other: Epoch) -> bool {
        self.with(0) == other.with(0) && other.bytes() & !self.bytes() == 0
    }

    /// The other epoch, with the bytes of both if it is the same one.
    #[inline(always)]
    pub(crate) fn and(self, other: Epoch) -> Epoch {
        if self.with(0) == other.with(0) { Epoch(self.0 | other.0) } else { other }
    }

    /// Whose epoch it is.
    #[inline(always)]
    pub(crate) fn thread(self) -> u32 {
        (self.0 >> (TIME + BYTES)) as u32
    }

    /// When it was.
    #[inline(always)]
    pub(crate) fn time(self) -> Time {
        self.0 >> BYTES & LAST_TIME
    }

    /// Whether it is an epoch.
    #[inline(always)]
    pub(crate) fn is_epoch(self) -> bool {
        self.0 < Epoch::ELSEWHERE.0
    }
}

/// For each thread, up to which time its doings are known to come before. Entries beyond the end are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Vec<Time>);

impl Clock {
    /// Up to when the thread is known.
    #[inline(always)]
    pub(crate) fn get(&self, thread: u32) -> Time {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    /// Up to when threads are known, by their numbers.
    #[inline(always)]
    pub(crate) fn times(&self) -> &[Time] {
        &self.0
    }

    /// Sets what is known of the thread.
    pub(crate) fn set(&mut self, thread: u32, time: Time) {
        let index = thread as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        if let Some(known) = self.0.get_mut(index) {
            *known = time;
        }
    }

    /// Learns all that `other` knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        if other.0.is_empty() {
            return;
        }
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes a copy of `other`, keeping its memory.
    pub(crate) fn copy_from(&mut self, other: &Clock) {
        self.0.clone_from(&other.0);
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_keep_what_they_are_made_of() {
        for (thread, time) in [(0, 0), (7, 9), (MOST_THREADS - 1, LAST_TIME)] {
            let epoch = Epoch::new(thread, time);
            assert!(epoch.is_epoch());
            assert_eq!((epoch.thread(), epoch.time(), epoch.bytes()), (thread, time, 0));
            let access = epoch.with(0xF0);
            assert_eq!((access.thread(), access.time(), access.bytes()), (thread, time, 0xF0));
            assert_eq!(access.with(0), epoch);
        }
        assert!(!Epoch::ELSEWHERE.is_epoch() && !Epoch::OUTSIDE.is_epoch());
    }
}
