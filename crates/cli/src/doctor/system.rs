//! Tools that some commands use, kernel settings, and room.

use std::env;
use std::fs;
use std::process::Command;

use foretell_engine::analysis::size_text;
use rustix::fs::statvfs;
use rustix::process::geteuid;

use super::{Check, Trial};
use crate::memory;
use crate::native::distribution::System;

/// What all logs together may take by default.
const LOGS: u64 = 2 << 30;
/// With less memory, most analyses stop early.
const MEMORY: u64 = 512 << 20;

pub(super) fn all(trial: &Trial, system: &System) -> Vec<Check> {
    vec![
        solver(trial, system),
        cargo(trial),
        debugger(trial, system),
        addresses(trial),
        room(trial),
        available_memory(),
        browser(),
    ]
}

fn solver(trial: &Trial, system: &System) -> Check {
    const NAME: &str = "solver";
    let program = foretell_z3::program();
    let query = trial.file("doctor.smt2", "(declare-const x Int)\n(assert (> x 2))\n(check-sat)\n");
    let answer = query.and_then(|file| trial.run(Command::new(&program).arg(file)));
    match answer {
        Ok(ran) if ran.out.trim() == "sat" => Check::works(NAME, format!("{} answers", program.display())),
        Ok(ran) => Check::fails(NAME, format!("{} answers: {}", program.display(), ran.complaint())),
        Err(_) => Check::note(NAME, "z3 is missing: races that depend on computed values stay undecided")
            .fix(system.install_z3()),
    }
}

fn cargo(trial: &Trial) -> Check {
    const NAME: &str = "cargo foretell";
    if trial.run(Command::new("cargo").arg("--version")).is_err() {
        return Check::note(NAME, "cargo is missing; only Rust packages need it");
    }
    match trial.run(Command::new("cargo").args(["foretell", "--help"])) {
        Ok(ran) if ran.code == Some(0) => Check::works(NAME, "cargo finds it"),
        _ => {
            let folder =
                env::current_exe().ok().and_then(|path| path.parent().map(|path| path.display().to_string()));
            let folder = folder.unwrap_or_else(|| "the folder of foretell".to_string());
            Check::note(NAME, "cargo does not find cargo-foretell; `foretell cargo` is the same")
                .fix(format!("export PATH=\"{folder}:$PATH\""))
        }
    }
}

/// Only `replay --gdb` needs one, and to attach it.
fn debugger(trial: &Trial, system: &System) -> Check {
    const NAME: &str = "gdb";
    if trial.run(Command::new("gdb").arg("--version")).is_err() {
        return Check::note(NAME, "missing; only `foretell replay --gdb` needs it").fix(system.install_gdb());
    }
    let scope = setting("kernel/yama/ptrace_scope").unwrap_or(0);
    if scope > 0 && !geteuid().is_root() {
        return Check::note(
            NAME,
            format!("kernel.yama.ptrace_scope is {scope}: gdb may not attach to a program"),
        )
        .fix("sudo sysctl kernel.yama.ptrace_scope=0");
    }
    Check::works(NAME, "may attach to programs")
}

/// The recorder starts a program again with fixed addresses, so that the same seed gives the same run.
fn addresses(trial: &Trial) -> Check {
    const NAME: &str = "fixed addresses";
    if setting("kernel/randomize_va_space") == Some(0) {
        return Check::works(NAME, "the kernel does not randomise addresses");
    }
    match trial.run(Command::new("setarch").args(["-R", "true"])) {
        Ok(ran) if ran.code == Some(0) => {
            Check::works(NAME, "programs can be started without randomised addresses")
        }
        Ok(_) => {
            let why = "the system call personality is forbidden: values that depend on addresses differ from run to run";
            Check::note(NAME, why).fix("in a container: docker run --security-opt seccomp=unconfined …")
        }
        Err(_) => Check::note(NAME, "setarch is missing, so this was not tried"),
    }
}

fn setting(name: &str) -> Option<u32> {
    fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok()
}

fn room(trial: &Trial) -> Check {
    const NAME: &str = "room for logs";
    let Ok(about) = statvfs(trial.folder.path()) else { return Check::note(NAME, "unknown") };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let folder = env::temp_dir();
    let free_text = format!("{} free in {}", size_text(free), folder.display());
    if free >= LOGS {
        return Check::works(NAME, free_text);
    }
    Check::note(NAME, format!("{free_text}, less than --log-limit allows"))
        .fix("export TMPDIR=/another/folder")
}

fn available_memory() -> Check {
    const NAME: &str = "memory";
    match memory::available() {
        Some(free) if free < MEMORY => {
            Check::note(NAME, format!("{} available: large traces are analysed in part", size_text(free)))
        }
        Some(free) => Check::works(NAME, format!("{} available", size_text(free))),
        None => Check::note(NAME, "the system does not tell how much there is"),
    }
}

fn browser() -> Check {
    const NAME: &str = "trace browser";
    if cfg!(feature = "browser") {
        Check::works(NAME, "built in")
    } else {
        Check::note(NAME, "not in this build").fix("build foretell with its feature `browser`")
    }
}
