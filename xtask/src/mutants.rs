//! `cargo xtask mutants`: faults are put into the finders, one after the other, in a copy of the sources, and the tests
//! that certify random traces must fail: no false "no" gets past the checker of certificates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use xtask::process::{root, told};

/// A fault: in this file this text, which is there once, becomes another.
struct Mutant {
    name: &'static str,
    file: &'static str,
    old: &'static str,
    new: &'static str,
}

const MUTANTS: [Mutant; 14] = [
    Mutant {
        name: "closure: shared sections exclude each other",
        file: "crates/predict/src/closure.rs",
        old: "if !one.excludes(other) || one.end == BEYOND {",
        new: "if one.end == BEYOND {",
    },
    Mutant {
        name: "closure: the first write that a read may see is the only one",
        file: "crates/predict/src/closure/observe.rs",
        old: "match self.sources(event, 2).as_slice() {",
        new: "match self.sources(event, 1).as_slice() {",
    },
    Mutant {
        name: "closure: a read that is looked at again sees the first write that is left",
        file: "crates/predict/src/closure/observe.rs",
        old: "let sources = self.sources(read, FEW_SOURCES + 1);",
        new: "let sources = self.sources(read, 1);",
    },
    Mutant {
        name: "closure: what is before one of the writes that a read may see is before the read",
        file: "crates/predict/src/closure/observe.rs",
        old: "self.before_source(source, thread)).min()",
        new: "self.before_source(source, thread)).max()",
    },
    Mutant {
        name: "closure: no read sees the initial value",
        file: "crates/predict/src/closure/sources.rs",
        old: "let entry = (entry && !self.is_overwritten_at_entry(read)).then_some(ENTRY);",
        new: "let entry = (entry && read == NONE).then_some(ENTRY);",
    },
    Mutant {
        name: "closure: memory is freed before it is accessed",
        file: "crates/predict/src/closure.rs",
        old: "Task::Order { from: event, to: variable.free, why: Why::Free }",
        new: "Task::Order { from: variable.free, to: event, why: Why::Free }",
    },
    Mutant {
        name: "closure: a write runs before the read that overwrites nothing",
        file: "crates/predict/src/closure/observe.rs",
        old: "writes[..run].partition_point(|&write| write == source || !self.is_before(source, write))",
        new: "writes[..run].partition_point(|&write| write == source)",
    },
    Mutant {
        name: "clauses: without branches reads are pinned all the same",
        file: "crates/predict/src/encode.rs",
        old: "                None => Pinning::Never,\n            },\n            Model::Necessary",
        new: "                None => Pinning::Always,\n            },\n            Model::Necessary",
    },
    Mutant {
        name: "clauses: no read sees the initial value",
        file: "crates/predict/src/encode.rs",
        old: "            clause.push(sees);\n            known.sources",
        new: "            if source != ENTRY {\n                clause.push(sees);\n            }\n            known.sources",
    },
    Mutant {
        name: "clauses: a write that a read does not see comes after it",
        file: "crates/predict/src/encode.rs",
        old: "            if source != ENTRY {\n                clause.push(self.before(write, source));\n            }\n            self.state(&clause, || Axiom::Between",
        new: "            self.state(&clause, || Axiom::Between",
    },
    Mutant {
        name: "clauses: of two critical sections always the same comes first",
        file: "crates/predict/src/encode.rs",
        old: "            clause.extend(self.ends_before(first, second));",
        new: "            if first.acquire < second.acquire {\n                clause.extend(self.ends_before(first, second));\n            }",
    },
    Mutant {
        name: "clauses: a failed attempt is always in the first section",
        file: "crates/predict/src/encode.rs",
        old: "            clause.push(holds);\n",
        new: "            if clause.len() < 2 {\n                clause.push(holds);\n            }\n",
    },
    Mutant {
        name: "solver: a learnt clause lacks what earlier decisions have to do with it",
        file: "crates/solve/src/search.rs",
        old: "                } else {\n                    learnt.push(literal);\n                }",
        new: "                } else if learnt.len() < 2 {\n                    learnt.push(literal);\n                } else {\n                    self.seen[var] = false;\n                }",
    },
    Mutant {
        name: "solver: literals are dropped that do not follow from the others",
        file: "crates/solve/src/search.rs",
        old: "self.clauses.literals(clause).iter().all(is_known)",
        new: "self.clauses.literals(clause).iter().any(is_known)",
    },
];

