//! Circles in a graph, by Kosaraju's algorithm; without calling itself, as graphs may be deep.

/// Nodes that can reach each other, taken together.
pub(crate) struct Components {
    edges: Vec<Vec<usize>>,
    /// The components; those that can be reached from one come before it.
    pub(crate) in_order: Vec<Vec<usize>>,
}

impl Components {
    /// Of a graph that is given by the nodes that each node leads to.
    pub(crate) fn new(edges: Vec<Vec<usize>>) -> Components {
        let mut reverse = vec![Vec::new(); edges.len()];
        for (from, to) in edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |&to| (from, to)))
        {
            reverse[to].push(from);
        }
        // A component that reaches another is left later than that when the edges are walked backwards from it; so
        // walking forwards from the nodes that were left last collects what is reachable first.
        let all = (0..edges.len()).collect::<Vec<_>>();
        let backwards = walk(&reverse, all).concat();
        let in_order = walk(&edges, backwards.into_iter().rev().collect());
        Components { edges, in_order }
    }

    /// For each node, whether it can reach itself by at least one edge.
    pub(crate) fn recursive(&self) -> Vec<bool> {
        let mut recursive = vec![false; self.edges.len()];
        for component in &self.in_order {
            for &node in component {
                recursive[node] = component.len() > 1 || self.edges[node].contains(&node);
            }
        }
        recursive
    }
}

/// Walks from each of the starts in turn to what was not yet reached; lists the nodes of each walk as they are left.
fn walk(edges: &[Vec<usize>], starts: Vec<usize>) -> Vec<Vec<usize>> {
    let mut reached = vec![false; edges.len()];
    let mut walks = Vec::new();
    for start in starts {
        if std::mem::replace(&mut reached[start], true) {
            continue;
        }
        let mut left = Vec::new();
        let mut path = vec![(start, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            let Some(&to) = edges[node].get(*edge) else {
                left.push(node);
                path.pop();
                continue;
            };
            *edge += 1;
            if !std::mem::replace(&mut reached[to], true) {
                path.push((to, 0));
            }
        }
        walks.push(left);
    }
    walks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_callees_come_first() {
        let components = Components::new(vec![vec![1, 3], vec![2], vec![1], vec![3], vec![0]]);
        let mut in_order = components.in_order.clone();
        in_order.iter_mut().for_each(|component| component.sort_unstable());
        let place = |node| in_order.iter().position(|component| component.contains(&node)).unwrap();
        assert_eq!(in_order.len(), 4);
        assert_eq!(in_order[place(1)], [1, 2]);
        assert!(place(1) < place(0) && place(3) < place(0) && place(0) < place(4));
        assert_eq!(components.recursive(), [false, true, true, true, false]);
    }

    #[test]
    fn a_long_chain_is_no_problem() {
        let components = Components::new((0..100_000_usize).map(|node| vec![(node + 1) % 100_000]).collect());
        assert_eq!(components.in_order.len(), 1);
    }
}
