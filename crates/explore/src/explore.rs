//! All runs of a system: layer by layer as far as memory allows, then walk by walk.

use rayon::prelude::*;

use crate::budget::{Fuel, Limits, Progress};
use crate::count::{Count, Tally};
use crate::layers::{History, Layers, Node};
use crate::sights::{Path, Sights};
use crate::system::{Observer, System, Undo};
use crate::walk::Walk;

/// How many there are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Totals {
    /// Runs, but for the empty one.
    pub feasible: Count,
    /// Those that are not the beginning of another one.
    pub proper: Count,
    /// Whether everything was explored; otherwise there are at least so many.
    pub complete: bool,
    /// An estimate of the part that was explored, 1 if it is everything.
    pub explored: f64,
    /// How many steps were taken. Where states are kept, far fewer than there are runs.
    pub steps: u64,
}

/// How many pieces of work there should be at least, so that all workers have some.
const PIECES: usize = 512;

/// Explores all runs, on the workers of the present thread pool.
pub(crate) fn explore<'a, S: System, O: Observer<S>>(
    system: &S,
    observer: &'a O,
    limits: Limits<'a>,
    progress: &'a Progress,
    sights: &Sights,
) -> Totals {
    let mut total = Tally::default();
    let frontier = Layers::new(system.clone(), observer, limits, progress, sights).run(&mut total);
    let walks = Walks { system, observer, limits, progress, sights, history: frontier.history };
    let complete = walks.run(frontier.nodes, &mut total) && !frontier.is_stopped;
    let explored = if complete { 1.0 } else { progress.explored() };
    Totals { feasible: total.runs, proper: total.ends, complete, explored, steps: progress.steps() }
}

/// Walks below some states.
struct Walks<'w, 'a, S, O> {
    system: &'w S,
    observer: &'a O,
    limits: Limits<'a>,
    progress: &'a Progress,
    sights: &'w Sights,
    /// How the states were reached.
    history: History,
}

