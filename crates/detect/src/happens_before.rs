//! Happens-before of the observed run, as C11, C++20 and Rust define it.
//!
//! Order of each thread, unlock before lock, [`MustOrder`], and atomics by their memory order: a release store is seen
//! by an acquire load that reads from it or from its release sequence (read-modify-writes that follow it), fences lend
//! their order to relaxed operations, and relaxed operations alone order nothing.
//!
//! Local time advances only where a thread publishes what it did, so that accesses between two such points share a time.

use foretell_trace::{Event, LockId, LockMode, MemOrder, Op, ThreadId, VarId};

use crate::clock::{Clock, Clocks};
use crate::must::MustOrder;
use crate::table::at;

/// The clocks of all threads, and of what they synchronise through.
#[derive(Debug, Default)]
pub struct HappensBefore {
    /// The clock of each thread.
    pub clocks: Clocks,
    must: MustOrder,
    locks: Vec<LockClocks>,
    /// For each variable, what an acquire load of its present value learns.
    released: Vec<Clock>,
    fences: Vec<FenceClocks>,
}

#[derive(Debug, Default)]
struct LockClocks {
    /// What came before the last exclusive release.
    exclusive: Clock,
    /// What came before the shared releases so far.
    shared: Clock,
}

#[derive(Debug, Default)]
struct FenceClocks {
    /// What came before the thread's last release fence: its relaxed stores publish this.
    released: Clock,
    /// What the thread's relaxed loads have seen published: its next acquire fence learns this.
    seen: Clock,
}

impl HappensBefore {
    /// Before the event: its thread learns what happens before it, apart from memory.
    pub fn enter(&mut self, event: &Event) {
        self.must.enter(event, &mut self.clocks);
        if let Some((lock, mode)) = event.op.section_begin() {
            self.begin_section(event.thread, lock, mode);
        }
    }

    /// After the event, and after any check of the access that it is: synchronisation through memory takes effect, and
    /// the thread publishes what it did.
    pub fn leave(&mut self, event: &Event) {
        let thread = event.thread;
        match event.op {
            Op::Load { var, order, .. } => self.load(thread, var, order),
            Op::Store { var, order, .. } => self.store(thread, var, order),
            Op::Rmw { var, order, .. } => self.update(thread, var, order),
            // The value that a release sequence was about is gone.
            Op::Write { var, .. } => {
                if let Some(released) = self.released.get_mut(var.index()) {
                    released.clear();
                }
            }
            Op::Fence { order } => self.fence(thread, order),
            op => {
                if let Some((lock, mode)) = op.section_end() {
                    self.end_section(thread, lock, mode);
                }
            }
        }
        self.must.leave(event, &mut self.clocks);
    }

    fn begin_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let lock = at(&mut self.locks, lock.index());
        let clock = self.clocks.of(thread);
        clock.join(&lock.exclusive);
        if mode == LockMode::Exclusive {
            clock.join(&lock.shared);
        }
    }

    fn end_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let lock = at(&mut self.locks, lock.index());
        let clock = self.clocks.of(thread);
        match mode {
            LockMode::Exclusive => lock.exclusive.copy_from(clock),
            LockMode::Shared => lock.shared.join(clock),
        }
        self.clocks.advance(thread);
    }

    fn load(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        let released = at(&mut self.released, var.index());
        if order.acquires() {
            self.clocks.of(thread).join(released);
        } else {
            at(&mut self.fences, thread.index()).seen.join(released);
        }
    }

    fn store(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        at(&mut self.released, var.index()).clear();
        self.publish(thread, var, order);
    }

    /// A read-modify-write continues the release sequence that it reads from: what was published stays published.
    fn update(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        self.load(thread, var, order);
        self.publish(thread, var, order);
    }

    fn publish(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        let released = at(&mut self.released, var.index());
        if order.releases() {
            released.join(self.clocks.of(thread));
            self.clocks.advance(thread);
        } else {
            released.join(&at(&mut self.fences, thread.index()).released);
        }
    }

    fn fence(&mut self, thread: ThreadId, order: MemOrder) {
        let fences = at(&mut self.fences, thread.index());
        if order.acquires() {
            self.clocks.of(thread).join(&fences.seen);
        }
        if order.releases() {
            fences.released.copy_from(self.clocks.of(thread));
            self.clocks.advance(thread);
        }
    }
}
