//! Happens-before, as C11, C++20 and Rust define it, and the order that every run keeps: locks, conditions,
//! semaphores, barriers, starts and ends of threads, and fences for unmodelled operations.
//!
//! Local time advances only where a thread publishes what it did, so that accesses between two such points share a
//! time. Times come from one counter. So a fence, after which everything so far is over, is a single number: what has
//! no larger time than that comes before all that follows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use foretell_wire::holders::{HoldMode, Holders};
use foretell_wire::hook;
use foretell_wire::site::SourceLanguage;

use crate::clock::{Clock, Epoch, LAST_TIME, MOST_THREADS, Time};

/// What a thread knows, and what its fences know.
#[derive(Debug, Default)]
struct ThreadKnowledge {
    clock: Clock,
    /// What came before its last release fence: its relaxed stores publish this.
    released: Clock,
    /// What its relaxed loads have seen published: its next acquire fence learns this.
    seen: Clock,
    /// The clock as it is, if a thread has asked for it.
    copy: Option<Arc<Clock>>,
    /// An unmodelled operation happened while it waited. It takes effect when the thread continues.
    owes_fence: bool,
}

#[derive(Debug, Default)]
struct LockClock {
    /// What came before the last exclusive release.
    exclusive: Clock,
    /// What came before the shared releases so far.
    shared: Clock,
}

#[derive(Debug, Default)]
struct SemaphoreClock {
    clock: Clock,
    /// How many permits it has, if its creation was seen.
    permits: Option<u64>,
}

#[derive(Debug, Default)]
struct BarrierClock {
    /// What came before the arrivals so far.
    arrivals: Clock,
    /// What came before the arrivals of generations that are complete.
    complete: Clock,
    /// How many have arrived since the last generation was complete.
    arrived: usize,
    /// How many of the last complete generation have still to depart.
    leaving: usize,
}

/// What an acquire load of a variable learns: its release sequences, by the thread that heads them.
pub(crate) type Released = Vec<(u32, Clock)>;

/// Which release sequences a write ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ends {
    /// An update continues those that it reads from.
    None,
    /// By the rules of C11 a store continues those that its own thread heads.
    Others,
    /// By those of C++20 and Rust it does not.
    All,
}

impl Ends {
    pub(crate) fn of(updates: bool, language: SourceLanguage) -> Ends {
        match language {
            _ if updates => Ends::None,
            language if language.stores_continue_sequences() => Ends::Others,
            _ => Ends::All,
        }
    }
}

/// What comes before the current epoch of a thread.
pub(crate) struct EpochPast<'a> {
    thread: u32,
    floor: Time,
    clock: &'a [Time],
}

impl EpochPast<'_> {
    /// Whether the epoch comes before. The thread's own do.
    #[inline(always)]
    pub(crate) fn has(&self, epoch: Epoch) -> bool {
        epoch.thread() == self.thread
            || epoch.time() <= self.floor
            || self.clock.get(epoch.thread() as usize).is_some_and(|&known| epoch.time() <= known)
    }
}

/// Happens-before: the vector clocks of threads, locks and other objects.
#[derive(Debug, Default)]
pub(crate) struct Order {
    threads: Vec<ThreadKnowledge>,
    /// The latest time that any thread has.
    latest: Time,
    /// Everything up to this time comes before everything from now on.
    floor: Time,
    /// There was ever more than one thread.
    has_forked: bool,
    locks: BTreeMap<u64, LockClock>,
    holders: Holders<u64>,
    /// Locks that the first thread gave up without having taken them: the process is a copy of one that held them.
    held_since_the_beginning: BTreeSet<u64>,
    conditions: BTreeMap<u64, Clock>,
    semaphores: BTreeMap<u64, SemaphoreClock>,
    barriers: BTreeMap<u64, BarrierClock>,
}

impl Order {
    /// The current epoch of the thread.
    pub(crate) fn now(&mut self, thread: u32) -> Epoch {
        let time = self.of(thread).clock.get(thread);
        if time > self.floor {
            return Epoch::new(thread, time);
        }
        self.advance(thread);
        Epoch::new(thread, self.of(thread).clock.get(thread))
    }