impl<'a, S: System, O: Observer<S>> Walks<'_, 'a, S, O> {
    /// Walks below all of the states; whether all walks came to their end.
    fn run(&self, mut nodes: Vec<Node>, total: &mut Tally) -> bool {
        while !nodes.is_empty() && nodes.len() < PIECES {
            match self.split(nodes, total) {
                Some(below) => nodes = below,
                None => return false,
            }
        }
        let walk = |system: &mut S, node: Node| self.walk(system, &node);
        let both = |(mut all, complete): (Tally, bool), (some, also): (Tally, bool)| {
            all += some;
            (all, complete && also)
        };
        let walks = nodes.into_par_iter().map_init(|| self.system.clone(), walk);
        let (walked, complete) = walks.reduce(|| (Tally::default(), true), both);
        *total += walked;
        complete
    }

    /// The states one step below these; `None` if everything is to stop.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn split(&self, nodes: Vec<Node>, total: &mut Tally) -> Option<Vec<Node>> {
        let mut fuel = Fuel::new(self.limits, self.progress);
        let mut system = self.system.clone();
        let mut below = Vec::new();
        for node in nodes {
            system.unpack(&node.key);
            self.look(&system, &node);
            let enabled: Vec<usize> =
                (0..system.threads()).filter(|&thread| system.is_enabled(thread)).collect();
            if enabled.is_empty() {
                self.progress.add_explored(node.part);
                total.ends += if self.depth(&node) > 0 { node.runs } else { Count::ZERO };
            }
            let part = node.part / enabled.len() as f64;
            let mut since = Some(node.since);
            for (place, &thread) in enabled.iter().enumerate() {
                if !fuel.take() {
                    total.ends += node.runs;
                    return None;
                }
                total.runs += node.runs;
                let undo = system.step(thread);
                let is_last = place + 1 == enabled.len();
                // The last one needs no copy: a thread that runs alone for long would make many.
                let mut path = if is_last { since.take() } else { since.clone() }.unwrap_or_default();
                path.push(u32::try_from(thread).unwrap_or(u32::MAX));
                below.push(Node { key: system.key(), rank: node.rank, since: path, runs: node.runs, part });
                system.undo(thread, undo);
            }
        }
        Some(below)
    }

    fn walk(&self, system: &mut S, node: &Node) -> (Tally, bool) {
        system.unpack(&node.key);
        self.look(system, node);
        let fuel = Fuel::new(self.limits, self.progress);
        let mut walk = Walk::new(system.clone(), self.observer, fuel);
        let depth = self.depth(node);
        let walked = walk.run(|sight, stack| {
            if !self.sights.has_within(sight, depth + stack.len() - 1) {
                self.sights.add(sight, self.path(node, stack));
            }
        });
        self.progress.add_explored(node.part * walked.part);
        // Each run can be prolonged to one that cannot, whether the walk came to see it or not.
        let ends = if walked.is_complete { walked.ends } else { walked.ends.max(1) };
        let is_nothing = depth == 0 && walked.is_complete && walked.runs == 0;
        let done = Tally {
            runs: Count::from(walked.runs) * node.runs,
            ends: if is_nothing { Count::ZERO } else { Count::from(ends) * node.runs },
        };
        (done, walked.is_complete)
    }

    /// Looks at the state itself.
    fn look(&self, system: &S, node: &Node) {
        self.observer.look(system, None, |sight| self.sights.add(sight, self.path(node, &[])));
    }

    fn depth(&self, node: &Node) -> usize {
        self.history.depth() + node.since.len()
    }

    fn path(&self, node: &Node, stack: &[(usize, Undo)]) -> Path {
        let mut path = self.history.path(node.rank);
        path.extend_from_slice(&node.since);
        path.extend(stack.iter().map(|step| u32::try_from(step.0).unwrap_or(u32::MAX)));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Blind;
    use std::sync::atomic::AtomicBool;

    /// Threads that do nothing to each other.
    #[derive(Clone)]
    struct Free {
        left: Vec<u32>,
    }

    impl System for Free {
        fn threads(&self) -> usize {
            self.left.len()
        }
        fn is_enabled(&self, thread: usize) -> bool {
            self.left[thread] > 0
        }
        fn step(&mut self, thread: usize) -> Undo {
            self.left[thread] -= 1;
            Undo { position: 0, content: 0 }
        }
        fn undo(&mut self, thread: usize, _: Undo) {
            self.left[thread] += 1;
        }
        fn key_words(&self) -> usize {
            self.left.len()
        }
        fn pack(&self, key: &mut [u64]) {
            for (word, left) in key.iter_mut().zip(&self.left) {
                *word = u64::from(*left);
            }
        }
        fn unpack(&mut self, key: &[u64]) {
            for (word, left) in key.iter().zip(&mut self.left) {
                *left = u32::try_from(*word).unwrap();
            }
        }
    }

    fn totals(left: &[u32], memory: u64, max_steps: Option<u64>) -> Totals {
        let stop = AtomicBool::new(false);
        let limits = Limits { memory, max_steps, stop: &stop };
        explore(&Free { left: left.to_vec() }, &Blind, limits, &Progress::default(), &Sights::new(0))
    }

    #[test]
    fn interleavings_are_counted() {
        for memory in [0, 1 << 12, 1 << 30] {
            let totals = totals(&[5, 5, 5], memory, None);
            assert_eq!(totals.proper, Count::from(756_756), "{memory}");
            assert!(totals.complete);
            // Without memory each run takes a step of its own.
            assert_eq!(Count::from(totals.steps) == totals.feasible, memory == 0);
        }
        let vast = totals(&[20, 20, 20], 1 << 30, None);
        assert!(vast.complete && vast.steps < 30_000);
        assert!(vast.proper.get().is_some());
        assert_eq!(totals(&[100, 100, 100], 1 << 30, None).proper, Count::TOO_MANY);
    }

    #[test]
    fn what_is_stopped_tells_how_far_it_came() {
        let all = totals(&[5, 5, 5], 0, None);
        for memory in [0, 1 << 12, 1 << 30] {
            for steps in [0, 1, 10, 500, 5000] {
                let some = totals(&[5, 5, 5], memory, Some(steps));
                assert!(some.steps <= steps && some.proper <= all.proper && some.feasible <= all.feasible);
                assert!(some.complete == (steps >= 1000 && memory == 1 << 30), "{memory} {steps} {some:?}");
                assert!((0.0..=1.0).contains(&some.explored));
            }
        }
    }

    #[test]
    fn nothing_at_all_is_no_run() {
        for memory in [0, 1 << 20] {
            let none = totals(&[0, 0], memory, None);
            assert_eq!((none.feasible, none.proper, none.complete), (Count::ZERO, Count::ZERO, true));
        }
    }
}
