//! The flow of values and decisions through a recorded run.
//!
//! Every value that a thread computes is a [`Node`]: a constant, what some read saw, or an operation on other nodes.
//! The nodes of a run form one graph without cycles, the run in static single assignment form: loops and calls are
//! unrolled as they happened. Each event of the trace has a [`Use`]: the node that it stores or decides on, the node
//! that its address comes from, and the last decision that had to go as it did for the event to happen at all.
//!
//! Values that come from no read are folded into constants, so a value depends on a read exactly if its node is not
//! [`Node::Constant`].

use foretell_trace::{EventId, VarId};
use rustc_hash::FxHashSet;

/// A value of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    /// Its place in the order in which the values of the run came about, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the untaken ways of a decision could have done, see [`Scope`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScopeId(u32);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// Depends on no read: a literal, or computed from literals alone. Values that are no numbers, such as references
    /// to fresh objects, are 0 here; their identity is not a matter of arithmetic.
    Constant(i64),
    /// What this event of the trace read.
    Read(EventId),
    /// An operation on one value.
    Unary(Unary, NodeId),
    /// An operation on two values.
    Binary(Binary, NodeId, NodeId),
    /// `value`, where the decision on `by` could have led to another one: what a local variable holds after an `if`
    /// that may assign it.
    Chosen {
        /// What was decided on.
        by: NodeId,
        /// What came of it.
        value: NodeId,
    },
}

impl Node {
    /// Its operands, which are earlier nodes.
    pub fn parts(self) -> impl Iterator<Item = NodeId> {
        let parts = match self {
            Node::Constant(_) | Node::Read(_) => [None, None],
            Node::Unary(_, of) => [Some(of), None],
            Node::Binary(_, left, right) => [Some(left), Some(right)],
            Node::Chosen { by, value } => [Some(by), Some(value)],
        };
        parts.into_iter().flatten()
    }
}

/// Operations on one number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// The number of opposite sign.
    Negate,
    /// 1 for 0, and 0 for anything else.
    Not,
}

/// Operations on two numbers. Comparisons give 1 or 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// 1 if neither is 0. Both sides are always computed.
    And,
    /// 1 if not both are 0. Both sides are always computed.
    Or,
}

/// What an event depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Use {
    /// What it writes, or what a branch decides on.
    pub value: Option<NodeId>,
    /// What its target was computed from (an index, a reference), if not from constants alone.
    pub address: Option<NodeId>,
    /// The last branch event of its thread that had to go as it did for this event to happen. Branches have such a
    /// branch themselves, so this is a chain. The first events of a thread that was started under a decision continue
    /// the chain of the thread that started it.
    pub control: Option<EventId>,
    /// For a branch: what its other ways could have done.
    pub scope: Option<ScopeId>,
}

/// What could have happened, up to the point where all ways of a decision meet again, had it gone another way; what the
/// taken way did is included. An over-approximation, from the program's text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Scope {
    /// The variables of the trace that some way may write. Sorted.
    pub writes: Vec<VarId>,
    /// Some way may synchronise, start or await threads, fail, or not come to an end: then the decision matters to
    /// everything that its thread does afterwards.
    pub may_stop: bool,
}

/// The flow of one run.
#[derive(Clone, Default, Debug)]
pub struct Flow {
    nodes: Vec<Node>,
    uses: Vec<Use>,
    scopes: Vec<Scope>,
}

impl Flow {
    /// Takes up a value. Operations on constants must have been folded by the caller.
    pub fn add_node(&mut self, node: Node) -> Option<NodeId> {
        let id = u32::try_from(self.nodes.len()).ok().map(NodeId)?;
        self.nodes.push(node);
        Some(id)
    }

    /// Takes up what the next event of the trace depends on: one call per event, in the order of the trace.
    pub fn add_use(&mut self, event: Use) {
        self.uses.push(event);
    }

    /// Takes up a scope.
    pub fn add_scope(&mut self, scope: Scope) -> Option<ScopeId> {
        let id = u32::try_from(self.scopes.len()).ok().map(ScopeId)?;
        self.scopes.push(scope);
        Some(id)
    }

    /// What the event depends on. An event that nothing was recorded for depends on nothing.
    pub fn of(&self, event: EventId) -> Use {
        self.uses.get(event.index()).copied().unwrap_or_default()
    }

    /// Where the value comes from.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// How many values there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All values, in the order in which they came about.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        // Each was given a number that fits when it was taken up.
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// What the other ways of a decision could have done.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// How many events have a use recorded.
    pub fn len(&self) -> usize {
        self.uses.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// The reads that the value was computed from, directly or not, in no particular order and each once.
    pub fn reads(&self, value: NodeId) -> Vec<EventId> {
        let mut reads = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![value];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Node::Read(event) = self.node(id) {
                reads.push(event);
            }
            open.extend(self.node(id).parts());
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// The branches that had to go as they did for the event to happen, the last one first.
    pub fn decisions(&self, event: EventId) -> impl Iterator<Item = EventId> {
        std::iter::successors(self.of(event).control, |&branch| self.of(branch).control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_of_a_value_are_found_once_each() {
        let mut flow = Flow::default();
        let second = EventId::FIRST.next().unwrap();
        let one = flow.add_node(Node::Constant(1)).unwrap();
        let a = flow.add_node(Node::Read(second)).unwrap();
        let b = flow.add_node(Node::Read(EventId::FIRST)).unwrap();
        let sum = flow.add_node(Node::Binary(Binary::Add, a, b)).unwrap();
        let twice = flow.add_node(Node::Binary(Binary::Add, sum, a)).unwrap();
        let not = flow.add_node(Node::Unary(Unary::Not, twice)).unwrap();
        assert_eq!(flow.reads(not), [EventId::FIRST, second]);
        assert!(flow.reads(one).is_empty());
    }

    #[test]
    fn decisions_form_a_chain() {
        let mut flow = Flow::default();
        let ids: Vec<EventId> = (0..3).filter_map(EventId::from_index).collect();
        flow.add_use(Use::default());
        flow.add_use(Use { control: Some(ids[0]), ..Use::default() });
        flow.add_use(Use { control: Some(ids[1]), ..Use::default() });
        assert_eq!(flow.decisions(ids[2]).collect::<Vec<_>>(), [ids[1], ids[0]]);
        assert_eq!(flow.decisions(ids[0]).count(), 0);
    }
}
