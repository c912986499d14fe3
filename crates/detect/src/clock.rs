//! Vector clocks.

use foretell_trace::ThreadId;

/// Local time of a thread. Starts at 1 for a thread's first event; 0 means "nothing of that thread".
pub type Time = u32;

/// For each thread, up to which local time its events are known to come before.
///
/// Entries beyond the end are 0, so clocks of different lengths compare as one expects.
#[derive(Clone, Debug, Default)]
pub struct Clock(Vec<Time>);

impl Clock {
    /// Up to when `thread` is known.
    pub fn get(&self, thread: ThreadId) -> Time {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets what is known of `thread`.
    pub fn set(&mut self, thread: ThreadId, time: Time) {
        let index = thread.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = time;
    }

    /// Raises what is known of `thread` to at least `time`.
    pub fn raise(&mut self, thread: ThreadId, time: Time) {
        if time > self.get(thread) {
            self.set(thread, time);
        }
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &Clock) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether `other` knows all that this clock knows.
    pub fn is_within(&self, other: &Clock) -> bool {
        let common = self.0.len().min(other.0.len());
        let (shared, rest) = self.0.split_at(common);
        // Without an early exit the comparison is one run of vector instructions.
        let within =
            shared.iter().zip(&other.0).fold(true, |within, (mine, theirs)| within & (mine <= theirs));
        within && rest.iter().all(|&time| time == 0)
    }

    /// Becomes a copy of `other`, keeping its memory.
    pub fn copy_from(&mut self, other: &Clock) {
        self.0.clone_from(&other.0);
    }

    /// Forgets everything, keeping its memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Each thread of which something may be known, with up to when.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, Time)> {
        self.0.iter().enumerate().filter_map(|(index, &time)| Some((ThreadId::from_index(index)?, time)))
    }

    /// The times by thread index; threads beyond the end have time 0.
    pub fn times(&self) -> &[Time] {
        &self.0
    }
}

impl PartialEq for Clock {
    fn eq(&self, other: &Clock) -> bool {
        self.is_within(other) && other.is_within(self)
    }
}

impl Eq for Clock {}

/// The clock of each thread.
///
/// A thread's own entry is its local time: the time that its next accesses will carry.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    threads: Vec<Clock>,
    /// What every thread knows from the start, also those that have not been seen yet.
    base: Clock,
}

impl Clocks {
    /// The clock of `thread`, which begins at time 1.
    pub fn of(&mut self, thread: ThreadId) -> &mut Clock {
        if thread.index() >= self.threads.len() {
            self.add(thread);
        }
        &mut self.threads[thread.index()]
    }

    /// The clock of a thread that has been seen before.
    pub fn seen(&self, thread: ThreadId) -> &Clock {
        &self.threads[thread.index()]
    }

    /// `to` learns all that `from` knows.
    pub fn join(&mut self, to: ThreadId, from: ThreadId) {
        if to == from {
            return;
        }
        self.of(to);
        self.of(from);
        if let Ok([to, from]) = self.threads.get_disjoint_mut([to.index(), from.index()]) {
            to.join(from);
        }
    }

    /// What `thread` did so far has been made known to others: its later events are told apart from it.
    pub fn advance(&mut self, thread: ThreadId) {
        let clock = self.of(thread);
        let now = clock.get(thread);
        clock.set(thread, now + 1);
    }

    /// Everything so far comes before everything from now on; `thread` is where this was noticed.
    pub fn fence(&mut self, thread: ThreadId) {
        self.of(thread);
        for clock in &self.threads {
            self.base.join(clock);
        }
        for (index, clock) in self.threads.iter_mut().enumerate() {
            clock.join(&self.base);
            if let Some(thread) = ThreadId::from_index(index) {
                let now = clock.get(thread);
                clock.set(thread, now + 1);
            }
        }
    }

    /// How many threads have been seen.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether no thread has been seen.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    #[cold]
    fn add(&mut self, thread: ThreadId) {
        while self.threads.len() <= thread.index() {
            let mut clock = self.base.clone();
            if let Some(own) = ThreadId::from_index(self.threads.len()) {
                clock.set(own, 1);
            }
            self.threads.push(clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[Time]) -> Clock {
        Clock(times.to_vec())
    }

    fn thread(index: usize) -> ThreadId {
        ThreadId::from_index(index).unwrap()
    }

    #[test]
    fn clocks_of_different_lengths_compare_as_if_padded() {
        assert!(clock(&[1, 2]).is_within(&clock(&[1, 2, 0])));
        assert!(clock(&[1, 2, 0]).is_within(&clock(&[1, 2])));
        assert_eq!(clock(&[1, 0]), clock(&[1]));
        assert!(!clock(&[0, 0, 1]).is_within(&clock(&[9, 9])));
        let mut joined = clock(&[3]);
        joined.join(&clock(&[1, 5]));
        assert_eq!(joined, clock(&[3, 5]));
    }

    #[test]
    fn a_fence_orders_past_and_future_of_all_threads_also_new_ones() {
        let mut clocks = Clocks::default();
        clocks.of(thread(1));
        clocks.fence(thread(0));
        assert_eq!(clocks.of(thread(2)).get(thread(1)), 1);
        assert_eq!(clocks.of(thread(0)).get(thread(1)), 1);
        assert_eq!(clocks.of(thread(1)).get(thread(1)), 2);
    }
}
