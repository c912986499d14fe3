//! Following reads through the registers and the memory of threads, up to what they steer.
//!
//! A read is *spent* once it steers something: its thread does nothing as observed from there on if the read sees
//! something else, so it need not be followed any further. Spent sets count as empty, and so sets stay small.

use foretell_trace::dependence::Part;
use foretell_trace::{Dependence, EventId, Reads};
use rustc_hash::FxHashMap;

/// For so many pairs of sets it is remembered what they are together.
const REMEMBERED: usize = 1 << 10;

/// What becomes of the reads of all threads.
#[derive(Debug)]
pub struct Tracker {
    dependence: Dependence,
    threads: Vec<Thread>,
    spent_reads: Bits,
    spent_unions: Bits,
    /// Pairs that were united, each where its numbers lead.
    united: Vec<Option<[Reads; 3]>>,
}

/// What is known of one thread.
#[derive(Debug, Default)]
struct Thread {
    /// The reads that steer whatever it does next.
    steering: Vec<EventId>,
    /// All its reads since the follower last lost track, spent or not.
    reads: Vec<EventId>,
    /// So many unions were made before that.
    given_up: usize,
    /// What each byte of its own memory depends on, eight at a time; where there is nothing, nothing.
    memory: FxHashMap<u64, [Reads; 8]>,
}

