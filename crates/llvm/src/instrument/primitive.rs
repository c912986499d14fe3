//! Hooks in and around the functions of libraries that synchronise, see [`crate::primitives`].

use foretell_wire::hook::Update;
use foretell_wire::primitive::{BEGIN, END, Role, WORD_CMPXCHG, WORD_LOAD, WORD_RMW, WORD_STORE};

use super::modelled::ways_on;
use super::{FunctionWalk, NOT_ATOMIC};
use crate::hooks::HookType;
use crate::ir::{Opcode, Value};
use crate::primitives::{AtomicsMeaning, Called, Other, PrimitiveObject, called_function};

/// Each call of a primitive gets ways on that are its own, where hooks can stand.
pub(super) fn separate(function: Value) {
    let is_invoke = |instruction: &Value| instruction.opcode() == Some(Opcode::LLVMInvoke);
    let invokes: Vec<Value> = function.instructions().into_iter().filter(is_invoke).collect();
    for invoke in invokes {
        if called_function(invoke.callee()).is_some() {
            invoke.own_ways();
        }
    }
}

impl FunctionWalk<'_> {
    /// Whether the instruction is part of a primitive; then it has got its hook, or needs none.
    pub(super) fn is_part_of_primitive(&mut self, instruction: Value) -> bool {
        let is_atomic = match instruction.opcode() {
            Some(Opcode::LLVMLoad | Opcode::LLVMStore) => instruction.ordering() != NOT_ATOMIC,
            Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => true,
            Some(Opcode::LLVMBr | Opcode::LLVMSwitch) => false,
            _ => return false,
        };
        let Some(word) = self.primitives.word(instruction, self.described.name()) else { return false };
        if is_atomic {
            return self.word(instruction, word);
        }
        // What a primitive decides by is its word, and that it does is part of what it means, mostly.
        !matches!(word.role, Role::Done | Role::Retire | Role::Fence)
    }

    /// Puts the hook for a primitive's word in the place of an access, if there is one that can do it.
    fn word(&mut self, access: Value, word: AtomicsMeaning) -> bool {
        let is_store = access.opcode() == Some(Opcode::LLVMStore);
        let of = if is_store {
            access.operand(0).type_of()
        } else if access.opcode() == Some(Opcode::LLVMAtomicCmpXchg) {
            access.operand(1).type_of()
        } else {
            access.type_of()
        };
        let HookType::Word(bytes) = self.hooks.shape(of) else { return false };
        let site = self.begin(access);
        let constant = |number: u64| self.hooks.types.int64.constant(number);
        let role = self.hooks.types.int32.constant(word.role as u64);
        match access.opcode() {
            Some(Opcode::LLVMLoad) => {
                let arguments = [site, access.operand(0), role, constant(word.held), constant(word.blocked)];
                let number = self.hooks.ask_sized(WORD_LOAD, bytes, &arguments);
                let value = self.hooks.to_word(number, of);
                self.replace(access, value);
            }
            Some(Opcode::LLVMStore) => {
                let number = self.hooks.to_number(access.operand(0));
                self.hooks.tell_sized(WORD_STORE, bytes, &[site, access.operand(1), number, role]);
                access.erase();
            }
            Some(Opcode::LLVMAtomicRMW) => {
                let Some(update) = Update::from_code(access.update_code()) else { return false };
                let operand = self.hooks.to_number(access.operand(1));
                let code = self.hooks.types.int32.constant(update as u64);
                let arguments = [site, access.operand(0), operand, code, role];
                let number = self.hooks.ask_sized(WORD_RMW, bytes, &arguments);
                let value = self.hooks.to_word(number, of);
                self.replace(access, value);
            }
            _ => {
                let expected = self.hooks.to_number(access.operand(1));
                let desired = self.hooks.to_number(access.operand(2));
                let arguments = [site, access.operand(0), expected, desired, role, constant(word.held)];
                let number = self.hooks.ask_sized(WORD_CMPXCHG, bytes, &arguments);
                self.replace_exchange(access, number, expected, of);
            }
        }
        true
    }

    /// A call of a primitive, between two hooks.
    pub(super) fn primitive(&mut self, call: Value, called: Called) {
        let types = self.hooks.types;
        let site = self.begin(call);
        let arguments = call.arguments();
        let pointer = |index: usize| match arguments.get(index) {
            Some(&argument) if argument.address_space() == Some(0) => {
                self.hooks.build.pointer_to_int(argument, types.int64)
            }
            _ => types.int64.constant(0),
        };
        let object = match called.object {
            PrimitiveObject::First => pointer(0),
            PrimitiveObject::Number(number) => types.int64.constant(number),
        };
        let other = match called.other {
            Other::Second => pointer(1),
            Other::Callee => self.hooks.build.pointer_to_int(call.callee(), types.int64),
            Other::Number(number) => types.int64.constant(number),
        };
        let primitive = types.int32.constant(called.primitive as u64);
        let entered = self.hooks.ask(BEGIN, &[site, primitive, object, other]);
        let is_number = call.type_of().int_width() > 0;
        for (way, instruction) in ways_on(call).into_iter().enumerate() {
            self.hooks.build.before(instruction);
            // On the second way an exception has come instead of a result.
            let result =
                if is_number && way == 0 { self.hooks.to_number(call) } else { types.int64.constant(0) };
            self.hooks.tell(END, &[site, primitive, object, other, entered, result]);
        }
    }
}
