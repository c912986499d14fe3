//! What variables hold, and how the machine computes with it.

use foretell_depend::{Binary, Unary};

use crate::machine::Fault;

/// A thread of a machine: its number in the order in which threads were started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadRef(pub u32);

impl ThreadRef {
    /// The position in a table of all threads.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A heap cell: the thread that allocated it, and how many the same thread had allocated before. That does not depend
/// on what other threads do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellRef {
    /// The thread that allocated it.
    pub owner: ThreadRef,
    /// Its number among the cells of that thread, from 0.
    pub number: u32,
}

/// What a variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number. `null`, `false` and `true` are numbers.
    Number(i64),
    /// A reference to a cell.
    Cell(CellRef),
    /// The handle of a thread.
    Thread(ThreadRef),
}

impl Default for Value {
    fn default() -> Self {
        Value::ZERO
    }
}

impl Value {
    /// What variables hold unless said otherwise.
    pub const ZERO: Value = Value::Number(0);

    /// Whether a decision on this value goes the first way. References and handles are never 0.
    pub fn is_true(self) -> bool {
        self != Value::ZERO
    }

    fn number(self) -> Result<i64, Fault> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Cell(_) | Value::Thread(_) => Err(Fault::NotANumber),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Number(i64::from(value))
    }
}

/// The result of an operation on one value.
pub(crate) fn unary(op: Unary, value: Value) -> Result<Value, Fault> {
    match op {
        Unary::Negate => Ok(Value::Number(value.number()?.wrapping_neg())),
        Unary::Not => Ok((!value.is_true()).into()),
    }
}

/// The result of an operation on two values. References can be compared for equality and asked whether they are null;
/// anything else wants numbers.
pub(crate) fn binary(op: Binary, left: Value, right: Value) -> Result<Value, Fault> {
    match op {
        Binary::Equal => return Ok((left == right).into()),
        Binary::NotEqual => return Ok((left != right).into()),
        Binary::And => return Ok((left.is_true() && right.is_true()).into()),
        Binary::Or => return Ok((left.is_true() || right.is_true()).into()),
        _ => {}
    }
    let (left, right) = (left.number()?, right.number()?);
    let number = match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide | Binary::Remainder if right == 0 => return Err(Fault::DivisionByZero),
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::Less => i64::from(left < right),
        Binary::LessOrEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterOrEqual => i64::from(left >= right),
        Binary::Equal | Binary::NotEqual | Binary::And | Binary::Or => 0,
    };
    Ok(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(op: Binary, left: i64, right: i64) -> Result<Value, Fault> {
        binary(op, Value::Number(left), Value::Number(right))
    }

    #[test]
    fn arithmetic_wraps_around_and_refuses_to_divide_by_zero() {
        assert_eq!(numbers(Binary::Add, i64::MAX, 1), Ok(Value::Number(i64::MIN)));
        assert_eq!(numbers(Binary::Subtract, 3, 5), Ok(Value::Number(-2)));
        assert_eq!(numbers(Binary::Multiply, -3, 5), Ok(Value::Number(-15)));
        assert_eq!(numbers(Binary::Divide, i64::MIN, -1), Ok(Value::Number(i64::MIN)));
        assert_eq!(numbers(Binary::Remainder, i64::MIN, -1), Ok(Value::ZERO));
        assert_eq!(numbers(Binary::Remainder, -7, 3), Ok(Value::Number(-1)));
        assert_eq!(numbers(Binary::Divide, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(numbers(Binary::Remainder, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(unary(Unary::Negate, Value::Number(i64::MIN)), Ok(Value::Number(i64::MIN)));
    }

    #[test]
    fn comparisons_give_one_or_zero() {
        for (op, expected) in [
            (Binary::Equal, [0, 1, 0]),
            (Binary::NotEqual, [1, 0, 1]),
            (Binary::Less, [1, 0, 0]),
            (Binary::LessOrEqual, [1, 1, 0]),
            (Binary::Greater, [0, 0, 1]),
            (Binary::GreaterOrEqual, [0, 1, 1]),
        ] {
            let found = [1, 2, 3].map(|left| numbers(op, left, 2));
            assert_eq!(found, expected.map(|number| Ok(Value::Number(number))), "{op:?}");
        }
        assert_eq!(numbers(Binary::And, 2, 4), Ok(Value::Number(1)));
        assert_eq!(numbers(Binary::And, 2, 0), Ok(Value::ZERO));
        assert_eq!(numbers(Binary::Or, 0, 4), Ok(Value::Number(1)));
        assert_eq!(numbers(Binary::Or, 0, 0), Ok(Value::ZERO));
        assert_eq!(unary(Unary::Not, Value::Number(7)), Ok(Value::ZERO));
    }

    #[test]
    fn references_are_compared_but_not_computed_with() {
        let cell = Value::Cell(CellRef { owner: ThreadRef(0), number: 0 });
        let thread = Value::Thread(ThreadRef(0));
        assert_eq!(binary(Binary::Equal, cell, cell), Ok(Value::Number(1)));
        assert_eq!(binary(Binary::Equal, cell, Value::ZERO), Ok(Value::ZERO));
        assert_eq!(binary(Binary::NotEqual, cell, thread), Ok(Value::Number(1)));
        assert_eq!(unary(Unary::Not, cell), Ok(Value::ZERO));
        for op in [Binary::Add, Binary::Divide, Binary::Less] {
            assert_eq!(binary(op, cell, Value::Number(1)), Err(Fault::NotANumber));
            assert_eq!(binary(op, Value::Number(1), thread), Err(Fault::NotANumber));
        }
        assert_eq!(unary(Unary::Negate, thread), Err(Fault::NotANumber));
    }
}
