//! The rules of the house, as far as a program can check them.
//!
//! * a room depends only on the rooms that it may depend on, and members stand in dependency order;
//! * a detector's file says what it guarantees and what it may miss;
//! * where operations of a trace get their meaning, no `match` has a wildcard arm over them;
//! * files and comment lines are short enough to read;
//! * documents, help and messages use the words of the field (`words.rs`);
//! * no source file carries what is unfinished, switched off, or silenced;
//! * unsafe code says why it is sound.

mod layout;
mod operations;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use xtask::process::root;

/// A room and those that it may depend on.
type Rule = (&'static str, &'static [&'static str]);

/// In dependency order. The referee knows no finder: its independence is the proof.
const ROOMS: [Rule; 30] = [
    ("foretell-wire", &[]),
    ("foretell-models", &["foretell-wire"]),
    ("foretell-schedule", &[]),
    ("foretell-online", &["foretell-wire"]),
    ("foretell-trace", &[]),
    ("foretell-witness", &["foretell-trace"]),
    ("foretell-detect", &["foretell-trace"]),
    ("foretell-shard", &["foretell-trace", "foretell-detect"]),
    ("foretell-solve", &[]),
    ("foretell-arithmetic", &["foretell-trace"]),
    ("foretell-z3", &["foretell-arithmetic"]),
    ("foretell-predict", &["foretell-trace", "foretell-detect", "foretell-solve", "foretell-arithmetic"]),
    ("foretell-depend", &["foretell-trace"]),
    ("foretell-cimp", &["foretell-trace", "foretell-depend", "foretell-schedule"]),
    ("foretell-explore", &["foretell-trace"]),
    ("foretell-symbolic", &["foretell-trace", "foretell-wire", "foretell-depend"]),
    ("foretell-native", &["foretell-trace", "foretell-wire", "foretell-depend", "foretell-symbolic"]),
    ("foretell-llvm", &["foretell-wire", "foretell-models"]),
    ("foretell-classfile", &[]),
    ("foretell-turns", &["foretell-wire", "foretell-schedule", "foretell-online"]),
    ("foretell-runtime", &["foretell-wire", "foretell-schedule", "foretell-online", "foretell-turns"]),
    ("foretell-jvm", &["foretell-wire", "foretell-turns", "foretell-classfile"]),
    ("foretell-report", &["foretell-trace", "foretell-witness"]),
    (
        "foretell-engine",
        &[
            "foretell-wire",
            "foretell-trace",
            "foretell-witness",
            "foretell-detect",
            "foretell-shard",
            "foretell-predict",
            "foretell-depend",
            "foretell-report",
        ],
    ),
    ("foretell-view", &["foretell-trace", "foretell-report"]),
    (
        "foretell",
        &[
            "foretell-wire",
            "foretell-models",
            "foretell-schedule",
            "foretell-trace",
            "foretell-witness",
            "foretell-detect",
            "foretell-shard",
            "foretell-z3",
            "foretell-predict",
            "foretell-depend",
            "foretell-cimp",
            "foretell-explore",
            "foretell-native",
            "foretell-report",
            "foretell-engine",
            "foretell-view",
        ],
    ),
    ("foretell-testkit", &["foretell-trace", "foretell-schedule"]),
    ("foretell-smt", &["foretell-trace", "foretell-z3"]),
    ("xtask", &[]),
    (
        "foretell-lab",
        &[
            "xtask",
            "foretell-trace",
            "foretell-wire",
            "foretell-witness",
            "foretell-detect",
            "foretell-explore",
            "foretell-native",
            "foretell-predict",
            "foretell-depend",
            "foretell-cimp",
            "foretell-engine",
            "foretell-testkit",
            "foretell-smt",
            "foretell-z3",
        ],
    ),
];

/// Rooms that do no input or output: their sources must not name these, and they depend on such rooms only.
const PURE_ROOMS: [&str; 19] = [
    "wire",
    "classfile",
    "models",
    "schedule",
    "online",
    "witness",
    "detect",
    "shard",
    "solve",
    "arithmetic",
    "predict",
    "depend",
    "cimp",
    "explore",
    "symbolic",
    "native",
    "report",
    "engine",
    "view",
];
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "env::var",
    "Command::new",
    "println!",
    "eprintln!",
    "dbg!",
];
/// What no source file may contain. Spelled in pieces, so that this file does not contain it.
const UNFINISHED: [&str; 5] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
    concat!("FIX", "ME"),
    concat!("#[al", "low("),
];

