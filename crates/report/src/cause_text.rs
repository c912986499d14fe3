//! Causes of races as text.

use crate::cause::Cause;
use crate::page::{Ink, Page, Text};
use crate::text::count;

/// Writes all causes, where there are fewer than races.
pub(crate) fn write_all(page: &mut Page, causes: &[Cause]) {
    let races: usize = causes.iter().map(|cause| cause.races.len()).sum();
    if races == causes.len() {
        return;
    }
    page.blank();
    let title = format!("{} of {}", count(causes.len(), "cause"), count(races, "race"));
    page.line(Text::new().ink(Ink::Heading, title).add(":"));
    for cause in causes {
        page.wrapped(2, 4, format!("{} ({})", cause.sentence, numbers(&cause.races)));
    }
}

/// Writes the cause of the race with this number, where that says more than the race itself; of several races, with
/// the first.
pub(crate) fn write(page: &mut Page, number: usize, cause: &Cause) {
    let heading = |text: &str| Text::new().ink(Ink::Heading, text.to_string()).add(": ");
    match cause.races.first() {
        Some(&first) if first != number => {
            page.wrapped(2, 4, heading("cause").add(format!("that of race {first}")));
        }
        _ => {
            if let Some(fix) = &cause.fix {
                page.wrapped(2, 4, heading("cause").add(&*cause.sentence));
                page.wrapped(2, 4, heading("fix").add(&**fix));
            }
        }
    }
}

/// The numbers of races in words.
pub(crate) fn numbers(races: &[usize]) -> String {
    let numbers: Vec<String> = races.iter().map(usize::to_string).collect();
    match numbers.split_last() {
        Some((last, others @ [_, ..])) => format!("races {} and {last}", others.join(", ")),
        _ => format!("race {}", numbers.join("")),
    }
}
