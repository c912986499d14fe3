//! The steps of one thread.

use foretell_trace::{CondId, Event, LockId, Op, ThreadId, Trace, VarId, ops};
use rustc_hash::FxHashSet;

use super::cells::Cells;
use super::contents::Memory;
use super::is_silent;
use super::sync::Sync;
use crate::program::{NONE, PROGRESS, PackedAccess, Range, TracePoint, Transition};
use crate::special::Special;

/// What has become of all threads.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    pub(super) steps: Vec<Transition>,
    pub(super) places: Vec<TracePoint>,
    /// Walls: which event lifts it, of which thread it is, and where it is.
    pub(super) walls: Vec<Wall>,
    /// Per thread, its positions.
    pub(super) blocks: Vec<Block>,
    pub(super) specials: Vec<Special>,
    /// The joins: their positions, and the joined threads.
    joins: Vec<(usize, ThreadId)>,
    /// By variable and thread, the last position at which the thread asks what the variable holds.
    pub(super) last_reads: Vec<LastRead>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    pub(super) lifted_by: usize,
    pub(super) thread: usize,
    pub(super) position: u32,
}

/// The positions of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) begin: u32,
    /// Where it has run all its events; behind it, if there is such a place, where it has done so and deviated with
    /// the last one.
    done: Range,
    /// The last position.
    pub(super) last: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LastRead {
    pub(super) var: usize,
    pub(super) thread: usize,
    pub(super) position: u32,
}

