//! The compiler, with our pass and our library.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::command_line::CommandLine;
use super::distribution::{LLVM, VERSIONS, llvm_for_compiling};
use foretell_wire::settings;

use crate::args::LibraryArgs;
use crate::error::Failure;
use crate::models::{self, INSTRUMENT_STD};
use crate::native::tools::Tools;
use crate::output::note;

/// A language that clang compiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    /// The language of a source file, by its name.
    pub(crate) fn of(file: &Path) -> Option<Language> {
        match file.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "C" => Some(Language::Cpp),
            _ => None,
        }
    }

    /// The compiler's name and version: the best one that there is a pass for. Where it is the only one, or the usual
    /// one, its name has no number.
    pub(crate) fn compiler(self, tools: &Tools) -> (String, u32) {
        let plain = if self == Language::C { "clang" } else { "clang++" };
        let (versions, numbered) = (tools.versions(), |llvm: u32| format!("{plain}-{llvm}"));
        let installed = versions.iter().find(|&&llvm| is_on_path(&numbered(llvm)));
        let usual = || version(plain).filter(|llvm| versions.contains(llvm));
        match (installed, installed.map_or_else(usual, |_| None)) {
            (Some(&llvm), _) => (numbered(llvm), llvm),
            (None, Some(llvm)) => (plain.to_string(), llvm),
            (None, None) => (numbered(LLVM), LLVM),
        }
    }
}

fn is_on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// The main version of a clang.
fn version(compiler: &str) -> Option<u32> {
    let told = Command::new(compiler).arg("--version").stdin(Stdio::null()).output().ok()?;
    main_version(&String::from_utf8_lossy(&told.stdout))
}

fn main_version(text: &str) -> Option<u32> {
    text.split_once("clang version ")?.1.split('.').next()?.parse().ok()
}

/// What to say of a clang that there is no pass for.
fn other_version(llvm: u32) -> String {
    let reason = match VERSIONS.last() {
        Some(&oldest) if llvm < oldest => {
            "has debug information in calls, so no compiler pass can be built for it"
        }
        _ if VERSIONS.contains(&llvm) => "needs a compiler pass of its own (docs/install.md, Which LLVM)",
        _ => "is not supported yet",
    };
    format!(" (there is clang {llvm}, which {reason})")
}

/// With the C++ library in the program, its functions could not be replaced either. A shared one does the same.
const STATIC_CPP: &str = "-static-libstdc++";

/// The recorder takes the place of functions of the C library, which it can only where programs find these when they
/// start.
fn refuse_static(option: &str) -> Failure {
    Failure::Usage(format!(
        "{option}: a program without shared libraries cannot be recorded, because the recorder is a shared library that stands \
         in for functions of the C library; link without {option} (static libraries of your own may stay)"
    ))
}

/// Two libraries cannot both replace the same functions, nor can the recorder be in every kind of program.
fn refuse_rival(option: &str) -> Failure {
    Failure::Usage(format!(
        "{option}: a program that is built so cannot be recorded, because its stacks, threads or memory are not those of the C library \
         that the recorder stands in for; build it without {option} for foretell (-fsanitize=undefined and -fsanitize=cfi may stay)"
    ))
}

/// The compiler as we call it. Our library comes first, so that its functions are found before those of the C library.
fn command(tools: &Tools, language: Language, arguments: &[OsString]) -> Result<Command, Failure> {
    let (arguments, libraries) = models::taken_from(arguments)?;
    if libraries.instrument_std {
        return Err(Failure::Usage(format!("{INSTRUMENT_STD}: only programs in Rust can be built so")));
    }
    let line = CommandLine::of(&arguments);
    if let Some(option) = line.is_static.filter(|_| line.links) {
        return Err(refuse_static(&option));
    }
    if let Some(option) = line.rivals.first() {
        return Err(refuse_rival(option));
    }
    let joined = |start: &str, path: &Path| {
        let mut option = OsString::from(start);
        option.push(path);
        option
    };
    let (compiler, llvm) = language.compiler(tools);
    let mut command = Command::new(compiler);
    command.env(settings::MODELS.text(), models::for_pass(&libraries.models)?);
    command.arg("-Qunused-arguments").arg("-g").arg(joined("-fpass-plugin=", &tools.pass(llvm)));
    // Without optimisation, the pass could not take local variables out of memory.
    command.args(["-Xclang", "-disable-O0-optnone"]);
    if line.links {
        command.arg("-Wl,--push-state,--no-as-needed").arg(tools.runtime()).arg("-Wl,--pop-state");
        command.arg(joined("-Wl,-rpath,", tools.folder())).arg("-lpthread");
    }
    command.args(arguments.iter().filter(|&argument| argument != STATIC_CPP));
    if line.links && arguments.iter().any(|argument| argument == STATIC_CPP) {
        note(&format!("{STATIC_CPP} is left out: the recorder stands in for functions of the C++ library"));
    }
    Ok(command)
}

