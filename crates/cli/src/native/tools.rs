//! Where the compiler and our two libraries are.

use std::collections::BTreeSet;
use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use foretell_wire::settings;
use foretell_wire::site::MODEL_OF_USER;

use super::distribution::{self, LLVM, VERSIONS};
use crate::error::Failure;

/// The compiler pass.
const PASS: &str = "libforetell_llvm.so";
/// What goes into the recorded program.
const RUNTIME: &str = "libforetell_rt.so";
/// What Java's virtual machine loads.
const AGENT: &str = "libforetell_jvm.so";
/// How that is built.
const BUILD_AGENT: &str = "cargo build --release -p foretell-jvm";
const LIBRARIES: [&str; 2] = [PASS, RUNTIME];
/// What clang looks for in a compiler pass.
const ENTRY: &[u8] = b"llvmGetPassPluginInfo";
/// How the two are built.
const BUILD: &str = "cargo build --release -p foretell-llvm -p foretell-runtime";
/// The folder of the two, if they are not where they are expected.
const FOLDER: &str = settings::LIBRARIES.text();

/// The two libraries.
pub(crate) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Looks in the folder that the environment names, or beside the program and where it would be installed.
    pub(crate) fn find() -> Result<Tools, Failure> {
        let tools = match env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
            Some(folder) => Tools::named(Path::new(&folder))?,
            None => Tools::beside(env::current_exe().ok().as_deref())?,
        };
        tools.check_pass()?;
        Ok(tools)
    }

    /// If the environment names a folder, no other one is tried.
    fn named(folder: &Path) -> Result<Tools, Failure> {
        let shown = folder.display();
        let found = folder.canonicalize().map_err(|error| {
            Failure::Environment(format!("{FOLDER} names {shown}, which cannot be read: {error}"))
        })?;
        match missing(&found).as_slice() {
            [] => Ok(Tools { folder: found }),
            names => Err(Failure::Environment(format!(
                "{FOLDER} names {shown}, which lacks {}; unset it, or build what is missing: {BUILD}",
                names.join(" and ")
            ))),
        }
    }

    /// What stands beside this program, or is installed with it.
    fn beside(program: Option<&Path>) -> Result<Tools, Failure> {
        let beside = program.and_then(Path::parent).map(Path::to_path_buf);
        let installed = beside.as_ref().map(|folder| folder.join("../lib/foretell"));
        let folders = installed.into_iter().chain(beside).filter_map(|folder| folder.canonicalize().ok());
        let best = folders.min_by_key(|folder| missing(folder).len());
        let lacks = best.as_deref().map_or(LIBRARIES.to_vec(), missing);
        match (best, lacks.as_slice()) {
            (Some(folder), []) => Ok(Tools { folder }),
            (Some(folder), &[one]) => Err(Failure::Environment(format!(
                "{one} is missing in {}; build it: {BUILD}, or install a package of foretell",
                folder.display()
            ))),
            _ => Err(Failure::Environment(format!(
                "{} are missing; install a package of foretell, or build them in its repository: {BUILD} (needs \
                 {}), and name their folder in {FOLDER} if it is not that of foretell itself",
                LIBRARIES.join(" and "),
                distribution::llvm_for_building()
            ))),
        }
    }

    /// The same for Rust, whose compiler has one version of LLVM.
    pub(crate) fn find_for_rust() -> Result<Tools, Failure> {
        let tools = Tools::find()?;
        if tools.versions().contains(&LLVM) {
            return Ok(tools);
        }
        let (folder, pass) = (tools.folder.display(), pass_name(LLVM));
        Err(Failure::Environment(format!(
            "{pass} with LLVM {LLVM} is missing in {folder}; Rust needs it: {BUILD}"
        )))
    }

    /// Where LLVM is not installed, the pass is built all the same, without content.
    fn check_pass(&self) -> Result<(), Failure> {
        let path = self.pass(LLVM);
        match self.versions().is_empty() {
            false => Ok(()),
            true => Err(Failure::Environment(format!(
                "{} was built without LLVM, so that nothing can be compiled for recording; install {} and build it \
                 again: {BUILD}",
                path.display(),
                distribution::llvm_for_building()
            ))),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The compiler pass for this version of LLVM.
    pub(crate) fn pass(&self, llvm: u32) -> PathBuf {
        self.folder.join(pass_name(llvm))
    }

    /// The versions of LLVM that there is a pass for, the best one first.
    pub(crate) fn versions(&self) -> Vec<u32> {
        let has_content = |path: PathBuf| {
            File::open(path).is_ok_and(|mut file| contains(&mut file, ENTRY).unwrap_or(false))
        };
        VERSIONS.into_iter().filter(|&llvm| has_content(self.pass(llvm))).collect()
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.folder.join(RUNTIME)
    }
}

/// What records Java programs, if it is there: it needs neither the compiler pass nor the runtime.
pub(crate) fn java_agent() -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(AGENT)).find(|path| path.is_file())
}

