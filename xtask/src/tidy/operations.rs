//! Where operations of a trace get their meaning, a `match` lists them all.
//!
//! A new operation that falls through a wildcard would order nothing there, and a race that does not exist would be
//! reported. Without wildcards the compiler names each of these places to the author of the operation.

use std::path::Path;

/// The files that give operations a meaning: checks, formats, detectors, deciders, the referee, explorations, slices.
const FILES: [&str; 34] = [
    "crates/trace/src/event.rs",
    "crates/trace/src/check.rs",
    "crates/trace/src/words.rs",
    "crates/trace/src/format/text.rs",
    "crates/trace/src/format/csv.rs",
    "crates/trace/src/format/rr.rs",
    "crates/trace/src/format/binary.rs",
    "crates/witness/src/machine.rs",
    "crates/witness/src/machine/meetings.rs",
    "crates/witness/src/observed.rs",
    "crates/witness/src/oracle.rs",
    "crates/witness/src/unordered/order.rs",
    "crates/detect/src/must.rs",
    "crates/detect/src/happens_before.rs",
    "crates/detect/src/hard.rs",
    "crates/detect/src/syncp.rs",
    "crates/predict/src/ideal.rs",
    "crates/predict/src/encode.rs",
    "crates/predict/src/index.rs",
    "crates/predict/src/index/meetings.rs",
    "crates/predict/src/window/build.rs",
    "crates/predict/src/window/meetings.rs",
    "crates/depend/src/course.rs",
    "crates/depend/src/slice.rs",
    "crates/depend/src/slice/horizon.rs",
    "crates/depend/src/slice/index.rs",
    "crates/depend/src/slice/sections.rs",
    "crates/explore/src/order.rs",
    "crates/explore/src/compile.rs",
    "crates/explore/src/compile/cells.rs",
    "crates/explore/src/compile/sync.rs",
    "crates/explore/src/compile/thread.rs",
    "crates/smt/src/window.rs",
    "crates/report/src/observed.rs",
];

/// Files of the list that are not there: the list must follow when a file is moved.
pub(super) fn missing(root: &Path) -> Vec<String> {
    let gone = FILES.iter().filter(|file| !root.join(file).is_file());
    gone.map(|file| format!("{file} is listed in xtask/src/tidy/operations.rs, but does not exist")).collect()
}

/// Wildcard arms over operations, in the files of the list.
pub(super) fn wildcards(path: &str, text: &str) -> Vec<String> {
    if !FILES.contains(&path) {
        return Vec::new();
    }
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines: Vec<&str> = shipped.lines().collect();
    let found = (0..lines.len()).filter(|&line| is_wildcard_over_operations(&lines, line, shipped));
    found.map(|line| format!("{path}:{}: a wildcard arm over operations; list them", line + 1)).collect()
}

/// Whether the line is an arm without condition that takes any operation. rustfmt puts the arms of a `match` at one
/// indentation, so the arms before this one are the lines before it that are indented alike.
fn is_wildcard_over_operations(lines: &[&str], line: usize, text: &str) -> bool {
    let Some((pattern, body)) = lines[line].trim_start().split_once(" => ") else { return false };
    let takes_all = pattern.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    takes_all && !hands_on(body, text) && has_operations(lines, line)
}

fn has_operations(lines: &[&str], line: usize) -> bool {
    let depth = indentation(lines[line]);
    let before = lines[..line].iter().rev().take_while(|line| line.is_empty() || indentation(line) >= depth);
    let mut arms = before.filter(|line| indentation(line) == depth).map(|line| line.trim_start());
    arms.any(|arm| arm.starts_with("Op::") || arm.starts_with("| Op::") || arm.starts_with("ops!("))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether the arm only hands the operation on to a function of the same file, which has to list the rest.
fn hands_on(body: &str, text: &str) -> bool {
    let Some((function, arguments)) = body.trim_start_matches("self.").split_once('(') else { return false };
    let mut arguments = arguments.split(|c: char| !c.is_alphanumeric() && c != '_');
    text.contains(&format!("fn {function}(")) && arguments.any(|word| word == "op" || word == "event")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(arms: &str) -> Vec<String> {
        wildcards(
            FILES[0],
            &format!("fn rare(op: Op) {{}}\nfn f(op: Op) {{\n    match op {{\n{arms}    }}\n}}\n"),
        )
    }

    #[test]
    fn a_wildcard_over_operations_is_found_under_any_name() {
        let wildcard = "        Op::Fork(child)\n        | Op::Join(child) => a(child),\n        _ => {}\n";
        assert_eq!(found(wildcard), [format!("{}:6: a wildcard arm over operations; list them", FILES[0])]);
        assert_eq!(found(&wildcard.replace('_', "other")).len(), 1);
        assert_eq!(
            found("        ops!(labels) => {\n            a();\n        }\n\n        _ => b(),\n").len(),
            1
        );
    }

    #[test]
    fn other_matches_and_complete_ones_pass() {
        assert!(
            found("        Op::Fork(child) => a(child),\n        ops!(memory | locks) => {}\n").is_empty()
        );
        assert!(found("        Op::Fork(child) => a(child),\n        _ => rare(op),\n").is_empty());
        assert_eq!(found("        Op::Fork(child) => a(child),\n        _ => stranger(op),\n").len(), 1);
        let inner = "        Op::Fork(child) => match child {\n            Some(child) => a(child),\n            _ => {}\n        },\n";
        assert!(found(inner).is_empty());
        assert!(found("        _ if unexplained => true,\n        Op::Fork(_) => false,\n").is_empty());
        assert!(
            wildcards("crates/view/src/draw.rs", "        Op::Begin => {}\n        _ => {}\n").is_empty()
        );
    }
}
