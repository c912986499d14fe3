//! How far an exploration may go, and how far it has come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far an exploration may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// How many bytes of states may be kept. With 0 none is: every run is walked on its own.
    pub memory: u64,
    /// How many steps may be taken, if not any number.
    pub max_steps: Option<u64>,
    /// Raised when everything is to stop.
    pub stop: &'a AtomicBool,
}

/// How far an exploration has come. Others may look at it meanwhile.
#[derive(Debug, Default)]
pub struct Progress {
    /// Steps taken, or about to be.
    steps: AtomicU64,
    /// Which part of the tree of all runs is done, in [`Progress::WHOLE`]ths.
    explored: AtomicU64,
}

impl Progress {
    const WHOLE: f64 = 1e15;

    /// How many steps have been taken.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// An estimate of the part of all runs that has been seen, between 0 and 1: a branch with three steps to choose
    /// from is taken to have three equal parts.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn explored(&self) -> f64 {
        (self.explored.load(Ordering::Relaxed) as f64 / Progress::WHOLE).clamp(0.0, 1.0)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate between 0 and 1"
    )]
    pub(crate) fn add_explored(&self, part: f64) {
        self.explored.fetch_add((part * Progress::WHOLE) as u64, Ordering::Relaxed);
    }
}

/// How many steps are allowed at a time. The flag is looked at in between, some thousand times a second.
const PORTION: u64 = 4096;

/// The right to take steps, of one worker.
#[derive(Debug)]
pub(crate) struct Fuel<'a> {
    limits: Limits<'a>,
    progress: &'a Progress,
    left: u64,
}

impl<'a> Fuel<'a> {
    pub(crate) fn new(limits: Limits<'a>, progress: &'a Progress) -> Fuel<'a> {
        Fuel { limits, progress, left: 0 }
    }

    /// Whether one more step may be taken.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        if self.left == 0 && !self.refill() {
            return false;
        }
        self.left -= 1;
        true
    }

    #[cold]
    fn refill(&mut self) -> bool {
        if self.limits.stop.load(Ordering::Relaxed) {
            return false;
        }
        let most = self.limits.max_steps.unwrap_or(u64::MAX);
        let granted = |steps: u64| PORTION.min(most.saturating_sub(steps));
        let taken = self.progress.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |steps| {
            Some(steps + granted(steps)).filter(|&new| new > steps)
        });
        self.left = taken.map_or(0, granted);
        self.left > 0
    }
}

impl Drop for Fuel<'_> {
    /// What is not used is returned, so that the number of steps is right in the end.
    fn drop(&mut self) {
        self.progress.steps.fetch_sub(self.left, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_steps_than_allowed() {
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let limits = Limits { memory: 0, max_steps: Some(10_000), stop: &stop };
        {
            let (mut first, mut second) = (Fuel::new(limits, &progress), Fuel::new(limits, &progress));
            assert!((0..5000).all(|_| first.take()) && (0..100).all(|_| second.take()));
        }
        assert_eq!(progress.steps(), 5100);
        let mut last = Fuel::new(limits, &progress);
        assert_eq!((0..20_000).filter(|_| last.take()).count(), 4900);
        stop.store(true, Ordering::Relaxed);
        let mut stopped = Fuel::new(Limits { max_steps: None, ..limits }, &progress);
        assert!(!stopped.take());
    }
}
