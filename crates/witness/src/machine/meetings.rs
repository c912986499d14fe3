//! Condition variables and barriers: which threads are woken, and which meet.

use foretell_trace::{BarrierId, CondId, ThreadId};

use super::{Machine, ThreadProgress, require};
use crate::blocked::Blocked;
use crate::observed::NONE;

#[derive(Clone, Debug, Default)]
pub(super) struct BarrierState {
    /// The generation that gathers: all before it are complete.
    pub(super) generation: u32,
    /// How many have arrived for it.
    pub(super) arrived: u32,
    /// The threads that have arrived and not departed, each with its generation. Short: searched linearly.
    pub(super) inside: Vec<(ThreadId, u32)>,
}

impl Machine<'_> {
    pub(super) fn notified(&self, index: u32, thread: ThreadId, cond: CondId) -> Result<(), Blocked> {
        let spurious = !self.observed.is_notified(index);
        let ThreadProgress { notified, signals, .. } = self.threads[thread.index()];
        require(spurious || notified || signals > 0, Blocked::NotNotified(cond))
    }

    /// The generation that an arrival would belong to now.
    pub(super) fn generation(&self, arrival: u32, barrier: BarrierId) -> u32 {
        let state = &self.barriers[barrier.index()];
        match self.observed.sizes[barrier.index()] {
            Some(size) => state.generation + u32::from(state.arrived == size),
            None => self.observed.link(arrival).source,
        }
    }

    pub(super) fn gathering(&self, barrier: BarrierId, generation: u32) -> Result<(), Blocked> {
        let ready = self.barriers[barrier.index()].generation == generation
            || generation.checked_sub(1).is_some_and(|before| self.arrivals_are_complete(barrier, before));
        require(ready, Blocked::ArrivalsMissing(barrier, generation.saturating_sub(1)))
    }

    pub(super) fn arrivals_are_complete(&self, barrier: BarrierId, generation: u32) -> bool {
        let state = &self.barriers[barrier.index()];
        let recorded = || self.observed.arrivals[barrier.index()].get(generation as usize).copied();
        let needed = self.observed.sizes[barrier.index()].or_else(recorded);
        state.generation == generation && needed == Some(state.arrived)
    }

    /// Changes all threads that wait for a notification of the condition.
    pub(super) fn notify(&mut self, cond: CondId, act: impl Fn(&mut ThreadProgress)) {
        for &waiter in &self.waiting[cond.index()] {
            act(&mut self.threads[waiter.index()]);
        }
    }

    /// A thread that returns for another reason needs no notification.
    pub(super) fn wait(&mut self, index: u32, thread: ThreadId, cond: CondId) {
        let back = self.observed.link(index).next;
        if back != NONE && self.observed.is_notified(back) {
            self.waiting[cond.index()].push(thread);
        }
    }

    /// The thread returns because of a notification. It uses up the first notification since its wait: that is the best
    /// choice, since all that could return by it could return by each later one. So one less is left for those that
    /// have waited at least as long.
    pub(super) fn return_woken(&mut self, index: u32, thread: ThreadId, cond: CondId) {
        if !self.observed.is_notified(index) {
            return;
        }
        self.waiting[cond.index()].retain(|&waiter| waiter != thread);
        let own = &mut self.threads[thread.index()];
        let (notified, signals) = (std::mem::take(&mut own.notified), std::mem::take(&mut own.signals));
        if !notified {
            self.notify(cond, |waiter| waiter.signals -= u32::from(waiter.signals >= signals));
        }
    }

    pub(super) fn arrive(&mut self, thread: ThreadId, barrier: BarrierId, generation: u32) {
        let state = &mut self.barriers[barrier.index()];
        if state.generation != generation {
            (state.generation, state.arrived) = (generation, 0);
        }
        state.arrived += 1;
        state.inside.push((thread, generation));
    }
}
