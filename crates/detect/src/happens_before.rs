//! Happens-before of the observed run, as C11, C++20 and Rust define it.
//!
//! Order of each thread, unlock before lock, [`MustOrder`], and atomics by their memory order: a release store is seen
//! by an acquire load that reads from it or from its release sequence (read-modify-writes that follow it; in C11 and
//! C17 also stores of its own thread, [`MemOrder::RelaxedC11`]), fences lend their order to relaxed operations, and
//! relaxed operations alone order nothing.
//!
//! Local time advances only where a thread publishes what it did, so that accesses between two such points share a
//! time.

use foretell_trace::{Access, AccessKind, Event, LockId, LockMode, MemOrder, Op, ThreadId, VarId, ops};

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
    /// For each variable, what an acquire load of its present value learns: its release sequences, by the thread that
    /// heads them.
    released: Vec<Vec<(ThreadId, Clock)>>,
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
    /// Takes the next event. If it is an access, `on_access` is called with the clocks as they are before it; what the
    /// access itself publishes takes effect afterwards.
    // One dispatch per event: the kind of the next event is what the processor cannot guess, so it is asked for once.
    #[inline(always)]
    pub fn step(&mut self, event: &Event, mut on_access: impl FnMut(&mut Clocks, Access)) {
        let thread = event.thread;
        match event.op {
            Op::Read { var, .. } | Op::Write { var, .. } => {
                let writes = matches!(event.op, Op::Write { .. });
                let kind = if writes { AccessKind::Write } else { AccessKind::Read };
                self.must.enter_access(thread, var, &mut self.clocks);
                self.clocks.of(thread);
                if event.unexplained {
                    self.clocks.gather(thread);
                }
                on_access(&mut self.clocks, Access { var, kind, atomic: false });
                if !self.released.is_empty() && writes {
                    self.end_release_sequence(var);
                }
                if event.unexplained {
                    self.clocks.fence(thread);
                }
            }
            Op::Acquire(lock) => {
                self.begin_section(thread, lock, LockMode::Exclusive);
                self.must.begin_section(thread, lock, LockMode::Exclusive);
            }
            Op::Release(lock) => {
                self.end_section(thread, lock, LockMode::Exclusive);
                self.must.end_section(thread, lock, LockMode::Exclusive);
            }
            _ => self.step_rare(event, on_access),
        }
    }

    fn step_rare(&mut self, event: &Event, mut on_access: impl FnMut(&mut Clocks, Access)) {
        self.must.enter(event, &mut self.clocks);
        let thread = event.thread;
        if let Some((lock, mode)) = event.op.section_begin() {
            self.begin_section(thread, lock, mode);
        }
        if let Op::Load { var, order, .. } | Op::Rmw { var, order, .. } = event.op {
            // What was released to the very access that acquires it happens before it.
            self.load(thread, var, order);
        }
        self.clocks.of(thread);
        if let Some(access) = event.op.access() {
            on_access(&mut self.clocks, access);
        }
        match event.op {
            Op::Store { var, order, .. } => {
                let continues = order == MemOrder::RelaxedC11;
                at(&mut self.released, var.index()).retain(|head| continues && head.0 == thread);
                self.publish(thread, var, order);
            }
            // Continues the release sequence that it reads from: what was published stays published.
            Op::Rmw { var, order, .. } => self.publish(thread, var, order),
            Op::Free(var) => self.end_release_sequence(var),
            Op::Fence { order } => self.fence(thread, order),
            Op::Release(lock) | Op::Wait { lock, .. } => {
                self.end_section(thread, lock, LockMode::Exclusive);
            }
            Op::ReleaseShared(lock) => self.end_section(thread, lock, LockMode::Shared),
            // The language publishes nothing here beyond what every schedule keeps.
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Load { .. }
            | Op::Acquire(_)
            | Op::TryAcquire(_)
            | Op::AcquireShared(_)
            | Op::TryAcquireShared(_)
            | Op::Woken { .. }
            | Op::WaitTimeout { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | Op::Alloc(_)
            | ops!(control | semaphores | barriers | labels | reentries | attempts) => {}
        }
        self.must.leave(event, &mut self.clocks);
    }

    /// The value that a release sequence was about is gone.
    fn end_release_sequence(&mut self, var: VarId) {
        if let Some(released) = self.released.get_mut(var.index()) {
            released.clear();
        }
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
        let seen = if order.acquires() {
            self.clocks.of(thread)
        } else {
            &mut at(&mut self.fences, thread.index()).seen
        };
        for (_, released) in at(&mut self.released, var.index()) {
            seen.join(released);
        }
    }

    fn publish(&mut self, thread: ThreadId, var: VarId, order: MemOrder) {
        let heads = at(&mut self.released, var.index());
        let published = if order.releases() {
            &*self.clocks.of(thread)
        } else {
            &at(&mut self.fences, thread.index()).released
        };
        match heads.iter_mut().find(|head| head.0 == thread) {
            Some((_, known)) => known.join(published),
            None => heads.push((thread, published.clone())),
        }
        if order.releases() {
            self.clocks.advance(thread);
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
