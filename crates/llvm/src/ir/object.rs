//! What debug information tells of memory: types and local variables.

use std::ffi::c_char;
use std::ptr::null;

use llvm_sys::prelude::*;

use super::{Module, Value, llvm, text};

unsafe extern "C" {
    fn foretell_object_of(
        module: LLVMModuleRef,
        pointer: LLVMValueRef,
        offset: *mut u64,
        layout: *mut *const c_char,
        layout_length: *mut usize,
        local: *mut *const c_char,
        local_length: *mut usize,
    ) -> bool;
    fn foretell_layout_of(variable: LLVMValueRef, layout: *mut *const c_char, length: *mut usize) -> bool;
}

/// What the memory behind a pointer is a part of.
pub(crate) struct PointedObject {
    /// Its type, see [`foretell_wire::layout`].
    pub(crate) layout: String,
    /// Where in it the pointer leads.
    pub(crate) offset: u64,
    /// Function and name, if it is a local variable.
    pub(crate) local: Option<String>,
}

impl Module {
    /// What the memory behind a pointer is a part of, as far as that is certain.
    pub(crate) fn object_of(self, pointer: Value) -> Option<PointedObject> {
        let (mut offset, mut lengths) = (0, [0; 2]);
        let [mut layout, mut local] = [null(); 2];
        let [first, second] = &mut lengths;
        let is_known =
            llvm!(foretell_object_of(self.0, pointer.0, &mut offset, &mut layout, first, &mut local, second));
        is_known.then(|| PointedObject {
            layout: text(layout, lengths[0]),
            offset,
            local: Some(text(local, lengths[1])).filter(|name| !name.is_empty()),
        })
    }
}

impl Value {
    /// The type of a global variable, if debug information tells it.
    pub(crate) fn layout(self) -> Option<String> {
        let (mut layout, mut length) = (null(), 0);
        let is_known = llvm!(foretell_layout_of(self.0, &mut layout, &mut length));
        is_known.then(|| text(layout, length))
    }
}
