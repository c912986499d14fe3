//! Happens-before of C11, C++20 and Rust among the events so far, by vector clocks.
//!
//! Exactly as the languages say: thread order, fork and join, locks (a shared release orders later exclusive acquires
//! only), release/acquire atomics with release sequences, fences. Where the languages differ, the trace says which
//! rules hold: a release sequence is continued by read-modify-writes, and by those stores of the thread that heads it
//! that are made by the rules of C11 ([`MemOrder::RelaxedC11`]). More order than any of them says, to be careful: all
//! operations on one semaphore are chained, and all notifications on one condition; an arrival comes after the earlier
//! generations; accesses come after the allocation; an access is ordered after the write that it saw unless both are
//! atomic; and an event that no recorded write explains comes after all before it and before all after it.

use foretell_trace::{Event, LockId, MemOrder, Op, ThreadId, VarId, ops};

use super::clock::{Clock, Publication, Snapshots, narrow};

/// Happens-before among the events that have passed. Its memory grows with the number of names, not of events.
#[derive(Debug, Default)]
pub(crate) struct HappensBefore {
    threads: Vec<OrderedThread>,
    vars: Vec<OrderedVariable>,
    /// The release sequences of atomic variables: what each thread that heads one has published.
    /// [`OrderedVariable::sequence`] points here.
    sequences: Vec<Vec<(ThreadId, Clock)>>,
    locks: Vec<OrderedLock>,
    /// What the last operation on each semaphore knew.
    sems: Vec<Clock>,
    /// What the last notification on each condition knew.
    conds: Vec<Clock>,
    barriers: Vec<OrderedBarrier>,
    snapshots: Snapshots,
    /// What happens before every later event since the last unexplained one, also in threads yet to come.
    known_to_all: Clock,
}

#[derive(Debug, Default)]
struct OrderedThread {
    /// Its vector clock. Its own entry is its local time, which advances after each publication.
    clock: Clock,
    /// A snapshot of the clock, valid but for the own entry. Dropped when the clock changes.
    snapshot: Option<u32>,
    /// What it knew at its last release fence.
    release_fence: Clock,
    /// What its relaxed loads saw: known from the next acquire fence on. Only grows.
    acquirable: Clock,
}

#[derive(Clone, Copy, Debug, Default)]
struct OrderedVariable {
    /// The last write.
    written: Option<Publication>,
    /// Whether that was atomic.
    written_atomically: bool,
    /// The allocation, where the trace shows it.
    allocated: Option<Publication>,
    /// One more than the place of what an acquire load would learn now; 0 if the variable was never atomic.
    sequence: u32,
}

#[derive(Debug, Default)]
struct OrderedLock {
    /// What the last exclusive release knew.
    exclusive: Clock,
    /// What the shared releases so far knew. Only grows.
    shared: Clock,
}

#[derive(Debug, Default)]
struct OrderedBarrier {
    /// The threads that have arrived and not departed yet, with the generation.
    inside: Vec<(ThreadId, u32)>,
    /// The generation that the next arrival joins.
    open: u32,
    /// What all arrivals so far knew. Only grows.
    arrived: Clock,
    /// What the arrivals of the generations that some thread has departed from knew. Only grows.
    crossed: Clock,
}

