//! Places in the source, as the debug information tells them.

use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::{llvm, text};

unsafe extern "C" {
    fn foretell_function_of(scope: LLVMMetadataRef, length: *mut usize) -> *const c_char;
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DebugLocation {
    pub(crate) file: String,
    /// The function in the source, as the linker knows it.
    pub(crate) function: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Whether it is in the libraries that come with Rust.
    pub(crate) is_in_library: bool,
}

/// Where the sources of Rust's libraries are said to be, and where they are if the toolchain has them.
const RUST_LIBRARIES: [&str; 2] = ["/rustc/", "/rustlib/src/rust/"];

/// The folder of the libraries in both.
const LIBRARY: &str = "library/";

pub(super) fn place(location: LLVMMetadataRef) -> DebugLocation {
    let scope = llvm!(LLVMDILocationGetScope(location));
    let mut length = 0;
    let function = text(llvm!(foretell_function_of(scope, &mut length)), length);
    let (mut file, mut folder) = (String::new(), String::new());
    let about = llvm!(LLVMDIScopeGetFile(scope));
    if !about.is_null() {
        let mut length = 0;
        file = text(llvm!(LLVMDIFileGetFilename(about, &mut length)), length as usize);
        folder = text(llvm!(LLVMDIFileGetDirectory(about, &mut length)), length as usize);
    }
    let (line, column) = (llvm!(LLVMDILocationGetLine(location)), llvm!(LLVMDILocationGetColumn(location)));
    let is_in_library =
        [&file, &folder].iter().any(|path| RUST_LIBRARIES.iter().any(|library| path.contains(library)));
    file = if is_in_library { library_file(file, &folder) } else { found_from_here(file, &folder) };
    DebugLocation { file, function, line, column, is_in_library }
}

/// The path of a file of the libraries, from where these are. The compiler names it so in the libraries that it comes
/// with, and from the crate's folder in those that are built here.
fn library_file(file: String, folder: &str) -> String {
    let path = if file.contains(LIBRARY) { file.clone() } else { format!("{folder}/{file}") };
    path.find(LIBRARY).map_or(file, |start| path[start..].to_string())
}

/// The path of a file by which it is found from the folder that the compiler runs in. Compilers name files from
/// whatever folder they have in common with that one.
fn found_from_here(file: String, folder: &str) -> String {
    static HERE: OnceLock<PathBuf> = OnceLock::new();
    let here = HERE.get_or_init(|| std::env::current_dir().unwrap_or_default());
    if folder.is_empty() || Path::new(folder) == here {
        return file;
    }
    // What is absolute already stays as it is.
    Path::new(folder).join(&file).into_os_string().into_string().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_libraries_are_named_from_there() {
        let named = |file: &str, folder: &str| library_file(file.to_string(), folder);
        assert_eq!(named("src/fs.rs", "/rustc/59807616e/library/std"), "library/std/src/fs.rs");
        assert_eq!(named("library/std/src/fs.rs", "/rustc/59807616e"), "library/std/src/fs.rs");
        assert_eq!(named("/rustc/5980/library/core/src/any.rs", ""), "library/core/src/any.rs");
        assert_eq!(named("src/lib.rs", "/rustc/5980"), "src/lib.rs");
    }
}
