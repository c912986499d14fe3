//! How the values of a run are computed, as terms that its trace carries.
//!
//! Whatever a thread decides on, or takes for an address, is demanded of the event where it does so: that a decision
//! goes the way it went, that an index, a reference or a handle is the very one that it was.

use foretell_depend::{Binary, Unary};
use foretell_trace::EventId;
use foretell_trace::name::NameError;
use foretell_trace::values::{self, Demand, Demanded, Term, TermId, Values};

use super::recorder::{Decided, Node, Recorder, What};
use super::setup::Setup;
use super::translate::Writer;
use crate::machine::Action;
use crate::value::{Value, binary, unary};

/// Numbers have so many bits.
const WIDTH: u8 = 64;

/// Makes terms of nodes.
struct Terms<'w, 'r, 'p> {
    writer: &'w mut Writer<'r, 'p>,
    recorder: &'w Recorder,
    values: Values,
    /// The number of the event that the first happening is.
    first: usize,
    /// Of each node its term, and what it was in the run.
    nodes: Vec<(TermId, Value)>,
}

/// Says how the values of a run are computed, whose first happening is event `first` of `events`. `Ok(None)` if there
/// are more than can be numbered.
pub(super) fn values(
    writer: &mut Writer<'_, '_>,
    recorder: &Recorder,
    setup: &Setup,
    first: usize,
    events: usize,
) -> Result<Option<Values>, NameError> {
    let values = Values::new(events, true);
    let mut terms =
        Terms { writer, recorder, values, first, nodes: Vec::with_capacity(recorder.nodes.len()) };
    Ok(terms.run(setup)?.map(|()| terms.values))
}

impl Terms<'_, '_, '_> {
    fn run(&mut self, setup: &Setup) -> Result<Option<()>, NameError> {
        for (index, &(_, number)) in setup.memory.iter().enumerate() {
            let term = self.values.add(Term::Number(number.cast_unsigned()));
            let Some((event, term)) = EventId::from_index(index).zip(term) else { return Ok(None) };
            self.values.set_written(event, term);
        }
        for &node in &self.recorder.nodes {
            let Some(term) = self.term(node)? else { return Ok(None) };
            self.nodes.push((term, self.observed(node)));
        }
        for number in 0..self.recorder.happenings.len() {
            if self.happening(number)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn event(&self, happening: usize) -> Option<EventId> {
        EventId::from_index(self.first + happening)
    }

    /// What the event writes, and what must hold for it to take place.
    fn happening(&mut self, number: usize) -> Result<Option<()>, NameError> {
        let happening = self.recorder.happenings[number];
        let Some(event) = self.event(number) else { return Ok(None) };
        if let Some((term, value)) = happening.address.map(|node| self.nodes[node as usize]) {
            let value = self.demanded(value)?;
            self.values.demand(Demand { event, term, value });
        }
        let Some((term, _)) = happening.value.map(|node| self.nodes[node as usize]) else {
            return Ok(Some(()));
        };
        match happening.what {
            What::Decision { decided: Decided::Same(value), .. } => {
                let value = self.demanded(value)?;
                self.values.demand(Demand { event, term, value });
            }
            What::Decision { decided: Decided::Truth(truth), .. } => {
                let Some(term) = self.is_zero(term) else { return Ok(None) };
                self.values.demand(Demand { event, term, value: Demanded::Number(u64::from(!truth)) });
            }
            What::Initial { .. } | What::Step { action: Action::Write(_), .. } => {
                self.values.set_written(event, term);
            }
            What::Step { .. } => {}
        }
        Ok(Some(()))
    }

    fn demanded(&mut self, value: Value) -> Result<Demanded, NameError> {
        Ok(match value {
            Value::Number(number) => Demanded::Number(number.cast_unsigned()),
            Value::Cell(_) | Value::Thread(_) => Demanded::Name(self.writer.value(value)?),
        })
    }

    /// What the node was in the run.
    fn observed(&self, node: Node) -> Value {
        let of = |node: u32| self.nodes[node as usize].1;
        match node {
            Node::Constant(value) => value,
            Node::Read(happening) => match self.recorder.happenings[happening as usize].what {
                What::Step { value, .. } => value.unwrap_or_default(),
                What::Initial { .. } | What::Decision { .. } => Value::default(),
            },
            // What fails is the last thing that its thread does, and it is not looked at.
            Node::Unary(op, operand) => unary(op, of(operand)).unwrap_or_default(),
            Node::Binary(op, left, right) => binary(op, of(left), of(right)).unwrap_or_default(),
            Node::Chosen { value, .. } => of(value),
        }
    }

    fn term(&mut self, node: Node) -> Result<Option<TermId>, NameError> {
        let of = |node: u32| self.nodes[node as usize].0;
        Ok(match node {
            Node::Constant(Value::Number(number)) => self.values.add(Term::Number(number.cast_unsigned())),
            Node::Constant(value) => {
                let name = self.writer.value(value)?;
                self.values.add(Term::Name(name))
            }
            Node::Read(happening) => {
                self.event(happening as usize).and_then(|event| self.values.add(Term::Read(event)))
            }
            Node::Unary(Unary::Negate, operand) => {
                let operand = of(operand);
                let zero = self.values.add(Term::Number(0));
                zero.and_then(|zero| self.add(values::Binary::Subtract, zero, operand))
            }
            Node::Unary(Unary::Not, operand) => {
                let operand = of(operand);
                self.is_zero(operand)
            }
            Node::Binary(op, left, right) => {
                let (left, right) = (of(left), of(right));
                self.binary(op, left, right)
            }
            // The decision goes as it went, or its thread stops there.
            Node::Chosen { value, .. } => Some(of(value)),
        })
    }

    fn binary(&mut self, op: Binary, left: TermId, right: TermId) -> Option<TermId> {
        use values::Binary as Of;
        match op {
            Binary::Add => self.add(Of::Add, left, right),
            Binary::Subtract => self.add(Of::Subtract, left, right),
            Binary::Multiply => self.add(Of::Multiply, left, right),
            Binary::Divide => self.add(Of::DivideSigned, left, right),
            Binary::Remainder => self.add(Of::RemainderSigned, left, right),
            Binary::Equal => self.add(Of::Equal, left, right),
            Binary::NotEqual => self.add(Of::Equal, left, right).and_then(|same| self.is_zero(same)),
            Binary::Less => self.add(Of::LessSigned, left, right),
            Binary::Greater => self.add(Of::LessSigned, right, left),
            Binary::LessOrEqual => self.add(Of::LessSigned, right, left).and_then(|more| self.is_zero(more)),
            Binary::GreaterOrEqual => {
                self.add(Of::LessSigned, left, right).and_then(|less| self.is_zero(less))
            }
            Binary::And => {
                let (left, right) = (self.is_zero(left)?, self.is_zero(right)?);
                self.add(Of::Or, left, right).and_then(|missing| self.is_zero(missing))
            }
            Binary::Or => {
                let (left, right) = (self.is_zero(left)?, self.is_zero(right)?);
                self.add(Of::And, left, right).and_then(|missing| self.is_zero(missing))
            }
        }
    }

    fn add(&mut self, op: values::Binary, left: TermId, right: TermId) -> Option<TermId> {
        self.values.add(Term::Binary { op, width: WIDTH, left, right })
    }

    fn is_zero(&mut self, of: TermId) -> Option<TermId> {
        self.values.add(Term::Unary { op: values::Unary::IsZero, width: WIDTH, of })
    }
}
