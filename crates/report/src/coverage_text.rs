//! Coverage in words: one line as a rule, and what causes fences where there are any.

use crate::coverage::{Coverage, FenceCause};
use crate::page::{Ink, Page, Text};
use crate::report::TraceInfo;
use crate::text::count;
use crate::visible::{place, visible};

/// What could be reordered, in a line.
pub(crate) fn line(trace: &TraceInfo) -> Option<String> {
    let coverage = trace.coverage.as_ref()?;
    let Coverage { concurrent_accesses, reorderable_accesses, thread_pairs, fences, .. } = *coverage;
    Some(if let Some(reason) = why_nothing_can_race(trace) {
        // What comes after the cut may well race.
        let known = if trace.cut_short { "what was read of this run" } else { "this run" };
        format!("{reason}: nothing can race in {known}")
    } else if concurrent_accesses == 0 {
        let (pairs, fences) = (count(thread_pairs, "thread pair"), count(fences, "fence"));
        format!("no concurrent access was recorded of {pairs}; {fences}")
    } else {
        let accesses = count(concurrent_accesses, "concurrent access");
        let fences = match fences {
            0 => "no fences".to_string(),
            fences => count(fences, "fence"),
        };
        format!(
            "{} of {accesses} and {} of {} could be reordered; {fences}",
            percent(reorderable_accesses, concurrent_accesses),
            coverage.reorderable_thread_pairs,
            count(thread_pairs, "thread pair"),
        )
    })
}

/// Why there is nothing that could be reordered, if the run itself is the reason.
pub fn why_nothing_can_race(trace: &TraceInfo) -> Option<&'static str> {
    let coverage = trace.coverage.as_ref()?;
    if trace.threads <= 1 {
        Some("one thread")
    } else if coverage.thread_pairs == 0 {
        Some("no two threads access memory at the same time")
    } else {
        None
    }
}

/// A share, so that neither all nor nothing is shown of what is only nearly that.
fn percent(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1000).checked_div(whole).unwrap_or(0);
    match (part, tenths) {
        (0, _) => "0 %".to_string(),
        (_, 0) => "less than 0.1 %".to_string(),
        (_, tenths) if tenths < 100 => format!("{}.{} %", tenths / 10, tenths % 10),
        (_, tenths) => format!("{} %", tenths / 10),
    }
}

/// What causes the fences at one place.
fn words(cause: &FenceCause) -> String {
    format!("{}: {} at {}", count(cause.fences, "fence"), visible(&cause.cause), place(&cause.location))
}

/// What causes the rest of the fences, if there are any.
fn other_causes(coverage: &Coverage) -> Option<String> {
    let others = coverage.fences_of_other_causes;
    (others > 0).then(|| format!("{}: other causes", count(others, "fence")))
}

/// The causes of fences, a line for each, with its remedy.
fn causes(coverage: &Coverage) -> Vec<String> {
    let line = |cause: &FenceCause| format!("{}; remedy: {}", words(cause), visible(&cause.mend));
    coverage.causes.iter().map(line).chain(other_causes(coverage)).collect()
}

/// What was not recorded, if anything.
fn unrecorded(coverage: &Coverage) -> Vec<String> {
    let threads = Some(coverage.unrecorded_threads).filter(|&threads| threads > 0).map(|threads| {
        let threads = count(threads, "thread");
        format!("{threads} not recorded (created without the C library, or running after their end); races there are not found")
    });
    unrecorded_programs(coverage).into_iter().chain(threads).collect()
}

fn unrecorded_programs(coverage: &Coverage) -> Option<String> {
    const LISTED: usize = 5;
    let programs = &coverage.unrecorded_programs;
    let listed: Vec<String> = programs.iter().take(LISTED).map(|program| visible(program)).collect();
    let more = programs.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!programs.is_empty()).then(|| {
        format!(
            "not recorded, because not built with foretell: {}{more}; races there are not found",
            listed.join(", ")
        )
    })
}

/// That the run says almost nothing, if that is so.
pub(crate) fn warning(trace: &TraceInfo) -> Option<String> {
    let is_blind = trace.coverage.as_ref().is_some_and(|coverage| coverage.blind);
    is_blind.then(|| {
        format!(
            "almost nothing of this run could be reordered (less than {} % of the concurrent accesses), so \"no race proven\" \
             means little",
            crate::coverage::LEAST
        )
    })
}

