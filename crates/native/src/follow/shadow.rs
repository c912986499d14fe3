//! What is kept of values beside what they are, while a thread goes its way again.

use super::evaluate::Given;
use super::terms::{CONSTANT, Origin, Origins};
use super::values::{Known, Type};

/// Something that an instruction has done with values.
pub(super) struct Done<'a> {
    pub(super) opcode: u8,
    pub(super) numbers: &'a [i64],
    /// The function of LLVM that was called, if it is one.
    pub(super) name: Option<&'a str>,
    /// The type of the result, and what is known of it.
    pub(super) of: Type,
    pub(super) known: Known,
    pub(super) given: &'a [Given],
}

/// Who goes along with the machine.
pub(super) trait Shadow {
    /// What the result of an instruction is made of.
    fn result(&mut self, done: &Done<'_>) -> Origins;
    /// What is made of all of these, nobody knows how.
    fn mix(&mut self, given: &[Given]) -> Origin;
    /// The thread goes on as it did only if these are what they were.
    fn hold(&mut self, given: &[Given]);
    /// A division is possible.
    fn divide(&mut self, opcode: u8, given: &[Given]);
    /// A decision was made, one of several cases or none of them.
    fn decide(&mut self, condition: Given, cases: &[Given], way: usize);
    /// Nobody can say what has happened on this way.
    fn give_up(&mut self);
}

/// Nobody.
pub(super) struct Nobody;

impl Shadow for Nobody {
    fn result(&mut self, _: &Done<'_>) -> Origins {
        CONSTANT
    }

    fn mix(&mut self, _: &[Given]) -> Origin {
        Origin::NOTHING
    }

    fn hold(&mut self, _: &[Given]) {}

    fn divide(&mut self, _: u8, _: &[Given]) {}

    fn decide(&mut self, _: Given, _: &[Given], _: usize) {}

    fn give_up(&mut self) {}
}
