//! Shadow state: what is tracked beside concrete values while a path is executed.

use std::rc::Rc;

use foretell_trace::values::Obstacle;

use crate::evaluate::Given;
use crate::machine::Frame;
use crate::routine::Routine;
use crate::terms::{CONSTANT, Origin, Origins};
use crate::values::{Known, Type};

/// An executed instruction.
pub(crate) struct Done<'a> {
    pub(crate) opcode: u8,
    pub(crate) numbers: &'a [i64],
    /// The intrinsic that was called, if it is one.
    pub(crate) name: Option<&'a str>,
    /// The type of the result, and what is known of it.
    pub(crate) of: Type,
    pub(crate) known: Known,
    pub(crate) given: &'a [Given],
}

/// A branch or switch that was executed.
pub(crate) struct Decision<'a> {
    pub(crate) routine: &'a Rc<Routine>,
    /// The frame at that moment.
    pub(crate) frame: &'a Frame,
    pub(crate) index: u32,
    pub(crate) condition: Given,
    /// What the condition was compared with, if there were several cases.
    pub(crate) cases: &'a [Given],
    /// One of the cases, or none of them.
    pub(crate) way: usize,
    /// It is in a call without records.
    pub(crate) is_inner: bool,
}

/// What follows the machine.
pub(crate) trait Shadow {
    /// The origins of the result of an instruction.
    fn result(&mut self, done: &Done<'_>) -> Origins;
    /// The origin of a value that depends on all of these in an unknown way, and the obstacle.
    fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin;
    /// The thread continues as observed only if these values are as observed.
    fn hold(&mut self, given: &[Given]);
    /// A division has a defined result.
    fn divide(&mut self, opcode: u8, given: &[Given]);
    /// A branch or switch was executed.
    fn decide(&mut self, decision: &Decision<'_>);
    /// The path is unknown.
    fn give_up(&mut self);
}

/// Tracks nothing.
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
