//! The sections of locks in a trace: what lies in which.

use foretell_trace::{EventId, LockId, LockMode, Op, Trace, ops};

/// One section of one thread, from the event by which it takes the lock to the one by which it gives it up.
#[derive(Debug)]
pub(super) struct SectionEvents {
    /// What is held.
    pub(super) lock: LockId,
    /// How it is held.
    mode: LockMode,
    /// Its begin, its end, and the repeated acquires and releases of the lock between them.
    pub(super) events: Vec<EventId>,
    /// Whether the trace shows its end.
    pub(super) ends: bool,
}

/// All sections of a trace.
#[derive(Debug)]
pub(super) struct Sections {
    /// In the order of their begins.
    pub(super) all: Vec<SectionEvents>,
    /// Per lock, its sections.
    of_lock: Vec<Vec<usize>>,
    /// Per event, which of `sets` it lies in.
    around: Vec<usize>,
    /// Sets of sections that a thread is in at the same time. The first one is empty.
    sets: Vec<Vec<usize>>,
}

impl Sections {
    /// Goes through the trace once.
    pub(super) fn new(trace: &Trace) -> Sections {
        let mut sections = Sections {
            all: Vec::new(),
            of_lock: vec![Vec::new(); trace.names().locks.len()],
            around: Vec::with_capacity(trace.events().len()),
            sets: vec![Vec::new()],
        };
        // Per thread, the set that it is in.
        let mut now = vec![0; trace.thread_count()];
        for (id, event) in trace.iter() {
            let set = &mut now[event.thread.index()];
            if let Some((lock, mode)) = event.op.section_begin() {
                *set = sections.begin(*set, id, lock, mode);
            }
            sections.around.push(*set);
            if let Some((lock, mode)) = event.op.section_end().or(repetition(event.op)) {
                *set = sections.pass(*set, id, lock, mode, repetition(event.op).is_none());
            }
        }
        sections
    }

    /// The sections that the event lies in, or begins or ends.
    pub(super) fn around(&self, event: EventId) -> &[usize] {
        self.around.get(event.index()).map_or(&[], |&set| &self.sets[set])
    }

    /// All sections of a lock.
    pub(super) fn of_lock(&self, lock: LockId) -> &[usize] {
        &self.of_lock[lock.index()]
    }

    /// The set with a new section in it.
    fn begin(&mut self, set: usize, id: EventId, lock: LockId, mode: LockMode) -> usize {
        let section = self.all.len();
        self.all.push(SectionEvents { lock, mode, events: vec![id], ends: false });
        self.of_lock[lock.index()].push(section);
        let mut larger = self.sets[set].clone();
        larger.push(section);
        self.add_set(larger)
    }

    /// Takes up another event of the section that the thread is in; the set without that section if the event ends it.
    fn pass(&mut self, set: usize, id: EventId, lock: LockId, mode: LockMode, ends: bool) -> usize {
        let of_lock = |&&section: &&usize| (self.all[section].lock, self.all[section].mode) == (lock, mode);
        let Some(&section) = self.sets[set].iter().find(of_lock) else { return set };
        self.all[section].events.push(id);
        self.all[section].ends |= ends;
        if ends {
            let smaller = self.sets[set].iter().copied().filter(|&other| other != section).collect();
            self.add_set(smaller)
        } else {
            set
        }
    }

    fn add_set(&mut self, set: Vec<usize>) -> usize {
        if set.is_empty() {
            return 0;
        }
        self.sets.push(set);
        self.sets.len() - 1
    }
}

/// The lock that a thread acquires or releases again while it holds it.
fn repetition(op: Op) -> Option<(LockId, LockMode)> {
    match op {
        Op::AcquireAgain(lock) | Op::ReleaseAgain(lock) => Some((lock, LockMode::Exclusive)),
        Op::AcquireSharedAgain(lock) | Op::ReleaseSharedAgain(lock) => Some((lock, LockMode::Shared)),
        ops!(memory | control | semaphores | conditions | barriers | labels | sections | attempts) => None,
    }
}
