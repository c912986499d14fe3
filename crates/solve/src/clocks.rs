//! The theory of order, by chain clocks.
//!
//! Only nodes that occur in atoms take part ("active" ones). Each has a row that tells for each chain how many of its
//! nodes come before, so whether one node comes before another is one comparison. A new edge a < b is handed to all
//! that follow b and did not follow a: they all learn the row of a, and nothing else. Raising an entry shows which
//! atoms are decided by it. An undo list takes changes back.
//!
//! Rows count nodes of the whole problem, not active ones. So they stay right when a node becomes active, and a node
//! can become active at any time: it learns what those before it know, and learns it again whenever the search goes
//! back beyond the level at which it did.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::facts::{Chains, Facts};
use crate::literal::{Lit, Var, narrow};
use crate::solver::Node;
use crate::theory::Theory;

/// The number of an active node.
type Active = u32;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    nodes: Vec<ActiveNode>,
    /// For each node of the problem that is active, its number.
    active: rustc_hash::FxHashMap<Node, Active>,
    /// For each chain its active nodes, in order, with their places in the chain.
    lanes: Vec<Vec<(u32, Active)>>,
    /// For each active node one entry per chain: how many nodes of the chain come before the node, or are it.
    rows: Vec<u32>,
    /// Which entries of `rows` were raised, and from what.
    undo: Vec<(u32, u32)>,
    /// Which nodes got an edge, in turn.
    edges: Vec<(Active, Active)>,
    /// For each level, how long `undo` and `edges` were when it began.
    levels: Vec<(usize, usize)>,
    /// Nodes that became active above the bottom level, with the level at which they last learnt what they know.
    late: Vec<(Active, usize)>,
    /// For each variable, the nodes that it orders, if it is an atom.
    atoms: Vec<Option<(Active, Active)>>,
    /// For each active node its place in an order that agrees with all edges; see [`Theory::complete`].
    order: Vec<u32>,
    /// Scratch memory.
    stack: Vec<Active>,
    paths: Paths,
}

/// A node that occurs in atoms.
#[derive(Debug)]
struct ActiveNode {
    node: Node,
    chain: u32,
    /// See [`Chains::place`].
    place: u32,
    previous: Option<Active>,
    next: Option<Active>,
    /// Nodes of other chains that facts put before or after. Together with the chains they give all that facts say
    /// about active nodes.
    before: Vec<Active>,
    after: Vec<Active>,
    /// Nodes that true atoms put before, with the atom and its place among the true literals.
    ins: Vec<In>,
    /// Nodes that true atoms put after.
    outs: Vec<Active>,
    /// The atoms with this node, sorted: chain and place of the other node, and the literal that puts that one before.
    atoms: Vec<(u32, u32, Lit)>,
}

/// An edge by a true atom.
#[derive(Clone, Copy, Debug)]
struct In {
    from: Active,
    literal: Lit,
    place: u32,
}

/// Scratch memory of the search for paths.
#[derive(Debug, Default)]
struct Paths {
    /// For each node, in which search it was reached last.
    reached: Vec<u32>,
    search: u32,
    /// How many atoms lead from the node to the end of the path.
    length: Vec<u32>,
    /// By what the path goes on: the next node, and the atom if it is not a fact.
    onward: Vec<(Active, Option<Lit>)>,
    queue: VecDeque<(Active, u32)>,
}

impl Clocks {
    /// For a problem with so many chains.
    pub(crate) fn new(chains: usize) -> Clocks {
        Clocks { lanes: vec![Vec::new(); chains], ..Clocks::default() }
    }

    /// Makes the variable the atom a < b. The order of a and b must not be decided by facts. Adds to `implied` what
    /// is already known about it.
    pub(crate) fn add_atom(
        &mut self,
        chains: &Chains,
        facts: &Facts,
        var: Var,
        (a, b): (Node, Node),
        implied: &mut Vec<Lit>,
    ) {
        let (a, b) = (self.activate(chains, facts, a), self.activate(chains, facts, b));
        if self.atoms.len() <= var as usize {
            self.atoms.resize(var as usize + 1, None);
        }
        self.atoms[var as usize] = Some((a, b));
        let literal = Lit::new(var, true);
        self.index_atom(b, a, literal);
        self.index_atom(a, b, !literal);
        implied.extend(self.forced(var));
    }

