//! New instructions.

use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::{Block, Module, NO_NAME, Type, Types, Value, count, llvm};

/// Makes instructions.
pub(crate) struct Builder(pub(super) LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.0));
    }
}

impl Builder {
    /// What is made next stands before `instruction` and has its place in the source.
    pub(crate) fn before(&self, instruction: Value) {
        self.before_as(instruction, instruction);
    }

    /// What is made next stands before `instruction` and has the place of `other` in the source.
    pub(crate) fn before_as(&self, instruction: Value, other: Value) {
        llvm!(LLVMPositionBuilderBefore(self.0, instruction.0));
        let location = llvm!(LLVMInstructionGetDebugLoc(other.0));
        llvm!(LLVMSetCurrentDebugLocation2(self.0, location));
    }

    /// What is made next is the body of this function.
    pub(crate) fn in_new_body(&self, function: Value, module: Module) {
        self.at_end(self.new_block(function, module));
        llvm!(LLVMSetCurrentDebugLocation2(self.0, std::ptr::null_mut()));
    }

    /// Adds a block to the end of a function.
    pub(crate) fn new_block(&self, function: Value, module: Module) -> Block {
        let context = llvm!(LLVMGetModuleContext(module.0));
        Block(llvm!(LLVMAppendBasicBlockInContext(context, function.0, NO_NAME)))
    }

    /// What is made next stands at the end of the block.
    pub(crate) fn at_end(&self, block: Block) {
        llvm!(LLVMPositionBuilderAtEnd(self.0, block.0));
    }

    pub(crate) fn call(&self, function: (Value, Type), arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        let count = count(arguments.len());
        let call =
            llvm!(LLVMBuildCall2(self.0, function.1.0, function.0.0, arguments.as_mut_ptr(), count, NO_NAME));
        Value(call)
    }

    /// Room for a value in the frame of the function.
    pub(crate) fn room(&self, function: Value, of: Type) -> Value {
        let entry = llvm!(LLVMGetEntryBasicBlock(function.0));
        let first = llvm!(LLVMGetFirstInstruction(entry));
        llvm!(LLVMPositionBuilderBefore(self.0, first));
        Value(llvm!(LLVMBuildAlloca(self.0, of.0, NO_NAME)))
    }

    pub(crate) fn load(&self, of: Type, from: Value) -> Value {
        Value(llvm!(LLVMBuildLoad2(self.0, of.0, from.0, NO_NAME)))
    }

    pub(crate) fn store(&self, value: Value, to: Value) {
        llvm!(LLVMBuildStore(self.0, value.0, to.0));
    }

    /// A load that is made as it stands, wherever the pointer leads.
    pub(crate) fn exact_load(&self, of: Type, from: Value) -> Value {
        let load = self.load(of, from);
        llvm!(LLVMSetVolatile(load.0, 1));
        llvm!(LLVMSetAlignment(load.0, 1));
        load
    }

    /// A store that is made as it stands, wherever the pointer leads.
    pub(crate) fn exact_store(&self, value: Value, to: Value) {
        let store = llvm!(LLVMBuildStore(self.0, value.0, to.0));
        llvm!(LLVMSetVolatile(store, 1));
        llvm!(LLVMSetAlignment(store, 1));
    }

    /// The address so many bytes after another one.
    pub(crate) fn after(&self, pointer: Value, bytes: Value, types: Types) -> Value {
        let mut bytes = bytes.0;
        Value(llvm!(LLVMBuildGEP2(self.0, types.byte.0, pointer.0, &mut bytes, 1, NO_NAME)))
    }

    pub(crate) fn add(&self, one: Value, other: Value) -> Value {
        Value(llvm!(LLVMBuildAdd(self.0, one.0, other.0, NO_NAME)))
    }

    pub(crate) fn subtract(&self, from: Value, what: Value) -> Value {
        Value(llvm!(LLVMBuildSub(self.0, from.0, what.0, NO_NAME)))
    }

