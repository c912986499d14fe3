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

    /// Lets the time of `thread` go on.
    pub fn advance(&mut self, thread: ThreadId) {
        self.set(thread, self.get(thread) + 1);
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
        self.of(thread).advance(thread);
    }

    /// `thread` learns all that any thread knows.
    pub fn gather(&mut self, thread: ThreadId) {
        let mut all = self.base.clone();
        for clock in &self.threads {
            all.join(clock);
        }
        self.of(thread).join(&all);
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
                clock.advance(thread);
            }
        }
    }

    /// Whether every other thread that has been seen knows `thread` up to `time`.
    pub fn all_know(&self, thread: ThreadId, time: Time) -> bool {
        self.threads.iter().all(|clock| clock.get(thread) >= time)
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

/// Many clocks in one piece of memory: a table with a row per id.
#[derive(Debug, Default)]
pub struct ClockTable {
    times: Vec<Time>,
    /// How many threads a row has room for.
    width: usize,
}

impl ClockTable {
    /// Row `row` becomes a copy of `clock`.
    pub fn copy_from(&mut self, row: usize, clock: &Clock) {
        if clock.0.len() > self.width {
            self.widen(clock.0.len().next_power_of_two());
        }
        let begin = row * self.width;
        if begin + self.width > self.times.len() {
            self.times.resize(begin + self.width, 0);
        }
        let (known, rest) = self.times[begin..begin + self.width].split_at_mut(clock.0.len());
        known.copy_from_slice(&clock.0);
        rest.fill(0);
    }

    /// `clock` learns all that row `row` knows.
    pub fn join_into(&self, row: usize, clock: &mut Clock) {
        let begin = row * self.width;
        let Some(times) = self.times.get(begin..begin + self.width) else { return };
        let known = times.iter().rposition(|&time| time != 0).map_or(0, |last| last + 1);
        if known > clock.0.len() {
            clock.0.resize(known, 0);
        }
        for (mine, theirs) in clock.0.iter_mut().zip(times) {
            *mine = (*mine).max(*theirs);
        }
    }

    #[cold]
    fn widen(&mut self, width: usize) {
        let old = std::mem::replace(&mut self.width, width);
        let narrow = std::mem::take(&mut self.times);
        let rows = narrow.len().checked_div(old).unwrap_or(0);
        self.times = vec![0; rows * width];
        if old > 0 {
            for (wide, narrow) in self.times.chunks_exact_mut(width).zip(narrow.chunks_exact(old)) {
                wide[..old].copy_from_slice(narrow);
            }
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
    fn a_table_keeps_its_rows_when_it_is_widened() {
        let mut table = ClockTable::default();
        table.copy_from(2, &clock(&[1, 2]));
        table.copy_from(0, &clock(&[3, 0, 4]));
        table.copy_from(1, &clock(&[9, 9, 9, 9, 9]));
        table.copy_from(1, &clock(&[7]));
        let mut joined = clock(&[2]);
        table.join_into(2, &mut joined);
        assert_eq!(joined, clock(&[2, 2]));
        table.join_into(0, &mut joined);
        assert_eq!(joined, clock(&[3, 2, 4]));
        table.join_into(1, &mut joined);
        table.join_into(99, &mut joined);
        assert_eq!(joined, clock(&[7, 2, 4]));
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