/// What to do where it is not there.
pub(crate) fn no_java_agent() -> String {
    let folders: Vec<String> = folders().iter().map(|folder| folder.display().to_string()).collect();
    format!(
        "{AGENT} is missing in {}; build it: {BUILD_AGENT}, or install a package of foretell",
        folders.join(" and ")
    )
}

/// Where libraries may be: in the folder that the environment names, or beside the program and where it would be
/// installed.
fn folders() -> Vec<PathBuf> {
    let named = env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = || env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let candidates = match named {
        Some(folder) => vec![folder],
        None => beside().into_iter().flat_map(|beside| [beside.join("../lib/foretell"), beside]).collect(),
    };
    candidates.into_iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// What the compiler pass for this version of LLVM is called.
fn pass_name(llvm: u32) -> String {
    if llvm == LLVM { PASS.to_string() } else { format!("libforetell_llvm-{llvm}.so") }
}

/// Which of the two libraries are not in the folder. Of the pass, one for any version will do.
fn missing(folder: &Path) -> Vec<&'static str> {
    let has_pass = VERSIONS.into_iter().any(|llvm| folder.join(pass_name(llvm)).is_file());
    let is_missing = |name: &&str| if *name == PASS { !has_pass } else { !folder.join(name).is_file() };
    LIBRARIES.into_iter().filter(is_missing).collect()
}

/// Whether a program has the runtime in it; unknown of what is no program, or found by its name only.
pub(crate) fn is_instrumented(program: &Path) -> Option<bool> {
    let mut magic = [0; 4];
    let mut file = File::open(program).ok()?;
    file.read_exact(&mut magic).ok()?;
    if magic == *b"\x7fELF" { contains(&mut file, RUNTIME.as_bytes()).ok() } else { None }
}

/// The functions that a program calls by models of its user.
pub(crate) fn models_of_user(program: &Path) -> Vec<String> {
    let [before, after] = MODEL_OF_USER;
    let has_some =
        File::open(program).is_ok_and(|mut file| contains(&mut file, before.as_bytes()).unwrap_or(false));
    let content = if has_some { std::fs::read(program).unwrap_or_default() } else { Vec::new() };
    let text = String::from_utf8_lossy(&content);
    let names = text
        .split(before)
        .skip(1)
        .filter_map(|rest| rest.split_once(after))
        .map(|(name, _)| name.to_string());
    names.collect::<BTreeSet<_>>().into_iter().collect()
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
    fn models_of_the_user_are_found_in_programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let [before, after] = MODEL_OF_USER;
        let told = |name: &str| format!("\u{1}{before}{name}{after}\u{2}main");
        std::fs::write(&program, ["\x7fELF", &told("parse"), &told("check"), &told("parse")].concat())
            .expect("it can be written");
        assert_eq!(models_of_user(&program), ["check", "parse"]);
        std::fs::write(&program, b"\x7fELF\xff main").expect("it can be written");
        assert!(models_of_user(&program).is_empty());
    }

    #[test]
    fn a_pass_without_content_is_told_with_what_to_install() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(PASS), b"\x7fELF and nothing else").expect("it can be written");
        let tools = Tools { folder: folder.path().to_path_buf() };
        let told = tools.check_pass().expect_err("there is no pass in it").to_string();
        assert!(told.contains("LLVM 22") && told.contains("without LLVM"), "{told}");
    }

    #[test]
    fn a_missing_library_is_named_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("foretell");
        let told =
            |tools: Result<Tools, Failure>| tools.map(drop).expect_err("it is not complete").to_string();
        let both = told(Tools::beside(Some(&program)));
        assert!(both.contains(PASS) && both.contains(RUNTIME), "{both}");
        std::fs::write(folder.path().join(RUNTIME), b"").expect("it can be written");
        for one in [told(Tools::beside(Some(&program))), told(Tools::named(folder.path()))] {
            assert!(one.contains(PASS) && !one.contains(RUNTIME), "{one}");
        }
        let wrong = told(Tools::named(&folder.path().join("missing")));
        assert!(wrong.contains(FOLDER) && wrong.contains("missing"), "{wrong}");
    }
}
