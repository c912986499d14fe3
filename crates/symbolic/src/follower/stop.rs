//! What the follower needs to know about the site of a record, looked up once.

use std::rc::Rc;

use foretell_wire::code::{Operand, opcode};

use crate::code::{Functions, Spot, is_call};
use crate::region::{Region, Regions};
use crate::shape::{Shape, Slot};

/// An instruction with records.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) spot: Spot,
    pub(super) kind: Kind,
    /// The previous position of the last thread here, and the region between.
    pub(super) last: Option<(Option<u32>, Option<Rc<Region>>)>,
}

/// What an instruction does, and the slots of its operands; none for constants.
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
    /// Unknown.
    Unknown,
}

/// A call with a record of its own.
#[derive(Debug, Default)]
pub(super) struct CallStop {
    /// The callee has unknown effects beside.
    pub(super) is_unknown: bool,
    /// The slots that its branch depends on.
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
            let is_unknown = step.is_unknown && !step.is_recorded;
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
