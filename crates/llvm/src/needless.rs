//! Hooks that would never record anything: a decision, if on no way to it anything was read since the decision
//! before.
//!
//! The addresses of a loop depend on what was read before it, so each of its accesses is a decision, and so is each
//! round: most of these have nothing to tell, and the runtime would find out every time.

use std::collections::HashMap;

use foretell_wire::hook;

use crate::ir::{Block, Opcode, Value};

/// Takes the hooks out again that have nothing to tell. All hooks of the function are in place.
pub(crate) fn remove(function: Value) {
    let instructions = function.instructions();
    let begins = begins(&instructions);
    let mut has_read = true;
    let mut block = None;
    for instruction in instructions {
        if block.replace(instruction.block()) != Some(instruction.block()) {
            has_read = begins.begins_after_read(instruction.block());
        }
        if is_decision(instruction) && !has_read {
            instruction.erase();
        } else {
            has_read = after(instruction, has_read);
        }
    }
}

/// Before which blocks something may have been read since the last decision.
struct Begins(HashMap<Block, bool>);

impl Begins {
    /// A block that nothing leads to is the first one: its caller may have read.
    fn begins_after_read(&self, block: Block) -> bool {
        self.0.get(&block).copied().unwrap_or(true)
    }
}

/// Begins with the hope that nothing was read anywhere but before the first block, and gives up what does not hold.
fn begins(instructions: &[Value]) -> Begins {
    let targets = instructions.iter().flat_map(|instruction| instruction.successors());
    let mut begins = Begins(targets.map(|block| (block, false)).collect());
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        let (mut has_read, mut block) = (true, None);
        for &instruction in instructions {
            if block.replace(instruction.block()) != Some(instruction.block()) {
                has_read = begins.begins_after_read(instruction.block());
            }
            has_read = after(instruction, has_read);
            for next in instruction.successors().into_iter().filter(|_| has_read) {
                is_settled &= begins.0.insert(next, true) == Some(true);
            }
        }
    }
    begins
}

/// Whether something may have been read after the instruction.
fn after(instruction: Value, before: bool) -> bool {
    match instruction.opcode() {
        _ if is_decision(instruction) => false,
        Some(Opcode::LLVMCall) if !may_read(instruction.callee()) => before,
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) => true,
        _ => before,
    }
}

fn may_read(callee: Value) -> bool {
    let is_store = callee.is_function() && callee.name().starts_with(hook::STORE);
    !callee.is_intrinsic() && !is_store
}

fn is_decision(instruction: Value) -> bool {
    let is_call = instruction.opcode() == Some(Opcode::LLVMCall) && instruction.callee().is_function();
    is_call && [hook::BRANCH, hook::BRANCH_BY].contains(&instruction.callee().name().as_str())
}