/// The tests that must fail.
const TESTS: [&str; 2] = ["certified::every_no", "certified::deadlocks::candidates"];

/// Runs all mutants, or those whose names contain the argument.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let folder = root().join("target/mutants");
    let tree = copy_sources(&folder)?;
    let wanted = |mutant: &&Mutant| args.iter().all(|arg| mutant.name.contains(arg.as_str()));
    let (mut caught, mut count) = (0, 0);
    for mutant in MUTANTS.iter().filter(wanted) {
        count += 1;
        let path = tree.join(mutant.file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        write(&path, &mutated(mutant, &text)?)?;
        let word = test(&tree, &folder);
        write(&path, &text)?;
        let word = word?;
        caught += usize::from(word != NOT_CAUGHT);
        println!("{}: {word}", mutant.name);
    }
    println!("{caught} of {count} faults are caught");
    Ok(if caught == count { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn mutated(mutant: &Mutant, text: &str) -> Result<String, String> {
    match text.matches(mutant.old).count() {
        1 => Ok(text.replace(mutant.old, mutant.new)),
        count => Err(format!("{}: its text is {count} times in {}, not once", mutant.name, mutant.file)),
    }
}

/// All files of the repository as they are now, where they may be changed. What is the same already keeps its time, so
/// that it need not be built again.
fn copy_sources(folder: &Path) -> Result<PathBuf, String> {
    let tree = folder.join("sources");
    for name in told("git", &["ls-files", "--cached", "--others", "--exclude-standard"])?.lines() {
        let (from, to) = (root().join(name), tree.join(name));
        let Ok(text) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|old| old == text) {
            continue;
        }
        let parent = to.parent().unwrap_or(&tree);
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        fs::write(&to, text).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(tree)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

const NOT_CAUGHT: &str = "NOT CAUGHT";

/// What the tests say of the sources as they are.
fn test(tree: &Path, folder: &Path) -> Result<String, String> {
    let mut command = Command::new("cargo");
    command.current_dir(tree).env("CARGO_TARGET_DIR", folder.join("build")).env("RUST_BACKTRACE", "0");
    command.args(["test", "--quiet", "--package", "foretell-predict", "--test", "exact", "--"]).args(TESTS);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(NOT_CAUGHT.to_string());
    }
    // Lines of panics: what the tests say of an answer.
    let said = |part: &str| text.lines().any(|line| line.contains(part));
    let ways = [
        ("line ", ": line ", "the checker refuses a certificate"),
        ("Undecided(Technique)", "Undecided(Technique)", "no certificate can be made"),
        ("rejects", "can not run", "the referee rejects a schedule"),
    ];
    let ways: Vec<&str> = ways.iter().filter(|way| said(way.0) && said(way.1)).map(|way| way.2).collect();
    if ways.is_empty() {
        let end: Vec<&str> =
            text.lines().filter(|line| line.contains("panicked") || line.contains("error")).collect();
        return Ok(format!("the tests fail: {}", end.join("; ")));
    }
    Ok(ways.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who changes what a mutant changes looks at the mutant.
    #[test]
    fn mutants_fit_the_sources() {
        for mutant in &MUTANTS {
            let text = fs::read_to_string(root().join(mutant.file)).expect("the file");
            let mutated = mutated(mutant, &text).expect("it fits");
            assert_ne!(mutated, text, "{}", mutant.name);
        }
    }
}
