//! LLVM's C interface, as far as it is needed, behind safe functions.
//!
//! Safety of all of them: handles are made from the module that LLVM hands to the pass and from what is reached from
//! it. They are used only while the pass runs, by its one thread, and not after what they stand for was erased. Functions
//! that are meant for one kind of value check that they got it, or LLVM does.

use std::ffi::{CString, c_char, c_uint};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use foretell_wire::hook::PREFIX;
use llvm_sys::comdat::LLVMGetComdat;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{
    LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement, LLVMStoreSizeOfType,
};
use llvm_sys::{
    LLVMAtomicOrdering, LLVMIntPredicate, LLVMLinkage, LLVMTailCallKind, LLVMTypeKind, LLVMVisibility,
};

pub(crate) use llvm_sys::LLVMOpcode as Opcode;

unsafe extern "C" {
    fn foretell_add_constructor(module: LLVMModuleRef, function: LLVMValueRef);
    fn foretell_own_ways(invoke: LLVMValueRef);
    fn foretell_touches_memory(call: LLVMValueRef) -> bool;
    fn foretell_function_of(scope: LLVMMetadataRef, length: *mut usize) -> *const c_char;
    /// As in LLVM-C, but without the enumeration, which does not know every operation.
    #[link_name = "LLVMGetAtomicRMWBinOp"]
    fn rmw_code(instruction: LLVMValueRef) -> c_uint;
}

const NO_NAME: *const c_char = c"".as_ptr();
/// LLVM's index for the attributes of a function itself.
const FUNCTION: c_uint = c_uint::MAX;

/// A translation unit.
#[derive(Clone, Copy)]
pub(crate) struct Module(LLVMModuleRef);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Type(LLVMTypeRef);

/// Anything that has a type: constants, arguments, instructions, functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value(LLVMValueRef);

/// Instructions that are executed one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block(LLVMBasicBlockRef);

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// The function in the source, as the linker knows it.
    pub(crate) function: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Whether it is in the libraries that come with Rust.
    pub(crate) is_in_library: bool,
}

impl Module {
    pub(crate) fn new(module: LLVMModuleRef) -> Module {
        Module(module)
    }

    /// The functions that have a body which ends up in the program.
    pub(crate) fn defined_functions(self) -> Vec<Value> {
        self.functions().into_iter().filter(|function| function.is_defined()).collect()
    }

    /// All functions, also those that are only declared.
    pub(crate) fn functions(self) -> Vec<Value> {
        let first = unsafe { LLVMGetFirstFunction(self.0) };
        chain(first, |function| unsafe { LLVMGetNextFunction(function) }).collect()
    }

    /// The variables that live at one address, which the linker can name.
    pub(crate) fn addressable_globals(self) -> Vec<Value> {
        let first = unsafe { LLVMGetFirstGlobal(self.0) };
        chain(first, |global| unsafe { LLVMGetNextGlobal(global) })
            .filter(|global| {
                global.is_defined() && !global.is_constant_global() && global.has_plain_address()
            })
            .collect()
    }