/// A set of small numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Says whether it was not there before.
    fn insert(&mut self, index: usize) -> bool {
        if self.0.len() <= index / 64 {
            self.0.resize(index / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.0[index / 64], 1 << (index % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Default for Tracker {
    fn default() -> Tracker {
        Tracker {
            dependence: Dependence::default(),
            threads: Vec::new(),
            spent_reads: Bits::default(),
            spent_unions: Bits::default(),
            united: vec![None; REMEMBERED],
        }
    }
}

impl Tracker {
    /// What was found.
    pub fn finish(self) -> Dependence {
        self.dependence
    }

    /// Threads are numbered by the caller, one after the other.
    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The next event of the trace is one of this thread: it is steered by what waits for that.
    pub fn event(&mut self, thread: usize) {
        self.dependence.push();
        let Some(id) = self.dependence.len().checked_sub(1).and_then(EventId::from_index) else { return };
        let mut steering = std::mem::take(&mut self.thread(thread).steering);
        for read in steering.drain(..) {
            self.dependence.steer(read, id);
        }
        self.thread(thread).steering = steering;
    }

    /// The reads that steer whatever the thread does next.
    pub fn steering(&self, thread: usize) -> &[EventId] {
        self.threads.get(thread).map_or(&[], |thread| &thread.steering)
    }

    /// The reads of a set; none if that is everything.
    pub fn reads(&self, set: Reads) -> Option<Vec<EventId>> {
        self.dependence.reads(set)
    }

    /// This event of the thread reads.
    pub fn read(&mut self, thread: usize, event: EventId) -> Reads {
        self.thread(thread).reads.push(event);
        Reads::of(event)
    }

    /// What the event writes depends on these reads of its thread.
    pub fn set_value(&mut self, thread: usize, event: EventId, reads: Reads) {
        let reads = self.unspent(thread, reads);
        self.dependence.set_value(event, reads);
    }

    /// The same set, or nothing if all of it is spent.
    pub fn unspent(&mut self, thread: usize, reads: Reads) -> Reads {
        let is_spent = match self.dependence.part(reads) {
            Part::Nothing | Part::Everything => false,
            Part::Read(read) => self.spent_reads.contains(read.index()),
            Part::Both(index, ..) => {
                index < self.thread(thread).given_up || self.spent_unions.contains(index)
            }
        };
        if is_spent { Reads::NOTHING } else { reads }
    }

    /// All of two sets of reads of this thread.
    pub fn unite(&mut self, thread: usize, first: Reads, second: Reads) -> Reads {
        let (first, second) = (self.unspent(thread, first), self.unspent(thread, second));
        if first == Reads::NOTHING || second == Reads::NOTHING || first == second {
            return self.dependence.unite(first, second);
        }
        let (first, second) = (first.max(second), first.min(second));
        if let Part::Both(_, one, other) = self.dependence.part(first)
            && (one == second || other == second)
        {
            return first;
        }
        let place = place(first, second);
        if let Some([one, other, both]) = self.united[place]
            && (one, other) == (first, second)
        {
            return both;
        }
        let both = self.dependence.unite(first, second);
        self.united[place] = Some([first, second, both]);
        both
    }

    /// These reads steer whatever the thread does next.
    pub fn steer(&mut self, thread: usize, reads: Reads) {
        let reads = self.unspent(thread, reads);
        if reads == Reads::NOTHING {
            return;
        }
        let given_up = self.thread(thread).given_up;
        let mut open = vec![reads];
        while let Some(set) = open.pop() {
            match self.dependence.part(set) {
                Part::Nothing => {}
                Part::Everything => return self.give_up(thread),
                Part::Read(read) => self.spend(thread, read),
                Part::Both(index, first, second) => {
                    if index >= given_up && self.spent_unions.insert(index) {
                        open.extend([first, second]);
                    }
                }
            }
        }
    }

    fn spend(&mut self, thread: usize, read: EventId) {
        if self.spent_reads.insert(read.index()) {
            self.thread(thread).steering.push(read);
        }
    }

    /// The event would be another one altogether if it read something else.
    pub fn steer_itself(&mut self, thread: usize, event: EventId) {
        if self.spent_reads.insert(event.index()) {
            self.dependence.steer(event, event);
        }
        // A search for all reads of the thread finds that this one is spent.
        self.thread(thread).reads.push(event);
    }

    /// What the thread has done with what it has read is unknown: all of it steers what comes next.
    pub fn give_up(&mut self, thread: usize) {
        let unions = self.dependence.union_count();
        let about = self.thread(thread);
        about.given_up = unions;
        // To clear a table takes as long as it once was large, and this may happen at every call of unknown code.
        about.memory = FxHashMap::default();
        for read in std::mem::take(&mut about.reads) {
            self.spend(thread, read);
        }
    }

    /// What bytes of a word depend on, those whose bits are set.
    pub fn load(&mut self, thread: usize, word: u64, bytes: u8) -> Reads {
        let Some(&sets) = self.thread(thread).memory.get(&word) else { return Reads::NOTHING };
        let (mut all, mut last) = (Reads::NOTHING, Reads::NOTHING);
        for (_, &set) in sets.iter().enumerate().filter(|(byte, _)| bytes >> byte & 1 == 1) {
            if set != last {
                all = self.unite(thread, all, set);
                last = set;
            }
        }
        all
    }

    /// Bytes of a word depend on these reads from now on.
    pub fn store(&mut self, thread: usize, word: u64, bytes: u8, reads: Reads) {
        let reads = self.unspent(thread, reads);
        let memory = &mut self.thread(thread).memory;
        if reads == Reads::NOTHING && (bytes == u8::MAX || memory.is_empty()) {
            memory.remove(&word);
            return;
        }
        if reads == Reads::NOTHING && !memory.contains_key(&word) {
            return;
        }
        let sets = memory.entry(word).or_insert([Reads::NOTHING; 8]);
        for (byte, set) in sets.iter_mut().enumerate() {
            if bytes >> byte & 1 == 1 {
                *set = reads;
            }
        }
    }
}

/// Where it is remembered what two sets are together.
fn place(first: Reads, second: Reads) -> usize {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = rustc_hash::FxHasher::default();
    (first, second).hash(&mut hasher);
    (hasher.finish() >> 20) as usize % REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> EventId {
        EventId::from_number(number).unwrap()
    }

    /// A tracker with so many events of the first thread.
    fn tracker(events: usize) -> Tracker {
        let mut tracker = Tracker::default();
        (0..events).for_each(|_| tracker.event(0));
        tracker
    }

    #[test]
    fn what_steers_does_so_from_the_next_event_on_and_is_followed_no_further() {
        let mut tracker = tracker(2);
        let (first, second) = (tracker.read(0, id(1)), tracker.read(0, id(2)));
        let both = tracker.unite(0, first, second);
        tracker.steer(0, first);
        assert_eq!(tracker.unite(0, first, Reads::NOTHING), Reads::NOTHING);
        tracker.event(1);
        tracker.event(0);
        tracker.set_value(0, id(4), both);
        tracker.steer(0, both);
        assert_eq!(tracker.unspent(0, both), Reads::NOTHING);
        tracker.event(0);
        let found = tracker.finish();
        assert_eq!((found.steered_by(id(1)), found.steered_by(id(2))), (Some(id(4)), Some(id(5))));
        assert_eq!(found.reads(found.value_of(id(4))), Some(vec![id(1), id(2)]));
    }

    #[test]
    fn what_is_given_up_steers_and_is_nowhere_any_more() {
        let mut tracker = tracker(3);
        let sets = [1, 2, 3].map(|number| tracker.read(0, id(number)));
        let both = tracker.unite(0, sets[0], sets[1]);
        tracker.store(0, 8, 0b1111, both);
        tracker.give_up(0);
        assert_eq!(tracker.load(0, 8, 0xFF), Reads::NOTHING);
        assert_eq!(tracker.unspent(0, both), Reads::NOTHING);
        tracker.event(0);
        let found = tracker.finish();
        assert_eq!([1, 2, 3].map(|number| found.steered_by(id(number))), [Some(id(4)); 3]);
    }

    #[test]
    fn bytes_are_told_apart() {
        let mut tracker = tracker(2);
        let (first, second) = (tracker.read(0, id(1)), tracker.read(0, id(2)));
        tracker.store(0, 16, 0b0000_1111, first);
        tracker.store(0, 16, 0b0000_0011, second);
        assert_eq!(tracker.load(0, 16, 0b0000_0001), second);
        assert_eq!(tracker.load(0, 16, 0b0000_1000), first);
        assert_eq!(tracker.load(0, 16, 0b1111_0000), Reads::NOTHING);
        assert_eq!(tracker.load(1, 16, 0xFF), Reads::NOTHING, "another thread's is another");
        let all = tracker.load(0, 16, 0xFF);
        tracker.store(0, 16, 0xFF, Reads::NOTHING);
        assert_eq!(tracker.load(0, 16, 0xFF), Reads::NOTHING);
        assert_eq!(tracker.finish().reads(all), Some(vec![id(1), id(2)]));
    }

    #[test]
    fn the_same_union_is_made_once() {
        let mut tracker = tracker(3);
        let sets = [1, 2, 3].map(|number| tracker.read(0, id(number)));
        let both = tracker.unite(0, sets[0], sets[1]);
        assert_eq!(tracker.unite(0, sets[1], sets[0]), both);
        assert_eq!(tracker.unite(0, both, sets[0]), both);
        let all = tracker.unite(0, both, sets[2]);
        assert_eq!(tracker.unite(0, sets[2], both), all);
        tracker.steer_itself(0, id(3));
        assert_eq!(tracker.unspent(0, sets[2]), Reads::NOTHING);
        let found = tracker.finish();
        assert_eq!((found.union_count(), found.steered_by(id(3))), (2, Some(id(3))));
    }
}