    /// Remembers at `node` that `literal` puts `other` before it.
    fn index_atom(&mut self, node: Active, other: Active, literal: Lit) {
        let other = &self.nodes[other as usize];
        let entry = (other.chain, other.place, literal);
        let atoms = &mut self.nodes[node as usize].atoms;
        let place = atoms.partition_point(|atom| *atom < entry);
        atoms.insert(place, entry);
    }

    /// The number of a node, which becomes active if it was not.
    fn activate(&mut self, chains: &Chains, facts: &Facts, node: Node) -> Active {
        if let Some(&active) = self.active.get(&node) {
            return active;
        }
        let active = narrow(self.nodes.len());
        self.active.insert(node, active);
        self.nodes.push(ActiveNode {
            node,
            chain: chains.chain(node),
            place: chains.place(node),
            previous: None,
            next: None,
            before: Vec::new(),
            after: Vec::new(),
            ins: Vec::new(),
            outs: Vec::new(),
            atoms: Vec::new(),
        });
        self.paths.add_node();
        self.link_in_lane(active);
        self.link_by_facts(chains, facts, active);
        let all = 0..narrow(self.lanes.len());
        self.rows.extend(all.map(|chain| facts.known(chains, node, chain)));
        if !self.levels.is_empty() {
            self.late.push((active, self.levels.len()));
        }
        self.learn_from_those_before(active, &mut Vec::new());
        active
    }

    /// Puts a new active node between its neighbours.
    fn link_in_lane(&mut self, active: Active) {
        let &ActiveNode { chain, place, .. } = &self.nodes[active as usize];
        let nodes = &mut self.lanes[chain as usize];
        let index = nodes.partition_point(|&(other, _)| other < place);
        let previous = index.checked_sub(1).map(|index| nodes[index].1);
        let next = nodes.get(index).map(|&(_, next)| next);
        nodes.insert(index, (place, active));
        if let Some(previous) = previous {
            self.nodes[previous as usize].next = Some(active);
        }
        if let Some(next) = next {
            self.nodes[next as usize].previous = Some(active);
        }
        self.nodes[active as usize].previous = previous;
        self.nodes[active as usize].next = next;
    }

    /// Links a new active node with those of other chains, as far as its neighbours do not stand for the links.
    fn link_by_facts(&mut self, chains: &Chains, facts: &Facts, active: Active) {
        let &ActiveNode { node, chain: own, previous, next, .. } = &self.nodes[active as usize];
        let node_of = |active: Active| self.nodes[active as usize].node;
        let reaches = |a: Active, b: Active| facts.reaches(chains, node_of(a), node_of(b));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (chain, nodes) in (0..).zip(&self.lanes).filter(|lane| lane.0 != own) {
            let known = facts.known(chains, node, chain);
            let index = nodes.partition_point(|&(place, _)| place <= known);
            let last = index.checked_sub(1).map(|index| nodes[index].1);
            before.extend(last.filter(|&last| !previous.is_some_and(|previous| reaches(last, previous))));
            let index = nodes.partition_point(|&(_, other)| !reaches(active, other));
            let first = nodes.get(index).map(|&(_, first)| first);
            after.extend(first.filter(|&first| !next.is_some_and(|next| reaches(next, first))));
        }
        for &other in &before {
            self.nodes[other as usize].after.push(active);
        }
        for &other in &after {
            self.nodes[other as usize].before.push(active);
        }
        self.nodes[active as usize].before = before;
        self.nodes[active as usize].after = after;
    }

    /// Whether a comes before b, or is b.
    fn reaches(&self, a: Active, b: Active) -> bool {
        let a = &self.nodes[a as usize];
        self.rows[b as usize * self.lanes.len() + a.chain as usize] >= a.place
    }

