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

/// The numbers of races in words: `race 3`, `races 1 and 4`, `races 1, 3 to 9 and 12`.
fn numbers(races: &[usize]) -> String {
    let runs: Vec<String> = races
        .chunk_by(|one, next| one + 1 == *next)
        .flat_map(|run| match run {
            [first, _, .., last] => vec![format!("{first} to {last}")],
            run => run.iter().map(usize::to_string).collect(),
        })
        .collect();
    let noun = if races.len() == 1 { "race" } else { "races" };
    match runs.split_last() {
        Some((last, others @ [_, ..])) => format!("{noun} {} and {last}", others.join(", ")),
        _ => format!("{noun} {}", runs.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_a_range() {
        assert_eq!(numbers(&[3]), "race 3");
        assert_eq!(numbers(&[1, 2]), "races 1 and 2");
        assert_eq!(numbers(&[1, 3, 4, 5, 9]), "races 1, 3 to 5 and 9");
        assert_eq!(numbers(&[3, 4, 5]), "races 3 to 5");
    }
}
