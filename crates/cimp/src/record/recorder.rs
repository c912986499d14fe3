//! Keeps track of where values come from, and of the decisions that each thread depends on.
//!
//! A thread's control is its last decision; each decision knows the one before it, so decisions form chains. A mark
//! says how long the chain was. Where ways meet, the chain goes back to the mark, unless there was a decision since
//! that is never forgotten; what was assigned meanwhile then depends on the decisions that are forgotten by its value
//! instead.

use foretell_depend::{Binary, Unary};

use crate::machine::{Action, At, Done, Guard, MemoryLocation, Shadow, Slot};
use crate::value::{ThreadRef, Value};

/// A node of the flow; see [`foretell_depend::Node`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Constant(Value),
    /// What the happening with this number read.
    Read(u32),
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
    Chosen {
        by: u32,
        value: u32,
    },
}

/// Something that becomes an event of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happening {
    pub(super) at: At,
    pub(super) what: What,
    /// Node of what is written or decided on.
    pub(super) value: Option<u32>,
    /// Node of what the target was computed from.
    pub(super) address: Option<u32>,
    /// Number of the last decision.
    pub(super) control: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A step with what it read or wrote, or whom it started.
    Step { action: Action, value: Option<Value>, child: Option<ThreadRef> },
    /// What a new cell holds.
    Initial { place: MemoryLocation, value: Value },
    /// A decision with this scope, an index in the program's scopes; without one, the other way is to fail.
    Decision { scope: Option<usize>, decided: Decided },
}

/// What a decision is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decided {
    /// Whether its value is something else than 0, which it was or was not.
    Truth(bool),
    /// Whether its value is this one.
    Same(Value),
}

/// What has happened so far.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) happenings: Vec<Happening>,
    pub(super) nodes: Vec<Node>,
    /// Where decisions do not go as their values have it.
    pub(super) lead: Option<Lead>,
}

/// Leads a thread: from one decision on, decisions go as given. After the given ones, they go as their values
/// have it.
#[derive(Debug, Default)]
pub(super) struct Lead {
    /// The number of the first decision that is led.
    from: usize,
    prescribed: Vec<bool>,
    /// Which ways the decisions went, from the first one on.
    gone: Vec<bool>,
    /// How many marks there were at the first one.
    marks: usize,
}

impl Lead {
    /// The decision with the number `from` and those after it go as `given`.
    pub(super) fn new(from: usize, prescribed: Vec<bool>) -> Lead {
        Lead { from, prescribed, ..Lead::default() }
    }

    /// Other paths, each of which parts from this one at a decision that was not given: what was given, and is
    /// to be given next.
    pub(super) fn others(&self) -> impl Iterator<Item = Vec<bool>> {
        (self.prescribed.len()..self.gone.len()).map(|parting| {
            let mut prescribed = self.gone[..=parting].to_vec();
            prescribed[parting] = !prescribed[parting];
            prescribed
        })
    }

    /// Whether the ways of the first decision have met again, or its function has ended.
    pub(super) fn has_met(&self, control: &Control) -> bool {
        !self.gone.is_empty() && control.marks.len() < self.marks
    }

    /// Where the decision with this number goes, if it would go `naturally`.
    fn way(&mut self, number: usize, control: &Control, naturally: bool) -> bool {
        if number < self.from {
            return naturally;
        }
        if self.gone.is_empty() {
            self.marks = control.marks.len();
        }
        let way = self.prescribed.get(self.gone.len()).copied().unwrap_or(naturally);
        self.gone.push(way);
        way
    }
}

/// The decisions that a thread depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// The last one, by its number.
    last: Option<u32>,
    /// How many there were that are never forgotten.
    sticky: usize,
    marks: Vec<Mark>,
    /// For each function that was called, how many marks there were before.
    calls: Vec<usize>,
}

/// What a thread's control was.
#[derive(Clone, Copy, Debug)]
struct Mark {
    last: Option<u32>,
    sticky: usize,
}

impl Control {
    fn mark(&mut self) {
        self.marks.push(Mark { last: self.last, sticky: self.sticky });
    }
}

/// No execution that fits into memory has 2^32 events or values: each takes more than a byte.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
fn number(index: usize) -> u32 {
    index as u32
}

impl Recorder {
    fn node(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        number(self.nodes.len() - 1)
    }

    /// The node of a value; constants get theirs only if it matters.
    fn node_of(&mut self, slot: Slot<Option<u32>>) -> u32 {
        slot.tag.unwrap_or_else(|| self.node(Node::Constant(slot.value)))
    }

    fn happen(&mut self, happening: Happening) -> u32 {
        self.happenings.push(happening);
        number(self.happenings.len() - 1)
    }

    fn decision(&mut self, at: At, control: &mut Control, on: u32, what: What, sticky: bool) {
        let decision =
            self.happen(Happening { at, what, value: Some(on), address: None, control: control.last });
        control.last = Some(decision);
        control.sticky += usize::from(sticky);
    }

