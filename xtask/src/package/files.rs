//! What is in every package: programs, libraries, manual pages, completions, documents; laid out as below `/usr`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::process::{must, must_with, root, told};

/// Debug information, for those who need it.
pub(super) const DEBUG: &str = "foretell-debug";
const PROGRAMS: [&str; 2] = ["foretell", "cargo-foretell"];
const LIBRARY_FOLDER: &str = "lib/foretell";
const PASS: &str = "libforetell_llvm.so";
const LIBRARIES: [&str; 3] = [PASS, "libforetell_rt.so", "libforetell_jvm.so"];
/// The pass for the LLVM that Debian 11 to 13 have, beside that of rustc. It is built where that LLVM is installed.
const OLDER: u32 = 19;
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
        let all = binaries().map(|(place, name)| self.root.join(place).join(name));
        all.chain([self.root.join(LIBRARY_FOLDER).join(older_pass())]).filter(|path| path.is_file()).collect()
    }
}

fn older_pass() -> String {
    format!("libforetell_llvm-{OLDER}.so")
}

/// All machine code, with its place.
fn binaries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let programs = PROGRAMS.into_iter().map(|name| ("bin", name));
    programs.chain(LIBRARIES.into_iter().map(|name| (LIBRARY_FOLDER, name)))
}

/// Where cargo builds.
pub(super) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// How programs are built.
pub(super) struct Build {
    pub(super) profile: &'static str,
    /// Variables for cargo, compilers and linkers.
    pub(super) variables: Vec<(String, String)>,
    /// Where cargo builds.
    pub(super) target: PathBuf,
}

impl Build {
    /// For this machine.
    pub(super) fn here(profile: &'static str) -> Build {
        Build { profile, variables: Vec::new(), target: target() }
    }

    /// Builds packages; gives the folder where they are.
    fn run(&self, packages: &[&str], target: &Path, more: &[(String, String)]) -> Result<PathBuf, String> {
        let words = ["build", "--locked", "--profile", self.profile, "--target-dir", text(target)];
        let packages = packages.iter().flat_map(|package| ["--package", package]);
        let words: Vec<&str> = words.into_iter().chain(packages).collect();
        must_with("cargo", &words, &[&self.variables[..], more].concat())?;
        Ok(target.join(self.profile))
    }
}

/// Builds everything, and lays it out.
pub(super) fn stage(build: &Build, folder: &Path) -> Result<Staged, String> {
    let built =
        build.run(&["foretell", "foretell-llvm", "foretell-runtime", "foretell-jvm"], &build.target, &[])?;
    let staged = folder.join("files");
    let put = |from: &Path, place: &str, name: &str| {
        let file = staged.join(place).join(name);
        copy(from, &file)?;
        strip(&file, &folder.join(DEBUG).join(format!("{name}.debug")))
    };
    for (place, name) in binaries() {
        put(&built.join(name), place, name)?;
    }
    check_pass(&staged.join(LIBRARY_FOLDER).join(PASS))?;
    if let Some(config) = older_llvm() {
        let target = build.target.join(format!("llvm-{OLDER}"));
        let built = build.run(&["foretell-llvm"], &target, &[("LLVM_CONFIG".to_string(), config)])?;
        put(&built.join(PASS), LIBRARY_FOLDER, &older_pass())?;
    } else {
        println!("without a compiler pass for LLVM {OLDER}, as llvm-{OLDER}-dev is not installed");
    }
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

/// The program that knows where the older LLVM is, if it is installed.
fn older_llvm() -> Option<String> {
    let named = std::env::var(format!("LLVM_CONFIG_{OLDER}"));
    let config = named.unwrap_or_else(|_| format!("llvm-config-{OLDER}"));
    let asked = Command::new(&config).arg("--version").output();
    asked.is_ok_and(|output| output.status.success()).then_some(config)
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
