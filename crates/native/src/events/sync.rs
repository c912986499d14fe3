//! Synchronisation: threads, locks, conditions, semaphores and barriers.

use std::collections::BTreeSet;

use foretell_symbolic::Follower;
use foretell_trace::{BarrierId, CondId, LockId, MemOrder, Op, SemId, Value};
use foretell_wire::holders::{HoldMode, Holders};
use foretell_wire::record::{EXIT, SyncOp};
use rustc_hash::FxHashMap;

use super::barrier::Generations;
use super::{Done, Writer};
use crate::LogError;
use crate::memory::Era;

/// What is known of locks, semaphores, barriers and stacks at the record that is converted.
#[derive(Default)]
pub(super) struct SyncState {
    /// The holder of each lock.
    pub(super) holders: Holders<LockId>,
    /// Threads that met an unmodelled operation while they waited. Its fence is written when they continue.
    pub(super) owed: BTreeSet<u32>,
    /// The stack of each thread.
    pub(super) stacks: FxHashMap<u32, Era>,
    /// The site where each thread arrived at its last barrier: it leaves it there, whichever thread has the record.
    arrivals: FxHashMap<u32, u64>,
    /// The barriers at each address.
    barriers: FxHashMap<u64, Generations>,
    /// How often semaphores were created at each address.
    semaphores: FxHashMap<u64, u32>,
    /// How many permits each of those has whose creation was seen.
    permits: FxHashMap<SemId, u64>,
    /// The thread that has called `exit`. It ends with the process: handlers and destructors may still run.
    exiting: Option<u32>,
}

