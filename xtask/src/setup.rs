//! Installing what building and testing need.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::process::must;

/// A program that is needed, and the Debian package that has it.
struct Need {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

const NEEDS: [Need; 6] = [
    Need { program: "cc", package: "gcc", why: "builds the zstd library" },
    Need { program: "z3", package: "z3", why: "answers the formulas that we compare with" },
    Need { program: "clang-22", package: "clang-22", why: "compiles programs that are to be recorded" },
    Need { program: "llvm-config-22", package: "llvm-22-dev", why: "builds the compiler pass" },
    Need { program: "javac", package: "default-jdk-headless", why: "compiles and runs programs in Java" },
    Need { program: "ld.lld-22", package: "lld-22", why: "links what the compiler pass has been through" },
];

/// Installs what is missing, by apt where we are root; otherwise says what to install.
pub fn run() -> Result<ExitCode, String> {
    install()?;
    install_browser()?;
    Ok(ExitCode::SUCCESS)
}

/// Installs what is needed to build, record and test, but for the browser.
pub fn install() -> Result<(), String> {
    for need in NEEDS.iter().filter(|need| !is_there(need.program)) {
        if !is_there("apt-get") || !is_root() {
            return Err(format!(
                "`{}` is missing ({}); on Debian: sudo apt-get install {}",
                need.program, need.why, need.package
            ));
        }
        must("apt-get", &["update", "--quiet"])?;
        must("apt-get", &["install", "--yes", "--quiet", "--no-install-recommends", need.package])?;
    }
    install_libraries()?;
    for component in ["rustfmt", "clippy"] {
        if !has_component(component) {
            must("rustup", &["component", "add", component])?;
        }
    }
    Ok(())
}

/// Reports for browsers are tested in one. Without one, setup says so, and everything else works.
fn install_browser() -> Result<(), String> {
    const PACKAGE: &str = "chromium";
    if [PACKAGE, "chromium-browser", "google-chrome"].into_iter().any(is_there) {
        return Ok(());
    }
    if !is_there("apt-get") || !is_root() {
        eprintln!(
            "note: tests of reports in a browser need Chromium; on Debian: sudo apt-get install {PACKAGE}"
        );
        return Ok(());
    }
    must("apt-get", &["update", "--quiet"])?;
    must("apt-get", &["install", "--yes", "--quiet", "--no-install-recommends", PACKAGE])
}

/// Libraries for programs that are recorded, and the Debian packages that have them. They are no programs: clang
/// knows whether they are there. Recording is compared with ThreadSanitizer.
fn libraries() -> [(String, &'static str); 7] {
    [
        (format!("libclang_rt.tsan-{}.a", std::env::consts::ARCH), "libclang-rt-22-dev"),
        ("libomp.so".to_string(), "libomp-22-dev"),
        ("libglib-2.0.so".to_string(), "libglib2.0-dev"),
        ("libuv.so".to_string(), "libuv1-dev"),
        ("libsqlite3.so".to_string(), "libsqlite3-dev"),
        ("libcrypto.so".to_string(), "libssl-dev"),
        ("libz.so".to_string(), "zlib1g-dev"),
    ]
}

/// Installs libraries that tests of recording need, where we are root. Without them these tests are skipped.
fn install_libraries() -> Result<(), String> {
    let libraries = libraries();
    let missing: Vec<&str> =
        libraries.iter().filter(|(file, _)| !has_library(file)).map(|(_, package)| *package).collect();
    if missing.is_empty() || !is_there("apt-get") || !is_root() {
        return Ok(());
    }
    must("apt-get", &["update", "--quiet"])?;
    must("apt-get", &[&["install", "--yes", "--quiet", "--no-install-recommends"], &missing[..]].concat())
}

/// Whether clang finds the library: it prints the path of a file that is there.
fn has_library(file: &str) -> bool {
    let asked = Command::new("clang-22").arg(format!("-print-file-name={file}")).output();
    asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn has_component(component: &str) -> bool {
    let command = if component == "rustfmt" { "fmt" } else { component };
    Command::new("cargo").args([command, "--version"]).output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
