//! A story as text: a column for each thread if that fits, otherwise a line for each step.

use crate::context::SourceLocation;
use crate::page::{Ink, Page, Text, wrap};
use crate::story::{Row, Story, StoryStep};
use crate::text::count;
use crate::visible::{fit, pad, place, visible, width};

/// How far the story is indented.
const INDENT: usize = 2;
/// The narrowest column that is of use.
const NARROWEST: usize = 20;
/// What stands between two columns.
const GAP: &str = " │ ";

/// Writes the story below a title, which is indented so far.
pub(crate) fn write(page: &mut Page, story: &Story, title: &str, indent: usize) {
    page.blank();
    let title = Text::new().ink(Ink::Heading, title);
    let events = events_width(story);
    let file = common_file(story);
    match columns(story, page.width, INDENT + events + 2, file.is_some()) {
        Some(columns) => {
            let lines = file.map_or(String::new(), |file| match file {
                "" => ", with lines of the program".to_string(),
                file => format!(", with lines of {}", place(file)),
            });
            page.wrapped(indent, indent + 2, title.add(format!("{lines}:")));
            write_columns(page, story, events, &columns, file.is_some());
        }
        None => {
            page.wrapped(indent, indent + 2, title.add(":"));
            write_lines(page, story, events);
        }
    }
    if story.rows.iter().any(|row| matches!(row, Row::Waits(_))) {
        let text = "(waits …): in the recorded run the thread continued there";
        let indent = INDENT + events + 2;
        page.wrapped(indent, indent, Text::new().ink(Ink::Quiet, text));
    }
}

/// How wide the column with the numbers of events is.
fn events_width(story: &Story) -> usize {
    let numbers = story.rows.iter().filter_map(|row| match row {
        Row::Step(step) => Some(step.event.to_string().len()),
        _ => None,
    });
    numbers.chain(["event".len()]).max().unwrap_or(0)
}

/// How wide the column of each thread is, if they fit and so do all words in them.
fn columns(story: &Story, room: usize, margin: usize, is_file_known: bool) -> Option<Vec<usize>> {
    let gaps = story.threads.len().saturating_sub(1) * width(GAP);
    let room = room.checked_sub(margin + gaps)?;
    let mut needs: Vec<usize> =
        story.thread_words().map(|name| width(&visible(&name)).min(NARROWEST)).collect();
    let mut words = vec![0; needs.len()];
    for row in &story.rows {
        let (thread, need, word) = match row {
            Row::Step(step) => {
                let (what, place) = (what(step), width(&short_place(&step.location, is_file_known)));
                let word = what.split(' ').map(width).chain([place]).max().unwrap_or(0);
                (step.thread, width(&what) + 2 + place, word)
            }
            Row::Waits(step) => (step.thread, width(&waits(step)), 0),
            Row::Skipped { thread, steps } => (*thread, width(&skipped(*steps)), 0),
            Row::SkippedByAll { .. } => continue,
        };
        let (needed, longest) = (needs.get_mut(thread)?, words.get_mut(thread)?);
        (*needed, *longest) = ((*needed).max(need), (*longest).max(word));
    }
    let shares = shares(&needs, room);
    let fits =
        |((share, need), word): ((&usize, &usize), &usize)| share >= need.min(&NARROWEST) && share >= word;
    shares.iter().zip(&needs).zip(&words).all(fits).then_some(shares)
}

/// What each of those gets who need so much of the room: all it needs, or as much as others who do not get enough.
fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&at| needs[at]);
    let mut shares = vec![0; needs.len()];
    let mut left = room;
    for (index, &at) in order.iter().enumerate() {
        shares[at] = needs[at].min(left / (needs.len() - index));
        left -= shares[at];
    }
    shares
}

/// The file that all steps are in, if it is one.
fn common_file(story: &Story) -> Option<&str> {
    let mut files = story.rows.iter().filter_map(|row| match row {
        Row::Step(step) => Some(SourceLocation::parse(&step.location).map(|place| place.file)),
        _ => None,
    });
    let first = files.next()??;
    files.all(|file| file == Some(first)).then_some(first)
}

/// The places are shown by their lines alone if the file is known.
fn write_columns(page: &mut Page, story: &Story, events: usize, columns: &[usize], is_file_known: bool) {
    let gap = || Text::new().ink(Ink::Quiet, GAP);
    let row = |page: &mut Page, event: &str, thread: usize, ink: Ink, text: &str| {
        let mut line = Text::new().ink(Ink::Quiet, format!("{:INDENT$}{event:>events$}  ", ""));
        for (at, &column) in columns.iter().enumerate() {
            line = if at == 0 { line } else { line.append(gap()) };
            line = if at == thread { line.ink(ink, pad(text, column)) } else { line.add(pad("", column)) };
        }
        page.line(line);
    };
    let mut heads = Text::new().ink(Ink::Quiet, format!("{:INDENT$}{:>events$}  ", "", "event"));
    for (at, (name, &column)) in story.thread_words().zip(columns).enumerate() {
        heads = if at == 0 { heads } else { heads.append(gap()) };
        heads = heads.ink(Ink::Heading, pad(&fit(&visible(&name), column), column));
    }
    page.line(heads);
    let room = |thread: usize| columns.get(thread).copied().unwrap_or(0);
    for shown in &story.rows {
        match shown {
            Row::Step(step) => {
                let event = step.event.to_string();
                for (index, text) in cell(step, room(step.thread), is_file_known).into_iter().enumerate() {
                    row(page, if index == 0 { &event } else { "" }, step.thread, ink(step), &text);
                }
            }
            Row::Waits(step) => {
                row(page, "", step.thread, Ink::Quiet, &fit(&waits(step), room(step.thread)));
            }
            Row::Skipped { thread, steps } => {
                row(page, "", *thread, Ink::Quiet, &fit(&skipped(*steps), room(*thread)));
            }
            Row::SkippedByAll { steps } => {
                let text = format!("{:INDENT$}{:events$}  {} of several threads", "", "", skipped(*steps));
                page.line(Text::new().ink(Ink::Quiet, text));
            }
        }
    }
}

