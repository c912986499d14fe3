//! Rust's standard library, built with our pass.
//!
//! The library that comes with the compiler records nothing, so that most of its functions are fences. If its sources
//! are installed, cargo builds it once for each version of compiler, pass and models, and it is kept in the user's
//! cache. Only the crates that programs work with are instrumented: what unwinds stacks and prints them stays as it is.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use foretell_wire::settings;

use crate::error::Failure;
use crate::native::cargo;
use crate::native::rust::{AS_COMPILER, UNLOCK};
use crate::native::tools::Tools;
use crate::output::note;

/// The value of [`settings::STD`] while the library is built.
const BUILD: &str = "build";
/// The crates that are instrumented.
const INSTRUMENTED: [&str; 6] = ["core", "alloc", "std", "test", "proc_macro", "hashbrown"];
/// The crates that cargo builds, and those that they need.
const CRATES: &str = "-Zbuild-std=std,panic_unwind,proc_macro,test";
/// Cargo builds a library for a package. What stays without hooks calls what else is in its module without hooks, so
/// each crate is one module.
const PACKAGE: &str = "[package]\nname = \"none\"\nversion = \"0.0.0\"\n[lib]\npath = \"none.rs\"\n[workspace]\n[profile.release]\ncodegen-units = 1\n";
const PACKAGE_SOURCE: &str = "#![no_std]\n";
/// A library that was not used for so long is removed when another one is built.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where the libraries of a sysroot are.
fn libraries(sysroot: &Path, target: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(target).join("lib")
}

/// The compiler that the user has here.
struct Compiler {
    sysroot: PathBuf,
    /// What it says of its version.
    about: String,
}

impl Compiler {
    fn ask() -> Result<Compiler, Failure> {
        let ask = |options: &[&str]| {
            let output = Command::new("rustc").args(options).stderr(Stdio::inherit()).output();
            output
                .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string())
                .map_err(|error| Failure::Environment(format!("cannot run rustc: {error}")))
        };
        Ok(Compiler { sysroot: ask(&["--print", "sysroot"])?.into(), about: ask(&["-vV"])? })
    }

    fn value(&self, key: &str) -> &str {
        self.about.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).unwrap_or_default()
    }

    fn sources(&self) -> Result<PathBuf, Failure> {
        let sources = self.sysroot.join("lib/rustlib/src/rust/library");
        if sources.join("Cargo.toml").is_file() {
            return Ok(sources);
        }
        Err(Failure::Environment(format!(
            "the sources of Rust's standard library are not in {}; install them: rustup component add rust-src",
            sources.display()
        )))
    }

    /// The toolchain's own cargo and compiler: in the folder of the library, another toolchain may be the default.
    fn tool(&self, name: &str) -> PathBuf {
        let own = self.sysroot.join("bin").join(name);
        if own.is_file() { own } else { name.into() }
    }
}

/// The folder of a library that was built with this pass and these models. It is built if it is not there.
pub(super) fn instrumented(tools: &Tools, models: &OsStr) -> Result<PathBuf, Failure> {
    let compiler = Compiler::ask()?;
    let sources = compiler.sources()?;
    let stamp = format!("{}\n{}", compiler.about, cargo::stamp(tools, models, Some(&sources))?);
    let cache = cache()?;
    let sysroot = cache.join(format!("std-{:016x}", hash(&stamp)));
    make(&cache)?;
    // Another process may build the same.
    let alone = cache.join("std.lock");
    let alone = File::create(&alone).map_err(|error| Failure::file(&alone, "make", error))?;
    alone.lock().map_err(|error| Failure::file(&cache, "lock", error))?;
    let complete = sysroot.join("complete");
    if complete.is_file() {
        // It was used now.
        let _ = fs::write(&complete, &stamp);
        return Ok(sysroot);
    }
    remove_old(&cache);
    note("building Rust's standard library with instrumentation, once; this takes a minute or two");
    empty(&sysroot)?;
    build(&compiler, &sources, models, &sysroot)?;
    fs::write(&complete, &stamp).map_err(|error| Failure::file(&complete, "write", error))?;
    Ok(sysroot)
}

fn cache() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    folder.map(|folder| folder.join("foretell")).ok_or_else(|| {
        Failure::Environment(
            "neither HOME nor XDG_CACHE_HOME is set, so there is no folder to build in".into(),
        )
    })
}

/// FNV-1a, which stays the same in all versions.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "make", error))
}

fn empty(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| Failure::file(folder, "empty", error))?;
    }
    make(folder)
}

