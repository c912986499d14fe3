//! Families of programs that are written in one manner: C++20, OpenMP, GLib and other libraries, Rust's standard
//! library. Their racy lines end with `// races`: every race must be between two of them, in these lines or in what is
//! called there, and one must be found in some run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::is_known;

/// A family, and where its programs are.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of its folder in `corpus/native`.
    pub name: &'static str,
    /// Options of the compiler for all of its programs.
    options: &'static [&'static str],
    /// The library that they need, as `pkg-config` knows it.
    library: Option<&'static str>,
}

/// All families.
pub const FAMILIES: [Family; 8] = [
    Family { name: "cpp", options: &["-std=c++20"], library: None },
    Family { name: "openmp", options: &["-fopenmp"], library: None },
    Family { name: "glib", options: &[], library: Some("glib-2.0") },
    Family { name: "libuv", options: &[], library: Some("libuv") },
    Family { name: "sqlite3", options: &[], library: Some("sqlite3") },
    Family { name: "libcrypto", options: &[], library: Some("libcrypto") },
    Family { name: "zlib", options: &[], library: Some("zlib") },
    Family { name: "std", options: &[INSTRUMENT_STD, "--edition=2024"], library: None },
];

/// Builds Rust's standard library, too.
const INSTRUMENT_STD: &str = "--instrument-std";

/// A program of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its file name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The lines that race.
    racy: BTreeSet<u64>,
}

impl Family {
    /// The family with this name.
    pub fn named(name: &str) -> Option<Family> {
        FAMILIES.into_iter().find(|family| family.name == name)
    }

    /// All its programs, by name.
    ///
    /// # Panics
    /// If a program does not say what its name says.
    pub fn members(&self) -> Vec<Member> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/native").join(self.name);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_known(name)).collect();
        names.sort();
        names.into_iter().map(|name| member(&folder, name)).collect()
    }

    /// The options of its programs; none if a library is missing.
    pub fn options(&self) -> Option<Vec<String>> {
        if self.options.contains(&"-fopenmp") && !has_openmp() {
            return None;
        }
        if self.options.contains(&INSTRUMENT_STD) && !has_sources_of_std() {
            return None;
        }
        let mut options: Vec<String> = self.options.iter().map(ToString::to_string).collect();
        if let Some(library) = self.library {
            let asked = Command::new("pkg-config").args(["--cflags", "--libs", library]).output().ok()?;
            let told = String::from_utf8(asked.stdout).ok().filter(|_| asked.status.success())?;
            options.extend(told.split_whitespace().map(str::to_string));
        }
        Some(options)
    }
}

/// Whether clang finds the library of OpenMP: then it prints where that is.
fn has_openmp() -> bool {
    let asked = Command::new("clang-22").arg("-print-file-name=libomp.so").output();
    asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

/// Whether the sources of Rust's standard library are installed.
fn has_sources_of_std() -> bool {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    asked.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout);
        Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.toml").is_file()
    })
}

fn member(folder: &Path, name: String) -> Member {
    let path = folder.join(&name);
    let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let numbered = (1..).zip(source.lines());
    let racy: BTreeSet<u64> = numbered
        .filter(|(_, line)| line.trim_end().ends_with("// races"))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(racy.is_empty(), name.contains("_norace."), "{name} says what is expected");
    Member { name, path, racy }
}

impl Member {
    /// Whether it has races.
    pub fn is_racy(&self) -> bool {
        !self.racy.is_empty()
    }

    /// Which of foretell's compilers it needs.
    pub fn compiler(&self) -> &'static str {
        match self.path.extension().and_then(|ending| ending.to_str()) {
            Some("c") => "cc",
            Some("rs") => "rustc",
            _ => "c++",
        }
    }

    /// How much it is optimised.
    pub fn level(&self) -> &'static str {
        if self.compiler() == "rustc" { "-Copt-level=1" } else { "-O1" }
    }

    /// How many races there are in what foretell has printed as JSON.
    ///
    /// # Errors
    /// If that is no report, or one of its races is none.
    pub fn races_in(&self, output: &str) -> Result<usize, String> {
        let report = output.lines().last().unwrap_or_default();
        let report: Value = serde_json::from_str(report).map_err(|error| format!("{error}: {output}"))?;
        let races = report["races"].as_array().ok_or("no races in the report")?;
        for race in races {
            for side in ["first", "second"] {
                if !self.is_racy_access(&race[side]) {
                    let places = [&race["first"]["location"], &race["second"]["location"]];
                    return Err(format!("{} and {} are no race", places[0], places[1]));
                }
            }
        }
        Ok(races.len())
    }

    fn is_racy_access(&self, access: &Value) -> bool {
        let frames = access["stack"].as_array().map_or(&[][..], Vec::as_slice);
        let locations = frames.iter().map(|frame| &frame["location"]).chain([&access["location"]]);
        locations.filter_map(Value::as_str).any(|location| {
            let mut parts = location.rsplit(':').skip(1);
            let line = parts.next().and_then(|line| line.parse().ok());
            let file = parts.next().unwrap_or_default();
            file.ends_with(&self.name) && line.is_some_and(|line| self.racy.contains(&line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_half_racy() {
        for (family, at_least) in FAMILIES.into_iter().zip([60, 40, 20, 2, 2, 2, 2, 20]) {
            let members = family.members();
            let racy = members.iter().filter(|member| member.is_racy()).count();
            assert!(members.len() >= at_least, "{} has {} programs", family.name, members.len());
            assert!(
                5 * racy >= 2 * members.len() && 5 * racy <= 3 * members.len(),
                "{}: {racy}",
                family.name
            );
        }
    }

    #[test]
    fn races_are_compared_with_marks() {
        let member = Member { name: "a.c".into(), path: "a.c".into(), racy: BTreeSet::from([3, 9]) };
        let report = |one: &str, other: &str| {
            format!(
                r#"{{"races":[{{"first":{{"location":"x/a.c:{one}:1","stack":[]}},"second":{{"location":"{other}","stack":[{{"location":"a.c:9:4"}}]}}}}]}}"#
            )
        };
        assert_eq!(member.races_in(&report("3", "vector:700:1")), Ok(1));
        assert!(member.races_in(&report("4", "a.c:9:1")).is_err());
        assert_eq!(member.races_in(r#"{"races":[]}"#), Ok(0));
    }
}
