//! What threads hold anywhere in an order of events, without walking there from the beginning.
//!
//! The order is walked once, piece by piece, and now and then what all threads are in the midst of is kept. From there
//! to any position is a short walk. The more there is to keep, the rarer it is kept: all checkpoints together keep no
//! more things than there are events.

use foretell_trace::Trace;

use crate::order::Order;
use crate::threads::Threads;

/// The least number of events from one checkpoint to the next.
const APART: usize = 1 << 13;

/// Checkpoints of one order of events.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// Positions, in ascending order, and what threads were in the midst of before the event there.
    kept: Vec<(usize, Threads)>,
    /// The end of what was walked.
    walked: usize,
    now: Threads,
}

impl Checkpoints {
    /// How far the order was walked.
    pub fn walked(&self) -> usize {
        self.walked
    }

    /// Walks on, for up to `budget` events.
    pub fn walk(&mut self, trace: &Trace, order: &Order, budget: usize) {
        let end = order.len().min(self.walked.saturating_add(budget));
        while self.walked < end {
            let last = self.kept.last().map_or(0, |(position, _)| *position);
            let apart = APART.max(self.now.size());
            if self.walked - last >= apart {
                self.kept.push((self.walked, self.now.clone()));
            }
            step(&mut self.now, trace, order, self.walked);
            self.walked += 1;
        }
    }

    /// What threads are in the midst of before the events at these positions, which must ascend. Ends at the first one
    /// that was not reached yet.
    pub fn before(
        &self,
        trace: &Trace,
        order: &Order,
        positions: impl IntoIterator<Item = usize>,
        mut look: impl FnMut(&Threads),
    ) {
        let mut at = 0;
        let mut threads = Threads::default();
        for position in positions {
            if position > self.walked {
                return;
            }
            let next = self.kept.partition_point(|(kept, _)| *kept <= position);
            if let Some((kept, there)) = next.checked_sub(1).and_then(|index| self.kept.get(index))
                && *kept > at
            {
                threads.clone_from(there);
                at = *kept;
            }
            while at < position {
                step(&mut threads, trace, order, at);
                at += 1;
            }
            look(&threads);
        }
    }
}

fn step(threads: &mut Threads, trace: &Trace, order: &Order, position: usize) {
    if let Some(id) = order.event(position) {
        threads.step(id, &trace.event(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_position_is_reached_as_by_walking_from_the_beginning() {
        let round = "A|enter(f)|1\nA|acq(l)|2\nB|acq(m)|3\nB|rel(m)|4\nA|rel(l)|5\n";
        let trace = foretell_testkit::trace(&round.repeat(8000));
        let order = Order::Recorded(trace.events().len());
        let mut checkpoints = Checkpoints::default();
        while checkpoints.walked() < order.len() {
            checkpoints.walk(&trace, &order, 1000);
        }
        assert!(checkpoints.kept.len() > 1);
        let fresh = Checkpoints { walked: usize::MAX, ..Checkpoints::default() };
        let positions = [0, 1, 7, 8191, 8192, 8193, 20_000, 30_001, 39_999, 40_000];
        let states = |checkpoints: &Checkpoints| {
            let mut states = Vec::new();
            checkpoints.before(&trace, &order, positions, |threads| states.push(threads.clone()));
            states
        };
        assert_eq!(states(&checkpoints), states(&fresh));
        assert_eq!(states(&checkpoints).len(), positions.len());
    }

    #[test]
    fn what_was_not_walked_yet_is_not_told() {
        let trace = foretell_testkit::trace("A|acq(l)|1\nA|rel(l)|2\nA|acq(l)|3\n");
        let order = Order::Recorded(3);
        let mut checkpoints = Checkpoints::default();
        checkpoints.walk(&trace, &order, 1);
        let mut visited = 0;
        checkpoints.before(&trace, &order, 0..3, |_| visited += 1);
        assert_eq!(visited, 2);
    }
}