/// Removes libraries that were not used for long. What cannot be removed stays.
fn remove_old(cache: &Path) {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in entries.filter(|path| path.is_dir()) {
        let used = fs::metadata(folder.join("complete")).and_then(|about| about.modified());
        let is_old = used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > KEPT));
        if is_old {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Lets cargo build the library, with us as its compiler.
fn build(compiler: &Compiler, sources: &Path, models: &OsStr, sysroot: &Path) -> Result<(), Failure> {
    let us = env::current_exe()
        .map_err(|error| Failure::Environment(format!("cannot find ourselves: {error}")))?;
    let package = sysroot.join("package");
    make(&package)?;
    for (name, content) in [("Cargo.toml", PACKAGE), ("none.rs", PACKAGE_SOURCE)] {
        let file = package.join(name);
        fs::write(&file, content).map_err(|error| Failure::file(&file, "write", error))?;
    }
    let target = compiler.value("host");
    // Places are named as in the library that comes with the compiler.
    let mut named = OsString::from("--remap-path-prefix=");
    named.push(sources);
    named.push(format!("=/rustc/{}/library", compiler.value("commit-hash")));
    let mut command = Command::new(compiler.tool("cargo"));
    command.args(["build", "--quiet", "--release", CRATES, "--target", target, "--target-dir", "target"]);
    command.current_dir(&package).env("RUSTC", compiler.tool("rustc")).env("RUSTC_WRAPPER", us);
    command.env(AS_COMPILER, "1").env(UNLOCK.0, UNLOCK.1);
    command.env(settings::MODELS.text(), models).env(settings::STD.text(), BUILD);
    command.env("CARGO_ENCODED_RUSTFLAGS", named).env_remove("RUSTC_WORKSPACE_WRAPPER");
    let status = command.stdout(Stdio::null()).status();
    let status = status.map_err(|error| Failure::Environment(format!("cannot run cargo: {error}")))?;
    if !status.success() {
        return Err(Failure::Environment(
            "cargo could not build Rust's standard library; it needs the crates that the library depends on, from \
             crates.io or from its own copies"
                .to_string(),
        ));
    }
    let built = package.join("target").join(target).join("release/deps");
    take_libraries(&built, &libraries(sysroot, target))?;
    fs::remove_dir_all(&package).map_err(|error| Failure::file(&package, "remove", error))
}

fn take_libraries(from: &Path, to: &Path) -> Result<(), Failure> {
    make(to)?;
    let entries = fs::read_dir(from).map_err(|error| Failure::file(from, "read", error))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = path.file_name().filter(|_| path.extension() == Some(OsStr::new("rlib"))) else {
            continue;
        };
        fs::rename(&path, to.join(name)).map_err(|error| Failure::file(&path, "move", error))?;
    }
    Ok(())
}

/// Whether the crate that these arguments compile is instrumented: of the library itself, not all are.
pub(super) fn has_part(arguments: &[OsString]) -> bool {
    let is_library = env::var_os(settings::STD.text()).is_some_and(|value| value == BUILD);
    !is_library || is_instrumented(arguments)
}

fn is_instrumented(arguments: &[OsString]) -> bool {
    let mut names = arguments.windows(2).filter(|pair| pair[0] == "--crate-name").map(|pair| &pair[1]);
    names.any(|name| INSTRUMENTED.iter().any(|wanted| name == wanted))
}

/// The option by which the compiler gets an instrumented library, if cargo foretell has one.
pub(super) fn option() -> Option<OsString> {
    let folder = env::var_os(settings::STD.text()).filter(|value| !value.is_empty() && value != BUILD)?;
    let mut option = OsString::from("--sysroot=");
    option.push(folder);
    Some(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_programs_work_with_is_instrumented() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(is_instrumented(&line("rustc --crate-name alloc --target x lib.rs")));
        assert!(!is_instrumented(&line("rustc --crate-name gimli --target x alloc.rs")));
        assert!(!is_instrumented(&line("rustc --target x --crate-name")));
    }

    #[test]
    fn a_compiler_without_sources_is_told_what_to_install() {
        let folder = tempfile::tempdir().expect("a folder");
        let about = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\ncommit-hash: 5980".to_string();
        let compiler = Compiler { sysroot: folder.path().to_path_buf(), about };
        assert_eq!(
            (compiler.value("host"), compiler.value("commit-hash")),
            ("x86_64-unknown-linux-gnu", "5980")
        );
        let told = compiler.sources().expect_err("there are none").to_string();
        assert!(told.contains("rustup component add rust-src"), "{told}");
    }

    #[test]
    fn libraries_of_long_ago_are_removed() {
        let cache = tempfile::tempdir().expect("a folder");
        let library = |name: &str, age: Duration| {
            let folder = cache.path().join(name);
            fs::create_dir_all(&folder).expect("a folder");
            let file = File::create(folder.join("complete")).expect("a file");
            file.set_modified(std::time::SystemTime::now() - age).expect("a time");
            folder
        };
        let (old, new) = (library("std-1", KEPT * 2), library("std-2", KEPT / 2));
        remove_old(cache.path());
        assert!(!old.exists() && new.exists());
    }
}
