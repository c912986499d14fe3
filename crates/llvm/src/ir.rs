//! LLVM's C interface, as far as it is needed, behind safe functions: [`Module`], [`Type`], [`Value`], [`Block`] and
//! [`Builder`].
//!
//! **Safety of all of them.** Handles are made from the module that LLVM hands to the pass and from what is reached
//! from it. They are used only while the pass runs, by its one thread, and not after what they stand for was erased.
//! Functions that are meant for one kind of value say so; they check the kind, or their callers do by its opcode.

mod block;
mod builder;
mod object;
mod place;
mod types;
mod value;

use std::ffi::{CStr, CString, c_char, c_uint};

use llvm_sys::comdat::{LLVMGetOrInsertComdat, LLVMSetComdat};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{
    LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement, LLVMStoreSizeOfType,
};
use llvm_sys::{LLVMLinkage, LLVMTypeKind, LLVMVisibility};

pub(crate) use block::Block;
pub(crate) use builder::Builder;
pub(crate) use llvm_sys::LLVMOpcode as Opcode;
pub(crate) use place::DebugLocation;
pub(crate) use types::{Type, Types};
pub(crate) use value::Value;

/// Calls one function of LLVM's C interface.
macro_rules! llvm {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the handles are live and only this thread uses them, see the header of `ir`; the wrapper around the
        // call passes the kind of value that the function is for, and lengths that belong to their pointers.
        unsafe { $function($($argument),*) }
    };
}
use llvm;

unsafe extern "C" {
    fn foretell_add_constructor(module: LLVMModuleRef, function: LLVMValueRef);
}

/// Of unwind tables: they hold at every instruction.
const ASYNCHRONOUS: u64 = 2;

const NO_NAME: *const c_char = c"".as_ptr();