    /// The descriptions of what the module was compiled from, as LLVM writes them.
    pub(crate) fn compile_units(self) -> Vec<String> {
        let name = c"llvm.dbg.cu".as_ptr();
        let length = unsafe { LLVMGetNamedMetadataNumOperands(self.0, name) } as usize;
        let mut units: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); length];
        unsafe { LLVMGetNamedMetadataOperands(self.0, name, units.as_mut_ptr()) };
        let written = |unit| unsafe {
            let start = LLVMPrintValueToString(unit);
            let found = text(start, std::ffi::CStr::from_ptr(start).to_bytes().len());
            LLVMDisposeMessage(start);
            found
        };
        units.into_iter().filter(|unit| !unit.is_null()).map(written).collect()
    }

    pub(crate) fn has_function(self, name: &str) -> bool {
        CString::new(name).is_ok_and(|name| !unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) }.is_null())
    }

    /// The function with this name; it is declared if it is not there.
    pub(crate) fn function(self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let mut parameters: Vec<_> = parameters.iter().map(|parameter| parameter.0).collect();
        let count = count(parameters.len());
        let signature = unsafe { LLVMFunctionType(result.0, parameters.as_mut_ptr(), count, 0) };
        let name = CString::new(name).unwrap_or_default();
        let mut function = unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) };
        if function.is_null() {
            function = unsafe { LLVMAddFunction(self.0, name.as_ptr(), signature) };
        }
        (Value(function), Type(signature))
    }

    /// Adds a constant that only this module sees.
    pub(crate) fn private_constant(self, content: Value) -> Value {
        let global = unsafe { LLVMAddGlobal(self.0, LLVMTypeOf(content.0), NO_NAME) };
        unsafe {
            LLVMSetInitializer(global, content.0);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
        }
        Value(global)
    }

    /// Stands for a constant that is not known yet.
    pub(crate) fn placeholder(self) -> Value {
        Value(unsafe { LLVMAddGlobal(self.0, self.types().byte.0, NO_NAME) })
    }

    /// Puts the constant where its placeholder was used.
    pub(crate) fn settle(self, placeholder: Value, constant: Value) {
        unsafe {
            LLVMReplaceAllUsesWith(placeholder.0, constant.0);
            LLVMDeleteGlobal(placeholder.0);
        }
    }

    /// Adds a function that only this module has, and whose calls become its body.
    pub(crate) fn inline_function(self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let function = self.function(name, result, parameters);
        unsafe { LLVMSetLinkage(function.0.0, LLVMLinkage::LLVMInternalLinkage) };
        function.0.add_attribute("alwaysinline");
        function.0.add_attribute("nounwind");
        function
    }

    /// Adds a function without parameters that runs before the program's own constructors.
    pub(crate) fn add_constructor(self, name: &str) -> Value {
        let (function, _) = self.function(name, self.types().void, &[]);
        unsafe {
            LLVMSetLinkage(function.0, LLVMLinkage::LLVMInternalLinkage);
            foretell_add_constructor(self.0, function.0);
        }
        function
    }

    pub(crate) fn types(self) -> Types {
        let context = unsafe { LLVMGetModuleContext(self.0) };
        unsafe {
            Types {
                void: Type(LLVMVoidTypeInContext(context)),
                pointer: Type(LLVMPointerTypeInContext(context, 0)),
                byte: Type(LLVMInt8TypeInContext(context)),
                int16: Type(LLVMInt16TypeInContext(context)),
                int32: Type(LLVMInt32TypeInContext(context)),
                int64: Type(LLVMInt64TypeInContext(context)),
            }
        }
    }

    /// How many bytes a store of the type writes.
    pub(crate) fn store_size(self, of: Type) -> u64 {
        unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.0), of.0) }
    }

    /// How many bytes lie between the beginnings of two neighbours in an array of the type, if that is known by now.
    pub(crate) fn step_size(self, of: Type) -> Option<i64> {
        let is_known = !matches!(
            of.kind(),
            LLVMTypeKind::LLVMScalableVectorTypeKind | LLVMTypeKind::LLVMTargetExtTypeKind
        );
        let size = || unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.0), of.0) };
        is_known.then(size).and_then(|size| i64::try_from(size).ok())
    }

    /// How many bytes there are before a member of a structure.
    pub(crate) fn member_offset(self, of: Type, member: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.0), of.0, member) }
    }

    pub(crate) fn builder(self) -> Builder {
        Builder(unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(self.0)) })
    }

    /// The bytes as an array.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Value {
        let context = unsafe { LLVMGetModuleContext(self.0) };
        Value(unsafe { LLVMConstStringInContext2(context, bytes.as_ptr().cast(), bytes.len(), 1) })
    }

    /// The pointers as an array.
    pub(crate) fn pointers(self, pointers: &[Value]) -> Value {
        let mut pointers: Vec<_> = pointers.iter().map(|pointer| pointer.0).collect();
        let length = pointers.len() as u64;
        Value(unsafe { LLVMConstArray2(self.types().pointer.0, pointers.as_mut_ptr(), length) })
    }
}

/// The types that hooks speak.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub(crate) void: Type,
    pub(crate) pointer: Type,
    pub(crate) byte: Type,
    pub(crate) int16: Type,
    pub(crate) int32: Type,
    pub(crate) int64: Type,
}

impl Type {
    pub(crate) fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// How many bits an integer has; 0 for other types.
    pub(crate) fn int_width(self) -> u32 {
        match self.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind => unsafe { LLVMGetIntTypeWidth(self.0) },
            _ => 0,
        }
    }

    /// The type as LLVM writes it.
    pub(crate) fn text(self) -> String {
        unsafe {
            let start = LLVMPrintTypeToString(self.0);
            let found = text(start, std::ffi::CStr::from_ptr(start).to_bytes().len());
            LLVMDisposeMessage(start);
            found
        }
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// The type of what is at this index of a structure or array; none if this is neither, or has no such member.
    pub(crate) fn member(self, index: u32) -> Option<Type> {
        match self.kind() {
            LLVMTypeKind::LLVMStructTypeKind if index < unsafe { LLVMCountStructElementTypes(self.0) } => {
                Some(Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }))
            }
            LLVMTypeKind::LLVMArrayTypeKind => Some(Type(unsafe { LLVMGetElementType(self.0) })),
            _ => None,
        }
    }

    pub(crate) fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// The constant of this integer type.
    pub(crate) fn constant(self, number: u64) -> Value {
        Value(unsafe { LLVMConstInt(self.0, number, 0) })
    }

    /// The null pointer of this pointer type.
    pub(crate) fn null(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// A value of the type that nobody looks at.
    pub(crate) fn poison(self) -> Value {
        Value(unsafe { LLVMGetPoison(self.0) })
    }
}