    /// The nodes that an atom's literal puts in order, earlier first.
    fn ordered(&self, literal: Lit) -> Option<(Active, Active)> {
        let (a, b) = self.atoms.get(literal.var() as usize).copied().flatten()?;
        Some(if literal.is_positive() { (a, b) } else { (b, a) })
    }

    /// Lets a node that has just become active, and all that follow it, learn what those before it know.
    fn learn_from_those_before(&mut self, node: Active, implied: &mut Vec<Lit>) {
        let this = &self.nodes[node as usize];
        // It has no edges by atoms: those are above the level at which it became active, and gone.
        let before: Vec<Active> = this.previous.iter().chain(&this.before).copied().collect();
        let mut changed = false;
        for other in before {
            changed |= self.learn(other, node, implied);
        }
        if changed {
            // Only those that became active late as well can lack what this one knows.
            for index in 0..self.late.len() {
                let follower = self.late[index].0;
                if follower != node && self.reaches(node, follower) {
                    self.learn(node, follower, implied);
                }
            }
        }
    }

    /// Raises the row of `to` to that of `from`, and says whether that changed anything.
    fn learn(&mut self, from: Active, to: Active, implied: &mut Vec<Lit>) -> bool {
        let (from, row) = (from as usize * self.lanes.len(), to as usize * self.lanes.len());
        let mut changed = false;
        for lane in 0..self.lanes.len() {
            let (old, new) = (self.rows[row + lane], self.rows[from + lane]);
            if new > old {
                self.rows[row + lane] = new;
                self.undo.push((narrow(row + lane), old));
                self.add_implied(to, narrow(lane), old, new, implied);
                changed = true;
            }
        }
        changed
    }

    /// Which atoms are decided when the nodes of a lane up to `new`, no longer just up to `old`, come before `node`.
    fn add_implied(&self, node: Active, lane: u32, old: u32, new: u32, implied: &mut Vec<Lit>) {
        let atoms = &self.nodes[node as usize].atoms;
        let start = atoms.partition_point(|&(of, place, _)| (of, place) <= (lane, old));
        let found = atoms[start..].iter().take_while(|&&(of, place, _)| (of, place) <= (lane, new));
        implied.extend(found.map(|&(_, _, literal)| literal));
    }

    /// Lets `b` and all that follow it know that `a` comes before.
    fn spread(&mut self, a: Active, b: Active, implied: &mut Vec<Lit>) {
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(b);
        while let Some(node) = stack.pop() {
            if self.reaches(a, node) {
                continue;
            }
            self.learn(a, node, implied);
            let node = &self.nodes[node as usize];
            stack.extend(node.next.iter().chain(&node.after).chain(&node.outs));
        }
        self.stack = stack;
    }

    /// Adds to `path` the literals of a path from `a` to `b` that has as few as possible, all of them from before
    /// `place`.
    fn shortest_path(&mut self, a: Active, b: Active, place: u32, path: &mut Vec<Lit>) {
        let mut paths = std::mem::take(&mut self.paths);
        paths.start(b);
        while let Some((node, length)) = paths.queue.pop_front() {
            if node == a {
                paths.follow(a, b, path);
                break;
            }
            if length > paths.length[node as usize] {
                continue;
            }
            let this = &self.nodes[node as usize];
            for &other in this.previous.iter().chain(&this.before) {
                if self.reaches(a, other) {
                    paths.reach(other, length, (node, None));
                }
            }
            for edge in this.ins.iter().take_while(|edge| edge.place < place) {
                if self.reaches(a, edge.from) {
                    paths.reach(edge.from, length + 1, (node, Some(edge.literal)));
                }
            }
        }
        self.paths = paths;
    }
}

impl Paths {
    fn add_node(&mut self) {
        self.reached.push(0);
        self.length.push(0);
        self.onward.push((0, None));
    }

    /// Begins a search backwards from `end`.
    fn start(&mut self, end: Active) {
        self.search = self.search.wrapping_add(1);
        self.queue.clear();
        self.reach(end, 0, (end, None));
    }

