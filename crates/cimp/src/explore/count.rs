//! How many executions there are.
//!
//! As many as there are ways through the graph of states, from the beginning to where nothing can happen any more.

use super::states::StateId;

/// Turns that lead from state to state, or into a failure.
#[derive(Debug, Default)]
pub(super) struct Edges(Vec<(u32, u32)>);

/// Where a failure leads: no state.
const FAILURE: u32 = u32::MAX;

impl Edges {
    pub(super) fn add(&mut self, from: StateId, to: Option<StateId>) {
        self.0.push((narrow(from), to.map_or(FAILURE, narrow)));
    }

    /// How much memory they take, with what it takes to count the executions of a program with so many states.
    pub(super) fn bytes(&self, states: usize) -> usize {
        2 * size_of_val(self.0.as_slice()) + states * (size_of::<u128>() + size_of::<u32>())
    }

    /// The number of executions of a program with so many states, the first of which is the beginning. `None` if there
    /// are infinitely many, or more than can be counted.
    pub(super) fn executions(&self, states: usize) -> Option<u128> {
        if states == 0 {
            // It fails before its first step.
            return Some(1);
        }
        let mut edges = self.0.clone();
        edges.sort_unstable();
        let first = |state: usize| edges.partition_point(|&(from, _)| (from as usize) < state);
        let mut incoming = vec![0u32; states];
        for &(_, to) in edges.iter().filter(|(_, to)| *to != FAILURE) {
            incoming[to as usize] += 1;
        }
        let mut ways = vec![0u128; states];
        ways[0] = 1;
        // What leads back to the beginning goes round for ever.
        let mut open = if incoming[0] == 0 { vec![0] } else { Vec::new() };
        let (mut done, mut executions) = (0, 0u128);
        while let Some(state) = open.pop() {
            done += 1;
            let outgoing = edges[first(state)..].iter().take_while(|(from, _)| *from as usize == state);
            let mut ends = true;
            for &(_, to) in outgoing {
                ends = false;
                if to == FAILURE {
                    executions = executions.checked_add(ways[state])?;
                    continue;
                }
                let to = to as usize;
                ways[to] = ways[to].checked_add(ways[state])?;
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    open.push(to);
                }
            }
            if ends {
                executions = executions.checked_add(ways[state])?;
            }
        }
        // States on a cycle are never done.
        (done == states).then_some(executions)
    }
}

fn narrow(state: StateId) -> u32 {
    u32::try_from(state.index()).unwrap_or(FAILURE)
}