fn cannot_run(compiler: &OsStr, error: &io::Error) -> Failure {
    let compiler = compiler.display();
    Failure::Environment(match error.kind() {
        io::ErrorKind::NotFound => {
            let other = version("clang").map(other_version).unwrap_or_default();
            let install = llvm_for_compiling();
            format!("{compiler} is missing{other}; {install}; foretell doctor checks everything")
        }
        _ => format!("cannot run {compiler}: {error}"),
    })
}

/// This process becomes the compiler; comes back only if that fails.
pub(crate) fn become_compiler(tools: &Tools, language: Language, arguments: &[OsString]) -> Failure {
    match command(tools, language, arguments) {
        Ok(mut command) => {
            let error = command.exec();
            cannot_run(command.get_program(), &error)
        }
        Err(failure) => failure,
    }
}

/// What a single file in C++ is written in: there is no other place to say so.
const STANDARD: &str = "-std=gnu++23";

/// Whether a source has pragmas or functions of OpenMP. What cannot be read, the compiler will reject.
fn uses_openmp(source: &Path) -> bool {
    let text = std::fs::read(source).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().any(|line| {
        let mut words = line.trim_start().strip_prefix('#').unwrap_or_default().split_whitespace();
        match words.next() {
            Some("pragma") => words.next() == Some("omp"),
            Some("include") => words.next().is_some_and(|file| file.contains("omp.h")),
            _ => false,
        }
    })
}

/// Builds one source file into a program.
pub(crate) fn build(
    tools: &Tools,
    language: Language,
    source: &Path,
    program: &Path,
    libraries: &LibraryArgs,
) -> Result<(), Failure> {
    let mut arguments: Vec<&OsStr> = vec!["-O1".as_ref()];
    if language == Language::Cpp {
        arguments.push(STANDARD.as_ref());
    }
    if uses_openmp(source) {
        arguments.push("-fopenmp".as_ref());
    }
    arguments.extend([source.as_os_str(), "-o".as_ref(), program.as_os_str()]);
    arguments.extend(models::as_arguments(libraries));
    let arguments: Vec<OsString> = arguments.into_iter().map(OsStr::to_os_string).collect();
    let mut command = command(tools, language, &arguments)?;
    let status = command.status().map_err(|error| cannot_run(command.get_program(), &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Usage(format!("{} does not compile", source.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(main_version("Debian clang version 22.1.8 (1)\nTarget: x"), Some(22));
        assert_eq!(main_version("Apple clang"), None);
    }

    #[test]
    fn a_clang_of_another_version_is_named_with_the_reason() {
        assert!(other_version(14).contains("clang 14, which has debug information in calls"));
        assert!(other_version(19).contains("pass of its own"));
        assert!(other_version(99).contains("not supported yet"));
    }

    #[test]
    fn openmp_is_recognised_by_its_pragmas() {
        let folder = tempfile::tempdir().expect("a folder");
        let uses = |text: &str| {
            let file = folder.path().join("a.c");
            std::fs::write(&file, text).expect("a file");
            uses_openmp(&file)
        };
        assert!(uses("int a;\n  #  pragma omp parallel\n"));
        assert!(uses("#include <omp.h>\n"));
        assert!(!uses("// #pragma omp parallel\n#pragma once\n#include \"pomp.c\"\n"));
        assert!(!uses_openmp(&folder.path().join("none.c")));
    }

    #[test]
    fn languages_are_told_by_names() {
        assert_eq!(Language::of(Path::new("bank.c")), Some(Language::C));
        assert_eq!(Language::of(Path::new("dir.d/bank.cpp")), Some(Language::Cpp));
        assert_eq!(Language::of(Path::new("./a.out")), None);
    }
}
