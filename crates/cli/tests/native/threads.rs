//! Every function of the C library that is about threads is known: it is modelled, harmless, or a fence.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use foretell_wire::threads::{ThreadFunction, known, names};

use crate::is_ready;

/// How the names of these functions begin.
const KINDS: [&str; 8] = ["pthread_", "sched_", "sem_", "thrd_", "mtx_", "cnd_", "tss_", "call_once"];

/// The functions about threads that a library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(|name| {
        let name = name.split('@').next().unwrap_or(name);
        name.to_string()
    });
    names.filter(|name| KINDS.iter().any(|kind| name.starts_with(kind))).collect()
}

/// The C library that this very test uses.
fn c_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a process knows what it has loaded");
    let is_it = |path: &&str| Path::new(path).file_name().is_some_and(|name| name == "libc.so.6");
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(is_it);
    PathBuf::from(path.expect("the C library"))
}

#[test]
fn every_function_about_threads_is_known() {
    if !is_ready() {
        return;
    }
    let library = exported(&c_library());
    assert!(library.len() > 150, "only {} functions", library.len());
    let unknown: Vec<&String> = library.iter().filter(|name| known(name).is_none()).collect();
    assert!(unknown.is_empty(), "nothing is known of {unknown:?}");
    let replaced = exported(&Path::new(env!("CARGO_BIN_EXE_foretell")).with_file_name("libforetell_rt.so"));
    let is_about_threads = |name: &&str| KINDS.iter().any(|kind| name.starts_with(kind));
    for name in names().filter(is_about_threads) {
        let is_modelled = known(name) == Some(ThreadFunction::Modelled);
        assert!(!is_modelled || replaced.contains(name), "the runtime has no {name}");
    }
    for name in replaced {
        assert!(known(&name).is_some(), "the runtime replaces {name}, of which nothing is known");
    }
}
