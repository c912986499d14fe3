//! What causally-precedes and its weak form may not relax: [`MustOrder`], and atomic reads that see atomic writes.
//!
//! Both orders are closed under composition with happens-before, and both take a *hard* edge (fork, join, a semaphore,
//! a value passed through an atomic) as one of their own: all that happens before its source precedes all that happens
//! after its target. [`Hard`] keeps the happens-before clocks and says, event by event, which such clock arrives.
//!
//! An atomic read follows the atomic write that it saw whatever its memory order: these techniques ask which accesses
//! can be adjacent in a sequentially consistent schedule, where the write comes first in any case.
//!
//! Conservative where the two could be distinguished: two operations of one thread on one semaphore count as a hard
//! edge too.

use foretell_trace::{Event, Op, ThreadId, VarId, ops};

use crate::clock::{Clock, Clocks, Time};
use crate::must::MustOrder;
use crate::table::at;

/// Happens-before clocks, without locks: their owner joins what sections order.
#[derive(Debug, Default)]
pub(crate) struct Hard {
    /// Happens-before of each thread.
    pub(crate) clocks: Clocks,
    must: MustOrder,
    /// For each variable, the atomic write that its present value comes from.
    stores: Vec<Store>,
    /// For each variable, who allocated it. The owner's accesses follow the allocation by thread order alone.
    allocators: Vec<Option<ThreadId>>,
    /// What the event at hand learns; empty in between.
    learnt: Clock,
}

#[derive(Debug, Default)]
struct Store {
    /// The storing thread; none if the value comes from a plain write or from the beginning.
    thread: Option<ThreadId>,
    /// What happened before the store, and the store.
    clock: Clock,
}

/// What precedes the next event of a thread, by an order that is closed under happens-before.
#[derive(Clone, Debug)]
pub(crate) struct HardPredecessors {
    me: ThreadId,
    /// By thread. The own entry is larger than any time: whatever the thread did comes before what it does next.
    clock: Clock,
    /// Up to which local time the thread's own events precede by the order, and not merely by thread order.
    own: Time,
}

impl HardPredecessors {
    /// Nothing precedes.
    pub(crate) fn new(me: ThreadId) -> HardPredecessors {
        let mut clock = Clock::default();
        clock.set(me, Time::MAX);
        HardPredecessors { me, clock, own: 0 }
    }

    /// By the order or by thread order.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whether what the thread did at that time precedes.
    pub(crate) fn knows(&self, thread: ThreadId, time: Time) -> bool {
        time <= if thread == self.me { self.own } else { self.clock.get(thread) }
    }

    /// All that `clock` knows precedes.
    pub(crate) fn learn(&mut self, clock: &Clock) {
        self.own = self.own.max(clock.get(self.me));
        self.clock.join(clock);
    }

    /// Copies what precedes by the order alone.
    pub(crate) fn copy_to(&self, clock: &mut Clock) {
        clock.copy_from(&self.clock);
        clock.set(self.me, self.own);
    }
}

/// Whom an event tells all that happened before it, apart from those who look for it themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Learners {
    /// No thread.
    None,
    /// A thread that begins.
    Child(ThreadId),
    /// All threads: the event is a fence.
    AllThreads,
}

impl Hard {
    /// Before the event: what its thread learns along hard edges. Happens-before has learnt it already.
    pub(crate) fn enter(&mut self, event: &Event) -> Option<&Clock> {
        let thread = event.thread;
        self.learnt.clear();
        if !self.is_own_allocation(event) {
            // With the thread's own clock out of the way, what arrives there is what the edges bring.
            std::mem::swap(self.clocks.of(thread), &mut self.learnt);
            self.must.enter(event, &mut self.clocks);
            std::mem::swap(self.clocks.of(thread), &mut self.learnt);
        }
        if let Op::Load { var, .. } | Op::Rmw { var, .. } = event.op {
            self.load(thread, var);
        }
        if self.learnt.is_empty() {
            return None;
        }
        self.clocks.of(thread).join(&self.learnt);
        Some(&self.learnt)
    }

    /// After the event: what it did becomes known along hard edges.
    pub(crate) fn leave(&mut self, event: &Event) -> Learners {
        let thread = event.thread;
        match event.op {
            Op::Store { var, .. } | Op::Rmw { var, .. } => self.store(thread, var),
            Op::Write { var, .. } => {
                if let Some(store) = self.stores.get_mut(var.index()) {
                    store.thread = None;
                }
            }
            Op::Alloc(var) => *at(&mut self.allocators, var.index()) = Some(thread),
            Op::Read { .. }
            | Op::Load { .. }
            | Op::Fence { .. }
            | Op::Free(_)
            | ops!(locks | control | semaphores | conditions | barriers | labels) => {}
        }
        self.must.leave(event, &mut self.clocks);
        match event.op {
            _ if event.unexplained => Learners::AllThreads,
            Op::Fork(child) => Learners::Child(child),
            Op::Join(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | ops!(memory | locks | semaphores | conditions | barriers | labels) => Learners::None,
        }
    }

    /// What precedes the next event of a thread that has just learnt all.
    pub(crate) fn learnt_clock(&mut self, thread: ThreadId) -> Clock {
        let mut clock = self.clocks.of(thread).clone();
        // The own entry is already the time of the next event.
        clock.set(thread, clock.get(thread).saturating_sub(1));
        clock
    }

    fn is_own_allocation(&self, event: &Event) -> bool {
        let Some(access) = event.op.access() else { return false };
        self.allocators.get(access.var.index()) == Some(&Some(event.thread))
    }

    fn load(&mut self, thread: ThreadId, var: VarId) {
        if let Some(store) = self.stores.get(var.index())
            && store.thread.is_some_and(|storer| storer != thread)
        {
            self.learnt.join(&store.clock);
        }
    }

    fn store(&mut self, thread: ThreadId, var: VarId) {
        let store = at(&mut self.stores, var.index());
        store.thread = Some(thread);
        store.clock.copy_from(self.clocks.of(thread));
        self.clocks.advance(thread);
    }
}