    /// Whether there was ever more than one thread.
    pub(crate) fn has_forked(&self) -> bool {
        self.has_forked
    }

    /// Whether times, or numbers of threads, have come to their end.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.latest >= LAST_TIME || self.threads.len() >= MOST_THREADS as usize
    }

    /// Whether the epoch comes before what the thread does now.
    #[inline(always)]
    pub(crate) fn is_before(&self, epoch: Epoch, thread: u32) -> bool {
        epoch.time() <= self.floor
            || self
                .threads
                .get(thread as usize)
                .is_some_and(|known| epoch.time() <= known.clock.get(epoch.thread()))
    }

    /// What comes before what the thread does now, to be asked often.
    #[inline(always)]
    pub(crate) fn known_to(&self, thread: u32) -> EpochPast<'_> {
        let clock = self.threads.get(thread as usize).map_or(&[][..], |known| known.clock.times());
        EpochPast { thread, floor: self.floor, clock }
    }

    /// What the thread knows, to be kept.
    pub(crate) fn copy(&mut self, thread: u32) -> Arc<Clock> {
        let known = self.of(thread);
        Arc::clone(known.copy.get_or_insert_with(|| Arc::new(known.clock.clone())))
    }

    /// The thread learns what was known then.
    pub(crate) fn learn(&mut self, thread: u32, clock: &Clock) {
        self.of(thread).learn(clock);
    }

    /// Advances the thread's clock after a release, so that later accesses have another epoch.
    pub(crate) fn advance(&mut self, thread: u32) {
        self.latest = (self.latest + 1).min(LAST_TIME);
        let latest = self.latest;
        let known = self.of(thread);
        known.copy = None;
        known.clock.set(thread, latest);
    }

    /// As [`Order::advance`], but does nothing as long as there is one thread.
    pub(crate) fn advance_if_seen(&mut self, thread: u32) {
        if self.has_forked {
            self.advance(thread);
        }
    }

    /// A fence: everything so far happens before everything from here on; for a blocked thread, once it continues.
    pub(crate) fn fence(&mut self, thread: u32) {
        if self.is_waiting(thread) {
            self.of(thread).owes_fence = true;
        } else {
            self.fence_at_once();
        }
    }

    fn fence_at_once(&mut self) {
        self.floor = self.latest;
    }

    /// Whether the thread waits for a condition: what it does meanwhile is the doing of a library.
    pub(crate) fn is_waiting(&self, thread: u32) -> bool {
        self.holders.is_waiting(thread)
    }

    pub(crate) fn fork(&mut self, thread: u32, child: u32) {
        self.has_forked = true;
        let clock = self.copy(thread);
        self.learn(child, &clock);
        self.advance(thread);
    }

    /// The child has ended, and no thread will ask for what it knew again.
    pub(crate) fn join(&mut self, thread: u32, child: u32) {
        if thread != child {
            let ended = std::mem::take(self.of(child));
            self.learn(thread, &ended.clock);
        }
    }

    pub(crate) fn lock(&mut self, thread: u32, lock: u64, mode: HoldMode) {
        if self.holders.take_over(lock, thread, mode) {
            self.fence_at_once();
        }
        self.begin_section(thread, lock, mode);
    }

    /// Any other thread that is still said to hold the lock has released it externally, at an unknown time.
    fn make_way(&mut self, thread: u32, lock: u64, mode: HoldMode) {
        if !self.holders.in_the_way(lock, thread, mode).is_empty() {
            self.fence_at_once();
        }
    }

    pub(crate) fn unlock(&mut self, thread: u32, lock: u64) {
        match self.holders.give_up(lock, thread) {
            Some((holder, mode)) if holder == thread => self.end_section(thread, lock, mode),
            // The thread that takes the lock next comes after this.
            Some((_, HoldMode::Alone)) => {
                // It was taken after all that had given it up before.
                self.begin_section(thread, lock, HoldMode::Alone);
                self.end_section(thread, lock, HoldMode::Alone);
            }
            // A reader's hold has ended, it is not known whose.
            Some((_, HoldMode::Shared)) => self.fence_at_once(),
            None if thread == 0 && self.held_since_the_beginning.insert(lock) => {
                self.end_section(thread, lock, HoldMode::Alone);
            }
            None => self.fence(thread),
        }
    }

    /// An attempt to lock has failed: it comes after all that the owners did so far.
    pub(crate) fn try_failed(&mut self, thread: u32, lock: u64, mode: HoldMode) {
        if !self.holders.is_held(lock, mode) {
            return self.fence(thread);
        }
        for owner in self.holders.of(lock) {
            let clock = self.copy(owner);
            self.learn(thread, &clock);
            self.advance(owner);
        }
    }

    /// The thread releases the lock and waits.
    pub(crate) fn wait(&mut self, thread: u32, lock: u64) {
        if self.holders.wait(lock, thread) || self.held_since_the_beginning(thread, lock) {
            self.end_section(thread, lock, HoldMode::Alone);
        } else {
            self.fence(thread);
        }
    }

    fn held_since_the_beginning(&mut self, thread: u32, lock: u64) -> bool {
        let is_held = thread == 0
            && !self.holders.is_held(lock, HoldMode::Alone)
            && self.held_since_the_beginning.insert(lock);
        if is_held {
            self.holders.take(lock, thread, HoldMode::Alone);
            self.holders.wait(lock, thread);
        }
        is_held
    }

    /// The thread has waited, and holds the lock again. If a thread has notified it, this is for which condition.
    pub(crate) fn go_on(&mut self, thread: u32, condition: Option<u64>, lock: u64) {
        self.make_way(thread, lock, HoldMode::Alone);
        if !self.holders.has_waited(lock, thread) {
            return self.lock(thread, lock, HoldMode::Alone);
        }
        if let Some(clock) = condition.and_then(|condition| self.conditions.get(&condition)) {
            of(&mut self.threads, thread).learn(clock);
        }
        self.begin_section(thread, lock, HoldMode::Alone);
        if std::mem::take(&mut self.of(thread).owes_fence) {
            self.fence_at_once();
        }
    }

    pub(crate) fn notify(&mut self, thread: u32, condition: u64) {
        meet(self.conditions.entry(condition).or_default(), of(&mut self.threads, thread));
        self.advance(thread);
    }

    pub(crate) fn create_semaphore(&mut self, thread: u32, semaphore: u64, permits: u64) {
        self.semaphores.insert(semaphore, SemaphoreClock { clock: Clock::default(), permits: Some(permits) });
        self.meet_at(thread, semaphore);
    }

    pub(crate) fn post(&mut self, thread: u32, semaphore: u64) {
        let state = self.semaphores.entry(semaphore).or_default();
        state.permits = state.permits.map(|permits| permits.saturating_add(1));
        self.meet_at(thread, semaphore);
    }

    pub(crate) fn take_permit(&mut self, thread: u32, semaphore: u64) {
        let state = self.semaphores.entry(semaphore).or_default();
        let permits = state.permits;
        state.permits = permits.map(|permits| permits.saturating_sub(1));
        if permits == Some(0) {
            // The permit was given externally, at an unknown time.
            self.fence_at_once();
        }
        self.meet_at(thread, semaphore);
    }

    /// All operations on a semaphore keep their order.
    fn meet_at(&mut self, thread: u32, semaphore: u64) {
        let state = self.semaphores.entry(semaphore).or_default();
        meet(&mut state.clock, of(&mut self.threads, thread));
        self.advance(thread);
    }

    pub(crate) fn arrive(&mut self, thread: u32, barrier: u64) {
        let barrier = self.barriers.entry(barrier).or_default();
        barrier.arrived += 1;
        meet(&mut barrier.arrivals, of(&mut self.threads, thread));
        self.advance(thread);
    }

    pub(crate) fn depart(&mut self, thread: u32, barrier: u64) {
        let barrier = self.barriers.entry(barrier).or_default();
        if barrier.leaving == 0 {
            barrier.leaving = std::mem::take(&mut barrier.arrived);
            barrier.complete.copy_from(&barrier.arrivals);
        }
        barrier.leaving = barrier.leaving.saturating_sub(1);
        of(&mut self.threads, thread).learn(&barrier.complete);
    }

    /// What was released to the very access that acquires it happens before it.
    pub(crate) fn load(&mut self, thread: u32, released: &Released, order: hook::MemoryOrder) {
        let known = self.of(thread);
        for (_, clock) in released {
            if acquires(order) {
                known.learn(clock);
            } else {
                known.seen.join(clock);
            }
        }
    }

    /// A store, or the storing part of an update.
    pub(crate) fn store(
        &mut self,
        thread: u32,
        released: &mut Released,
        order: hook::MemoryOrder,
        ends: Ends,
    ) {
        match ends {
            Ends::None => {}
            Ends::Others => released.retain(|head| head.0 == thread),
            Ends::All => released.clear(),
        }
        let known = of(&mut self.threads, thread);
        let published = if releases(order) { &known.clock } else { &known.released };
        match released.iter_mut().find(|head| head.0 == thread) {
            Some((_, clock)) => clock.join(published),
            None if published.is_empty() => {}
            None => released.push((thread, published.clone())),
        }
        if releases(order) {
            self.advance(thread);
        }
    }

    pub(crate) fn memory_fence(&mut self, thread: u32, order: hook::MemoryOrder) {
        let known = self.of(thread);
        if acquires(order) {
            known.copy = None;
            known.clock.join(&known.seen);
        }
        if releases(order) {
            known.released.copy_from(&known.clock);
            self.advance(thread);
        }
    }

    /// The memory of these objects is allocated again.
    pub(crate) fn forget(&mut self, range: &Range<u64>) {
        forget(&mut self.locks, range);
        forget(&mut self.conditions, range);
        forget(&mut self.semaphores, range);
        forget(&mut self.barriers, range);
        self.holders.forget(range.clone());
    }

    fn begin_section(&mut self, thread: u32, lock: u64, mode: HoldMode) {
        let Some(lock) = self.locks.get(&lock) else { return };
        let known = of(&mut self.threads, thread);
        known.learn(&lock.exclusive);
        if mode == HoldMode::Alone {
            known.learn(&lock.shared);
        }
    }

    fn end_section(&mut self, thread: u32, lock: u64, mode: HoldMode) {
        let lock = self.locks.entry(lock).or_default();
        let known = of(&mut self.threads, thread);
        match mode {
            HoldMode::Alone => lock.exclusive.copy_from(&known.clock),
            HoldMode::Shared => lock.shared.join(&known.clock),
        }
        self.advance(thread);
    }

    fn of(&mut self, thread: u32) -> &mut ThreadKnowledge {
        if self.threads.len() <= thread as usize {
            self.begin(thread);
        }
        of(&mut self.threads, thread)
    }

    /// A thread comes up; others with smaller numbers may not have been seen yet.
    #[cold]
    fn begin(&mut self, thread: u32) {
        self.threads.resize_with(thread as usize + 1, ThreadKnowledge::default);
    }
}

