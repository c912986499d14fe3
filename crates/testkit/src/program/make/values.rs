//! Expressions and places at random.

use super::super::tree::Expression;
use super::names::Kind;
use super::{ITERATIONS, Maker};
use crate::random::Random;

const COMPARISONS: &[&str] = &["==", "==", "==", "!=", "<", "<=", ">", ">="];
const CONNECTIVES: &[&str] = &["&&", "||", "and", "or"];
const ARITHMETIC: &[&str] = &["+", "-", "*"];
const DIVISION: &[&str] = &["/", "%"];

impl Maker {
    /// Few constants, so that different threads write the same.
    pub(super) fn constant(&mut self) -> i64 {
        *self.random.pick(&[0, 1, 1, 1, 2])
    }

    /// A number, from at most `depth` levels of operations.
    pub(super) fn number(&mut self, depth: usize) -> Expression {
        let features = self.shape.features;
        if self.left <= 0 || self.random.once_in(4) {
            return self.number_at_hand();
        }
        if features.confusion && features.cells && self.random.once_in(20) {
            return self.reference();
        }
        match self.random.below(6) {
            0 if depth > 0 => self.operation(depth - 1),
            1 if features.functions => self.call().unwrap_or_else(|| self.number_at_hand()),
            2 if depth > 0 && self.random.once_in(3) => self.condition(),
            3 => self.number_at_hand(),
            _ => self.memory_read(),
        }
    }

    /// A number that takes no look at shared memory.
    fn number_at_hand(&mut self) -> Expression {
        let kind = if self.random.once_in(4) { Kind::Counter } else { Kind::Number };
        match self.any_local(kind) {
            Some(local) if !self.random.once_in(4) => local,
            _ => Expression::Number(self.constant()),
        }
    }

    pub(super) fn any_local(&mut self, kind: Kind) -> Option<Expression> {
        any_of(&mut self.random, &self.scope.locals(kind))
    }

    /// A local that can be assigned to.
    pub(super) fn own_local(&mut self, kind: Kind) -> Option<Expression> {
        any_of(&mut self.random, &self.scope.own_locals(kind))
    }

    fn operation(&mut self, depth: usize) -> Expression {
        if self.random.once_in(8) {
            let operator = if self.random.once_in(2) { "-" } else { "!" };
            return Expression::Unary(operator, Box::new(self.number(depth)));
        }
        let divides = self.shape.features.division && self.random.once_in(2);
        let operator = *self.random.pick(if divides { DIVISION } else { ARITHMETIC });
        Expression::binary(self.number(depth), operator, self.number(depth))
    }

    /// A read of shared memory. Careful threads would rather look at something that does not race.
    pub(super) fn memory_read(&mut self) -> Expression {
        if !self.shape.careful || self.random.once_in(3) {
            return self.place();
        }
        if self.shape.features.atomics {
            self.left -= 1;
            return Expression::name("f");
        }
        self.any_local(Kind::Number).unwrap_or_else(|| self.place())
    }

    /// A plain or atomic variable.
    pub(super) fn variable(&mut self) -> Expression {
        self.left -= 1;
        let name: &String = self.random.pick(&self.scope.numbers);
        Expression::name(name)
    }

    /// A place in shared memory that holds a number.
    pub(super) fn place(&mut self) -> Expression {
        let features = self.shape.features;
        match self.random.below(6) {
            0 | 1 if features.arrays => {
                self.left -= 1;
                Expression::Element("a".to_string(), Box::new(self.index()))
            }
            2 if features.cells && self.refers() => {
                self.left -= 1;
                let field = if features.confusion && self.random.once_in(6) { "next" } else { "value" };
                Expression::Field(Box::new(self.existing_reference()), field.to_string())
            }
            3 if features.cells && features.confusion && self.random.once_in(4) => self.reference_place(),
            _ => self.variable(),
        }
    }

