//! Vector clocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_trace::ThreadId;

/// Local time of a thread. Starts at 1 for a thread's first event; 0 means "nothing of that thread".
pub type Time = u32;

/// Times of the first threads lie side by side, which is quick.
const NEAR: usize = 256;
/// Those of all others lie in pages of so many, which clocks share until they change: of tens of thousands of threads
/// each knows few, or nearly the same as others.
const PAGE: usize = 256;

type Page = [Time; PAGE];

/// For each thread, up to which local time its events are known to come before.
///
/// Entries beyond the end are 0, so clocks of different lengths compare as one expects.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    near: Vec<Time>,
    /// By the index of their first thread.
    far: BTreeMap<usize, Arc<Page>>,
}

impl Clock {
    /// Up to when `thread` is known.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> Time {
        self.at(thread.index())
    }

    /// Up to when the thread with this index is known.
    #[inline]
    pub fn at(&self, index: usize) -> Time {
        match self.near.get(index) {
            Some(&time) => time,
            None if self.far.is_empty() => 0,
            None => self.far_at(index),
        }
    }

    #[cold]
    fn far_at(&self, index: usize) -> Time {
        self.far.get(&(index - index % PAGE)).map_or(0, |page| page[index % PAGE])
    }

    /// Sets what is known of `thread`.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, time: Time) {
        self.set_at(thread.index(), time);
    }

    /// Sets what is known of the thread with this index.
    #[inline]
    pub fn set_at(&mut self, index: usize, time: Time) {
        if index >= NEAR {
            return self.set_far(index, time);
        }
        if index >= self.near.len() {
            self.near.resize(index + 1, 0);
        }
        self.near[index] = time;
    }

    #[cold]
    fn set_far(&mut self, index: usize, time: Time) {
        let page = self.far.entry(index - index % PAGE).or_insert_with(|| Arc::new([0; PAGE]));
        Arc::make_mut(page)[index % PAGE] = time;
    }

    /// Raises what is known of `thread` to at least `time`.
    #[inline]
    pub fn raise(&mut self, thread: ThreadId, time: Time) {
        if time > self.get(thread) {
            self.set(thread, time);
        }
    }

    /// Lets the time of `thread` go on.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) {
        self.set(thread, self.get(thread) + 1);
    }

    /// Learns all that `other` knows.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        if other.near.len() > self.near.len() {
            self.near.resize(other.near.len(), 0);
        }
        for (mine, theirs) in self.near.iter_mut().zip(&other.near) {
            *mine = (*mine).max(*theirs);
        }
        if !other.far.is_empty() {
            join_far(&mut self.far, &other.far);
        }
    }

    /// Whether `other` knows all that this clock knows.
    pub fn is_within(&self, other: &Clock) -> bool {
        let common = self.near.len().min(other.near.len());
        let (shared, rest) = self.near.split_at(common);
        // Without an early exit the comparison is one run of vector instructions.
        let within =
            shared.iter().zip(&other.near).fold(true, |within, (mine, theirs)| within & (mine <= theirs));
        within && rest.iter().all(|&time| time == 0) && (self.far.is_empty() || self.is_far_within(other))
    }

    #[cold]
    fn is_far_within(&self, other: &Clock) -> bool {
        self.far.iter().all(|(first, mine)| match other.far.get(first) {
            Some(theirs) => {
                Arc::ptr_eq(mine, theirs) || mine.iter().zip(&**theirs).all(|(mine, theirs)| mine <= theirs)
            }
            None => mine.iter().all(|&time| time == 0),
        })
    }

    /// Whether both know the same of all threads but this one.
    pub fn is_same_but_for(&self, other: &Clock, own: ThreadId) -> bool {
        let length = self.near.len().max(other.near.len());
        let near = (0..length).all(|index| index == own.index() || self.at(index) == other.at(index));
        near && (self.far.is_empty() && other.far.is_empty() || self.is_far_same_but_for(other, own))
    }

    #[cold]
    fn is_far_same_but_for(&self, other: &Clock, own: ThreadId) -> bool {
        let mut same = self.clone();
        same.set(own, other.get(own));
        same.is_far_within(other) && other.is_far_within(&same)
    }

    /// Becomes a copy of `other`, keeping its memory.
    pub fn copy_from(&mut self, other: &Clock) {
        self.near.clone_from(&other.near);
        if !(self.far.is_empty() && other.far.is_empty()) {
            self.far.clone_from(&other.far);
        }
    }

    /// Forgets everything, keeping its memory.
    pub fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
    }

    /// Whether nothing was ever known.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    /// Of threads with larger indices nothing is known.
    pub fn len(&self) -> usize {
        self.far.last_key_value().map_or(self.near.len(), |(first, _)| first + PAGE)
    }

    /// How many of the first threads lie side by side.
    pub fn near_len(&self) -> usize {
        self.near.len()
    }

    /// The indices of the other threads of which more is known here than there.
    pub fn far_beyond(&self, other: &Clock) -> Vec<usize> {
        let mut beyond = Vec::new();
        for (&first, mine) in &self.far {
            let theirs = other.far.get(&first);
            if theirs.is_none_or(|theirs| !Arc::ptr_eq(mine, theirs)) {
                let theirs = theirs.map_or(&[0; PAGE], |theirs| &**theirs);
                beyond.extend((0..PAGE).filter(|&at| mine[at] > theirs[at]).map(|at| first + at));
            }
        }
        beyond
    }

    /// What is known of the other threads is the same there: both share it from now on.
    pub fn share_far(&mut self, other: &Clock) {
        if !other.far.is_empty() {
            self.far.clone_from(&other.far);
        }
    }

    /// Each thread of which something may be known, with up to when.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, Time)> {
        let near = self.near.iter().copied().enumerate();
        let far = self.far.iter().flat_map(|(&first, page)| (first..).zip(page.iter().copied()));
        near.chain(far).filter_map(|(index, time)| Some((ThreadId::from_index(index)?, time)))
    }

    /// The times of the first threads by index, and those of the others with theirs.
    pub fn times(&self) -> (&[Time], impl Iterator<Item = (usize, Time)>) {
        let far = self.far.iter().flat_map(|(&first, page)| (first..).zip(page.iter().copied()));
        (&self.near, far)
    }
}

