//! What the operands of an instruction do not tell, as numbers; see [`foretell_wire::code::Instruction::numbers`].

use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic as NOT_ATOMIC;

use crate::ir::{Module, Opcode, Type, Value};

/// The numbers of an instruction; none if there is nothing to record, or it cannot be recorded.
pub(crate) fn numbers(instruction: Value, module: Module) -> Vec<i64> {
    let liberties = Some(instruction.liberties()).filter(|&liberties| liberties != 0);
    let mut numbers = own_numbers(instruction, module);
    numbers.extend(liberties.filter(|_| !instruction.is_call()));
    numbers
}

fn own_numbers(instruction: Value, module: Module) -> Vec<i64> {
    match instruction.opcode() {
        Some(Opcode::LLVMICmp | Opcode::LLVMFCmp) => instruction.predicate().into_iter().collect(),
        Some(Opcode::LLVMGetElementPtr) => steps(instruction, module).unwrap_or_default(),
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => order(instruction).into_iter().collect(),
        Some(Opcode::LLVMAtomicRMW) => vec![i64::from(instruction.update_code())],
        Some(Opcode::LLVMExtractValue | Opcode::LLVMInsertValue) => {
            instruction.indices().into_iter().map(i64::from).collect()
        }
        Some(Opcode::LLVMAlloca) => module.step_size(instruction.allocated_type()).into_iter().collect(),
        _ if instruction.is_call() => passed_by_value(instruction),
        _ => Vec::new(),
    }
}

/// The order of an atomic access; none of a plain one.
fn order(access: Value) -> Option<i64> {
    Some(access.ordering()).filter(|&order| order != NOT_ATOMIC).map(|order| order as i64)
}

/// The variable or function that a constant address leads into, and how far.
pub(crate) fn within_global(address: Value, module: Module) -> Option<(Value, i64)> {
    if address.is_global() {
        return Some((address, 0));
    }
    let is_constant = address.is_constant() && address.is_address_within();
    let steps = is_constant.then(|| steps(address, module)).flatten()?;
    let [bytes] = steps[..] else { return None };
    let (global, before) = within_global(address.operand(0), module)?;
    Some((global, before.checked_add(bytes)?))
}

/// The bytes that the constant indices of a `getelementptr` add up to, then the bytes of a step for each of the
/// others. None if vectors are involved.
fn steps(address: Value, module: Module) -> Option<Vec<i64>> {
    let operands = address.used_values();
    let (pointer, indices) = operands.split_first()?;
    if pointer.address_space() != Some(0) || !address.type_of().is_pointer() {
        return None;
    }
    let mut steps = vec![0_i64];
    let mut within: Option<Type> = None;
    for &index in indices {
        let constant = index.constant_number();
        let element = match within {
            Some(structure) if structure.is_struct() => {
                let member = u32::try_from(constant?).ok()?;
                steps[0] = steps[0].checked_add_unsigned(module.member_offset(structure, member))?;
                within = Some(structure.member(member)?);
                continue;
            }
            Some(array) => array.member(0)?,
            None => address.indexed_type(),
        };
        within = Some(element);
        let bytes = module.step_size(element)?;
        match constant {
            Some(constant) => steps[0] = steps[0].checked_add(constant.checked_mul(bytes)?)?,
            None => steps.push(bytes),
        }
    }
    Some(steps)
}

fn passed_by_value(call: Value) -> Vec<i64> {
    let positions = (0..).zip(call.arguments());
    let by_value = positions.filter(|&(index, _)| call.passed_by_value(index).is_some());
    by_value.map(|(index, _)| i64::from(index)).collect()
}
