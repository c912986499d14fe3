//! What is in every package: programs, libraries, manual pages, completions, documents; laid out as below `/usr`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::process::{must, root, told};

/// Debug information, for those who need it.
pub(super) const DEBUG: &str = "foretell-debug";
const PROGRAMS: [&str; 2] = ["foretell", "cargo-foretell"];
const LIBRARIES: [&str; 2] = ["libforetell_llvm.so", "libforetell_rt.so"];
const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "SOUNDNESS.md", "docs/tutorial.md"];
/// Shells, and where they look for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/foretell"),
    ("zsh", "share/zsh/site-functions/_foretell"),
    ("fish", "share/fish/vendor_completions.d/foretell.fish"),
];

/// Files as they will be installed.
pub(super) struct Staged {
    pub(super) root: PathBuf,
}

impl Staged {
    /// All machine code.
    pub(super) fn binaries(&self) -> Vec<PathBuf> {
        binaries().map(|(place, name)| self.root.join(place).join(name)).collect()
    }
}

/// All machine code, with its place.
fn binaries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let programs = PROGRAMS.into_iter().map(|name| ("bin", name));
    programs.chain(LIBRARIES.into_iter().map(|name| ("lib/foretell", name)))
}

/// Where cargo builds.
pub(super) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds everything, and lays it out.
pub(super) fn stage(profile: &str, folder: &Path) -> Result<Staged, String> {
    let packages = ["--package", "foretell", "--package", "foretell-llvm", "--package", "foretell-runtime"];
    must("cargo", &[&["build", "--locked", "--profile", profile][..], &packages].concat())?;
    let (built, staged) = (target().join(profile), folder.join("files"));
    for (place, name) in binaries() {
        let file = staged.join(place).join(name);
        copy(&built.join(name), &file)?;
        strip(&file, &folder.join(DEBUG).join(format!("{name}.debug")))?;
    }
    check_pass(&staged.join("lib/foretell").join(LIBRARIES[0]))?;
    let foretell = staged.join("bin/foretell");
    must(text(&foretell), &["man", "--output", text(&staged.join("share/man/man1"))])?;
    for (shell, place) in COMPLETIONS {
        write(&staged.join(place), &told(text(&foretell), &["completions", shell])?)?;
    }
    for document in DOCUMENTS {
        let name = Path::new(document).file_name().unwrap_or_default();
        copy(&root().join(document), &staged.join("share/doc/foretell").join(name))?;
    }
    Ok(Staged { root: staged })
}

/// Without LLVM, the pass is built without content.
fn check_pass(pass: &Path) -> Result<(), String> {
    if told("objdump", &["-T", text(pass)])?.contains("llvmGetPassPluginInfo") {
        return Ok(());
    }
    Err("the compiler pass has no content: `cargo xtask setup` installs LLVM 22; then build again"
        .to_string())
}

/// Takes debug information out of a file, and leaves a link to it.
fn strip(file: &Path, debug: &Path) -> Result<(), String> {
    make_folder_of(debug)?;
    must("objcopy", &["--only-keep-debug", text(file), text(debug)])?;
    must("objcopy", &["--strip-unneeded", text(file)])?;
    must("objcopy", &[&format!("--add-gnu-debuglink={}", debug.display()), text(file)])
}

/// All files below a folder.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() { files.extend(list(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    for path in list(from)? {
        copy(&path, &to.join(path.strip_prefix(from).unwrap_or(&path)))?;
    }
    Ok(())
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder_of(to)?;
    // A program that runs keeps its old file. It may not be there.
    let _ = fs::remove_file(to);
    fs::copy(from, to)
        .map(drop)
        .map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

pub(super) fn write(path: &Path, content: &str) -> Result<(), String> {
    make_folder_of(path)?;
    fs::write(path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn make_folder_of(path: &Path) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}

/// A path as a word of a command. All paths here are ours.
pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// A command with nothing of ours in its environment but what the system has.
pub(super) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", std::env::temp_dir());
    command
}