/// Checks all rules and lists what breaks them.
pub(crate) fn run() -> Result<ExitCode, String> {
    let mut broken = dependencies()?;
    let sources = sources(&root())?;
    for path in &sources {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        broken.extend(unfinished(&shown, &text));
        broken.extend(impure(&shown, &text));
        broken.extend(undocumented_detector(&shown, &text));
        broken.extend(unexplained_unsafe(&shown, &text));
        broken.extend(operations::wildcards(&shown, &text));
        broken.extend(layout::too_long(&shown, &text));
        broken.extend(layout::wide_comments(&shown, &text));
        broken.extend(words::in_source(&shown, &text));
    }
    broken.extend(operations::missing(&root()));
    broken.extend(words::in_documents(&root())?);
    if broken.is_empty() {
        eprintln!("tidy: {} source files keep the rules", sources.len());
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!("repository rules are broken:\n  {}", broken.join("\n  ")))
}

/// Dependencies that no rule allows, and members that stand in the wrong order.
fn dependencies() -> Result<Vec<String>, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read the output of cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let mut broken: Vec<String> = packages.iter().flat_map(forbidden).collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    let order: Vec<&str> = members(&manifest).filter_map(|folder| name_of(folder, &packages)).collect();
    if order != ROOMS.map(|room| room.0) {
        broken.push(format!("workspace members do not stand in dependency order: {order:?}"));
    }
    Ok(broken)
}

/// The folders of the members, in the order in which the manifest lists them.
fn members(manifest: &str) -> impl Iterator<Item = &str> {
    let list = manifest.split_once("members = [").map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split(',').map(|entry| entry.trim().trim_matches('"')).filter(|entry| !entry.is_empty())
}

/// The name of the package in a folder.
fn name_of<'a>(folder: &str, packages: &'a [Value]) -> Option<&'a str> {
    let end = Path::new(folder).join("Cargo.toml");
    let is_there = |package: &&Value| {
        package["manifest_path"].as_str().is_some_and(|path| Path::new(path).ends_with(&end))
    };
    packages.iter().find(is_there)?["name"].as_str()
}

