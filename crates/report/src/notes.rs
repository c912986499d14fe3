//! What keeps an answer from being complete, in words.

use crate::coverage_text;
use crate::report::{Report, TraceInfo};
use crate::text::count;

/// What is to be known about the trace.
pub(crate) fn of_trace(trace: &TraceInfo) -> Vec<String> {
    let mut notes = Vec::new();
    if trace.slice.as_ref().is_some_and(|slice| !slice.sound) {
        notes.push("the slice follows the published rule: its races are not proven".to_string());
    }
    if trace.cut_short {
        let because = trace.cut_because.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let after = trace.events;
        notes.push(format!(
            "the recording was cut short after event {after}{because}; later events are unknown"
        ));
    } else {
        notes.extend(trace.cut_because.clone());
    }
    if trace.unexplained_reads > 0 {
        notes.push(format!(
            "{}: calls of uninstrumented code, or reads of a value that no recorded write explains; nothing is reordered \
             across a fence",
            count(trace.unexplained_reads, "fence")
        ));
    }
    if trace.shared_accesses > 0 {
        notes.push(format!(
            "{} to memory that other processes may see, or that has a second address, not examined for races",
            count(trace.shared_accesses, "access")
        ));
    }
    notes
}

/// What went on while races were looked for.
pub(crate) fn of_search(report: &Report) -> Vec<String> {
    let interrupted = report.interrupted.then(|| "interrupted: the results below are incomplete".to_string());
    interrupted.into_iter().chain(report.notes.iter().cloned()).collect()
}

/// What kept more from being reordered.
pub(crate) fn of_coverage(report: &Report) -> Vec<String> {
    let warning = coverage_text::warning(&report.trace).filter(|_| report.races.is_empty());
    coverage_text::details(&report.trace).into_iter().chain(warning).collect()
}

/// A race that the program does not follow may be a bug of ours.
pub(crate) fn ask_for_evidence(command: &str) -> String {
    format!(
        "a race that the program does not follow may be a bug of foretell: please report it, with the archive of \
         `{command}` (it contains all values that the program read and wrote, also secrets: check it before you send it)"
    )
}

/// What was left open.
pub(crate) fn of_rest(report: &Report) -> Vec<String> {
    let stats = &report.stats;
    let mut notes = Vec::new();
    if let (1.., Some(window)) = (stats.not_in_window, report.window) {
        let have = if stats.not_in_window == 1 { "has" } else { "have" };
        let pairs = count(stats.not_in_window, "pair");
        notes.push(format!(
            "{pairs} {have} no race within a window of {window} events; --window all decides them"
        ));
    }
    if stats.not_listed > 0 {
        notes.push(format!("{} of these not listed", count(stats.not_listed, "candidate")));
    }
    if stats.not_examined > 0 {
        notes.push(format!("{} not examined", count(stats.not_examined, "pair")));
    }
    if stats.deadlocks_undecided > 0 {
        notes.push(format!(
            "{} not decided; --find deadlocks takes more time for that",
            count(stats.deadlocks_undecided, "possible deadlock")
        ));
    }
    if stats.violations_undecided > 0 {
        notes.push(format!("{} not decided", count(stats.violations_undecided, "possible use after free")));
    }
    if stats.not_recomputed > 0 {
        notes.push(format!(
            "{} without a race with the observed values; --technique recipe also tries other values",
            count(stats.not_recomputed, "pair")
        ));
    }
    if report.technique == "recipe" && !stats.not_computed.is_empty() {
        let reasons =
            stats.not_computed.iter().map(|(reason, times)| format!("{times}{}", not_computed(reason)));
        notes.push(format!(
            "operations without a symbolic value, which keep their observed result: {}",
            reasons.collect::<Vec<_>>().join(", ")
        ));
    }
    if stats.forgotten_accesses > 0 {
        notes.push(format!(
            "{} dropped from the bounded history although they might still race; --pairs all keeps all",
            count(stats.forgotten_accesses, "older access")
        ));
    }
    notes
}

/// A reason for which something is not computed, after its number.
fn not_computed(reason: &str) -> &str {
    match reason {
        "floating-point" => " × floating point",
        "wide" => " × more than 64 bits",
        "operation" => " × other operations",
        "in-parts" => " × memory accessed in parts",
        "unknown-function" => " × unknown functions",
        "unknown-way" => " × unknown paths",
        other => other,
    }
}