/// What keeps more from being reordered, in lines.
pub(crate) fn details(trace: &TraceInfo) -> Vec<String> {
    let Some(coverage) = &trace.coverage else { return Vec::new() };
    let causes = if costs_something(trace) { causes(coverage) } else { Vec::new() };
    causes.into_iter().chain(unrecorded(coverage)).collect()
}

/// Writes what could be reordered, and what causes fences.
pub(crate) fn write(page: &mut Page, trace: &TraceInfo) {
    let (Some(coverage), Some(line)) = (&trace.coverage, line(trace)) else { return };
    page.wrapped(2, 4, Text::new().ink(Ink::Heading, "coverage").add(format!(": {line}")));
    if costs_something(trace) {
        write_causes(page, coverage);
    }
    for text in unrecorded(coverage) {
        page.wrapped(2, 4, Text::new().ink(Ink::Doubt, "note:").add(format!(" {text}")));
    }
}

/// Whether fences keep anything in its place that could race.
fn costs_something(trace: &TraceInfo) -> bool {
    let is_all = |coverage: &Coverage| {
        coverage.reorderable_accesses == coverage.concurrent_accesses
            && coverage.reorderable_thread_pairs == coverage.thread_pairs
    };
    why_nothing_can_race(trace).is_none() && trace.coverage.as_ref().is_some_and(|coverage| !is_all(coverage))
}

/// Writes the causes of fences, grouped by their remedy.
fn write_causes(page: &mut Page, coverage: &Coverage) {
    let mut mends: Vec<&str> = Vec::new();
    for cause in &coverage.causes {
        if !mends.contains(&cause.mend.as_str()) {
            mends.push(&cause.mend);
        }
    }
    for mend in mends {
        page.wrapped(4, 6, format!("remedy: {}", visible(mend)));
        for cause in coverage.causes.iter().filter(|cause| cause.mend == mend) {
            page.wrapped(6, 8, words(cause));
        }
    }
    if let Some(text) = other_causes(coverage) {
        page.wrapped(6, 8, text);
    }
}

/// Writes the last word on a run that says almost nothing.
pub(crate) fn write_warning(page: &mut Page, trace: &TraceInfo) {
    if let Some(text) = warning(trace) {
        page.wrapped(2, 4, Text::new().ink(Ink::Doubt, "blind").add(format!(": {text}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(threads: usize, coverage: Coverage) -> TraceInfo {
        TraceInfo { threads, coverage: Some(coverage), ..TraceInfo::default() }
    }

    #[test]
    fn shares_are_not_rounded_to_all_or_nothing() {
        let texts = [(0, 7), (1, 7000), (7, 1000), (123, 1000), (999, 1000), (5, 5)]
            .map(|(part, all)| percent(part, all));
        assert_eq!(texts, ["0 %", "less than 0.1 %", "0.7 %", "12 %", "99 %", "100 %"]);
    }

    #[test]
    fn the_line_says_what_could_be_reordered_or_why_nothing_can_race() {
        let cut = TraceInfo { cut_short: true, ..trace(1, Coverage::default()) };
        assert_eq!(line(&cut).as_deref(), Some("one thread: nothing can race in what was read of this run"));
        let line = |threads, coverage| line(&trace(threads, coverage)).unwrap_or_default();
        assert_eq!(line(1, Coverage::default()), "one thread: nothing can race in this run");
        assert!(line(2, Coverage::default()).starts_with("no two threads access memory at the same time"));
        let coverage = Coverage {
            concurrent_accesses: 12,
            reorderable_accesses: 12,
            thread_pairs: 1,
            reorderable_thread_pairs: 1,
            ..Coverage::default()
        };
        let expected = "100 % of 12 concurrent accesses and 1 of 1 thread pair could be reordered; no fences";
        assert_eq!(line(2, coverage), expected);
    }

    #[test]
    fn causes_are_listed_with_their_remedy() {
        let cause = FenceCause {
            fences: 12,
            location: "gl.c:7:3".to_string(),
            cause: "calls g_free".to_string(),
            callee: Some("g_free".to_string()),
            mend: "build its library with `foretell cc`".to_string(),
        };
        let coverage =
            Coverage { fences: 15, causes: vec![cause], fences_of_other_causes: 3, ..Coverage::default() };
        let expected = [
            "12 fences: calls g_free at gl.c:7:3; remedy: build its library with `foretell cc`",
            "3 fences: other causes",
        ];
        assert_eq!(causes(&coverage), expected);
    }
}