impl HappensBefore {
    /// The local time of the thread: that of its present event, between [`Self::come`] and [`Self::perform`].
    pub(crate) fn time(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.index()).map_or(0, |state| state.clock.time(thread.index()))
    }

    /// Whether the thread's present event comes after the event that `other` did at `time`.
    pub(crate) fn knows(&self, thread: ThreadId, other: ThreadId, time: u32) -> bool {
        self.threads.get(thread.index()).is_some_and(|state| state.clock.time(other.index()) >= time)
    }

    /// The event is about to take effect: what does the language order before it?
    pub(crate) fn come(&mut self, event: &Event) {
        self.meet(event.thread.index());
        if event.unexplained {
            self.learn_everything(event.thread);
        }
        let Some(access) = event.op.access() else { return };
        let var = *at(&mut self.vars, access.var.index());
        if let Some(allocated) = var.allocated {
            self.learn_publication(event.thread, allocated);
        }
        if let Op::Load { order, .. } | Op::Rmw { order, .. } = event.op {
            self.see_sequence(event.thread, var, order);
        }
    }

    /// Applies the event: updates the clocks of its thread and of the objects that it uses.
    pub(crate) fn perform(&mut self, event: &Event) {
        let thread = event.thread;
        match event.op {
            Op::Read { var, .. } => self.see_write(thread, var, false),
            Op::Write { var, .. } | Op::Free(var) => {
                self.start_sequence(thread, var, None);
                self.write(thread, var, false);
            }
            Op::Load { var, .. } => self.see_write(thread, var, true),
            Op::Store { var, order, .. } => {
                self.start_sequence(thread, var, Some(order));
                self.write(thread, var, true);
            }
            Op::Rmw { var, order, .. } => {
                self.see_write(thread, var, true);
                self.continue_sequence(thread, var, order);
                self.write(thread, var, true);
            }
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::WaitTimeout { lock, .. } => {
                self.acquire(thread, lock);
            }
            Op::Release(lock) | Op::Wait { lock, .. } => {
                at(&mut self.locks, lock.index()).exclusive.copy(&self.threads[thread.index()].clock);
                self.tick(thread);
            }
            _ => self.perform_rare(thread, event.op),
        }
        if event.unexplained {
            self.everybody_learns_everything();
        }
    }

    fn perform_rare(&mut self, thread: ThreadId, op: Op) {
        match op {
            Op::Fence { order } => self.fence(thread, order),
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                let lock = at(&mut self.locks, lock.index());
                learn(&mut self.threads[thread.index()], &mut self.snapshots, &lock.exclusive);
            }
            Op::ReleaseShared(lock) => {
                at(&mut self.locks, lock.index()).shared.join(&self.threads[thread.index()].clock);
                self.tick(thread);
            }
            Op::Woken { cond, lock } => {
                let cond = at(&mut self.conds, cond.index());
                learn(&mut self.threads[thread.index()], &mut self.snapshots, cond);
                self.acquire(thread, lock);
            }
            Op::Notify(cond) | Op::NotifyAll(cond) => {
                let cond = at(&mut self.conds, cond.index());
                chain(&mut self.threads[thread.index()], &mut self.snapshots, cond);
                self.tick(thread);
            }
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                let sem = at(&mut self.sems, sem.index());
                chain(&mut self.threads[thread.index()], &mut self.snapshots, sem);
                self.tick(thread);
            }
            Op::Fork(child) => self.fork(thread, child),
            Op::Join(child) => self.join(thread, child),
            Op::Arrive(barrier) => self.arrive(thread, barrier.index()),
            Op::Depart(barrier) => self.depart(thread, barrier.index()),
            Op::Alloc(var) => {
                let publication = self.publish(thread);
                at(&mut self.vars, var.index()).allocated = publication;
            }
            // The languages order nothing here. Repeated acquires are covered by the outermost one.
            Op::Acquire(_)
            | Op::TryAcquire(_)
            | Op::Release(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Wait { .. }
            | Op::WaitTimeout { .. }
            | Op::Free(_)
            | ops!(labels | accesses | reentries | attempts) => {}
        }
    }

    /// Makes sure that the thread has a state.
    fn meet(&mut self, thread: usize) {
        while self.threads.len() <= thread {
            let mut clock = Clock::beginning(self.threads.len());
            clock.join(&self.known_to_all);
            self.threads.push(OrderedThread { clock, ..OrderedThread::default() });
        }
    }

    fn tick(&mut self, thread: ThreadId) {
        self.threads[thread.index()].clock.tick(thread.index());
    }

    /// Keeps what the thread knows now, so that others can learn of its present event.
    fn publish(&mut self, thread: ThreadId) -> Option<Publication> {
        let state = &mut self.threads[thread.index()];
        if state.snapshot.is_none() {
            state.snapshot = self.snapshots.take(&state.clock);
        }
        let time = state.clock.time(thread.index());
        state.clock.tick(thread.index());
        Some(self.snapshots.publication(narrow(thread), time, state.snapshot?))
    }

    fn learn_publication(&mut self, thread: ThreadId, publication: Publication) {
        let state = &mut self.threads[thread.index()];
        if self.snapshots.learn(&mut state.clock, publication)
            && let Some(old) = state.snapshot.take()
        {
            self.snapshots.leave(old);
        }
    }

    /// What comes after a read is ordered after the write that it saw, unless both are atomic.
    fn see_write(&mut self, thread: ThreadId, var: VarId, atomically: bool) {
        let var = self.vars[var.index()];
        if let Some(written) = var.written
            && !(atomically && var.written_atomically)
        {
            self.learn_publication(thread, written);
        }
    }

    fn write(&mut self, thread: ThreadId, var: VarId, atomically: bool) {
        let publication = self.publish(thread);
        let var = &mut self.vars[var.index()];
        var.written_atomically = atomically;
        if let Some(old) = std::mem::replace(&mut var.written, publication) {
            self.snapshots.retire(old);
        }
    }

    fn see_sequence(&mut self, thread: ThreadId, var: OrderedVariable, order: MemOrder) {
        let Some(place) = var.sequence.checked_sub(1) else { return };
        let state = &mut self.threads[thread.index()];
        for (_, released) in &self.sequences[place as usize] {
            if order.acquires() {
                learn(state, &mut self.snapshots, released);
            } else {
                state.acquirable.join(released);
            }
        }
    }

    /// A store heads a new release sequence and ends all others, but for those of its own thread where C11 rules; a
    /// plain write (`None`) ends all.
    fn start_sequence(&mut self, thread: ThreadId, var: VarId, order: Option<MemOrder>) {
        if order.is_none() && self.vars[var.index()].sequence == 0 {
            return;
        }
        let Some(place) = self.sequence(var) else { return };
        match order {
            None => self.sequences[place].clear(),
            Some(order) => {
                match order {
                    MemOrder::RelaxedC11 => self.sequences[place].retain(|head| head.0 == thread),
                    _ => self.sequences[place].clear(),
                }
                self.continue_sequence(thread, var, order);
            }
        }
    }

    /// What the write publishes is added to what was published.
    fn continue_sequence(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        let Some(place) = self.sequence(var) else { return };
        let heads = &mut self.sequences[place];
        let published = released(&self.threads[thread.index()], order);
        match heads.iter_mut().find(|head| head.0 == thread) {
            Some((_, known)) => {
                known.join(published);
            }
            None => heads.push((thread, published.clone())),
        }
    }

    /// The place of the variable's release sequence, which it gets when it is first used atomically.
    fn sequence(&mut self, var: VarId) -> Option<usize> {
        let var = &mut self.vars[var.index()];
        if var.sequence == 0 {
            self.sequences.push(Vec::new());
            var.sequence = u32::try_from(self.sequences.len()).ok()?;
        }
        Some(var.sequence as usize - 1)
    }

    fn fence(&mut self, thread: ThreadId, order: MemOrder) {
        let state = &mut self.threads[thread.index()];
        if order.acquires() {
            let acquirable = std::mem::take(&mut state.acquirable);
            learn(state, &mut self.snapshots, &acquirable);
            state.acquirable = acquirable;
        }
        if order.releases() {
            state.release_fence.copy(&state.clock);
            self.tick(thread);
        }
    }

    fn acquire(&mut self, thread: ThreadId, lock: LockId) {
        let lock = at(&mut self.locks, lock.index());
        let state = &mut self.threads[thread.index()];
        learn(state, &mut self.snapshots, &lock.exclusive);
        learn(state, &mut self.snapshots, &lock.shared);
    }

    fn fork(&mut self, parent: ThreadId, child: ThreadId) {
        self.meet(child.index());
        if let Ok([parent, child]) = self.threads.get_disjoint_mut([parent.index(), child.index()]) {
            learn(child, &mut self.snapshots, &parent.clock);
        }
        self.tick(parent);
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        self.meet(child.index());
        if let Ok([parent, child]) = self.threads.get_disjoint_mut([parent.index(), child.index()]) {
            learn(parent, &mut self.snapshots, &child.clock);
        }
    }

    fn arrive(&mut self, thread: ThreadId, barrier: usize) {
        let barrier = at(&mut self.barriers, barrier);
        let state = &mut self.threads[thread.index()];
        learn(state, &mut self.snapshots, &barrier.crossed);
        barrier.arrived.join(&state.clock);
        barrier.inside.push((thread, barrier.open));
        self.tick(thread);
    }

    fn depart(&mut self, thread: ThreadId, barrier: usize) {
        let barrier = at(&mut self.barriers, barrier);
        let Some(place) = barrier.inside.iter().position(|inside| inside.0 == thread) else { return };
        let (_, generation) = barrier.inside.swap_remove(place);
        if generation == barrier.open {
            barrier.open = barrier.open.saturating_add(1);
            barrier.crossed.copy(&barrier.arrived);
        }
        learn(&mut self.threads[thread.index()], &mut self.snapshots, &barrier.crossed);
    }

    /// The external writer of what the thread is about to see may have synchronised with any thread.
    #[cold]
    fn learn_everything(&mut self, thread: ThreadId) {
        let mut all = self.known_to_all.clone();
        for state in &self.threads {
            all.join(&state.clock);
        }
        learn(&mut self.threads[thread.index()], &mut self.snapshots, &all);
    }

    #[cold]
    fn everybody_learns_everything(&mut self) {
        for state in &self.threads {
            self.known_to_all.join(&state.clock);
        }
        for (thread, state) in self.threads.iter_mut().enumerate() {
            learn(state, &mut self.snapshots, &self.known_to_all);
            state.clock.tick(thread);
        }
    }
}

/// What a store with this order publishes: all that its thread knows, or what it knew at its last release fence.
fn released(state: &OrderedThread, order: MemOrder) -> &Clock {
    if order.releases() { &state.clock } else { &state.release_fence }
}

/// The thread learns all of `clock`.
fn learn(state: &mut OrderedThread, snapshots: &mut Snapshots, clock: &Clock) {
    if state.clock.join(clock)
        && let Some(old) = state.snapshot.take()
    {
        snapshots.leave(old);
    }
}

/// The thread learns all of `link`, which then knows what the thread knows.
fn chain(state: &mut OrderedThread, snapshots: &mut Snapshots, link: &mut Clock) {
    learn(state, snapshots, link);
    link.copy(&state.clock);
}

/// The state at `index` of a table that grows as needed.
fn at<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if index >= table.len() {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}
