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

const NEEDS: [Need; 5] = [
    Need { program: "cc", package: "gcc", why: "builds the zstd library" },
    Need { program: "z3", package: "z3", why: "answers the formulas that we compare with" },
    Need { program: "clang-22", package: "clang-22", why: "compiles programs that are to be recorded" },
    Need { program: "llvm-config-22", package: "llvm-22-dev", why: "builds the compiler pass" },
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
    install_sanitizer()?;
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

/// The runtime of ThreadSanitizer, which recording is compared with, is no program: clang knows whether it is there.
fn install_sanitizer() -> Result<(), String> {
    const PACKAGE: &str = "libclang-rt-22-dev";
    let file = format!("-print-file-name=libclang_rt.tsan-{}.a", std::env::consts::ARCH);
    let asked = Command::new("clang-22").arg(file).output();
    let path =
        asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string()).unwrap_or_default();
    if Path::new(&path).is_absolute() || !is_there("apt-get") || !is_root() {
        return Ok(());
    }
    must("apt-get", &["install", "--yes", "--quiet", "--no-install-recommends", PACKAGE])
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
