//! A story as text: a column for each thread if that fits, otherwise a line for each step.

use crate::context::Place;
use crate::story::{Row, Step, Story};
use crate::text::{count, line};
use crate::visible::{place, visible};

/// How wide the text may be.
const WIDTH: usize = 100;
/// What columns are indented by: the margin, the numbers of events, and a gap.
const MARGIN: usize = 12;
/// The narrowest column that is of use.
const NARROWEST: usize = 26;
/// What stands between two columns.
const GAP: &str = " │ ";

/// Writes the story.
pub(crate) fn write(out: &mut String, story: &Story) {
    match (column_width(story.threads.len()), common_file(story)) {
        (Some(width), Some(file)) => {
            let file = if file.is_empty() { "the program" } else { file };
            line(out, format_args!("\n  how it happens, with lines of {}:", visible(file)));
            write_columns(out, story, width, true);
        }
        (Some(width), None) => {
            line(out, format_args!("\n  how it happens:"));
            write_columns(out, story, width, false);
        }
        (None, _) => {
            line(out, format_args!("\n  how it happens:"));
            write_lines(out, story);
        }
    }
    if story.rows.iter().any(|row| matches!(row, Row::Waits(_))) {
        line(out, format_args!("  {:>8}  (waits …): in the recorded run the thread went on there", ""));
    }
}

/// How wide each of so many columns can be, if they fit.
fn column_width(columns: usize) -> Option<usize> {
    let gaps = columns.saturating_sub(1) * GAP.chars().count();
    let width = WIDTH.checked_sub(MARGIN + gaps)?.checked_div(columns)?;
    (width >= NARROWEST).then_some(width)
}

/// The file that all steps are in, if it is one.
fn common_file(story: &Story) -> Option<&str> {
    let mut files = story.rows.iter().filter_map(|row| match row {
        Row::Step(step) => Some(Place::parse(&step.location).map(|place| place.file)),
        _ => None,
    });
    let first = files.next()??;
    files.all(|file| file == Some(first)).then_some(first)
}

/// The places are told by their lines alone if the file is known.
fn write_columns(out: &mut String, story: &Story, width: usize, is_file_known: bool) {
    let columns = story.threads.len();
    let row = |out: &mut String, event: &str, thread: usize, text: &str| {
        let cells: Vec<String> = (0..columns)
            .map(|column| format!("{:<width$}", if column == thread { text } else { "" }))
            .collect();
        line(out, format_args!("{}", format!("  {event:>8}  {}", cells.join(GAP)).trim_end()));
    };
    let heads: Vec<String> =
        story.threads.iter().map(|name| format!("{:<width$}", fit(&visible(name), width))).collect();
    line(out, format_args!("{}", format!("  {:>8}  {}", "event", heads.join(GAP)).trim_end()));
    for told in &story.rows {
        match told {
            Row::Step(step) => {
                let event = step.event.to_string();
                for (index, text) in cell(step, width, is_file_known).into_iter().enumerate() {
                    row(out, if index == 0 { &event } else { "" }, step.thread, &text);
                }
            }
            Row::Waits(step) => row(out, "", step.thread, &fit(&waits(step), width)),
            Row::Skipped { thread, steps } => row(out, "", *thread, &fit(&skipped(*steps), width)),
            Row::SkippedByAll { steps } => {
                line(out, format_args!("  {:>8}  {} of several threads", "", skipped(*steps)));
            }
        }
    }
}

fn write_lines(out: &mut String, story: &Story) {
    let names: Vec<String> = story.threads.iter().map(|name| visible(name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for row in &story.rows {
        let (event, thread, text) = match row {
            Row::Step(step) => {
                let text = format!("{} at {}", what(step), place(&step.location));
                (step.event.to_string(), Some(step.thread), text)
            }
            Row::Waits(step) => (String::new(), Some(step.thread), waits(step)),
            Row::Skipped { thread, steps } => (String::new(), Some(*thread), skipped(*steps)),
            Row::SkippedByAll { steps } => {
                (String::new(), None, format!("{} of several threads", skipped(*steps)))
            }
        };
        let name = thread.and_then(|thread| names.get(thread)).map_or("", String::as_str);
        line(out, format_args!("  {event:>8}  {name:<width$}  {text}"));
    }
}

/// A step in a column: the place on the right if there is room, otherwise on a line of its own.
fn cell(step: &Step, width: usize, is_file_known: bool) -> Vec<String> {
    let (what, place) = (what(step), short_place(&step.location, is_file_known));
    let room = width.saturating_sub(what.chars().count() + 2);
    if place.chars().count() <= room {
        let room = room + 2;
        return vec![format!("{what}{place:>room$}")];
    }
    vec![fit(&what, width), format!("{:>width$}", fit(&place, width))]
}

fn what(step: &Step) -> String {
    let mark = if step.races { "» " } else { "" };
    format!("{mark}{}", visible(&step.what))
}

fn waits(step: &Step) -> String {
    format!("(waits before event {})", step.event)
}

fn skipped(steps: usize) -> String {
    format!("… {}", count(steps, "more step"))
}

/// The part of a location that tells the line: `src/bank.c:12:3` is `bank.c:12`, or `:12` if the file is known.
fn short_place(location: &str, is_file_known: bool) -> String {
    let short = match Place::parse(location) {
        Some(place) if is_file_known => format!(":{}", place.line),
        Some(place) => {
            let file = place.file.rsplit('/').next().unwrap_or(place.file);
            format!("{file}:{}", place.line)
        }
        None => location.to_string(),
    };
    visible(&short)
}

/// At most so many characters of the text.
fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(threads: usize) -> Story {
        let step = |thread, event, what: &str, races| Step {
            thread,
            event,
            what: what.to_string(),
            location: "src/bank.c:12:3".to_string(),
            races,
        };
        let last = threads - 1;
        Story {
            threads: (0..threads).map(|number| format!("T{number}")).collect(),
            rows: vec![
                Row::SkippedByAll { steps: 7 },
                Row::Step(step(0, 8, "locks m", false)),
                Row::Waits(step(last, 9, "writes x = 1", false)),
                Row::Skipped { thread: 0, steps: 1 },
                Row::Step(step(0, 10, "writes a_variable_with_a_long_name_of_its_own = 123456", true)),
                Row::Step(step(last, 9, "writes x = 1", true)),
            ],
        }
    }

    fn text(threads: usize) -> Vec<String> {
        let mut out = String::new();
        write(&mut out, &story(threads));
        out.lines().map(String::from).collect()
    }

    #[test]
    fn few_threads_have_columns() {
        assert_eq!(
            text(2),
            [
                "",
                "  how it happens, with lines of src/bank.c:",
                "     event  T0                                         │ T1",
                "            … 7 more steps of several threads",
                "         8  locks m                                :12 │",
                "                                                       │ (waits before event 9)",
                "            … 1 more step                              │",
                "        10  » writes a_variable_with_a_long_name_of_i… │",
                "                                                   :12 │",
                "         9                                             │ » writes x = 1                         :12",
                "            (waits …): in the recorded run the thread went on there",
            ]
        );
    }

    #[test]
    fn many_threads_have_lines() {
        let lines = text(9);
        assert_eq!(lines[3], "         8  T0  locks m at src/bank.c:12:3");
        assert_eq!(lines[7], "         9  T8  » writes x = 1 at src/bank.c:12:3");
    }

    #[test]
    fn no_column_is_wider_than_the_screen() {
        for threads in 1..=4 {
            assert!(text(threads).iter().all(|line| line.chars().count() <= WIDTH), "{threads}");
        }
    }
}
