//! Where threads meet: semaphores, conditions and barriers.

use super::locks::not_owner;
use super::{Checker, SemState, Verdict, at, wrong};
use crate::id::{BarrierId, CondId, EventId, LockId, SemId, ThreadId};
use crate::name::Names;

impl Checker {
    pub(super) fn sem_init(&mut self, sem: SemId, permits: u32, names: &Names) -> Verdict {
        let state = at(&mut self.sems, sem.index());
        if state.touched {
            return wrong!("the semaphore {} is created after its first use", names.sems.name(sem));
        }
        *state = SemState { permits: Some(u64::from(permits)), touched: true };
        Ok(())
    }

    pub(super) fn sem_wait(&mut self, sem: SemId, names: &Names) -> Verdict {
        let state = at(&mut self.sems, sem.index());
        state.touched = true;
        match &mut state.permits {
            Some(0) => wrong!("the semaphore {} has no permit left", names.sems.name(sem)),
            Some(permits) => {
                *permits -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn wait(&mut self, thread: ThreadId, cond: CondId, lock: LockId, names: &Names) -> Verdict {
        let state = at(&mut self.locks, lock.index());
        match state.writer {
            Some((owner, _, depth)) if owner == thread => {
                state.writer = None;
                let waiter = at(&mut self.threads, thread.index());
                waiter.waiting = Some((cond, lock, depth));
                waiter.runs = false;
                Ok(())
            }
            other => not_owner(lock, other.map(|(owner, since, _)| (owner, since)), thread, names),
        }
    }

    pub(super) fn return_from_wait(
        &mut self,
        id: EventId,
        thread: ThreadId,
        cond: CondId,
        lock: LockId,
        names: &Names,
    ) -> Verdict {
        let Some((_, _, depth)) = at(&mut self.threads, thread.index()).waiting else {
            let (thread, cond) = (names.threads.name(thread), names.conds.name(cond));
            return wrong!("{thread} returns from a wait on {cond} that it did not begin");
        };
        if !self.acquire(id, thread, lock, names)? {
            let (thread, lock) = (names.threads.name(thread), names.locks.name(lock));
            return wrong!("{thread} returns from a wait although it holds {lock}");
        }
        if let Some((_, _, held)) = &mut at(&mut self.locks, lock.index()).writer {
            *held = depth;
        }
        let waiter = at(&mut self.threads, thread.index());
        waiter.waiting = None;
        waiter.runs = true;
        Ok(())
    }

    pub(super) fn arrive(&mut self, thread: ThreadId, barrier: BarrierId, names: &Names) -> Verdict {
        let state = at(&mut self.barriers, barrier.index());
        if state.inside.iter().any(|inside| inside.0 == thread) {
            let (thread, barrier) = (names.threads.name(thread), names.barriers.name(barrier));
            return wrong!("{thread} arrives at {barrier} again before it departed");
        }
        state.inside.push((thread, state.open));
        Ok(())
    }

    pub(super) fn depart(&mut self, thread: ThreadId, barrier: BarrierId, names: &Names) -> Verdict {
        let state = at(&mut self.barriers, barrier.index());
        let Some(position) = state.inside.iter().position(|inside| inside.0 == thread) else {
            let (thread, barrier) = (names.threads.name(thread), names.barriers.name(barrier));
            return wrong!("{thread} departs from {barrier} without having arrived");
        };
        let (_, generation) = state.inside[position];
        if generation == state.open {
            if state.inside.iter().any(|inside| inside.1 != generation) {
                let barrier = names.barriers.name(barrier);
                return wrong!("a departure from {barrier} overtakes one of the generation before it");
            }
            state.open += 1;
        }
        state.inside.swap_remove(position);
        Ok(())
    }
}
