//! What of a run still matters: the records that bring about the state in which it is.

use std::collections::{BTreeMap, BTreeSet};

use foretell_wire::record::{EXIT, Record, SyncOp};

/// A record that still matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) clock: u64,
    pub(super) thread: u32,
    pub(super) record: Record<'static>,
}

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct State {
    threads: BTreeMap<u32, Life>,
    /// The holds of each lock.
    locks: BTreeMap<u64, Vec<Kept>>,
    conditions: BTreeMap<u64, Gathering>,
    barriers: BTreeMap<u64, Generation>,
    /// The creation of each semaphore, with the permits that it has now.
    semaphores: BTreeMap<u64, Kept>,
    /// What memory is for, by where it begins and since when.
    ranges: BTreeMap<(u64, u64), Kept>,
    /// The halves of the names of threads.
    names: BTreeMap<u64, Kept>,
}

/// What is known of a thread.
#[derive(Debug, Default)]
struct Life {
    /// Its fork, its begin, its end, and that it was joined.
    turns: Vec<Kept>,
    parent: Option<u32>,
    is_joined: bool,
    /// The calls that it is in.
    calls: Vec<Kept>,
}

/// Who waits at a condition.
#[derive(Debug, Default)]
struct Gathering {
    /// The waits that have begun.
    waiters: Vec<Waiter>,
    /// Notifications since then by which no thread has returned. One that wakes all stands for all.
    notifications: Vec<Kept>,
}

/// A thread that waits.
#[derive(Debug)]
struct Waiter {
    wait: Kept,
    /// How it held the lock that it gave up, each time that it had taken it.
    holds: Vec<Kept>,
}

/// Who is at a barrier.
#[derive(Debug, Default)]
struct Generation {
    /// The arrivals and departures of the generation that is leaving.
    leaving: Vec<Kept>,
    /// How many of it have not left.
    inside: usize,
    /// The arrivals of the next one.
    coming: Vec<Kept>,
}

impl Kept {
    /// Where the memory ends that the record is about.
    fn end(&self) -> u64 {
        match self.record {
            Record::Sync { object, other, .. } => object.saturating_add(other.max(1)),
            _ => 0,
        }
    }

    /// Whether the thread is no more after this. One that has called `exit` goes on for a while.
    fn is_end(&self) -> bool {
        matches!(self.record, Record::Sync { op: SyncOp::End, object, .. } if object != EXIT)
    }

    fn is(&self, wanted: SyncOp) -> bool {
        matches!(self.record, Record::Sync { op, .. } if op == wanted)
    }
}

impl Gathering {
    /// A thread has returned that has waited since then. It returns by the first notification since, if by any.
    fn has_returned(&mut self, since: u64, is_woken: bool) {
        let by = self.notifications.iter().position(|notification| notification.clock > since);
        if let Some(place) = by.filter(|_| is_woken)
            && self.notifications.get(place).is_some_and(|by| by.is(SyncOp::Notify))
        {
            self.notifications.remove(place);
        }
        let waiters = &self.waiters;
        let waits = |notification: &Kept| {
            waiters.iter().filter(|waiter| waiter.wait.clock < notification.clock).count()
        };
        let mut singles = 0;
        self.notifications.retain(|notification| {
            singles += usize::from(notification.is(SyncOp::Notify));
            waits(notification) > 0 && (notification.is(SyncOp::NotifyAll) || singles <= waits(notification))
        });
    }
}

impl Generation {
    fn arrive(&mut self, kept: Kept) {
        self.coming.push(kept);
    }

    fn depart(&mut self, kept: Kept) {
        if self.inside == 0 {
            self.leaving = std::mem::take(&mut self.coming);
            self.inside = self.leaving.len();
        }
        self.leaving.push(kept);
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.leaving.clear();
        }
    }
}

impl State {
    pub(super) fn record(&mut self, clock: u64, thread: u32, record: &Record<'_>) {
        match *record {
            Record::Enter { site } => {
                let kept = Kept { clock, thread, record: Record::Enter { site } };
                self.life(thread).calls.push(kept);
            }
            Record::Exit { calls } => {
                let open = &mut self.life(thread).calls;
                open.truncate(open.len().saturating_sub(calls as usize));
            }
            Record::Sync { site, op, object, other } => {
                let record = Record::Sync { site, op, object, other };
                self.life(thread);
                self.sync(Kept { clock, thread, record }, op, object, other);
            }
            Record::Clock(_)
            | Record::Ahead(_)
            | Record::Read { .. }
            | Record::Write { .. }
            | Record::AtomicLoad { .. }
            | Record::AtomicStore { .. }
            | Record::Rmw { .. }
            | Record::ReadRange { .. }
            | Record::Scan { .. }
            | Record::WriteRange { .. }
            | Record::Copy { .. }
            | Record::Fill { .. }
            | Record::Fence { .. }
            | Record::Branch { .. }
            | Record::Opaque { .. } => {}
        }
    }

