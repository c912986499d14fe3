//! The plain walk: depth first through all runs, step by step forth and back, with nothing kept but the way here.
//!
//! This is Algorithm 1 of the paper on maximal causal models. Memory is linear in the length of the trace.

use crate::budget::Fuel;
use crate::sights::Known;
use crate::system::{Observer, Sight, System, Undo};

/// What came of a walk.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Walked {
    /// How many steps were taken: each leads to another run.
    pub(crate) runs: u64,
    /// How many of these runs cannot be prolonged. The state that the walk begins in counts, too, if it is such an end.
    pub(crate) ends: u64,
    /// Which part of the tree was walked; less than 1 only if the fuel ran out.
    pub(crate) part: f64,
    pub(crate) is_complete: bool,
}

/// A walk below one state.
pub(crate) struct Walk<'a, S, O> {
    pub(crate) system: S,
    pub(crate) observer: &'a O,
    pub(crate) fuel: Fuel<'a>,
    /// The steps taken so far.
    stack: Vec<(usize, Undo)>,
    known: Known,
}

impl<'a, S: System, O: Observer<S>> Walk<'a, S, O> {
    pub(crate) fn new(system: S, observer: &'a O, fuel: Fuel<'a>) -> Walk<'a, S, O> {
        Walk { system, observer, fuel, stack: Vec::new(), known: Known::default() }
    }

    /// Walks all runs below the present state. `seen` is called with what there is to see, and the threads that took
    /// the steps to it.
    pub(crate) fn run(&mut self, mut seen: impl FnMut(Sight, &[(usize, Undo)])) -> Walked {
        let threads = self.system.threads();
        let mut walked = Walked { part: 1.0, is_complete: true, ..Walked::default() };
        let mut thread = 0;
        // Whether no step has been taken from the present state yet.
        let mut is_new = true;
        loop {
            while thread < threads && !self.system.is_enabled(thread) {
                thread += 1;
            }
            if thread < threads {
                if !self.fuel.take() {
                    walked.is_complete = false;
                    walked.part = self.give_up(thread);
                    return walked;
                }
                let undo = self.system.step(thread);
                self.stack.push((thread, undo));
                walked.runs += 1;
                self.look(thread, undo, &mut seen);
                (thread, is_new) = (0, true);
            } else {
                walked.ends += u64::from(is_new);
                is_new = false;
                let Some((last, undo)) = self.stack.pop() else { return walked };
                self.system.undo(last, undo);
                thread = last + 1;
            }
        }
    }

    #[inline]
    fn look(&mut self, thread: usize, undo: Undo, seen: &mut impl FnMut(Sight, &[(usize, Undo)])) {
        let (known, stack) = (&mut self.known, &self.stack);
        self.observer.look(&self.system, Some((thread, undo)), |sight| {
            if known.improves(sight, stack.len()) {
                seen(sight, stack);
            }
        });
    }

    /// Goes all the way back; tells which part of the tree is done, where the next step would have been one of
    /// `thread`.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn give_up(&mut self, mut thread: usize) -> f64 {
        let mut part = 0.0;
        loop {
            let done = (0..thread).filter(|&earlier| self.system.is_enabled(earlier)).count();
            part = (done as f64 + part) / self.system.enabled().max(1) as f64;
            let Some((last, undo)) = self.stack.pop() else { return part };
            self.system.undo(last, undo);
            thread = last;
        }
    }
}
