//! Values: constants, arguments, instructions and functions.

use std::ffi::c_uint;

use foretell_wire::hook::PREFIX;
use llvm_sys::comdat::LLVMGetComdat;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMLinkage, LLVMTailCallKind, LLVMTypeKind, LLVMVisibility};

use super::place::{DebugLocation, place};
use super::{Block, Opcode, Type, Types, llvm, text};

/// LLVM's index for the attributes of a function itself.
const FUNCTION: c_uint = c_uint::MAX;

unsafe extern "C" {
    fn foretell_own_ways(invoke: LLVMValueRef);
    fn foretell_case_value(switch: LLVMValueRef, index: u32) -> LLVMValueRef;
    fn foretell_copy(function: LLVMValueRef) -> LLVMValueRef;
    fn foretell_is_interposable(function: LLVMValueRef) -> bool;
    fn foretell_turn_into(function: LLVMValueRef, copy: LLVMValueRef, flag: LLVMValueRef);
    fn foretell_touches_memory(call: LLVMValueRef) -> bool;
    /// As in LLVM-C, but without the enumeration, which does not know every operation.
    #[link_name = "LLVMGetAtomicRMWBinOp"]
    fn rmw_code(instruction: LLVMValueRef) -> c_uint;
}

/// Anything that has a type: constants, arguments, instructions, functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value(pub(super) LLVMValueRef);

impl Value {
    pub(crate) fn type_of(self) -> Type {
        Type(llvm!(LLVMTypeOf(self.0)))
    }

    /// The type of what an instruction is about: what a store writes, what there is room for, or else its result.
    pub(crate) fn described_type(self) -> Type {
        match self.opcode() {
            Some(Opcode::LLVMStore) => self.operand(0).type_of(),
            Some(Opcode::LLVMAlloca) => Type(llvm!(LLVMGetAllocatedType(self.0))),
            _ => self.type_of(),
        }
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        let name = llvm!(LLVMGetValueName2(self.0, &mut length));
        text(name, length)
    }

    /// What the module of a function is called.
    pub(crate) fn module_name(self) -> String {
        let mut length = 0;
        let name = llvm!(LLVMGetModuleIdentifier(LLVMGetGlobalParent(self.0), &mut length));
        text(name, length)
    }

    /// The blocks of a function.
    pub(crate) fn blocks(self) -> Vec<Block> {
        let first = llvm!(LLVMGetFirstBasicBlock(self.0));
        let there = |block: LLVMBasicBlockRef| (!block.is_null()).then_some(Block(block));
        let next = |block: &Block| there(llvm!(LLVMGetNextBasicBlock(block.0)));
        std::iter::successors(there(first), next).collect()
    }

    /// All instructions of a function, block by block. A list, because the function is about to be changed.
    pub(crate) fn instructions(self) -> Vec<Value> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// What an instruction uses, but for the blocks that it may lead to.
    pub(crate) fn used_values(self) -> Vec<Value> {
        let count = u32::try_from(llvm!(LLVMGetNumOperands(self.0))).unwrap_or(0);
        (0..count).map(|index| self.operand(index)).filter(|operand| !operand.is_block()).collect()
    }

    fn is_block(self) -> bool {
        llvm!(LLVMValueIsBasicBlock(self.0)) != 0
    }

    /// The blocks that the values of a phi come from.
    pub(crate) fn incoming_blocks(self) -> Vec<Block> {
        let count = llvm!(LLVMCountIncoming(self.0));
        (0..count).map(|index| Block(llvm!(LLVMGetIncomingBlock(self.0, index)))).collect()
    }

    pub(crate) fn is_terminator(self) -> bool {
        !llvm!(LLVMIsATerminatorInst(self.0)).is_null()
    }

    pub(crate) fn is_constant(self) -> bool {
        llvm!(LLVMIsConstant(self.0)) != 0
    }

    /// A function, variable or another name for one.
    pub(crate) fn is_global(self) -> bool {
        !llvm!(LLVMIsAGlobalValue(self.0)).is_null()
    }

