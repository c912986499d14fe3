//! Where the compiler and our two libraries are.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::Failure;

/// The compiler pass.
const PASS: &str = "libforetell_llvm.so";
/// What goes into the recorded program.
const RUNTIME: &str = "libforetell_rt.so";
/// The folder of the two, if they are not where they are expected.
const FOLDER: &str = "FORETELL_LIBRARIES";

/// The two libraries.
pub(crate) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Looks beside the program, and where it would be installed.
    pub(crate) fn find() -> Result<Tools, Failure> {
        let program = env::current_exe().ok();
        let beside = program.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let installed = beside.as_ref().map(|folder| folder.join("../lib/foretell"));
        let folders = env::var_os(FOLDER).map(PathBuf::from).into_iter().chain(beside).chain(installed);
        let is_complete = |folder: &PathBuf| [PASS, RUNTIME].iter().all(|name| folder.join(name).is_file());
        let found = folders.filter_map(|folder| folder.canonicalize().ok()).find(is_complete);
        found.map(|folder| Tools { folder }).ok_or_else(|| {
            Failure::Usage(format!(
                "{PASS} and {RUNTIME} are missing; with LLVM 22 installed (on Debian: apt-get install clang-22 \
                 llvm-22-dev lld-22), build them: cargo build --release -p foretell-llvm -p foretell-runtime, and \
                 name their folder in {FOLDER} if it is not that of foretell itself"
            ))
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn pass(&self) -> PathBuf {
        self.folder.join(PASS)
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.folder.join(RUNTIME)
    }
}