impl Value {
    pub(crate) fn type_of(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// The type of what an instruction is about: what a store writes, what there is room for, or else its result.
    pub(crate) fn described_type(self) -> Type {
        match self.opcode() {
            Some(Opcode::LLVMStore) => self.operand(0).type_of(),
            Some(Opcode::LLVMAlloca) => Type(unsafe { LLVMGetAllocatedType(self.0) }),
            _ => self.type_of(),
        }
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        let name = unsafe { LLVMGetValueName2(self.0, &mut length) };
        text(name, length)
    }

    /// The blocks of a function.
    pub(crate) fn blocks(self) -> Vec<Block> {
        let first = unsafe { LLVMGetFirstBasicBlock(self.0) };
        let there = |block: LLVMBasicBlockRef| (!block.is_null()).then_some(Block(block));
        let next = |block: &Block| there(unsafe { LLVMGetNextBasicBlock(block.0) });
        std::iter::successors(there(first), next).collect()
    }

    /// All instructions of a function, block by block. A list, because the function is about to be changed.
    pub(crate) fn instructions(self) -> Vec<Value> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// What an instruction uses, but for the blocks that it may lead to.
    pub(crate) fn used_values(self) -> Vec<Value> {
        let count = u32::try_from(unsafe { LLVMGetNumOperands(self.0) }).unwrap_or(0);
        (0..count).map(|index| self.operand(index)).filter(|operand| !operand.is_block()).collect()
    }

    fn is_block(self) -> bool {
        unsafe { LLVMValueIsBasicBlock(self.0) != 0 }
    }

    /// The blocks that the values of a phi come from.
    pub(crate) fn incoming_blocks(self) -> Vec<Block> {
        let count = unsafe { LLVMCountIncoming(self.0) };
        (0..count).map(|index| Block(unsafe { LLVMGetIncomingBlock(self.0, index) })).collect()
    }

    pub(crate) fn is_terminator(self) -> bool {
        !unsafe { LLVMIsATerminatorInst(self.0) }.is_null()
    }

    pub(crate) fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// A function, variable or another name for one.
    pub(crate) fn is_global(self) -> bool {
        !unsafe { LLVMIsAGlobalValue(self.0) }.is_null()
    }

    /// The number that a constant is, if it has up to 64 bits. The null pointer is 0.
    pub(crate) fn constant_number(self) -> Option<i64> {
        if !unsafe { LLVMIsAConstantPointerNull(self.0) }.is_null() {
            return (self.address_space() == Some(0)).then_some(0);
        }
        let is_number = !unsafe { LLVMIsAConstantInt(self.0) }.is_null();
        let is_narrow = (1..=64).contains(&self.type_of().int_width());
        (is_number && is_narrow).then(|| unsafe { LLVMConstIntGetSExtValue(self.0) })
    }

    /// The bits of a constant of the type `float` or `double`. Of what is not a number nobody can say which bits it has.
    pub(crate) fn constant_float(self) -> Option<u64> {
        if unsafe { LLVMIsAConstantFP(self.0) }.is_null() {
            return None;
        }
        let mut is_rounded = 0;
        let number = unsafe { LLVMConstRealGetDouble(self.0, &mut is_rounded) };
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
        let is_constant = !unsafe { LLVMIsAConstantExpr(self.0) }.is_null();
        let is_address = |opcode| opcode == Opcode::LLVMGetElementPtr;
        self.opcode().is_some_and(is_address)
            || is_constant && is_address(unsafe { LLVMGetConstOpcode(self.0) })
    }

    /// The type of what the first index of a `getelementptr` counts.
    pub(crate) fn indexed_type(self) -> Type {
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// How an `icmp` or `fcmp` compares, as LLVM's code.
    pub(crate) fn predicate(self) -> Option<i64> {
        match self.opcode()? {
            Opcode::LLVMICmp => Some(unsafe { LLVMGetICmpPredicate(self.0) } as i64),
            Opcode::LLVMFCmp => Some(unsafe { LLVMGetFCmpPredicate(self.0) } as i64),
            _ => None,
        }
    }

    /// In which ways an instruction on floats may be computed less exactly than it says, as LLVM's bits; 0 for most.
    pub(crate) fn liberties(self) -> i64 {
        let may_have = unsafe { LLVMCanValueUseFastMathFlags(self.0) != 0 };
        if may_have { i64::from(unsafe { LLVMGetFastMathFlags(self.0) }) } else { 0 }
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let (count, first) = unsafe { (LLVMGetNumIndices(self.0), LLVMGetIndices(self.0)) };
        (0..count as usize).map(|index| unsafe { *first.add(index) }).collect()
    }

    /// The type of one element that an `alloca` makes room for.
    pub(crate) fn allocated_type(self) -> Type {
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// The numbers that a switch knows, in the order of its ways, of which the first is for all others.
    pub(crate) fn cases(self) -> Vec<Value> {
        let ways = unsafe { LLVMGetNumSuccessors(self.0) };
        (1..ways).map(|way| Value(unsafe { LLVMGetSwitchCaseValue(self.0, way) })).collect()
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count).map(|index| Value(unsafe { LLVMGetParam(self.0, index) })).collect()
    }

    /// The instruction's opcode, if this is an instruction.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        self.is_instruction().then(|| unsafe { LLVMGetInstructionOpcode(self.0) })
    }

    pub(crate) fn is_instruction(self) -> bool {
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    pub(crate) fn is_function(self) -> bool {
        !unsafe { LLVMIsAFunction(self.0) }.is_null()
    }

    fn is_global_variable(self) -> bool {
        !unsafe { LLVMIsAGlobalVariable(self.0) }.is_null()
    }

    /// A variable that is never written.
    pub(crate) fn is_constant_global(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// Whether a function or variable has its body or content here, for good.
    pub(crate) fn is_defined(self) -> bool {
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        let declared = unsafe { LLVMIsDeclaration(self.0) != 0 };
        !declared && linkage != LLVMLinkage::LLVMAvailableExternallyLinkage
    }

    /// Whether the linker may take another function or variable instead, which need not be the same.
    pub(crate) fn is_replaceable(self) -> bool {
        matches!(
            unsafe { LLVMGetLinkage(self.0) },
            LLVMLinkage::LLVMWeakAnyLinkage
                | LLVMLinkage::LLVMLinkOnceAnyLinkage
                | LLVMLinkage::LLVMCommonLinkage
                | LLVMLinkage::LLVMExternalWeakLinkage
        )
    }

    /// Whether other modules may have the same function, of which the linker takes one. What is always inlined is no matter of it.
    pub(crate) fn is_shared(self) -> bool {
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        matches!(linkage, LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMWeakODRLinkage)
            && !self.has_attribute("alwaysinline")
    }

    /// A function of C++ whose body is here to be looked at, while calls go to another module, becomes one of this module.
    /// Not so in C, where the body may call the very function that it stands for: glibc's checked `memcpy` does.
    pub(crate) fn adopt(self) {
        let is_cpp = self.name().starts_with("_Z");
        unsafe {
            if is_cpp && LLVMGetLinkage(self.0) == LLVMLinkage::LLVMAvailableExternallyLinkage {
                LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage);
                LLVMSetVisibility(self.0, LLVMVisibility::LLVMDefaultVisibility);
            }
        }
    }

    /// A variable begins at a multiple of so many bytes.
    pub(crate) fn align(self, bytes: u64) {
        unsafe { LLVMSetAlignment(self.0, c_uint::try_from(bytes).unwrap_or(1)) }
    }

    /// Puts a constant into memory right before the first instruction of a function.
    pub(crate) fn put_in_front(self, constant: Value) {
        unsafe {
            if LLVMHasPrefixData(self.0) == 0 {
                LLVMSetPrefixData(self.0, constant.0);
            }
        }
    }

    /// The number that stands in memory right before the function, if there is one.
    pub(crate) fn number_in_front(self) -> Option<u64> {
        let constant = unsafe { (LLVMHasPrefixData(self.0) != 0).then(|| LLVMGetPrefixData(self.0)) }?;
        unsafe { (!LLVMIsAConstantInt(constant).is_null()).then(|| LLVMConstIntGetZExtValue(constant)) }
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

    fn is_local(self) -> bool {
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
    }

    /// Whether a variable is one for all threads, and the linker does not drop the symbol under which we know it.
    fn has_plain_address(self) -> bool {
        let special = self.name().starts_with("llvm.") || unsafe { LLVMIsThreadLocal(self.0) != 0 };
        !special && !self.is_droppable() && self.address_space() == Some(0)
    }

    /// Whether the linker may drop this function or variable, so that nobody else may name it.
    fn is_droppable(self) -> bool {
        self.is_local() && !unsafe { LLVMGetComdat(self.0) }.is_null()
    }

    /// The type of a variable's content.
    pub(crate) fn content_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// The address space that a pointer points into, if this is a pointer.
    pub(crate) fn address_space(self) -> Option<u32> {
        let of = self.type_of();
        (of.kind() == LLVMTypeKind::LLVMPointerTypeKind).then(|| unsafe { LLVMGetPointerAddressSpace(of.0) })
    }

    pub(crate) fn operand(self, index: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    /// Those who use this value.
    pub(crate) fn users(self) -> Vec<Value> {
        let mut found = Vec::new();
        let mut using = unsafe { LLVMGetFirstUse(self.0) };
        while !using.is_null() {
            found.push(Value(unsafe { LLVMGetUser(using) }));
            using = unsafe { LLVMGetNextUse(using) };
        }
        found
    }

    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr))
    }

    /// What a call or invoke calls.
    pub(crate) fn callee(self) -> Value {
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// What a call or invoke passes.
    pub(crate) fn arguments(self) -> Vec<Value> {
        let count = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// The type of what a call passes by value behind the pointer at this position, if it does so.
    pub(crate) fn passed_by_value(self, index: u32) -> Option<Type> {
        let found = unsafe { LLVMGetCallSiteEnumAttribute(self.0, index + 1, attribute("byval")) };
        (!found.is_null()).then(|| Type(unsafe { LLVMGetTypeAttributeValue(found) }))
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
        unsafe { foretell_touches_memory(self.0) }
    }

    pub(crate) fn set_operand(self, index: u32, value: Value) {
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    /// Whether this is one of LLVM's own functions, which stand for instructions.
    pub(crate) fn is_intrinsic(self) -> bool {
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.0) != 0 }
    }

    /// The text of inline assembly, if this is some.
    pub(crate) fn assembly(self) -> Option<String> {
        if unsafe { LLVMIsAInlineAsm(self.0) }.is_null() {
            return None;
        }
        let mut length = 0;
        let start = unsafe { LLVMGetInlineAsmAsmString(self.0, &mut length) };
        Some(text(start, length))
    }

    /// The content of a constant that holds text.
    pub(crate) fn constant_text(self) -> Option<String> {
        if !self.is_constant_global() || !self.is_defined() {
            return None;
        }
        let content = unsafe { LLVMGetInitializer(self.0) };
        if content.is_null() {
            return None;
        }
        // A text of zeros alone, such as the empty one, is not kept byte by byte; whatever else is no row of numbers
        // must not be asked whether it is a text.
        if !unsafe { LLVMIsAConstantAggregateZero(content) }.is_null() {
            return Some(String::new());
        }
        if unsafe { LLVMIsAConstantDataSequential(content).is_null() || LLVMIsConstantString(content) == 0 } {
            return None;
        }
        let mut length = 0;
        let start = unsafe { LLVMGetAsString(content, &mut length) };
        Some(text(start, length))
    }

    /// Whether nothing may stand between this call and the return after it.
    pub(crate) fn is_last_of_function(self) -> bool {
        let is_call = self.opcode() == Some(Opcode::LLVMCall);
        is_call && unsafe { LLVMGetTailCallKind(self.0) } == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// Where a function can still do something before this return: a call in place of a return stays right before it.
    pub(crate) fn before_return(self) -> Value {
        let before = unsafe { LLVMGetPreviousInstruction(self.0) };
        let tail = (!before.is_null()).then_some(Value(before)).filter(|before| before.is_last_of_function());
        tail.unwrap_or(self)
    }

    /// What stands after an instruction, unless it is the last one of its block.
    pub(crate) fn next_in_block(self) -> Option<Value> {
        let next = unsafe { LLVMGetNextInstruction(self.0) };
        (!next.is_null()).then_some(Value(next))
    }

    /// The block that an instruction stands in.
    pub(crate) fn block(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The blocks that an instruction may lead to, if it is the last one of its block.
    pub(crate) fn successors(self) -> Vec<Block> {
        let is_last = !unsafe { LLVMIsATerminatorInst(self.0) }.is_null();
        let count = if is_last { unsafe { LLVMGetNumSuccessors(self.0) } } else { 0 };
        (0..count).map(|index| Block(unsafe { LLVMGetSuccessor(self.0, index) })).collect()
    }

    /// Makes sure that the blocks at which an invoke goes on are reached from nowhere else. Lists of instructions that
    /// were made before are worth nothing afterwards.
    pub(crate) fn own_ways(self) {
        if self.opcode() == Some(Opcode::LLVMInvoke) {
            unsafe { foretell_own_ways(self.0) };
        }
    }

    /// The first instruction of a function.
    pub(crate) fn first_instruction(self) -> Value {
        Value(unsafe { LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(self.0)) })
    }

    /// What a branch or switch decides by, if it decides anything.
    pub(crate) fn condition(self) -> Option<Value> {
        match self.opcode()? {
            Opcode::LLVMBr => {
                let conditional = unsafe { LLVMIsConditional(self.0) != 0 };
                conditional.then(|| Value(unsafe { LLVMGetCondition(self.0) }))
            }
            Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => Some(self.operand(0)),
            _ => None,
        }
    }

    /// The order of an atomic load, store, read-modify-write or fence.
    pub(crate) fn ordering(self) -> LLVMAtomicOrdering {
        unsafe { LLVMGetOrdering(self.0) }
    }

    /// The orders of a compare-exchange, when it succeeds and when it fails.
    pub(crate) fn exchange_orderings(self) -> (LLVMAtomicOrdering, LLVMAtomicOrdering) {
        unsafe { (LLVMGetCmpXchgSuccessOrdering(self.0), LLVMGetCmpXchgFailureOrdering(self.0)) }
    }

    /// The code of what a read-modify-write does.
    pub(crate) fn update_code(self) -> u32 {
        unsafe { rmw_code(self.0) }
    }

    /// Whether a fence only concerns signal handlers of its own thread.
    pub(crate) fn is_single_thread(self) -> bool {
        unsafe { LLVMIsAtomicSingleThread(self.0) != 0 }
    }

    /// Where in the source an instruction comes from: its own place first, then those of the calls that were inlined.
    pub(crate) fn places(self) -> Vec<Place> {
        let there = |location: LLVMMetadataRef| (!location.is_null()).then_some(location);
        let first = there(unsafe { LLVMInstructionGetDebugLoc(self.0) });
        let caller = |&location: &LLVMMetadataRef| there(unsafe { LLVMDILocationGetInlinedAt(location) });
        std::iter::successors(first, caller).map(place).collect()
    }

    /// Whether a function has this attribute.
    pub(crate) fn has_attribute(self, name: &str) -> bool {
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, FUNCTION, attribute(name)) }.is_null()
    }

    pub(crate) fn remove_attribute(self, name: &str) {
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, attribute(name)) }
    }

    /// Removes an attribute from a call.
    pub(crate) fn remove_call_attribute(self, name: &str) {
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, attribute(name)) }
    }

    pub(crate) fn add_attribute(self, name: &str) {
        let of = unsafe { LLVMGetTypeContext(LLVMTypeOf(self.0)) };
        let made = unsafe { LLVMCreateEnumAttribute(of, attribute(name), 0) };
        unsafe { LLVMAddAttributeAtIndex(self.0, FUNCTION, made) }
    }

    /// Puts another value in the place of this instruction, which is no more.
    pub(crate) fn replace_with(self, other: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
        self.erase();
    }

    pub(crate) fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// How far an address of [`Value::byte_at`] is from the beginning.
    pub(crate) fn constant_offset(self) -> u64 {
        self.operand(1).constant_number().map_or(0, i64::cast_unsigned)
    }

    /// The address of a byte in this constant array of bytes.
    pub(crate) fn byte_at(self, index: u64, types: Types) -> Value {
        let mut index = types.int64.constant(index).0;
        Value(unsafe { LLVMConstGEP2(types.byte.0, self.0, &mut index, 1) })
    }
}