/// A translation unit.
#[derive(Clone, Copy)]
pub(crate) struct Module(LLVMModuleRef);

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
        let first = llvm!(LLVMGetFirstFunction(self.0));
        chain(first, |function| llvm!(LLVMGetNextFunction(function))).collect()
    }

    /// The variables that live at one address, which the linker can name.
    pub(crate) fn addressable_globals(self) -> Vec<Value> {
        let first = llvm!(LLVMGetFirstGlobal(self.0));
        chain(first, |global| llvm!(LLVMGetNextGlobal(global)))
            .filter(|global| {
                global.is_defined() && !global.is_constant_global() && global.has_plain_address()
            })
            .collect()
    }

    /// The descriptions of what the module was compiled from, as LLVM writes them.
    pub(crate) fn compile_units(self) -> Vec<String> {
        let name = c"llvm.dbg.cu".as_ptr();
        let length = llvm!(LLVMGetNamedMetadataNumOperands(self.0, name)) as usize;
        let mut units: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); length];
        llvm!(LLVMGetNamedMetadataOperands(self.0, name, units.as_mut_ptr()));
        let written = |unit| printed(llvm!(LLVMPrintValueToString(unit)));
        units.into_iter().filter(|unit| !unit.is_null()).map(written).collect()
    }

    pub(crate) fn has_function(self, name: &str) -> bool {
        CString::new(name).is_ok_and(|name| !llvm!(LLVMGetNamedFunction(self.0, name.as_ptr())).is_null())
    }

    /// The function with this name; it is declared if it is not there.
    pub(crate) fn function(self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let mut parameters: Vec<_> = parameters.iter().map(|parameter| parameter.0).collect();
        let count = count(parameters.len());
        let signature = llvm!(LLVMFunctionType(result.0, parameters.as_mut_ptr(), count, 0));
        let name = CString::new(name).unwrap_or_default();
        let mut function = llvm!(LLVMGetNamedFunction(self.0, name.as_ptr()));
        if function.is_null() {
            function = llvm!(LLVMAddFunction(self.0, name.as_ptr(), signature));
        }
        (Value(function), Type(signature))
    }

    /// Adds a constant that only this module sees.
    pub(crate) fn private_constant(self, content: Value) -> Value {
        let global = llvm!(LLVMAddGlobal(self.0, LLVMTypeOf(content.0), NO_NAME));
        llvm!(LLVMSetInitializer(global, content.0));
        llvm!(LLVMSetGlobalConstant(global, 1));
        llvm!(LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage));
        Value(global)
    }

    /// Adds a variable that only this module sees.
    pub(crate) fn private_flag(self, content: Value) -> Value {
        let flag = self.private_constant(content);
        llvm!(LLVMSetGlobalConstant(flag.0, 0));
        flag
    }

    /// Stands for a constant that is not known yet.
    pub(crate) fn placeholder(self) -> Value {
        Value(llvm!(LLVMAddGlobal(self.0, self.types().byte.0, NO_NAME)))
    }

    /// Puts the constant where its placeholder was used.
    pub(crate) fn settle(self, placeholder: Value, constant: Value) {
        llvm!(LLVMReplaceAllUsesWith(placeholder.0, constant.0));
        llvm!(LLVMDeleteGlobal(placeholder.0));
    }

    /// The function with this name, which all modules have that need it, and of which the linker takes one.
    pub(crate) fn common_function(self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let function = self.function(name, result, parameters);
        let handle = function.0.0;
        llvm!(LLVMSetLinkage(handle, LLVMLinkage::LLVMLinkOnceODRLinkage));
        llvm!(LLVMSetVisibility(handle, LLVMVisibility::LLVMHiddenVisibility));
        let name = CString::new(name).unwrap_or_default();
        llvm!(LLVMSetComdat(handle, LLVMGetOrInsertComdat(self.0, name.as_ptr())));
        function.0.add_attribute("noinline");
        function.0.add_attribute("nounwind");
        // A handler of a signal that an access raises may look at the stack.
        function.0.add_numbered_attribute("uwtable", ASYNCHRONOUS);
        function
    }

    /// Adds a function without parameters that runs before the program's own constructors.
    pub(crate) fn add_constructor(self, name: &str) -> Value {
        let (function, _) = self.function(name, self.types().void, &[]);
        llvm!(LLVMSetLinkage(function.0, LLVMLinkage::LLVMInternalLinkage));
        llvm!(foretell_add_constructor(self.0, function.0));
        function
    }

    pub(crate) fn types(self) -> Types {
        let context = llvm!(LLVMGetModuleContext(self.0));
        Types {
            void: Type(llvm!(LLVMVoidTypeInContext(context))),
            pointer: Type(llvm!(LLVMPointerTypeInContext(context, 0))),
            byte: Type(llvm!(LLVMInt8TypeInContext(context))),
            int16: Type(llvm!(LLVMInt16TypeInContext(context))),
            int32: Type(llvm!(LLVMInt32TypeInContext(context))),
            int64: Type(llvm!(LLVMInt64TypeInContext(context))),
        }
    }

    /// How many bytes a store of the type writes.
    pub(crate) fn store_size(self, of: Type) -> u64 {
        llvm!(LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.0), of.0))
    }

    /// How many bytes lie between the beginnings of two neighbours in an array of the type, if that is known by now.
    pub(crate) fn step_size(self, of: Type) -> Option<i64> {
        let is_known = !matches!(
            of.kind(),
            LLVMTypeKind::LLVMScalableVectorTypeKind | LLVMTypeKind::LLVMTargetExtTypeKind
        );
        let size = || llvm!(LLVMABISizeOfType(LLVMGetModuleDataLayout(self.0), of.0));
        is_known.then(size).and_then(|size| i64::try_from(size).ok())
    }

    /// How many bytes there are before a member of a structure.
    pub(crate) fn member_offset(self, of: Type, member: u32) -> u64 {
        llvm!(LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.0), of.0, member))
    }

    pub(crate) fn builder(self) -> Builder {
        Builder(llvm!(LLVMCreateBuilderInContext(LLVMGetModuleContext(self.0))))
    }

    /// The bytes as an array.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Value {
        let context = llvm!(LLVMGetModuleContext(self.0));
        Value(llvm!(LLVMConstStringInContext2(context, bytes.as_ptr().cast(), bytes.len(), 1)))
    }

    /// The pointers as an array.
    pub(crate) fn pointers(self, pointers: &[Value]) -> Value {
        let mut pointers: Vec<_> = pointers.iter().map(|pointer| pointer.0).collect();
        let length = pointers.len() as u64;
        Value(llvm!(LLVMConstArray2(self.types().pointer.0, pointers.as_mut_ptr(), length)))
    }
}

/// A linked list of LLVM's.
fn chain(first: LLVMValueRef, next: impl Fn(LLVMValueRef) -> LLVMValueRef) -> impl Iterator<Item = Value> {
    let there = |value: LLVMValueRef| (!value.is_null()).then_some(value);
    std::iter::successors(there(first), move |&value| there(next(value))).map(Value)
}

/// What LLVM has written for us.
fn printed(message: *mut c_char) -> String {
    // SAFETY: LLVM's `Print…ToString` return a string that ends with a zero and belongs to the caller.
    let found = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    llvm!(LLVMDisposeMessage(message));
    found
}

/// A copy of text that LLVM keeps.
fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: LLVM gives a pointer to so many bytes, which it keeps as long as the value; they are copied here.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn count(length: usize) -> c_uint {
    c_uint::try_from(length).unwrap_or(c_uint::MAX)
}
