//! Memory that no other thread can know of: local variables whose address never leaves the function, and constants.

use crate::ir::{Opcode, Value};

/// Variables of the C library that it writes only while there is one thread, which no one sees.
const SETTLED: &[&str] = &["__libc_single_threaded"];

/// What the names of the compiler's own variables begin with: those in which it counts how often code is run, where
/// it does not mind to miscount, and what its checks remember.
const COMPILERS: &[&str] =
    &["__profc_", "__profbm_", "__llvm_gcov", "__llvm_prf", "__sancov_gen_", "__ubsan_vptr_type_cache"];

/// Whether no other thread can write what is behind this pointer, once there are others.
pub(crate) fn is_private(pointer: Value) -> bool {
    let base = base(pointer);
    base.is_constant_global()
        || SETTLED.contains(&base.name().as_str())
        || (base.is_global() && COMPILERS.iter().any(|start| base.name().starts_with(start)))
        || (base.opcode() == Some(Opcode::LLVMAlloca) && stays_here(base))
}

/// Whether this leads into a variable of the function itself, even if others know of it.
pub(crate) fn is_local(pointer: Value) -> bool {
    base(pointer).opcode() == Some(Opcode::LLVMAlloca)
}

/// The variable that a pointer is computed from, as far as that is plain to see.
pub(crate) fn base(pointer: Value) -> Value {
    let mut base = pointer;
    while let Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast) = base.opcode() {
        base = base.operand(0);
    }
    base
}

/// Whether the address is used to access memory and for nothing else.
fn stays_here(address: Value) -> bool {
    address.users().into_iter().all(|user| match user.opcode() {
        Some(Opcode::LLVMLoad | Opcode::LLVMICmp) => true,
        Some(Opcode::LLVMStore) => user.operand(0) != address,
        Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast) => stays_here(user),
        Some(Opcode::LLVMCall) => {
            let name = user.callee().name();
            user.callee().is_intrinsic()
                && ["llvm.lifetime", "llvm.mem", "llvm.dbg"].iter().any(|known| name.starts_with(known))
        }
        _ => false,
    })
}