    /// The number that a constant is, if it has up to 64 bits. The null pointer is 0.
    pub(crate) fn constant_number(self) -> Option<i64> {
        if !llvm!(LLVMIsAConstantPointerNull(self.0)).is_null() {
            return (self.address_space() == Some(0)).then_some(0);
        }
        let is_number = !llvm!(LLVMIsAConstantInt(self.0)).is_null();
        let is_narrow = (1..=64).contains(&self.type_of().int_width());
        (is_number && is_narrow).then(|| llvm!(LLVMConstIntGetSExtValue(self.0)))
    }

    /// The bits of a constant of the type `float` or `double`. Which bits a NaN has is not known.
    pub(crate) fn constant_float(self) -> Option<u64> {
        if llvm!(LLVMIsAConstantFP(self.0)).is_null() {
            return None;
        }
        let mut is_rounded = 0;
        let number = llvm!(LLVMConstRealGetDouble(self.0, &mut is_rounded));
        match self.type_of().kind() {
            _ if number.is_nan() => None,
            LLVMTypeKind::LLVMDoubleTypeKind => Some(number.to_bits()),
            #[expect(clippy::cast_possible_truncation, reason = "it was a float before")]
            LLVMTypeKind::LLVMFloatTypeKind => Some(u64::from((number as f32).to_bits())),
            _ => None,
        }
    }

    /// Whether this computes an address within something, as an instruction or as a constant.
    pub(crate) fn is_address_within(self) -> bool {
        let is_constant = !llvm!(LLVMIsAConstantExpr(self.0)).is_null();
        let is_address = |opcode| opcode == Opcode::LLVMGetElementPtr;
        self.opcode().is_some_and(is_address) || is_constant && is_address(llvm!(LLVMGetConstOpcode(self.0)))
    }

    /// The type of what the first index of a `getelementptr` counts.
    pub(crate) fn indexed_type(self) -> Type {
        Type(llvm!(LLVMGetGEPSourceElementType(self.0)))
    }

    /// How an `icmp` or `fcmp` compares, as LLVM's code.
    pub(crate) fn predicate(self) -> Option<i64> {
        match self.opcode()? {
            Opcode::LLVMICmp => Some(llvm!(LLVMGetICmpPredicate(self.0)) as i64),
            Opcode::LLVMFCmp => Some(llvm!(LLVMGetFCmpPredicate(self.0)) as i64),
            _ => None,
        }
    }

    /// In which ways an instruction on floats may be computed less exactly than it says, as LLVM's bits; 0 for most.
    pub(crate) fn liberties(self) -> i64 {
        let may_have = llvm!(LLVMCanValueUseFastMathFlags(self.0)) != 0;
        if may_have { i64::from(llvm!(LLVMGetFastMathFlags(self.0))) } else { 0 }
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let (count, first) = (llvm!(LLVMGetNumIndices(self.0)), llvm!(LLVMGetIndices(self.0)));
        // SAFETY: LLVM keeps that many indices there, as long as the instruction lives.
        (0..count as usize).map(|index| unsafe { *first.add(index) }).collect()
    }

    /// The type of one element that an `alloca` makes room for.
    pub(crate) fn allocated_type(self) -> Type {
        Type(llvm!(LLVMGetAllocatedType(self.0)))
    }

    /// The numbers that a switch knows, in the order of its ways, of which the first is for all others.
    pub(crate) fn cases(self) -> Vec<Value> {
        let ways = llvm!(LLVMGetNumSuccessors(self.0));
        (1..ways).map(|way| Value(llvm!(foretell_case_value(self.0, way - 1)))).collect()
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        let count = llvm!(LLVMCountParams(self.0));
        (0..count).map(|index| Value(llvm!(LLVMGetParam(self.0, index)))).collect()
    }