pub(super) struct Compiler<'a> {
    trace: &'a Trace,
    memory: &'a Memory,
    sync: &'a Sync,
    cells: &'a Cells,
    /// The indices of the events of each thread.
    events: Vec<Vec<usize>>,
    /// Per thread, the index of its fork.
    forks: Vec<Option<usize>>,
    /// The indices of the events that no recorded write explains, and how many steps come before each.
    unexplained: Vec<(usize, u32)>,
    compiled: Compiled,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        memory: &'a Memory,
        sync: &'a Sync,
        cells: &'a Cells,
    ) -> Compiler<'a> {
        let mut events = vec![Vec::new(); trace.thread_count()];
        let mut forks = vec![None; trace.thread_count()];
        let mut unexplained = Vec::new();
        let mut steps = 0;
        for (index, event) in trace.events().iter().enumerate() {
            events[event.thread.index()].push(index);
            if let Op::Fork(child) = event.op {
                forks[child.index()] = Some(index);
            }
            if event.unexplained {
                unexplained.push((index, steps));
            }
            steps += u32::from(!is_silent(event.op));
        }
        Compiler { trace, memory, sync, cells, events, forks, unexplained, compiled: Compiled::default() }
    }

    /// Compiles the next thread. `None` if there are too many positions.
    pub(super) fn thread(&mut self, thread: ThreadId) -> Option<()> {
        let begin = self.position()?;
        let number = thread.index();
        let events = std::mem::take(&mut self.events[number]);
        if let Some(fork) = self.forks[number] {
            self.wall(number, fork, 0)?;
        }
        let mut held = HeldLocks::default();
        let mut fences = Fences { passed: 0, thread };
        let mut reads = Vec::new();
        for (place, &index) in events.iter().enumerate() {
            let event = self.trace.events()[index];
            fences.pass(index, self)?;
            if !is_silent(event.op) {
                let position = self.position()?;
                let mut step = self.step(index, &event, &mut held)?;
                if let Some(special) = self.special(index, events.get(place + 1), &event) {
                    step.special = u32::try_from(self.compiled.specials.len()).ok()?;
                    self.compiled.specials.push(special);
                }
                if let Some(access) = event.op.access()
                    && access.kind.reads()
                    && !event.unexplained
                {
                    reads.push((index, position));
                    self.note_read(access.var, number, position);
                }
                let event = u32::try_from(index).ok()?;
                self.push(step, TracePoint { event, frontier: event, deviated: false });
            }
        }
        self.finish_thread(begin, events.last().copied(), &reads)
    }

    /// The end of the thread, and the places where it deviates.
    fn finish_thread(&mut self, begin: u32, last: Option<usize>, reads: &[(usize, u32)]) -> Option<()> {
        let end = self.position()?;
        self.push(Transition::WALL, TracePoint { event: NONE, frontier: u32::MAX, deviated: false });
        let mut done = Range::exactly(self.cells.thread(self.compiled.blocks.len()), end);
        // The last event first: a thread that deviates with it is at the end all the same.
        for &(index, position) in reads.iter().rev() {
            let deviation = self.position()?;
            done.more += u32::from(last == Some(index));
            self.compiled.steps[position as usize].deviation = deviation;
            let frontier = u32::try_from(index).ok()?.checked_add(1)?;
            self.push(Transition::WALL, TracePoint { event: NONE, frontier, deviated: true });
        }
        let last = self.position()? - 1;
        self.compiled.blocks.push(Block { begin, done, last });
        Some(())
    }

    /// All threads, with the targets of joins resolved.
    pub(super) fn finish(mut self) -> Compiled {
        for (position, child) in std::mem::take(&mut self.compiled.joins) {
            self.compiled.steps[position].guard = self.compiled.blocks[child.index()].done;
        }
        self.compiled
    }

    fn position(&self) -> Option<u32> {
        u32::try_from(self.compiled.steps.len()).ok()
    }

    fn push(&mut self, step: Transition, place: TracePoint) {
        self.compiled.steps.push(step);
        self.compiled.places.push(place);
    }

    /// A wall that `lifted_by` lifts. Before it, the thread has run what comes before `frontier`.
    fn wall(&mut self, thread: usize, lifted_by: usize, frontier: usize) -> Option<()> {
        let position = self.position()?;
        self.compiled.walls.push(Wall { lifted_by, thread, position });
        self.push(
            Transition::WALL,
            TracePoint { event: NONE, frontier: u32::try_from(frontier).ok()?, deviated: false },
        );
        Some(())
    }

    fn note_read(&mut self, var: VarId, thread: usize, position: u32) {
        let reads = &mut self.compiled.last_reads;
        reads.push(LastRead { var: var.index(), thread, position });
    }

    fn step(&mut self, index: usize, event: &Event, held: &mut HeldLocks) -> Option<Transition> {
        let cells = self.cells;
        let step = match event.op {
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. } => self.access(index, event, var)?,
            Op::Alloc(var) => {
                let step = Transition::adding(Range::ALWAYS, cells.life(var)?, 1);
                Transition { access: PackedAccess::CHANGES_OTHERS, ..step }
            }
            Op::Free(var) => {
                let step = Transition::adding(cells.usable(var), cells.life(var)?, 1);
                Transition { access: PackedAccess::new(event.op.access()?)?, ..step }
            }
            Op::Acquire(lock)
            | Op::TryAcquire(lock)
            | Op::Woken { lock, .. }
            | Op::WaitTimeout { lock, .. } => {
                held.exclusively.insert(lock);
                let own = u32::from(held.shared.contains(&lock));
                let free = Range::exactly(cells.lock(lock), own);
                Transition::adding(free, cells.lock(lock), cells.exclusive(lock))
            }
            Op::Release(lock) | Op::Wait { lock, .. } => {
                held.exclusively.remove(&lock);
                Transition::adding(Range::ALWAYS, cells.lock(lock), cells.exclusive(lock).wrapping_neg())
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                held.shared.insert(lock);
                let shareable = Range { cell: cells.lock(lock), least: 0, more: cells.exclusive(lock) - 1 };
                let guard = if held.exclusively.contains(&lock) { Range::ALWAYS } else { shareable };
                Transition::adding(guard, cells.lock(lock), 1)
            }
            Op::ReleaseShared(lock) => {
                held.shared.remove(&lock);
                Transition::adding(Range::ALWAYS, cells.lock(lock), 1_u32.wrapping_neg())
            }
            Op::TryAcquireFailed(lock) => {
                Transition { guard: Range::at_least(cells.lock(lock), 1), ..Transition::IDLE }
            }
            Op::TryAcquireSharedFailed(lock) => Transition {
                guard: Range::at_least(cells.lock(lock), cells.exclusive(lock)),
                ..Transition::IDLE
            },
            // A semaphore's cell is 0 until it is created, and then one more than its permits. More permits than
            // there are waits make no difference.
            Op::SemInit { sem, permits } => {
                let permits = permits.min(self.sync.waits[sem.index()]);
                Transition::adding(Range::ALWAYS, cells.sem(sem), permits + 1)
            }
            Op::SemPost(sem) => Transition::adding(Range::at_least(cells.sem(sem), 1), cells.sem(sem), 1),
            Op::SemWait(sem) => {
                Transition::adding(Range::at_least(cells.sem(sem), 2), cells.sem(sem), 1_u32.wrapping_neg())
            }
            Op::Arrive(barrier) | Op::Depart(barrier) if self.sync.sizes[barrier.index()].is_some() => {
                let comes = u32::from(matches!(event.op, Op::Arrive(_)));
                Transition::adding(Range::ALWAYS, cells.barrier(barrier), comes)
            }
            Op::Arrive(barrier) => {
                let gathered = *self.sync.gathered.get(&index)?;
                Transition::adding(
                    Range::at_least(cells.barrier(barrier), gathered),
                    cells.barrier(barrier),
                    1,
                )
            }
            Op::Depart(barrier) => {
                let gathered = *self.sync.gathered.get(&index)?;
                Transition { guard: Range::at_least(cells.barrier(barrier), gathered), ..Transition::IDLE }
            }
            Op::Join(child) => {
                self.compiled.joins.push((self.compiled.steps.len(), child));
                Transition::IDLE
            }
            // What these do is to lift walls, or special.
            Op::Fork(_) | Op::Notify(_) | Op::NotifyAll(_) => Transition::IDLE,
            Op::Fence { .. } | Op::Begin | Op::End | Op::Branch | ops!(labels | reentries) => {
                Transition::IDLE
            }
        };
        Some(step)
    }

    /// What the event does at a condition or a barrier.
    fn special(&self, index: usize, next: Option<&usize>, event: &Event) -> Option<Special> {
        let (cells, thread) = (self.cells, event.thread);
        let waiters = |cond: CondId| cells.waiters(cond, self.sync.signals[cond.index()]);
        Some(match event.op {
            // A thread that returns for another reason needs no notification.
            Op::Wait { cond, .. } if next.is_some_and(|back| self.sync.notified.contains(back)) => {
                Special::Wait { own: cells.waiter(cond, thread)? }
            }
            Op::Woken { cond, .. } if self.sync.notified.contains(&index) => {
                Special::Return { own: cells.waiter(cond, thread)?, waiters: waiters(cond) }
            }
            Op::Notify(cond) => Special::NotifyOne(waiters(cond)),
            Op::NotifyAll(cond) => Special::NotifyAll(waiters(cond)),
            Op::Arrive(barrier) => {
                let size = self.sync.sizes[barrier.index()]?;
                Special::Arrive {
                    own: cells.meeting(barrier, thread)?,
                    barrier: cells.barrier(barrier),
                    size,
                }
            }
            Op::Depart(barrier) => {
                Special::Depart { own: cells.meeting(barrier, thread)?, barrier: cells.barrier(barrier) }
            }
            Op::Wait { .. }
            | Op::Woken { .. }
            | Op::WaitTimeout { .. }
            | ops!(memory | locks | control | semaphores | labels) => return None,
        })
    }

    fn access(&self, index: usize, event: &Event, var: VarId) -> Option<Transition> {
        let mut step = Transition { guard: self.cells.usable(var), ..Transition::IDLE };
        if let Some(left) = self.memory.left(index) {
            (step.put, step.keep, step.add) = (self.cells.var(var), 0, left);
            step.deviation_put = self.memory.foreign(var.index());
        }
        if let Some((least, more)) = self.memory.asked(index, var.index()) {
            step.look = Range { cell: self.cells.var(var), least, more };
        }
        if event.unexplained {
            // All before it must have run as observed. So the variable is usable, and there is no thread to race with.
            let place = self.unexplained.binary_search_by_key(&index, |fence| fence.0).ok()?;
            step.guard = Range::exactly(PROGRESS, self.unexplained[place].1);
        } else {
            step.access = PackedAccess::new(event.op.access()?)?;
        }
        Some(step)
    }
}

/// The locks that the thread itself holds.
#[derive(Default)]
struct HeldLocks {
    exclusively: FxHashSet<LockId>,
    shared: FxHashSet<LockId>,
}

/// Walls before what comes after an event that no recorded write explains.
struct Fences {
    /// How many of these events are behind.
    passed: usize,
    thread: ThreadId,
}

impl Fences {
    /// Walls for all of these events that come before `index`, but for the thread's own, and those before its fork.
    fn pass(&mut self, index: usize, compiler: &mut Compiler<'_>) -> Option<()> {
        while let Some(&(fence, _)) = compiler.unexplained.get(self.passed)
            && fence < index
        {
            self.passed += 1;
            let thread = self.thread.index();
            let is_own = compiler.trace.events()[fence].thread == self.thread;
            let is_unborn = compiler.forks[thread].is_some_and(|fork| fork > fence);
            if !is_own && !is_unborn {
                compiler.wall(thread, fence, fence)?;
            }
        }
        Some(())
    }
}
