//! What is kept of values beside what they are, while a thread goes its way again.

use std::rc::Rc;

use foretell_trace::values::Obstacle;

use crate::evaluate::Given;
use crate::machine::Frame;
use crate::routine::Routine;
use crate::terms::{CONSTANT, Origin, Origins};
use crate::values::{Known, Type};

/// Something that an instruction has done with values.
pub(crate) struct Done<'a> {
    pub(crate) opcode: u8,
    pub(crate) numbers: &'a [i64],
    /// The function of LLVM that was called, if it is one.
    pub(crate) name: Option<&'a str>,
    /// The type of the result, and what is known of it.
    pub(crate) of: Type,
    pub(crate) known: Known,
    pub(crate) given: &'a [Given],
}

/// A decision that was made.
pub(crate) struct Decision<'a> {
    pub(crate) routine: &'a Rc<Routine>,
    /// What was known when it was made.
    pub(crate) frame: &'a Frame,
    pub(crate) index: u32,
    pub(crate) condition: Given,
    /// What the condition was compared with, if there were several cases.
    pub(crate) cases: &'a [Given],
    /// One of the cases, or none of them.
    pub(crate) way: usize,
    /// It was made in a call that leaves no record.
    pub(crate) is_inner: bool,
}

/// Who goes along with the machine.
pub(crate) trait Shadow {
    /// What the result of an instruction is made of.
    fn result(&mut self, done: &Done<'_>) -> Origins;
    /// What is made of all of these, in an unknown way, because of this.
    fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin;
    /// The thread goes on as it did only if these are what they were.
    fn hold(&mut self, given: &[Given]);
    /// A division is possible.
    fn divide(&mut self, opcode: u8, given: &[Given]);
    /// A decision was made.
    fn decide(&mut self, decision: &Decision<'_>);
    /// NoShadow can say what has happened on this way.
    fn give_up(&mut self);
}

/// NoShadow.
pub(crate) struct NoShadow;

impl Shadow for NoShadow {
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