    pub(crate) fn multiply(&self, one: Value, other: Value) -> Value {
        Value(llvm!(LLVMBuildMul(self.0, one.0, other.0, NO_NAME)))
    }

    /// Whether a number with sign is below zero.
    pub(crate) fn is_negative(&self, number: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntSLT, number, number.type_of().constant(0))
    }

    pub(crate) fn and(&self, one: Value, other: Value) -> Value {
        Value(llvm!(LLVMBuildAnd(self.0, one.0, other.0, NO_NAME)))
    }

    pub(crate) fn or(&self, one: Value, other: Value) -> Value {
        Value(llvm!(LLVMBuildOr(self.0, one.0, other.0, NO_NAME)))
    }

    pub(crate) fn shift_left(&self, value: Value, bits: Value) -> Value {
        Value(llvm!(LLVMBuildShl(self.0, value.0, bits.0, NO_NAME)))
    }

    /// A number without sign, divided by a power of two.
    pub(crate) fn shift_right(&self, value: Value, bits: Value) -> Value {
        Value(llvm!(LLVMBuildLShr(self.0, value.0, bits.0, NO_NAME)))
    }

    pub(crate) fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(llvm!(LLVMBuildSelect(self.0, condition.0, then.0, otherwise.0, NO_NAME)))
    }

    pub(crate) fn equal(&self, one: Value, other: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntEQ, one, other)
    }

    /// Whether one number without sign is below another.
    pub(crate) fn below(&self, one: Value, other: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntULT, one, other)
    }

    fn compare(&self, how: LLVMIntPredicate, one: Value, other: Value) -> Value {
        Value(llvm!(LLVMBuildICmp(self.0, how, one.0, other.0, NO_NAME)))
    }

    /// Goes on at one of two blocks.
    pub(crate) fn go(&self, condition: Value, then: Block, otherwise: Block) {
        llvm!(LLVMBuildCondBr(self.0, condition.0, then.0, otherwise.0));
    }

    /// Goes on at a block.
    pub(crate) fn go_to(&self, block: Block) {
        llvm!(LLVMBuildBr(self.0, block.0));
    }

    pub(crate) fn insert(&self, into: Value, value: Value, index: u32) -> Value {
        Value(llvm!(LLVMBuildInsertValue(self.0, into.0, value.0, index, NO_NAME)))
    }

    /// A number of another width; what is added is zero.
    pub(crate) fn resize(&self, value: Value, to: Type) -> Value {
        let (from_width, to_width) = (value.type_of().int_width(), to.int_width());
        Value(match from_width.cmp(&to_width) {
            std::cmp::Ordering::Less => llvm!(LLVMBuildZExt(self.0, value.0, to.0, NO_NAME)),
            std::cmp::Ordering::Equal => value.0,
            std::cmp::Ordering::Greater => llvm!(LLVMBuildTrunc(self.0, value.0, to.0, NO_NAME)),
        })
    }

    /// A number of another width; what is added is its sign.
    pub(crate) fn resize_signed(&self, value: Value, to: Type) -> Value {
        if value.type_of().int_width() < to.int_width() {
            return Value(llvm!(LLVMBuildSExt(self.0, value.0, to.0, NO_NAME)));
        }
        self.resize(value, to)
    }

    pub(crate) fn bits(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildBitCast(self.0, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn pointer_to_int(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildPtrToInt(self.0, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn int_to_pointer(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildIntToPtr(self.0, value.0, to.0, NO_NAME)))
    }

    /// The same value, of which the optimiser does not know where it comes from.
    pub(crate) fn freeze(&self, value: Value) -> Value {
        Value(llvm!(LLVMBuildFreeze(self.0, value.0, NO_NAME)))
    }

    pub(crate) fn give_back(&self, value: Value) {
        llvm!(LLVMBuildRet(self.0, value.0));
    }

    pub(crate) fn return_nothing(&self) {
        llvm!(LLVMBuildRetVoid(self.0));
    }
}