impl Writer<'_> {
    pub(super) fn sync(&mut self, op: SyncOp, object: u64, other: u64) -> Done {
        match op {
            SyncOp::Begin => self.begin(),
            SyncOp::End if object == EXIT => {
                self.sync.exiting = Some(self.here.thread);
                self.branch()
            }
            SyncOp::End => {
                // What a thread returns goes to the thread that joins it.
                self.branch()?;
                self.abandon_locks()?;
                self.sync.exiting = self.sync.exiting.filter(|&thread| thread != self.here.thread);
                if let Some(&stack) = self.sync.stacks.get(&self.here.thread) {
                    self.hand_on(stack)?;
                }
                self.push(Op::End)
            }
            SyncOp::Fork => {
                if !self.has_forked {
                    self.show_contents()?;
                }
                let child = self.naming.thread(number(object))?;
                self.push(Op::Fork(child))
            }
            SyncOp::Join => {
                let child = self.naming.thread(number(object))?;
                self.push(Op::Join(child))
            }
            SyncOp::Lock
            | SyncOp::LockShared
            | SyncOp::TryLock
            | SyncOp::TryLockShared
            | SyncOp::Unlock
            | SyncOp::TryFailed
            | SyncOp::TrySharedFailed => self.lock_op(op, object),
            SyncOp::Wait | SyncOp::Woken | SyncOp::TimedOut | SyncOp::Notify | SyncOp::NotifyAll => {
                self.cond_op(op, object, other)
            }
            SyncOp::SemInit | SyncOp::SemWait | SyncOp::SemPost => self.semaphore_op(op, object, other),
            SyncOp::Arrive => {
                self.sync.arrivals.insert(self.here.thread, self.here.site);
                let led = self.survey.led.contains(&(object, other / 2));
                self.sync.barriers.entry(object).or_default().arrive(other / 2, led);
                let barrier = self.barrier(object)?;
                self.push(Op::Arrive(barrier))
            }
            SyncOp::Depart => {
                if let Some(&site) = self.sync.arrivals.get(&self.here.thread) {
                    (self.here.site, self.here.loc) = (site, self.naming.spot(site)?.loc);
                }
                self.sync.barriers.entry(object).or_default().depart();
                let barrier = self.barrier(object)?;
                self.push(Op::Depart(barrier))
            }
            SyncOp::LocalEnd => self.end_local(object, other),
            SyncOp::Name => self.naming.name_thread(object, other),
            SyncOp::Alloc | SyncOp::Part | SyncOp::Free | SyncOp::Shared => Ok(()),
            SyncOp::Object => {
                self.naming.know_object(&self.memory, self.survey, object);
                Ok(())
            }
        }
    }

    /// The first thread also brings what was there before it. What static memory holds at first is not known before it
    /// is read, be it at the first fork (see [`Writer::show_contents`]), so it is modelled as memory that becomes
    /// usable. And a branch that depends on nothing shows that branches are recorded, even if there is no other.
    fn begin(&mut self) -> Done {
        self.push(Op::Begin)?;
        if self.here.thread > 0 {
            return Ok(());
        }
        self.push(Op::Branch)?;
        if self.survey.has_opaque {
            let outside = self.naming.names.vars.intern(b"outside")?;
            self.external.fence_var = Some(outside);
            let (value, order) = (Some(Value::ZERO), MemOrder::Relaxed);
            self.push_invented_write(Op::Store { var: outside, value, order })?;
        }
        // A copy of a process begins with the locks of the original.
        for &lock in &self.survey.held {
            self.lock_op(SyncOp::TryLock, lock)?;
        }
        self.all_kept(Era::STATIC, Op::Alloc)?;
        for era in self.survey.kept_objects() {
            let (value, order) = (Some(Value::ZERO), MemOrder::Relaxed);
            self.all_kept(era, |var| Op::Store { var, value, order })?;
        }
        self.create_handed_over(Era::STATIC)
    }

    /// The process has ended, and with it the thread that called `exit`.
    pub(super) fn finish(&mut self) -> Done {
        let Some(thread) = self.sync.exiting.take() else { return Ok(()) };
        self.here.thread = thread;
        (self.here.site, self.here.loc) = (0, self.naming.spot(0)?.loc);
        self.follow(|follower| follower.turn_to(thread));
        self.push(Op::End)
    }

    /// Memory becomes usable: so do the locks in it that are semaphores, really.
    pub(super) fn create_handed_over(&mut self, era: Era) -> Done {
        for &lock in self.survey.handed.semaphores_of(era) {
            self.semaphore_op(SyncOp::SemInit, lock, 1)?;
        }
        Ok(())
    }

    /// An operation on a lock that threads hand over. All but acquire and release are unmodelled: a failed attempt
    /// depends on every holder.
    fn handed_over_op(&mut self, op: SyncOp, object: u64) -> Done {
        match op {
            SyncOp::Lock | SyncOp::TryLock => self.semaphore_op(SyncOp::SemWait, object, 0),
            SyncOp::Unlock => self.semaphore_op(SyncOp::SemPost, object, 0),
            _ => self.opaque(),
        }
    }

    /// The thread ends with locks that another thread releases later. Nothing is reordered around its end, nor around
    /// that.
    fn abandon_locks(&mut self) -> Done {
        let survey = self.survey;
        for &object in survey.handed.abandoned_by(self.here.thread) {
            let lock: LockId = self.naming.lock(&self.memory, object)?;
            while self.sync.holders.holds(lock).iter().any(|&(holder, _)| holder == self.here.thread) {
                self.opaque()?;
                if let Some((_, mode)) = self.sync.holders.give_up(lock, self.here.thread) {
                    self.push(release(lock, mode))?;
                }
            }
        }
        Ok(())
    }

    fn lock_op(&mut self, op: SyncOp, object: u64) -> Done {
        if self.survey.handed.is_semaphore(self.memory.era(object), object) {
            return self.handed_over_op(op, object);
        }
        let lock: LockId = self.naming.lock(&self.memory, object)?;
        if let Some(mode) = op.takes() {
            self.make_way(lock, mode)?;
            self.sync.holders.take(lock, self.here.thread, mode);
        }
        match op {
            SyncOp::Lock => self.push(Op::Acquire(lock)),
            SyncOp::LockShared => self.push(Op::AcquireShared(lock)),
            SyncOp::TryLock => self.push(Op::TryAcquire(lock)),
            SyncOp::TryLockShared => self.push(Op::TryAcquireShared(lock)),
            SyncOp::TryFailed if self.sync.holders.is_held(lock, HoldMode::Alone) => {
                self.push(Op::TryAcquireFailed(lock))
            }
            SyncOp::TrySharedFailed if self.sync.holders.is_held(lock, HoldMode::Shared) => {
                self.push(Op::TryAcquireSharedFailed(lock))
            }
            SyncOp::TryFailed | SyncOp::TrySharedFailed => self.opaque(),
            _ => match self.sync.holders.give_up(lock, self.here.thread) {
                Some((holder, mode)) if holder == self.here.thread => self.push(release(lock, mode)),
                Some((holder, mode)) => self.release_for(holder, lock, mode),
                None => self.opaque(),
            },
        }
    }

    /// Any other thread that is still said to hold the lock has released it externally.
    fn make_way(&mut self, lock: LockId, mode: HoldMode) -> Done {
        for (holder, how) in self.sync.holders.in_the_way(lock, self.here.thread, mode) {
            self.release_for(holder, lock, how)?;
        }
        Ok(())
    }

    /// Another thread's hold of a lock has ended, at an unknown moment: somewhere before here, and nothing can be
    /// reordered around that.
    fn release_for(&mut self, holder: u32, lock: LockId, mode: HoldMode) -> Done {
        self.opaque()?;
        let thread = std::mem::replace(&mut self.here.thread, holder);
        self.follow(|follower| follower.turn_to(holder));
        self.follow(Follower::be_lost);
        self.push(release(lock, mode))?;
        self.here.thread = thread;
        self.follow(|follower| follower.turn_to(thread));
        self.opaque()
    }

    fn cond_op(&mut self, op: SyncOp, object: u64, other: u64) -> Done {
        let name = self.address_name(object);
        let cond: CondId = self.naming.names.conds.intern(name.as_bytes())?;
        let lock = if other == 0 { String::new() } else { self.address_name(other) };
        let op = match op {
            SyncOp::Notify => Op::Notify(cond),
            SyncOp::NotifyAll => Op::NotifyAll(cond),
            _ => {
                let lock = self.naming.names.locks.intern(lock.as_bytes())?;
                if op == SyncOp::Wait {
                    if !self.sync.holders.wait(lock, self.here.thread) {
                        return self.opaque();
                    }
                } else {
                    self.make_way(lock, HoldMode::Alone)?;
                    if !self.sync.holders.has_waited(lock, self.here.thread) {
                        return self.lock_op(SyncOp::TryLock, other);
                    }
                }
                match op {
                    SyncOp::Wait => Op::Wait { cond, lock },
                    SyncOp::Woken => Op::Woken { cond, lock },
                    _ => Op::WaitTimeout { cond, lock },
                }
            }
        };
        self.push(op)?;
        if !self.sync.holders.is_waiting(self.here.thread) && self.sync.owed.remove(&self.here.thread) {
            self.opaque()?;
        }
        Ok(())
    }

    /// A semaphore that is made has no past: what was there before, if it was used, is another one.
    fn semaphore_op(&mut self, op: SyncOp, object: u64, permits: u64) -> Done {
        let count = self.sync.semaphores.entry(object).or_insert(u32::from(op != SyncOp::SemInit));
        if op == SyncOp::SemInit {
            *count = count.saturating_add(1);
        }
        let sem = self.semaphore(object)?;
        let left = self.sync.permits.get(&sem).copied();
        let (op, left) = match op {
            SyncOp::SemInit => (Op::SemInit { sem, permits: number(permits) }, Some(permits)),
            SyncOp::SemPost => (Op::SemPost(sem), left.map(|left| left.saturating_add(1))),
            _ => {
                if left == Some(0) {
                    // The permit was given externally, at an unknown moment: somewhere before here.
                    self.opaque()?;
                    self.push(Op::SemPost(sem))?;
                    self.opaque()?;
                }
                (Op::SemWait(sem), left.map(|left| left.saturating_sub(1)))
            }
        };
        if let Some(left) = left {
            self.sync.permits.insert(sem, left);
        }
        self.push(op)
    }

    fn semaphore(&mut self, object: u64) -> Result<SemId, LogError> {
        let name = match self.sync.semaphores.get(&object).copied().unwrap_or(0) {
            0 | 1 => self.address_name(object),
            count => format!("{}#{count}", self.address_name(object)),
        };
        Ok(self.naming.names.sems.intern(name.as_bytes())?)
    }

    fn barrier(&mut self, object: u64) -> Result<BarrierId, LogError> {
        let name = match self.sync.barriers.get(&object).map_or(0, Generations::count) {
            0 => self.address_name(object),
            count => format!("{}#{}", self.address_name(object), count + 1),
        };
        Ok(self.naming.names.barriers.intern(name.as_bytes())?)
    }
}

fn release(lock: LockId, mode: HoldMode) -> Op {
    match mode {
        HoldMode::Alone => Op::Release(lock),
        HoldMode::Shared => Op::ReleaseShared(lock),
    }
}

fn number(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}
