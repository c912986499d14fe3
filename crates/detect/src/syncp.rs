//! Sync-preserving races: Mathur, Pavlogiannis and Viswanathan, *Optimal Prediction of Synchronization-Preserving
//! Races* (POPL 2021).
//!
//! A schedule preserves synchronisation if the sections of each lock that it runs come in the order of the trace. Two
//! accesses can be made adjacent by such a schedule if and only if neither of them is in their *ideal*: the least set
//! of events that contains what comes before either of them in its thread and is closed under thread order, under
//! "reads from", under what every schedule keeps ([`crate::must`]), and under this: of two acquires of one lock in the
//! set, the earlier one's release is in the set as well. The schedule is then simply the trace restricted to the ideal,
//! followed by the two accesses ([`SyncPreserving::witness`]).
//!
//! **Changed:**
//! * All races are found, not just one for each later access: either every pair of events, or one for each pair of
//!   locations. The work is still amortised, since every access that is looked at again is reported
//!   (`history.rs`).
//! * A growing ideal remembers one section for each lock instead of a cursor for each lock and thread (`ideal.rs`), so
//!   an acquire that enters costs constant time however many threads there are.
//! * The clocks of threads are kept closed under the rule for locks at every event that learns something, so most
//!   accesses are found to lie inside an ideal without computing one.
//! * Shared sections exclude only exclusive ones, waiting on a condition ends a section and returning begins one.
//!   Atomics are read from like plain variables; two of them never race.
//! * What the paper does not have (semaphores, notifications, barriers, allocation, failed attempts to lock, reads that
//!   no write explains) is ordered as in [`crate::must`].
//!
//! **Guarantee:** every report is a race, with a schedule to show for it. For traces of reads, writes, locks, forks and
//! joins the answer is exact for the class.
//!
//! **May miss:** races that need the sections of a lock, or two writes, in another order; and those that need a finer
//! order than [`crate::must`] gives.
//!
//! Memory grows with the trace: no detector of these races can do without that, as the paper proves.

mod guard;
mod history;
mod ideal;
mod section;
mod witness;

use foretell_trace::{Access, Event, EventId, LockId, LockMode, Op, ThreadId, ops};

use self::guard::OpenSection;
use self::history::{History, IdealInput, Now};
use self::ideal::IdealClosure;
use self::section::{Index, Moment, Sections, Versions};
pub use self::witness::SyncPreserving;
use crate::Detector;
use crate::clock::Clocks;
use crate::must::MustOrder;
use crate::report::Reports;
use crate::table::at;

/// Finds all sync-preserving races in one pass.
#[derive(Debug, Default)]
pub struct SyncP {
    /// What each thread's next event needs: closed, but for what was learned since the thread last settled. Each event
    /// has a local time of its own.
    clocks: Clocks,
    /// What every schedule keeps.
    must: MustOrder,
    threads: Vec<ThreadState>,
    /// All sections so far, whether they have ended or not.
    sections: Sections,
    /// Copies of `clocks` that moments refer to.
    versions: Versions,
    /// The last write of each variable.
    writes: Vec<Option<Moment>>,
    /// The accesses so far.
    history: History,
    /// Whether memory has been allocated: from then on any access can learn something.
    allocates: bool,
}

#[derive(Debug, Default)]
struct ThreadState {
    /// What has been made of the sections in the thread's clock.
    closure: IdealClosure,
    /// The sections that the thread is in.
    held: Vec<OpenSection>,
    /// The stored copy of the thread's clock, until it learns something new.
    version: Option<Index>,
    /// Whether its clock is closed; otherwise it may have learned something from others since.
    settled: bool,
}

impl Detector for SyncP {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let thread = event.thread;
        self.clocks.of(thread);
        self.must.enter(event, &mut self.clocks);
        if !at(&mut self.threads, thread.index()).settled || self.may_learn(event) {
            self.settle(thread);
        }
        if let Some(access) = event.op.access() {
            self.access(id, event, access, reports);
        } else if let Some((lock, mode)) = event.op.section_begin() {
            self.begin_section(thread, lock, mode);
        } else if let Some((lock, mode)) = event.op.section_end() {
            self.end_section(thread, lock, mode);
        }
        let time = self.clocks.seen(thread).get(thread);
        self.must.leave(event, &mut self.clocks);
        self.unsettle(event);
        // Where the event was published already, its thread's time has advanced.
        if self.clocks.seen(thread).get(thread) == time {
            self.clocks.advance(thread);
        }
    }
}

impl SyncP {
    /// Whether the thread can learn something when it enters this operation.
    fn may_learn(&self, event: &Event) -> bool {
        match event.op {
            _ if event.unexplained => true,
            Op::Join(_)
            | Op::Woken { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(semaphores | barriers | attempts) => true,
            Op::Free(_) | ops!(accesses) => self.allocates,
            Op::Fork(_) | Op::Begin | Op::End | Op::Branch => false,
            Op::Fence { .. } | Op::Alloc(_) | Op::Wait { .. } | Op::WaitTimeout { .. } => false,
            ops!(sections | reentries | labels) => false,
        }
    }

    /// Closes the clock of a thread after it learned something.
    fn settle(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        let clock = self.clocks.of(thread);
        let growth = state.closure.close(clock, Some(thread), &self.sections, &self.versions);
        if growth.others {
            state.version = None;
        }
        state.settled = true;
    }

    /// Notes who learned something when the event was left.
    fn unsettle(&mut self, event: &Event) {
        if let Op::Fork(child) = event.op {
            at(&mut self.threads, child.index()).settled = false;
        }
        self.allocates |= matches!(event.op, Op::Alloc(_));
        if event.unexplained {
            self.threads.iter_mut().for_each(|thread| thread.settled = false);
        }
    }

    fn access(&mut self, id: EventId, event: &Event, access: Access, reports: &mut Reports) {
        let before = self.moment(event.thread);
        let state = &self.threads[event.thread.index()];
        let now = Now {
            id,
            loc: event.loc,
            access,
            moment: before,
            clock: self.clocks.seen(event.thread),
            closure: &state.closure,
        };
        let past = IdealInput { sections: &self.sections, versions: &self.versions };
        self.history.add(&now, &state.held, past, reports);
        if access.kind.reads() {
            self.read_from(event.thread, access);
        }
        if access.kind.writes() {
            *at(&mut self.writes, access.var.index()) = Some(self.moment(event.thread));
        }
    }

    /// What comes after a read needs the write that it saw.
    fn read_from(&mut self, thread: ThreadId, access: Access) {
        let Some(&Some(write)) = self.writes.get(access.var.index()) else { return };
        if self.clocks.seen(thread).get(write.thread) < write.time {
            write.raise(self.clocks.of(thread), &self.versions);
            self.settle(thread);
        }
    }

    fn begin_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let time = self.clocks.seen(thread).get(thread);
        let section = self.sections.begin(thread, lock, mode, time);
        self.threads[thread.index()].held.push(OpenSection { lock, mode, section });
        self.settle(thread);
    }

    fn end_section(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let end = self.moment(thread);
        let held = &mut self.threads[thread.index()].held;
        if let Some(position) = held.iter().rposition(|held| (held.lock, held.mode) == (lock, mode)) {
            let ended = held.remove(position);
            self.sections.end(ended.section, end);
        }
    }

    /// The present event of the thread with what it knows.
    fn moment(&mut self, thread: ThreadId) -> Moment {
        let clock = self.clocks.seen(thread);
        let version = &mut self.threads[thread.index()].version;
        let version = *version.get_or_insert_with(|| self.versions.keep(thread, clock));
        Moment { thread, time: clock.get(thread), version }
    }
}
