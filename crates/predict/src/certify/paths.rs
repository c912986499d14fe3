//! From one event to a later one by what is known, with as few steps as possible.

use std::collections::VecDeque;

use super::axiom::is_thread_order;
use super::derivation::{Derivation, FactId};
use crate::closure::{Closure, Why};
use crate::index::NONE;
use crate::window::Window;

/// One event comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The fact that says so; [`NONE`] if every schedule keeps it.
    pub(crate) fact: FactId,
}

/// What leads to the events of a window, besides the order of threads.
pub(crate) struct Paths<'c> {
    window: &'c Window<'c>,
    closure: &'c Closure<'c>,
    /// For each thread, the steps that lead to its events, sorted by the places of these.
    into: Vec<Vec<Step>>,
}

impl<'c> Paths<'c> {
    pub(crate) fn new(closure: &'c Closure<'c>, derivation: &Derivation) -> Paths<'c> {
        let window = closure.window;
        let mut into: Vec<Vec<Step>> = vec![Vec::new(); window.threads.len()];
        for (edge, &fact) in closure.edges().iter().zip(&derivation.of_edge) {
            if edge.why != Why::Must && fact != NONE {
                into[window.thread[edge.to as usize] as usize].push(Step {
                    from: edge.from,
                    to: edge.to,
                    fact,
                });
            }
        }
        for to in 0..window.len() {
            for &from in window.needs(to).iter().filter(|&&from| !is_thread_order(window, from, to)) {
                into[window.thread[to as usize] as usize].push(Step { from, to, fact: NONE });
            }
        }
        for steps in &mut into {
            steps.sort_unstable_by_key(|step| (step.to, step.from));
        }
        Paths { window, closure, into }
    }

    /// Whether the time of the closure is over.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.closure.is_out_of_time()
    }

    /// The steps from `from` to `to`, by the first `until` facts. Between two of them a thread continues, or nothing
    /// happens.
    pub(crate) fn find(&self, from: u32, to: u32, until: FactId) -> Option<Vec<Step>> {
        let window = self.window;
        if is_thread_order(window, from, to) {
            return (from != to).then(Vec::new);
        }
        // For each thread, how many of the steps that lead to it were looked at.
        let mut seen = vec![0usize; self.into.len()];
        // The steps by which others can be reached, each with the one that it leads to.
        let mut reached: Vec<(Step, usize)> = Vec::new();
        let mut next = VecDeque::from([(to, usize::MAX)]);
        while let Some((event, onward)) = next.pop_front() {
            let thread = window.thread[event as usize] as usize;
            let steps = &self.into[thread];
            let until_event = steps.partition_point(|step| step.to <= event);
            for &step in &steps[seen[thread].min(until_event)..until_event] {
                if (step.fact != NONE && step.fact >= until) || !self.may_lead(from, step.from) {
                    continue;
                }
                reached.push((step, onward));
                if is_thread_order(window, from, step.from) {
                    return Some(follow(&reached));
                }
                next.push_back((step.from, reached.len() - 1));
            }
            seen[thread] = seen[thread].max(until_event);
        }
        None
    }

    /// Whether the first event may come before the second, as far as the closure tells in the end.
    fn may_lead(&self, from: u32, event: u32) -> bool {
        let closure = self.closure;
        from == event
            || !closure.runs(from)
            || !closure.runs(event)
            || is_thread_order(self.window, from, event)
            || closure.is_before(from, event)
    }
}

/// The steps from the last one that was reached to the end.
fn follow(reached: &[(Step, usize)]) -> Vec<Step> {
    let mut path = Vec::new();
    let mut next = reached.len() - 1;
    while let Some(&(step, onward)) = reached.get(next) {
        path.push(step);
        next = onward;
    }
    path
}