/// What a package depends on, though it may not. What it uses for its tests alone is its own affair.
fn forbidden(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = ROOMS.iter().find(|room| room.0 == name) else {
        return vec![format!("{name} is not in the list of rooms in xtask/src/tidy.rs")];
    };
    let ours = |dependency: &&str| ROOMS.iter().any(|room| room.0 == *dependency);
    package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(ours)
        .filter(|dependency| !allowed.contains(dependency))
        .map(|dependency| format!("{name} may not depend on {dependency}"))
        .collect()
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The programs of the corpus are data.
        let is_ours = !matches!(name.as_str(), "target" | "corpus") && !name.starts_with('.');
        if path.is_dir() && is_ours {
            found.extend(sources(&path)?);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn unfinished(path: &str, text: &str) -> Vec<String> {
    let marks = UNFINISHED.iter().filter(|mark| text.contains(*mark));
    marks.map(|mark| format!("{path} contains `{mark}`")).collect()
}

fn impure(path: &str, text: &str) -> Vec<String> {
    let pure = PURE_ROOMS.iter().any(|room| path.starts_with(&format!("crates/{room}/src")));
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let uses = IMPURE.iter().filter(|name| pure && shipped.contains(*name));
    uses.map(|name| format!("{path} uses {name}, but its room does no input or output")).collect()
}

/// Unsafe code without its reason, and safe functions that hand out what only one may have. The generated programs of
/// testkit are data.
fn unexplained_unsafe(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("crates/") || path.starts_with("crates/testkit") || !path.contains("/src/") {
        return Vec::new();
    }
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let lines: Vec<&str> = text.lines().collect();
    let mut broken = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !is_comment(line)) {
        let is_unsafe = line.contains(concat!("unsafe", " {")) || line.contains(concat!("unsafe", " impl"));
        // The statement may have begun some lines before.
        let before = &lines[index.saturating_sub(6)..index];
        if is_unsafe && !before.iter().any(|line| is_comment(line) && line.contains("SAFETY:")) {
            broken.push(format!("{path}:{}: unsafe code without a SAFETY comment", index + 1));
        }
        if line.contains(concat!("mut_from", "_ref")) {
            broken.push(format!("{path}:{}: a safe function returns &mut from &self", index + 1));
        }
    }
    broken
}

fn undocumented_detector(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("crates/detect/src") || !text.contains("impl Detector for") {
        return Vec::new();
    }
    let missing = ["**Changed:**", "**Guarantee:**", "**May miss:**"]
        .into_iter()
        .filter(|part| !text.lines().any(|line| line.starts_with("//!") && line.contains(part)));
    missing.map(|part| format!("{path}: the header lacks {part}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has readers of files beside its pure parts; pure rooms may depend on it.
    const EVENT_MODEL: &str = "foretell-trace";

    #[test]
    fn a_forbidden_dependency_is_named() {
        let package = serde_json::json!({"name": "foretell-witness", "dependencies": [
            {"name": "foretell-trace", "kind": null}, {"name": "foretell-detect", "kind": null},
            {"name": "foretell-testkit", "kind": "dev"}, {"name": "serde", "kind": null}]});
        assert_eq!(forbidden(&package), ["foretell-witness may not depend on foretell-detect"]);
        let stranger = serde_json::json!({"name": "stranger", "dependencies": []});
        assert_eq!(forbidden(&stranger).len(), 1);
    }

    #[test]
    fn rooms_may_only_depend_on_rooms_before_them() {
        for (index, (room, allowed)) in ROOMS.iter().enumerate() {
            for dependency in *allowed {
                assert!(
                    ROOMS[..index].iter().any(|earlier| earlier.0 == *dependency),
                    "{room} on {dependency}"
                );
            }
        }
    }

    #[test]
    fn pure_rooms_depend_on_pure_rooms() {
        let is_pure = |name: &str| {
            name == EVENT_MODEL || PURE_ROOMS.iter().any(|room| name == format!("foretell-{room}"))
        };
        for (room, allowed) in ROOMS.iter().filter(|room| room.0 != EVENT_MODEL && is_pure(room.0)) {
            let impure: Vec<_> = allowed.iter().filter(|dependency| !is_pure(dependency)).collect();
            assert!(impure.is_empty(), "{room} does no input or output, but may depend on {impure:?}");
        }
    }

    #[test]
    fn unsafe_code_has_to_say_why_it_is_sound() {
        let block = concat!("unsafe", " { f() }");
        assert_eq!(unexplained_unsafe("crates/runtime/src/a.rs", block).len(), 1);
        let explained = format!("// SAFETY: it is ours.\n{block}");
        assert!(unexplained_unsafe("crates/runtime/src/a.rs", &explained).is_empty());
        assert!(unexplained_unsafe("crates/testkit/src/a.rs", block).is_empty());
    }

    #[test]
    fn broken_rules_are_seen_in_sources() {
        assert_eq!(unfinished("a.rs", concat!("to", "do!()")).len(), 1);
        assert_eq!(impure("crates/detect/src/a.rs", "use std::fs;").len(), 1);
        assert!(impure("crates/cli/src/a.rs", "use std::fs;").is_empty());
        assert_eq!(
            undocumented_detector("crates/detect/src/a.rs", "//! **Guarantee:** x\nimpl Detector for A")
                .len(),
            2
        );
    }
}
