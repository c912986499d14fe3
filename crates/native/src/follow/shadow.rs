//! What is kept of values beside what they are, while a thread goes its way again.

use std::rc::Rc;

use foretell_trace::values::Obstacle;

use super::evaluate::Given;
use super::machine::Frame;
use super::routine::Routine;
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

/// A decision that was made.
pub(super) struct Decision<'a> {
    pub(super) routine: &'a Rc<Routine>,
    /// What was known when it was made.
    pub(super) frame: &'a Frame,
    pub(super) index: u32,
    pub(super) condition: Given,
    /// What the condition was compared with, if there were several cases.
    pub(super) cases: &'a [Given],
    /// One of the cases, or none of them.
    pub(super) way: usize,
    /// It was made in a call that leaves no record.
    pub(super) is_inner: bool,
}

/// Who goes along with the machine.
pub(super) trait Shadow {
    /// What the result of an instruction is made of.
    fn result(&mut self, done: &Done<'_>) -> Origins;
    /// What is made of all of these, nobody knows how, because of this.
    fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin;
    /// The thread goes on as it did only if these are what they were.
    fn hold(&mut self, given: &[Given]);
    /// A division is possible.
    fn divide(&mut self, opcode: u8, given: &[Given]);
    /// A decision was made.
    fn decide(&mut self, decision: &Decision<'_>);
    /// Nobody can say what has happened on this way.
    fn give_up(&mut self);
}

/// Nobody.
pub(super) struct Nobody;

impl Shadow for Nobody {
    fn result(&mut self, _: &Done<'_>) -> Origins {
        CONSTANT
    }

    fn mix(&mut self, _: &[Given], _: Obstacle) -> Origin {
        Origin::NOTHING
    }

    fn hold(&mut self, _: &[Given]) {}

    fn divide(&mut self, _: u8, _: &[Given]) {}

    fn decide(&mut self, _: &Decision<'_>) {}

    fn give_up(&mut self) {}
}
