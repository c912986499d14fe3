//! What is to be known of a site each time that something is recorded there, looked up once.

use std::rc::Rc;

use foretell_wire::code::{Operand, opcode};

use crate::code::{Functions, Spot, is_call};
use crate::region::{Region, Regions};
use crate::shape::{Shape, Slot};

/// An instruction at which something is recorded.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) spot: Spot,
    pub(super) kind: Kind,
    /// Where the thread came from the last time, and what it did on the way.
    pub(super) last: Option<(Option<u32>, Option<Rc<Region>>)>,
}

/// What an instruction does, and in which slots it finds what it needs; there are none for constants.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A load.
    Load { pointer: Option<Slot>, content: Option<Slot> },
    /// A store.
    Store { value: Option<Slot>, pointer: Option<Slot>, content: Option<Slot> },
    /// An atomic update.
    Update { pointer: Option<Slot>, operand: Option<Slot> },
    /// A compare-exchange.
    Exchange { pointer: Option<Slot>, expected: Option<Slot>, desired: Option<Slot> },
    /// A call.
    Call(Rc<CallStop>),
    /// NoShadow knows.
    Unknown,
}

/// A call at which something is recorded that no other function of the program has done.
#[derive(Debug, Default)]
pub(super) struct CallStop {
    /// NoShadow knows what the callee does beside.
    pub(super) is_unknown: bool,
    /// What it decides by.
    pub(super) steering: Vec<Slot>,
    /// What it fills memory with.
    pub(super) byte: Option<Slot>,
    /// The contents of the local variables that it writes to and copies from.
    pub(super) to: Option<Slot>,
    pub(super) from: Option<Slot>,
}

impl Stop {
    pub(super) fn new(functions: &Functions, regions: &mut Regions, spot: Spot) -> Stop {
        let shape = regions.shape(functions, spot.function);
        let kind = shape.and_then(|shape| kind(functions, &shape, spot)).unwrap_or(Kind::Unknown);
        Stop { spot, kind, last: None }
    }
}

fn kind(functions: &Functions, shape: &Shape, spot: Spot) -> Option<Kind> {
    let function = functions.get(spot.function)?;
    let operands: Vec<Operand> = function.values(spot.instruction).collect();
    let slot = |operand: Operand| shape.slot(operand);
    Some(match (function.opcode(spot.instruction), &operands[..]) {
        (opcode::LOAD, &[pointer, ..]) => {
            Kind::Load { pointer: slot(pointer), content: shape.content(pointer) }
        }
        (opcode::STORE, &[value, pointer, ..]) => {
            Kind::Store { value: slot(value), pointer: slot(pointer), content: shape.content(pointer) }
        }
        (opcode::ATOMICRMW, &[pointer, operand, ..]) => {
            Kind::Update { pointer: slot(pointer), operand: slot(operand) }
        }
        (opcode::CMPXCHG, &[pointer, expected, desired, ..]) => {
            Kind::Exchange { pointer: slot(pointer), expected: slot(expected), desired: slot(desired) }
        }
        (opcode, operands) if is_call(opcode) => {
            let name = function.callee_name(spot.instruction).unwrap_or_default();
            let step = shape.step(spot.instruction)?;
            let is_unknown = step.is_unknown && !step.is_told;
            Kind::Call(Rc::new(CallStop { is_unknown, ..call(shape, name, operands) }))
        }
        _ => return None,
    })
}

fn call(shape: &Shape, name: &str, operands: &[Operand]) -> CallStop {
    let slots = |operands: &[Operand]| operands.iter().filter_map(|&operand| shape.slot(operand)).collect();
    match *operands {
        [to, byte, ref others @ ..] if name.starts_with("llvm.memset") => CallStop {
            steering: slots(&[&[to], others].concat()),
            byte: shape.slot(byte),
            to: shape.content(to),
            ..CallStop::default()
        },
        [to, from, ..] if name.starts_with("llvm.mem") => CallStop {
            steering: slots(operands),
            to: shape.content(to),
            from: shape.content(from),
            ..CallStop::default()
        },
        _ => CallStop { steering: slots(operands), ..CallStop::default() },
    }
}
