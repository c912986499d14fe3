//! Packages on the oldest system that is supported: Debian 11, in a folder of its own, with the clang that it has.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::process::{must, root};

use super::check::{PROGRAM, run, tutorial};
use super::files::{copy, target, text, write};
use super::sysroot::{ARCHIVE, RELEASE};
use super::{Packages, VERSION};

const SECURITY: &str = "http://deb.debian.org/debian-security";
/// Where the programs to try are, in that system.
const FOLDER: &str = "/tmp";

/// Needs the right to change the root folder, and the program that makes such a system.
pub(super) fn check(packages: &Packages) -> Result<(), String> {
    let system = target().join("package/old");
    if !can_change_root() {
        println!("not tried on Debian 11: that needs root, and debootstrap");
        return Ok(());
    }
    let made = ["--variant=minbase", "--include=python3-venv", RELEASE, text(&system), ARCHIVE];
    must("debootstrap", &made)?;
    let sources = format!("deb {ARCHIVE} {RELEASE} main\ndeb {SECURITY} {RELEASE}-security main\n");
    write(&system.join("etc/apt/sources.list"), &sources)?;
    let place = system.join(FOLDER.trim_start_matches('/'));
    copy(&packages.debian, &place.join("foretell.deb"))?;
    let wheel = packages.wheel.file_name().unwrap_or_default();
    copy(&packages.wheel, &place.join(wheel))?;
    copy(&root().join("examples/bank.std"), &place.join("bank.std"))?;
    write(&place.join(PROGRAM), &tutorial()?)?;
    let inside = |script: &str| inside(&system, script);
    run(&mut inside("apt-get update"), 0, "")?;
    let install = "apt-get install --yes --no-install-recommends ./foretell.deb clang-19 libc6-dev";
    run(&mut inside(install), 0, "foretell")?;
    try_out("foretell", &inside)?;
    run(&mut inside("apt-get remove --yes foretell"), 0, "Removing")?;
    let wheel = format!("python3 -m venv w && w/bin/pip install --no-index ./{}", wheel.display());
    run(&mut inside(&wheel), 0, "Successfully installed")?;
    try_out("w/bin/foretell", &inside)?;
    println!("Debian 11: Debian package and wheel installed, and the tutorial's race proven");
    fs::remove_dir_all(&system).map_err(|error| format!("cannot remove {}: {error}", system.display()))
}

fn try_out(foretell: &str, inside: &dyn Fn(&str) -> Command) -> Result<(), String> {
    run(&mut inside(&format!("{foretell} --version")), 0, VERSION)?;
    run(&mut inside(&format!("{foretell} predict bank.std")), 1, "race 1: note")?;
    run(&mut inside(&format!("{foretell} run {PROGRAM}")), 1, "race 1: last_error")?;
    run(&mut inside(&format!("{foretell} run --confirm {PROGRAM}")), 1, "confirmed").map(drop)
}

/// A shell in that system, with processes of its own, which end with it.
fn inside(system: &Path, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "--root", text(system), "sh", "-c"]);
    command.arg(format!("cd {FOLDER} && {script}")).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", FOLDER).env("LC_ALL", "C.UTF-8");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn can_change_root() -> bool {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let tried = Command::new("unshare").args(["--mount", "--pid", "--fork", "--mount-proc", "true"]).status();
    is_there("debootstrap") && tried.is_ok_and(|status| status.success())
}