    /// Notes a way from `node` to the end, if it is better than the one known.
    fn reach(&mut self, node: Active, length: u32, onward: (Active, Option<Lit>)) {
        let index = node as usize;
        if self.reached[index] == self.search && self.length[index] <= length {
            return;
        }
        self.reached[index] = self.search;
        self.length[index] = length;
        self.onward[index] = onward;
        if onward.1.is_some() {
            self.queue.push_back((node, length));
        } else {
            self.queue.push_front((node, length));
        }
    }

    /// Collects the literals of the way that was found.
    fn follow(&self, from: Active, end: Active, path: &mut Vec<Lit>) {
        let mut node = from;
        while node != end {
            let (next, literal) = self.onward[node as usize];
            path.extend(literal);
            node = next;
        }
    }
}

impl Theory for Clocks {
    fn assign(&mut self, literal: Lit, place: u32, implied: &mut Vec<Lit>, conflict: &mut Vec<Lit>) -> bool {
        let Some((a, b)) = self.ordered(literal) else { return true };
        if self.reaches(b, a) {
            self.shortest_path(b, a, place, conflict);
            conflict.push(literal);
            return false;
        }
        if self.reaches(a, b) {
            return true;
        }
        self.nodes[b as usize].ins.push(In { from: a, literal, place });
        self.nodes[a as usize].outs.push(b);
        self.edges.push((a, b));
        self.spread(a, b, implied);
        true
    }

    fn push_level(&mut self) {
        if self.levels.is_empty() {
            self.undo.clear();
            self.edges.clear();
        }
        self.levels.push((self.undo.len(), self.edges.len()));
    }

    fn pop_levels(&mut self, level: usize, implied: &mut Vec<Lit>) {
        let Some(&(undo, edges)) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        for (entry, old) in self.undo.drain(undo..).rev() {
            self.rows[entry as usize] = old;
        }
        for (a, b) in self.edges.drain(edges..).rev() {
            self.nodes[a as usize].outs.pop();
            self.nodes[b as usize].ins.pop();
        }
        let first = self.late.partition_point(|&(_, at)| at <= level);
        for index in first..self.late.len() {
            self.late[index].1 = level;
            let node = self.late[index].0;
            self.learn_from_those_before(node, implied);
        }
        if level == 0 {
            self.late.clear();
        }
    }

    fn explain(&mut self, literal: Lit, place: u32, reason: &mut Vec<Lit>) {
        if let Some((a, b)) = self.ordered(literal) {
            self.shortest_path(a, b, place, reason);
        }
    }

    fn forced(&mut self, var: Var) -> Option<Lit> {
        let (a, b) = self.ordered(Lit::new(var, true))?;
        let literal = Lit::new(var, true);
        if self.reaches(a, b) { Some(literal) } else { self.reaches(b, a).then_some(!literal) }
    }

    fn has_opinion(&self, var: Var) -> bool {
        self.atoms.get(var as usize).is_some_and(Option::is_some)
    }

    fn complete(&mut self) {
        let mut missing = vec![0_u32; self.nodes.len()];
        let count =
            |node: &ActiveNode| node.ins.len() + node.before.len() + usize::from(node.previous.is_some());
        for (missing, node) in missing.iter_mut().zip(&self.nodes) {
            *missing = narrow(count(node));
        }
        let entry = |active: Active| Reverse((self.nodes[active as usize].node, active));
        let all = 0..narrow(self.nodes.len());
        let mut ready: BinaryHeap<_> =
            all.filter(|&active| missing[active as usize] == 0).map(entry).collect();
        self.order.clear();
        self.order.resize(self.nodes.len(), 0);
        let mut place = 0;
        while let Some(Reverse((_, active))) = ready.pop() {
            self.order[active as usize] = place;
            place += 1;
            let node = &self.nodes[active as usize];
            for &follower in node.next.iter().chain(&node.after).chain(&node.outs) {
                missing[follower as usize] -= 1;
                if missing[follower as usize] == 0 {
                    ready.push(entry(follower));
                }
            }
        }
    }

    fn completed(&self, var: Var) -> Option<bool> {
        let (a, b) = self.ordered(Lit::new(var, true))?;
        Some(self.order[a as usize] < self.order[b as usize])
    }
}
