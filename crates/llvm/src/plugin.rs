//! What LLVM looks for in a plugin.

use std::ffi::{c_char, c_void};

use llvm_sys::prelude::LLVMModuleRef;

use crate::instrument;
use crate::ir::Module;
use crate::primitives;

/// LLVM's `PassPluginLibraryInfo`. LLVM provides the memory, and has room for what its version knows.
#[repr(C)]
struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(builder: *mut c_void),
    #[cfg(llvm_22)]
    before_code_generation: *const c_void,
}

unsafe extern "C" {
    fn foretell_register(builder: *mut c_void);
}

/// Called by LLVM when it has loaded the plugin.
#[unsafe(no_mangle)]
extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: if cfg!(llvm_22) { 2 } else { 1 },
        name: c"foretell".as_ptr(),
        version: c"1".as_ptr(),
        register: foretell_register,
        #[cfg(llvm_22)]
        before_code_generation: std::ptr::null(),
    }
}

/// Called by the shim for each module, before the functions that are always inlined are. Says whether it was changed.
#[unsafe(no_mangle)]
extern "C" fn foretell_prepare(module: LLVMModuleRef) -> bool {
    primitives::inline_atomics(Module::new(module))
}

/// Called by the shim for each module. Says whether the module was changed.
#[unsafe(no_mangle)]
extern "C" fn foretell_instrument(module: LLVMModuleRef) -> bool {
    instrument::module(Module::new(module))
}
