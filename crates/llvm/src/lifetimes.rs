//! Local variables whose address other threads may know: the ends of their lifetimes are recorded.
//!
//! The address is followed through what is computed from it, through other local variables that hold it, and through
//! the functions of the module that it is given to. If it gets anywhere else, into memory or to code out of the
//! module, other threads may get to know it there. In doubt they do.

use std::collections::HashSet;

use crate::effects::Manner;
use crate::instrument::is_told;
use crate::ir::{Opcode, Value};
use crate::private;

/// So many values are looked at before others are taken to know the variable.
const MOST_LOOKED_AT: usize = 512;

/// Whether other threads may get to know the address of a local variable.
pub(crate) fn may_be_known(variable: Value) -> bool {
    let mut search = LifetimeSearch { open: Vec::new(), seen: HashSet::new() };
    search.add(variable, false);
    while let Some((value, holds)) = search.open.pop() {
        if search.seen.len() > MOST_LOOKED_AT
            || value.users().into_iter().any(|user| search.leaves(value, holds, user))
        {
            return true;
        }
    }
    false
}

struct LifetimeSearch {
    /// Values that are computed from the address; or, if so marked, that lead to memory which holds it.
    open: Vec<(Value, bool)>,
    seen: HashSet<(Value, bool)>,
}

impl LifetimeSearch {
    fn add(&mut self, value: Value, holds: bool) {
        if self.seen.insert((value, holds)) {
            self.open.push((value, holds));
        }
    }

    /// Whether the address gets to where others may see it by what this user does.
    fn leaves(&mut self, value: Value, holds: bool, user: Value) -> bool {
        match user.opcode() {
            Some(Opcode::LLVMICmp | Opcode::LLVMRet | Opcode::LLVMBr | Opcode::LLVMSwitch) => false,
            Some(Opcode::LLVMLoad) => {
                if holds {
                    self.add(user, true);
                }
                false
            }
            Some(Opcode::LLVMStore) => user.operand(0) == value && !self.is_held_by(user.operand(1)),
            Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => holds || user.operand(0) != value,
            Some(
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMBitCast
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect
                | Opcode::LLVMInsertValue
                | Opcode::LLVMExtractValue
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMIntToPtr
                | Opcode::LLVMFreeze
                | Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMAnd
                | Opcode::LLVMOr,
            ) => {
                self.add(user, holds);
                false
            }
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke) => self.is_given_away(value, holds, user),
            _ => true,
        }
    }

    /// The address is stored, or copied, to there. If that is another local variable, it is known what becomes of it.
    fn is_held_by(&mut self, pointer: Value) -> bool {
        let base = private::base(pointer);
        let is_local = base.opcode() == Some(Opcode::LLVMAlloca);
        if is_local {
            self.add(base, true);
        }
        is_local
    }

    fn is_given_away(&mut self, value: Value, holds: bool, call: Value) -> bool {
        let callee = call.callee();
        let arguments = call.arguments();
        if callee.is_intrinsic() {
            let name = callee.name();
            let copies = ["llvm.memcpy", "llvm.memmove"].iter().any(|copy| name.starts_with(copy));
            let is_source = arguments.get(1) == Some(&value);
            return copies && holds && is_source && !self.is_held_by(arguments[0]);
        }
        let places = || (0..).zip(&arguments).filter(|(_, argument)| **argument == value).map(|(at, _)| at);
        if is_told(callee) {
            for at in places() {
                let Some(&parameter) = callee.parameters().get(at) else { return true };
                self.add(parameter, holds);
            }
            if places().next().is_some() && !call.type_of().is_void() {
                self.add(call, holds);
            }
            return callee == value;
        }
        !matches!(Manner::of(call), Manner::Nothing | Manner::Performed | Manner::Reads(_))
    }
}
