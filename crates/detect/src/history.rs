//! Who accessed which variable, and when: what order-based detectors compare a new access with.
//!
//! For each variable the latest access of each thread at each location is kept. That is enough for one report per
//! location pair: if an earlier access of a thread is not ordered before an access of another thread, then neither is a
//! later one. With [`Pairs::All`] every access is kept.
//!
//! Nearly all accesses race with nothing. For them the last write and the last read of the variable tell, as in
//! FastTrack, and keeping them means overwriting the thread's latest access of that kind. Only an access at another
//! location than the one before it moves that one to a log, and only when the log is full is it searched for accesses
//! that a later one stands for. So that memory does not grow with the length of a trace whose every event has a
//! location of its own, the log then also loses its oldest entries. An access that every thread is known to come after
//! can go without a loss; the loss of any other is counted ([`Reports::forget`]).

use foretell_trace::{Access, AccessKind, Event, EventId, Loc, ThreadId};
use rustc_hash::FxHashSet;

use crate::clock::{Clock, Clocks, Time};
use crate::report::{Pairs, Reports};
use crate::table::at;

/// The accesses to all variables.
#[derive(Debug, Default)]
pub struct History {
    /// For each variable, all that most accesses need to be compared with.
    summaries: Vec<Summary>,
    vars: Vec<VarHistory>,
    /// For each thread, the latest time of an access that was dropped. A thread that comes up out of nowhere, and not
    /// after all of these, may have raced with one of them.
    dropped: Clock,
    /// How many threads have made an access; those beyond are compared with `dropped` at their first one.
    threads: usize,
    /// Scratch memory of the search for repetitions.
    seen: FxHashSet<(ThreadId, Loc, AccessKind, bool)>,
}

/// The accesses to one variable.
// Aligned so that what nearly every access needs is in one cache line.
#[derive(Debug)]
#[repr(align(64))]
struct VarHistory {
    /// Where in `latest` the threads with the lowest indices are; `ABSENT` if they are not, or far behind.
    places: [u8; 16],
    /// The latest plain accesses of each thread that made any.
    latest: Vec<LatestAccesses>,
    /// All other accesses, where there are any.
    log: Option<Box<Log>>,
}

/// See [`VarHistory::places`].
const ABSENT: u8 = u8::MAX;

/// The latest plain accesses of a thread.
#[derive(Debug)]
struct LatestAccesses {
    thread: ThreadId,
    /// The latest read and the latest write.
    moments: [Option<Moment>; 2],
}

/// Accesses at other locations than the latest ones, and all atomic ones.
#[derive(Debug, Default)]
struct Log {
    /// Oldest first, some of them repeated by later ones.
    past: Vec<PastAccess>,
    /// The log is searched for repetitions when it is longer than this.
    full: usize,
    has_atomics: bool,
}

/// What can be said of all plain accesses to a variable at once.
// Flat, and compared without branches: whether the next access reads or writes is what the processor cannot guess.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    /// All writes are ordered before this one, or are it; unless `raced`.
    write: ThreadEpoch,
    /// All reads since that write are ordered before this one, or are it; unless `raced` or `concurrent`.
    read: ThreadEpoch,
    /// Reads since the last write are not all ordered.
    concurrent: bool,
    /// Accesses have raced: nothing can be said, and each has to be looked at.
    raced: bool,
}

/// A moment of a thread. The default is before everything.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadEpoch {
    /// The index of the thread.
    thread: u32,
    time: Time,
}

impl ThreadEpoch {
    fn of(thread: ThreadId, time: Time) -> ThreadEpoch {
        // An index of a thread always fits: its id is made of 32 bits.
        ThreadEpoch { thread: u32::try_from(thread.index()).unwrap_or(u32::MAX), time }
    }

    fn is_before(self, clock: &Clock) -> bool {
        self.time <= clock.at(self.thread as usize)
    }
}

/// When and where an access was.
#[derive(Clone, Copy, Debug)]
struct Moment {
    event: EventId,
    time: Time,
    loc: Loc,
}

/// An access of the past.
#[derive(Clone, Copy, Debug)]
struct PastAccess {
    thread: ThreadId,
    moment: Moment,
    kind: AccessKind,
    atomic: bool,
}

impl PastAccess {
    fn conflicts_with(&self, access: Access) -> bool {
        Access { kind: self.kind, atomic: self.atomic, ..access }.conflicts_with(access)
    }
}

impl History {
    /// Reports every kept access that races with the one that `event` is, then keeps it as well. `clocks` hold what
    /// comes before the event, with the event's own time.
    pub fn access(
        &mut self,
        id: EventId,
        event: &Event,
        access: Access,
        clocks: &Clocks,
        reports: &mut Reports,
    ) {
        let thread = event.thread;
        let clock = clocks.seen(thread);
        if thread.index() >= self.threads {
            self.first_access(thread, clock, reports);
        }
        let now = Moment { event: id, time: clock.get(thread), loc: event.loc };
        let summary = at(&mut self.summaries, access.var.index());
        let var = at(&mut self.vars, access.var.index());
        let ordered = summary.is_before(access, clock) && (access.atomic || !var.has_atomics());
        let ordered = ordered || var.report_races(thread, now, access, clock, reports);
        if access.atomic {
            var.log_mut().push(PastAccess { thread, moment: now, kind: access.kind, atomic: true });
        } else {
            summary.add(access, ThreadEpoch::of(thread, now.time), clock, ordered);
            var.keep(thread, now, access, reports.wanted());
        }
        if reports.wanted() == Pairs::ByLocation && var.log.as_ref().is_some_and(|log| log.is_full()) {
            self.tidy(access, clocks, reports);
        }
    }