fn write_lines(page: &mut Page, story: &Story, events: usize) {
    let names: Vec<String> = story.threads.iter().map(|name| visible(name)).collect();
    let threads = names.iter().map(|name| width(name)).max().unwrap_or(0).min(NARROWEST);
    for row in &story.rows {
        let (event, thread, text) = match row {
            Row::Step(step) => {
                let text = Text::new().ink(ink(step), what(step)).add(" at ");
                let text = text.ink(Ink::Place, place(&step.location));
                (step.event.to_string(), Some(step.thread), text)
            }
            Row::Waits(step) => (String::new(), Some(step.thread), Text::new().ink(Ink::Quiet, waits(step))),
            Row::Skipped { thread, steps } => {
                (String::new(), Some(*thread), Text::new().ink(Ink::Quiet, skipped(*steps)))
            }
            Row::SkippedByAll { steps } => {
                let text = format!("{} of several threads", skipped(*steps));
                (String::new(), None, Text::new().ink(Ink::Quiet, text))
            }
        };
        let name = thread.and_then(|thread| names.get(thread)).map_or("", String::as_str);
        let head = format!("{event:>events$}  ");
        let text =
            Text::new().ink(Ink::Quiet, head).ink(Ink::Heading, pad(name, threads)).add("  ").append(text);
        page.wrapped(INDENT, INDENT + events + threads + 6, text);
    }
}

fn ink(step: &StoryStep) -> Ink {
    if step.races { Ink::Race } else { Ink::Plain }
}

/// A step in a column: the place on the right if there is room, otherwise on a line of its own.
fn cell(step: &StoryStep, column: usize, is_file_known: bool) -> Vec<String> {
    let (what, place) = (what(step), short_place(&step.location, is_file_known));
    let mut lines = wrap(&what, column, 0);
    let used = lines.last().map_or(0, |line| width(line));
    match lines.last_mut() {
        Some(last) if used + 2 + width(&place) <= column => {
            last.push_str(&" ".repeat(column - used - width(&place)));
            last.push_str(&place);
        }
        _ => lines.push(format!("{}{place}", " ".repeat(column.saturating_sub(width(&place))))),
    }
    lines
}

fn what(step: &StoryStep) -> String {
    let mark = if step.races { "» " } else { "" };
    format!("{mark}{}", visible(&step.what))
}

fn waits(step: &StoryStep) -> String {
    format!("(waits before {})", step.event)
}

fn skipped(steps: usize) -> String {
    format!("… {}", count(steps, "more step"))
}

/// The part of a location that tells the line: `src/bank.c:12:3` is `bank.c:12`, or `:12` if the file is known.
fn short_place(location: &str, is_file_known: bool) -> String {
    let short = match SourceLocation::parse(location) {
        Some(place) if is_file_known => format!(":{}", place.line),
        Some(place) => {
            let file = place.file.rsplit('/').next().unwrap_or(place.file);
            format!("{file}:{}", place.line)
        }
        None => location.to_string(),
    };
    visible(&short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Detail;

    fn story(threads: usize) -> Story {
        let step = |thread, event, what: &str, races| StoryStep {
            thread,
            event,
            what: what.to_string(),
            location: "src/bank.c:12:3".to_string(),
            races,
        };
        let last = threads - 1;
        Story {
            thread_names: std::collections::BTreeMap::new(),
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

    fn text(threads: usize, width: usize) -> Vec<String> {
        let mut page = Page::new(Detail { width, ..Detail::default() });
        write(&mut page, &story(threads), "how it happens", 2);
        page.finish().lines().map(String::from).collect()
    }

    #[test]
    fn few_threads_have_columns() {
        assert_eq!(
            text(2, 80),
            [
                "",
                "  how it happens, with lines of src/bank.c:",
                "  event  T0                                                │ T1",
                "         … 7 more steps of several threads",
                "      8  locks m                                       :12 │",
                "                                                           │ (waits before 9)",
                "         … 1 more step                                     │",
                "     10  » writes a_variable_with_a_long_name_of_its_own = │",
                "         123456                                        :12 │",
                "      9                                                    │ » writes x = 1  :12",
                "         (waits …): in the recorded run the thread continued there",
            ]
        );
    }

    #[test]
    fn many_threads_and_long_names_have_lines() {
        assert_eq!(text(9, 80)[3], "      8  T0  locks m at src/bank.c:12:3");
        assert_eq!(text(9, 80)[8], "      9  T8  » writes x = 1 at src/bank.c:12:3");
        assert_eq!(text(3, 60)[3], "      8  T0  locks m at src/bank.c:12:3");
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for threads in 1..=9 {
            for screen in [60, 80, 120] {
                let lines = text(threads, screen);
                assert!(lines.iter().all(|line| width(line) <= screen), "{threads}: {lines:#?}");
            }
        }
    }

    #[test]
    fn whoever_needs_little_leaves_more_to_others() {
        assert_eq!(shares(&[30, 5, 30], 45), [20, 5, 20]);
        assert_eq!(shares(&[5, 5], 45), [5, 5]);
        assert_eq!(shares(&[9, 9], 11), [5, 6]);
    }
}