    /// Goes back to the mark; gives what the decisions since were on, the first one first.
    fn go_back(&mut self, control: &mut Control, mark: Mark) -> Vec<Option<u32>> {
        if control.sticky > mark.sticky {
            return Vec::new();
        }
        let mut forgotten = Vec::new();
        while let Some(decision) = control.last.filter(|_| control.last != mark.last) {
            let decision = self.happenings[decision as usize];
            forgotten.push(decision.value);
            control.last = decision.control;
        }
        forgotten.reverse();
        forgotten
    }
}

impl Shadow for Recorder {
    /// The node of a value that depends on a read.
    type Tag = Option<u32>;
    type Control = Control;

    fn unary(&mut self, op: Unary, operand: Slot<Self::Tag>) -> Self::Tag {
        operand.tag.map(|operand| self.node(Node::Unary(op, operand)))
    }

    fn binary(&mut self, op: Binary, left: Slot<Self::Tag>, right: Slot<Self::Tag>) -> Self::Tag {
        left.tag.or(right.tag)?;
        let (left, right) = (self.node_of(left), self.node_of(right));
        Some(self.node(Node::Binary(op, left, right)))
    }

    fn chosen(&mut self, by: Self::Tag, value: Slot<Self::Tag>) -> Self::Tag {
        let Some(by) = by else { return value.tag };
        let value = self.node_of(value);
        Some(self.node(Node::Chosen { by, value }))
    }

    fn mark(&mut self, control: &mut Control) {
        control.mark();
    }

    fn decide(
        &mut self,
        at: At,
        control: &mut Control,
        on: Slot<Self::Tag>,
        scope: usize,
        sticky: bool,
    ) -> bool {
        let naturally = on.value.is_true();
        let Some(node) = on.tag else { return naturally };
        let number = self.happenings.len();
        let way = self.lead.as_mut().map_or(naturally, |lead| lead.way(number, control, naturally));
        let what = What::Decision { scope: Some(scope), decided: Decided::Truth(way) };
        self.decision(at, control, node, what, sticky);
        way
    }

    fn meet(&mut self, control: &mut Control) -> Vec<Self::Tag> {
        match control.marks.pop() {
            Some(mark) => self.go_back(control, mark),
            None => Vec::new(),
        }
    }

    fn unmark(&mut self, control: &mut Control) {
        control.marks.pop();
    }

    fn guard(&mut self, at: At, control: &mut Control, guard: Guard, on: Slot<Self::Tag>) {
        let Some(node) = on.tag else { return };
        let (node, decided) = match (guard, on.value) {
            (Guard::NotZero, value) => (node, Decided::Truth(value.is_true())),
            (Guard::Same, value @ (Value::Cell(_) | Value::Thread(_))) => (node, Decided::Same(value)),
            (Guard::Same, value @ Value::Number(_)) => {
                let same = self.node(Node::Constant(value));
                (self.node(Node::Binary(Binary::Equal, node, same)), Decided::Truth(true))
            }
            (Guard::Below(length), value) => {
                let zero = self.node(Node::Constant(Value::ZERO));
                let end = self.node(Node::Constant(Value::Number(length.into())));
                let above = self.node(Node::Binary(Binary::GreaterOrEqual, node, zero));
                let below = self.node(Node::Binary(Binary::Less, node, end));
                let holds =
                    matches!(value, Value::Number(number) if (0..i64::from(length)).contains(&number));
                (self.node(Node::Binary(Binary::And, above, below)), Decided::Truth(holds))
            }
        };
        self.decision(at, control, node, What::Decision { scope: None, decided }, true);
    }

    fn call(&mut self, control: &mut Control) {
        control.calls.push(control.marks.len());
        control.mark();
    }

    fn leave(&mut self, control: &mut Control) -> Vec<Self::Tag> {
        let Some(call) = control.calls.pop() else { return Vec::new() };
        control.marks.truncate(call + 1);
        self.meet(control)
    }

    fn fork(&mut self, control: &Control) -> Control {
        Control { last: control.last, ..Control::default() }
    }

    fn initial(&mut self, at: At, control: &Control, place: MemoryLocation, value: Value) {
        let node = self.node(Node::Constant(value));
        let what = What::Initial { place, value };
        self.happen(Happening { at, what, value: Some(node), address: None, control: control.last });
    }

    fn done(&mut self, at: At, control: &Control, done: Done<Self::Tag>) -> Self::Tag {
        let reads = matches!(done.action, Action::Read(_));
        let written = done.value.filter(|_| !reads).map(|value| self.node_of(value));
        let what =
            What::Step { action: done.action, value: done.value.map(|slot| slot.value), child: done.child };
        let address = done.address.flatten();
        let happening = self.happen(Happening { at, what, value: written, address, control: control.last });
        reads.then(|| self.node(Node::Read(happening)))
    }
}