    fn life(&mut self, thread: u32) -> &mut Life {
        self.threads.entry(thread).or_default()
    }

    fn sync(&mut self, kept: Kept, op: SyncOp, object: u64, other: u64) {
        match op {
            SyncOp::Begin => self.life(kept.thread).turns.push(kept),
            SyncOp::End => {
                let life = self.life(kept.thread);
                life.turns.push(kept);
                life.calls.clear();
            }
            SyncOp::Fork => {
                let life = self.life(number(object));
                life.turns.push(kept);
                life.parent = Some(kept.thread);
            }
            SyncOp::Join => {
                let life = self.life(number(object));
                life.turns.push(kept);
                life.is_joined = true;
            }
            SyncOp::Lock | SyncOp::LockShared | SyncOp::TryLock | SyncOp::TryLockShared => {
                self.locks.entry(object).or_default().push(kept);
            }
            SyncOp::Unlock => self.unlock(object, kept.thread),
            SyncOp::Wait => self.wait(kept, object, other),
            SyncOp::Woken => self.return_from_wait(kept, object, other, true),
            SyncOp::TimedOut => self.return_from_wait(kept, object, other, false),
            SyncOp::Notify | SyncOp::NotifyAll => self.notify(kept, object, op == SyncOp::NotifyAll),
            SyncOp::SemInit => {
                self.semaphores.insert(object, kept);
            }
            SyncOp::SemWait => self.change_permits(object, |permits| permits.saturating_sub(1)),
            SyncOp::SemPost => self.change_permits(object, |permits| permits.saturating_add(1)),
            SyncOp::Arrive => self.barriers.entry(object).or_default().arrive(kept),
            SyncOp::Depart => self.barriers.entry(object).or_default().depart(kept),
            SyncOp::Alloc | SyncOp::Part | SyncOp::Object | SyncOp::Shared => {
                self.use_range(kept, object, other);
            }
            // Memory is mapped anew.
            SyncOp::Free if other > 0 => self.use_range(kept, object, other),
            SyncOp::Free => self.free(object),
            SyncOp::Name => {
                self.names.insert(object, kept);
            }
            SyncOp::TryFailed | SyncOp::TrySharedFailed | SyncOp::LocalEnd => {}
        }
    }

    /// A holder of the lock gives it up: the thread itself, or another one for which it does so.
    fn unlock(&mut self, lock: u64, thread: u32) {
        let Some(holds) = self.locks.get_mut(&lock) else { return };
        let own = holds.iter().rposition(|hold| hold.thread == thread);
        if let Some(place) = own.or_else(|| holds.len().checked_sub(1)) {
            holds.remove(place);
        }
        if holds.is_empty() {
            self.locks.remove(&lock);
        }
    }

    /// The thread gives the lock up, if it is known to hold it.
    fn wait(&mut self, wait: Kept, condition: u64, lock: u64) {
        let Some(holds) = self.locks.get_mut(&lock) else { return };
        let (own, others) = holds.iter().partition::<Vec<Kept>, _>(|hold| hold.thread == wait.thread);
        *holds = others;
        if !own.is_empty() {
            self.conditions.entry(condition).or_default().waiters.push(Waiter { wait, holds: own });
        }
    }

    /// The thread has the lock again, from now on.
    fn return_from_wait(&mut self, kept: Kept, condition: u64, lock: u64, is_woken: bool) {
        let gathering = self.conditions.entry(condition).or_default();
        let waiter = gathering.waiters.iter().position(|waiter| waiter.wait.thread == kept.thread);
        if let Some(place) = waiter {
            let waiter = gathering.waiters.remove(place);
            gathering.has_returned(waiter.wait.clock, is_woken);
            let holds = waiter.holds.into_iter().map(|hold| Kept { clock: kept.clock, ..hold });
            self.locks.entry(lock).or_default().extend(holds);
        } else {
            // Its wait was not seen.
            let Record::Sync { site, .. } = kept.record else { return };
            let record = Record::Sync { site, op: SyncOp::TryLock, object: lock, other: 0 };
            self.locks.entry(lock).or_default().push(Kept { record, ..kept });
        }
        if self.conditions.get(&condition).is_some_and(|gathering| gathering.waiters.is_empty()) {
            self.conditions.remove(&condition);
        }
    }