impl Block {
    /// The last instruction.
    pub(crate) fn terminator(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    pub(crate) fn instructions(self) -> Vec<Value> {
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        chain(first, |instruction| unsafe { LLVMGetNextInstruction(instruction) }).collect()
    }

    /// The first instruction that others may stand before.
    pub(crate) fn first_ordinary(self) -> Value {
        let next = |instruction| unsafe { LLVMGetNextInstruction(instruction) };
        let is_special = |instruction: &Value| {
            matches!(instruction.opcode(), Some(Opcode::LLVMPHI | Opcode::LLVMLandingPad))
        };
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        chain(first, next).find(|instruction| !is_special(instruction)).unwrap_or_else(|| self.terminator())
    }
}

/// Makes instructions.
pub(crate) struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

impl Builder {
    /// What is made next stands before `instruction` and has its place in the source.
    pub(crate) fn before(&self, instruction: Value) {
        self.before_as(instruction, instruction);
    }

    /// What is made next stands before `instruction` and has the place of `other` in the source.
    pub(crate) fn before_as(&self, instruction: Value, other: Value) {
        unsafe {
            LLVMPositionBuilderBefore(self.0, instruction.0);
            LLVMSetCurrentDebugLocation2(self.0, LLVMInstructionGetDebugLoc(other.0));
        }
    }