    /// The instruction's opcode, if this is an instruction.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        self.is_instruction().then(|| llvm!(LLVMGetInstructionOpcode(self.0)))
    }

    pub(crate) fn is_instruction(self) -> bool {
        !llvm!(LLVMIsAInstruction(self.0)).is_null()
    }

    pub(crate) fn is_function(self) -> bool {
        !llvm!(LLVMIsAFunction(self.0)).is_null()
    }

    fn is_global_variable(self) -> bool {
        !llvm!(LLVMIsAGlobalVariable(self.0)).is_null()
    }

    /// A variable that is never written.
    pub(crate) fn is_constant_global(self) -> bool {
        self.is_global_variable() && llvm!(LLVMIsGlobalConstant(self.0)) != 0
    }

    /// Whether a function or variable has its body or content here, for good.
    pub(crate) fn is_defined(self) -> bool {
        let linkage = llvm!(LLVMGetLinkage(self.0));
        let declared = llvm!(LLVMIsDeclaration(self.0)) != 0;
        !declared && linkage != LLVMLinkage::LLVMAvailableExternallyLinkage
    }

    /// Whether the linker may take another function or variable instead, which need not be the same.
    pub(crate) fn is_replaceable(self) -> bool {
        matches!(
            llvm!(LLVMGetLinkage(self.0)),
            LLVMLinkage::LLVMWeakAnyLinkage
                | LLVMLinkage::LLVMLinkOnceAnyLinkage
                | LLVMLinkage::LLVMCommonLinkage
                | LLVMLinkage::LLVMExternalWeakLinkage
        )
    }

    /// Whether other modules may have the same function, of which the linker takes one. What is always inlined is no
    /// matter of it.
    pub(crate) fn is_shared(self) -> bool {
        let linkage = llvm!(LLVMGetLinkage(self.0));
        matches!(linkage, LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMWeakODRLinkage)
            && !self.has_attribute("alwaysinline")
    }

    /// A function of C++ whose body is here to be looked at, while calls go to another module, becomes one of this
    /// module. Not so in C, where the body may call the very function that it stands for: glibc's checked `memcpy`
    /// does.
    pub(crate) fn adopt(self) {
        let is_cpp = self.name().starts_with("_Z");
        if is_cpp && llvm!(LLVMGetLinkage(self.0)) == LLVMLinkage::LLVMAvailableExternallyLinkage {
            llvm!(LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage));
            llvm!(LLVMSetVisibility(self.0, LLVMVisibility::LLVMDefaultVisibility));
        }
    }

    /// A variable begins at a multiple of so many bytes.
    pub(crate) fn align(self, bytes: u64) {
        llvm!(LLVMSetAlignment(self.0, c_uint::try_from(bytes).unwrap_or(1)));
    }

    /// Puts a constant into memory right before the first instruction of a function.
    pub(crate) fn put_in_front(self, constant: Value) {
        if llvm!(LLVMHasPrefixData(self.0)) == 0 {
            llvm!(LLVMSetPrefixData(self.0, constant.0));
        }
    }

    /// The number that stands in memory right before the function, if there is one.
    pub(crate) fn number_in_front(self) -> Option<u64> {
        let constant = (llvm!(LLVMHasPrefixData(self.0)) != 0).then(|| llvm!(LLVMGetPrefixData(self.0)))?;
        (!llvm!(LLVMIsAConstantInt(constant)).is_null()).then(|| llvm!(LLVMConstIntGetZExtValue(constant)))
    }

    /// Whether the function's address is used for anything but direct calls and hooks.
    pub(crate) fn is_handed_on(self) -> bool {
        let calls = |user: Value| {
            matches!(user.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke))
                && (user.callee().name().starts_with(PREFIX)
                    || user.callee() == self && !user.arguments().contains(&self))
        };
        !self.users().into_iter().all(calls)
    }

    /// Whether only this module can name a function or variable.
    pub(crate) fn is_local(self) -> bool {
        let linkage = llvm!(LLVMGetLinkage(self.0));
        matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
    }

    /// A copy of a function that nothing calls yet; none if there can be only one of it.
    pub(crate) fn copy(self) -> Option<Value> {
        let copy = llvm!(foretell_copy(self.0));
        (!copy.is_null()).then_some(Value(copy))
    }

    /// Whether a call of the function may come to another one than the one in this module.
    pub(crate) fn is_interposable(self) -> bool {
        llvm!(foretell_is_interposable(self.0))
    }

    /// The function goes on as its copy if the flag is 0.
    pub(crate) fn turn_into(self, copy: Value, flag: Value) {
        llvm!(foretell_turn_into(self.0, copy.0, flag.0));
    }

    /// The function takes the place of its copy, which is no more.
    pub(crate) fn give_way_to(self, original: Value) {
        llvm!(LLVMReplaceAllUsesWith(self.0, original.0));
        llvm!(LLVMDeleteFunction(self.0));
    }

    /// Whether a variable is one for all threads, and the linker does not drop the symbol under which we know it.
    pub(super) fn has_plain_address(self) -> bool {
        let special = self.name().starts_with("llvm.") || llvm!(LLVMIsThreadLocal(self.0)) != 0;
        !special && !self.is_droppable() && self.address_space() == Some(0)
    }

    /// Whether the linker may drop this function or variable, so that no other code may name it.
    fn is_droppable(self) -> bool {
        self.is_local() && !llvm!(LLVMGetComdat(self.0)).is_null()
    }

    /// The type of a variable's content.
    pub(crate) fn content_type(self) -> Type {
        Type(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    /// The address space that a pointer points into, if this is a pointer.
    pub(crate) fn address_space(self) -> Option<u32> {
        let of = self.type_of();
        (of.kind() == LLVMTypeKind::LLVMPointerTypeKind).then(|| llvm!(LLVMGetPointerAddressSpace(of.0)))
    }

    pub(crate) fn operand(self, index: u32) -> Value {
        Value(llvm!(LLVMGetOperand(self.0, index)))
    }

    /// Those who use this value.
    pub(crate) fn users(self) -> Vec<Value> {
        let mut found = Vec::new();
        let mut using = llvm!(LLVMGetFirstUse(self.0));
        while !using.is_null() {
            found.push(Value(llvm!(LLVMGetUser(using))));
            using = llvm!(LLVMGetNextUse(using));
        }
        found
    }

    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr))
    }

    /// What a call or invoke calls.
    pub(crate) fn callee(self) -> Value {
        Value(llvm!(LLVMGetCalledValue(self.0)))
    }

    /// Whether a direct call has the type of the function that it calls.
    pub(crate) fn calls_as_declared(self) -> bool {
        let callee = self.callee();
        callee.is_function() && llvm!(LLVMGetCalledFunctionType(self.0)) == callee.content_type().0
    }

    /// Has a call call something else, which is its last operand.
    pub(crate) fn set_callee(self, callee: Value) {
        let count = u32::try_from(llvm!(LLVMGetNumOperands(self.0))).unwrap_or(0);
        self.set_operand(count.saturating_sub(1), callee);
    }

    /// What a call or invoke passes.
    pub(crate) fn arguments(self) -> Vec<Value> {
        let count = llvm!(LLVMGetNumArgOperands(self.0));
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// The type of what a call passes by value behind the pointer at this position, if it does so.
    pub(crate) fn passed_by_value(self, index: u32) -> Option<Type> {
        let found = llvm!(LLVMGetCallSiteEnumAttribute(self.0, index + 1, attribute("byval")));
        (!found.is_null()).then(|| Type(llvm!(LLVMGetTypeAttributeValue(found))))
    }

    /// Whether a call passes anything by value behind a pointer.
    pub(crate) fn passes_by_value(self) -> bool {
        (0..).zip(self.arguments()).any(|(index, _)| self.passed_by_value(index).is_some())
    }

    /// Whether this is a division that may not be possible: by zero, or of the smallest number by -1.
    pub(crate) fn may_divide_in_vain(self) -> bool {
        let divides = matches!(
            self.opcode(),
            Some(Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem)
        );
        divides && self.operand(1).constant_number().is_none_or(|divisor| divisor == 0 || divisor == -1)
    }

    /// Whether a call may read or write memory that the program can name.
    pub(crate) fn touches_memory(self) -> bool {
        llvm!(foretell_touches_memory(self.0))
    }

    pub(crate) fn set_operand(self, index: u32, value: Value) {
        llvm!(LLVMSetOperand(self.0, index, value.0));
    }

    /// Whether this is one of LLVM's own functions, which stand for instructions.
    pub(crate) fn is_intrinsic(self) -> bool {
        self.is_function() && llvm!(LLVMGetIntrinsicID(self.0)) != 0
    }

    /// The text of inline assembly, if this is some.
    pub(crate) fn assembly(self) -> Option<String> {
        if llvm!(LLVMIsAInlineAsm(self.0)).is_null() {
            return None;
        }
        let mut length = 0;
        let start = llvm!(LLVMGetInlineAsmAsmString(self.0, &mut length));
        Some(text(start, length))
    }

    /// The content of a constant that holds text.
    pub(crate) fn constant_text(self) -> Option<String> {
        if !self.is_constant_global() || !self.is_defined() {
            return None;
        }
        let content = llvm!(LLVMGetInitializer(self.0));
        if content.is_null() {
            return None;
        }
        // A text of zeros alone, such as the empty one, is not kept byte by byte; whatever else is no row of numbers
        // must not be asked whether it is a text.
        if !llvm!(LLVMIsAConstantAggregateZero(content)).is_null() {
            return Some(String::new());
        }
        if llvm!(LLVMIsAConstantDataSequential(content)).is_null()
            || llvm!(LLVMIsConstantString(content)) == 0
        {
            return None;
        }
        let mut length = 0;
        let start = llvm!(LLVMGetAsString(content, &mut length));
        Some(text(start, length))
    }

    /// Whether nothing may stand between this call and the return after it.
    pub(crate) fn is_last_of_function(self) -> bool {
        let is_call = self.opcode() == Some(Opcode::LLVMCall);
        is_call && llvm!(LLVMGetTailCallKind(self.0)) == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// Where a function can still do something before this return: a call in place of a return stays right before it.
    pub(crate) fn before_return(self) -> Value {
        let before = llvm!(LLVMGetPreviousInstruction(self.0));
        let tail = (!before.is_null()).then_some(Value(before)).filter(|before| before.is_last_of_function());
        tail.unwrap_or(self)
    }

    /// What stands after an instruction, unless it is the last one of its block.
    pub(crate) fn next_in_block(self) -> Option<Value> {
        let next = llvm!(LLVMGetNextInstruction(self.0));
        (!next.is_null()).then_some(Value(next))
    }

    /// The block that an instruction stands in.
    pub(crate) fn block(self) -> Block {
        Block(llvm!(LLVMGetInstructionParent(self.0)))
    }

    /// The blocks that an instruction may lead to, if it is the last one of its block.
    pub(crate) fn successors(self) -> Vec<Block> {
        let is_last = !llvm!(LLVMIsATerminatorInst(self.0)).is_null();
        let count = if is_last { llvm!(LLVMGetNumSuccessors(self.0)) } else { 0 };
        (0..count).map(|index| Block(llvm!(LLVMGetSuccessor(self.0, index)))).collect()
    }

    /// Makes sure that the blocks at which an invoke goes on are reached from nowhere else. Lists of instructions
    /// that were made before are worth nothing afterwards.
    pub(crate) fn own_ways(self) {
        if self.opcode() == Some(Opcode::LLVMInvoke) {
            llvm!(foretell_own_ways(self.0));
        }
    }

    /// The first instruction of a function.
    pub(crate) fn first_instruction(self) -> Value {
        Value(llvm!(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(self.0))))
    }

    /// What a branch or switch decides by, if it decides anything.
    pub(crate) fn condition(self) -> Option<Value> {
        match self.opcode()? {
            Opcode::LLVMBr => {
                let conditional = llvm!(LLVMIsConditional(self.0)) != 0;
                conditional.then(|| Value(llvm!(LLVMGetCondition(self.0))))
            }
            Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => Some(self.operand(0)),
            _ => None,
        }
    }

    /// The order of an atomic load, store, read-modify-write or fence.
    pub(crate) fn ordering(self) -> LLVMAtomicOrdering {
        llvm!(LLVMGetOrdering(self.0))
    }

    /// The orders of a compare-exchange, when it succeeds and when it fails.
    pub(crate) fn exchange_orderings(self) -> (LLVMAtomicOrdering, LLVMAtomicOrdering) {
        (llvm!(LLVMGetCmpXchgSuccessOrdering(self.0)), llvm!(LLVMGetCmpXchgFailureOrdering(self.0)))
    }

    /// The code of what a read-modify-write does.
    pub(crate) fn update_code(self) -> u32 {
        llvm!(rmw_code(self.0))
    }

    /// Whether a fence only concerns signal handlers of its own thread.
    pub(crate) fn is_single_thread(self) -> bool {
        llvm!(LLVMIsAtomicSingleThread(self.0)) != 0
    }

    /// Where in the source an instruction comes from: its own place first, then those of the calls that were inlined.
    pub(crate) fn places(self) -> Vec<DebugLocation> {
        let there = |location: LLVMMetadataRef| (!location.is_null()).then_some(location);
        let first = there(llvm!(LLVMInstructionGetDebugLoc(self.0)));
        let caller = |&location: &LLVMMetadataRef| there(llvm!(LLVMDILocationGetInlinedAt(location)));
        std::iter::successors(first, caller).map(place).collect()
    }

    /// Whether a function has this attribute.
    pub(crate) fn has_attribute(self, name: &str) -> bool {
        !llvm!(LLVMGetEnumAttributeAtIndex(self.0, FUNCTION, attribute(name))).is_null()
    }

    /// The function is compiled quickly, and for itself: the optimiser leaves it alone.
    pub(crate) fn compile_quickly(self) {
        for other in ["optsize", "minsize"] {
            self.remove_attribute(other);
        }
        for attribute in ["noinline", "optnone"] {
            self.add_attribute(attribute);
        }
    }

    pub(crate) fn remove_attribute(self, name: &str) {
        llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, attribute(name)));
    }

    /// Removes an attribute from a call.
    pub(crate) fn remove_call_attribute(self, name: &str) {
        llvm!(LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, attribute(name)));
    }

    pub(crate) fn add_attribute(self, name: &str) {
        self.add_numbered_attribute(name, 0);
    }

    pub(crate) fn add_numbered_attribute(self, name: &str, number: u64) {
        let of = llvm!(LLVMGetTypeContext(LLVMTypeOf(self.0)));
        let made = llvm!(LLVMCreateEnumAttribute(of, attribute(name), number));
        llvm!(LLVMAddAttributeAtIndex(self.0, FUNCTION, made));
    }

    /// Puts another value in the place of this instruction, which is no more.
    pub(crate) fn replace_with(self, other: Value) {
        llvm!(LLVMReplaceAllUsesWith(self.0, other.0));
        self.erase();
    }

    pub(crate) fn erase(self) {
        llvm!(LLVMInstructionEraseFromParent(self.0));
    }

    /// How far an address of [`Value::byte_at`] is from the beginning.
    pub(crate) fn constant_offset(self) -> u64 {
        self.operand(1).constant_number().map_or(0, i64::cast_unsigned)
    }

    /// The address of a byte in this constant array of bytes.
    pub(crate) fn byte_at(self, index: u64, types: Types) -> Value {
        let mut index = types.int64.constant(index).0;
        Value(llvm!(LLVMConstGEP2(types.byte.0, self.0, &mut index, 1)))
    }
}

fn attribute(name: &str) -> c_uint {
    llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
}
