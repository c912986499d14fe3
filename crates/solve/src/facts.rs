//! What chains and facts alone say about the order: fixed while a problem is solved.
//!
//! For each node and each chain it is known how many nodes of that chain come before, so a question is answered by one
//! comparison. Within a chain this changes only at nodes that a fact from another chain leads to; the nodes between two
//! such share one row, which keeps hundreds of chains affordable.

use crate::literal::narrow;
use crate::solver::Node;

/// The order by chains and facts.
#[derive(Debug)]
pub(crate) struct Facts {
    /// How many chains there are: the length of a row.
    width: usize,
    /// For each node, its row. Row 0 knows nothing.
    row_of: Vec<u32>,
    /// One row after the other. What a row says of the chain of the node itself is not used.
    rows: Vec<u32>,
    contradictory: bool,
}

/// Which nodes there are: what facts are stated about.
#[derive(Debug)]
pub(crate) struct Chains {
    chain_of: Vec<u32>,
    /// For each node, how many nodes of its chain there are up to and including it.
    place_of: Vec<u32>,
    /// For each node, the next one of its chain.
    next: Vec<Option<Node>>,
    /// How many chains there are.
    count: usize,
}

impl Chains {
    pub(crate) fn new(chain_of: &[u32]) -> Chains {
        let count = chain_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut lengths = vec![0; count];
        let mut latest: Vec<Option<usize>> = vec![None; count];
        let mut next = vec![None; chain_of.len()];
        let mut place_of = Vec::with_capacity(chain_of.len());
        for (node, &chain) in chain_of.iter().enumerate() {
            let chain = chain as usize;
            lengths[chain] += 1;
            place_of.push(lengths[chain]);
            if let Some(previous) = latest[chain].replace(node) {
                next[previous] = Some(narrow(node));
            }
        }
        Chains { chain_of: chain_of.to_vec(), place_of, next, count }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn chain(&self, node: Node) -> u32 {
        self.chain_of[node as usize]
    }

    /// How many nodes of its chain there are up to and including the node.
    pub(crate) fn place(&self, node: Node) -> u32 {
        self.place_of[node as usize]
    }
}

impl Facts {
    /// Joins the facts, pairs (a, b) for a < b, with the chains: about linear in their number, times the chains for
    /// each node that facts lead to.
    pub(crate) fn new(chains: &Chains, facts: &[(Node, Node)]) -> Facts {
        let nodes = chains.chain_of.len();
        let crossing = |&&(a, b): &&(Node, Node)| chains.chain(a) != chains.chain(b);
        let mut known = Facts {
            width: chains.count,
            row_of: vec![0; nodes],
            rows: vec![0; chains.count],
            contradictory: facts.iter().any(|&(a, b)| chains.chain(a) == chains.chain(b) && a >= b),
        };
        for &(_, to) in facts.iter().filter(crossing) {
            known.give_row(to);
        }
        let after = Successors::new(nodes, facts.iter().filter(crossing));
        known.fill(chains, &after);
        known
    }

    /// Gives the node a row of its own.
    fn give_row(&mut self, node: Node) {
        let row = &mut self.row_of[node as usize];
        if *row == 0 {
            *row = narrow(self.rows.len() / self.width);
            self.rows.resize(self.rows.len() + self.width, 0);
        }
    }

    /// Visits all nodes in an order that agrees with chains and facts, and hands on what each knows.
    fn fill(&mut self, chains: &Chains, after: &Successors) {
        let nodes = chains.chain_of.len();
        let mut missing = vec![0_u32; nodes];
        let followers = (0..nodes).flat_map(|node| after.of(node).iter().chain(&chains.next[node]));
        followers.for_each(|&follower| missing[follower as usize] += 1);
        let mut ready: Vec<Node> = (0..narrow(nodes)).filter(|&node| missing[node as usize] == 0).collect();
        let mut visited = 0;
        while let Some(node) = ready.pop() {
            visited += 1;
            for &follower in after.of(node as usize) {
                self.hand_over(chains, node, follower);
            }
            if let Some(next) = chains.next[node as usize] {
                self.hand_down(chains, node, next);
            }
            for &follower in after.of(node as usize).iter().chain(&chains.next[node as usize]) {
                missing[follower as usize] -= 1;
                if missing[follower as usize] == 0 {
                    ready.push(follower);
                }
            }
        }
        self.contradictory |= visited < nodes;
    }

    /// `to`, of another chain, learns that `from` and all before it come before.
    fn hand_over(&mut self, chains: &Chains, from: Node, to: Node) {
        let row = self.row_of[to as usize] as usize * self.width;
        self.join(self.row_of[from as usize] as usize * self.width, row);
        let own = &mut self.rows[row + chains.chain(from) as usize];
        *own = (*own).max(chains.place(from));
    }

    /// `next` follows `node` in its chain: it shares the row, unless facts gave it its own.
    fn hand_down(&mut self, chains: &Chains, node: Node, next: Node) {
        debug_assert_eq!(chains.chain(node), chains.chain(next));
        let above = self.row_of[node as usize];
        if self.row_of[next as usize] == 0 {
            self.row_of[next as usize] = above;
        } else {
            self.join(above as usize * self.width, self.row_of[next as usize] as usize * self.width);
        }
    }

    fn join(&mut self, from: usize, into: usize) {
        for chain in 0..self.width {
            self.rows[into + chain] = self.rows[into + chain].max(self.rows[from + chain]);
        }
    }

    /// Whether the facts contradict each other or the chains.
    pub(crate) fn are_contradictory(&self) -> bool {
        self.contradictory
    }

    /// How many nodes of `chain` come before `node`, or are it.
    pub(crate) fn known(&self, chains: &Chains, node: Node, chain: u32) -> u32 {
        if chains.chain(node) == chain {
            chains.place(node)
        } else {
            self.rows[self.row_of[node as usize] as usize * self.width + chain as usize]
        }
    }

    /// Whether a comes before b, or is b.
    pub(crate) fn reaches(&self, chains: &Chains, a: Node, b: Node) -> bool {
        self.known(chains, b, chains.chain(a)) >= chains.place(a)
    }
}

/// For each node, those that facts say come after it.
struct Successors {
    /// For each node, where its followers start.
    starts: Vec<usize>,
    followers: Vec<Node>,
}

impl Successors {
    fn new<'a>(nodes: usize, facts: impl Iterator<Item = &'a (Node, Node)> + Clone) -> Successors {
        let mut starts = vec![0; nodes + 2];
        for fact in facts.clone() {
            starts[fact.0 as usize + 2] += 1;
        }
        for node in 2..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut followers = vec![0; starts[nodes + 1]];
        for &(a, b) in facts {
            let slot = &mut starts[a as usize + 1];
            followers[*slot] = b;
            *slot += 1;
        }
        Successors { starts, followers }
    }

    fn of(&self, node: usize) -> &[Node] {
        &self.followers[self.starts[node]..self.starts[node + 1]]
    }
}