#[cold]
fn join_far(mine: &mut BTreeMap<usize, Arc<Page>>, theirs: &BTreeMap<usize, Arc<Page>>) {
    for (&first, theirs) in theirs {
        let mine = mine.entry(first).or_insert_with(|| Arc::clone(theirs));
        if Arc::ptr_eq(mine, theirs) || mine.iter().zip(&**theirs).all(|(mine, theirs)| mine >= theirs) {
            continue;
        }
        for (mine, theirs) in Arc::make_mut(mine).iter_mut().zip(&**theirs) {
            *mine = (*mine).max(*theirs);
        }
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
    #[inline]
    pub fn of(&mut self, thread: ThreadId) -> &mut Clock {
        if thread.index() >= self.threads.len() {
            self.add(thread);
        }
        &mut self.threads[thread.index()]
    }

    /// The clock of a thread that has been seen before.
    #[inline]
    pub fn seen(&self, thread: ThreadId) -> &Clock {
        &self.threads[thread.index()]
    }

    /// `to` learns all that `from` knows.
    #[inline]
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

    /// What `thread` did so far has been made known to others: its later events have another time.
    #[inline]
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

/// Many clocks in one piece of memory: a table with a row per id. Of many threads, what is known of the later ones is
/// beside it.
#[derive(Debug, Default)]
pub struct ClockTable {
    times: Vec<Time>,
    /// How many threads a row has room for.
    width: usize,
    /// By row.
    far: BTreeMap<usize, BTreeMap<usize, Arc<Page>>>,
}

impl ClockTable {
    /// Row `row` becomes a copy of `clock`.
    pub fn copy_from(&mut self, row: usize, clock: &Clock) {
        let near = &clock.near;
        if near.len() > self.width {
            self.widen(near.len().next_power_of_two());
        }
        let begin = row * self.width;
        if begin + self.width > self.times.len() {
            self.times.resize(begin + self.width, 0);
        }
        let (known, rest) = self.times[begin..begin + self.width].split_at_mut(near.len());
        known.copy_from_slice(near);
        rest.fill(0);
        if !(clock.far.is_empty() && self.far.is_empty()) {
            self.copy_far(row, clock);
        }
    }

    #[cold]
    fn copy_far(&mut self, row: usize, clock: &Clock) {
        if clock.far.is_empty() {
            self.far.remove(&row);
        } else {
            self.far.insert(row, clock.far.clone());
        }
    }

    /// `clock` learns all that row `row` knows.
    pub fn join_into(&self, row: usize, clock: &mut Clock) {
        let begin = row * self.width;
        let Some(times) = self.times.get(begin..begin + self.width) else { return };
        let known = times.iter().rposition(|&time| time != 0).map_or(0, |last| last + 1);
        if known > clock.near.len() {
            clock.near.resize(known, 0);
        }
        for (mine, theirs) in clock.near.iter_mut().zip(times) {
            *mine = (*mine).max(*theirs);
        }
        if let Some(far) = self.far.get(&row).filter(|_| !self.far.is_empty()) {
            join_far(&mut clock.far, far);
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
        Clock { near: times.to_vec(), far: BTreeMap::new() }
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
    fn clocks_of_many_threads_are_like_those_of_few() {
        let far = |known: &[(usize, Time)]| {
            let mut clock = Clock::default();
            known.iter().for_each(|&(index, time)| clock.set(thread(index), time));
            clock
        };
        let one = far(&[(3, 1), (1_000, 2), (70_000, 9)]);
        let mut other = far(&[(3, 4), (1_001, 5)]);
        assert!(!one.is_within(&other) && !other.is_within(&one));
        other.join(&one);
        assert!(one.is_within(&other) && !other.is_within(&one));
        assert_eq!(other, far(&[(3, 4), (1_000, 2), (1_001, 5), (70_000, 9)]));
        assert!(other.is_same_but_for(&far(&[(3, 4), (1_000, 2), (70_000, 9)]), thread(1_001)));
        assert_eq!([one.at(1_000), one.at(1_001), one.at(99_999)], [2, 0, 0]);
        assert_eq!(one.len(), 70_144);
        let mut table = ClockTable::default();
        table.copy_from(1, &one);
        table.copy_from(0, &clock(&[7]));
        let mut joined = far(&[(1_000, 1)]);
        table.join_into(1, &mut joined);
        assert_eq!(joined, one);
        table.copy_from(1, &clock(&[7]));
        joined.clear();
        table.join_into(1, &mut joined);
        assert_eq!(joined, clock(&[7]));
    }

    /// Tens of thousands of threads, each started and waited for: as one table of all with all that would be tens of
    /// gigabytes.
    #[test]
    fn many_threads_share_what_they_know() {
        const MANY: usize = 30_000;
        let mut clocks = Clocks::default();
        for child in (1..MANY).map(thread) {
            clocks.join(child, thread(0));
            clocks.advance(thread(0));
            clocks.join(thread(0), child);
        }
        let mut pages: Vec<*const Page> =
            clocks.threads.iter().flat_map(|clock| clock.far.values().map(Arc::as_ptr)).collect();
        pages.sort_unstable();
        pages.dedup();
        assert!(pages.len() < 3 * MANY, "{} pages", pages.len());
        assert_eq!(clocks.of(thread(0)).get(thread(MANY - 1)), 1);
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