    /// What is made next is the body of this function.
    pub(crate) fn in_new_body(&self, function: Value, module: Module) {
        self.at_end(self.new_block(function, module));
        unsafe { LLVMSetCurrentDebugLocation2(self.0, std::ptr::null_mut()) };
    }

    /// Adds a block to the end of a function.
    pub(crate) fn new_block(&self, function: Value, module: Module) -> Block {
        let context = unsafe { LLVMGetModuleContext(module.0) };
        Block(unsafe { LLVMAppendBasicBlockInContext(context, function.0, NO_NAME) })
    }

    /// What is made next stands at the end of the block.
    pub(crate) fn at_end(&self, block: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.0, block.0) };
    }

    pub(crate) fn call(&self, function: (Value, Type), arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        let count = count(arguments.len());
        let call = unsafe {
            LLVMBuildCall2(self.0, function.1.0, function.0.0, arguments.as_mut_ptr(), count, NO_NAME)
        };
        Value(call)
    }

    /// Room for a value in the frame of the function.
    pub(crate) fn room(&self, function: Value, of: Type) -> Value {
        unsafe {
            let entry = LLVMGetEntryBasicBlock(function.0);
            LLVMPositionBuilderBefore(self.0, LLVMGetFirstInstruction(entry));
            Value(LLVMBuildAlloca(self.0, of.0, NO_NAME))
        }
    }

    pub(crate) fn load(&self, of: Type, from: Value) -> Value {
        Value(unsafe { LLVMBuildLoad2(self.0, of.0, from.0, NO_NAME) })
    }

    pub(crate) fn store(&self, value: Value, to: Value) {
        unsafe { LLVMBuildStore(self.0, value.0, to.0) };
    }

    /// A load that is made as it stands, wherever the pointer leads.
    pub(crate) fn exact_load(&self, of: Type, from: Value) -> Value {
        let load = self.load(of, from);
        unsafe {
            LLVMSetVolatile(load.0, 1);
            LLVMSetAlignment(load.0, 1);
        }
        load
    }

    /// A store that is made as it stands, wherever the pointer leads.
    pub(crate) fn exact_store(&self, value: Value, to: Value) {
        unsafe {
            let store = LLVMBuildStore(self.0, value.0, to.0);
            LLVMSetVolatile(store, 1);
            LLVMSetAlignment(store, 1);
        }
    }

    /// The address so many bytes after another one.
    pub(crate) fn after(&self, pointer: Value, bytes: Value, types: Types) -> Value {
        let mut bytes = bytes.0;
        Value(unsafe { LLVMBuildGEP2(self.0, types.byte.0, pointer.0, &mut bytes, 1, NO_NAME) })
    }

    pub(crate) fn add(&self, one: Value, other: Value) -> Value {
        Value(unsafe { LLVMBuildAdd(self.0, one.0, other.0, NO_NAME) })
    }

    pub(crate) fn subtract(&self, from: Value, what: Value) -> Value {
        Value(unsafe { LLVMBuildSub(self.0, from.0, what.0, NO_NAME) })
    }

    pub(crate) fn and(&self, one: Value, other: Value) -> Value {
        Value(unsafe { LLVMBuildAnd(self.0, one.0, other.0, NO_NAME) })
    }

    pub(crate) fn or(&self, one: Value, other: Value) -> Value {
        Value(unsafe { LLVMBuildOr(self.0, one.0, other.0, NO_NAME) })
    }

    pub(crate) fn shift_left(&self, value: Value, bits: Value) -> Value {
        Value(unsafe { LLVMBuildShl(self.0, value.0, bits.0, NO_NAME) })
    }

    pub(crate) fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.0, condition.0, then.0, otherwise.0, NO_NAME) })
    }

    pub(crate) fn equal(&self, one: Value, other: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntEQ, one, other)
    }

    /// Whether one number without sign is below another.
    pub(crate) fn below(&self, one: Value, other: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntULT, one, other)
    }

    fn compare(&self, how: LLVMIntPredicate, one: Value, other: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.0, how, one.0, other.0, NO_NAME) })
    }

    /// Goes on at one of two blocks.
    pub(crate) fn go(&self, condition: Value, then: Block, otherwise: Block) {
        unsafe { LLVMBuildCondBr(self.0, condition.0, then.0, otherwise.0) };
    }

    /// Goes on at a block.
    pub(crate) fn go_to(&self, block: Block) {
        unsafe { LLVMBuildBr(self.0, block.0) };
    }

    pub(crate) fn insert(&self, into: Value, value: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildInsertValue(self.0, into.0, value.0, index, NO_NAME) })
    }

    /// A number of another width; what is added is zero.
    pub(crate) fn resize(&self, value: Value, to: Type) -> Value {
        let (from_width, to_width) = (value.type_of().int_width(), to.int_width());
        Value(match from_width.cmp(&to_width) {
            std::cmp::Ordering::Less => unsafe { LLVMBuildZExt(self.0, value.0, to.0, NO_NAME) },
            std::cmp::Ordering::Equal => value.0,
            std::cmp::Ordering::Greater => unsafe { LLVMBuildTrunc(self.0, value.0, to.0, NO_NAME) },
        })
    }

    pub(crate) fn bits(&self, value: Value, to: Type) -> Value {
        Value(unsafe { LLVMBuildBitCast(self.0, value.0, to.0, NO_NAME) })
    }

    pub(crate) fn pointer_to_int(&self, value: Value, to: Type) -> Value {
        Value(unsafe { LLVMBuildPtrToInt(self.0, value.0, to.0, NO_NAME) })
    }

    pub(crate) fn int_to_pointer(&self, value: Value, to: Type) -> Value {
        Value(unsafe { LLVMBuildIntToPtr(self.0, value.0, to.0, NO_NAME) })
    }

    /// The same value, of which the optimiser does not know where it comes from.
    pub(crate) fn freeze(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.0, value.0, NO_NAME) })
    }

    pub(crate) fn give_back(&self, value: Value) {
        unsafe { LLVMBuildRet(self.0, value.0) };
    }

    pub(crate) fn return_nothing(&self) {
        unsafe { LLVMBuildRetVoid(self.0) };
    }
}