impl ThreadKnowledge {
    fn learn(&mut self, clock: &Clock) {
        self.copy = None;
        self.clock.join(clock);
    }
}

/// The thread. It was asked for its current epoch before, so it is there.
fn of(threads: &mut [ThreadKnowledge], thread: u32) -> &mut ThreadKnowledge {
    &mut threads[thread as usize]
}

/// Acquire and release: the thread's clock joins that of the object, and the object's becomes the result.
fn meet(here: &mut Clock, known: &mut ThreadKnowledge) {
    known.learn(here);
    here.join(&known.clock);
}

fn forget<T>(objects: &mut BTreeMap<u64, T>, range: &Range<u64>) {
    if objects.is_empty() {
        return;
    }
    let gone: Vec<u64> = objects.range(range.clone()).map(|(&object, _)| object).collect();
    for object in gone {
        objects.remove(&object);
    }
}

fn acquires(order: hook::MemoryOrder) -> bool {
    matches!(order, hook::MemoryOrder::Acquire | hook::MemoryOrder::AcqRel | hook::MemoryOrder::SeqCst)
}

fn releases(order: hook::MemoryOrder) -> bool {
    matches!(order, hook::MemoryOrder::Release | hook::MemoryOrder::AcqRel | hook::MemoryOrder::SeqCst)
}
