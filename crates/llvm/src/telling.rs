//! Which functions of a module record anything that one wants to know the calls of.
//!
//! These are those that access memory which others may see, call out of the module, or call such a function. Calls of
//! the rest need no place in the stack of calls.

use std::collections::{HashMap, HashSet};

use crate::effects::Manner;
use crate::instrument::{is_instrumented, is_ours, is_told};
use crate::ir::{Opcode, Value};

/// The functions that record something.
pub(crate) struct Telling(HashSet<Value>);

impl Telling {
    pub(crate) fn of(functions: &[Value]) -> Telling {
        let mut callers: HashMap<Value, Vec<Value>> = HashMap::new();
        let mut open = Vec::new();
        for &function in functions {
            for instruction in function.instructions() {
                match told_callee(instruction) {
                    Some(callee) => callers.entry(callee).or_default().push(function),
                    None if tells(instruction) => open.push(function),
                    None => {}
                }
            }
        }
        let mut found = HashSet::new();
        while let Some(function) = open.pop() {
            if found.insert(function) {
                open.extend(callers.remove(&function).unwrap_or_default());
            }
        }
        Telling(found)
    }

    /// A function that was instrumented before may record anything.
    pub(crate) fn contains(&self, function: Value) -> bool {
        self.0.contains(&function) || is_instrumented(function)
    }
}

/// The callee, if this is a call of an instrumented function of the module.
fn told_callee(instruction: Value) -> Option<Value> {
    let is_call = matches!(instruction.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke));
    is_call.then(|| instruction.callee()).filter(|&callee| is_told(callee))
}

/// Whether the instruction itself is recorded.
fn tells(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad) => is_ours(instruction.operand(0)),
        Some(Opcode::LLVMStore) => is_ours(instruction.operand(1)),
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMCallBr) => true,
        Some(Opcode::LLVMCall) if instruction.callee().is_intrinsic() => {
            instruction.callee().name().starts_with("llvm.mem")
        }
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke) => Manner::of(instruction) != Manner::Nothing,
        _ => false,
    }
}