/// Where the sources of Rust's libraries are said to be, and where they are if the toolchain has them.
const RUST_LIBRARIES: [&str; 2] = ["/rustc/", "/rustlib/src/rust/"];

fn place(location: LLVMMetadataRef) -> Place {
    let scope = unsafe { LLVMDILocationGetScope(location) };
    let mut length = 0;
    let function = text(unsafe { foretell_function_of(scope, &mut length) }, length);
    let (mut file, mut folder) = (String::new(), String::new());
    let about = unsafe { LLVMDIScopeGetFile(scope) };
    if !about.is_null() {
        let mut length = 0;
        file = text(unsafe { LLVMDIFileGetFilename(about, &mut length) }, length as usize);
        folder = text(unsafe { LLVMDIFileGetDirectory(about, &mut length) }, length as usize);
    }
    let (line, column) = unsafe { (LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location)) };
    let is_in_library =
        [&file, &folder].iter().any(|path| RUST_LIBRARIES.iter().any(|library| path.contains(library)));
    if !is_in_library {
        file = found_from_here(file, &folder);
    }
    Place { file, function, line, column, is_in_library }
}

/// The path of a file by which it is found from the folder that the compiler runs in. Compilers name files from whatever folder
/// they have in common with that one.
fn found_from_here(file: String, folder: &str) -> String {
    static HERE: OnceLock<PathBuf> = OnceLock::new();
    let here = HERE.get_or_init(|| std::env::current_dir().unwrap_or_default());
    if folder.is_empty() || Path::new(folder) == here {
        return file;
    }
    // What is absolute already stays as it is.
    Path::new(folder).join(&file).into_os_string().into_string().unwrap_or(file)
}

fn attribute(name: &str) -> c_uint {
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// A linked list of LLVM's.
fn chain(first: LLVMValueRef, next: impl Fn(LLVMValueRef) -> LLVMValueRef) -> impl Iterator<Item = Value> {
    let there = |value: LLVMValueRef| (!value.is_null()).then_some(value);
    std::iter::successors(there(first), move |&value| there(next(value))).map(Value)
}

fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn count(length: usize) -> c_uint {
    c_uint::try_from(length).unwrap_or(c_uint::MAX)
}