    /// An index of an array of two; out of bounds only if it is computed.
    pub(super) fn index(&mut self) -> Expression {
        let local = self.any_local(Kind::Number);
        match (self.random.below(4), local) {
            (0, _) => Expression::Number(i64::from(self.random.once_in(2))),
            (1, Some(local)) => local,
            _ => self.variable(),
        }
    }

    pub(super) fn condition(&mut self) -> Expression {
        let features = self.shape.features;
        match self.random.below(8) {
            0 | 1 if self.left > 1 => {
                let operator = *self.random.pick(CONNECTIVES);
                Expression::binary(self.comparison(), operator, self.comparison())
            }
            2 => Expression::Unary("!", Box::new(self.memory_read())),
            3 if features.cells => {
                let operator = if self.random.once_in(2) { "==" } else { "!=" };
                Expression::binary(self.reference(), operator, Expression::Null)
            }
            4 => self.number(1),
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Expression {
        let left = match self.any_local(Kind::Number) {
            Some(local) if self.random.once_in(2) => local,
            _ => self.memory_read(),
        };
        let right = if self.random.once_in(6) { self.number(0) } else { Expression::Number(self.constant()) };
        let operator = *self.random.pick(COMPARISONS);
        Expression::binary(left, operator, right)
    }

    /// A reference to a cell, or to nothing.
    pub(super) fn reference(&mut self) -> Expression {
        match self.random.below(6) {
            0 => Expression::New("Node".to_string()),
            1 if self.random.once_in(2) => Expression::Null,
            2 if self.left > 1 => self.reference_place(),
            3 if self.shape.features.confusion && self.random.once_in(6) => self.number(0),
            _ => self.existing_reference(),
        }
    }

    /// Something that may well refer to a cell.
    fn existing_reference(&mut self) -> Expression {
        match self.any_local(Kind::Reference) {
            Some(local) if self.random.once_in(2) => local,
            _ => {
                self.left -= 1;
                Expression::name("p")
            }
        }
    }

    /// Whether to follow a reference: seldom one that was not checked.
    fn refers(&mut self) -> bool {
        !self.scope.locals(Kind::Reference).is_empty() || self.random.once_in(3)
    }

    /// A place in shared memory that holds a reference.
    pub(super) fn reference_place(&mut self) -> Expression {
        self.left -= 1;
        if self.refers() && self.random.once_in(2) {
            return Expression::Field(Box::new(self.existing_reference()), "next".to_string());
        }
        Expression::name("p")
    }

    /// A call of a function, if there is one; within a function that has fuel, perhaps of itself.
    pub(super) fn call(&mut self) -> Option<Expression> {
        if let Some(callee) = self.inside.clone()
            && let Some(fuel) = callee.fuel
            && self.random.once_in(2)
        {
            let arguments = self.arguments(callee.parameters);
            return Some(Expression::Again { function: callee.name, fuel, arguments });
        }
        let (name, arguments) = self.callee_and_arguments()?;
        Some(Expression::Call(name, arguments))
    }

    pub(super) fn callee_and_arguments(&mut self) -> Option<(String, Vec<Expression>)> {
        if self.scope.functions.is_empty() {
            return None;
        }
        let callee = self.random.pick(&self.scope.functions).clone();
        self.left -= callee.cost;
        let fuel = i64::try_from(1 + self.random.below(ITERATIONS)).unwrap_or(1);
        let mut arguments: Vec<Expression> = callee.fuel.iter().map(|_| Expression::Number(fuel)).collect();
        arguments.extend(self.arguments(callee.parameters));
        Some((callee.name, arguments))
    }

    fn arguments(&mut self, count: usize) -> Vec<Expression> {
        (0..count).map(|_| self.number(0)).collect()
    }
}

fn any_of(random: &mut Random, locals: &[&str]) -> Option<Expression> {
    (!locals.is_empty()).then(|| {
        let local: &&str = random.pick(locals);
        Expression::name(local)
    })
}
