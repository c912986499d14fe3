//! What travels with values and threads besides what the program computes.
//!
//! The machine computes; a [`Shadow`] observes what it does and may attach something to each value (a *tag*) and to
//! each thread (its *control*). Recording keeps track of where values come from that way. Exploration does not need it:
//! its tags are empty and cost nothing.

use std::fmt::Debug;

use foretell_depend::{Binary, Unary};

use crate::machine::{Action, MemoryLocation};
use crate::program::Position;
use crate::value::{ThreadRef, Value};

/// A value with its tag.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Slot<T> {
    /// What the program computes with.
    pub value: Value,
    /// What travels with it. The default goes with values that depend on no read.
    pub tag: T,
}

/// A thread, and its location in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Who.
    pub thread: ThreadRef,
    /// Where.
    pub position: Position,
}

/// What must hold for a thread to continue as it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The value is not 0: of an assertion, or a divisor.
    NotZero,
    /// The value is an index of an array of this length.
    Below(u32),
    /// The value is the very one that it is: a reference, a handle, an argument of a new thread.
    Same,
}

/// A step that was just taken.
#[derive(Clone, Copy, Debug)]
pub struct Done<T> {
    /// The step.
    pub action: Action,
    /// What was read or written; the tag of what was read is not known yet.
    pub value: Option<Slot<T>>,
    /// What its target was computed from: an index, a reference, a handle. Of a wait for one of several conditions with
    /// one of several locks it is the index of the lock; that of the condition is guarded.
    pub address: Option<T>,
    /// The thread that a fork started.
    pub child: Option<ThreadRef>,
}

/// See the module. The methods are called in the order in which things happen; by default nothing is kept track of.
#[expect(unused_variables, reason = "the names of the arguments document the methods")]
pub trait Shadow: Sized {
    /// What travels with a value.
    type Tag: Copy + Default + Debug;
    /// What travels with a thread.
    type Control: Clone + Default + Debug;

    /// The tag of the result of an operation on one value.
    fn unary(&mut self, op: Unary, operand: Slot<Self::Tag>) -> Self::Tag {
        Self::Tag::default()
    }

    /// The tag of the result of an operation on two values.
    fn binary(&mut self, op: Binary, left: Slot<Self::Tag>, right: Slot<Self::Tag>) -> Self::Tag {
        Self::Tag::default()
    }

    /// The tag of a value where the decision on `by` could have led to another one.
    fn chosen(&mut self, by: Self::Tag, value: Slot<Self::Tag>) -> Self::Tag {
        Self::Tag::default()
    }

    /// [`Instr::Mark`](crate::program::Instr::Mark).
    fn mark(&mut self, control: &mut Self::Control) {}

    /// [`Instr::Decide`](crate::program::Instr::Decide) on this value. Says whether the thread goes the first way: as the value has it, unless
    /// the untaken branch is of interest.
    fn decide(
        &mut self,
        at: At,
        control: &mut Self::Control,
        on: Slot<Self::Tag>,
        scope: usize,
        sticky: bool,
    ) -> bool {
        on.value.is_true()
    }

    /// [`Instr::Meet`](crate::program::Instr::Meet); gives the tags of the decisions that are forgotten: what was assigned
    /// since the mark is [`Shadow::chosen`] by them.
    fn meet(&mut self, control: &mut Self::Control) -> Vec<Self::Tag> {
        Vec::new()
    }

    /// [`Instr::Unmark`](crate::program::Instr::Unmark).
    fn unmark(&mut self, control: &mut Self::Control) {}

    /// The thread can continue only because this value is as the guard says (or fails because it is not).
    fn guard(&mut self, at: At, control: &mut Self::Control, guard: Guard, on: Slot<Self::Tag>) {}

    /// A function is called.
    fn call(&mut self, control: &mut Self::Control) {}

    /// A function goes back to its caller; gives the tags of the decisions that are forgotten: the result is
    /// [`Shadow::chosen`] by them.
    fn leave(&mut self, control: &mut Self::Control) -> Vec<Self::Tag> {
        Vec::new()
    }

    /// The control of a thread that is started by one with this control.
    fn fork(&mut self, control: &Self::Control) -> Self::Control {
        Self::Control::default()
    }

    /// A new cell holds this value, which is not 0.
    fn initial(&mut self, at: At, control: &Self::Control, place: MemoryLocation, value: Value) {}

    /// A step was taken; gives the tag of what it read.
    fn done(&mut self, at: At, control: &Self::Control, done: Done<Self::Tag>) -> Self::Tag {
        Self::Tag::default()
    }

    /// Another iteration of the loop at this place begins.
    fn iterate(&mut self, position: Position) {}
}

/// Keeps track of nothing.
impl Shadow for () {
    type Tag = ();
    type Control = ();
}
