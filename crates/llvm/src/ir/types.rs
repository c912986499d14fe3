//! Types, and the constants that are made of them.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::{Value, llvm, printed};

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Type(pub(super) LLVMTypeRef);

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
        llvm!(LLVMGetTypeKind(self.0))
    }

    /// How many bits an integer has; 0 for other types.
    pub(crate) fn int_width(self) -> u32 {
        match self.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind => llvm!(LLVMGetIntTypeWidth(self.0)),
            _ => 0,
        }
    }

    /// The type as LLVM writes it.
    pub(crate) fn text(self) -> String {
        printed(llvm!(LLVMPrintTypeToString(self.0)))
    }

    /// An array of so many of these.
    pub(crate) fn array(self, count: u64) -> Type {
        Type(llvm!(LLVMArrayType2(self.0, count)))
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// The type of what is at this index of a structure or array; none if this is neither, or has no such member.
    pub(crate) fn member(self, index: u32) -> Option<Type> {
        match self.kind() {
            LLVMTypeKind::LLVMStructTypeKind if index < llvm!(LLVMCountStructElementTypes(self.0)) => {
                Some(Type(llvm!(LLVMStructGetTypeAtIndex(self.0, index))))
            }
            LLVMTypeKind::LLVMArrayTypeKind => Some(Type(llvm!(LLVMGetElementType(self.0)))),
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
        Value(llvm!(LLVMConstInt(self.0, number, 0)))
    }

    /// The null pointer of this pointer type.
    pub(crate) fn null(self) -> Value {
        Value(llvm!(LLVMConstNull(self.0)))
    }

    /// A value of the type that is never used.
    pub(crate) fn poison(self) -> Value {
        Value(llvm!(LLVMGetPoison(self.0)))
    }
}
