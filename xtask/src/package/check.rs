//! Installs each package where nothing else is, and runs the tutorial from there.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::process::{must, root};

use super::files::{clean, list, text, write};
use super::{Packages, VERSION};

/// The program of the tutorial.
pub(super) const PROGRAM: &str = "downloads.c";

pub(super) fn all(packages: &Packages) -> Result<(), String> {
    let folder = super::files::target().join("package/check");
    write(&folder.join(PROGRAM), &tutorial()?)?;
    tarball(&packages.tarball, &folder)?;
    wheel(&packages.wheel, &folder)?;
    debian(&packages.debian, &folder)?;
    // They are big, and nobody looks at them again.
    fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// The first program of the tutorial.
pub(super) fn tutorial() -> Result<String, String> {
    let path = root().join("docs/tutorial.md");
    let page =
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let program = page.split_once("```c\n").and_then(|(_, rest)| rest.split_once("```"));
    program.map(|(program, _)| program.to_string()).ok_or_else(|| "the tutorial has no program".to_string())
}

fn tarball(package: &Path, folder: &Path) -> Result<(), String> {
    let (unpacked, prefix) = (folder.join("unpacked"), folder.join("tarball"));
    write(&unpacked.join("empty"), "")?;
    must("tar", &["-C", text(&unpacked), "--strip-components=1", "-xzf", text(package)])?;
    let install = unpacked.join("install.sh");
    run(clean(&install).args(["--prefix", text(&prefix)]), 0, "doctor")?;
    try_out("tarball", &prefix, folder)?;
    run(clean(&install).args(["--prefix", text(&prefix), "--uninstall"]), 0, "removed")?;
    match list(&prefix)?.as_slice() {
        [] => Ok(()),
        left => Err(format!("uninstalling leaves {}", left[0].display())),
    }
}

fn wheel(package: &Path, folder: &Path) -> Result<(), String> {
    let environment = folder.join("venv");
    must("python3", &["-m", "venv", text(&environment)])?;
    let pip = environment.join("bin/pip");
    must(text(&pip), &["install", "--quiet", "--no-index", "--disable-pip-version-check", text(package)])?;
    // The Python package finds the program beside it.
    let python = environment.join("bin/python");
    run(clean(&python).args(["-c", "import foretell; print(foretell.run(['--version']))"]), 0, VERSION)?;
    try_out("wheel", &environment, folder)
}

/// Unpacked into an empty root: nothing of the package depends on where that is.
fn debian(package: &Path, folder: &Path) -> Result<(), String> {
    let empty = folder.join("root");
    write(&empty.join("etc/empty"), "")?;
    must("dpkg-deb", &["--extract", text(package), text(&empty)])?;
    try_out("Debian package", &empty.join("usr"), folder)
}

/// Runs the tutorial, the doctor, and a Rust program by cargo.
fn try_out(what: &str, prefix: &Path, folder: &Path) -> Result<(), String> {
    let foretell = prefix.join("bin/foretell");
    run(clean(&foretell).arg("--version"), 0, VERSION)?;
    let bank = root().join("examples/bank.std");
    run(clean(&foretell).args(["predict", text(&bank)]), 1, "race 1: note")?;
    run(clean(&foretell).args(["run", PROGRAM]).current_dir(folder), 1, "race 1: last_error")?;
    let told = run(clean(&foretell).args(["doctor", "--format", "json"]), 0, "\"name\": \"replay\"")?;
    if told.contains("\"fails\"") && !told.contains("rustc") {
        return Err(format!("{what}: the doctor finds\n{told}"));
    }
    let cargo = prefix.join("bin/cargo-foretell");
    run(clean(&cargo).args(["foretell", "--help"]), 0, "Build a Rust package")?;
    for page in ["share/man/man1/foretell.1", "share/man/man1/foretell.1.gz"] {
        if prefix.join(page).is_file() {
            println!("{what}: installed in an empty folder, and the tutorial's race proven");
            return Ok(());
        }
    }
    Err(format!("{what}: the manual page is missing"))
}

/// Runs a command that must end with this exit code, and print this. Gives all that it prints.
pub(super) fn run(command: &mut Command, code: i32, word: &str) -> Result<String, String> {
    let shown = format!("{} {:?}", command.get_program().display(), command.get_args().collect::<Vec<_>>());
    eprintln!("$ {shown}");
    let output = command.output().map_err(|error| format!("cannot run {shown}: {error}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(code) && out.contains(word) {
        return Ok(out.into_owned());
    }
    Err(format!("{shown}: {} instead of {code}, or no `{word}`\n{out}{err}", output.status))
}