    /// Makes room in the log of a variable.
    #[cold]
    fn tidy(&mut self, access: Access, clocks: &Clocks, reports: &mut Reports) {
        let log = self.vars[access.var.index()].log_mut();
        drop_repeated(&mut log.past, &mut self.seen);
        let limit = 128.max(16 * clocks.len());
        let excess = log.past.len().saturating_sub(limit);
        for gone in log.past.drain(..excess) {
            self.dropped.raise(gone.thread, gone.moment.time);
            if !clocks.all_know(gone.thread, gone.moment.time) {
                reports.forget();
            }
        }
        // Room for twice as much again, so that the search is worth its time.
        log.full = (3 * log.past.len()).max(16);
    }

    #[cold]
    fn first_access(&mut self, thread: ThreadId, clock: &Clock, reports: &mut Reports) {
        self.threads = thread.index() + 1;
        if !self.dropped.is_within(clock) {
            reports.forget();
        }
    }
}

/// Keeps only the latest access of each thread, location and kind.
fn drop_repeated(log: &mut Vec<PastAccess>, seen: &mut FxHashSet<(ThreadId, Loc, AccessKind, bool)>) {
    seen.clear();
    let mut kept = log.len();
    for index in (0..log.len()).rev() {
        let past = log[index];
        if seen.insert((past.thread, past.moment.loc, past.kind, past.atomic)) {
            kept -= 1;
            log[kept] = past;
        }
    }
    log.drain(..kept);
}

impl Summary {
    /// Whether no plain access can race with `access`; `false` if that cannot be decided from here.
    fn is_before(self, access: Access, clock: &Clock) -> bool {
        let writes = access.kind.writes();
        let reads_before = !self.concurrent & self.read.is_before(clock);
        !self.raced & self.write.is_before(clock) & (!writes | reads_before)
    }

    /// Adds a plain access. `ordered` says that everything it conflicts with is ordered before it.
    fn add(&mut self, access: Access, now: ThreadEpoch, clock: &Clock, ordered: bool) {
        if !ordered {
            self.raced = true;
            return;
        }
        // Everything comes before an ordered write, so it stands for the reads as well.
        let writes = access.kind.writes();
        self.raced &= !writes;
        self.concurrent = !writes & (self.concurrent | !self.read.is_before(clock));
        self.write = if writes { now } else { self.write };
        self.read = now;
    }
}

impl Default for VarHistory {
    fn default() -> Self {
        VarHistory { places: [ABSENT; 16], latest: Vec::new(), log: None }
    }
}

impl VarHistory {
    fn has_atomics(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.has_atomics)
    }

    fn log_mut(&mut self) -> &mut Log {
        self.log.get_or_insert_default()
    }

    /// Keeps a plain access.
    fn keep(&mut self, thread: ThreadId, now: Moment, access: Access, wanted: Pairs) {
        let latest = &mut self.latest_of(thread).moments[usize::from(access.kind.writes())];
        if let Some(earlier) = latest.replace(now)
            && (earlier.loc != now.loc || wanted == Pairs::All)
        {
            self.log_mut().push(PastAccess { thread, moment: earlier, kind: access.kind, atomic: false });
        }
    }

    fn latest_of(&mut self, thread: ThreadId) -> &mut LatestAccesses {
        let place = match self.places.get(thread.index()) {
            Some(&place) if place != ABSENT => usize::from(place),
            _ => self.find_latest(thread),
        };
        &mut self.latest[place]
    }

    #[cold]
    fn find_latest(&mut self, thread: ThreadId) -> usize {
        if let Some(place) = self.latest.iter().position(|latest| latest.thread == thread) {
            return place;
        }
        let place = self.latest.len();
        self.latest.push(LatestAccesses { thread, moments: [None; 2] });
        if let (Some(known), Ok(place)) = (self.places.get_mut(thread.index()), u8::try_from(place)) {
            *known = place;
        }
        place
    }

    /// Reports the accesses that race with `access`, and says whether there are none.
    #[cold]
    fn report_races(
        &self,
        thread: ThreadId,
        now: Moment,
        access: Access,
        clock: &Clock,
        reports: &mut Reports,
    ) -> bool {
        if reports.is_over_full() {
            // Not needed any more.
            return false;
        }
        let mut none = true;
        let mut consider = |other: ThreadId, moment: &Moment| {
            if other != thread && moment.time > clock.get(other) {
                none = false;
                reports.push((moment.event, moment.loc), (now.event, now.loc));
            }
        };
        for latest in &self.latest {
            let conflicting = &latest.moments[usize::from(!access.kind.writes())..];
            conflicting.iter().flatten().for_each(|moment| consider(latest.thread, moment));
        }
        let log = self.log.iter().flat_map(|log| &log.past);
        log.filter(|past| past.conflicts_with(access)).for_each(|past| consider(past.thread, &past.moment));
        none
    }
}

impl Log {
    fn push(&mut self, past: PastAccess) {
        self.has_atomics |= past.atomic;
        self.past.push(past);
    }

    fn is_full(&self) -> bool {
        self.past.len() > self.full
    }
}
