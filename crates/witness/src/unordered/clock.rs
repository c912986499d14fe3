//! Vector clocks, and snapshots of them that many writes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_trace::ThreadId;

/// Of so many threads times lie side by side; those of others lie in blocks of so many.
const BLOCK: usize = 256;

/// For each thread, up to which local time its events are known. Missing entries are 0: nothing is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    times: Vec<u32>,
    /// Times of threads that are too many for a row. Clocks share blocks in which they agree.
    blocks: BTreeMap<usize, Arc<[u32; BLOCK]>>,
}

impl Clock {
    /// The clock of a thread that begins.
    pub(crate) fn beginning(thread: usize) -> Clock {
        let mut clock = Clock::default();
        clock.raise(thread, 1);
        clock
    }

    pub(crate) fn time(&self, thread: usize) -> u32 {
        match self.times.get(thread) {
            Some(&time) => time,
            None => self.blocks.get(&(thread / BLOCK)).map_or(0, |block| block[thread % BLOCK]),
        }
    }

    /// Joins `other`; returns whether anything changed.
    pub(crate) fn join(&mut self, other: &Clock) -> bool {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        let mut new = false;
        for (mine, &theirs) in self.times.iter_mut().zip(&other.times) {
            new |= theirs > *mine;
            *mine = theirs.max(*mine);
        }
        for (&number, theirs) in &other.blocks {
            let Some(mine) = self.blocks.get_mut(&number) else {
                new |= theirs.iter().any(|&time| time > 0);
                self.blocks.insert(number, Arc::clone(theirs));
                continue;
            };
            if !Arc::ptr_eq(mine, theirs)
                && theirs.iter().zip(mine.iter()).any(|(theirs, mine)| theirs > mine)
            {
                new = true;
                let both = std::array::from_fn(|at| mine[at].max(theirs[at]));
                *mine = Arc::new(both);
            }
        }
        new
    }

    /// Becomes a copy, without a new allocation where the old one is large enough.
    pub(crate) fn copy(&mut self, other: &Clock) {
        self.times.clone_from(&other.times);
        self.blocks.clone_from(&other.blocks);
    }

    /// Learns of one thread's events up to `time`.
    pub(crate) fn raise(&mut self, thread: usize, time: u32) {
        if thread >= BLOCK {
            let block = self.blocks.entry(thread / BLOCK).or_insert_with(|| Arc::new([0; BLOCK]));
            let known = &mut Arc::make_mut(block)[thread % BLOCK];
            *known = time.max(*known);
            return;
        }
        if thread >= self.times.len() {
            self.times.resize(thread + 1, 0);
        }
        self.times[thread] = self.times[thread].max(time);
    }

    /// Advances the local time of `thread`, whose clock this is. At its maximum it stands still: later events then seem
    /// ordered like earlier ones, which can only hide a race.
    pub(crate) fn tick(&mut self, thread: usize) {
        let time = self.time(thread).saturating_add(1);
        self.raise(thread, time);
    }
}

/// What a thread knew when it did something that others may learn of: its clock, kept as a shared snapshot for the
/// other threads' entries and its own time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Publication {
    /// The index of the thread.
    pub(crate) thread: u32,
    /// Its local time. No two publications of one thread have the same, unless time stands still.
    pub(crate) time: u32,
    /// The place of the snapshot.
    snapshot: u32,
}

/// The snapshots in use. A thread that writes many variables without learning anything in between shares one among
/// all of them, so a write costs no copy.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    all: Vec<Snapshot>,
    /// Places whose snapshot is no longer used.
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Snapshot {
    clock: Clock,
    /// How many publications and threads refer to it.
    users: u32,
}

impl Snapshots {
    /// Takes a snapshot for one user.
    pub(crate) fn take(&mut self, clock: &Clock) -> Option<u32> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = u32::try_from(self.all.len()).ok()?;
                self.all.push(Snapshot::default());
                place
            }
        };
        let snapshot = &mut self.all[place as usize];
        snapshot.clock.copy(clock);
        snapshot.users = 1;
        Some(place)
    }

    /// Adds a user and hands it out.
    pub(crate) fn publication(&mut self, thread: u32, time: u32, snapshot: u32) -> Publication {
        self.all[snapshot as usize].users += 1;
        Publication { thread, time, snapshot }
    }

    /// A publication is no longer needed.
    pub(crate) fn retire(&mut self, publication: Publication) {
        self.leave(publication.snapshot);
    }

    /// One user less.
    pub(crate) fn leave(&mut self, place: u32) {
        let snapshot = &mut self.all[place as usize];
        snapshot.users -= 1;
        if snapshot.users == 0 {
            self.free.push(place);
        }
    }

    /// Joins the publication into `clock`; returns whether anything changed.
    pub(crate) fn learn(&self, clock: &mut Clock, publication: Publication) -> bool {
        let thread = publication.thread as usize;
        if clock.time(thread) >= publication.time {
            // A clock that has this time got it from this or a later publication, with all that came along.
            return false;
        }
        clock.join(&self.all[publication.snapshot as usize].clock);
        clock.raise(thread, publication.time);
        true
    }
}

/// The index of a thread as publications keep it.
pub(crate) fn narrow(thread: ThreadId) -> u32 {
    u32::try_from(thread.index()).unwrap_or(u32::MAX)
}
