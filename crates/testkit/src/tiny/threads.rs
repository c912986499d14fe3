//! Threads that come and go.

use super::World;
use super::waiting::Waiting;
use crate::random::Random;

const MAIN: usize = 0;

/// The state of a thread.
#[derive(Default)]
pub(super) struct Thread {
    /// It was there from the start, or was forked.
    pub(super) running: bool,
    /// It ended or was joined.
    pub(super) ended: bool,
    /// It was forked or did something: others may join it.
    pub(super) known: bool,
    /// The locks that it holds, in the order in which it took them, and whether shared.
    pub(super) held: Vec<(usize, bool)>,
    pub(super) waiting: Option<Waiting>,
    /// The generation of the barrier that it has arrived for and not departed with.
    pub(super) inside: Option<usize>,
}

/// Two threads, or more up to `most`.
pub(super) fn start(random: &mut Random, most: usize, forks: bool) -> Vec<Thread> {
    let count = 2 + random.below(most.max(2) - 1);
    // Even where threads are forked some are there from the start: their forks were not recorded.
    let mut runs = |index: usize| index == MAIN || !forks || random.once_in(3);
    (0..count).map(|index| Thread { running: runs(index), ..Thread::default() }).collect()
}

impl World {
    /// The thread is forked, or joined once more, as may be.
    pub(super) fn fork_or_join(&mut self, thread: usize) {
        let free = |thread: &usize| {
            let state = &self.threads[*thread];
            state.running && !state.ended && state.waiting.is_none()
        };
        let parents: Vec<usize> = (0..self.threads.len()).filter(free).collect();
        if parents.is_empty() {
            return;
        }
        let parent = *self.random.pick(&parents);
        if !self.threads[thread].running {
            if self.random.once_in(2) {
                self.threads[thread].running = true;
                self.threads[thread].known = true;
                self.event(parent, format_args!("fork(t{thread})"));
            }
        } else if self.random.once_in(4 + self.lifetime()) {
            self.event(parent, format_args!("join(t{thread})"));
        }
    }

    /// The first thread goes on, so that one thread can.
    pub(super) fn end(&mut self, thread: usize) {
        if thread != MAIN && self.random.once_in(self.lifetime()) {
            self.threads[thread].ended = true;
            self.event(thread, "end");
        }
    }

    /// The last event of a thread need not be `end`, and it may take its locks with it.
    pub(super) fn join_any(&mut self, thread: usize) {
        let child = self.random.below(self.threads.len());
        let state = &self.threads[child];
        if child != thread && state.known && state.waiting.is_none() && self.random.once_in(self.lifetime()) {
            self.threads[child].ended = true;
            self.event(thread, format_args!("join(t{child})"));
        }
    }

    /// In long traces threads should live long.
    fn lifetime(&self) -> usize {
        1 + self.shape.events / 10
    }
}
