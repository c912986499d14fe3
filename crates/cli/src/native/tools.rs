//! Where the compiler and our two libraries are.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use foretell_wire::settings;

use crate::error::Failure;

/// The compiler pass.
const PASS: &str = "libforetell_llvm.so";
/// What goes into the recorded program.
const RUNTIME: &str = "libforetell_rt.so";
/// What clang looks for in a compiler pass.
const ENTRY: &[u8] = b"llvmGetPassPluginInfo";
/// What has to be installed first.
const LLVM: &str = "LLVM 22 (on Debian: apt-get install clang-22 llvm-22-dev lld-22)";
/// How the two are built.
const BUILD: &str = "cargo build --release -p foretell-llvm -p foretell-runtime";
/// The folder of the two, if they are not where they are expected.
const FOLDER: &str = settings::LIBRARIES.text();

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
        let tools = found.map(|folder| Tools { folder }).ok_or_else(|| {
            Failure::Environment(format!(
                "{PASS} and {RUNTIME} are missing; install {LLVM}, build them: {BUILD}, and name their folder in \
                 {FOLDER} if it is not that of foretell itself"
            ))
        })?;
        tools.check_pass()?;
        Ok(tools)
    }

    /// Where LLVM is not installed, the pass is built all the same, without content.
    fn check_pass(&self) -> Result<(), Failure> {
        let path = self.pass();
        let failed = |error| Failure::file(&path, "read", error);
        match contains(&mut File::open(&path).map_err(failed)?, ENTRY).map_err(failed)? {
            true => Ok(()),
            false => Err(Failure::Environment(format!(
                "{} was built without LLVM, so that nothing can be compiled for recording; install {LLVM} and build it \
                 again: {BUILD}",
                path.display()
            ))),
        }
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

/// Whether this text is in a file; reads no further than to where it is.
fn contains(file: &mut impl Read, text: &[u8]) -> std::io::Result<bool> {
    const PIECE: usize = 1 << 16;
    let (mut window, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Ok(false);
        }
        window.extend_from_slice(piece.get(..length).unwrap_or_default());
        if window.windows(text.len()).any(|part| part == text) {
            return Ok(true);
        }
        // The text may begin at the end of what was read.
        window.drain(..window.len().saturating_sub(text.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_pieces() {
        for before in [0, 1, (1 << 16) - 3, (1 << 16) + 1, 200_000] {
            let mut content = vec![b'l'; before];
            assert!(!contains(&mut content.as_slice(), ENTRY).expect("memory can be read"));
            content.extend_from_slice(ENTRY);
            content.extend([0; 100]);
            assert!(contains(&mut content.as_slice(), ENTRY).expect("memory can be read"));
        }
    }

    #[test]
    fn a_pass_without_content_is_told_with_what_to_install() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(PASS), b"\x7fELF and nothing else").expect("it can be written");
        let tools = Tools { folder: folder.path().to_path_buf() };
        let told = tools.check_pass().expect_err("there is no pass in it").to_string();
        assert!(told.contains("apt-get install clang-22") && told.contains("without LLVM"), "{told}");
    }
}