    /// Where no thread waits, it has no effect.
    fn notify(&mut self, kept: Kept, condition: u64, all: bool) {
        let Some(gathering) = self.conditions.get_mut(&condition) else { return };
        let last = gathering.notifications.last().filter(|last| last.is(SyncOp::NotifyAll));
        let has_waited_since = |last: &Kept| gathering.waiters.iter().any(|one| one.wait.clock > last.clock);
        // All that wait have been woken already, or as many as wait.
        let is_new = match last {
            Some(last) => has_waited_since(last),
            None => all || gathering.notifications.len() < gathering.waiters.len(),
        };
        if is_new {
            gathering.notifications.push(kept);
        }
    }

    fn change_permits(&mut self, semaphore: u64, change: impl Fn(u64) -> u64) {
        if let Some(Kept { record: Record::Sync { other, .. }, .. }) = self.semaphores.get_mut(&semaphore) {
            *other = change(*other);
        }
    }

    /// What was there before has no room any more; what sticks out stays, as it comes earlier.
    fn use_range(&mut self, kept: Kept, start: u64, length: u64) {
        let end = start.saturating_add(length.max(1));
        let inside = self.ranges.range((start, 0)..(end, 0)).filter(|(_, old)| old.end() <= end);
        let covered: Vec<(u64, u64)> = inside.map(|(&place, _)| place).collect();
        for place in covered {
            self.ranges.remove(&place);
        }
        let mut before = self.ranges.range(..(end, 0)).rev();
        let is_anything_left = before.next().is_some_and(|(_, old)| old.end() > start);
        if !kept.is(SyncOp::Free) || is_anything_left {
            self.ranges.insert((start, kept.clock), kept);
        }
    }

    /// The block that begins here is given back.
    fn free(&mut self, start: u64) {
        let here = self.ranges.range((start, 0)..=(start, u64::MAX));
        let blocks = here.filter(|(_, old)| old.is(SyncOp::Alloc) || old.is(SyncOp::Part));
        let given_back: Vec<(u64, u64)> = blocks.map(|(&place, _)| place).collect();
        for place in given_back {
            self.ranges.remove(&place);
        }
    }

    /// The threads that have ended.
    pub(super) fn ended(&self) -> Vec<u32> {
        let has_ended = |life: &Life| life.turns.iter().any(Kept::is_end);
        self.threads.iter().filter(|(_, life)| has_ended(life)).map(|(&thread, _)| thread).collect()
    }

    /// All that still matters. What threads have done for all that have ended since is the first thread's.
    pub(super) fn into_records(mut self) -> Vec<Kept> {
        self.forget_the_dead();
        let State { threads, locks, conditions, barriers, semaphores, ranges, names } = self;
        let of_threads = threads.values().flat_map(|life| life.turns.iter().chain(&life.calls)).copied();
        let mut all: Vec<Kept> = of_threads.collect();
        all.extend(locks.into_values().flatten());
        for Gathering { waiters, notifications } in conditions.into_values() {
            all.extend(notifications);
            all.extend(waiters.into_iter().flat_map(|waiter| waiter.holds.into_iter().chain([waiter.wait])));
        }
        all.extend(barriers.into_values().flat_map(|one| [one.leaving, one.coming].concat()));
        let is_known = |thread: u64| threads.contains_key(&number(thread));
        all.extend(names.into_iter().filter(|&(object, _)| is_known(object >> 1)).map(|(_, kept)| kept));
        all.extend(semaphores.into_values());
        all.extend(ranges.into_values());
        for kept in all.iter_mut().filter(|kept| !threads.contains_key(&kept.thread)) {
            kept.thread = 0;
        }
        all
    }

    /// Threads that were joined do not matter, unless they hold something, or are ancestors of others that do.
    fn forget_the_dead(&mut self) {
        let alive = self.threads.iter().filter(|&(&thread, life)| thread == 0 || !life.is_joined);
        let mut open: Vec<u32> = alive.map(|(&thread, _)| thread).collect();
        open.extend(self.locks.values().flatten().map(|kept| kept.thread));
        for Gathering { waiters, notifications } in self.conditions.values() {
            open.extend(waiters.iter().map(|waiter| waiter.wait.thread));
            open.extend(notifications.iter().map(|kept| kept.thread));
        }
        let generations = self.barriers.values().flat_map(|one| one.leaving.iter().chain(&one.coming));
        open.extend(generations.map(|kept| kept.thread));
        let mut needed = BTreeSet::new();
        while let Some(thread) = open.pop() {
            if needed.insert(thread) {
                open.extend(self.threads.get(&thread).and_then(|life| life.parent));
            }
        }
        self.threads.retain(|thread, _| needed.contains(thread));
    }
}

fn number(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}
