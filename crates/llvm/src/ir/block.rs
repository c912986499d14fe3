//! Basic blocks.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::{Opcode, Value, chain, llvm};

/// Instructions that are executed one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block(pub(super) LLVMBasicBlockRef);

impl Block {
    /// The last instruction.
    pub(crate) fn terminator(self) -> Value {
        Value(llvm!(LLVMGetBasicBlockTerminator(self.0)))
    }

    pub(crate) fn instructions(self) -> Vec<Value> {
        let first = llvm!(LLVMGetFirstInstruction(self.0));
        chain(first, |instruction| llvm!(LLVMGetNextInstruction(instruction))).collect()
    }

    /// The first instruction that others may stand before.
    pub(crate) fn first_ordinary(self) -> Value {
        let next = |instruction| llvm!(LLVMGetNextInstruction(instruction));
        let is_special = |instruction: &Value| {
            matches!(instruction.opcode(), Some(Opcode::LLVMPHI | Opcode::LLVMLandingPad))
        };
        let first = llvm!(LLVMGetFirstInstruction(self.0));
        chain(first, next).find(|instruction| !is_special(instruction)).unwrap_or_else(|| self.terminator())
    }
}
