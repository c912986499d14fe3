//! Which values of a function depend on what its thread has read.
//!
//! Loads do, and arguments and the results of calls may: nothing beyond the function is looked at. What is computed
//! from such a value is one, too. The rest (constants, addresses of variables, counters of loops with constant
//! bounds) is the same in every run that takes the same branches.

use std::collections::HashSet;

use crate::ir::{Opcode, Value};

/// The values of one function that depend on reads.
pub(crate) struct ReadDependents(HashSet<Value>);

impl ReadDependents {
    pub(crate) fn of(function: Value, instructions: &[Value]) -> ReadDependents {
        let sources = instructions.iter().copied().filter(|&instruction| is_source(instruction));
        let mut open: Vec<Value> = function.parameters().into_iter().chain(sources).collect();
        let mut found: HashSet<Value> = open.iter().copied().collect();
        while let Some(value) = open.pop() {
            for user in value.users() {
                if user.is_instruction() && !user.type_of().is_void() && found.insert(user) {
                    open.push(user);
                }
            }
        }
        ReadDependents(found)
    }

    pub(crate) fn decide(&self, value: Value) -> bool {
        self.0.contains(&value)
    }

    /// Hooks have taken the place of an instruction; what depended on it depends on them.
    pub(crate) fn replaced(&mut self, old: Value, new: Value) {
        if self.0.contains(&old) {
            self.0.insert(new);
        }
    }
}

fn is_source(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(
            Opcode::LLVMLoad
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMInvoke
            | Opcode::LLVMCallBr
            | Opcode::LLVMLandingPad
            | Opcode::LLVMVAArg,
        ) => true,
        // Pure intrinsics hand on what they are given; the address of a thread's own variable is no read.
        Some(Opcode::LLVMCall) => !instruction.callee().is_intrinsic(),
        _ => false,
    }
}
