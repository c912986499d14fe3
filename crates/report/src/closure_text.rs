//! Explorations for people at a terminal: one table, then what was found in each trace.

use crate::closure::{Amount, ClosureReport, PropertyReport, PropertyVerdict};
use crate::page::{Ink, Page, Text};
use crate::table::align;
use crate::text::{Detail, count, line, note, write_accesses, write_trace};
use crate::visible::visible;

const HEAD: [&str; 10] =
    ["Trace", "Events", "Th.", "S.V.", "H.B.", "Maximal", "Feasible", "Races", "Steps", "Time"];

const LEGEND: &str = "\
Th.: threads. S.V.: variables that more than one thread accesses. H.B.: reorderings that keep happens-before.
Maximal: runs of the maximal causal model that are not a prefix of another one. Feasible: all of its runs.
Steps: executed events. Time in seconds. >=: the exploration is incomplete. -: not counted.";

/// All explorations as text.
pub fn render(reports: &[&ClosureReport], detail: Detail) -> String {
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    rows.extend(reports.iter().map(|report| row(report)));
    let mut out = align(&rows);
    line(&mut out, format_args!("\n{LEGEND}"));
    for report in reports {
        let mut page = Page::new(detail);
        page.blank();
        write_report(&mut page, report, detail);
        out.push_str(&page.finish());
    }
    out
}

fn row(report: &ClosureReport) -> Vec<String> {
    let amount = |amount: Option<Amount>| amount.map_or("-".to_string(), amount_text);
    let races = report.races.len();
    let races = if report.is_open() { format!(">= {races}") } else { races.to_string() };
    vec![
        visible(&report.trace.file),
        report.trace.events.to_string(),
        report.trace.threads.to_string(),
        report.shared_variables.to_string(),
        amount(report.happens_before),
        amount(report.maximal),
        amount(report.feasible),
        races,
        report.stats.steps.to_string(),
        format!("{:.3}", report.stats.seconds),
    ]
}

fn amount_text(amount: Amount) -> String {
    match amount {
        Amount { count: u128::MAX, .. } => ">= 3.4e38".to_string(),
        Amount { count, exact: true } => count.to_string(),
        Amount { count, exact: false } => format!(">= {count}"),
    }
}

fn write_report(page: &mut Page, report: &ClosureReport, detail: Detail) {
    write_trace(page, &report.trace, "explore");
    if report.interrupted {
        note(page, "interrupted: the results below are incomplete");
    }
    report.notes.iter().for_each(|text| note(page, text));
    if report.explored < 1.0 {
        let percent = percent_text(report.explored);
        note(page, &format!("the exploration is incomplete: about {percent} of all runs"));
    }
    let (proven, schedule) =
        if report.is_sound() { ("proven", "a schedule") } else { ("not proven", "a schedule of the slice") };
    for (number, race) in report.races.iter().enumerate() {
        let title = format!("race {}: {}", number + 1, visible(&race.race.first.target));
        let proof = format!(" · {proven}: {schedule} makes the two accesses adjacent");
        page.blank();
        page.wrapped(0, 2, Text::new().ink(Ink::Race, title).add(proof));
        write_accesses(page, &race.race.first, &race.race.second);
        if let Some(witness) = &race.race.witness {
            let (before, racing) = witness.split_at(witness.len().saturating_sub(2));
            let text = format!("{} ‖ {}", steps(before, &race.strays, detail), steps(racing, &[], detail));
            page.wrapped(2, 4, format!("witness  {}", text.trim_start()));
        }
    }
    for property in &report.properties {
        write_property(page, property, detail);
    }
    write_summary(page, report);
}

fn write_property(page: &mut Page, property: &PropertyReport, detail: Detail) {
    let verdict = match property.verdict {
        PropertyVerdict::Holds => "holds in all states of all runs",
        PropertyVerdict::Violated => "violated · proven: a schedule leads to such a state",
        PropertyVerdict::Unknown => "unknown: it could not be evaluated in all states",
    };
    page.blank();
    page.wrapped(0, 2, format!("property {}: {verdict}", visible(&property.property)));
    if let Some(schedule) = &property.schedule {
        let steps = if schedule.is_empty() {
            "none: it does not hold at the beginning".to_string()
        } else {
            steps(schedule, &property.strays, detail)
        };
        page.wrapped(2, 4, format!("schedule {steps}"));
    }
}

/// The events in their order; those that read something else than observed have a mark. Of a long list, the end is what
/// matters.
fn steps(events: &[u32], strays: &[u32], detail: Detail) -> String {
    let skipped = events.len().saturating_sub(detail.steps);
    let shown = events[skipped..].iter().map(|event| {
        let mark = if strays.contains(event) { "'" } else { "" };
        format!("{event}{mark}")
    });
    let mut text = shown.collect::<Vec<_>>().join(" ");
    if skipped > 0 {
        text = format!("… {skipped} earlier … {text}");
    }
    text
}

fn write_summary(page: &mut Page, report: &ClosureReport) {
    let races = match report.races.len() {
        0 => "no race".to_string(),
        races => count(races, "race"),
    };
    let violated = |property: &&PropertyReport| property.verdict == PropertyVerdict::Violated;
    let properties = match (report.properties.len(), report.properties.iter().filter(violated).count()) {
        (0, _) => String::new(),
        (asked, violated) => format!(", {violated} of {} violated", properties(asked)),
    };
    let strays = report.races.iter().any(|race| !race.strays.is_empty())
        || report.properties.iter().any(|property| !property.strays.is_empty());
    page.blank();
    if strays {
        page.line("' reads another value than observed; its thread stops there");
    }
    page.line(format!("explore: {races}{properties} in {:.2} s", report.stats.seconds));
}

fn properties(number: usize) -> String {
    if number == 1 { "1 property".to_string() } else { format!("{number} properties") }
}

/// A part of the whole, with as many digits as it takes to see that it is neither nothing nor all.
fn percent_text(part: f64) -> String {
    let percent = 100.0 * part;
    if percent < 0.01 {
        format!("{percent:.1e} %")
    } else if percent > 99.99 {
        "99.99 %".to_string()
    } else {
        format!("{percent:.2} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_say_whether_there_are_more() {
        let text = |count, exact| amount_text(Amount { count, exact });
        assert_eq!([text(7, true), text(7, false)], ["7", ">= 7"]);
        assert_eq!(text(u128::MAX, false), ">= 3.4e38");
    }

    #[test]
    fn parts_are_neither_nothing_nor_all() {
        assert_eq!(percent_text(0.25), "25.00 %");
        assert_eq!(percent_text(0.999_999_9), "99.99 %");
        assert_eq!(percent_text(1.5e-9), "1.5e-7 %");
        assert_eq!(percent_text(0.0), "0.0e0 %");
    }

    #[test]
    fn long_schedules_show_their_end() {
        let detail = Detail { steps: 2, ..Detail::default() };
        assert_eq!(steps(&[1, 2, 3], &[3], detail), "… 1 earlier … 2 3'");
    }
}
